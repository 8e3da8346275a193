"""gpsd's own programs on both sides of the relay: gpsfake and gpsd before it, Debian's clients behind it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

from cases import case
from nmea import log
from relay import CONFIGURATION, EL_PASO, JUAREZ, Relay, equal, free_port, holds, region, run, wait

IN = CONFIGURATION.replace('tracker = "AN"', 'tracker = "AN"\ngpsd = "127.0.0.1:{gpsd}"')
OUT = CONFIGURATION + """
[[consumers.family.gpsd]]
device = "phone"
listen = "127.0.0.1:{gpsd}"
"""
REPORT = {"class", "device", "mode", "time", "lat", "lon", "eph"}


@contextlib.contextmanager
def running(*arguments, output=subprocess.DEVNULL, **options):
    """A program in a process group of its own, ended at the end."""
    process = subprocess.Popen(
        arguments, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True, **options)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=3)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@case("gpsd: gpsfake and gpsd in, with a restart of gpsd", needs=["gpsd", "gpsfake"], seconds=150)
def fixes_in():
    port = free_port()
    with Relay(IN, gpsd=port) as relay:
        updates = relay.updates(relay.token("read", "family"))
        relay.verb("grant", "family", "phone")
        for position in (EL_PASO, JUAREZ):
            file = relay.path / "drive.nmea"
            file.write_text(log([position] * 60, begin=time.time() + 20))
            with running("gpsfake", "-q", "-P", str(port), "-c", "0.5", str(file), cwd=relay.path):
                event = updates.at(region(position), seconds=60)
                holds("region" in event.data["properties"], "a reduced location")


def listening(port):
    """What the relay sends to a program that watches, line by line."""
    text = run("gpspipe", "-w", "-n", "4", f"127.0.0.1:{port}", seconds=15)
    return [json.loads(line) for line in text.splitlines() if line.startswith(b"{")]


@contextlib.contextmanager
def served():
    """A relay that serves El Paso to gpsd's clients; and the region."""
    port = free_port()
    with Relay(OUT, gpsd=port) as relay:
        relay.verb("grant", "family", "phone")
        send = relay.token("send", "phone")
        updates = relay.updates(relay.token("read", "family"))
        relay.fix(EL_PASO, send)
        updates.at(region(EL_PASO))
        yield relay, port, send


@case("gpsd: gpspipe -w, then nothing once revoked", needs=["gpspipe"])
def gpspipe():
    with served() as (relay, port, _):
        here = region(EL_PASO)
        reports = listening(port)
        equal([report["class"] for report in reports], ["VERSION", "DEVICES", "WATCH", "TPV"], "classes")
        equal(set(reports[3]), REPORT, "members of a report")
        equal([reports[3]["lon"], reports[3]["lat"]], here["coordinates"], "the position")
        equal((reports[3]["mode"], reports[3]["eph"], reports[3]["device"]),
              (2, float(here["horizontal_accuracy"]), "hereabouts"), "mode, accuracy and device")
        relay.verb("revoke", "family", "phone")
        equal(listening(port)[3], {"class": "TPV", "device": "hereabouts", "mode": 1}, "a report once revoked")


@case("gpsd: gpspipe -r gets no NMEA", needs=["gpspipe"])
def raw():
    with served() as (_, port, _):
        text = run("gpspipe", "-r", "-n", "4", f"127.0.0.1:{port}", seconds=15, statuses=None)
        lines = [line for line in text.splitlines() if line]
        holds(lines and not any(line.startswith(b"$") for line in lines), "lines of JSON alone")
        equal({json.loads(line)["class"] for line in lines} - {"VERSION", "DEVICES", "WATCH", "TPV"}, set(), "classes")


