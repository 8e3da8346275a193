#!/usr/bin/env python3
"""Writes the licenses of what is linked into the programs and the C library, from the packages they are built from.

usage: make-notice.py CHECKOUTS SWIFT            prints NOTICE
       make-notice.py --check NOTICE PROGRAM...  fails unless NOTICE names what the programs' symbols tell of, and no more

CHECKOUTS has the Swift packages (.build-live/checkouts), SWIFT is the toolchain's folder (with usr/share/swift)."""

import re
import subprocess
import sys
from pathlib import Path

APACHE = "Apache License 2.0: see LICENSE."
# Of each part: its name, a pattern that a symbol of it has, whose it is, and where its license is read: files of CHECKOUTS,
# SWIFT or the system, or a text. `*` is one folder whose name has a version.
PARTS = [
    ("Swift", r"swift_retain$", "The Swift project authors: library, Foundation, Dispatch", ["usr/share/swift/LICENSE.txt"]),
    ("ICU", r"icudt\d+_dat", "Unicode, Inc., and others: in Swift's Foundation", ["/usr/share/icu/*/LICENSE"]),
    ("Swift Argument Parser", r"\$s14ArgumentParser", "The Swift project authors", ["swift-argument-parser/LICENSE.txt"]),
    ("Swift Collections", r"\$s10HeapModule", "The Swift project authors", ["swift-collections/LICENSE.txt"]),
    ("Swift Atomics", r"\$s7Atomics|_sa_retain", "The Swift project authors", ["swift-atomics/LICENSE.txt"]),
    ("SwiftNIO", r"\$s7NIOCore", "", ["swift-nio/LICENSE.txt", "swift-nio/NOTICE.txt"]),
    ("llhttp", r"c_nio_llhttp_execute", "", ["swift-nio/Sources/CNIOLLHTTP/LICENSE"]),
    ("SwiftNIO SSL", r"\$s6NIOSSL", "", ["swift-nio-ssl/LICENSE.txt", "swift-nio-ssl/NOTICE.txt"]),
    ("BoringSSL", r"CNIOBoringSSL_SSL_new", "The OpenSSL Project Authors, the BoringSSL Authors, and others", [APACHE]),
    ("GRDB", r"\$s4GRDB", "", ["GRDB.swift/LICENSE"]),
    ("nettle", r"nettle_sha256_", "© 2001-2022 Niels Möller", ["LGPL"]),
    ("toml++", r"4toml2v3", "", ["/usr/share/doc/libtomlplusplus-dev/copyright"]),
    ("simdjson", r"8simdjson", "© 2019-2020 Daniel Lemire, Geoff Langdale: its headers", [APACHE]),
]
LGPL = """\
GNU Lesser General Public License, version 3 or later, or GNU General Public License, version 2 or later. The texts are at
https://www.gnu.org/licenses/, and on Debian in /usr/share/common-licenses. Two objects of libnettle.a are linked in. Whoever
wants another nettle in their place builds the programs with it: all of their sources are public, as is nettle's."""
HEAD = """\
Hereabouts
Copyright 2026 the Hereabouts authors

The programs and the libraries are under the Apache License 2.0 (LICENSE). The atlas, world.atlas, is no part of them: it is a
database under the Open Database License 1.0, https://opendatacommons.org/licenses/odbl/1-0/.

Contains data from OpenStreetMap, © OpenStreetMap contributors, ODbL 1.0. Places from GeoNames, CC BY 4.0. Shorelines from GSHHG
(Wessel and Smith) and one border from DCW-GMT (Wessel), LGPL-3.0 or later. Zones from the IANA time zone database. Population
from Eurostat/GISCO (census grid 2021), the US Census Bureau (2020), GPW v4.11 (CIESIN, Columbia University) and WorldPop
(University of Southampton), CC BY 4.0.

What follows is linked into the programs. Into the C library of Embedded Swift goes of this Swift alone. Written by
scripts/make-notice.py; shared libraries, of the system's packages, have their licenses there.
"""


def license_text(source, checkouts, swift):
    """A license: the Apache License once, in LICENSE, and what is said beside it here."""
    if source == "LGPL":
        return LGPL
    if source == APACHE:
        return APACHE
    if source.startswith("/"):
        path = next(Path("/").glob(source[1:]), Path(source))
    else:
        path = (swift if source.startswith("usr/") else checkouts) / source
    text = path.read_text(encoding="utf-8").strip("\n")
    if "http://www.apache.org/licenses/\n" not in text:
        return text
    exception = text.partition("## Runtime Library Exception")[2]
    return APACHE + ("\n\n## Runtime Library Exception" + exception if exception else "")


def notice(checkouts, swift):
    """The file's text."""
    parts, seen = [HEAD], {}
    for name, _, holder, sources in PARTS:
        texts = []
        for source in sources:
            text = license_text(source, checkouts, swift)
            if len(text) > 100 and text in seen:
                text = f"As for {seen[text]}."
            else:
                seen[text] = name
            texts.append(text)
        title = f"== {name} ==\n" + (holder + "\n" if holder else "")
        parts.append(title + "\n" + "\n\n".join(texts) + "\n")
    return "\n".join(re.sub(r"[ \t]+$", "", part, flags=re.MULTILINE) for part in parts)


def check(path, programs):
    """Names that the file has and symbols do not, and the other way round."""
    named = set(re.findall(r"^== (.*) ==$", Path(path).read_text(encoding="utf-8"), flags=re.MULTILINE))
    symbols = "".join(
        subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout for program in programs
    )
    linked = {name for name, pattern, _, _ in PARTS if re.search(pattern, symbols, flags=re.MULTILINE)}
    if "$s4" not in symbols:
        sys.exit("make-notice.py: the programs have no symbols left")
    for name in sorted(named ^ linked):
        print(f"{path}: {name} is {'not linked' if name in named else 'linked and not named'}", file=sys.stderr)
    return named == linked


def main():
    """Writes or checks the file."""
    if len(sys.argv) > 3 and sys.argv[1] == "--check":
        sys.exit(0 if check(sys.argv[2], sys.argv[3:]) else 1)
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.stdout.write(notice(Path(sys.argv[1]), Path(sys.argv[2])))


main()
