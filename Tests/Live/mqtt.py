"""`hereabouts live` between a broker's topics, as mosquitto's own programs connect it."""

import json
import subprocess
import tempfile
from pathlib import Path

from cases import case
from gpsd import running
from relay import COMMAND, EL_PASO, JUAREZ, equal, free_port, holds, moment, region, run, wait


@case("mqtt: mosquitto_sub, hereabouts live, mosquitto_pub", needs=["mosquitto", "mosquitto_sub"], seconds=60)
def around():
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="hereabouts-live-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "mosquitto.conf").write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\npersistence false\n")
        pipeline = (f"mosquitto_sub -p {port} -v -t 'owntracks/#' "
                    f"| '{COMMAND}' live --from owntracks --to owntracks --interval 1s --state live.db "
                    f"| mosquitto_pub -p {port} -l -t around")
        heard = folder / "around.json"
        with running("mosquitto", "-c", str(folder / "mosquitto.conf")), open(heard, "wb") as output:
            publish = ["mosquitto_pub", "-h", "127.0.0.1", "-p", str(port)]
            wait(lambda: subprocess.run([*publish, "-t", "up", "-m", ""], capture_output=True, check=False).returncode == 0,
                 "the broker answers")
            with running("mosquitto_sub", "-p", str(port), "-t", "around", output=output), \
                    running("bash", "-c", pipeline, cwd=folder):
                def messages():
                    return [json.loads(line) for line in heard.read_text().splitlines() if line.endswith("}")]

                for position in (EL_PASO, JUAREZ):
                    place = region(position)

                    def has_come():
                        # Until the filter has subscribed, nobody hears.
                        message = {"_type": "location", "lat": position[0], "lon": position[1], "acc": 12, "tst": moment(),
                                   "tid": "an", "batt": 80, "SSID": "home"}
                        run(*publish, "-t", "owntracks/anna/phone", "-m", json.dumps(message))
                        return any([found["lon"], found["lat"]] == place["coordinates"] for found in messages())

                    wait(has_come, place["place"], 20)
                for found in messages():
                    holds(set(found) <= {"_type", "lat", "lon", "acc", "tst", "tid", "topic"}, f"members: {set(found)}")
                equal(len({(found["lat"], found["lon"]) for found in messages()}), 2, "regions")
