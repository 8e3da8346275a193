"""Senders: the requests that apps document, sent by curl; and what a consumer then sees."""

import json
import time

from cases import case
from relay import (BERLIN, EL_PASO, JUAREZ, LAS_CRUCES, VIENNA, Relay, basic, equal, holds, moment, region, run)

# OwnTracks' messages besides locations (https://owntracks.org/booklet/tech/json/): nothing in them can be used.
OTHER_MESSAGES = {
    "transition": {"_type": "transition", "wtst": 1700000000, "lat": 31.7, "lon": -106.4, "tst": 1700000100, "acc": 20,
                   "tid": "xx", "event": "enter", "desc": "Home", "t": "c"},
    "waypoint": {"_type": "waypoint", "desc": "Home", "lat": 31.7, "lon": -106.4, "rad": 50, "tst": 1700000000},
    "waypoints": {"_type": "waypoints", "waypoints": [{"_type": "waypoint", "desc": "Home", "tst": 1700000000}]},
    "card": {"_type": "card", "name": "Anna", "tid": "xx"},
    "status": {"_type": "status", "android": {"hib": 0, "ps": 0, "bo": 1}},
    "steps": {"_type": "steps", "tst": 1700000000, "steps": 1234, "from": 1699990000, "to": 1700000000},
    "lwt": {"_type": "lwt", "tst": 1700000000},
    "request": {"_type": "request", "request": "tours"},
    "configuration": {"_type": "configuration", "mode": 3, "deviceId": "phone"},
    "encrypted": {"_type": "encrypted", "data": "u8l9v2yE8QyBzyRU6tLIRCvYd4jFIvJ5UFl1tK8Tz1A"},
    "unknown": {"_type": "teleportation"},
}


def curl(relay, path, *arguments, body=None, json_body=None):
    """The status and body of an answer to curl."""
    if json_body is not None:
        body = json.dumps(json_body).encode()
        arguments += ("-H", "Content-Type: application/json")
    if body is not None:
        arguments += ("--data-binary", "@-")
    output = run("curl", "-sS", "--max-time", "15", "-w", "\n%{http_code}", *arguments,
                 f"http://127.0.0.1:{relay.port}{path}", input=body if body is not None else b"")
    text, status = output.rsplit(b"\n", 1)
    return int(status), text


def watched(relay):
    """A sender's token, and the stream of a reduced consumer."""
    token = relay.token("send", "phone")
    relay.verb("grant", "family", "phone")
    return token, relay.updates(relay.token("read", "family"))


@case("senders: OwnTracks by curl", needs=["curl"])
def owntracks():
    with Relay() as relay:
        token, updates = watched(relay)
        user = ("-u", f"anna:{token}", "-H", "X-Limit-U: anna", "-H", "X-Limit-D: phone")
        location = {
            "_type": "location", "BSSID": "00:11:22:33:44:55", "SSID": "home", "acc": 11, "alt": 1140, "batt": 87, "bs": 1,
            "cog": 270, "conn": "w", "created_at": moment(), "inregions": ["Home"], "lat": EL_PASO[0], "lon": EL_PASO[1],
            "m": 1, "t": "u", "tid": "xx", "topic": "owntracks/anna/phone", "tst": moment(), "vac": 3, "vel": 4,
            "p": 87.123}
        equal(curl(relay, "/owntracks", *user, json_body=location), (200, b"[]"), "a location")
        updates.at(region(EL_PASO))
        location |= {"lat": JUAREZ[0], "lon": JUAREZ[1], "tst": moment()}
        equal(curl(relay, "/", *user, json_body=location), (200, b"[]"), "a location at /")
        updates.at(region(JUAREZ))
        for name, message in OTHER_MESSAGES.items():
            equal(curl(relay, "/owntracks", *user, json_body=message), (200, b"[]"), name)
        beacon = {"_type": "beacon", "uuid": "CA271EAE-5FA8-4E80-8F08-2A302A95A959", "major": 1, "minor": 2, "tst": moment(),
                  "acc": 0.5, "rssi": -60, "prox": 1}
        equal(curl(relay, "/owntracks", *user, json_body=beacon), (200, b"[]"), "a beacon")
        equal(curl(relay, "/owntracks", *user, body=b""), (200, b"[]"), "an empty body")
        equal(curl(relay, "/owntracks", *user, body=b"{"), (200, b"[]"), "half a body")
        equal(curl(relay, "/owntracks", "-u", "anna:wrong", json_body=location)[0], 401, "a wrong password")
        equal(curl(relay, "/owntracks", json_body=location)[0], 401, "no password")
        equal(updates.status, 200, "updates")


@case("senders: Overland by curl", needs=["curl"])
def overland():
    def feature(position, at):
        return {"type": "Feature", "geometry": {"type": "Point", "coordinates": [position[1], position[0]]},
                "properties": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at)), "altitude": 1140,
                               "speed": 4, "horizontal_accuracy": 12, "vertical_accuracy": 3, "motion": ["driving"],
                               "pauses": False, "activity": "other_navigation", "desired_accuracy": 100, "deferred": 1000,
                               "significant_change": "disabled", "locations_in_payload": 1000, "device_id": "phone",
                               "wifi": "home", "battery_state": "charging", "battery_level": 0.87}}

    with Relay() as relay:
        token, updates = watched(relay)
        now = moment()
        # Oldest first, as the app sends what it kept; the last one is elsewhere.
        batch = [feature(EL_PASO, now - 999 + index) for index in range(999)] + [feature(JUAREZ, now)]
        bearer = ("-H", f"Authorization: Bearer {token}")
        equal(curl(relay, "/overland", *bearer, json_body={"locations": batch}), (200, b'{"result":"ok"}'), "a batch")
        updates.at(region(JUAREZ))
        equal(curl(relay, "/", *bearer, json_body={"locations": [feature(LAS_CRUCES, moment())], "trip": {}}),
              (200, b'{"result":"ok"}'), "a batch at /")
        updates.at(region(LAS_CRUCES))
        for name, message in {"no locations": {"locations": []}, "too many": {"locations": [{}] * 1001},
                              "an invalid one": {"locations": [{"type": "Feature"}]}}.items():
            equal(curl(relay, "/overland", *bearer, json_body=message), (200, b'{"result":"ok"}'), name)

        # The OwnTracks mode: the token and a colon, not in base 64, and times counted from 2001.
        message = {"_type": "location", "lat": BERLIN[0], "lon": BERLIN[1], "acc": 12, "tst": moment() - 978307200}
        mode = ("-H", f"Authorization: Basic {token}:")
        equal(curl(relay, "/owntracks", *mode, json_body=message), (200, b"[]"), "the OwnTracks mode")
        updates.at(region(BERLIN))


