"""Clients that mean harm: the relay answers others while they try, and comes to no harm."""

import contextlib
import json
import random
import re
import socket
import threading
import time

from cases import case
from relay import CONFIGURATION, EL_PASO, JUAREZ, Relay, equal, free_port, holds, moment, region, wait

RESPONSIVE_SECONDS = 5  # for an answer, on a loaded machine


def dialed(relay, count):
    """Connections, as many as the relay and the system take."""
    connections = []
    for _ in range(count):
        try:
            connections.append(socket.create_connection(("127.0.0.1", relay.port), timeout=2))
        except OSError:
            break
    return connections


def responsive(relay, what):
    begin = time.monotonic()
    equal(relay.get("/healthz", seconds=RESPONSIVE_SECONDS).status, 204, f"healthz while {what}")
    return time.monotonic() - begin


@contextlib.contextmanager
def watched():
    """A relay with a device that moves, and a stream that must see it."""
    with Relay() as relay:
        send, read = relay.token("send", "phone"), relay.token("read", "family")
        relay.verb("grant", "family", "phone")
        relay.fix(EL_PASO, send)
        updates = relay.updates(read)
        updates.at(region(EL_PASO))

        def goes_on(what):
            responsive(relay, what)
            for position in (JUAREZ, EL_PASO):
                relay.fix(position, send)
                updates.at(region(position))

        yield relay, send, goes_on
        holds(relay.process.poll() is None, "the relay is still there")


def closed(connection, seconds):
    """Whether the other side closes within a time."""
    connection.settimeout(seconds)
    try:
        while connection.recv(65536):
            pass
        return True
    except TimeoutError:
        return False
    except OSError:
        return True


@case("tampering: bodies and headers a byte at a time", seconds=90)
def slow():
    with watched() as (relay, send, goes_on):
        head = f"POST /owntracks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {send}\r\n"
        bodies, headers, silent = dialed(relay, 60), dialed(relay, 60), dialed(relay, 60)
        for connection in bodies:
            connection.sendall(f"{head}Content-Length: 1000\r\n\r\n{{".encode())
        for connection in headers:
            connection.sendall(head.encode())
        end = time.monotonic() + 14
        while time.monotonic() < end:
            for connection in bodies + headers:
                with contextlib.suppress(OSError):
                    connection.send(b"a")
            time.sleep(1)
        goes_on("bodies are slow")
        for name, connections in {"slow bodies": bodies, "slow headers": headers}.items():
            open_ones = [connection for connection in connections if not closed(connection, 0.2)]
            equal(len(open_ones), 0, f"{name} that are still open after 14 s")
        for connection in bodies + headers + silent:
            connection.close()


@case("tampering: endless bodies", seconds=90)
def endless():
    with watched() as (relay, send, goes_on):
        before = relay.memory()
        for token in (send, "A" * 22):
            with socket.create_connection(("127.0.0.1", relay.port), timeout=5) as connection:
                connection.sendall(f"POST /owntracks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
                                   "Transfer-Encoding: chunked\r\n\r\n".encode())
                chunk = b"10000\r\n" + b"A" * 65536 + b"\r\n"
                sent, answer = 0, b""
                with contextlib.suppress(OSError):
                    while sent < 256 << 20:
                        connection.sendall(chunk)
                        sent += len(chunk)
                        connection.settimeout(0.001)
                        with contextlib.suppress(TimeoutError):
                            piece = connection.recv(4096)
                            answer += piece
                            if not piece:
                                break
                        connection.settimeout(5)
                holds(sent < 256 << 20, f"it took {sent >> 20} MiB of one body")
            goes_on("a body is endless")
        holds(relay.memory() - before < 32 << 20, f"memory grew by {(relay.memory() - before) >> 20} MiB")


@case("tampering: three hundred bodies of one sender that do not end", seconds=90)
def open_bodies():
    with watched() as (relay, send, goes_on):
        before, connections = relay.memory(), []
        head = (f"POST /owntracks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {send}\r\n"
                f"Content-Length: {2 << 20}\r\n\r\n").encode()
        for _ in range(300):
            connection = socket.create_connection(("127.0.0.1", relay.port), timeout=5)
            with contextlib.suppress(OSError):
                connection.sendall(head + b" " * ((2 << 20) - 1))
            connections.append(connection)
        holds(relay.memory() - before < 64 << 20, f"memory grew by {(relay.memory() - before) >> 20} MiB")
        responsive(relay, "bodies are open")
        for connection in connections:
            connection.close()
        goes_on("they are gone")


