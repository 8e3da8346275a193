import Files
import Hereabouts

/// Why a run ended before its input did. No case carries a coordinate or a field's content.
package enum TraceError: Error, Hashable, Sendable {
    /// The file could not be opened or read.
    case cannotRead(file: String, SystemError)
    /// The file was changed, or became shorter, while it was read.
    case changedWhileRead(file: String)
    /// What was found, and not named by the user, is a pipe, a device or a folder.
    case notAFile(file: String)
    /// Another run writes to the folder.
    case folderInUse(String)
    /// The mark of a run is another user's, or is a file with another name too.
    case foreignMark(file: String)
    /// The output could not be written.
    case cannotWrite(file: String, SystemError)
    /// The reader of our output went away: a success, for the command.
    case outputClosed
    /// A file to be written is one that the run reads or keeps.
    case inUse(file: String, as: UsedFile.Role)
    /// The run has no record, and its output would replace one that has.
    case replacesRecords(file: String)
    /// The atlas was changed while the run used it.
    case atlasChanged
    /// A record runs over `InputBuffer.maximumRecordBytes`: no table of records, or a quote that never closes.
    case recordTooLong(file: String, line: Int)
    /// The header names no column for this axis. The columns are those that it names, as messages may have them; empty where
    /// it may be no header.
    case noColumn(file: String, axis: Axis, columns: [String])
    /// The header has an `x` and a `y`, which may be anything, and no other name of a coordinate.
    case bareAxes(file: String, x: String, y: String)
    /// The file is no table, or none of the formats that are read.
    case notRead(file: String, FileKind)
    /// The time zone database has no zone of this name.
    case unknownTimeZone(name: String)
    /// The time zone database's file is none.
    case badTimeZone(name: String)
    /// The header names no column of times, and untimed fixes were not asked for.
    case noTimeColumn(file: String, columns: [String])
    /// The input is lines of two numbers, which have no times, and untimed fixes were not asked for.
    case noTimes(file: String)
    /// The input has times of day alone, and no date is known.
    case noDate(file: String)
    /// The header has more than `CSVLayout.maximumColumns` columns.
    case tooManyColumns(file: String)
    /// A quote of the header is not closed in its line.
    case headerQuote(file: String, line: Int)
    /// Two columns could be meant by a name.
    case ambiguousColumn(file: String, name: String)
    /// A column that an option names is not in the header.
    case unknownColumn(file: String, name: String, columns: [String])
    /// The names of a position's columns, or the line of units, say a unit that cannot be used, or two.
    case unitOfPosition(file: String, name: String)
    /// A column says what the clocks of times without an offset show, in a way that is not known.
    case timeOffsets(file: String, name: String)
    /// A column says that positions are on another datum than WGS 84.
    case otherDatum(file: String, name: String, Datum)
    /// The times are numbers that may count from another moment, or in another unit, than they were taken for.
    case epochUnknown(file: String, column: String, proposals: [String])
    /// The column of the device key, which was found by its name, numbers the records.
    case rowNumbers(file: String, column: String, proposals: [KeyProposal])
    /// A record has a device key, or the name of one, that those before it lack.
    case lateKey(file: String, line: Int, name: String)
    /// Two inputs have their device keys under different names.
    case keysDiffer(file: String, name: String, first: String)
    /// A column that is to be kept holds the precise position.
    case keepsPosition(name: String)
    /// A column that is to be copied has the name of one that is written.
    case columnIsWritten(as: CopiedColumn, name: String)
    /// Among the records stands a header of other columns than the input's.
    case otherHeader(file: String, line: Int)
    /// A further file would need another output header than the first one's.
    case headersDiffer(file: String)
    /// Files with a device key and files without one cannot share one output.
    case mixedKeys(file: String)
    /// What is to be one device's jumps as none can. The file is the last one of the device, or the folder of all.
    case notOneDevice(file: String, JumpReport)
    /// The file is no well-formed XML.
    case malformedXML(file: String, line: Int)
    /// The file declares a document type, which no format has a use for and which entity attacks need.
    case documentType(file: String, line: Int)
    /// Elements are nested deeper than `XMLLimits.depth`.
    case nestedTooDeep(file: String, line: Int)
    /// A comment or the like runs over `XMLLimits.tokenBytes`.
    case tokenTooLong(file: String, line: Int)
    /// A tag runs over `XMLLimits.tagBytes`, or has more than `XMLLimits.attributes` attributes, or more
    /// than `XMLLimits.namespaces` namespaces are in scope.
    case tagTooLong(file: String, line: Int)
    /// The document has more than `XMLLimits.names` names of elements, attributes and namespaces.
    case tooManyNames(file: String, line: Int)
    /// The text is not in the encoding that the document says.
    case wrongEncoding(file: String, line: Int)
    /// The document's root element is not that of its format.
    case otherRoot(file: String, format: String)
    /// A Placemark or a Track of a KML has more than `KMLContent.maximumHeld` positions that wait for their times, or times
    /// that wait for positions.
    case placemarkTooLong(file: String, line: Int)
    /// The zip archive is damaged, encrypted, or packed in another way than deflate.
    case badArchive(file: String)
    /// The zip archive has more than `ZipReader.maximumEntries` entries, or more than `ZipReader.maximumBytes` unpacked.
    case archiveTooLarge(file: String)
    /// The zip archive holds no KML document.
    case noDocument(file: String)
    /// The file is read through gpsbabel, which is not installed.
    case gpsbabelMissing(file: String)
    /// The file is of no format that `GPSBabelFormat.all` has.
    case unknownToGPSBabel(file: String)
    /// gpsbabel found no point in the file, which only its name says to be of one of gpsbabel's formats.
    case gpsbabelFoundNothing(file: String)
    /// gpsbabel could not read the file, and ended with this status.
    case gpsbabelFailed(file: String, status: Int32)
    /// gpsbabel did not end in the time that it has for a file of this size.
    case gpsbabelTooSlow(file: String, seconds: Int)
    /// gpsbabel could not be started, or its input not be stored.
    case gpsbabelNotStarted(file: String, SystemError)
    /// What gpsbabel is to read is a stream of more than `GPSBabelInput.maximumStreamBytes`.
    case streamTooLong(file: String)
    /// The records have no member for this axis.
    case noMember(file: String, axis: Axis)
    /// The records have no member of times, and untimed fixes were not asked for.
    case noTimeMember(file: String)
    /// The file is no JSON from this line on: where values are not on lines of their own, none after it can be read.
    case malformedJSON(file: String, line: Int)
    /// A GeoJSON feature, or an entry of a Google export, runs over `JSONElements.maximumBytes`.
    case featureTooLong(file: String, line: Int)
    /// The input declares a coordinate reference system other than WGS 84, and nothing says that it should be used; or
    /// declares it behind its features, when these have been read.
    case foreignReference(file: String)
    /// The input declares a coordinate reference system that PROJ does not know, or not as documents may.
    case unknownReference(file: String)
    /// What the input declares as its coordinate reference system may name a file.
    case refusedReference(file: String)
    /// The input's format is in WGS 84 by definition, and a reference system is named.
    case needlessReference(file: String)
    /// Lines of two numbers do not say which is the easting.
    case bareReference(file: String)
    /// Each record's UTM zone is wanted, and the input has no column of zones, or is GeoJSON.
    case noUTMZone(file: String)
    /// Zones have no letter, or N or S which may be a latitude band or a hemisphere, and nothing beside them says more.
    case utmHemisphere(file: String, name: String)
    /// A column of UTM zones says another one than that of the reference system, which may have none.
    case utmZoneDiffers(file: String, name: String)
    /// The first record has a position, and a recording inside of it.
    ///
    /// - filter: the samples as `jq` names them; nil where a name may be data.
    case summaryBesideSamples(file: String, filter: String?)
    /// No zone lies near the inputs as it is written, and one does with latitude and longitude exchanged.
    case zonesExchanged
    /// Names are to change after some time, and the input has no device keys.
    case noKeysToRename(file: String)
    /// A folder has outputs of a run without zones, or with others; or with zones, where this run has none. Outputs with and
    /// without tell where a zone is.
    case otherZones(String)
    /// Options for how inputs are read that no input of the run uses.
    case unusedOptions(InputOptions)
    /// The file's format is one that is only written.
    case notReadable(file: String, format: String)
    /// A file that is to be a key of pseudonyms is none.
    case badKey(file: String, KeyProblem)
    /// Fields are to be kept of an input whose format has none that can be.
    case nothingToKeep(file: String, format: String)
    /// Fields are to be kept in an output whose format has no place for them.
    case keepsNothing(format: String)
    /// The file is compressed, and the stream breaks off.
    case truncatedStream(file: String)
    /// The file is compressed, and the stream is damaged, or something else follows it.
    case damagedStream(file: String)
    /// The file is compressed with a window of more than 128 MiB.
    case windowTooLarge(file: String)
    /// The file of `--state` cannot be used.
    case badState(file: String, StateProblem)
    /// A record was bad and the run was to stop at the first.
    case stopped

    /// Why a file does not carry paces over to this run.
    package enum StateProblem: Error, Sendable {
        /// It is something else.
        case notAState
        /// It is of a version not known here.
        case version
        /// It is not as it was written.
        case damaged
        /// It has no content, as no state has.
        case empty
        /// It belongs to another user, who could have written anything.
        case otherOwner
        /// Its paces were kept with another atlas, or with other zones. Two atlases' answers for one position reveal more than
        /// either, and so do those with two sets of zones.
        case otherAtlas
        /// Its paces were kept with another interval.
        case otherInterval
        /// Its run reported something else of the answers.
        case otherEmission
        /// Another run has it open.
        case inUse
    }

    /// A column or member that may have the device key; its name is empty where it may be data.
    package struct KeyProposal: Hashable, Sendable {
        package var column: String
        /// How many values it has in the first records.
        package var devices: Int

        fileprivate var words: String {
            "--key-column \(column.isEmpty ? "NAME" : column): \(devices) \(devices == 1 ? "value" : "values")"
        }
    }

    /// What a column is copied for.
    package enum CopiedColumn: Sendable {
        case kept, key
    }

    /// A coordinate axis.
    package enum Axis: String, Sendable {
        case latitude, longitude
    }
}

