import Hereabouts
import TextCoding

/// The columns, or members, that say in which UTM zone a record's easting and northing are.
struct UTMColumns {
    /// The zone's number, with or without its letter.
    let zone: Int
    /// The letter in a column of its own.
    let band: Int?
    let hemisphere: Int?
    /// Whether the name of the zone's column has no other meaning.
    private let isNamed: Bool
    /// Whether the name of the letter's column says that it is a band.
    private let isBandNamed: Bool

    private static let utmNames = [
        "utm_zone", "utmzone", "utm_zone_number", "utm_zone_no", "utm_zone_num", "utmzonenumber", "zone_utm",
    ]
    private static let zoneNames = [
        "zone", "zone_number", "zonenumber", "zone_no", "zone_num", "grid_zone", "gridzone",
    ]
    private static let letterNames = [
        "zone_letter", "zoneletter", "utm_letter", "utm_zone_letter", "utmletter", "utmzoneletter",
    ]
    private static let bandNames = [
        "band", "utm_band", "utmband", "zone_band", "utm_zone_band", "latitude_band", "lat_band", "band_letter",
    ]
    private static let hemisphereNames = [
        "hemisphere", "utm_hemisphere", "zone_hemisphere", "utm_zone_hemisphere", "hemi", "utm_hemi",
    ]

    /// The columns of a header; nil where none has a zone.
    init?(_ header: CSVHeader, besides position: PositionColumns, in file: String) throws(TraceError) {
        func column(_ names: [String]) throws(TraceError) -> Int? {
            let found = header.columns(knownAs: names).filter { !position.all.contains($0) }
            guard found.count <= 1 else { throw .ambiguousColumn(file: file, name: "UTM zone") }
            return found.first
        }
        let named = try column(Self.utmNames), general = named == nil ? try column(Self.zoneNames) : nil
        guard let zone = named ?? general else { return nil }
        let (letter, band) = (try column(Self.letterNames), try column(Self.bandNames))
        (self.zone, isNamed) = (zone, named != nil)
        (self.band, isBandNamed) = (band ?? letter, band != nil)
        let found = try column(Self.hemisphereNames)
        // What makes a sign of degrees says the side of the equator here.
        let sign = found == nil ? try header.latitudeHemisphere(besides: position.latitude, in: file) : nil
        hemisphere = found ?? sign.flatMap { position.all.contains($0) ? nil : $0 }
    }

    var all: [Int] { [zone, band, hemisphere].compactMap { $0 } }

    /// How the zones of an input are read, by its first records; nil where they are not.
    ///
    /// - Throws: `noUTMZone`, `utmHemisphere`, `utmZoneDiffers`.
    static func columns(
        _ header: CSVHeader, _ sample: (some RecordSample)?, _ position: PositionColumns, _ options: CSVOptions,
        reference: CoordinateReference?, file: String
    ) throws(TraceError) -> (columns: UTMColumns, rule: UTMZoneRule)? {
        guard let reference else { return nil }
        if !reference.isUTM, header.isOfDegrees(position, options) { return nil }
        guard let columns = try UTMColumns(header, besides: position, in: file) else {
            if reference.isUTM { throw .noUTMZone(file: file) }
            return nil
        }
        let fields = sample.map { columns.read($0) } ?? []
        let rule =
            reference.isUTM
            ? try columns.ruleOfEach(fields, header, file)
            : try columns.ruleOfOne(fields, sample, position, header, UTMZone(ofSystem: reference.name), file)
        return rule.map { (columns, $0) }
    }

    /// What the records of a sample say; nil of those that are not readable.
    private func read(_ sample: some RecordSample) -> [UTMZoneFields?] {
        func text(_ record: Int, _ column: Int?) -> [UInt8]? { column.map { sample.text(record, $0) } }
        return (0..<sample.count).map { record in
            let (zone, band, hemisphere) = (sample.text(record, zone), text(record, band), text(record, hemisphere))
            return unsafe zone.withUnsafeBufferPointer { zone in
                unsafe (band ?? []).withUnsafeBufferPointer { band in
                    unsafe (hemisphere ?? []).withUnsafeBufferPointer { hemisphere in
                        unsafe UTMZoneFields(zone: zone, band: band, hemisphere: hemisphere, lettersAreBands: false)
                    }
                }
            }
        }
    }

    /// Whether one letter is a band, so that all are.
    private func lettersAreBands(_ fields: [UTMZoneFields?]) -> Bool {
        isBandNamed || fields.contains { $0?.hasBand == true }
    }

