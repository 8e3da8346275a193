import CommandSupport
import Foundation
import Testing

/// What a document says of its coordinate reference system: whoever wrote it is not the user.
@Suite struct DeclaredReferenceTests {
    let place = Workplace()

    // MARK: What a document says

    /// Everything that a document could have PROJ open is a pipe here: whoever opens it waits for ever.
    private func makePipes() throws {
        try place.makeFolder("grids")
        for name in ["pipe", "conus", "x.gsb", "x.gtx", "proj.ini", "foo", "grids/conus", "grids/x.gsb", "grids/foo"] {
            place.makePipe(name)
        }
    }

    private static func bound(_ parameter: String) -> String {
        """
        BOUNDCRS[SOURCECRS[GEOGCRS["a",DATUM["b",ELLIPSOID["c",6378137,298.257223563]],CS[ellipsoidal,2],\
        AXIS["latitude",north],AXIS["longitude",east],ANGLEUNIT["degree",0.0174532925199433]]],\
        TARGETCRS[GEOGCRS["WGS 84",DATUM["World Geodetic System 1984",ELLIPSOID["WGS 84",6378137,298.257223563]],\
        CS[ellipsoidal,2],AXIS["latitude",north],AXIS["longitude",east],ANGLEUNIT["degree",0.0174532925199433]]],\
        ABRIDGEDTRANSFORMATION["d",METHOD["NTv2",ID["EPSG",9615]],\
        \(parameter)["Latitude and longitude difference file","x.gsb"]]]
        """
    }

    private static let geographic = """
        GEOGCS["a",DATUM["b",SPHEROID["c",6378137,298.257223563],EXTENSION["PROJ4_GRIDS","PIPE"]],PRIMEM["Greenwich",0],\
        UNIT["degree",0.0174532925199433],EXTENSION["PROJ4","+proj=longlat +ellps=GRS80 +nadgrids=PIPE +no_defs"]]
        """

    private static let json = """
        {"type":"BoundCRS","source_crs":{"type":"GeographicCRS","name":"a","datum":{"type":"GeodeticReferenceFrame",\
        "name":"b","ellipsoid":{"name":"c","semi_major_axis":6378137,"inverse_flattening":298.257223563}},\
        "coordinate_system":{"subtype":"ellipsoidal","axis":[{"name":"latitude","abbreviation":"lat","direction":"north",\
        "unit":"degree"},{"name":"longitude","abbreviation":"lon","direction":"east","unit":"degree"}]}},\
        "target_crs":{"type":"GeographicCRS","name":"WGS 84","id":{"authority":"EPSG","code":4326}},\
        "transformation":{"name":"d","method":{"name":"NTv2","id":{"authority":"EPSG","code":9615}},\
        "parameters":[{"name":"Latitude and longitude difference file","value":"PIPE"}]}}
        """

    @Test func `no document has a file opened`() throws {
        try makePipes()
        let pipe = place.path("pipe")
        var texts = [
            "+init=\(pipe):1", "+init=foo:1", "init=foo:1", "+proj=longlat +ellps=GRS80 +nadgrids=\(pipe) +type=crs",
            "+proj=longlat +ellps=GRS80 +nadgrids=conus", "+proj=longlat +ellps=GRS80 +geoidgrids=x.gtx",
            "+proj=longlat +ellps=GRS80 +geoidgrids=\(pipe)", "foo", "foo:1", "foo:x", pipe, "\(pipe):1", "./pipe",
            "pipe",
            "file://\(pipe)", "http://www.opengis.net/def/crs/../../../\(pipe)", "urn:ogc:def:crs:foo::1", "proj.ini",
            "x.gsb", "EPSG:4326+x.gtx", "+proj=pipeline +step +init=foo:1", "CONCATENATEDOPERATION[\"\(pipe)\"]",
            Self.bound("PARAMETERFILE"), Self.bound("ParameterFile"), Self.bound("PARAMETER"),
        ]
        for name in [pipe, "conus", "x.gsb", "@x.gsb"] {
            texts.append(Self.geographic.replacingOccurrences(of: "PIPE", with: name))
            texts.append(Self.json.replacingOccurrences(of: "PIPE", with: name))
        }
        texts.append(
            Self.json.replacingOccurrences(of: "PIPE", with: pipe.replacingOccurrences(of: "/", with: "\\u002f")))
        place.write(Reference.utm, as: "points.csv")
        for text in texts {
            place.write(text, as: "points.prj")
            let result = try place.runBriefly(
                ["snap", "--crs", "auto", "points.csv"],
                environment: ["PROJ_DATA": place.path("grids") + ":/usr/share/proj"])
            #expect(result.status == 2, "\(text) \(result.status)")
        }
        for text in [texts[0], "+init=foo:1", "foo:1", "\(pipe):1"] {
            let document = """
                {"type":"FeatureCollection","crs":{"type":"name","properties":{"name":"\(text)"}},"features":[{"type":\
                "Feature","properties":{"time":"2026-03-01T10:00:00Z"},"geometry":{"type":"Point","coordinates":[1,2]}}]}
                """
            place.write(document, as: "a.geojson")
            let result = try place.runBriefly(["convert", "--to", "csv", "--crs", "auto", "a.geojson"])
            #expect(result.status == 2, "\(text) \(result.status)")
        }
    }

