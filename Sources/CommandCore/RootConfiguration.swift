import ArgumentParser

extension CommandConfiguration {
    /// The root command `hereabouts`, the same in both programs, so that either speaks for the whole.
    package static func hereabouts(subcommands: [any ParsableCommand.Type]) -> CommandConfiguration {
        CommandConfiguration(
            commandName: "hereabouts",
            abstract: "Turn precise coordinates into the region around them, sized by how many people live there.",
            discussion: """
                Reduce a table of positions, or a few typed ones:
                  hereabouts snap positions.csv > reduced.csv
                  hereabouts snap 31.7619 -106.4850

                Reduce a recorded ride: at most four answers an hour, no names, speeds or heights left in it:
                  hereabouts convert ride.gpx -o around.gpx

                Look at one region:
                  hereabouts region 31.7619,-106.4850

                Exit status: 0 when all went well, 1 when some records were bad (each is named on standard error by \
                file and line, never by its content), 2 when the arguments, an input or the atlas cannot be used.

                The atlas is taken from --atlas, or HEREABOUTS_ATLAS, or world.atlas beside the command, or \
                ../share/hereabouts/world.atlas, or data/world.atlas of the checkout the command was built in.
                """,
            version: "hereabouts 0.1.0",
            subcommands: subcommands)
    }

    /// `hereabouts region`, which takes the usage and the discussion only where it runs.
    package static func region(usage: String? = nil, discussion: String = "") -> CommandConfiguration {
        CommandConfiguration(
            commandName: "region",
            abstract: "Tell what a region is: center, accuracy, country, place, people, area and outline.",
            usage: usage, discussion: discussion)
    }

    /// `hereabouts atlas`, which takes the discussion and the subcommands only where it runs.
    package static func atlas(
        discussion: String = "", subcommands: [any ParsableCommand.Type] = []
    ) -> CommandConfiguration {
        CommandConfiguration(
            commandName: "atlas", abstract: "Build an atlas, describe it, or prove it right.",
            discussion: discussion, subcommands: subcommands)
    }
}

/// Where the atlas is.
package struct AtlasOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The atlas to use instead of the one found by itself.", valueName: "file"))
    package var atlas: String?

    package init() {}
}