extension Atlas {
    /// - Throws: `TraceError.atlasChanged` where what was answered may be wrong.
    func requireUnchanged() throws(TraceError) {
        do throws(AtlasError) { try checkUnchanged() } catch { throw .atlasChanged }
    }
}

extension TraceError {
    /// Whether it says that a header names no coordinates that are known.
    var lacksPosition: Bool {
        switch self {
        case .noColumn, .bareAxes: true
        default: false
        }
    }

    /// The same, of a record that is too long at this line: `BlockReader` does not count lines.
    func at(line: Int) -> TraceError {
        switch self {
        case .recordTooLong(let file, _): .recordTooLong(file: file, line: line)
        case .malformedJSON(let file, 0): .malformedJSON(file: file, line: line)
        default: self
        }
    }
}

extension TraceError: CustomStringConvertible {
    /// One line for people.
    package var description: String {
        switch self {
        case .cannotRead(let file, let error), .cannotWrite(let file, let error): "\(file): \(error)"
        case .changedWhileRead(let file): "\(file): was changed while it was read; run it again"
        case .notAFile(let file): "\(file): is no file"
        case .folderInUse(let folder): "\(folder): another run writes to this folder"
        case .foreignMark(let file): "\(file): belongs to another user, or has another name too; remove it"
        case .outputClosed: "the reader of the output went away"
        case .inUse(let file, let role): "\(file): is \(role.words) of this run; write to another file"
        case .replacesRecords(let file): "\(file): has records and this run has none, so nothing was replaced"
        case .atlasChanged: "the atlas was changed during the run; replace an atlas by renaming another into its place"
        case .recordTooLong(let file, let line): "\(file):\(line): the record is over 1 MiB (a quote left open?)"
        case .noColumn(let file, let axis, let columns):
            "\(file): no \(axis) column in the header\(Self.list(columns))"
        case .bareAxes(let file, let x, let y):
            "\(file): columns \(x) and \(y) may be coordinates, accelerations or pixels"
        case .notRead(let file, let kind): "\(file): \(kind.description), which is not read"
        case .unknownTimeZone(let name): "\(name): not a time zone of the system's database (IANA; Debian's tzdata)"
        case .badTimeZone(let name): "\(name): the file of this time zone is damaged, or counts leap seconds"
        case .noTimeColumn(let file, let columns):
            "\(file): no time column in the header\(Self.list(columns)); without times nothing can be paced"
        case .noTimes(let file): "\(file): lines of two numbers have no times; without times nothing can be paced"
        case .noDate(let file): "\(file): times of day, and no date that they are of"
        case .tooManyColumns(let file): "\(file): the header has more than \(CSVLayout.maximumColumns) columns"
        case .headerQuote(let file, let line): "\(file):\(line): a quote in the header is not closed in its line"
        case .ambiguousColumn(let file, let name):
            "\(file): more than one column could be the \(shownName(name) ?? "one that an option names")"
        case .unknownColumn(let file, let name, let columns):
            "\(file): the header has no column \(shownName(name).map { "\"\($0)\"" } ?? "that an option names")"
                + Self.list(columns)
        case .unitOfPosition(let file, let name):
            "\(file): \(shownName(name).map { "the column \"\($0)\"" } ?? "a column") says that positions are in a unit "
                + "which is not used; give degrees, or name the coordinate reference system with --crs"
        case .timeOffsets(let file, let name):
            "\(file): \(shownName(name).map { "the column \"\($0)\"" } ?? "a column") says what the clocks show, not as "
                + "+hh:mm; name their zone with --time-zone, or the unit in the column's name (utc_offset_minutes)"
        case .otherDatum(let file, let name, let datum):
            "\(file): \(shownName(name).map { "the column \"\($0)\"" } ?? "a column") says that positions are on another datum "
                + "than WGS 84, which may be hundreds of meters off; "
                + (datum.code.map { "name it with --crs EPSG:\($0)" } ?? "transform them first")
        case .epochUnknown(let file, let column, let proposals):
            "\(file): the numbers of \(shownName(column).map { "\"\($0)\"" } ?? "the times") may count from another moment "
                + "than 1970, or in another unit; say what they are: "
                + proposals.map { "--time-format \($0)" }.joined(separator: " or ")
        case .rowNumbers(let file, let column, let proposals):
            "\(file): \(shownName(column).map { "\"\($0)\"" } ?? "the key") differs in every record, so it numbers rows, not "
                + "devices" + proposals.map { "; \($0.words)" }.joined()
                + (proposals.isEmpty ? "; if all are one device's, add --one-device" : "")
                + "; or accept it with --key-column \(shownName(column) ?? "NAME")"
        case .lateKey(let file, let line, let name):
            "\(file):\(line): a device key \(shownName(name).map { "\"\($0)\"" } ?? ""), which the records before it lack; "
                + "name it with --key-column, or take all for one device with --one-device"
        case .keysDiffer(let file, let name, let first):
            "\(file): its device key is \(shownName(name).map { "\"\($0)\"" } ?? "another column"), and that of an input before "
                + "it \(shownName(first).map { "\"\($0)\"" } ?? "another"); if they mean the same, name both: "
                + "--key-column \(shownName(first) ?? "A") --key-column \(shownName(name) ?? "B")"
        case .keepsPosition(let name): "\(shownName(name) ?? "a column"): this column holds the precise position"
        case .columnIsWritten(_, let name): "\(name): the output has a column of this name; rename the input's"
        case .otherHeader(let file, let line):
            "\(file):\(line): another header, whose names are not those of the first; split the file there"
        case .headersDiffer(let file): "\(file): its kept columns differ from the first file's"
        case .mixedKeys(let file): "\(file): some inputs name devices and some do not; convert them separately"
        case .notOneDevice(let file, let report): "\(file): \(report)"
        case .malformedXML(let file, let line): "\(file):\(line): not well-formed XML"
        case .documentType(let file, let line): "\(file):\(line): document types are not accepted"
        case .nestedTooDeep(let file, let line): "\(file):\(line): elements nested too deep"
        case .tokenTooLong(let file, let line): "\(file):\(line): a comment is too long"
        case .tagTooLong(let file, let line): "\(file):\(line): a tag is too long"
        case .tooManyNames(let file, let line): "\(file):\(line): too many names of elements and attributes"
        case .wrongEncoding(let file, let line):
            "\(file):\(line): the text is not in the encoding that the document declares"
        case .otherRoot(let file, let format): "\(file): not a \(format) document"
        case .placemarkTooLong(let file, let line): "\(file):\(line): more than 2 million positions in one Placemark"
        case .badArchive(let file): "\(file): the archive is damaged, encrypted or packed in an unknown way"
        case .archiveTooLarge(let file): "\(file): the archive is over 4 GiB unpacked, or of more than 65,536 files"
        case .noDocument(let file): "\(file): the archive holds no KML document"
        case .gpsbabelMissing(let file):
            "\(file): this format is read with gpsbabel, which is not installed; install the package gpsbabel"
        case .unknownToGPSBabel(let file):
            "\(file): neither content nor name say which of gpsbabel's formats it is in; name it: --from gpsbabel:NAME"
        case .gpsbabelFoundNothing(let file):
            "\(file): gpsbabel found no point in it; is it of another format than its name says?"
        case .gpsbabelTooSlow(let file, let seconds): "\(file): gpsbabel did not end within \(seconds) seconds"
        case .gpsbabelFailed(let file, let status):
            "\(file): gpsbabel could not read it (exit status \(status)); is it damaged, or of another format?"
        case .gpsbabelNotStarted(let file, let error): "\(file): gpsbabel cannot be started: \(error)"
        case .streamTooLong(let file): "\(file): over 1 GiB, more than is stored of a stream"
        case .noMember(let file, let axis): "\(file): no \(axis) member in the first record"
        case .noTimeMember(let file): "\(file): no time member; without times nothing can be paced"
        case .malformedJSON(let file, let line): "\(file):\(line): not well-formed JSON"
        case .featureTooLong(let file, let line): "\(file):\(line): the feature or entry is over 16 MiB"
        case .foreignReference(let file):
            "\(file): declares a coordinate reference system other than WGS 84; name it with --crs, or, where it is "
                + "declared before the features, use --crs auto"
        case .refusedReference(let file):
            "\(file): declares a coordinate reference system by what may name a file; name the system with --crs"
        case .unknownReference(let file): "\(file): declares a coordinate reference system that PROJ does not know"
        case .needlessReference(let file):
            "\(file): --crs is for tables and GeoJSON; this format is in WGS 84 by definition"
        case .bareReference(let file):
            "\(file): lines of two numbers do not say which is the easting; --crs needs a header"
        case .noUTMZone(let file):
            "\(file): --crs utm takes each record's zone from a column or member (utm_zone, zone), and there is none; if all "
                + "are in one zone, name its system: --crs EPSG:32633"
        case .utmHemisphere(let file, let name):
            "\(file): \(shownName(name).map { "the zones of \"\($0)\"" } ?? "zones") do not say on which side of the equator "
                + "they are: a number alone does not, and N or S alone may be a hemisphere or a latitude band; add a column "
                + "hemisphere (N or S), or write latitude bands (30T) or systems (EPSG:32630)"
        case .utmZoneDiffers(let file, let name):
            "\(file): \(shownName(name).map { "the column \"\($0)\"" } ?? "a column") says UTM zones, which are not all that of "
                + "the coordinate reference system; take each record's zone from it with --crs utm, or rename the column if it "
                + "says something else"
        case .summaryBesideSamples(let file, nil):
            "\(file): a summary with a position, and a recording in an array inside of it; take the array out first, with jq"
        case .summaryBesideSamples(let file, let filter?):
            "\(file): a summary with a position, and a recording inside of it, in \(filter); take that out first: "
                + "jq -c '\(filter)' FILE > samples.ndjson"
        case .zonesExchanged:
            "zones may have longitude first (or in GeoJSON latitude first): read the other way round, one lies within 100 km "
                + "of the input's fixes, and as they are written none does. Rows are LAT,LON,RADIUS and GeoJSON is [LON, LAT]; "
                + "zones that are right withhold nothing of this input, which can be read without them"
        case .unusedOptions(let options): "no input of this run uses \(options.words)"
        case .notReadable(let file, let format): "\(file): \(format) is only written"
        case .badKey(let file, let problem): "\(file): \(problem.words)"
        case .nothingToKeep(let file, let format):
            "\(file): --keep names fields of tables and GeoJSON; \(format) has none"
        case .keepsNothing(let format): "--keep: \(format) has no place for kept fields; write csv, ndjson or geojson"
        case .truncatedStream(let file): "\(file): the compressed data breaks off"
        case .windowTooLarge(let file): "\(file): decompressing takes more than 128 MiB of memory"
        case .damagedStream(let file): "\(file): the compressed data is damaged"
        case .noKeysToRename(let file):
            "\(file): has no device keys, and so no names that could change; --rename-every is for inputs with keys"
        case .otherZones(let folder):
            "\(folder): has outputs that are not of these zones and this atlas; beside them those of this run would say where a zone "
                + "is: write to another folder"
        case .badState(let file, let problem): "\(file): \(problem.words)"
        case .stopped: "stopped at the first bad record"
        }
    }

    /// Columns in parentheses.
    private static func list(_ columns: [String]) -> String {
        columns.isEmpty ? "" : " (it has \(columns.joined(separator: ", ")))"
    }
}

