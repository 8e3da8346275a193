"""Consumers: streams, and what grants, sessions and ticks do to them."""

import json
import time

from cases import case
from relay import CONFIGURATION, EL_PASO, JUAREZ, LAS_CRUCES, Relay, equal, holds, moment, region

REST = {"stationary"}  # comes after ticks at one place, whenever a test has time for them


def seen(event, places):
    """What an event says: the name of the place, and the diagnostics."""
    at = None
    if event.coordinates:
        at = next((name for name, place in places.items() if place["coordinates"] == event.coordinates), "elsewhere")
    return at, event.diagnostics - REST


class Sequence:
    """The events of a stream in their order, but for repetitions, which come at rest."""

    def __init__(self, updates, places):
        self.updates, self.places, self.last = updates, places, None

    def next_is(self, place, *diagnostics):
        while (found := seen(self.updates.next(), self.places)) == self.last:
            pass
        self.last = found
        equal(found, (place, set(diagnostics)), "the next event")


@case("consumers: request, grant, tick, pause, resume, revoke")
def lifecycle():
    places = {"here": region(EL_PASO), "there": region(JUAREZ)}
    with Relay() as relay:
        send, read = relay.token("send", "phone"), relay.token("read", "family")
        updates = relay.updates(read)
        sequence = Sequence(updates, places)
        sequence.next_is(None, "authorizationRequestInProgress")
        holds("family" in relay.verb("requests"), "the request is listed")
        relay.verb("grant", "family", "phone")
        sequence.next_is(None, "accuracyLimited", "locationUnavailable")
        relay.fix(EL_PASO, send)
        sequence.next_is("here", "accuracyLimited")
        relay.fix(JUAREZ, send)
        sequence.next_is("there", "accuracyLimited")
        holds("family" in relay.verb("consumers"), "the consumer is listed")
        relay.verb("pause")
        sequence.next_is(None, "authorizationDenied", "authorizationDeniedGlobally")
        count = len(updates.events)
        relay.fix(EL_PASO, send)
        time.sleep(2.5)
        equal(len(updates.events), count, "events while paused")
        relay.verb("resume")
        # Nothing of the pause, and nothing from before it.
        sequence.next_is(None, "accuracyLimited", "locationUnavailable")
        relay.fix(EL_PASO, send)
        sequence.next_is("here", "accuracyLimited")
        relay.verb("revoke", "family", "phone")
        sequence.next_is(None, "authorizationDenied")
        feature = relay.get("/v1/devices/phone", read).json()
        equal((feature["geometry"], feature["properties"].get("authorizationDenied")), (None, True), "the feature")
        relay.fix(JUAREZ, send)
        time.sleep(1.5)
        equal(seen(updates.events[-1], places), (None, {"authorizationDenied"}), "nothing once revoked")


@case("consumers: an update's members, and its tick")
def members():
    with Relay() as relay:
        send, read = relay.token("send", "phone"), relay.token("read", "family")
        relay.verb("grant", "family", "phone")
        updates, here = relay.updates(read), region(EL_PASO)
        relay.fix(EL_PASO, send)
        feature = updates.at(here).data
        equal(feature["type"], "Feature", "type")
        equal(set(feature), {"type", "geometry", "properties"}, "members of a feature")
        properties = feature["properties"]
        known = {"device", "time", "horizontal_accuracy", "region", "country", "place", "accuracyLimited"}
        equal(set(properties) - REST, known, "members of the properties")
        equal([properties["region"], properties["country"], properties["place"]],
              [here["region"], here["country"], here["place"]], "the region")
        equal(properties["horizontal_accuracy"], float(here["horizontal_accuracy"]), "the accuracy")
        holds(properties["time"].endswith("Z"), "the time is in UTC")
        equal(relay.get("/v1/devices/phone", read).json()["geometry"], feature["geometry"], "asking gives the same")
        names = json.dumps(relay.get("/v1/devices", read).json())
        holds("phone" in names and "Anna's phone" in names, "the list has names and titles")


