"""No digit of a precise position outlives it: not in logs, state, answers to reduced consumers, or a core dump."""

import contextlib
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import time
import urllib.parse
from pathlib import Path

from cases import case
from gpsd import running
from nmea import angle, log
from pushes import receiver
from relay import COMMAND, CONFIGURATION, Relay, equal, free_port, holds, moment, run, wait

COUNT = 60  # positions for each dialect

EVERYTHING = CONFIGURATION.replace('tracker = "AN"', 'tracker = "AN"\ngpsd = "127.0.0.1:{gpsd}"') + """
[[consumers.family.gpsd]]
device = "phone"
listen = "127.0.0.1:{port_out}"

[[consumers.family.push]]
device = "phone"
to = "owntracks"
url = "http://127.0.0.1:{receiver}/in"
"""


def positions(chance, count):
    """Random positions in and around El Paso with seven decimals, none of whose digits is a region's center's."""
    found = []
    while len(found) < count:
        position = (round(31.70 + chance.random() * 0.15, 7), round(-106.55 + chance.random() * 0.2, 7))
        if any(abs(position[0] - center[1]) < 0.0011 or abs(position[1] - center[0]) < 0.0011 for center in CENTERS):
            continue
        found.append(position)
    return found


CENTERS = []


def centers():
    """The centers of all regions that the positions may lie in: a grid finer than a region."""
    lines = "".join(f"{31.69 + row * 0.005:.4f} {-106.56 + column * 0.005:.4f}\n" for row in range(35) for column in range(45))
    text = run(COMMAND, "snap", input=lines.encode()).decode().splitlines()
    columns = text[0].split(",")
    for line in text[1:]:
        values = dict(zip(columns, line.split(",")))
        CENTERS.append((float(values["longitude"]), float(values["latitude"])))
    CENTERS[:] = sorted(set(CENTERS))


def spellings(position):
    """How a position may be written: decimals, integers, doubles, degrees and minutes."""
    for value, width, letters in ((position[0], 2, "NS"), (position[1], 3, "EW")):
        # Six digits; an integer part of three leaves three decimals, so there are two more of those.
        text = f"{abs(value):.7f}"
        decimal = text[:7] if width == 2 else text[:8]
        yield decimal.encode()
        yield decimal.replace(".", "").encode() + text[len(decimal):len(decimal) + 1].encode()
        yield angle(value, width, letters)[:width + 5].encode()
        yield struct.pack("<d", value)
        yield struct.pack(">d", value)
        yield struct.pack("<q", round(value * 1e7))
        yield str(round(abs(value) * 1e7)).encode()


def contents(folder, skipped=()):
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.name not in skipped:
            yield str(file.relative_to(folder)), file.read_bytes()


def searched(places, secrets):
    """Asserts that no spelling of a secret is in any of the places, (name, bytes) each."""
    patterns = sorted({spelling for secret in secrets for spelling in spellings(secret)})
    expression = re.compile(b"|".join(re.escape(pattern) for pattern in patterns))
    for name, content in places:
        found = expression.search(content)
        holds(found is None, f"{name} has a position: {found and found[0]!r}")


