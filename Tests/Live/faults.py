"""Kills at random moments, and a full disk."""

import contextlib
import http.client
import json
import os
import random
import subprocess
import threading
import time

from cases import case
from relay import BERLIN, COMMAND, EL_PASO, JUAREZ, LAS_CRUCES, VIENNA, Relay, Skipped, equal, holds, moment, region, wait

KILLS = int(os.environ.get("HEREABOUTS_KILLS", "15"))


class Sender(threading.Thread):
    """Sends a fix every so often, and again until it is taken, as a phone does."""

    def __init__(self, relay, token, seed):
        super().__init__(daemon=True)
        self.relay, self.token, self.random, self.done = relay, token, random.Random(seed), threading.Event()

    def run(self):
        while not self.done.is_set():
            place = self.random.choice([EL_PASO, JUAREZ, LAS_CRUCES, BERLIN, VIENNA])
            body = json.dumps({"_type": "location", "lat": place[0], "lon": place[1], "acc": 9, "tst": moment()})
            with contextlib.suppress(OSError, http.client.HTTPException):
                self.relay.post("/owntracks", body, self.token, seconds=3)
            time.sleep(self.random.uniform(0.02, 0.2))


class Reader(threading.Thread):
    """What two kinds of reader see of a device over all restarts: its answers with their ticks."""

    def __init__(self, relay, token):
        super().__init__(daemon=True)
        self.relay, self.token, self.done, self.seen = relay, token, threading.Event(), []

    def run(self):
        while not self.done.is_set():
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                answer = self.relay.get("/v1/devices/phone", self.token, seconds=3)
                if answer.status == 200:
                    properties = answer.json()["properties"]
                    if "region" in properties:
                        self.seen.append((properties["time"], properties["region"]))
            time.sleep(0.01)


@case("faults: killed at random moments, no tick is answered twice and nothing published is lost", seconds=60 + 3 * KILLS)
def kills():
    chance = random.Random(16)
    with Relay() as relay:
        relay.verb("grant", "family", "phone")
        sender = Sender(relay, relay.token("send", "phone"), 17)
        reader = Reader(relay, relay.token("read", "family"))
        sender.start()
        reader.start()
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.05, 1.6))
            relay.kill()
            before = reader.seen[-1] if reader.seen else None
            relay.start()
            if before:
                # What was published stands, or a later tick's answer does.
                first = wait(lambda: relay.get("/v1/devices/phone", reader.token).json()["properties"].get("time"), "an answer")
                holds(first >= before[0], "an answer that was published stands")
        sender.done.set()
        reader.done.set()
        reader.join(10)
        answers, last = {}, ""
        for time_, name in reader.seen:
            holds(answers.setdefault(time_, name) == name, "one answer for a tick")
            holds(time_ >= last, "ticks run forward")
            last = time_
        holds(len(answers) > KILLS // 4, f"ticks were answered: {len(answers)}")
        print(f"note: {KILLS} kills, {len(reader.seen)} answers read, {len(answers)} ticks")


@case("faults: killed while the owner decides, what was acknowledged holds", seconds=120)
def decisions():
    chance = random.Random(18)
    with Relay() as relay:
        read = relay.token("read", "family")
        for place in range(8):
            verb = ["grant", "family", "phone"] if place % 2 == 0 else ["revoke", "family", "phone"]
            relay.verb(*verb)
            time.sleep(chance.uniform(0, 0.02))
            relay.kill()
            relay.start()
            denied = relay.get("/v1/devices/phone", read).json()["properties"].get("authorizationDenied", False)
            equal(denied, place % 2 == 1, "what the owner decided last")


@case("faults: with no room on the disk nothing is delivered, and senders try again; with room it goes on", seconds=90)
def disk_full():
    with Relay() as relay:
        relay.verb("grant", "family", "phone")
        send, read = relay.token("send", "phone"), relay.token("read", "family")
        relay.stop()
        filler = relay.state / "filler"
        content = {path.name: path.read_bytes() for path in relay.state.iterdir() if path.is_file()}
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs", str(relay.state)], check=False, capture_output=True)
        if mounted.returncode != 0:
            raise Skipped("no file system can be mounted here")
        try:
            for name, data in content.items():
                path = relay.state / name
                path.write_bytes(data)
                path.chmod(0o600)
            relay.start()
            relay.fix(EL_PASO, send)
            wait(lambda: relay.get("/v1/devices/phone", read).json()["geometry"], "an answer")
            with contextlib.suppress(OSError), open(filler, "wb", buffering=0) as file:
                while True:
                    file.write(bytes(4096))
            body = lambda: json.dumps({"_type": "location", "lat": BERLIN[0], "lon": BERLIN[1], "tst": moment()})
            wait(lambda: relay.post("/owntracks", body(), send).status == 503, "senders are to try again", 30)
            equal(relay.get("/v1/devices/phone", read).status, 503, "what cannot be kept")
            wait(lambda: relay.get("/healthz").status == 503, "the relay's health", 15)
            refused = subprocess.run(
                [COMMAND, "revoke", "family", "phone", "--state", str(relay.state)], check=False, capture_output=True)
            equal(refused.returncode, 2, "taking back what cannot be kept")
            holds(b"a restart begins paused" in refused.stderr, f"what it says: {refused.stderr[-300:]}")
            relay.kill()
            filler.unlink()
            relay.start()
            holds("everything is paused" in relay.log(), "the log says why nothing is shown")
            equal(relay.post("/owntracks", body(), send).status, 200, "a fix in the pause")
            relay.verb("revoke", "family", "phone")
            relay.verb("resume")
            equal(relay.get("/v1/devices/phone", read).json()["geometry"], None, "once it is decided again")
            relay.verb("grant", "family", "phone")
            wait(lambda: relay.post("/owntracks", body(), send).status == 200, "fixes are taken again", 30)
            here = region(BERLIN)
            wait(lambda: (relay.get("/v1/devices/phone", read).json()["geometry"] or {}).get("coordinates")
                 == here["coordinates"], "the next answer", 30)
            relay.stop()
        finally:
            relay.kill()
            subprocess.run(["umount", str(relay.state)], check=False)
