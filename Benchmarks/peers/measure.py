"""Running programs and taking their time and memory, several of them in turn."""

import os
import statistics
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

# What setup.py builds from launch.c.
LAUNCHER = str(Path(__file__).resolve().parent.parent / ".build/peers/launch")


class WrongResult(Exception):
    """A program failed, or what it made is not what it must be."""


@dataclass
class Run:
    """One run of a program, from its start to its end."""

    seconds: float  # by the wall clock
    first_byte_seconds: float  # until its first output, where that goes to us
    peak_mebibytes: float  # the most memory it held, mapped files included
    output: bytes


def run(arguments, stdin=os.devnull, environment=None):
    """Runs a program whose standard output we read; raises WrongResult unless it exits with 0."""
    told, tells = os.pipe()
    with open(stdin, "rb") as source:
        launched = subprocess.Popen(
            [LAUNCHER, str(tells), *arguments], stdin=source, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, **(environment or {})}, pass_fds=[tells])
    os.close(tells)
    output = launched.communicate()[0]
    with open(told, encoding="ascii") as report:
        figures = report.read().split()
    if len(figures) != 4 or figures[0] != "0":
        raise WrongResult(f"{' '.join(arguments[:2])} … ended with {figures[0] if figures else 'no status'}")
    return Run(float(figures[2]), float(figures[1]), int(figures[3]) / 1024, output)


@dataclass
class Samples:
    """The figures of one thing measured, and what they are figures of."""

    title: str
    unit: str
    values: list = field(default_factory=list)
    seconds: list = field(default_factory=list)  # of the runs, where a run gives one value
    peak_mebibytes: float = 0

    @property
    def median(self):
        return statistics.median(self.values)

    def add(self, value, measured=None):
        """Takes a value, and the run that gave it."""
        self.values.append(value)
        if measured:
            self.seconds.append(measured.seconds)
            self.peak_mebibytes = max(self.peak_mebibytes, measured.peak_mebibytes)

    def summary(self):
        """What is told of them, and all of them in the order they came in (RAW)."""
        return {
            "title": self.title,
            "unit": self.unit,
            "median": self.median,
            "least": min(self.values),
            "most": max(self.values),
            "runs": len(self.values),
            "peak_mebibytes": round(self.peak_mebibytes, 1),
            "values": self.values,
            "seconds": [round(seconds, 6) for seconds in self.seconds],
        }


RAW = ("values", "seconds")


def without_raw(result):
    """A result without the single runs."""
    if not isinstance(result, dict):
        return result
    return {key: without_raw(value) for key, value in result.items() if key not in RAW}


def in_turn(jobs, rounds, say):
    """Calls every job once a round, so that what else the machine does falls on all of them alike."""
    for number in range(rounds):
        for name, job in jobs.items():
            say(f"round {number + 1} of {rounds}: {name}")
            job()


def first_line(*arguments):
    """The first line that a program prints of itself; empty where it is not there."""
    try:
        printed = subprocess.run(arguments, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return (printed.stdout or printed.stderr).strip().split("\n")[0]


def machine():
    """What the figures are taken on."""
    def value(path, name, separator):
        with open(path, encoding="utf-8") as file:
            lines = [line for line in file if line.startswith(name)]
        return lines[0].split(separator, 1)[1].strip().strip('"') if lines else "unknown"

    return {
        "processor": value("/proc/cpuinfo", "model name", ":"),
        "cores": os.cpu_count(),
        "memory_GiB": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": value("/etc/os-release", "PRETTY_NAME", "="),
        "load_at_start": round(os.getloadavg()[0], 2),
        "date": time.strftime("%Y-%m-%d"),
    }
