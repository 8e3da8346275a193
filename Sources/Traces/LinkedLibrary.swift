import CArchive
import CLibXML2
internal import CNettle
internal import CSimdjson
import CZLib
import CZstd

/// A library that a program links.
package struct LinkedLibrary: Sendable {
    package let name: String
    package let version: String

    package init(_ name: String, _ version: String) { (self.name, self.version) = (name, version) }
}

/// The libraries that this module links, with the versions that they state: those of shared ones are of what is loaded.
package enum TraceLibraries {
    package static var versions: [LinkedLibrary] {
        let archive = archive_version_number(), xml = hereabouts_xml_version()
        // SAFETY: the libraries' version texts are constants.
        return unsafe [
            LinkedLibrary("libarchive", dotted(Int(archive), 1000)), LinkedLibrary("libxml2", dotted(Int(xml), 100)),
            LinkedLibrary("libzstd", String(cString: ZSTD_versionString())),
            LinkedLibrary("nettle", "\(NETTLE_VERSION_MAJOR).\(NETTLE_VERSION_MINOR)"),
            LinkedLibrary("simdjson", String(cString: hereabouts_json_version())),
            LinkedLibrary("zlib", String(cString: zlibVersion())),
        ]
    }

    /// A number of three parts, each below a base.
    private static func dotted(_ number: Int, _ base: Int) -> String {
        "\(number / base / base).\(number / base % base).\(number % base)"
    }
}
