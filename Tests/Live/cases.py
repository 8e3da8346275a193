"""The list of tests, and what each needs of the system."""

import importlib.util
import os
import shutil
from dataclasses import dataclass
from typing import Callable

# Programs and modules, and the packages of Debian that have them.
PACKAGES = {
    "aiohttp": "python3-aiohttp", "caddy": "caddy", "cgps": "gpsd-clients", "chromium": "chromium", "curl": "curl",
    "dbus-run-session": "dbus", "firefox-esr": "firefox-esr", "gcore": "gdb", "gps": "python3-gps", "gpsd": "gpsd", "gpsfake": "gpsd-tools",
    "gpspipe": "gpsd-clients", "gpxlogger": "gpsd-clients",
    "nginx": "nginx-light", "openssl": "openssl",
    "systemd-analyze": "systemd", "tmux": "tmux", "unshare": "util-linux",
    "/usr/libexec/geoclue": "geoclue-2.0", "/usr/libexec/geoclue-2.0/demos/where-am-i": "geoclue-2-demo",
}
MODULES = {"aiohttp", "gps"}
# Daemons are often outside the search path of people.
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


@dataclass
class Case:
    name: str
    function: Callable
    needs: list
    seconds: int

    def missing(self):
        """The packages that a test needs and the system has not."""
        def exists(name):
            if name in MODULES:
                return importlib.util.find_spec(name) is not None
            return shutil.which(name, path=PATH) is not None
        return sorted({PACKAGES[name] for name in self.needs if not exists(name)})


CASES = []


def case(name, needs=(), seconds=60):
    """Declares a test.

    name: what it shows.
    needs: programs and modules of `PACKAGES`.
    seconds: the time after which it has failed.
    """
    def declare(function):
        CASES.append(Case(name, function, list(needs), seconds))
        return function
    return declare


os.environ["PATH"] = PATH
