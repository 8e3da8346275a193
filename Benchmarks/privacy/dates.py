"""Dates and names: whether `--date-shift` hides when, and whether another name hides who.

The observer knows the calendar of the country: workdays, holidays, the change of the clock; and for names, what a person's output
looked like before. It sees answers alone.
"""

import os
import tempfile

import numpy as np

import common

DAYS = (30, 90, 180)
COMMUTERS, NAMED = 300, 1_000
CITIES = {"Europe": ("Vienna", 48.2082, 16.3738), "US": ("Chicago", 41.8781, -87.6298)}
AROUND = 40_000  # meters: the named live within it of the city
FIRST, LAST = np.datetime64("2024-01-01"), np.datetime64("2027-12-31")
QUARTER = 900
SICK, WEEKEND_WORK, HOME_OFFICE = 0.03, 0.02, 0.15


def easter(year):
    """Easter Sunday, by the anonymous Gregorian computation."""
    a, b, c = year % 19, year // 100, year % 100
    d, e = b // 4, b % 4
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = c // 4, c % 4
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    month, day = divmod(h + m - 7 * n + 114, 31)
    return np.datetime64(f"{year}-{month:02}-{day + 1:02}")


def weekday(days):
    """0 for Monday."""
    return (days.astype("datetime64[D]").astype(int) + 3) % 7


def nth(year, month, day, number):
    """The so-manieth weekday of a month; from its end if negative."""
    first = np.datetime64(f"{year}-{month:02}")
    days = np.arange(first.astype("datetime64[D]"), (first + 1).astype("datetime64[D]"))
    return days[weekday(days) == day][number - (number > 0)]


def calendar(area):
    """The days from FIRST to LAST, whether each is a workday, and the hours that the local clock is ahead of UTC in summer."""
    days = np.arange(FIRST, LAST + 1)
    off, summer = set(), np.zeros(len(days), bool)
    for year in range(2024, 2028):
        if area == "Europe":  # Austria's
            off.update(np.datetime64(f"{year}-{day}") for day in ("01-01", "01-06", "05-01", "08-15", "10-26", "11-01", "12-08", "12-25", "12-26"))
            off.update(easter(year) + offset for offset in (1, 39, 50, 60))
            begin, end = nth(year, 3, 6, -1), nth(year, 10, 6, -1)
        else:  # federal ones that most employers keep
            off.update(np.datetime64(f"{year}-{day}") for day in ("01-01", "07-04", "12-25"))
            off.update((nth(year, 5, 0, -1), nth(year, 9, 0, 1), nth(year, 11, 3, 4)))
            begin, end = nth(year, 3, 6, 2), nth(year, 11, 6, 1)
        summer |= (days >= begin) & (days < end)
    return days, (weekday(days) < 5) & ~np.isin(days, list(off)), summer


def commuter(random, days, workday, summer):
    """Of one person, the quarters of an hour (UTC, from the first day on) at which work begins and ends; nan on a day without."""
    begin = random.normal(8, 0.6) * 4
    length = random.normal(8.5, 0.7) * 4
    goes = np.where(workday, random.random(len(days)) > SICK + HOME_OFFICE, random.random(len(days)) < WEEKEND_WORK)
    weeks = (days - days[0]).astype(int) // 7
    holidays = random.choice(np.arange(0, 53), 5, replace=False)
    goes &= ~np.isin(weeks % 53, holidays) | ~workday
    start = begin - 4 * summer + random.normal(0, 0.8, len(days))
    return np.where(goes, start, np.nan), np.where(goes, start + length + random.normal(0, 1.2, len(days)), np.nan)


def key_file(random):
    handle, path = tempfile.mkstemp()
    os.write(handle, random.bytes(32))
    os.close(handle)
    return path