@case("consumers: full accuracy for a purpose, and its lapse")
def purpose():
    place = region(EL_PASO)
    with Relay(CONFIGURATION + "\n[consumers.stranger]\n[consumers.page]\nlink-of = \"family\"\n") as relay:
        send, read = relay.token("send", "phone"), relay.token("read", "family")
        relay.verb("grant", "family", "phone")
        relay.verb("grant", "stranger", "phone")
        relay.fix(EL_PASO, send)
        others = {name: relay.updates(relay.token("read", name)) for name in ("stranger", "page")}
        for stream in others.values():
            stream.at(place)
        equal(relay.stream("/v1/devices/phone/updates?purpose=curiosity", read).status // 100, 4, "an unknown purpose")

        full = relay.updates(read, options="?purpose=pickup")
        first = full.next()
        equal(first.coordinates, place["coordinates"], "before the owner decides")
        holds("authorizationRequestInProgress" in first.diagnostics, "the request is in progress")
        holds("pickup" in relay.verb("requests"), "the request names its purpose")
        # A purpose holds for the connection that states it.
        others["one that asks for reduced"] = relay.updates(read, options="?purpose=pickup&accuracy=reduced")
        others["one that states no purpose"] = relay.updates(read)
        relay.verb("grant", "family", "phone", "--full", "--purpose", "pickup", "--for", "5s")
        # The relay keeps a fix until its tick, unless someone is granted full accuracy.
        near = (EL_PASO[0] + 0.0012345, EL_PASO[1] - 0.0023456)
        begin = time.monotonic()
        relay.fix(near, send)
        event = full.until(lambda event: event.coordinates == [near[1], near[0]], "the position itself")
        holds("region" not in event.data["properties"], "no region at full accuracy")
        lapse = full.until(lambda event: event.coordinates == place["coordinates"], "the standing answer at the lapse")
        holds(lapse.at - begin < 10, "the lapse comes after five seconds")
        holds("fullAccuracyDenied" in lapse.diagnostics, "the lapse is explained")
        exactly = [event for event in full.events if event.coordinates not in (None, place["coordinates"])]
        holds(exactly and max(event.at for event in exactly) <= lapse.at, "nothing exact after the lapse")
        relay.fix((near[0] + 0.0001, near[1]), send)
        time.sleep(2)
        equal([event for event in full.events if event.at > lapse.at and event.coordinates != place["coordinates"]], [],
              "what came after the lapse")
        for name, stream in others.items():
            equal({tuple(event.coordinates) for event in stream.events if event.coordinates},
                  {tuple(place["coordinates"])}, name)


@case("consumers: a session's diagnostics")
def sessions():
    with Relay() as relay:
        read = relay.token("read", "family")
        session = relay.stream("/v1/devices/phone/session?authorization=whenInUse", read)
        equal(session.status, 200, "the status of a session")
        equal(session.next().diagnostics, {"authorizationRequestInProgress"}, "the first diagnostics")
        relay.verb("grant", "family", "phone")
        equal(session.next().diagnostics, set(), "granted")
        relay.verb("revoke", "family", "phone")
        equal(session.next().diagnostics, {"authorizationDenied"}, "revoked")
        relay.verb("pause")
        equal(session.next().diagnostics, {"authorizationDenied", "authorizationDeniedGlobally"}, "paused")
        equal({event.name for event in session.events}, {"diagnostics"}, "names of the events")
        equal(relay.get("/v1/devices/phone/session?authorization=perhaps", read).status // 100, 4, "an unknown goal")


@case("consumers: an explicit session is required")
def explicit():
    with Relay(CONFIGURATION.replace('title = "The family"', 'title = "The family"\nexplicit-sessions = true')) as relay:
        send, read = relay.token("send", "phone"), relay.token("read", "family")
        relay.verb("grant", "family", "phone")
        relay.fix(EL_PASO, send)
        updates = relay.updates(read)
        equal(updates.next().diagnostics, {"serviceSessionRequired"}, "without a session")
        session = relay.stream("/v1/devices/phone/session?authorization=whenInUse", read)
        updates.at(region(EL_PASO))
        session.close()
        updates.until(lambda event: "serviceSessionRequired" in event.diagnostics, "the session ended")


@case("consumers: allow once")
def once():
    with Relay() as relay:
        send, read = relay.token("send", "phone"), relay.token("read", "family")
        updates = relay.updates(read)
        relay.verb("grant", "family", "phone", "--once")
        relay.fix(EL_PASO, send)
        updates.at(region(EL_PASO))
        updates.close()
        time.sleep(2)
        again = relay.updates(read)
        again.at(region(EL_PASO))  # the same session: it was away for less than ten seconds
        again.close()
        time.sleep(12)
        later = relay.updates(read)
        equal((later.next().coordinates, later.events[0].diagnostics), (None, {"authorizationRequestInProgress"}),
              "after a longer time it asks again")


@case("consumers: a read-only link")
def link():
    with Relay(CONFIGURATION + '\n[consumers.page]\nlink-of = "family"\n') as relay:
        send, read = relay.token("send", "phone"), relay.token("read", "page")
        updates = relay.updates(read)
        equal(updates.next().diagnostics, {"authorizationRestricted"}, "before the grant")
        holds("page" not in relay.verb("requests"), "a link asks for nothing")
        relay.verb("grant", "family", "phone")
        relay.verb("grant", "family", "phone", "--full", "--purpose", "pickup", "--for", "1h")
        relay.fix(EL_PASO, send)
        updates.at(region(EL_PASO))
        equal(relay.stream("/v1/devices/phone/updates?purpose=pickup", read).status // 100, 4, "a purpose of a link")
        equal(relay.stream("/v1/devices/phone/session?authorization=whenInUse", read).status // 100, 4, "a session")
        holds(all(event.coordinates in (None, region(EL_PASO)["coordinates"]) for event in updates.events), "reduced")
        page = relay.get("/")
        equal((page.status, page.headers.get("Content-Type", "").split(";")[0]), (200, "text/html"), "the page")


@case("consumers: unknown devices and wrong tokens answer alike, byte by byte")
def alike():
    with Relay(CONFIGURATION + "\n[devices.secret]\n[consumers.stranger]\n") as relay:
        read = relay.token("read", "stranger")
        del read

        def answer(path, token):
            header = f"Authorization: Bearer {token}\r\n" if token else ""
            text = relay.raw(f"GET {path} HTTP/1.1\r\nHost: relay\r\n{header}Connection: close\r\n\r\n".encode())
            holds(text.startswith(b"HTTP/1.1 401 "), f"{path}: {text[:12]!r}")
            return b"\r\n".join(line for line in text.split(b"\r\n") if not line.lower().startswith(b"date:"))

        wrong = "A" * 22
        answers = {answer(path, token)
                   for path in ("/v1/devices/phone", "/v1/devices/secret", "/v1/devices/nobody", "/v1/devices",
                                "/v1/devices/phone/updates", "/v1/devices/nobody/updates", "/v1/owner/updates")
                   for token in (wrong, wrong[:21], wrong + "A", "", "\u00e9")}
        equal(len(answers), 1, "different answers")
        send = relay.token("send", "phone")
        equal(answer("/v1/devices/phone", send), answers.pop(), "a token of another kind")


@case("consumers: a device that is unknown to a consumer")
def unknown():
    with Relay() as relay:
        read = relay.token("read", "family")
        begun = relay.get("/v1/devices/nobody", read)
        wrong = relay.get("/v1/devices/phone", "A" * 22)
        equal((begun.status, begun.body), (wrong.status, wrong.body), "an unknown device and a wrong token")


@case("consumers: visits and monitors")
def monitors():
    here, there = region(EL_PASO), region(JUAREZ)
    with Relay() as relay:
        send, read = relay.token("send", "phone"), relay.token("read", "family")
        relay.verb("grant", "family", "phone")
        relay.fix(EL_PASO, send)
        relay.updates(read).at(here)
        path = f"/v1/devices/phone/monitor?country=MX&region={there['region']}&circle={EL_PASO[0]},{EL_PASO[1]},500"
        monitor = relay.stream(path, read)
        equal(monitor.status, 200, "the status of a monitor")
        first = [monitor.next() for _ in range(3)]
        equal({event.name for event in first}, {"event"}, "names of the events")
        equal(sorted(event.data["state"] for event in first), ["unknown", "unsatisfied", "unsatisfied"], "initial states")
        circle = next(event for event in first if event.data["state"] == "unknown")
        holds("accuracyLimited" in circle.diagnostics, "the circle needs full accuracy, and says so")
        visits = relay.stream("/v1/devices/phone/visits", read)
        equal(visits.status, 200, "the status of visits")
        relay.fix(JUAREZ, send)
        changed = [monitor.next() for _ in range(2)]
        equal({event.data["state"] for event in changed}, {"satisfied"}, "country and region are entered")


@case("consumers: the owner sees what each would see")
def owner():
    with Relay(CONFIGURATION + "\n[consumers.stranger]\n") as relay:
        send = relay.token("send", "phone")
        relay.updates(relay.token("read", "stranger")).next()  # who has asked is shown
        stream = relay.stream("/v1/owner/updates", relay.token("owner"))
        equal(stream.status, 200, "the status of the owner's stream")
        relay.verb("grant", "family", "phone")
        relay.fix(EL_PASO, send)
        here = region(EL_PASO)["coordinates"]
        stream.until(lambda event: event.name == "view" and f"{here[0]}" in json.dumps(event.data), "the family's view")
        strangers = [event for event in stream.events if event.data.get("consumer") == "stranger"]
        holds(strangers and not any(f"{here[0]}" in json.dumps(event.data) for event in strangers), "the stranger's view")


@case("consumers: a restart, by SIGTERM and by SIGKILL, keeps grants, tokens and answers")
def restart():
    here = region(EL_PASO)
    with Relay() as relay:
        send, read = relay.token("send", "phone"), relay.token("read", "family")
        relay.verb("grant", "family", "phone")
        relay.fix(EL_PASO, send)
        relay.updates(read).at(here)
        equal(relay.stop(), 0, "the status at SIGTERM")
        relay.start()
        event = relay.updates(read).next()
        equal(event.coordinates, here["coordinates"], "the standing answer after SIGTERM")
        relay.fix(JUAREZ, send)
        relay.updates(read).at(region(JUAREZ))
        relay.kill()
        relay.start()
        equal(relay.updates(read).next().coordinates, region(JUAREZ)["coordinates"], "and after SIGKILL")
        relay.fix(LAS_CRUCES, send)
        relay.updates(read).at(region(LAS_CRUCES))


@case("consumers: tokens are listed and revoked, with their streams")
def tokens():
    with Relay() as relay:
        relay.verb("grant", "family", "phone")
        read = relay.token("read", "family")
        updates = relay.updates(read)
        updates.next()
        view = relay.stream("/v1/owner/updates", relay.token("owner"))
        listed = relay.verb("token", "list")
        holds(read not in listed, "the list does not show a token")
        for word, path, token, stream in (("family", "/v1/devices", read, updates), ("owner", "/v1/devices", None, view)):
            line = next(line for line in listed.splitlines() if word in line)
            relay.verb("token", "revoke", next(part for part in line.split() if part.isdigit()))
            equal(relay.get(path, token or "A" * 22).status, 401, f"{word}: the status once revoked")
            stream.ended()


@case("consumers: moments between ticks say nothing")
def ticks():
    """Two relays' consumers get the same bytes, whatever lies between the ticks."""
    with Relay(CONFIGURATION.replace('interval = "1s"', 'interval = "5s"')) as relay:
        send, read = relay.token("send", "phone"), relay.token("read", "family")
        relay.verb("grant", "family", "phone")
        updates = relay.updates(read)
        updates.next()
        # From just after a tick until the next one.
        time.sleep(5 - time.time() % 5 + 0.2)
        for position in (JUAREZ, LAS_CRUCES, EL_PASO):
            relay.fix(position, send, at=moment() + 5)
            equal(updates.events[1:], [], "events between ticks")
            time.sleep(0.5)
        event = updates.next()
        equal(event.coordinates, region(EL_PASO)["coordinates"], "the newest fix before the tick")
        equal(int(event.data["properties"]["time"][17:19]) % 5, 0, "the tick's time is a multiple of the interval")
