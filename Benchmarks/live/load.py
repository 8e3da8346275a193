#!/usr/bin/env python3
"""Load on the relay of the release build, on loopback: posts a second on one core with their 99th percentile, 1,000 event
streams through a tick, memory with many devices, and a soak. `make bench-live`; needs wrk.

    load.py [--devices N] [--streams N] [--seconds N] [--soak SECONDS]
"""

import argparse
import http.client
import re
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Tests/Live"))
from relay import BERLIN, Relay, certificate  # noqa: E402

HEAD = 'listen = "127.0.0.1:{port}"\ninterval = "%ds"\nstale = "2h"\n[consumers.family]\n'

# Each request is of the next device, at a time that only grows.
LUA = """
local tokens, n = {}, 0
for line in io.lines("%s") do tokens[#tokens + 1] = line end
local start, count = os.time(), 0
request = function()
  n = n %% #tokens + 1
  count = count + 1
  local body = string.format('{"_type":"location","lat":52.5%%03d,"lon":13.4%%03d,"acc":9,"tst":%%d,"batt":77,"vel":3,"tid":"ph"}',
    count %% 1000, count %% 997, os.time())
  return wrk.format("POST", "/owntracks", {["Authorization"] = "Bearer " .. tokens[n], ["Content-Type"] = "application/json"}, body)
end
"""

# Milliseconds between a connection's answer and its next request: with 32 connections about 10,000 requests a second.
PAUSE = "delay = function() return 3 end\n"


def pinned(relay, core):
    subprocess.run(["taskset", "-acp", str(core), str(relay.process.pid)], check=True, stdout=subprocess.DEVNULL)


def tokens_of(relay, count):
    """Tokens for all devices, added to the state of a relay that does not run: asking for each takes a transaction."""
    tokens = [f"{place:022d}" for place in range(count)]
    file = Path(relay.path) / "tokens"
    file.write_text("".join(f"d{place} {token}\n" for place, token in enumerate(tokens)))
    relay.verb("token", "import", str(file))
    return tokens


def load(relay, tokens, seconds, connections=32, pause="", scheme="http"):
    with tempfile.TemporaryDirectory() as folder:
        names, script = Path(folder) / "tokens", Path(folder) / "post.lua"
        names.write_text("\n".join(tokens) + "\n")
        script.write_text(LUA % names + pause)
        text = subprocess.run(
            ["taskset", "-c", "1", "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", str(script),
             f"{scheme}://127.0.0.1:{relay.port}"], check=True, capture_output=True, text=True).stdout
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])
    latency = re.search(r"99%\s+(\S+)", text)[1]
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    return rate, latency, int(bad[1]) if bad else 0


def streams(relay, token, count, device):
    """Opens event streams of one device; gives their sockets."""
    request = f"GET /v1/devices/{device}/updates HTTP/1.1\r\nHost: r\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    sockets = []
    for _ in range(count):
        connection = socket.create_connection(("127.0.0.1", relay.port), timeout=20)
        connection.sendall(request)
        sockets.append(connection)
    return sockets


