"""Programs that ask a network for where they are: Firefox and GeoClue, by `POST /v1/geolocate`."""

import contextlib
import http.server
import json
import os
import re
import signal
import subprocess
import threading
import time

from cases import case
from relay import EL_PASO, Failed, Relay, Skipped, equal, holds, region, wait

# Asks again and again, and says what came.
PAGE = b"""<!doctype html><title>Where am I?</title><script>
const tell = (answer) => fetch('/answer', {method: 'POST', body: JSON.stringify(answer)});
const ask = () => navigator.geolocation.getCurrentPosition(
    (position) => tell({coordinates: [position.coords.longitude, position.coords.latitude],
                        accuracy: position.coords.accuracy}),
    (error) => tell({error: error.code}), {timeout: 6000, maximumAge: 0});
ask();
setInterval(ask, 1500);
</script>"""

# What a person sets is the first three; the rest keeps a first run quiet, and grants the page its permission.
PREFERENCES = {
    "geo.provider.network.url": None, "geo.provider.use_geoclue": False,
    # Firefox keeps an answer for as long as it sees no other Wi-Fi stations.
    "geo.provider.network.debug.requestCache.enabled": False,
    "permissions.default.geo": 1, "app.update.enabled": False, "browser.aboutwelcome.enabled": False,
    "browser.shell.checkDefaultBrowser": False, "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,", "toolkit.telemetry.reportingpolicy.firstRun": False,
}


@contextlib.contextmanager
def served():
    """A relay that serves El Paso; the address to ask, and the region."""
    with Relay() as relay:
        relay.verb("grant", "family", "phone")
        read, send = relay.token("read", "family"), relay.token("send", "phone")
        updates = relay.updates(read)
        relay.fix(EL_PASO, send)
        here = region(EL_PASO)
        updates.at(here)
        yield relay, f"http://127.0.0.1:{relay.port}/v1/geolocate?key={read}", here


