import Foundation
import Hereabouts
import Testing

@testable import Traces

/// Files as people have them that were answered untruly, each with its right answer or refusal, and how it says it was read.
@Suite struct SilentCaseTests {
    /// What must come of a case.
    enum Expected: Sendable {
        /// The key and the time of each answer of `convert`.
        case answers([String])
        /// So many rows of `snap`, the header included.
        case rows(Int)
        case bad(Int)
        /// With these words in the message.
        case refused(String)
    }

    struct Case: CustomTestStringConvertible, Sendable {
        var name, input: String
        var isSnap = false
        var csv: @Sendable (inout CSVOptions) -> Void = { _ in }
        var timeColumn: String?
        var keep: [String] = []
        var expected: Expected
        var reading: String
        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(
            name: "two tables in one file",
            input: #"""
                device,time,lat,lon
                van-a,2026-05-01T08:10:00Z,48.2082,16.3738
                lat,lon,device,time
                48.30821,16.47382,van-b,2026-05-01T08:11:00Z
                48.31821,16.48382,van-b,2026-05-01T08:31:00Z

                """#,
            expected: .answers([
                "van-b 2026-05-01T08:15:00Z", "van-a 2026-05-01T08:15:00Z", "van-b 2026-05-01T08:45:00Z",
            ]),
            reading:
                "latitude lat, longitude lon, time time (text with an offset), device device (1 device in the first record)"
        ),
        Case(
            name: "row names of R",
            input: #"""
                lat,lon,id,date,time,note
                "1",48.20821,16.37382,a,2026-05-01 08:10:00,08:10:00,
                "2",48.20831,16.37392,a,2026-05-01 08:31:00,08:31:00,

                """#,
            expected: .answers(["a 2026-05-01T08:15:00Z", "a 2026-05-01T08:45:00Z"]),
            reading:
                "latitude lat, longitude lon, time time (text, UTC), date date, device id (1 device in the first 2 records); dropped: column 1, note"
        ),
        Case(
            name: "row names without times",
            input: #"""
                "lat","lon","note"
                "1",48.2082,16.3738,
                "2",48.2182,16.3838,
                "3",48.3182,16.4838,

                """#,
            isSnap: true,
            expected: .rows(4),
            reading: "latitude lat, longitude lon; dropped: column 1, note"),
        Case(
            name: "row numbers",
            input: #"""
                id,date,latitude,longitude,speed,power,odometer,ideal_battery_range_km,battery_level,outside_temp,elevation,car_id,drive_id
                90001,2026-05-01 08:10:00.101,48.208200,16.373800,12,3,21753.7,141,50,12.0,171,1,77
                90002,2026-05-01 08:10:05.201,48.208900,16.374100,32,13,21753.8,141,50,12.0,171,1,77
                90003,2026-05-01 08:10:10.301,48.209800,16.375100,42,13,21753.9,141,50,12.0,171,1,77
                90004,2026-05-01 08:11:10.301,48.219800,16.385100,42,13,21754.9,141,50,12.0,171,1,77
                90005,2026-05-01 08:12:10.301,48.229800,16.395100,42,13,21755.9,141,50,12.0,171,1,77
                90006,2026-05-01 08:13:10.301,48.249800,16.425100,42,13,21757.9,141,50,12.0,171,1,77
                90007,2026-05-01 08:14:10.301,48.269800,16.475100,42,13,21759.9,141,50,12.0,171,1,77

                """#,
            expected: .refused("--key-column car_id: 1 value"),
            reading:
                "latitude latitude, longitude longitude, time date (text, UTC), device id (7 devices in the first 7 records); dropped: speed, power, odometer, ideal_battery_range_km, battery_level, outside_temp, elevation, car_id, drive_id"
        ),
        Case(
            name: "a key that comes late",
            input: #"""
                {"time":"2026-05-01T08:10:00Z","lat":48.2082,"lon":16.3738}
                {"device_id":"a","time":"2026-05-01T08:10:10Z","lat":48.2082,"lon":16.3738}
                {"device_id":"b","time":"2026-05-01T08:11:00Z","lat":52.52,"lon":13.405}
                {"device_id":"a","time":"2026-05-01T08:26:00Z","lat":48.2582,"lon":16.4738}
                {"device_id":"b","time":"2026-05-01T08:27:00Z","lat":52.62,"lon":13.505}

                """#,
            expected: .refused("device_id"),
            reading: "latitude lat, longitude lon, time time (text with an offset)"),
        Case(
            name: "newest first",
            input: #"""
                device_id,time,lat,lon
                a,2026-05-01T09:11:00Z,48.4582,16.6738
                a,2026-05-01T08:56:00Z,48.3582,16.5738
                a,2026-05-01T08:41:00Z,48.3082,16.5238
                a,2026-05-01T08:26:00Z,48.2582,16.4738
                a,2026-05-01T08:10:00Z,48.2082,16.3738

                """#,
            expected: .answers([
                "a 2026-05-01T08:15:00Z", "a 2026-05-01T08:30:00Z", "a 2026-05-01T08:45:00Z", "a 2026-05-01T09:00:00Z",
                "a 2026-05-01T09:15:00Z",
            ]),
            reading:
                "latitude lat, longitude lon, time time (text with an offset), device device_id (1 device in the first 5 records)"
        ),
        Case(
            name: "a first record in degrees",
            input: #"""
                id,latitude,longitude
                a,51°28'38",-0°7'39"
                b,51 28 38,-0 7 39
                c,51°28'38"N,0°7'39"W
                d,-0°10'50",-78°28'4"
                e,"51° 28' 38'' N","0° 7' 39'' W"
                f,51º28’38”N,0º7’39”W
                g,51°28.6333',-0°7.65'

                """#,
            isSnap: true,
            expected: .rows(8),
            reading: "latitude latitude, longitude longitude, key id (7 keys in the first 7 records)"),
        Case(
            name: "an array as text",
            input: #"""
                id,time,coordinates
                a,2026-05-01T08:10:00Z,"[16.3738, 48.2082]"
                a,2026-05-01T08:31:00Z,"[16.4738, 48.2582]"

                """#,
            csv: { $0.positionColumn = "coordinates" },
            expected: .answers(["a 2026-05-01T08:15:00Z", "a 2026-05-01T08:45:00Z"]),
            reading:
                "position coordinates, time time (text with an offset), device id (1 device in the first 2 records)"),
        Case(
            name: "radians",
            input: #"""
                time,Latitude (rad),Longitude (rad)
                2026-05-01T08:10:00Z,0.841391,0.285777
                2026-05-01T08:31:00Z,0.842264,0.287522

                """#,
            csv: { ($0.latitudeColumn, $0.longitudeColumn) = ("Latitude (rad)", "Longitude (rad)") },
            expected: .answers(["1 2026-05-01T08:15:00Z", "1 2026-05-01T08:45:00Z"]),
            reading:
                "latitude Latitude (rad) (radians), longitude Longitude (rad) (radians), time time (text with an offset)"
        ),
        Case(
            name: "an offset in a column",
            input: #"""
                id,time,utc_offset,lat,lon
                a,2026-05-01 10:10:00,+02:00,48.2082,16.3738

                """#,
            expected: .answers(["a 2026-05-01T08:15:00Z"]),
            reading:
                "latitude lat, longitude lon, time time (text), offset utc_offset, device id (1 device in the first record)"
        ),
        Case(
            name: "microseconds since boot",
            input: #"""
                timestamp,timestamp_sample,lat,lon,alt,alt_ellipsoid,eph,epv
                1095410312,1095410312,48.2082000,16.3738000,171.0,215.0,0.5,0.9
                1096410312,1096410312,48.2083000,16.3739000,171.0,215.0,0.5,0.9
                1097410312,1097410312,48.2085000,16.3741000,171.0,215.0,0.5,0.9
                1098410312,1098410312,48.2087000,16.3743000,171.0,215.0,0.5,0.9
                1099410312,1099410312,48.2189000,16.3845000,171.0,215.0,0.5,0.9
                1100410312,1100410312,48.2291000,16.3947000,171.0,215.0,0.5,0.9

                """#,
            expected: .refused("--time-format unix"),
            reading:
                "latitude lat, longitude lon, time timestamp (Unix seconds, UTC); dropped: timestamp_sample, alt, alt_ellipsoid, eph, epv"
        ),
        Case(
            name: "seconds since 2001",
            input: #"""
                {"_type":"location","tst":799316400,"acc":10,"lon":16.3738,"lat":48.2082,"topic":"owntracks/iPhoneDev","batt":100}
                {"_type":"location","tst":799317660,"acc":10,"lon":16.4738,"lat":48.2582,"topic":"owntracks/iPhoneDev","batt":99}

                """#,
            timeColumn: "tst",
            expected: .refused("--time-format cocoa or --time-format unix"),
            reading: "latitude lat, longitude lon, time tst (Unix seconds, UTC); dropped: _type, acc, topic, batt"),
        Case(
            name: "rounded by a spreadsheet",
            input: #"""
                id,timestamp,latitude,longitude
                a,1.77762E+12,48.2082,16.3738
                a,1.77762E+12,48.2582,16.4738
                a,1.77762E+12,48.3582,16.5738

                """#,
            expected: .bad(3),
            reading:
                "latitude latitude, longitude longitude, time timestamp (Unix milliseconds, UTC), device id (1 device in the first 3 records)"
        ),
        Case(
            name: "a stray quote",
            input: #"""
                gbifID	locality	decimalLatitude	decimalLongitude
                1	"camp 1	5.43	117.12
                2	camp 2	5.53	117.22
                3	camp 3	5.63	117.32
                4	camp 4"	5.73	117.42
                5	camp 5	5.83	117.52

                """#,
            isSnap: true,
            keep: ["gbifID"],
            expected: .rows(6),
            reading: "latitude decimalLatitude, longitude decimalLongitude, copied gbifID; dropped: locality"),
        Case(
            name: "no fix",
            input: #"""
                id,time,lat,lon,fix
                a,2026-05-01T08:10:00Z,48.2082,16.3738,1
                a,2026-05-01T08:14:00Z,48.9,17.9,0

                """#,
            expected: .answers(["a 2026-05-01T08:15:00Z"]),
            reading:
                "latitude lat, longitude lon, time time (text with an offset), validity fix, device id (1 device in the first 2 records)"
        ),
        Case(
            name: "annotations between tables",
            input: #"""
                #datatype,string,long,dateTime:RFC3339,double,double,string
                ,result,table,_time,lat,lon,device
                ,,0,2026-05-01T08:10:00Z,48.2082,16.3738,van-a
                ,,0,2026-05-01T08:27:00Z,48.2582,16.4738,van-a

                #datatype,string,long,dateTime:RFC3339,double,double,string
                ,result,table,_time,lon,lat,device
                ,,1,2026-05-01T08:11:00Z,16.3738,48.3082,van-b
                ,,1,2026-05-01T08:27:30Z,16.4738,48.3582,van-b

                """#,
            timeColumn: "_time",
            expected: .answers([
                "van-a 2026-05-01T08:15:00Z", "van-b 2026-05-01T08:15:00Z", "van-a 2026-05-01T08:30:00Z",
                "van-b 2026-05-01T08:30:00Z",
            ]),
            reading:
                "latitude lat, longitude lon, time _time (text with an offset), device device (1 device in the first 2 records); dropped: column 1, result, table"
        ),
        Case(
            name: "two devices without a known key",
            input: #"""
                vehicle,time,lat,lon
                A,2026-05-01 08:10:00,48.2082,16.3738
                B,2026-05-01 08:11:00,40.4,-3.7
                A,2026-05-01 09:20:00,48.4082,16.3738
                B,2026-05-01 09:21:00,40.5,-3.7

                """#,
            expected: .refused("jumps"),
            reading: "latitude lat, longitude lon, time time (text, UTC); dropped: vehicle"),
        Case(
            name: "null island",
            input: #"""
                id,time,lat,lon
                A,2026-05-01T08:10:00Z,0,0
                A,2026-05-01T09:10:00Z,48.2082,16.3738
                A,2026-05-01T10:10:00Z,,
                A,2026-05-01T11:10:00Z,NULL,NULL
                A,2026-05-01T12:10:00Z,nan,nan

                """#,
            expected: .bad(4),
            reading:
                "latitude lat, longitude lon, time time (text with an offset), device id (1 device in the first 5 records)"
        ),
    ]

    @Test(arguments: cases) func `a file as people have it`(_ item: Case) {
        let outcome =
            item.isSnap
            ? snap(item.input) {
                item.csv(&$0.csv)
                $0.keep = item.keep
            }
            : convertToTable(item.input) {
                ($0.now, $0.timeColumn) = (Timestamp(nanosecondsSince1970: 1_795_000_000_000_000_000), item.timeColumn)
                item.csv(&$0.csv)
            }
        switch item.expected {
        case .answers(let answers):
            #expect(outcome.keysAndTimes == answers && outcome.error == nil)
        case .rows(let count): #expect(outcome.rows.count == count && outcome.error == nil)
        case .bad(let count): #expect(outcome.problems.count == count && outcome.error == nil)
        case .refused(let words):
            #expect(outcome.error.map { "\($0)".contains(words) } == true && outcome.output.isEmpty)
        }
        #expect(outcome.readings.map(\.text) == [item.reading])
    }
}