def find_dates(atlas, area):
    """The share of commuters whose first day is found, by the days that are seen."""
    random, people = np.random.default_rng(common.SEED), common.People(area)
    days, workday, summer = calendar(area)
    length = max(DAYS)
    latitude, longitude = people.homes(random, COMMUTERS)
    bearing = random.uniform(0, 2 * np.pi, COMMUTERS)
    there = [common.Plane(a, b).degrees(12_000 * np.cos(c), 12_000 * np.sin(c)) for a, b, c in zip(latitude, longitude, bearing)]
    first = random.integers(366, 366 + 365, COMMUTERS)
    table, quarters = [], np.arange(96 * length)
    for person in range(COMMUTERS):
        own = slice(first[person], first[person] + length)
        start, end = commuter(random, days[own], workday[own], summer[own])
        of_day = quarters % 96
        at_work = (of_day >= start[quarters // 96]) & (of_day < end[quarters // 96])
        seconds = days[first[person]].astype("datetime64[s]").astype(np.int64) + quarters * QUARTER - 60
        table.append((np.full(len(quarters), person), seconds, np.where(at_work, there[person][0], latitude[person]),
                      np.where(at_work, there[person][1], longitude[person])))  # fmt: skip
    path = key_file(random)
    text = common.fixes(*(np.concatenate(column) for column in zip(*table)))
    answers = atlas.convert(text, "--date-shift", path)
    os.unlink(path)
    found = {number: [] for number in DAYS}
    for person, rows in answers.items():
        seconds, region = np.array(rows).T
        shown = (seconds[0] // 86_400).astype(int)
        state = np.full(96 * length, -1)
        index = np.minimum(seconds // QUARTER - shown * 96, 96 * length - 1)
        for begin, stands in zip(index, region):
            state[begin:] = stands
        if len(set(state)) < 2:
            continue
        for number in DAYS:
            seen = state[: 96 * number].reshape(number, 96)
            true = first[int(person)]
            found[number].append(guess_first_day(seen, days, workday, summer) == true)
    return {f"true dates found from {number} days, %": round(100 * float(np.mean(found[number]))) for number in DAYS}


def guess_first_day(seen, days, workday, summer):
    """The day on which what is seen began, by its index. All days are tried that may be for a shift of up to a year."""
    home = np.bincount(seen[seen >= 0].ravel()).argmax()
    away = seen != home
    goes = away.any(1)
    begins = np.where(goes, away.argmax(1), np.nan)
    candidates = np.arange(0, len(days) - len(seen))
    window = candidates[:, None] + np.arange(len(seen))
    works = workday[window]
    rate = min(max(goes.mean() * 7 / 5, 0.3), 0.95)
    score = np.where(goes, np.where(works, np.log(rate), np.log(WEEKEND_WORK)), np.where(works, np.log(1 - rate), np.log(1 - WEEKEND_WORK))).sum(1)
    local = begins + 4 * summer[window]
    local = local - np.nanmedian(local, axis=1, keepdims=True)
    score = score - np.nansum(np.minimum(np.abs(local), 6), axis=1) / 1.0
    return candidates[score.argmax()]


def habits(random, people, latitude, longitude):
    """Places that a person is at, and how often a week beyond home and work: (latitude, longitude, visits)."""
    plane = common.Plane(latitude, longitude)
    places = [(latitude, longitude, 0)]
    for scale, visits in ((11_000, 0), (3_000, 3), (5_000, 1.5), (8_000, 0.8)):
        away, bearing = random.exponential(scale), random.uniform(0, 2 * np.pi)
        places.append((*plane.degrees(away * np.cos(bearing), away * np.sin(bearing)), visits))
    return plane, places


def fortnight(random, plane, places, workdays):
    """Positions at each quarter of an hour of 14 days."""
    latitude, longitude = np.full(14 * 96, places[0][0]), np.full(14 * 96, places[0][1])
    for day in range(14):
        if workdays[day] and random.random() < 1 - SICK - HOME_OFFICE:
            own = slice(day * 96 + int(random.normal(32, 2)), day * 96 + int(random.normal(66, 3)))
            latitude[own], longitude[own] = places[1][:2]
        for a, b, visits in places[2:]:
            if random.random() < visits / 7:
                begin = day * 96 + int(random.uniform(68, 82))
                latitude[begin : begin + 6], longitude[begin : begin + 6] = a, b
        if random.random() < 0.25:
            away, bearing = random.exponential(15_000), random.uniform(0, 2 * np.pi)
            begin = day * 96 + int(random.uniform(40, 80))
            latitude[begin : begin + 8], longitude[begin : begin + 8] = plane.degrees(away * np.cos(bearing), away * np.sin(bearing))
    return latitude, longitude


def match_names(atlas, area):
    """The share of people whose output of two weeks is matched to theirs of two weeks before, among all."""
    random, people = np.random.default_rng(common.SEED), common.People(area)
    name, *city = CITIES[area]
    near = np.flatnonzero(common.distance(people.latitude, people.longitude, *city) < AROUND)
    cells = random.choice(near, NAMED, p=people.residents[near] / people.residents[near].sum())
    profiles = []
    lives = [habits(random, people, a, b) for a, b in zip(*people.within(random, cells))]
    for begin in (np.datetime64("2026-03-02"), np.datetime64("2026-04-13")):
        days = begin + np.arange(14)
        seconds = begin.astype("datetime64[s]").astype(np.int64) + np.arange(14 * 96) * QUARTER - 60
        table = [(np.full(14 * 96, person), seconds, *fortnight(random, *life, weekday(days) < 5)) for person, life in enumerate(lives)]
        ids, shifts = key_file(random), key_file(random)
        text = common.fixes(*(np.concatenate(column) for column in zip(*table)))
        answers = atlas.convert(text, "--date-shift", shifts, "--rename-ids", ids)
        # To know which is whose: without another name.
        true = atlas.convert(text)
        os.unlink(ids), os.unlink(shifts)
        profiles.append(profile(answers, true, begin))
    one, two = profiles
    regions = sorted({key for person in one + two for key in person})
    index = {key: number for number, key in enumerate(regions)}
    weights = np.zeros((2, NAMED, len(regions)), np.float32)
    for period in (0, 1):
        for person, seen in enumerate(profiles[period]):
            for key, times in seen.items():
                weights[period, person, index[key]] = np.sqrt(times)
    rare = np.log(NAMED / np.maximum(1, (weights[0] > 0).sum(0)) + 1)
    weights *= rare
    weights /= np.maximum(np.linalg.norm(weights, axis=2, keepdims=True), 1e-9)
    best = (weights[1] @ weights[0].T).argmax(1)
    return {f"of {NAMED:,} around {name}, matched to their output before, %": round(100 * float((best == np.arange(NAMED)).mean()), 1)}


def profile(answers, true, begin):
    """For each person, in the order of `true`, how many quarters of an hour each region stood by night and by day. Names and dates
    are those of the output; `true` only tells whose it is: their answers are alike but for the day."""
    key = lambda rows: tuple((time % 86_400, region) for time, region in rows)
    whose = {}
    for person, rows in true.items():
        whose.setdefault(key(rows), []).append(int(person))
    found = [{} for _ in range(NAMED)]
    for rows in answers.values():
        person = whose[key(rows)].pop()
        times = [time for time, _ in rows] + [rows[0][0] // 86_400 * 86_400 + 14 * 86_400]
        for (time, region), end in zip(rows, times[1:]):
            for quarter in range(time // QUARTER, end // QUARTER):
                part = 0 if quarter % 96 < 28 or quarter % 96 > 84 else 1
                found[person][(region, part)] = found[person].get((region, part), 0) + 1
    return found


def run(atlas, area):
    return {**find_dates(atlas, area), **match_names(atlas, area)}