extension TraceError.StateProblem {
    fileprivate var words: String {
        switch self {
        case .notAState: "not a state"
        case .version: "a state of another version"
        case .damaged: "damaged; the paces in it are lost. Without it every device may be answered anew at once"
        case .empty: "empty, as no state is; remove it to begin one"
        case .otherOwner: "belongs to another user"
        case .otherAtlas: "belongs to another atlas, or to other --zones or another --least"
        case .otherInterval: "belongs to another interval"
        case .otherEmission: "belongs to another --emit"
        case .inUse: "in use by another run"
        }
    }
}

extension UsedFile.Role {
    fileprivate var words: String {
        switch self {
        case .input: "an input"
        case .state: "the state"
        case .atlas: "the atlas"
        case .zones: "the file of --zones"
        case .key: "a key"
        }
    }
}

/// A record that could not be used: where it is and why, and nothing of what it says.
package struct RecordProblem: Hashable, Sendable {
    /// Line of the file the record starts on, from 1.
    package var line: Int
    /// What is wrong with it.
    package var reason: Reason

    /// One cause per case.
    package enum Reason: Hashable, Sendable {
        /// The latitude is empty or absent.
        case latitudeMissing
        /// The longitude is empty or absent.
        case longitudeMissing
        /// The latitude is neither a decimal number nor degrees, minutes and seconds.
        case latitudeUnreadable
        /// The longitude is neither.
        case longitudeUnreadable
        /// The latitude is outside [-90, 90].
        case latitudeOutOfRange
        /// The longitude is outside [-540, 540].
        case longitudeOutOfRange
        /// The position is outside of the domain of the coordinate reference system.
        case outsideReference
        /// A record's UTM zone is not readable, does not say on which side of the equator it is, or says both.
        case utmZoneUnreadable
        /// A record's UTM zone is not that of the reference system in which positions are read.
        case utmZoneDiffers
        /// A feature declares a coordinate reference system other than WGS 84.
        case foreignReference
        /// The column of both coordinates is empty.
        case positionMissing
        /// It has neither `POINT(longitude latitude)` nor, where its name or an option says that, the two numbers.
        case positionUnreadable
        /// A column for N or S, E or W says something else.
        case hemisphereUnreadable
        /// A number has a minus sign beside a column for the hemisphere, so that one of the two is wrong.
        case hemisphereAndSign
        /// A point's element stands where no points are looked for.
        case pointOutOfPlace
        /// The time is empty or absent though the table has a column of times, or the device's fixes have times.
        case timeMissing
        /// The time is in no known notation.
        case timeUnreadable
        /// The date begins with its day or its month, and no option says with which.
        case dateOrderUnknown
        /// The record says that there is no fix, or has the position 0, 0.
        case noFix
        /// The time is a number that was rounded to fewer digits than its unit needs.
        case timeRounded
        /// The time has no offset from UTC, and the column of offsets has none that is readable.
        case offsetUnreadable
        /// A field that is copied as a time has not the form of one.
        case timeFormUnknown
        /// The device key reads as a coordinate: the record's fields may stand in other columns than the header says.
        case keyIsCoordinate
        /// The time is before 1990: a number, perhaps, that counts from another moment than 1970.
        case timeTooEarly
        /// The time is more than a day ahead of the run's clock.
        case timeInFuture
        /// The record has another number of columns than the header.
        case columnCount(expected: Int, found: Int)
        /// The record is a header of other columns than the input's, or stands behind one.
        case otherHeader
        /// A quoted field does not end where it should, or a quote that begins a field is no quotation mark.
        case quote
        /// A line without header is not two numbers.
        case notTwoNumbers
        /// The record is no JSON.
        case notJSON
        /// The record is no JSON object.
        case notAnObject
        /// Brackets are nested deeper than 64.
        case nestedTooDeep
        /// A member that is read stands twice in its object.
        case duplicateMember
        /// A member that is read is an object or array.
        case memberIsContainer
        /// A feature's geometry is none of points or lines.
        case notPoints
        /// A feature has another number of times than of positions.
        case timeCount
        /// A receiver's sentence is not what its checksum says.
        case checksumWrong
        /// A receiver's sentence has no checksum, though one before it has.
        case checksumMissing
        /// A B record of a flight ends before its position does.
        case recordTooShort
        /// A B record of a flight says neither A nor V of its position.
        case fixValidityUnreadable

        /// Whether a header among records is bad for this reason.
        var mayBeOfHeader: Bool {
            switch self {
            case .latitudeMissing, .longitudeMissing, .latitudeUnreadable, .longitudeUnreadable, .positionMissing,
                .positionUnreadable, .hemisphereUnreadable, .columnCount:
                true
            default: false
            }
        }

        /// Whether the record's fields may stand in other columns than the header says, the position in any of them.
        var isOfShape: Bool {
            switch self {
            case .columnCount, .keyIsCoordinate, .otherHeader, .quote, .notTwoNumbers, .notJSON, .notAnObject,
                .nestedTooDeep, .duplicateMember,
                .memberIsContainer, .notPoints, .timeCount, .foreignReference, .checksumWrong, .checksumMissing,
                .recordTooShort:
                true
            default: false
            }
        }
    }
}

