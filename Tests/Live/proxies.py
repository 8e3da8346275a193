"""nginx and Caddy before the relay, with the configuration files of packaging/."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.parse

from cases import case
from relay import (CONFIGURATION, EL_PASO, JUAREZ, ROOT, Failed, Relay, certificate, equal, free_port, holds, moment,
                   region, run, wait)

NAME = "relay.example.org"


def edited(file, *replacements):
    """A file of packaging/, with what differs between a host and a test replaced; each must be there."""
    text = (ROOT / "packaging" / file).read_text()
    for old, new in replacements:
        if old not in text:
            raise Failed(f"packaging/{file} has no {old!r}")
        text = text.replace(old, new)
    return text


def nginx(relay, folder, port, files):
    """nginx's command, for its own configuration around that of packaging/."""
    edits = [("127.0.0.1:8737", f"127.0.0.1:{relay.port}"), ("/var/log/nginx/hereabouts.log", f"{folder}/site.log"),
             (NAME, "localhost")]
    if files:
        edits += [("listen 443 ssl http2", f"listen 127.0.0.1:{port} ssl http2"),
                  ("/etc/letsencrypt/live/localhost/fullchain.pem", str(files[0])),
                  ("/etc/letsencrypt/live/localhost/privkey.pem", str(files[1]))]
    else:
        edits += [("listen 443 ssl http2", f"listen 127.0.0.1:{port}")]
    site = edited("nginx.conf", *edits)
    if not files:
        site = re.sub(r"\n *ssl_\w+ .*;", "", site)
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};\n"
                        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    user = "user root;\n" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{user}daemon off;\nworker_processes 1;\npid {folder}/nginx.pid;\nerror_log {folder}/error.log;\n"
        f"events {{ worker_connections 512; }}\nhttp {{\naccess_log {folder}/access.log;\n{temporary}{site}}}\n")
    return ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]


def caddy(relay, folder, port, files):
    """Caddy's command."""
    site = f"https://127.0.0.1:{port}" if files else f"http://127.0.0.1:{port}"
    text = edited("Caddyfile", ("127.0.0.1:8737", f"127.0.0.1:{relay.port}"), ("\n{\n", "\n{\n\tadmin off\n\tauto_https off\n"),
                  (NAME + " {", site + " {" + (f"\n\ttls {files[0]} {files[1]}" if files else "")))
    (folder / "Caddyfile").write_text(text)
    return ["caddy", "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


@contextlib.contextmanager
def before(relay, command, secure):
    """A proxy before a relay: its port, the context for TLS or nil, and its folder."""
    folder = relay.path / "proxy"
    folder.mkdir()
    *files, context = certificate(relay.path) if secure else (None,)
    port = free_port()
    arguments = command(relay, folder, port, files)
    with open(folder / "output.log", "wb") as log:
        process = subprocess.Popen(
            arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=folder,
            env=os.environ | {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)})

    def is_up():
        if process.poll() is not None:
            raise Failed(f"the proxy ended: {(folder / 'output.log').read_text()[-500:]}")
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        return False

    try:
        wait(is_up, "the proxy listens")
        yield port, context, folder
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def request(port, context, method, path, body, token, name="Bearer"):
    connection = (http.client.HTTPSConnection("127.0.0.1", port, timeout=15, context=context) if context
                  else http.client.HTTPConnection("127.0.0.1", port, timeout=15))
    with contextlib.closing(connection):
        connection.request(method, path, body=body, headers={"Authorization": f"{name} {token}"} if token else {})
        response = connection.getresponse()
        return response.status, response.read()


