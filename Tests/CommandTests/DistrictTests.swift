import CommandSupport
import FixedRandom
import Foundation
import Testing

/// An atlas of one's own, from borders, places and a population in files.
@Suite struct DistrictTests {
    let place = Workplace()

    /// Two districts side by side, with more people in the west.
    private func writeSources() {
        let features = [("west", 5), ("east", 6)].map { code, x in
            """
            {"type":"Feature","properties":{"district":"\(code)"},"geometry":{"type":"Polygon",\
            "coordinates":[[[\(x),50],[\(x + 1),50],[\(x + 1),51],[\(x),51],[\(x),50]]]}}
            """
        }
        let collection = #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#
        place.write(collection, as: "districts.json")
        // Their country is none of the borders' codes.
        place.write(
            """
            name,latitude,longitude,population,country
            Westwood,50.5,5.5,40000,ZZ
            Eastwood,50.5,6.5,9000,ZZ
            Faraway,10.5,6.5,9000,ZZ

            """, as: "places.csv")
        var random = SplitMix64(seed: 0xd157)
        var rows = "longitude,latitude,population\n"
        for _ in 0..<40_000 {
            let longitude = random.uniform(5, 7)
            rows += "\(longitude),\(random.uniform(50, 51)),\(longitude < 6 ? 20 : 2)\n"
        }
        place.write(rows, as: "people.csv")
    }

    @Test(.optimized)
    func `districts get an atlas that is proved`() throws {
        writeSources()
        let built = try place.hereabouts(
            "atlas", "build", "--borders", "districts.json", "--code", "district", "--places", "places.csv",
            "--population", "people.csv", "--anonymity", "3000", "--largest-accuracy", "12000", "-o", "own.atlas")
        #expect(built.status == 0 && built.complaints.isEmpty, "\(built.errors)")
        let verified = try place.hereabouts(
            "atlas", "verify", "own.atlas",
            "--borders", "districts.json", "--code", "district", "--places", "places.csv")
        #expect(verified.status == 0, "\(verified.output)\(verified.errors)")

        place.write("50.5,5.5\n50.5,5.999\n50.5,6.001\n10.5,6.5\n", as: "positions.txt")
        let snapped = try place.hereabouts("snap", "--atlas", "own.atlas", "positions.txt")
        let rows = snapped.output.split(separator: "\n").dropFirst().map {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        #expect(rows.map { $0[4] } == ["west", "west", "east", "XZ"])
        #expect(rows[0][5].hasSuffix("Westwood") && rows[2][5] == "near Eastwood" && rows[3][5] == "Faraway")
        #expect(rows.allSatisfy { (Double($0[2]) ?? .infinity) <= ($0[4] == "XZ" ? 60_000 : 12_000) })
    }
}
