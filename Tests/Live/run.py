"""Real clients against the release build's relay.

    run.py [NAME…]        all tests, or those whose name contains one of the words
    run.py --list
    run.py --only NAME    one, in this process

Each test is a process of its own with a time limit, at most two at once. One that fails beside another is run again alone, and
the line says so. A line for each: its name, and passed, failed or skipped with the reason. Exits with 1 where one failed.
"""

import concurrent.futures
import contextlib
import importlib
import os
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from cases import CASES  # noqa: E402
from relay import COMMAND, Failed, Skipped  # noqa: E402

MODULES = ["senders", "queues", "gpsd", "geolocate", "proxies", "consumers", "pushes", "digits", "tampering", "samples",
           "faults", "page", "mqtt"]
SKIPPED = 77  # the exit status that automake's test drivers take for skipped
AT_ONCE = 2


def load():
    for module in MODULES:
        importlib.import_module(module)
    return {case.name: case for case in CASES}


def only(case):
    """Runs a test here; its last line says why it failed or was skipped."""
    missing = case.missing()
    if missing:
        print(f"missing: {', '.join(missing)}")
        return SKIPPED
    try:
        case.function()
        return 0
    except Skipped as reason:
        print(reason)
        return SKIPPED
    except Failed as reason:
        traceback.print_exc(file=sys.stdout)
        print(reason)
        return 1


def bounded(case):
    """Runs a test as a process group; gives its status, its output and the seconds it took."""
    begin = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, __file__, "--only", case.name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=case.seconds)
        status = process.returncode
    except subprocess.TimeoutExpired:
        output, status = f"not done within {case.seconds} s".encode(), 1
    finally:
        # What a test has left behind.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return status, output.decode(errors="replace"), time.monotonic() - begin


def show(case, status, output, seconds):
    """Prints what came of a test; gives it."""
    result = {0: "passed", SKIPPED: "skipped"}.get(status, "failed")
    reason = output.strip().splitlines()[-1:] if result != "passed" else []
    print(f"{case.name}: {result}{''.join(': ' + text for text in reason)} ({seconds:.1f} s)", flush=True)
    notes = [line for line in output.splitlines() if line.startswith("note: ")]
    if notes:
        print("\n".join("    " + line for line in notes), flush=True)
    if result == "failed":
        print("\n".join("    " + line for line in output.strip().splitlines()[:-1][-25:]), flush=True)
    return result


def main(arguments):
    cases = load()
    if arguments[:1] == ["--list"]:
        print("\n".join(cases))
        return 0
    if arguments[:1] == ["--only"]:
        return only(cases[arguments[1]])
    chosen = [case for name, case in cases.items() if not arguments or any(word in name for word in arguments)]
    if not os.access(COMMAND, os.X_OK):
        print(f"no command at {COMMAND}: run make build", file=sys.stderr)
        return 2
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        futures = {pool.submit(bounded, case): case for case in chosen}
        again = []
        for future in concurrent.futures.as_completed(futures):
            case, outcome = futures[future], future.result()
            if outcome[0] not in (0, SKIPPED):
                again.append(case)
                show(case, *outcome)
            else:
                counts[show(case, *outcome)] += 1
    for case in again:
        print(f"again, alone: {case.name}", flush=True)
        counts[show(case, *bounded(case))] += 1
    print(", ".join(f"{count} {result}" for result, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