def sent(relay, token, chance):
    """Sends positions by each dialect of HTTP; gives them."""
    secrets = []
    for kind in ("owntracks", "encoded", "overland", "query", "form", "traccar"):
        group = positions(chance, COUNT)
        secrets += group
        if kind == "overland":
            features = [{"type": "Feature", "geometry": {"type": "Point", "coordinates": [lon, lat]},
                         "properties": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment())),
                                        "horizontal_accuracy": 12}} for lat, lon in group]
            equal(relay.post("/overland", json.dumps({"locations": features}), token).status, 200, kind)
            continue
        for index, (lat, lon) in enumerate(group):
            values = {"lat": lat, "lon": lon, "timestamp": moment(), "accuracy": 12}
            query = urllib.parse.urlencode({"id": token} | values)
            if kind == "owntracks":
                relay.fix((lat, lon), token)
            elif kind == "encoded":
                # Messages that cannot be used, for one reason or another.
                text = json.dumps({"_type": ["location", "transition", "other"][index % 3], "lat": lat, "lon": lon,
                                   "tst": [1, 2**40, None][index % 3], "poi": f"{lat},{lon}"})
                equal(relay.post("/owntracks", text[:-(index % 2)] if index % 2 else text, token).status, 200, kind)
            elif kind == "query":
                relay.get(f"/osmand?{query}")
                relay.get(f"/osmand?{query}".replace("id=", "id=x"))  # refused, and so not logged either
                relay.raw(f"GET /nowhere?{query} HTTP/9.9\r\n\r\n".encode(), 1) if index < 2 else None
            elif kind == "form":
                relay.post("/osmand", query)
            else:
                relay.post("/", json.dumps({"device_id": token, "location": {
                    "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment())),
                    "coords": {"latitude": lat, "longitude": lon, "accuracy": 12}}}))
            if index % 20 == 19:
                time.sleep(1.1)  # some of them are answered
    return secrets


@case("digits: of no position are in logs, state, or what reduced consumers get", needs=["gpsd", "gpsfake"], seconds=200)
def digits():
    centers()
    chance = random.Random(9)
    ports = {"gpsd": free_port(), "port_out": free_port()}
    with receiver() as (receiving, pushes, _), Relay(EVERYTHING, receiver=receiving, **ports) as relay:
        send, read = relay.token("send", "phone"), relay.token("read", "family")
        updates = relay.updates(read)
        session = relay.stream("/v1/devices/phone/session?authorization=whenInUse&purpose=pickup", read)
        relay.verb("grant", "family", "phone", "--always")
        visits = relay.stream("/v1/devices/phone/visits", read)
        monitor = relay.stream("/v1/devices/phone/monitor?country=MX", read)
        view = relay.stream("/v1/owner/updates", relay.token("owner"))
        watching = socket.create_connection(("127.0.0.1", ports["port_out"]), timeout=5)
        watching.sendall(b'?WATCH={"enable":true,"json":true};\n')

        secrets = sent(relay, send, chance)
        answers = [relay.get(path, read).body for path in ("/v1/devices", "/v1/devices/phone")]
        answers.append(relay.post(f"/v1/geolocate?key={read}", b"{}").body)
        heard = positions(chance, 20)
        file = relay.path / "drive.nmea"
        file.write_text(log(heard, begin=time.time() + 20))
        with running("gpsfake", "-q", "-1", "-P", str(ports["gpsd"]), "-c", "0.25", str(file), cwd=relay.path) as player:
            with contextlib.suppress(subprocess.TimeoutExpired):
                player.wait(timeout=25)
        file.unlink()
        secrets += heard
        time.sleep(1.5)
        watching.settimeout(0.5)
        received = b""
        with contextlib.suppress(OSError):
            while piece := watching.recv(65536):
                received += piece
        holds(len(updates.events) > 2 and b"TPV" in received, "locations came")
        streams = {"updates": updates, "session": session, "visits": visits, "monitor": monitor, "the owner's view": view}
        searched([(name, bytes(stream.bytes)) for name, stream in streams.items()]
                 + [("an answer", answer) for answer in answers] + [("a push", push.body) for push in pushes]
                 + [("the gpsd port", received)], secrets)
        searched(contents(relay.path), secrets)  # while it runs
        listing = "".join(relay.verb(verb) for verb in ("consumers", "requests"))
        searched([("verbs", listing.encode())], secrets)
        equal(relay.stop(), 0, "the status at SIGTERM")
        searched(contents(relay.path), secrets)
        for name, content in contents(relay.path, {"relay.toml"}):
            for token in (send, read):
                holds(token.encode() not in content, f"{name} has a token")


@case("digits: the search finds what is there")
def control():
    centers()
    secret, = positions(random.Random(10), 1)
    for spelling in spellings(secret):
        try:
            searched([("a file", b"x" * 100 + spelling + b"y" * 100)], [secret])
        except Exception:
            continue
        holds(False, f"it did not find {spelling!r}")


