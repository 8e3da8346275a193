import CProcess

/// What every program does before anything else.
///
/// Opens `/dev/null` in place of standard descriptors that the parent closed, and has the system write no dump of this
/// process's memory, which holds positions. Ends the process where the system does not.
package func beginProcess() {
    openStandardDescriptors()
    guard hereabouts_refuse_dumps() == 0 else {
        CommandFailure(.unusable, "the system does not let this process refuse dumps of its memory").endProcess()
    }
}
