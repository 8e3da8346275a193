import ArgumentParser
import CommandCore
import Hereabouts
import Traces

/// What `convert` does with a folder.
extension ConvertCommand {
    /// Whether the input is a folder to walk.
    var isOfFolder: Bool { files.count == 1 && isFolder(files[0]) }

    func validateFolder() throws {
        guard isOfFolder else {
            if files.contains(where: isFolder) { throw ValidationError("Give one folder, or files.") }
            if skipExisting { throw ValidationError("'--skip-existing' is for a folder.") }
            if keepNames { throw ValidationError("'--keep-names' is for a folder.") }
            if devices == .folder || devices == .subfolders {
                throw ValidationError("'--devices \(devices?.rawValue ?? "")' is for a folder; see --one-device.")
            }
            return
        }
        guard output != nil else { throw ValidationError("Name the folder to write to: --output.") }
        if keepNames && geometry.zones == nil {
            throw ValidationError("Names are kept without '--zones': give '--keep-names' with it.")
        }
        if state != nil {
            throw ValidationError("A folder is paced as a whole each time, so it has no state: give files instead.")
        }
        if disguise.dateShift != nil {
            throw ValidationError("A folder's times cannot be moved: give '--date-shift' with files.")
        }
        if renameEvery != nil {
            throw ValidationError("A folder's names cannot change with time: give '--rename-every' with files.")
        }
        if onError == .blank && to?.hasBlankRecords != true {
            throw ValidationError("'--on-error blank' writes a record per fix: add --to csv --emit fixes.")
        }
    }

    /// Converts the folder.
    func runFolder(_ convert: ConvertRun.Options, atlas: Atlas) throws(CommandFailure) {
        var options = FolderRun.Options()
        options.convert = convert
        options.format = pad ? .paddedNDJSON : to
        options.compression = compress
        options.skipsExisting = skipExisting
        options.keepsNames = keepNames
        options.isDry = runOptions.dryRun
        options.namesAllProblems = messages.verbose
        try FolderSession(
            folder: files[0], output: output ?? "", atlas: atlas, options: options,
            stats: runOptions.stats, isQuiet: messages.notices.quiet
        ).run()
    }
}
