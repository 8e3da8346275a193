"""The phones' retry queues, played by aiohttp: a phone repeats its oldest message until it is answered 2xx."""

import asyncio
import json
import random

from cases import case
from relay import EL_PASO, JUAREZ, LAS_CRUCES, Relay, basic, equal, holds, moment, region

UNUSABLE = 1000
ATTEMPTS = 3

OWNTRACKS = [
    b"", b"{", b"[]", b"null", b'"text"', b"\xff\xfe", b'{"_type":"location"}', b'{"_type":"location","lat":"x","lon":1,"tst":1}',
    b'{"_type":"location","lat":91,"lon":1,"tst":1700000000}', b'{"_type":"location","lat":1,"lon":2}',
    b'{"_type":"location","lat":1,"lon":2,"tst":1}', b'{"_type":"location","lat":1,"lon":2,"tst":1700000000}',
    b'{"_type":"location","lat":1,"lon":2,"tst":4102444800}', b'{"_type":"location","lat":1,"lat":2,"lon":2,"tst":1700000000}',
    b'{"_type":"encrypted","data":"AAAA"}', b'{"_type":"lwt","tst":1700000000}', b'{"_type":"transition","event":"enter"}',
    b'{"_type":"waypoints","waypoints":[]}', b'{"lat":1,"lon":2}', b'{"a":' * 17 + b"1" + b"}" * 17,
    b'{"_type":"location","lat":1e999,"lon":2,"tst":1700000000}', b'{"_type":"beacon"}', b'{"_type":"card","face":"' + b"A" * 100000 + b'"}',
]
OVERLAND = [
    b"", b"{", b"{}", b'{"locations":[]}', b'{"locations":{}}', b'{"locations":[1,null,"x"]}', b'{"locations":[{}]}',
    b'{"locations":[' + b",".join([b"{}"] * 1001) + b"]}",
    b'{"locations":[{"type":"Feature","geometry":{"type":"Point","coordinates":[]},"properties":{}}]}',
    b'{"locations":[{"type":"Feature","geometry":{"type":"Point","coordinates":[2,1]},"properties":{"timestamp":"yesterday"}}]}',
    b'{"locations":[{"type":"Feature","geometry":{"type":"Point","coordinates":[2,1]},'
    b'"properties":{"timestamp":"2026-01-01T00:00:00Z","horizontal_accuracy":-1}}]}',
]
OSMAND = [
    b"", b"lat=1", b"lat=x&lon=y", b"lat=1&lon=2&timestamp=never", b"lat=100&lon=200", b"valid=false&lat=1&lon=2",
    b"lat=1&lat=2&lon=2", b"location=1", b"lat=%zz&lon=%", b"&&&&", b"a=1&" * 101, b'{"device_id":"x"}',
    b'{"location":{"coords":{}}}', b"lat=1&lon=2&timestamp=0", b"lat=1&lon=2&timestamp=99999999999999999999",
]


async def drained(session, address, headers, messages):
    """Plays one phone's queue. Gives how many messages had to be repeated."""
    repeated = 0
    for message in messages:
        for attempt in range(ATTEMPTS):
            async with session.post(address, data=message, headers=headers) as response:
                await response.read()
                if 200 <= response.status < 300:
                    break
            repeated += 1
            await asyncio.sleep(0.1)
        else:
            return None
    return repeated


def play(relay, queues):
    """Plays phones at once: (path, header, messages) each."""
    import aiohttp

    async def all_of_them():
        timeout = aiohttp.ClientTimeout(total=60)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            return await asyncio.gather(*(
                drained(session, f"http://127.0.0.1:{relay.port}{path}", {"Authorization": header}, messages)
                for path, header, messages in queues))

    return asyncio.run(all_of_them())


@case("queues: 1,000 unusable messages drain in each dialect", needs=["aiohttp"], seconds=120)
def unusable():
    chance = random.Random(1)
    with Relay() as relay:
        token = relay.token("send", "phone")
        queues = [
            ("/owntracks", basic("anna", token), [chance.choice(OWNTRACKS) for _ in range(UNUSABLE)]),
            ("/overland", f"Bearer {token}", [chance.choice(OVERLAND) for _ in range(UNUSABLE)]),
            ("/osmand", f"Bearer {token}", [chance.choice(OSMAND) for _ in range(UNUSABLE)]),
            ("/", f"Bearer {token}", [chance.choice(OWNTRACKS + OVERLAND + OSMAND) for _ in range(UNUSABLE)]),
        ]
        equal(play(relay, queues), [0, 0, 0, 0], "messages that were repeated (None: a queue that is stuck)")


@case("queues: good messages between unusable ones arrive", needs=["aiohttp"], seconds=120)
def mixed():
    chance = random.Random(2)
    with Relay() as relay:
        token, read = relay.token("send", "phone"), relay.token("read", "family")
        relay.verb("grant", "family", "phone")
        updates = relay.updates(read)
        for position in (EL_PASO, JUAREZ, LAS_CRUCES):
            good = json.dumps({"_type": "location", "lat": position[0], "lon": position[1], "tst": moment() + 5}).encode()
            messages = [chance.choice(OWNTRACKS) for _ in range(200)]
            messages.insert(chance.randrange(201), good)
            equal(play(relay, [("/owntracks", basic("anna", token), messages)]), [0], "messages that were repeated")
            updates.at(region(position))
        holds(relay.process.poll() is None, "the relay is still there")


@case("queues: a body beyond 2 MiB is answered, and the queue goes on", needs=["aiohttp"])
def large():
    with Relay() as relay:
        token = relay.token("send", "phone")
        body = b'{"_type":"location","x":"' + b"A" * (2 << 20) + b'"}'
        equal(play(relay, [("/owntracks", basic("anna", token), [body, b"", body, b"{"])]), [0],
              "messages that were repeated (None: a queue that is stuck)")