    /// The rule by which each record has a zone of its own.
    private func ruleOfEach(
        _ fields: [UTMZoneFields?], _ header: CSVHeader, _ file: String
    ) throws(TraceError) -> UTMZoneRule? {
        let areBands = lettersAreBands(fields)
        if hemisphere == nil, fields.contains(where: { $0?.saysSide(lettersAreBands: areBands) == false }) {
            throw .utmHemisphere(file: file, name: header.names[zone])
        }
        return UTMZoneRule(lettersAreBands: areBands, use: .each)
    }

    /// The rule by which all records have the zone of the reference system.
    ///
    /// - Parameter only: that zone; nil where the system has none.
    private func ruleOfOne(
        _ fields: [UTMZoneFields?], _ sample: (some RecordSample)?, _ position: PositionColumns, _ header: CSVHeader,
        _ only: UTMZone?, _ file: String
    ) throws(TraceError) -> UTMZoneRule? {
        // A column `zone` without any zone means something else.
        if !isNamed, !fields.isEmpty, fields.allSatisfy({ $0 == nil }) { return nil }
        guard let only else {
            // A system of degrees has no use for zones.
            if let sample, sample.count > 0,
                (0..<sample.count).allSatisfy({ sample.position($0, position, .degrees) != nil })
            {
                return nil
            }
            throw .utmZoneDiffers(file: file, name: header.names[zone])
        }
        let rule = UTMZoneRule(lettersAreBands: lettersAreBands(fields), use: .only(only))
        guard fields.allSatisfy({ $0.map(rule.fits) ?? true }) else {
            throw .utmZoneDiffers(file: file, name: header.names[zone])
        }
        return rule
    }
}

/// How the fields of a record's zone are read, whose meaning the first records tell.
struct UTMZoneRule: Sendable {
    enum Use {
        /// Each record is read by its own zone.
        case each
        /// All records are read by this one, and have it.
        case only(UTMZone)
    }

    /// Whether N and S are latitude bands as other letters are.
    let lettersAreBands: Bool
    let use: Use

    /// Whether a record may be of the one zone that is read.
    fileprivate func fits(_ fields: UTMZoneFields) -> Bool {
        guard case .only(let zone) = use else { return true }
        return fields.number == Int(zone.number) && fields.sides(by: self).contains(.init(isNorth: zone.isNorth))
    }
}

extension UTMZoneFields {
    /// S is a hemisphere unless letters are bands.
    fileprivate func sides(by rule: UTMZoneRule) -> Sides {
        rule.lettersAreBands && letter == UInt8(ascii: "S") ? sides.intersection(.north) : sides
    }
}

/// Which fields of a record are its zone, by their numbers, and how they are read.
struct UTMFields: Sendable {
    let zone: Int
    let band, hemisphere: Int?
    let rule: UTMZoneRule

    /// - Parameter field: the number of a column's field; nil where it is not read.
    init?(_ found: (columns: UTMColumns, rule: UTMZoneRule)?, field: (Int) -> Int?) {
        guard let (columns, rule) = found, let zone = field(columns.zone) else { return nil }
        (self.zone, self.rule) = (zone, rule)
        (band, hemisphere) = (columns.band.flatMap(field), columns.hemisphere.flatMap(field))
    }
}

extension FixBatch {
    /// Reads the zones of records from one on, and makes bad ones of those without a zone, or of another than is read.
    ///
    /// - Parameter text: the field of a record, without quotes around it.
    mutating func readUTMZones(
        from first: Int, _ fields: UTMFields, _ text: (_ record: Int, _ field: Int) -> UnsafeBufferPointer<UInt8>
    ) {
        var bad: [(index: Int, reason: RecordProblem.Reason)] = []
        var known = problems(from: first)
        for index in first..<count {
            let record = index - first
            let read = unsafe UTMZoneFields(
                zone: text(record, fields.zone), band: fields.band.map { unsafe text(record, $0) },
                hemisphere: fields.hemisphere.map { unsafe text(record, $0) },
                lettersAreBands: fields.rule.lettersAreBands)
            var reason: RecordProblem.Reason?
            switch fields.rule.use {
            case .each:
                let isSaid = read?.saysSide(lettersAreBands: fields.rule.lettersAreBands) == true
                let zone = isSaid ? read?.zone : nil
                utmZones.append(zone?.code ?? 0)
                if zone == nil { reason = .utmZoneUnreadable }
            case .only: reason = read.map { fields.rule.fits($0) ? nil : .utmZoneDiffers } ?? .utmZoneUnreadable
            }
            if known.first?.index == index {
                known.removeFirst()
            } else if let reason {
                bad.append((index, reason))
            }
        }
        guard !bad.isEmpty else { return }
        for problem in bad { positions[problem.index].latitude = .nan }
        problems = (problems + bad).sorted { $0.index < $1.index }
    }
}