def behind(command, secure):
    there = region(JUAREZ)
    with Relay() as relay, before(relay, command, secure) as (port, context, folder):
        send, read = relay.token("send", "phone"), relay.token("read", "family")
        relay.verb("grant", "family", "phone")
        updates = relay.updates(read, port=port, context=context)
        updates.next(5)  # at once: nothing waits for a buffer to fill

        secret = (31.7612345, -106.4876543)
        text = json.dumps({"_type": "location", "lat": secret[0], "lon": secret[1], "tst": moment()})
        equal(request(port, context, "POST", "/owntracks", text, send), (200, b"[]"), "a location")
        updates.at(region(secret))
        # Beyond what a proxy keeps in memory by default.
        batch = {"locations": [{
            "type": "Feature", "geometry": {"type": "Point", "coordinates": [secret[1], secret[0]]},
            "properties": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment())), "wifi": "A" * 1000},
        }] * 1000}
        equal(request(port, context, "POST", "/overland", json.dumps(batch), send), (200, b'{"result":"ok"}'), "a batch")
        large = b'{"_type":"location","x":"' + b"A" * (3 << 20) + b'"}'
        equal(request(port, context, "POST", "/owntracks", large, send)[0], 200, "a body beyond the limit")
        query = urllib.parse.urlencode({"id": send, "lat": JUAREZ[0], "lon": JUAREZ[1], "timestamp": moment()})
        equal(request(port, context, "GET", f"/osmand?{query}", None, None)[0] // 100, 2, "a query")
        updates.at(there)
        begin = time.monotonic()
        relay.verb("pause")
        event = updates.until(lambda event: event.coordinates is None, "paused")
        holds(event.at - begin < 3, "an event goes through at once")
        updates.close()

        # What a proxy keeps of requests that succeed, and of those that fail.
        relay.stop()
        query = urllib.parse.urlencode({"id": send, "lat": secret[0], "lon": secret[1], "timestamp": moment()})
        equal(request(port, context, "GET", f"/osmand?{query}", None, None)[0] // 100, 5, "without the relay: try again")
        equal(request(port, context, "POST", "/overland", json.dumps(batch), send)[0] // 100, 5, "and so for a body")
        time.sleep(0.5)
        for file in folder.rglob("*"):
            if file.is_file():
                content = file.read_bytes()
                for digits in ("31.76123", "106.48765", send, read):
                    holds(digits.encode() not in content, f"{file.name} has a position or a token")


@case("proxies: nginx with TLS", needs=["nginx", "openssl"])
def nginx_secure():
    behind(nginx, True)


@case("proxies: nginx without TLS", needs=["nginx"])
def nginx_plain():
    behind(nginx, False)


@case("proxies: Caddy with TLS", needs=["caddy", "openssl"])
def caddy_secure():
    behind(caddy, True)


@case("proxies: Caddy without TLS", needs=["caddy"])
def caddy_plain():
    behind(caddy, False)


TLS = '\n[tls]\ncertificate = "{folder}/certificate.pem"\nkey = "{folder}/key.pem"\n'


@case("proxies: the relay's own TLS", needs=["openssl", "curl"])
def own():
    relay = Relay(CONFIGURATION + TLS)
    *_, context = certificate(relay.path)
    relay.connect = lambda seconds=15: http.client.HTTPSConnection("127.0.0.1", relay.port, timeout=seconds, context=context)
    with relay:
        send, read = relay.token("send", "phone"), relay.token("read", "family")
        relay.verb("grant", "family", "phone")
        updates = relay.updates(read, context=context)
        relay.fix(EL_PASO, send)
        updates.at(region(EL_PASO))
        for version in ("1.0", "1.1"):
            status = subprocess.run(
                ["curl", "-sk", "--max-time", "5", "--tls-max", version, f"https://127.0.0.1:{relay.port}/healthz"],
                capture_output=True, stdin=subprocess.DEVNULL, check=False).returncode
            holds(status != 0, f"TLS {version} is refused")
        # Speech in clear, and silence, before the handshake.
        holds(b"204" not in relay.raw(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", seconds=3), "HTTP in clear is refused")
        equal(run("curl", "-s", "--cacert", str(relay.path / "certificate.pem"), "-o", "/dev/null", "-w", "%{http_code}",
                  f"https://127.0.0.1:{relay.port}/healthz"), b"204", "the status by TLS")


@case("proxies: the relay's own TLS 1.2 takes ECDHE with GCM or ChaCha20 alone", needs=["openssl"], seconds=120)
def suites():
    # All that openssl has, weak ones included; those without a certificate or with a shared key are no suites of a server's.
    names = run("openssl", "ciphers", "-s", "-tls1_2", "ALL:@SECLEVEL=0").decode().strip().split(":")
    good = {"AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"}
    for kind, key in {"ECDSA": ("ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"), "RSA": ("rsa:2048",)}.items():
        relay = Relay(CONFIGURATION + TLS)
        *_, context = certificate(relay.path, key)
        relay.connect = lambda seconds=15: http.client.HTTPSConnection(
            "127.0.0.1", relay.port, timeout=seconds, context=context)
        with relay:
            taken = {name for name in names if not name.startswith("TLS_") and subprocess.run(
                ["openssl", "s_client", "-connect", f"127.0.0.1:{relay.port}", "-tls1_2", "-cipher", f"{name}:@SECLEVEL=0"],
                capture_output=True, stdin=subprocess.DEVNULL, timeout=10, check=False).returncode == 0}
        equal(taken, {f"ECDHE-{kind}-{name}" for name in good}, f"the suites with a key of {kind}")
