"""A relay to test: the release build's `hereabouts serve` on loopback, in a folder of its own, and how tests talk to it.

The command is HEREABOUTS_COMMAND. Positions, tokens and times in these tests are made up.
"""

import base64
import contextlib
import http.client
import json
import os
import queue
import re
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("HEREABOUTS_COMMAND", str(ROOT / ".build-live/release/hereabouts"))

# Latitude and longitude in degrees, all within two kilometers of a border or in the middle of a city.
EL_PASO = (31.7619, -106.4850)
JUAREZ = (31.7380, -106.4850)
LAS_CRUCES = (32.3199, -106.7637)
BERLIN = (52.5208, 13.4095)
VIENNA = (48.2082, 16.3738)

INTERVAL_SECONDS = 1
# Long enough for a tick and its delivery on a loaded machine; a test that passes never waits for it.
PATIENCE_SECONDS = 15

CONFIGURATION = """
listen = "127.0.0.1:{port}"
interval = "1s"

[devices.phone]
title = "Anna's phone"
tracker = "AN"

[consumers.family]
title = "The family"

[consumers.family.purposes]
pickup = "Fetching you from the station"
"""


class Failed(Exception):
    """What a test asks for does not hold."""


class Skipped(Exception):
    """What a test needs is missing."""


def equal(found, wanted, what):
    if found != wanted:
        raise Failed(f"{what}: {found!r}, not {wanted!r}")


def holds(condition, what):
    if not condition:
        raise Failed(what)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait(condition, what, seconds=PATIENCE_SECONDS):
    """Asks until it holds, and gives what it gave."""
    end = time.monotonic() + seconds
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise Failed(f"not within {seconds} s: {what}")
        time.sleep(0.05)


def run(*arguments, seconds=20, input=None, statuses=(0,), **options):
    """Runs a program, and gives its standard output."""
    done = subprocess.run(
        arguments, capture_output=True, timeout=seconds, check=False, input=input,
        **({} if input is not None else {"stdin": subprocess.DEVNULL}), **options)
    if statuses is not None and done.returncode not in statuses:
        raise Failed(f"{arguments[0]}: status {done.returncode}: {done.stderr.decode(errors='replace')[-500:]}")
    return done.stdout


def region(position):
    """What `hereabouts snap` says of a position: a dictionary of its columns."""
    lines = run(COMMAND, "snap", input=f"{position[0]} {position[1]}\n".encode()).decode().splitlines()
    found = dict(zip(lines[0].split(","), lines[1].split(",")))
    found["coordinates"] = [float(found["longitude"]), float(found["latitude"])]
    return found


def moment():
    """A time for a fix, in whole seconds: the next one, which counts as the present."""
    return int(time.time()) + 1


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


class Response(NamedTuple):
    status: int
    headers: dict
    body: bytes

    def json(self):
        return json.loads(self.body)


class Event(NamedTuple):
    name: str
    data: dict
    at: float  # seconds of the monotonic clock

    @property
    def coordinates(self):
        geometry = self.data.get("geometry")
        return geometry and geometry["coordinates"]

    @property
    def diagnostics(self):
        """The names of the true members."""
        members = self.data.get("properties", self.data)
        return {name for name, value in members.items() if value is True}


