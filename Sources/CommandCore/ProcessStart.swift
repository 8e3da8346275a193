import CProcess

/// What every program does before anything else.
///
/// Opens `/dev/null` in place of standard descriptors that the parent closed, sees that there is memory and that there are
/// files to work with, and has the system write no dump of this process's memory, which holds positions. Ends the process
/// where that cannot be.
package func beginProcess() {
    openStandardDescriptors()
    do throws(CommandFailure) {
        try Executable.validateCaller()
        try ProcessLimits.validate()
        guard hereabouts_refuse_dumps() == 0 else {
            throw CommandFailure(.unusable, "the system does not let this process refuse dumps of its memory")
        }
    } catch {
        error.endProcess()
    }
}

/// What a process must be allowed to have. With less an allocation or a thread that cannot be had would end it in the middle.
private enum ProcessLimits {
    private static let memory: UInt64 = 256 << 20
    private static let files: UInt64 = 16

    static func validate() throws(CommandFailure) {
        guard hereabouts_memory_limit() >= memory else {
            throw CommandFailure(
                .unusable, "the limit of memory (ulimit -v or -d) is less than the \(memory >> 20) MiB that are needed")
        }
        guard hereabouts_file_limit() >= files else {
            throw CommandFailure(
                .unusable, "the limit of open files (ulimit -n) is less than the \(files) that are needed")
        }
    }
}
