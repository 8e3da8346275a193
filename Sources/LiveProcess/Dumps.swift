import CProcess
import CommandCore

/// Has the system write no dump of this process's memory, which holds fixes that wait for their tick.
///
/// - Throws: `CommandFailure`, if the system does not.
package func refuseDumps() throws(CommandFailure) {
    guard hereabouts_refuse_dumps() == 0 else {
        throw CommandFailure(.unusable, "the system does not let this process refuse dumps of its memory")
    }
}
