"""The files of packaging/: what is installed is what was tested."""

import re
import subprocess

from cases import case
from proxies import edited
from relay import COMMAND, CONFIGURATION, ROOT, Relay, certificate, equal, holds, run

SAMPLE = ROOT / "packaging/relay.toml"
SERVICE = ROOT / "packaging/hereabouts-relay.service"
EXPOSURE = 1.5  # systemd's score: 0 is best, 10 worst


def check(relay, text):
    """The status and messages of `serve --check`."""
    relay.file.write_text(text)
    done = subprocess.run([COMMAND, "serve", "--check", "--config", str(relay.file), "--state", str(relay.state)],
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=20, check=False)
    return done.returncode, (done.stdout + done.stderr).decode()


def complete(relay):
    """The sample with all that it leaves out by a comment put in, and its files in a folder of the test."""
    files = certificate(relay.path)
    secret = relay.path / "secret"
    secret.write_text("anna:open sesame\n")
    secret.chmod(0o600)
    text = re.sub(r"(?m)^#(?=[\w\[])", "", SAMPLE.read_text())
    text = re.sub(r'certificate = ".*"', f'certificate = "{files[0]}"', text)
    text = re.sub(r'\bkey = "/.*"', f'key = "{files[1]}"', text)
    return re.sub(r'credential-file = ".*"', f'credential-file = "{secret}"', text)


@case("samples: relay.toml as it is, and with everything in it", needs=["openssl"])
def sample():
    relay = Relay()
    equal(check(relay, SAMPLE.read_text())[0], 0, f"the status of the sample: {check(relay, SAMPLE.read_text())[1]}")
    text = complete(relay)
    equal(check(relay, text)[0], 0, f"the status with everything: {check(relay, text)[1]}")


@case("samples: a configuration that is wrong is named by its line")
def wrong():
    relay = Relay()
    text = CONFIGURATION.replace("{port}", "8737")
    equal(check(relay, text)[0], 0, "the status of one that is right")
    line = len(text.splitlines()) + 1
    for added in ("[consumers.family.purpose]", "colour = 1", "[[consumers.family.gpsd]]\ndevice = \"nobody\"", "= 3"):
        status, message = check(relay, text + added + "\n")
        holds(status != 0 and re.search(rf"\b({line}|{line + 1})\b", message), f"{added!r}: {status}, {message!r}")
    for old, new in (("127.0.0.1:8737", "0.0.0.0:8737"), ('"1s"', '"0s"'), ('"1s"', "1"), ('"AN"', '"ANNA"')):
        status, message = check(relay, text.replace(old, new))
        holds(status != 0, f"{new!r}: {status}, {message!r}")
    equal(check(relay, text.replace('listen = "127.0.0.1:8737"', 'listen = "0.0.0.0:8737"\nproxy = "127.0.0.1"'))[0], 0,
          "the status behind a proxy")


@case("samples: systemd's unit", needs=["systemd-analyze"])
def unit():
    relay = Relay()
    file = relay.path / SERVICE.name
    file.write_text(edited(SERVICE.name, ("/usr/local/bin/hereabouts", COMMAND)))
    run("systemd-analyze", "verify", "--man=no", str(file), seconds=30)
    score = run("systemd-analyze", "security", "--offline=true", "--no-pager", str(file), seconds=30).decode()
    found = float(re.search(r"exposure level for [\w.-]+: ([\d.]+)", score)[1])
    print(f"note: exposure {found}")
    holds(found <= EXPOSURE, f"exposure {found}")