extension RecordProblem.Reason: CustomStringConvertible {
    /// A few words for people.
    package var description: String {
        switch self {
        case .latitudeMissing: "no latitude"
        case .longitudeMissing: "no longitude"
        case .latitudeUnreadable: "the latitude is not a number"
        case .longitudeUnreadable: "the longitude is not a number"
        case .latitudeOutOfRange: "the latitude is out of range"
        case .longitudeOutOfRange: "the longitude is out of range"
        case .outsideReference: "the position is outside of the area of --crs"
        case .utmZoneUnreadable: "the UTM zone is not readable"
        case .utmZoneDiffers: "another UTM zone than that of --crs"
        case .foreignReference: "a coordinate reference system other than WGS 84"
        case .positionMissing: "no position"
        case .positionUnreadable: "the position is not readable"
        case .hemisphereUnreadable: "the hemisphere is not N or S, E or W"
        case .hemisphereAndSign: "a number below zero beside its hemisphere"
        case .pointOutOfPlace: "a point where none belongs"
        case .timeMissing: "no time"
        case .timeUnreadable: "the time is not readable"
        case .dateOrderUnknown: "the date may begin with its day or its month; --date-order says which"
        case .noFix: "no fix"
        case .timeRounded: "the time was rounded to fewer digits than its unit needs"
        case .offsetUnreadable: "the time's offset is not readable"
        case .timeFormUnknown: "the time is not one"
        case .keyIsCoordinate: "the key could be a coordinate"
        case .timeTooEarly: "the time is before 1990"
        case .timeInFuture: "the time is more than a day in the future"
        case .columnCount(let expected, let found): "\(found) columns where the header has \(expected)"
        case .otherHeader: "another header"
        case .quote: "a quoted field does not end as it should"
        case .notTwoNumbers: "not a latitude and a longitude"
        case .notJSON: "not JSON"
        case .notAnObject: "not a JSON object"
        case .nestedTooDeep: "brackets nested too deep"
        case .duplicateMember: "a member that is read is there twice"
        case .memberIsContainer: "a member that is read is an object or array"
        case .notPoints: "no points and no lines"
        case .timeCount: "another number of times than of positions"
        case .checksumWrong: "the checksum is wrong"
        case .checksumMissing: "no checksum, though sentences before have one"
        case .recordTooShort: "the record breaks off"
        case .fixValidityUnreadable: "neither A nor V where a fix's validity stands"
        }
    }
}

