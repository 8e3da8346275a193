import ArgumentParser

/// The version of both programs.
package let hereaboutsVersion = "0.2.0"

extension CommandConfiguration {
    /// The root command `hereabouts`: the same text in both programs, so that help and errors are, too.
    package static func hereabouts(
        subcommands: [any ParsableCommand.Type], groups: [CommandGroup]
    ) -> CommandConfiguration {
        CommandConfiguration(
            commandName: "hereabouts",
            abstract:
                "Replace precise positions by the public region around them, sized by how many people live there.",
            discussion: """
                Reduce a table of positions, or positions given as arguments:
                  hereabouts snap positions.csv > reduced.csv
                  hereabouts snap 31.7619 -106.4850

                Reduce a recorded ride to at most four answers an hour, without names, speeds and heights:
                  hereabouts convert ride.gpx -o around.gpx

                Describe one region:
                  hereabouts region 31.7619,-106.4850

                Exit status: 0 success; 1 some records were bad (standard error names each by file and line, never by \
                content); 2 the arguments, an input, the output, the state or the atlas cannot be used.

                The atlas is the first of: --atlas; the environment variable HEREABOUTS_ATLAS; world.atlas beside the \
                command; ../share/hereabouts/world.atlas; data/world.atlas of the checkout the command was built in.
                """,
            version: "hereabouts \(hereaboutsVersion)",
            subcommands: subcommands, groupedSubcommands: groups)
    }

    /// `hereabouts region`. Only the program that runs it sets the usage and the discussion.
    package static func region(usage: String? = nil, discussion: String = "") -> CommandConfiguration {
        CommandConfiguration(
            commandName: "region",
            abstract: "Describe a region: center, accuracy, country, place, residents, area, outline.",
            usage: usage, discussion: discussion)
    }

    /// `hereabouts atlas`. Only the program that runs it sets the discussion and the subcommands.
    package static func atlas(
        discussion: String = "", subcommands: [any ParsableCommand.Type] = []
    ) -> CommandConfiguration {
        CommandConfiguration(
            commandName: "atlas", abstract: "Build, describe, verify or draw an atlas.",
            discussion: discussion, subcommands: subcommands)
    }
}

/// The option that names the atlas.
package struct AtlasOptions: ParsableArguments {
    @Option(
        name: .long, help: ArgumentHelp("The atlas to use. (default: see 'hereabouts help')", valueName: "file"),
        completion: .file())
    package var atlas: String?

    package init() {}
}