    /// Whatever PROJ would make of it.
    @Test(arguments: [
        "+proj=utm +zone=13 +datum=WGS84", "WGS 84 / UTM zone 13N", "WGS84", "urn:x-nonsense:EPSG::32613",
        "https://example.org/def/crs/EPSG/0/32613", "GL27:1", "EPSG:326/13",
        Reference.zone13.replacingOccurrences(of: "/", with: "/x"),
        Reference.zone13.replacingOccurrences(of: "]]", with: "]],EXTENSION[\"PROJ4\",\"+proj=utm +zone=13\"]"),
        Reference.zone13.replacingOccurrences(of: "Greenwich", with: "a.gsb"), "/" + Reference.zone13,
        Reference.zone13.replacingOccurrences(of: "Greenwich", with: "+INIT=x"), "[\(Reference.zone13)]",
    ])
    func `of documents only codes and definitions are taken`(_ text: String) throws {
        place.write(Reference.utm, as: "points.csv")
        place.write(text, as: "points.prj")
        let result = try place.runBriefly(["snap", "--crs", "auto", "points.csv"])
        #expect(result.status == 2 && result.errors.contains("reference system"), "\(result.errors)")
    }

    @Test func `codes and definitions of a document are taken`() throws {
        place.write(Reference.utm, as: "points.csv")
        let expected = try place.runBriefly(["snap", "--crs", "EPSG:32613", "points.csv"])
        #expect(expected.status == 0)
        var texts = [
            "EPSG:32613", "epsg:32613", " EPSG:32613\n", "urn:ogc:def:crs:EPSG::32613", "URN:OGC:DEF:CRS:EPSG::32613",
            "urn:ogc:def:crs:EPSG:9.9.1:32613", "http://www.opengis.net/def/crs/EPSG/0/32613",
            "https://www.opengis.net/def/crs/EPSG/0/32613", "urn:x-ogc:def:crs:EPSG:32613",
            Reference.zone13, "\u{FEFF}" + Reference.zone13,
            Reference.zone13.replacingOccurrences(of: ",", with: ",\r\n  "),
            Reference.zone13.replacingOccurrences(of: "metre", with: "m/m"),
        ]
        // As PROJ itself writes it.
        for form in ["WKT2:2019", "WKT2:2015", "WKT1:GDAL", "WKT1:ESRI", "PROJJSON"] {
            let written = try place.run(
                URL(fileURLWithPath: "/usr/bin/env"), ["projinfo", "-q", "-o", form, "EPSG:32613"])
            if written.status == 0 { texts.append(written.output) }
        }
        for text in texts {
            place.write(text, as: "points.prj")
            let result = try place.runBriefly(["snap", "--crs", "auto", "points.csv"])
            #expect(result.status == 0 && result.output == expected.output, "\(text) \(result.errors)")
        }
    }
}
