"""Running programs and taking their time and memory, several of them in turn."""

import os
import statistics
import subprocess
import time
from dataclasses import dataclass, field


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
    reader, writer = os.pipe()
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, writer, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    start = time.perf_counter()
    child = os.posix_spawnp(arguments[0], arguments, {**os.environ, **(environment or {})}, file_actions=actions)
    os.close(writer)
    chunks = [os.read(reader, 1 << 16)]
    first = time.perf_counter()
    while chunks[-1]:
        chunks.append(os.read(reader, 1 << 16))
    os.close(reader)
    _, status, usage = os.wait4(child, 0)
    end = time.perf_counter()
    if status != 0:
        raise WrongResult(f"{' '.join(arguments[:2])} … ended with {os.waitstatus_to_exitcode(status)}")
    return Run(end - start, first - start, usage.ru_maxrss / 1024, b"".join(chunks))


@dataclass
class Samples:
    """The figures of one thing measured, and what they are figures of."""

    title: str
    unit: str
    values: list = field(default_factory=list)
    peak_mebibytes: float = 0

    @property
    def median(self):
        return statistics.median(self.values)

    def add(self, value, peak_mebibytes=0):
        self.values.append(value)
        self.peak_mebibytes = max(self.peak_mebibytes, peak_mebibytes)

    def summary(self):
        return {
            "title": self.title,
            "unit": self.unit,
            "median": self.median,
            "least": min(self.values),
            "most": max(self.values),
            "runs": len(self.values),
            "peak_mebibytes": round(self.peak_mebibytes, 1),
        }


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