@case("tampering: more connections than there may be, half-open and closed in the middle", seconds=120)
def many():
    import resource
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    with watched() as (relay, send, goes_on):
        before = relay.memory()
        connections = dialed(relay, 900)
        equal(len(connections), 900, "connections")
        goes_on("900 connections are silent")
        connections += dialed(relay, 1600)
        time.sleep(1)
        for connection in connections:
            connection.close()
        wait(lambda: responsive(relay, "2,500 connections were there") < 2, "it answers", 30)
        goes_on("they are gone")
        for _ in range(300):
            with socket.create_connection(("127.0.0.1", relay.port), timeout=5) as connection:
                connection.sendall(f"POST /owntracks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {send}\r\n"
                                   "Content-Length: 100\r\n\r\n{".encode())
                # A reset in place of an end.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        goes_on("connections are reset")
        holds(relay.memory() - before < 64 << 20, f"memory grew by {(relay.memory() - before) >> 20} MiB")


@case("tampering: streams that are not read", seconds=120)
def unread():
    with Relay() as relay:
        send, read = relay.token("send", "phone"), relay.token("read", "family")
        relay.verb("grant", "family", "phone")
        updates = relay.updates(read)
        idle = []
        for _ in range(50):
            connection = socket.create_connection(("127.0.0.1", relay.port), timeout=5)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            connection.sendall(f"GET /v1/devices/phone/updates HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {read}\r\n\r\n"
                               .encode())
            idle.append(connection)
        before = relay.memory()
        for index in range(8):
            position = (EL_PASO, JUAREZ)[index % 2]
            relay.fix(position, send)
            updates.at(region(position))
        holds(relay.memory() - before < 16 << 20, "memory does not grow")
        for connection in idle:
            connection.close()


def header_bombs(send):
    """Requests that are too large in some way."""
    authorized = f"Authorization: Bearer {send}\r\n".encode()
    yield "a header of 4 MiB", b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + b"A" * (4 << 20) + b"\r\n\r\n"
    yield "100,000 headers", b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 100_000 + b"\r\n"
    yield "a path of 1 MiB", b"GET /" + b"a" * (1 << 20) + b" HTTP/1.1\r\nHost: x\r\n\r\n"
    yield "a query of 1 MiB", b"GET /osmand?id=" + b"a" * (1 << 20) + b" HTTP/1.1\r\nHost: x\r\n\r\n"
    yield "a method of 1 MiB", b"A" * (1 << 20) + b" / HTTP/1.1\r\nHost: x\r\n\r\n"
    yield "a token of 1 MiB", b"GET /v1/devices HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + b"a" * (1 << 20) + b"\r\n\r\n"
    yield "a chunk's extension of 1 MiB", (b"POST /owntracks HTTP/1.1\r\nHost: x\r\n" + authorized
                                           + b"Transfer-Encoding: chunked\r\n\r\n1;" + b"a" * (1 << 20) + b"\r\n{\r\n0\r\n\r\n")
    yield "trailers of 4 MiB", (b"POST /owntracks HTTP/1.1\r\nHost: x\r\n" + authorized
                                + b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"X: " + b"a" * (4 << 20) + b"\r\n\r\n")


@case("tampering: header bombs", seconds=90)
def bombs():
    with watched() as (relay, send, goes_on):
        before = relay.memory()
        for what, request in header_bombs(send):
            begin = time.monotonic()
            with contextlib.suppress(OSError):
                relay.raw(request, seconds=3)
            holds(time.monotonic() - begin < 30, what)
            responsive(relay, what)
        goes_on("headers are large")
        holds(relay.memory() - before < 64 << 20, f"memory grew by {(relay.memory() - before) >> 20} MiB")


def smuggled(send):
    """Requests whose end two readers may see in two places; the second part asks for /healthz, which answers 204."""
    hidden = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    head = b"POST /owntracks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + send.encode() + b"\r\n"
    chunks = b"0\r\n\r\n"
    long = str(len(chunks + hidden)).encode()
    for name, headers in {
        "both lengths": b"Content-Length: " + long + b"\r\nTransfer-Encoding: chunked\r\n",
        "both, the other way round": b"Transfer-Encoding: chunked\r\nContent-Length: " + long + b"\r\n",
        "two lengths": b"Content-Length: 5\r\nContent-Length: " + long + b"\r\n",
        "a list of lengths": b"Content-Length: 5, " + long + b"\r\n",
        "a length with a sign": b"Content-Length: +5\r\n",
        "a length in hexadecimal": b"Content-Length: 0x5\r\n",
        "a negative length": b"Content-Length: -5\r\n",
        "a length beyond 64 bits": b"Content-Length: 18446744073709551621\r\n",
        "an unknown encoding": b"Transfer-Encoding: xchunked\r\nContent-Length: " + long + b"\r\n",
        "chunked is not last": b"Transfer-Encoding: chunked, identity\r\nContent-Length: " + long + b"\r\n",
        "two encodings": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\nContent-Length: " + long + b"\r\n",
        "a blank before the colon": b"Transfer-Encoding : chunked\r\nContent-Length: " + long + b"\r\n",
        "a folded line": b"Transfer-Encoding:\r\n chunked\r\nContent-Length: " + long + b"\r\n",
        "a tab before the value": b"Transfer-Encoding:\x0bchunked\r\nContent-Length: " + long + b"\r\n",
        "a null": b"Transfer-Encoding: chunked\0\r\nContent-Length: " + long + b"\r\n",
    }.items():
        yield name, head + headers + b"\r\n" + chunks + hidden


