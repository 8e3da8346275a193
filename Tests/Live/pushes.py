"""Pushes to receivers that are played here, with the members that the documents allow and no others."""

import contextlib
import http.server
import json
import threading
import time
import urllib.parse
from typing import NamedTuple

from cases import case
from relay import CONFIGURATION, EL_PASO, JUAREZ, LAS_CRUCES, Relay, basic, equal, holds, region, wait

PUSH = CONFIGURATION + """
[[consumers.family.push]]
device = "phone"
to = "{dialect}"
url = "http://127.0.0.1:{receiver}/in"
"""


class Push(NamedTuple):
    path: str
    headers: dict
    body: bytes


@contextlib.contextmanager
def receiver(status=200, answer=b"[]"):
    """A receiver; its port, what it got, and a list whose first entry is the status that it answers."""
    pushes, statuses = [], [status]

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            pushes.append(Push(self.path, dict(self.headers), body))
            self.send_response(statuses[0])
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1], pushes, statuses
    finally:
        server.shutdown()


def read(dialect, push):
    """The members of a message, and its longitude and latitude."""
    if dialect == "owntracks":
        message = json.loads(push.body)
        return set(message), [message["lon"], message["lat"]]
    if dialect == "overland":
        feature, = json.loads(push.body)["locations"]
        return set(feature) | set(feature["properties"]), feature["geometry"]["coordinates"]
    query = urllib.parse.urlsplit(push.path).query or push.body.decode()
    message = dict(urllib.parse.parse_qsl(query))
    return set(message), [float(message["lon"]), float(message["lat"])]


MEMBERS = {
    "owntracks": {"_type", "lat", "lon", "acc", "tst", "tid"},
    "overland": {"type", "geometry", "properties", "timestamp", "horizontal_accuracy", "device_id"},
    "osmand": {"id", "lat", "lon", "timestamp", "accuracy"},
}


def pushed(dialect):
    with receiver(answer=b'[{"_type":"cmd","action":"dump"}]') as (port, pushes, _):
        with Relay(PUSH, dialect=dialect, receiver=port) as relay:
            send = relay.token("send", "phone")
            relay.fix(EL_PASO, send)
            time.sleep(2.5)
            equal(pushes, [], "pushes without a grant")
            relay.verb("grant", "family", "phone", "--always")
            for position in (EL_PASO, JUAREZ):
                relay.fix(position, send)
                # Pushes are spread over the minute after the tick, or the interval where that is shorter.
                wait(lambda: pushes and read(dialect, pushes[-1])[1] == region(position)["coordinates"],
                     "a push of the region", 75)
            for push in pushes:
                equal(read(dialect, push)[0], MEMBERS[dialect], "members")
                equal({name for name in push.headers if name.lower().startswith(("x-", "cookie", "via", "forwarded"))},
                      set(), "headers")
            holds("AN" in pushes[-1].body.decode() or dialect != "owntracks", "the tracker's two characters")
            relay.verb("revoke", "family", "phone")
            count = len(pushes)
            relay.fix(LAS_CRUCES, send)
            time.sleep(3)
            equal(len(pushes), count, "pushes once revoked")


@case("pushes: OwnTracks", seconds=180)
def owntracks():
    pushed("owntracks")


@case("pushes: Overland", seconds=180)
def overland():
    pushed("overland")


@case("pushes: OsmAnd", seconds=180)
def osmand():
    pushed("osmand")


@case("pushes: with a password, and again where the receiver failed", seconds=180)
def again():
    with receiver(status=500) as (port, pushes, statuses):
        configuration = PUSH + 'credential-file = "{folder}/secret"\n'
        relay = Relay(configuration, dialect="owntracks", receiver=port)
        secret = relay.path / "secret"
        secret.write_text("anna:open sesame\n")
        secret.chmod(0o600)
        with relay:
            send = relay.token("send", "phone")
            relay.verb("grant", "family", "phone", "--always")
            relay.fix(EL_PASO, send)
            wait(lambda: pushes, "a first attempt", 75)
            equal(pushes[0].headers.get("Authorization"), basic("anna", "open sesame"), "the credential")
            relay.fix(JUAREZ, send)
            time.sleep(2)
            statuses[0] = 200
            there = region(JUAREZ)["coordinates"]
            wait(lambda: read("owntracks", pushes[-1])[1] == there, "the newest is pushed again", 90)
            time.sleep(2)
            holds(relay.get("/healthz").status == 204, "the relay is still there")
            holds("sesame" not in relay.log() and "127.0.0.1:" + str(port) + "/in" not in relay.log(), "no secret in the log")