def unprivileged(relay):
    """Starts the relay as one who is not root, with core dumps allowed as far as the system goes."""
    options = {}
    if os.geteuid() == 0:
        for path in (relay.path, *relay.path.rglob("*")):
            os.chown(path, 65534, 65534)
        options = {"user": 65534, "group": 65534, "extra_groups": []}

    def unlimited():
        _, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))

    return options, unlimited


def dumped(arguments, relay, use):
    """Runs a program in the relay's folder, uses it, and aborts it. Gives whether the kernel says that it dumped core."""
    options, unlimited = unprivileged(relay)
    process = subprocess.Popen(arguments, cwd=relay.path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, preexec_fn=unlimited, **options)
    relay.process = process
    use(process)
    os.kill(process.pid, signal.SIGABRT)
    _, status = os.waitpid(process.pid, 0)
    process.returncode = -signal.SIGABRT
    return os.WCOREDUMP(status)


def gcore(pid, relay, **options):
    """Whether gdb can write a core file of a process."""
    prefix = relay.path / "forced"
    done = subprocess.run(["gcore", "-o", str(prefix), str(pid)], capture_output=True, stdin=subprocess.DEVNULL, timeout=60,
                          check=False, cwd=relay.path, **options)
    return done.returncode == 0 and Path(f"{prefix}.{pid}").exists()


@case("digits: no core dump, by abort or by gcore", needs=["gcore"], seconds=120)
def core():
    centers()
    chance = random.Random(11)
    relay = Relay()
    options, _ = unprivileged(relay)
    reachable = not options or subprocess.run(
        [COMMAND, "--version"], capture_output=True, check=False, stdin=subprocess.DEVNULL, **options).returncode == 0
    if not reachable:
        relay.path.chmod(0o755)
        # A folder that others may not enter: the programs and the atlas are copied.
        copy = relay.path / "bin"
        copy.mkdir()
        for name in ("hereabouts", "hereabouts-live"):
            shutil.copy(Path(COMMAND).parent / name, copy / name)
        shutil.copy(Path(COMMAND).resolve().parents[3] / "data/world.atlas", copy / "world.atlas")
        command = str(copy / "hereabouts")
    else:
        command = COMMAND
    with contextlib.ExitStack() as stack:
        stack.callback(relay.__exit__)
        secrets = []

        def use(process):
            wait(relay._is_up, "the relay answers")
            token = relay.token("send", "phone")
            relay.verb("grant", "family", "phone", "--full", "--purpose", "pickup", "--for", "1h")
            for position in positions(chance, 20):
                relay.fix(position, token)
                secrets.append(position)
            if options:
                equal(Path(f"/proc/{process.pid}/mem").stat().st_uid, 0, "whose a process that is not dumpable is")
            holds(not gcore(process.pid, relay, **options), "gcore by the relay's own user finds nothing to write")
            if os.geteuid() == 0 and gcore(process.pid, relay):
                content = (relay.path / f"forced.{process.pid}").read_bytes()
                count = sum(struct.pack("<d", value) in content for secret in secrets for value in secret)
                print(f"note: root can force a core with gdb; it has {count} of {2 * len(secrets)} coordinates as doubles")
                (relay.path / f"forced.{process.pid}").unlink()

        serve = [command, "serve", "--config", str(relay.file), "--state", str(relay.state)]
        holds(not dumped(serve, relay, use), "the kernel dumped core")
        cores = [file.name for file in relay.path.rglob("*") if re.search(r"(^|\.)core(\.|$)", file.name)]
        equal(cores, [], "core files")
        searched(contents(relay.path, {"world.atlas", "hereabouts", "hereabouts-live"}), secrets)

        # The same done to a program that has nothing to hide, so that this says something.
        other = ["sleep", "60"]
        control = dumped(other, relay, lambda process: time.sleep(0.3))
        process = subprocess.Popen(other, stdin=subprocess.DEVNULL, **options)
        can = gcore(process.pid, relay, **options)
        process.kill()
        process.wait()
        if not control:
            print("note: this system dumps no core of any program")
        if not can:
            print("note: gcore finds nothing to write of any program here")