extension RecordProblem.Reason {
    /// The description without the record's own numbers: what records are counted by.
    package var summary: String {
        if case .columnCount = self { return "another number of columns than the header has" }
        return description
    }
}

/// What happens to a bad record.
package enum ErrorPolicy: String, CaseIterable, Sendable {
    /// The run ends there.
    case stop
    /// The record is left out.
    case skip
    /// A record is written whose reduced columns are empty.
    case blank
}

/// Something the user should know about a run that went on.
package enum Notice: Hashable, Sendable {
    /// How a table or JSON was read.
    case readAs(file: String, InputReading)
    /// Each record has a field before the first one that the header names.
    case rowNames(file: String)
    /// The positions of a table have fewer than three decimals throughout.
    case fewDecimals(file: String)
    /// A file without points.
    case noPoints(file: String)
    /// An output of the run before is gone, of which the state does not know whether anybody saw it.
    case outputMissing(file: String)
    /// The state could not be written anew at the end of the run. It is complete, but would not miss its last answers.
    case stateNotSealed(file: String)
    /// Files of different names are taken for as many persons', each with a pace of its own.
    case severalPersons(Int)
    /// Devices of the state were answered at ticks of the future, by a clock that was wrong: they go on now.
    case stateRepaired(file: String, devices: Int)
    /// Fixes that came after one that was newer, or after the answer of their tick: they changed nothing.
    case lateFixes(file: String, count: Int)
    /// Waypoints and route points without a time, in a file with times: they were left out.
    case untimedPlans(file: String, count: Int)
    /// A device whose fixes have no times: its regions are written in order, unpaced.
    case untimed(file: String)
    /// An input's device keys are more than a tenth of its records, so that little was paced.
    case manyDevices(file: String, devices: Int, records: Int)
    /// A table whose only possible device key is a column `track`, which may be a course: it is one device.
    case trackIsNoKey(file: String, column: String)
    /// Of several columns that may be times, the first was taken.
    case timeColumns(file: String, taken: String, others: [String])
    /// There are zones, and no answer of the run was withheld for their sake.
    case nothingWithheld
    /// A state was of another atlas, and is of this one now: so many regions it had, and so many this atlas has not cell by cell.
    case stateMoved(file: String, regions: Int, dropped: Int)
    /// A recording says that somebody went on foot, and the interval is shorter than an hour.
    case onFoot(file: String)
    /// So many devices, or persons, have reports over more than `NameSpans.mostDays` under one name.
    case longNames(Int)
    /// So many outputs of a folder have names that hold a time of day.
    case timesInNames(Int)
    /// The file from which the next run knows what each output of a folder is of.
    case mapStays(file: String)
    /// What was looked for beside an input is a pipe, a device or a folder, and was passed over.
    case notAFile(String)
}