def first_words(sockets, wanted, seconds):
    """How long until each stream has had the bytes; nil where some have not."""
    selector, left, begin, texts = selectors.DefaultSelector(), len(sockets), time.monotonic(), {}
    for connection in sockets:
        connection.setblocking(False)
        selector.register(connection, selectors.EVENT_READ)
    while left and (rest := begin + seconds - time.monotonic()) > 0:
        for key, _ in selector.select(rest):
            texts[key.fileobj] = texts.get(key.fileobj, b"") + key.fileobj.recv(65536)
            if wanted in texts[key.fileobj]:
                selector.unregister(key.fileobj)
                left -= 1
    return None if left else time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", type=int, default=100_000)
    parser.add_argument("--streams", type=int, default=900)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--soak", type=int, default=0)
    options = parser.parse_args()
    if not shutil.which("wrk"):
        sys.exit("wrk is not installed")

    head = HEAD % 900
    with Relay(head + "[devices.phone]\n") as relay:
        print(f"a relay at rest: {relay.memory() / 2**20:.1f} MiB", flush=True)
        pinned(relay, 0)
        rate, latency, bad = load(relay, [relay.token("send", "phone")], options.seconds)
        print(f"one device, 32 connections: {rate:,.0f} posts/s, 99th percentile {latency}, {bad} not 2xx", flush=True)

    secure = Relay(head + '[devices.phone]\n[tls]\ncertificate = "{folder}/certificate.pem"\nkey = "{folder}/key.pem"\n')
    *_, context = certificate(secure.path)
    secure.connect = lambda seconds=15: http.client.HTTPSConnection(
        "127.0.0.1", secure.port, timeout=seconds, context=context)
    with secure as relay:
        pinned(relay, 0)
        rate, latency, bad = load(relay, [relay.token("send", "phone")], options.seconds, scheme="https")
        print(f"the same with the relay's own TLS: {rate:,.0f} posts/s, 99th percentile {latency}, {bad} not 2xx", flush=True)

    with Relay(HEAD % 10 + "[devices.phone]\n") as relay:
        relay.verb("grant", "family", "phone")
        sender, reader = relay.token("send", "phone"), relay.token("read", "family")
        begin = time.monotonic()
        opened = streams(relay, reader, options.streams, "phone")
        wait = first_words(opened, b"locationUnavailable", 30)
        print(f"{options.streams} event streams: all answered {time.monotonic() - begin:.2f} s after the first was opened; "
              f"{relay.memory() / 2**20:.1f} MiB", flush=True)
        if wait is None:
            sys.exit("some streams had no first event")
        relay.fix(BERLIN, sender)
        took = first_words(opened, b'"country":"DE"', 30)
        print("  the answer of a tick: " + (f"in all of them, {took:.2f} s after the fix (a tick every 10 s)" if took
                                            else "not in all"), flush=True)
        took = first_words(opened, b" " * 256, 15)
        print("  a tick without change: " + (f"its 512 bytes in all of them, {took:.2f} s after the one before" if took
                                             else "not in all"), flush=True)
        rate, latency, bad = load(relay, [sender], min(options.seconds, 10))
        print(f"  meanwhile: {rate:,.0f} posts/s, 99th percentile {latency}, {bad} not 2xx", flush=True)
        for connection in opened:
            connection.close()

    devices = "".join(f"[devices.d{place}]\n" for place in range(options.devices))
    interval = 60
    with Relay(HEAD % interval + devices) as relay:
        empty = relay.memory()
        relay.stop()
        tokens = tokens_of(relay, options.devices)
        relay.start()
        pinned(relay, 0)
        print(f"{options.devices:,} devices: {relay.memory() / 2**20:.1f} MiB at first, {empty / 2**20:.1f} before their tokens",
              flush=True)
        rate, latency, bad = load(relay, tokens, max(options.seconds, options.devices // 5000 + 5))
        print(f"  {rate:,.0f} posts/s, 99th percentile {latency}, {bad} not 2xx; {relay.memory() / 2**20:.1f} MiB", flush=True)
        time.sleep(interval + 5)
        print(f"  after their tick: {relay.memory() / 2**20:.1f} MiB", flush=True)
        if options.soak:
            soak(relay, tokens, options.soak)


def soak(relay, tokens, seconds):
    """Posts at a steady rate; twenty streams that are opened anew twice a minute; a grant that comes and goes."""
    memory, rates, bad, opened, end = [], [], 0, [], time.monotonic() + seconds
    reader = relay.token("read", "family")
    while time.monotonic() < end:
        relay.verb("grant", "family", "d1")
        for connection in opened:
            connection.close()
        opened = streams(relay, reader, 20, "d1")
        rate, _, refused = load(relay, tokens, 30, pause=PAUSE)
        if first_words(opened, b'"country":"DE"', 5) is None:
            sys.exit("some streams had no location")
        relay.verb("revoke", "family", "d1")
        memory.append(relay.memory())
        rates.append(rate)
        bad += refused
        if len(memory) % 10 == 1:
            print(f"  {len(memory) / 2:.0f} min: {memory[-1] / 2**20:.1f} MiB, {rate:,.0f} posts/s", flush=True)
    print(f"  a soak of {seconds} s at {min(rates):,.0f} to {max(rates):,.0f} posts/s, {bad} not 2xx: from "
          f"{memory[0] / 2**20:.1f} to {memory[-1] / 2**20:.1f} MiB, at most {max(memory) / 2**20:.1f}", flush=True)


if __name__ == "__main__":
    main()