@case("senders: OsmAnd, GPSLogger and Traccar Client by curl", needs=["curl"])
def osmand():
    with Relay() as relay:
        token, updates = watched(relay)

        def accepted(what, position, path, *arguments, **body):
            status, text = curl(relay, path, *arguments, **body)
            holds(status in (200, 204), f"{what}: status {status}")
            equal(text, b"", f"{what}: body")
            updates.at(region(position))

        lat, lon = EL_PASO
        accepted("OsmAnd's query", EL_PASO,
                 f"/osmand?id={token}&lat={lat}&lon={lon}&timestamp={moment()}&hdop=3&altitude=1140&speed=4&bearing=90")
        lat, lon = JUAREZ
        accepted("a query to /, in milliseconds", JUAREZ,
                 f"/?id={token}&lat={lat}&lon={lon}&timestamp={moment()}000&accuracy=12&batt=87&charge=true", "-X", "POST")
        lat, lon = LAS_CRUCES
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment()))
        accepted("a form, with ISO 8601", LAS_CRUCES, "/osmand",
                 body=f"id={token}&location={lat},{lon}&timestamp={at}&accuracy=12.5".encode())
        lat, lon = BERLIN
        accepted("GPSLogger's custom URL with Basic", BERLIN,
                 f"/osmand?lat={lat}&lon={lon}&timestamp={moment()}&accuracy=12", "-u", f"phone:{token}")
        accepted("Traccar Client 9", VIENNA, "/", json_body={
            "device_id": token,
            "location": {
                "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.123Z", time.gmtime(moment())),
                "coords": {"latitude": VIENNA[0], "longitude": VIENNA[1], "accuracy": 12.3, "speed": 1.5, "heading": 90,
                           "altitude": 171.2},
                "is_moving": True, "odometer": 1234.5, "event": "motionchange",
                "battery": {"level": 0.87, "is_charging": False}, "activity": {"type": "walking"}, "extras": {}}})
        status, _ = curl(relay, f"/osmand?id={token}&timestamp={moment()}")
        holds(status in (200, 204), f"a query without a position: status {status}")
        equal(curl(relay, f"/osmand?id={'A' * 22}&lat=1&lon=2")[0], 401, "an unknown id")
        equal(curl(relay, "/osmand?lat=1&lon=2")[0], 401, "no id")


@case("senders: friends, by the grant of the phone's own consumer", needs=["curl"])
def friends():
    with Relay("""
listen = "127.0.0.1:{port}"
interval = "1s"
[devices.phone]
title = "Anna's phone"
tracker = "AN"
[devices.other]
title = "Bert's phone"
tracker = "BE"
consumer = "bert"
[consumers.bert]
""") as relay:
        phone, other = relay.token("send", "phone"), relay.token("send", "other")
        relay.verb("grant", "bert", "phone")
        relay.fix(EL_PASO, phone)
        around = region(EL_PASO)

        def answer():
            return json.loads(relay.fix(BERLIN, other).body)

        end = time.monotonic() + 15
        while not (found := answer()) and time.monotonic() < end:
            time.sleep(0.3)
        locations = [entry for entry in found if entry["_type"] == "location"]
        equal(len(locations), 1, "friends")
        equal(set(locations[0]), {"_type", "lat", "lon", "acc", "tst", "tid"}, "members of a friend")
        equal([locations[0][name] for name in ("lon", "lat", "tid")], around["coordinates"] + ["AN"], "a friend")
        equal([entry["name"] for entry in found if entry["_type"] == "card"], ["Anna's phone"], "cards")
        relay.verb("revoke", "bert", "phone")
        equal(answer(), [], "friends once revoked")
        equal(json.loads(relay.fix(EL_PASO, phone).body), [], "friends of a phone that is nobody's")


@case("senders: tokens of another kind", needs=["openssl"])
def kinds():
    with Relay() as relay:
        send, read, owner = relay.token("send", "phone"), relay.token("read", "family"), relay.token("owner")
        message = json.dumps({"_type": "location", "lat": 1, "lon": 2, "tst": moment()})
        for name, token in {"read": read, "owner": owner}.items():
            equal(relay.post("/owntracks", message, token).status, 401, f"a {name} token to send")
        for path in ("/v1/devices", "/v1/devices/phone", "/v1/devices/phone/updates", "/v1/owner/updates"):
            equal(relay.get(path, send).status, 401, f"a send token at {path}")
        equal(relay.get("/v1/owner/updates", read).status, 401, "a read token at the owner's")
        equal(relay.request("POST", "/owntracks", message, headers={"Authorization": basic("x", send)}).status, 200,
              "the right one")
