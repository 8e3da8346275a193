#!/usr/bin/env python3
"""Starts a relay in a root as its unit or container does, asks it how it is, and ends it: for scripts/check-deb, in a network of
its own.

usage: check-deb-relay.py ROOT [--user USER] COMMAND..."""

import os
import shlex
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request


def health():
    """The status of /healthz; None where nothing answers."""
    try:
        return urllib.request.urlopen("http://127.0.0.1:8737/healthz", timeout=5).status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


def main():
    """Runs the relay."""
    root, command, options = sys.argv[1], sys.argv[2:], []
    if command[0] == "--user":
        options, command = [f"--userspec={command[1]}"], command[2:]
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    ready = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    ready.bind(f"{root}/run/notify")
    os.chmod(f"{root}/run/notify", 0o666)
    ready.settimeout(20)
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "NOTIFY_SOCKET": "/run/notify"}
    relay = subprocess.Popen(["chroot", *options, root, *command], env=environment)
    try:
        assert ready.recv(100) == b"READY=1"
        assert health() == 204, health()
        state = command[command.index("--state") + 1]
        status = ["chroot", *options, root, "hereabouts", "status", "--state", state]
        assert "1 where the state" in subprocess.run(status, check=True, capture_output=True, text=True).stdout
        # The state goes away, as with a volume that is not mounted any more.
        os.rename(f"{root}{state}/relay.sqlite", f"{root}{state}/away")
        end = time.monotonic() + 15
        while health() != 503:
            assert time.monotonic() < end, "a relay without its state is healthy"
            time.sleep(0.5)
        assert subprocess.run(status, check=False, capture_output=True).returncode == 2
        os.rename(f"{root}{state}/away", f"{root}{state}/relay.sqlite")
    finally:
        relay.terminate()
        ended = relay.wait(timeout=20)
        os.remove(f"{root}/run/notify")
    assert ended == 0 and ready.recv(100) == b"STOPPING=1"
    print(f"check-deb: {shlex.join(command)}: is ready, healthy, ill without its state, and ends")


main()
