"""Compiles the module: the C library by scripts/build-library, which needs Swift 6.3, and _core.c in Python's limited API.

HEREABOUTS_ARCH=aarch64 makes the one for 64-bit ARM on another machine.
"""

import os
import subprocess
import sysconfig
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version, build_data):
        here = Path(self.root)
        arch = os.environ.get("HEREABOUTS_ARCH", os.uname().machine)
        is_other = arch != os.uname().machine
        library = here.parent / (".build/library-arm64" if is_other else ".build/library")
        subprocess.run([here.parent / "scripts/build-library", *["--arm64"] * is_other, library], check=True)
        module = here / "src/hereabouts/_core.abi3.so"
        flags = ["-std=gnu11", "-O2", "-fPIC", "-shared", "-s", "-Wl,--gc-sections", "-Wl,--exclude-libs,ALL"]
        subprocess.run(
            [os.environ.get("CC", f"{arch}-linux-gnu-gcc" if is_other else "cc"), *flags, "-I", sysconfig.get_paths()["include"], "-I", library,
             here / "src/hereabouts/_core.c", library / "libhereabouts.a", "-lm", "-o", module],
            check=True,
        )  # fmt: skip
        build_data["tag"] = f"cp311-abi3-{'manylinux_2_17' if is_other else 'linux'}_{arch}"
        build_data["pure_python"] = False
        build_data["artifacts"].append("src/hereabouts/_core.abi3.so")
