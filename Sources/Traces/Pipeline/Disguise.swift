import Hereabouts
import TextCoding

/// What becomes of device keys and times before they are written: `--rename-ids`, `--rename-every`, `--date-shift`,
/// `--time-precision`.
///
/// Nothing of it reaches pacing, which knows the true keys and times: what is answered, and how often, does not depend on
/// it.
package struct Disguise: Sendable {
    /// Each device's times are moved by a number of whole days that is the device's own.
    package struct DateShift: Sendable {
        package var key: SecretKey
        /// The most days, either way.
        package var mostDays: Int

        package init(key: SecretKey, mostDays: Int = 365) {
            precondition((1...Self.mostDaysEver).contains(mostDays), "a number of days that keeps years in range")
            (self.key, self.mostDays) = (key, mostDays)
        }

        /// Ten years.
        package static let mostDaysEver = 3650
    }

    /// The key of the names that take the place of device keys; nil to write these.
    package var renaming: SecretKey?
    /// How long a device has one name and its times are moved by the same days; nil for always. With `renaming` alone.
    package var period: Duration?
    /// Nil to leave times where they are.
    package var dateShift: DateShift?
    /// Times are rounded down to multiples of it in UTC; nil for whole seconds. At least a second.
    package var timePrecision: Duration?

    package init() {}

    /// Whether nothing changes.
    var isNone: Bool { renaming == nil && !changesTimes }

    /// Whether times are written otherwise than they are.
    var changesTimes: Bool { dateShift != nil || timePrecision != nil }

    /// Whose clock is moved.
    enum Clock {
        /// That of a device with a key, in its normal form.
        case device([UInt8])
        /// That of an input, or of all: by the name that tells persons apart (see `PersonInputs`), and the number of the
        /// track where each is a person.
        case person(String, track: UInt32? = nil)
    }

    /// By how much a clock is moved, in nanoseconds: a uniform choice among the numbers of days from 1 to `mostDays`, either
    /// way. A 64-bit code modulo at most 7300 is uniform to within 4e-16.
    ///
    /// - Parameter period: the number of the device's period; nil where there are none.
    func shift(of clock: Clock, period: Int64? = nil) -> Int64 {
        guard let dateShift else { return 0 }
        var message = Self.message("hereabouts date shift", period)
        switch clock {
        case .device(let key): message += [0, 1] + key
        case .person(let name, nil): message += [0, 2] + Array(name.utf8)
        case .person(let name, let track?): message += [0, 3] + Array("\(track) \(name)".utf8)
        }
        let code = Self.number(dateShift.key.code(message))
        let choice = Int64(code % UInt64(2 * dateShift.mostDays)) - Int64(dateShift.mostDays)
        return (choice < 0 ? choice : choice + 1) * Self.dayNanoseconds
    }

    /// What a code begins with: of what it is, in which version, and of which period.
    private static func message(_ purpose: String, _ period: Int64?) -> [UInt8] {
        guard let period else { return Array("\(purpose) 1".utf8) }
        return Array("\(purpose) 2 \(period)".utf8)
    }

    /// The first 64 bits of a code.
    private static func number(_ code: [UInt8]) -> UInt64 { code.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }

    private static let dayNanoseconds: Int64 = 86_400_000_000_000

    /// A time as it is written; nil outside the years that nanoseconds in 64 bits reach.
    ///
    /// - Parameter shift: of its device.
    @inline(__always)
    func written(_ time: Timestamp, shift: Int64) -> Timestamp? {
        changesTimes ? changed(time, shift: shift) : time
    }

    @inline(never)
    private func changed(_ time: Timestamp, shift: Int64) -> Timestamp? {
        var (value, overflow) = time.nanosecondsSince1970.addingReportingOverflow(shift)
        if overflow { return nil }
        if let timePrecision {
            let unit = Pacer.nanoseconds(in: timePrecision)
            let remainder = value % unit
            (value, overflow) = value.subtractingReportingOverflow(remainder < 0 ? remainder + unit : remainder)
            if overflow { return nil }
        }
        return Timestamp(nanosecondsSince1970: value)
    }

    // MARK: Periods

    /// The shortest period: of two days there is nothing.
    package static let leastPeriod = Duration.seconds(7 * 86_400)
    /// What a period begins with, without answers: else the last region of one name and the first of the next would join
    /// them.
    static let silence = 2 * dayNanoseconds

    /// By how much a device's periods begin after multiples of their length since 1970, in nanoseconds: whole days, each as
    /// likely. Where they began for all at once, all would change their names on one day; with a time of day of its own, that
    /// would join a device's names.
    func periodOffset(ofKey key: [UInt8]) -> Int64 {
        guard let renaming, let period else { return 0 }
        let days = UInt64(Pacer.nanoseconds(in: period) / Self.dayNanoseconds)
        let code = Self.number(renaming.code(Array("hereabouts rename every 1".utf8) + [0] + key))
        return Int64(code % days) * Self.dayNanoseconds
    }

    /// The number of the period that a time is in, and whether the time is in the silence at its beginning.
    ///
    /// - Parameter offset: that of the device.
    func period(at time: Timestamp, offset: Int64) -> (number: Int64, isSilent: Bool) {
        let length = Pacer.nanoseconds(in: period ?? Self.leastPeriod)
        // An offset is less than a year.
        let (since, overflow) = time.nanosecondsSince1970.subtractingReportingOverflow(offset)
        guard !overflow else { return (.min, true) }
        let remainder = since % length
        let into = remainder < 0 ? remainder + length : remainder
        return ((since - remainder) / length - (remainder < 0 ? 1 : 0), into < Self.silence)
    }

    /// The name of a device: the first 128 bits of a code, as 32 hexadecimal digits. Two of n devices get one name with a
    /// probability below n² × 1.5e-39. An empty key, which names no device, stays empty.
    ///
    /// - Parameter period: the number of the device's period; nil where there are none.
    func name(ofKey key: [UInt8], period: Int64? = nil) -> [UInt8] {
        guard let renaming, !key.isEmpty else { return key }
        let digits = Array("0123456789abcdef".utf8)
        return renaming.code(Self.message("hereabouts rename ids", period) + [0] + key).prefix(16).flatMap {
            [digits[Int($0 >> 4)], digits[Int($0 & 15)]]
        }
    }
}

