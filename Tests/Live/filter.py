"""`hereabouts live` between programs: see filter-clients, which is also run by itself."""

import subprocess
import sys
from pathlib import Path

from cases import case
from relay import COMMAND, Failed

PROGRAM = str(Path(__file__).parent / "filter-clients")


@case("filter: gpsd, mosquitto, tail and jq around live", seconds=150)
def clients():
    done = subprocess.run([sys.executable, PROGRAM, COMMAND], capture_output=True, stdin=subprocess.DEVNULL, timeout=140,
                          check=False)
    lines = (done.stdout + done.stderr).decode(errors="replace").splitlines()
    for line in lines[:-1]:
        print(f"note: {line}")
    if done.returncode != 0:
        raise Failed("; ".join(line for line in lines if "failed" in line)[-1500:])
