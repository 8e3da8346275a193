"""The peers: fetched from the registries and built into a folder that can be thrown away."""

import subprocess
import sys
from pathlib import Path

from measure import first_line

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
FOLDER = PROJECT / "Benchmarks/.build/peers"
PYTHON_PACKAGES = {"h3": "4.5.0", "polars": "2.1.0", "duckdb": "2.0.0"}
DEBIAN_PACKAGES = ["libs2-dev", "libgeos-dev", "libproj-dev", "gpsbabel", "gdal-bin", "jq", "mawk", "gcc", "g++"]
C_FLAGS = ["-O2", "-Wall", "-Wextra"]
PROGRAMS = {
    "launch": ["gcc", *C_FLAGS, "launch.c"],
    "two_threads": ["gcc", *C_FLAGS, "-pthread", "two_threads.c"],
    "h3_cells.so": ["gcc", *C_FLAGS, "-shared", "-fPIC", "h3_cells.c"],
    "s2_cells": ["g++", *C_FLAGS, "-std=c++17", "s2_cells.cpp", "-ls2"],
    "proj_transform": ["gcc", *C_FLAGS, "proj_transform.c", "-lproj", "-lm"],
    "geos_wkb": ["gcc", *C_FLAGS, "geos_wkb.c", "-lgeos_c"],
    "geos_contains": ["gcc", *C_FLAGS, "geos_contains.c", "-lgeos_c"],
}
PYTHON = str(FOLDER / "venv/bin/python")


def prepare(say):
    """Fetches and builds what is missing."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    say("packages")
    subprocess.run([PROJECT / "scripts/install-packages", *DEBIAN_PACKAGES], check=True)
    if not Path(PYTHON).exists():
        subprocess.run([sys.executable, "-m", "venv", FOLDER / "venv"], check=True)
    wanted = [f"{name}=={version}" for name, version in PYTHON_PACKAGES.items()]
    subprocess.run(
        [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted], check=True
    )
    for name, command in PROGRAMS.items():
        say(f"building {name}")
        # Libraries come after what uses them, so the output's name can stand at the end.
        subprocess.run([*command, "-o", FOLDER / name], cwd=HERE, check=True)


def borders():
    """The atlas's source borders as GEOS reads them fastest; made once. None where the sources were not fetched."""
    source, binary = PROJECT / ".build/sources/borders.geojsonl", FOLDER / "borders.wkb"
    if not source.exists():
        return None
    if not binary.exists() or binary.stat().st_mtime < source.stat().st_mtime:
        subprocess.run([FOLDER / "geos_wkb", source, binary], check=True)
    return binary


def versions(command):
    """What was measured."""
    def debian(package):
        return first_line("dpkg-query", "-W", "-f=${Version}", package)

    return {
        "hereabouts": first_line(command, "--version").removeprefix("hereabouts "),
        "commit": first_line("git", "-C", str(PROJECT), "describe", "--always", "--dirty"),
        "Swift": first_line("swift", "--version").removeprefix("Swift version "),
        **PYTHON_PACKAGES,
        "S2": debian("libs2-dev"),
        "GEOS": debian("libgeos-dev"),
        "PROJ": debian("libproj-dev"),
        "mawk": debian("mawk"),
        "gpsbabel": debian("gpsbabel"),
        "ogr2ogr": debian("gdal-bin"),
        "jq": debian("jq"),
        "compiler of the C peers": first_line("gcc", "--version"),
    }