/// A `Disguise` for the rows of one table, on one thread.
final class RowDisguise {
    /// What is known of a device.
    private struct Device {
        var name: [UInt8]
        var shift: Int64
    }

    /// What a field is written as.
    enum Written: Equatable {
        /// As it is.
        case same
        /// As this text.
        case text([UInt8])
        /// Empty.
        case nothing
    }

    let fields: [KeptField]
    private let disguise: Disguise
    private let form: FieldForm
    private let style: TimeStyle
    /// The field whose key says whose times these are; nil where all are one person's.
    private let deviceField: Int?
    private let personShift: Int64
    /// The record's.
    private var shift: Int64 = 0
    /// By key; emptied where there are `mostDevices`, so that memory stays bounded.
    private var devices: [[UInt8]: Device] = [:]
    private static let mostDevices = 1 << 14
    /// The device found last, by the bytes of its field.
    private var last: (field: [UInt8], key: [UInt8], device: Device)?

    /// - Parameter person: the name of the input's clock.
    init(_ disguise: Disguise, _ input: any TableInput, person: String) {
        self.disguise = disguise
        fields = input.keptFields
        (form, style) = (input.keptForm, input.timeStyle)
        deviceField = input.deviceField
        personShift = disguise.shift(of: .person(person))
    }

    /// Begins a record.
    func begin(_ base: UnsafePointer<UInt8>, _ kept: KeptFields, _ record: Int) {
        guard disguise.dateShift != nil else { return }
        shift = personShift
        if let deviceField {
            shift = unsafe device(Self.bytes(base, kept.table.span(record, kept.entries[deviceField]))).shift
        }
    }

    /// What is written for a field of the record.
    func written(_ bytes: UnsafeBufferPointer<UInt8>, _ field: Int) -> Written {
        switch fields[field].content {
        case .key where disguise.renaming != nil:
            guard unsafe !isEmpty(bytes) else { return .nothing }
            return .text(unsafe device(bytes).name)
        case .time where disguise.changesTimes: return unsafe written(time: bytes)
        case .other where disguise.changesTimes: return unsafe looksLikeTime(bytes) ? written(time: bytes) : .same
        default: return .same
        }
    }

    /// Whether a record's times can be written.
    func hasReadableTimes(_ base: UnsafePointer<UInt8>, _ kept: KeptFields, _ record: Int) -> Bool {
        guard disguise.changesTimes else { return true }
        unsafe begin(base, kept, record)
        return fields.indices.allSatisfy { field in
            guard fields[field].isWritten, fields[field].content != .key else { return true }
            let bytes = unsafe Self.bytes(base, kept.table.span(record, kept.entries[field]))
            return unsafe isEmpty(bytes) || written(bytes, field) != .nothing
        }
    }

    private static func bytes(_ base: UnsafePointer<UInt8>, _ span: FieldSpan) -> UnsafeBufferPointer<UInt8> {
        // SAFETY: spans lie within the buffer.
        unsafe UnsafeBufferPointer(start: base + Int(span.start), count: span.count)
    }

    /// Whether there is nothing in a field.
    private func isEmpty(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        unsafe form == .json
            ? bytes.isEmpty || bytes.first == UInt8(ascii: "n") || bytes.elementsEqual("\"\"".utf8)
            : bytes.isEmpty || bytes.elementsEqual("\"\"".utf8)
    }

    private func content(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        switch form {
        case .csv: unsafe CSVQuote.value(bytes)
        case .json: unsafe isEmpty(bytes) ? [] : JSONString.content(bytes)
        }
    }

    private func device(_ bytes: UnsafeBufferPointer<UInt8>) -> Device {
        if let last, last.field.count == bytes.count, unsafe bytes.elementsEqual(last.field) { return last.device }
        let key = unsafe DeviceKey.normalized(content(bytes))
        let found =
            devices[key] ?? Device(name: disguise.name(ofKey: key), shift: disguise.shift(of: .device(key)))
        if devices.count >= Self.mostDevices { devices.removeAll(keepingCapacity: true) }
        devices[key] = found
        last = (unsafe Array(bytes), key, found)
        return found
    }

    private func written(time bytes: UnsafeBufferPointer<UInt8>) -> Written {
        guard unsafe !isEmpty(bytes) else { return .nothing }
        let text = unsafe content(bytes)
        return unsafe text.withUnsafeBufferPointer { text in
            let whole = unsafe Timestamp(text, as: style)
            guard let time = unsafe whole ?? Timestamp(date: text, style),
                let time = disguise.written(time, shift: shift)
            else { return .nothing }
            var out = ByteBuffer(capacity: 20)
            time.append(to: &out)
            return .text(whole == nil ? Array(out.array.prefix(10)) : out.array)
        }
    }

    /// Whether a field of another name is a date, or a date and time. Numbers are not taken for times.
    private func looksLikeTime(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        // A date has eight characters at least.
        guard bytes.count >= 8 else { return false }
        var style = style
        style.format = .iso
        let text = unsafe content(bytes)
        return unsafe text.withUnsafeBufferPointer { text in
            if unsafe Timestamp(text, as: style) != nil { return true }
            return unsafe Timestamp(date: text, style) != nil && wholeNumber(text) == nil
        }
    }
}
