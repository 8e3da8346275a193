"""The relay at work for a minute: gpsfake plays a drive along the border to a gpsd, the relay reads it, and two consumers
get of it what each was granted: the family around-here, the driver who fetches somebody the position itself, for half a
minute and a stated purpose.
"""

import csv
import shutil
import sys
import time

from cases import PATH
from gpsd import running
from nmea import log
from relay import ROOT, Failed, Relay, free_port

SECONDS = 60
INTERVAL_SECONDS = 5
GRANTED_AT_SECONDS, GRANTED_SECONDS = 10, 30

CONFIGURATION = """
listen = "127.0.0.1:{port}"
interval = "5s"
[devices.car]
title = "The car"
gpsd = "127.0.0.1:{gpsd}"
[consumers.family]
title = "The family"
[consumers.driver]
title = "The driver"
[consumers.driver.purposes]
pickup = "Fetching you from the station"
"""


def drive():
    """A position for each second: two and a half hours of the sample drive through El Paso, in a minute."""
    with open(ROOT / "data/samples/border-drives.csv", newline="", encoding="ascii") as file:
        rows = [row for row in csv.DictReader(file) if row["id"] == "elpaso"]
    count = SECONDS + 30
    return [(float(row["latitude"]), float(row["longitude"])) for row in rows[::max(1, len(rows) // count)]][:count]


def described(event):
    """An event of a stream in a few words."""
    if event is None:
        return ""
    properties = event.data["properties"]
    if not event.coordinates:
        return ", ".join(sorted(event.diagnostics - {"accuracyLimited"}))
    longitude, latitude = event.coordinates
    if "region" in properties:
        place = f"{properties.get('place', '(no name)')}, {properties['country']}"
        return f"within {properties['horizontal_accuracy'] / 1000:.1f} km of {place}"
    return f"{latitude:.6f}, {longitude:.6f}, within {properties.get('horizontal_accuracy', '?')} m"


def show(clock, left, right):
    print(f"{clock:8}  {left:56}  {right}", flush=True)


def main():
    if not all(shutil.which(name, path=PATH) for name in ("gpsd", "gpsfake")):
        print("demo-live needs gpsd and gpsfake (apt-get install gpsd gpsd-tools)", file=sys.stderr)
        return 1
    port = free_port()
    with Relay(CONFIGURATION, gpsd=port) as relay:
        relay.verb("grant", "family", "car")
        relay.verb("grant", "driver", "car")
        family = relay.updates(relay.token("read", "family"), "car", "?accuracy=reduced")
        driver = relay.updates(relay.token("read", "driver"), "car", "?purpose=pickup")
        file = relay.path / "drive.nmea"
        file.write_text(log(drive(), begin=time.time() + 5))
        print(f"A drive through El Paso, sped up, as gpsfake plays it; a tick every {INTERVAL_SECONDS} s. "
              f"In {GRANTED_AT_SECONDS} s the owner says:\n"
              f"    hereabouts grant driver car --full --purpose pickup --for {GRANTED_SECONDS}s\n")
        show("UTC", "The family: reduced", "The driver: \"Fetching you from the station\"")
        # Two sentences are a fix, so this is a fix a second.
        with running("gpsfake", "-q", "-1", "-P", str(port), "-c", "0.5", str(file), cwd=relay.path):
            begin = time.monotonic()
            granted = False
            counts = [0, 0]
            while time.monotonic() < begin + SECONDS:
                time.sleep(1)
                if not granted and time.monotonic() > begin + GRANTED_AT_SECONDS:
                    relay.verb("grant", "driver", "car", "--full", "--purpose", "pickup", "--for", f"{GRANTED_SECONDS}s")
                    granted = True
                new = [stream.events[-1] if len(stream.events) > count else None
                       for stream, count in zip((family, driver), counts)]
                counts = [len(family.events), len(driver.events)]
                if any(new):
                    show(time.strftime("%H:%M:%S", time.gmtime()), *map(described, new))
        exact = sum("region" not in event.data["properties"] and bool(event.coordinates) for event in family.events)
        print(f"\nThe family was sent {len(family.bytes)} bytes in {len(family.events)} events, {exact} of them exact; "
              f"the driver {len(driver.bytes)} in {len(driver.events)}.")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as reason:
        print(f"demo-live: {reason}", file=sys.stderr)
        sys.exit(1)