@case("geolocate: by itself")
def plain():
    with served() as (relay, address, here):
        path = address[address.index("/v1"):]
        wanted = {"location": {"lat": here["coordinates"][1], "lng": here["coordinates"][0]},
                  "accuracy": float(here["horizontal_accuracy"])}
        stations = {"wifiAccessPoints": [{"macAddress": "01:23:45:67:89:ab", "signalStrength": -51}] * 20}
        for what, body in {"no body": b"", "an object": b"{}", "stations": json.dumps(stations), "text": b"hello"}.items():
            answer = relay.post(path, body)
            equal((answer.status, answer.json()), (200, wanted), what)
        equal(relay.post(path + "&device=phone", b"{}").json(), wanted, "a device by name")
        equal(relay.post("/v1/geolocate?key=wrong", b"{}").status // 100, 4, "a wrong key")
        equal(relay.post("/v1/geolocate", b"{}").status // 100, 4, "no key")
        relay.verb("revoke", "family", "phone")
        equal(relay.post(path, b"{}").status, 404, "once revoked")


@contextlib.contextmanager
def firefox(folder, address):
    """A headless Firefox that shows the page; what the page has told so far."""
    answers = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(PAGE)

        def do_POST(self):
            answers.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    profile = folder / "profile"
    profile.mkdir()
    preferences = PREFERENCES | {"geo.provider.network.url": address}
    (profile / "user.js").write_text("".join(
        f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items()))
    process = subprocess.Popen(
        ["firefox-esr", "--headless", "--no-remote", "--profile", str(profile),
         f"http://127.0.0.1:{server.server_address[1]}/"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        env=os.environ | {"HOME": str(folder), "MOZ_DISABLE_CONTENT_SANDBOX": "1"})
    try:
        yield answers
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        server.shutdown()


@case("geolocate: Firefox sees the center, and an error once revoked", needs=["firefox-esr"], seconds=120)
def in_firefox():
    with served() as (relay, address, here), firefox(relay.path, address) as answers:
        wait(lambda: answers, "the page has an answer", 60)
        equal(answers[0], {"coordinates": here["coordinates"], "accuracy": float(here["horizontal_accuracy"])}, "the answer")
        relay.verb("revoke", "family", "phone")
        count = len(answers)
        wait(lambda: any("error" in answer for answer in answers[count:]), "an error once revoked", 30)
        time.sleep(3)
        holds("error" in answers[-1], "and it stays one")


GEOCLUE = """
mount --bind geoclue.conf /etc/geoclue/geoclue.conf || exit 77
export DBUS_SYSTEM_BUS_ADDRESS="$DBUS_SESSION_BUS_ADDRESS"
begin() {
    /usr/libexec/geoclue -t 0 &
    service=$!
    sleep 0.7
    /usr/libexec/geoclue-2.0/demos/agent &
    agent=$!
    sleep 0.7
}
begin
for accuracy in 8 6 5 4; do
    echo "level $accuracy"
    timeout 10 /usr/libexec/geoclue-2.0/demos/where-am-i -t 2 -a $accuracy
done
touch asked
while [ ! -e revoked ]; do sleep 0.1; done
# GeoClue keeps an answer for as long as it runs and sees no other Wi-Fi stations.
kill $agent $service
sleep 0.5
begin
echo "level 0"
timeout 10 /usr/libexec/geoclue-2.0/demos/where-am-i -t 4 -a 8
kill $agent $service
"""
CONFIGURATION = """
[agent]
whitelist=geoclue-demo-agent
[network-nmea]
enable=false
[3g]
enable=false
[cdma]
enable=false
[modem-gps]
enable=false
[wifi]
enable=true
url={address}
submit-data=false
[compass]
enable=false
[geoclue-where-am-i]
allowed=true
system=true
users=
"""


@case("geolocate: GeoClue's where-am-i sees the center, and nothing once revoked", seconds=90,
      needs=["dbus-run-session", "unshare", "/usr/libexec/geoclue", "/usr/libexec/geoclue-2.0/demos/where-am-i"])
def in_geoclue():
    with served() as (relay, address, here):
        (relay.path / "geoclue.conf").write_text(CONFIGURATION.replace("{address}", address))
        (relay.path / "geoclue.sh").write_text(GEOCLUE)
        # GeoClue reads one path alone, so it gets its configuration in a mount namespace, as the root of a user
        # namespace where the tests' user is not root.
        unshare = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
        if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode != 0:
            raise Skipped("no mount namespaces here")
        with open(relay.path / "geoclue.log", "wb") as log:
            process = subprocess.Popen(
                [*unshare, "dbus-run-session", "--", "bash", "geoclue.sh"], cwd=relay.path, stdin=subprocess.DEVNULL,
                stdout=log, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            wait(lambda: (relay.path / "asked").exists() or process.poll() is not None, "four answers", 60)
            if process.poll() == 77:
                raise Skipped("no bind mounts here")
            relay.verb("revoke", "family", "phone")
            (relay.path / "revoked").touch()
            process.wait(timeout=20)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        text = (relay.path / "geoclue.log").read_text()
        found = {}
        for part in text.split("level ")[1:]:
            level, _, rest = part.partition("\n")
            numbers = [float(re.search(name + r":\s+(-?[\d.]+)", rest)[1]) if name in rest else None
                       for name in ("Longitude", "Latitude", "Accuracy")]
            found[int(level)] = numbers
        wanted = [*here["coordinates"], float(here["horizontal_accuracy"])]
        if 8 not in found:
            raise Failed("where-am-i has not run")
        for level in (8, 6):
            equal(found[level], wanted, f"the answer at level {level}")
        for level in (5, 4):
            # GeoClue moves the latitude of answers at its levels city and neighborhood, and widens the circle.
            holds(found[level][0] == wanted[0] and found[level][2] >= wanted[2], f"the answer at level {level}")
        equal(found[0], [None, None, None], "once revoked")
