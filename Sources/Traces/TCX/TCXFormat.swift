extension TraceFormat {
    /// Training Center XML, which is only read.
    package static let tcx = TraceFormat(
        name: "tcx", hasBlankRecords: false,
        recognizes: { (reader) throws(TraceError) in try reader.kind() == .tcx },
        open: { (reader, options) throws(TraceError) in
            XMLInput(reader) { TCXContent($0, bounds: TimeBounds(options), zone: options.timeStyle.zone) }
        },
        makeSink: nil)
}
