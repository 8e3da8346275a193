"""Recordings in NMEA 0183 for gpsfake: a fix a second, as RMC and GGA."""

import time


def sentence(body):
    checksum = 0
    for character in body:
        checksum ^= ord(character)
    return f"${body}*{checksum:02X}\r\n"


def angle(degrees, width, letters):
    minutes = round(abs(degrees) * 60, 4)
    return f"{int(minutes // 60):0{width}d}{minutes % 60:07.4f},{letters[degrees < 0]}"


def log(positions, begin):
    """The text of a recording.

    positions: latitude and longitude in degrees, one for each second.
    begin: the time of the first, in seconds since 1970.
    """
    text = ""
    for index, (latitude, longitude) in enumerate(positions):
        at = time.gmtime(begin + index)
        clock = time.strftime("%H%M%S.00", at)
        place = f"{angle(latitude, 2, 'NS')},{angle(longitude, 3, 'EW')}"
        text += sentence(f"GPRMC,{clock},A,{place},0.5,90.0,{time.strftime('%d%m%y', at)},,,A")
        text += sentence(f"GPGGA,{clock},{place},1,08,1.0,1140.0,M,-22.0,M,,")
    return text