/// What a run reports its events to, as they happen. The library prints nothing itself.
package struct RunObserver {
    /// A bad record, in order of the input: file, record, reason.
    package var problem: (_ file: String, _ problem: RecordProblem) -> Void
    /// Something to know.
    package var notice: (Notice) -> Void
    /// Bytes read so far, over all inputs. Called about once per piece.
    package var progress: (_ bytes: Int) -> Void

    package init(
        problem: @escaping (_ file: String, _ problem: RecordProblem) -> Void = { _, _ in },
        notice: @escaping (Notice) -> Void = { _ in },
        progress: @escaping (_ bytes: Int) -> Void = { _ in }
    ) {
        self.problem = problem
        self.notice = notice
        self.progress = progress
    }
}

/// What a run did.
package struct RunSummary: Hashable, Sendable {
    /// Records read, bad ones included.
    package var records = 0
    /// Records that could not be used.
    package var badRecords = 0
    /// Records or reports written.
    package var written = 0
    /// Devices that were answered.
    package var devices = 0
    /// Records that came after one of their device of a later tick, and so changed nothing, in inputs where these are more
    /// than ten and more than a hundredth.
    package var lateRecords = 0
    /// Jumps of devices with keys after the first records of an input, where these are at least three and more than a
    /// thousandth of the steps.
    package var jumps = 0
    /// The columns or members that `snap` copies; nil of formats without.
    package var keptNames: [String]?
    /// What the reports come to, if that was wanted.
    package var statistics: ReportStatistics?

    package init() {}
}