@case("gpsd: cgps in tmux", needs=["cgps", "tmux"])
def cgps():
    with served() as (relay, port, send):
        here, socket = region(EL_PASO), str(relay.path / "tmux")
        tmux = ("tmux", "-f", "/dev/null", "-S", socket)
        environment = os.environ | {"TERM": "xterm", "LC_ALL": "C.UTF-8"}
        environment.pop("TMUX", None)
        try:
            run(*tmux, "new-session", "-d", "-x", "100", "-y", "40", f"cgps -s 127.0.0.1:{port}; sleep 60", env=environment)

            def screen():
                text = run(*tmux, "capture-pane", "-p", env=environment).decode()
                latitude, longitude = f"{here['coordinates'][1]:.5f}", f"{-here['coordinates'][0]:.5f}"
                return text if latitude in text and longitude in text else None

            text = wait(screen, "cgps shows the center", 20)
            holds("2D" in text, "cgps shows a fix in two dimensions")
        finally:
            run(*tmux, "kill-server", env=environment, statuses=None)


@case("gpsd: gpxlogger", needs=["gpxlogger"])
def gpxlogger():
    with served() as (relay, port, send):
        here, file = region(EL_PASO), relay.path / "log.gpx"
        there = region(JUAREZ)
        with running("gpxlogger", "-i", "5", "-f", str(file), f"127.0.0.1:{port}", cwd=relay.path) as logger:
            time.sleep(2)
            relay.fix(JUAREZ, send)
            time.sleep(4)
            logger.terminate()
            logger.wait(timeout=5)
        text = file.read_text()
        for place in (here, there):
            longitude, latitude = place["coordinates"]
            holds(f'lat="{latitude:.5f}' in text and f'lon="{longitude:.5f}' in text, f"a point at {place['place']}")
        holds("<ele>" not in text and "<speed>" not in text, "no height or speed")


@case("gpsd: a gpsd behind the relay", needs=["gpsd", "gpspipe"])
def chained():
    with served() as (relay, port, send):
        second = free_port()
        with running("gpsd", "-N", "-n", "-S", str(second), f"gpsd://127.0.0.1:{port}", cwd=relay.path):
            time.sleep(2)
            file = relay.path / "pipe.json"
            with open(file, "wb") as output, running("gpspipe", "-w", f"127.0.0.1:{second}", output=output):
                time.sleep(1)
                relay.fix(JUAREZ, send)
                longitude, latitude = region(JUAREZ)["coordinates"]

                def found():
                    lines = file.read_text().splitlines()
                    reports = [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]
                    return next((report for report in reports if report.get("lat") == latitude), None)

                equal(wait(found, "the position behind the second gpsd")["lon"], longitude, "its longitude")


@case("gpsd: python3-gps", needs=["gps"])
def python():
    with served() as (relay, port, _):
        program = """
import sys, gps
session = gps.gps(host="127.0.0.1", port=sys.argv[1], mode=gps.WATCH_ENABLE | gps.WATCH_NEWSTYLE)
for report in session:
    if report and report["class"] == "TPV":
        print(session.fix.mode, session.fix.longitude, session.fix.latitude, report.eph)
        break
"""
        text = run(sys.executable, "-c", program, str(port), seconds=20, cwd=relay.path).decode().split()
        here = region(EL_PASO)
        equal([float(value) for value in text], [2, *here["coordinates"], float(here["horizontal_accuracy"])], "the fix")


@case("gpsd: a Unix socket, for who may open it")
def unix():
    import socket
    with Relay(OUT.replace("127.0.0.1:{gpsd}", "unix:{folder}/family.sock")) as relay:
        path = relay.path / "family.sock"
        wait(path.exists, "the socket is there")
        equal(path.stat().st_mode & 0o007, 0, "rights of others")
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(10)
            client.connect(str(path))
            client.sendall(b'?WATCH={"enable":true,"json":true};\n')
            text = b""
            while text.count(b"\n") < 4:
                text += client.recv(4096)
        equal([json.loads(line)["class"] for line in text.splitlines()], ["VERSION", "DEVICES", "WATCH", "TPV"], "classes")
