"""Compiles the module: the C library by scripts/build-library, which needs Swift 6.3, and _core.c in Python's limited API."""

import os
import subprocess
import sysconfig
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version, build_data):
        here = Path(self.root)
        library = here.parent / ".build/library"
        subprocess.run([here.parent / "scripts/build-library", library], check=True)
        module = here / "src/hereabouts/_core.abi3.so"
        flags = ["-std=gnu11", "-O2", "-fPIC", "-shared", "-s", "-Wl,--gc-sections", "-Wl,--exclude-libs,ALL"]
        subprocess.run(
            [os.environ.get("CC", "cc"), *flags, "-I", sysconfig.get_paths()["include"], "-I", library,
             here / "src/hereabouts/_core.c", library / "libhereabouts.a", "-lm", "-o", module],
            check=True,
        )  # fmt: skip
        build_data["tag"] = "cp311-abi3-linux_" + os.uname().machine
        build_data["pure_python"] = False
        build_data["artifacts"].append("src/hereabouts/_core.abi3.so")
