"""The page in headless Chromium: see page-test, which is also run by itself."""

import subprocess
import sys
from pathlib import Path

from cases import case
from relay import CONFIGURATION, EL_PASO, Failed, Relay, region

PROGRAM = str(Path(__file__).parent / "page-test")


def passed(*arguments):
    done = subprocess.run([sys.executable, PROGRAM, *arguments], capture_output=True, stdin=subprocess.DEVNULL, timeout=170,
                          check=False)
    lines = (done.stdout + done.stderr).decode(errors="replace").splitlines()
    if done.returncode != 0:
        raise Failed("; ".join(line for line in lines if "fail" in line.lower() or "error" in line.lower())[-1500:])


@case("page: with made-up answers", needs=["chromium"], seconds=180)
def alone():
    passed()


@case("page: the relay's", needs=["chromium"], seconds=180)
def served():
    with Relay(CONFIGURATION + '\n[consumers.page]\nlink-of = "family"\n') as relay:
        relay.verb("grant", "family", "phone")
        updates = relay.updates(relay.token("read", "family"))
        relay.fix(EL_PASO, relay.token("send", "phone"))
        updates.at(region(EL_PASO))
        passed("--relay", f"http://127.0.0.1:{relay.port}", "--token", relay.token("read", "page"),
               "--owner-token", relay.token("owner"))