@case("tampering: requests that end in two places")
def smuggling():
    with watched() as (relay, send, goes_on):
        for name, request in smuggled(send):
            answers = re.findall(rb"HTTP/1\.1 (\d{3})", relay.raw(request, seconds=2))
            # Refused, or the hidden part is body; never a second answer.
            holds(b"204" not in answers, f"{name}: the hidden request was answered ({answers})")
            holds(len(answers) <= 2, f"{name}: {len(answers)} answers")
        goes_on("requests are smuggled")


@case("tampering: pipelining")
def pipelining():
    with watched() as (relay, send, goes_on):
        body = json.dumps({"_type": "lwt", "tst": 1}).encode()
        post = (f"POST /owntracks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {send}\r\n"
                f"Content-Length: {len(body)}\r\n\r\n").encode() + body
        count = 200
        last = b"GET /v1/devices HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        answer = relay.raw((post + b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n") * count + last)
        equal(re.findall(rb"HTTP/1\.1 (\d{3})", answer), [b"200", b"204"] * count + [b"401"], "the answers, in order")
        goes_on("requests are pipelined")
        # A flood whose answers are not read.
        with socket.create_connection(("127.0.0.1", relay.port), timeout=1) as connection:
            before, sent = relay.memory(), 0
            with contextlib.suppress(OSError):
                while sent < 64 << 20:
                    sent += connection.send(post * 200)
            holds(relay.memory() - before < 32 << 20, f"memory grew by {(relay.memory() - before) >> 20} MiB")
            responsive(relay, "answers are not read")
        goes_on("answers were not read")


@case("tampering: noise")
def noise():
    chance = random.Random(7)
    with watched() as (relay, send, goes_on):
        pieces = [
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + chance.randbytes(500),  # TLS, in clear
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0", b"GET /\r\n\r\n", b"\r\n" * 10_000, b"\0" * 100_000,
            b"GET / HTTP/9.9\r\n\r\n", b"GET http://other.example/ HTTP/1.1\r\nHost: x\r\n\r\n",
            b"CONNECT other.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", b"GET * HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET /v1/devices/%00%ff%2e%2e%2f HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
            b"POST /owntracks HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n",
        ] + [chance.randbytes(chance.randrange(1, 5000)) for _ in range(30)]
        threads = [threading.Thread(target=relay.raw, args=(piece, 1.5)) for piece in pieces]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        holds(b"root:" not in relay.raw(b"GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n", 1), "no file is served")
        goes_on("there is noise")


@case("tampering: a gpsd port")
def gpsd_port():
    port = free_port()
    chance = random.Random(8)
    gpsd = f'\n[[consumers.family.gpsd]]\ndevice = "phone"\nlisten = "127.0.0.1:{port}"\n'
    with Relay(CONFIGURATION + gpsd) as relay:
        relay.verb("grant", "family", "phone")
        pieces = [b"A" * (1 << 20), b"?" * 5000 + b"\n", b"?WATCH=" + b"{" * 1000 + b"\n", b"\0" * 1000, b"?POLL;\n" * 5000,
                  chance.randbytes(5000), b'?WATCH={"enable":true,"json":true,"x":"' + b"A" * 5000 + b'"}\n',
                  b"GET / HTTP/1.1\r\n\r\n", b'!=1\n$GPRMC,\n?DEVICE={"path":"/etc/passwd"}\n']
        for piece in pieces:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
                connection.sendall(piece)
                connection.settimeout(0.3)
                connection.recv(65536)
        idle = [socket.create_connection(("127.0.0.1", port), timeout=2) for _ in range(200)]
        responsive(relay, "the gpsd port is full")
        for connection in idle:
            connection.close()

        def greets():
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
                return b"VERSION" in connection.recv(4096)

        wait(greets, "it greets the next one")
        holds(relay.memory() < 256 << 20, "memory")


@case("tampering: the clock of a sender")
def clocks():
    with watched() as (relay, send, goes_on):
        for at in (0, 1, 2**31, 2**63 - 1, -1, moment() + 3600, moment() - 86400):
            relay.fix(JUAREZ, send, at=at)
        time.sleep(1.5)
        goes_on("its clock is wrong")