class Stream:
    """Server-sent events, read by a thread of its own. `bytes` is all that came."""

    def __init__(self, connection, path, headers):
        self.events, self.bytes, self._queue = [], bytearray(), queue.Queue()
        self.connection = connection
        connection.request("GET", path, headers=headers | {"Accept": "text/event-stream"})
        self.response = connection.getresponse()
        self.status = self.response.status
        if self.status == 200:
            kind = self.response.getheader("Content-Type", "")
            holds(kind.startswith("text/event-stream"), f"the type of a stream is {kind!r}")
            self.socket = connection.sock or self.response.fp.raw._sock
            self.socket.settimeout(None)
            threading.Thread(target=self._read, daemon=True).start()
        else:
            self.body = self.response.read()
            connection.close()

    def _read(self):
        rest = b""
        with contextlib.suppress(OSError, ValueError, AttributeError, http.client.HTTPException):
            while piece := self.response.read1(65536):
                self.bytes += piece
                rest += piece
                while b"\n\n" in rest:
                    text, rest = rest.split(b"\n\n", 1)
                    fields = [line.partition(b":")[::2] for line in text.split(b"\n")]
                    data = b"\n".join(value.removeprefix(b" ") for name, value in fields if name == b"data")
                    name = next((value.strip().decode() for field, value in fields if field == b"event"), "message")
                    if data:
                        event = Event(name, json.loads(data), time.monotonic())
                        self.events.append(event)
                        self._queue.put(event)
        self._queue.put(None)

    def next(self, seconds=PATIENCE_SECONDS):
        """The next event; nil once the stream has ended."""
        try:
            return self._queue.get(timeout=seconds)
        except queue.Empty:
            raise Failed(f"no event within {seconds} s") from None

    def until(self, condition, what, seconds=PATIENCE_SECONDS):
        """The first event from here that satisfies a condition."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                event = self._queue.get(timeout=left)
            except queue.Empty:
                break
            if event is None:
                raise Failed(f"the stream ended before: {what}")
            if condition(event):
                return event
        raise Failed(f"not within {seconds} s: {what}; last: {self.events[-1:]}")

    def at(self, wanted, seconds=PATIENCE_SECONDS):
        """The first event from here whose location is a region's center."""
        return self.until(lambda event: event.coordinates == wanted["coordinates"], wanted["place"], seconds)

    def ended(self, seconds=PATIENCE_SECONDS):
        """Waits until the relay has ended the stream."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(queue.Empty):
                if self._queue.get(timeout=0.5) is None:
                    return
        raise Failed(f"the stream goes on for {seconds} s")

    def close(self):
        with contextlib.suppress(OSError, AttributeError):
            self.socket.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError):
            self.connection.close()


class Relay:
    """A running relay. Leaving it ends it, and all streams to it."""

    def __init__(self, configuration=CONFIGURATION, **values):
        self.folder = tempfile.TemporaryDirectory(prefix="hereabouts-live-")
        self.path = Path(self.folder.name)
        self.state = self.path / "state"
        self.state.mkdir(mode=0o700)
        self.port = free_port()
        self.file = self.path / "relay.toml"
        text = configuration.replace("{port}", str(self.port)).replace("{folder}", str(self.path))
        for name, value in values.items():
            text = text.replace("{" + name + "}", str(value))
        self.file.write_text(text)
        self.process, self.streams = None, []

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.folder.cleanup()
            raise
        return self

    def __exit__(self, *_):
        for stream in self.streams:
            stream.close()
        self.kill()
        self.folder.cleanup()

    # The process.

    def start(self):
        with open(self.path / "relay.log", "ab") as log:
            self.process = subprocess.Popen(
                [COMMAND, "serve", "--config", str(self.file), "--state", str(self.state)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait(self._is_up, "the relay answers")

    def _is_up(self):
        if self.process.poll() is not None:
            raise Failed(f"serve ended with status {self.process.returncode}: {self.log()[-800:]}")
        with contextlib.suppress(OSError, http.client.HTTPException):
            return self.get("/healthz", seconds=2).status == 204
        return False

    def stop(self, seconds=PATIENCE_SECONDS):
        """Ends it as an init system does; gives its status."""
        self.process.terminate()
        return self.process.wait(timeout=seconds)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def log(self):
        return (self.path / "relay.log").read_text(errors="replace")

    def memory(self):
        """The memory that is the process's own, in bytes: without the pages of the program and the atlas that are mapped."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"RssAnon:\s+(\d+) kB", text)[1]) * 1024

    # The owner's verbs.

    def verb(self, *arguments, statuses=(0,)):
        return run(COMMAND, *arguments, "--state", str(self.state), statuses=statuses).decode()

    def token(self, *arguments):
        """A new token for `send DEVICE`, `read CONSUMER` or `owner`."""
        found = re.findall(r"(?<![\w-])[\w-]{22}(?![\w-])", self.verb("token", *arguments))
        equal(len(found), 1, "tokens that `token` prints")
        return found[0]

    # HTTP.

    def connect(self, seconds=PATIENCE_SECONDS):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)

    def request(self, method, path, body=None, token=None, headers=None, seconds=PATIENCE_SECONDS):
        headers = dict(headers or {})
        if token:
            headers["Authorization"] = f"Bearer {token}"
        connection = self.connect(seconds)
        try:
            connection.request(method, path, body=body, headers=headers)
            response = connection.getresponse()
            return Response(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def get(self, path, token=None, **options):
        return self.request("GET", path, token=token, **options)

    def post(self, path, body, token=None, **options):
        return self.request("POST", path, body=body, token=token, **options)

    def stream(self, path, token, port=None, context=None):
        """Opens server-sent events, through a proxy on another port where one is given."""
        port = port or self.port
        connection = (
            http.client.HTTPSConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS, context=context) if context
            else http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS))
        stream = Stream(connection, path, {"Authorization": f"Bearer {token}"})
        self.streams.append(stream)
        return stream

    def updates(self, token, device="phone", options="", **proxy):
        stream = self.stream(f"/v1/devices/{device}/updates{options}", token, **proxy)
        equal(stream.status, 200, "the status of updates")
        return stream

    def raw(self, request, seconds=PATIENCE_SECONDS):
        """Sends bytes; gives all that comes until the relay closes, or nothing came for a while."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as connection:
            connection.sendall(request)
            answer = b""
            with contextlib.suppress(OSError):
                while piece := connection.recv(65536):
                    answer += piece
            return answer

    def fix(self, position, token, at=None, accuracy=12):
        """Sends a fix as OwnTracks does."""
        message = {"_type": "location", "lat": position[0], "lon": position[1], "acc": accuracy, "tid": "xx",
                   "tst": moment() if at is None else at}
        answer = self.post("/owntracks", json.dumps(message), token)
        equal(answer.status, 200, "the status of a fix")
        return answer


def certificate(folder, key=("ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")):
    """A self-signed certificate for 127.0.0.1 and its key, as files; and a context that trusts it."""
    files = [Path(folder) / "certificate.pem", Path(folder) / "key.pem"]
    run("openssl", "req", "-x509", "-newkey", *key, "-nodes", "-days", "2",
        "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost",
        "-out", str(files[0]), "-keyout", str(files[1]))
    return *files, ssl.create_default_context(cafile=str(files[0]))
