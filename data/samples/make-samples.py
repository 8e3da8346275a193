#!/usr/bin/env python3
"""Writes i10-el-paso.gpx, juarez.gpx and border-drives.csv into the folder of this script.

The courses are real roads; times, speeds, stops, names, heights and receiver errors are simulated. README.md says
where the coordinates come from. Standard library only. The seed is fixed, so a second run writes the same bytes.
"""

import datetime
import math
import pathlib
import random

START = datetime.datetime(2026, 5, 9, 14, 0, 0, tzinfo=datetime.timezone.utc)
SEED = 20260509

# Degrees; the speed (mph) holds from a point to the next one.
I10 = [
    (32.289636, -106.790199, 62),  # exit 140, Las Cruces, New Mexico
    (32.279368, -106.765695, 66),
    (32.258830, -106.730547, 74),
    (32.174123, -106.669950, 75),
    (32.125871, -106.639180, 75),
    (32.056063, -106.602359, 74),
    (32.024560, -106.588068, 70),
    (32.000652, -106.582660, 68),  # New Mexico / Texas
    (31.997508, -106.582763, 68),  # exit 0, Anthony
    (31.957715, -106.582784, 67),
    (31.908415, -106.582816, 65),
    (31.883129, -106.581963, 62),
    (31.863558, -106.577146, 60),
    (31.839430, -106.570376, 60),
    (31.824172, -106.558499, 59),
    (31.815169, -106.549584, 58),
    (31.810260, -106.544123, 58),
    (31.807816, -106.524097, 56),
    (31.793086, -106.519865, 56),
    (31.766267, -106.507859, 54),  # exit 18A, opposite Juárez
    (31.759827, -106.502435, 52),
    (31.762723, -106.490591, 50),  # exit 19A, downtown El Paso
    (31.765163, -106.483880, 50),
    (31.771849, -106.473484, 52),
    (31.778147, -106.461505, 54),
    (31.778042, -106.450868, 55),
    (31.777495, -106.442419, 55),
    (31.777432, -106.432860, 55),
    (31.777609, -106.422082, 56),
    (31.780145, -106.417324, 57),
    (31.781604, -106.407013, 58),
    (31.778571, -106.392604, 60),
    (31.771489, -106.377252, 60),
    (31.764375, -106.364323, 60),
    (31.759001, -106.355627, 60),
    (31.752620, -106.345322, 60),
    (31.744318, -106.331917, 61),
    (31.739755, -106.324842, 62),
    (31.720524, -106.304784, 64),
    (31.701512, -106.284432, 66),
    (31.685975, -106.266954, 68),
    (31.659728, -106.239869, 72),
    (31.600173, -106.193665, 74),
    (31.519431, -106.131148, 75),  # exit 49, Fabens
    (31.464959, -106.052629, 76),
    (31.436573, -106.022058, 76),
    (31.380790, -105.923781, 78),
    (31.343856, -105.891874, 78),
    (31.304135, -105.839893, 78),  # exit 72, Fort Hancock
    (31.276918, -105.798694, 79),
    (31.236999, -105.786436, 79),
    (31.203763, -105.743929, 79),
    (31.176045, -105.697043, 79),
    (31.171552, -105.656392, 79),
    (31.197165, -105.590651, 78),
    (31.193397, -105.530269, 78),
    (31.216995, -105.482333, 78),
    (31.197009, -105.447330, 78),
    (31.179079, -105.376992, 76),
    (31.173378, -105.358082, 76),  # exit 107, Sierra Blanca
    (31.169545, -105.337987, 79),
    (31.088792, -105.050969, 80),
    (31.071108, -105.005018, 80),
    (31.054318, -104.952843, 79),
    (31.036163, -104.861825, 74),
    (31.036834, -104.830867, 60),
    (31.039854, -104.817338, 0),  # exit 140B, Van Horn, Texas
]

# The line 130 m inside Mexico along the river, from near Anapra to the Zaragoza bridge: where the river road runs.
RIVER_ROAD = [
    (31.77705, -106.52578), (31.77535, -106.52455), (31.77284, -106.52171), (31.77057, -106.51782),
    (31.77037, -106.51526), (31.76896, -106.51388), (31.76776, -106.51330), (31.76233, -106.51220),
    (31.76095, -106.51154), (31.76018, -106.51075), (31.75981, -106.50980), (31.75995, -106.50752),
    (31.75984, -106.50716), (31.75737, -106.50445), (31.75609, -106.50226), (31.75519, -106.50153),
    (31.75450, -106.50067), (31.75275, -106.49710), (31.75104, -106.49571), (31.75031, -106.49451),
    (31.74966, -106.49386), (31.74779, -106.49105), (31.74691, -106.48901), (31.74652, -106.48676),
    (31.74663, -106.48445), (31.74907, -106.47366), (31.74952, -106.47238), (31.75046, -106.47085),
    (31.75163, -106.46975), (31.75290, -106.46908), (31.75684, -106.46780), (31.75778, -106.46718),
    (31.75864, -106.46618), (31.75926, -106.46492), (31.76309, -106.45483), (31.76336, -106.45367),
    (31.76335, -106.45214), (31.76273, -106.45028), (31.75571, -106.43905), (31.75400, -106.43559),
    (31.75351, -106.43424), (31.75285, -106.43145), (31.75168, -106.42170), (31.75062, -106.41815),
    (31.74932, -106.41518), (31.74764, -106.41243), (31.74578, -106.40845), (31.74308, -106.40419),
    (31.74217, -106.40211), (31.74017, -106.39842), (31.73817, -106.39536), (31.73662, -106.39173),
    (31.73494, -106.38858), (31.73394, -106.38715), (31.73306, -106.38508), (31.73177, -106.38291),
    (31.73002, -106.38074), (31.72742, -106.37915), (31.71466, -106.37539), (31.71340, -106.37472),
    (31.71180, -106.37344), (31.70937, -106.37042), (31.70350, -106.36146), (31.70183, -106.35863),
    (31.69781, -106.35269), (31.69606, -106.35073), (31.69232, -106.34880), (31.66413, -106.33633),
]

JUAREZ = [
    (30.996832, -106.490650, 66),  # Mexico 45, desert south of Samalayuca
    (31.026551, -106.499190, 68),
    (31.080357, -106.481209, 68),
    (31.115506, -106.494534, 68),
    (31.187500, -106.507645, 68),
    (31.281045, -106.509297, 65),
    (31.290672, -106.503321, 62),
    (31.312618, -106.489470, 50),  # Samalayuca
    (31.320831, -106.477089, 45),
    (31.340498, -106.470834, 50),
    (31.363894, -106.468120, 62),
    (31.402220, -106.461039, 65),
    (31.450506, -106.466510, 62),
    (31.530848, -106.473913, 55),
    (31.595909, -106.456887, 42),
    (31.606907, -106.451951, 38),  # Mexico 2, westwards
    (31.607743, -106.474273, 40),  # Periférico Camino Real
    (31.629857, -106.483741, 42),
    (31.637441, -106.473905, 42),
    (31.654712, -106.478470, 44),
    (31.667107, -106.497602, 44),
    (31.675270, -106.498332, 42),
    (31.682985, -106.500462, 42),
    (31.684565, -106.499748, 42),
    (31.705154, -106.515989, 44),
    (31.712625, -106.525143, 44),
    (31.717303, -106.536773, 44),
    (31.736391, -106.549688, 40),
    (31.758048, -106.547813, 34),  # Avenida 16 de Septiembre
    (31.769004, -106.540024, 26),  # Anapra
    *((latitude, longitude, 30) for latitude, longitude in RIVER_ROAD),
    (31.660149, -106.333441, 32),  # Bulevar Independencia
    (31.652861, -106.342174, 34),
    (31.644109, -106.346760, 38),  # Mexico 2, south-eastwards
    (31.624060, -106.327851, 46),
    (31.536106, -106.268553, 52),
    (31.505523, -106.251580, 54),
    (31.460590, -106.208224, 52),
    (31.429139, -106.158249, 40),
    (31.422969, -106.152488, 44),
    (31.406176, -106.136298, 45),
    (31.398557, -106.109262, 36),
    (31.389619, -106.109862, 48),
    (31.376466, -106.049566, 48),
    (31.372940, -106.008582, 45),
    (31.367855, -105.999913, 45),
    (31.355872, -106.003947, 52),
    (31.288142, -105.903912, 54),
    (31.272022, -105.883484, 48),
    (31.254854, -105.879107, 40),
    (31.241144, -105.876170, 0),  # El Porvenir
]

# Heights of towns above the sea (m), rounded: heights along a course are drawn between them.
I10_HEIGHTS = [((32.2896, -106.7902), 1190), ((31.9975, -106.5828), 1160), ((31.8394, -106.5704), 1185),
               ((31.7627, -106.4906), 1145), ((31.7444, -106.3319), 1125), ((31.5194, -106.1311), 1110)]
JUAREZ_HEIGHTS = [((31.6069, -106.4520), 1210), ((31.7364, -106.5497), 1250), ((31.7466, -106.4845), 1135),
                  ((31.6601, -106.3334), 1115)]

METERS_PER_SECOND = 0.44704  # in one mile per hour
STEP = 10.0  # m between the points of a course
BEND = 1200.0  # m from a given point within which the road may bend; farther away it runs straight
ACCELERATION, BRAKING, CORNERING = 0.9, 1.3, 1.8  # m/s², those of a calm driver


def meters_per_degree(latitude):
    """Length of a degree (latitude, longitude) on WGS 84, in meters."""
    sine2 = math.sin(math.radians(latitude)) ** 2
    w = 1 - 0.00669437999014 * sine2
    meridian, normal = 6378137 * (1 - 0.00669437999014) / w**1.5, 6378137 / math.sqrt(w)
    return math.radians(meridian), math.radians(normal * math.cos(math.radians(latitude)))


def distance(a, b):
    """Meters between two near points; good to 0.1 % up to 50 km."""
    north, east = meters_per_degree((a[0] + b[0]) / 2)
    return math.hypot((b[0] - a[0]) * north, (b[1] - a[1]) * east)


def split_long_legs(points):
    """Adds points BEND away from both ends of a leg that is long enough, so that its middle is straight."""
    result = []
    for a, b in zip(points, points[1:]):
        result.append(a)
        length = distance(a, b)
        if length > 2.5 * BEND:
            for share in (BEND / length, 1 - BEND / length):
                result.append((a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]), a[2]))
    return result + [points[-1]]


def course(points):
    """The road as (latitude, longitude, speed limit in m/s) every STEP meters: cubic curves through the points.

    The tangent at a point leans to the shorter leg and vanishes at a right angle, so a street corner stays a corner.
    """
    points = split_long_legs(points)
    north, east = meters_per_degree(points[len(points) // 2][0])
    plane = [(p[1] * east, p[0] * north) for p in points]
    legs = [(b[0] - a[0], b[1] - a[1]) for a, b in zip(plane, plane[1:])]
    lengths = [math.hypot(*leg) for leg in legs]
    units = [(leg[0] / n, leg[1] / n) for leg, n in zip(legs, lengths)]
    tangents = [units[0]]
    for i in range(1, len(legs)):
        w0, w1 = 1 / lengths[i - 1], 1 / lengths[i]
        x = w0 * units[i - 1][0] + w1 * units[i][0]
        y = w0 * units[i - 1][1] + w1 * units[i][1]
        straightness = max(0.0, units[i - 1][0] * units[i][0] + units[i - 1][1] * units[i][1])
        n = math.hypot(x, y) or 1.0
        tangents.append((straightness * x / n, straightness * y / n))
    tangents.append(units[-1])
    result = []
    for i, length in enumerate(lengths):
        count = max(1, round(length / STEP))
        for k in range(count):
            t = k / count
            h = (2*t**3 - 3*t**2 + 1, (t**3 - 2*t**2 + t) * length, 3*t**2 - 2*t**3, (t**3 - t**2) * length)
            x, y = (h[0] * plane[i][c] + h[1] * tangents[i][c] + h[2] * plane[i + 1][c] + h[3] * tangents[i + 1][c]
                    for c in (0, 1))
            result.append((y / north, x / east, points[i][2] * METERS_PER_SECOND))
    return result + [(points[-1][0], points[-1][1], 0.0)]


def nearest(road, place):
    """Index of the road point nearest to a place."""
    return min(range(len(road)), key=lambda i: distance(road[i], place))


def corner_speed(road, i, slowest):
    """Speed (m/s), at least slowest, at which a bend is taken: from the circle through points 30 m either side."""
    a, b, c = road[max(0, i - 3)], road[i], road[min(len(road) - 1, i + 3)]
    sides = distance(a, b), distance(b, c), distance(a, c)
    north, east = meters_per_degree(b[0])
    doubled = abs((b[1] - a[1]) * (c[0] - a[0]) - (c[1] - a[1]) * (b[0] - a[0])) * north * east
    radius = sides[0] * sides[1] * sides[2] / (2 * doubled) if doubled > 1e-6 else math.inf
    return max(slowest, math.sqrt(CORNERING * radius))


def normal_pair(generator):
    """Two independent standard normal numbers (Box and Muller)."""
    radius = math.sqrt(-2 * math.log(1 - generator.random()))
    angle = 2 * math.pi * generator.random()
    return radius * math.cos(angle), radius * math.sin(angle)


def drive(road, stops, slowest, generator):
    """Positions once a second: (latitude, longitude, speed in m/s, index on the road). stops: {index: seconds}"""
    waves = [(0.006 + 0.01 * generator.random(), 1500 * 2.2**k, 6.28 * generator.random()) for k in range(4)]
    steps = [distance(a, b) for a, b in zip(road, road[1:])]
    along, speeds = 0.0, []
    for i, point in enumerate(road):
        mood = 1 + sum(size * math.sin(2 * math.pi * along / wave + phase) for size, wave, phase in waves)
        speeds.append(0.0 if i in stops else min(point[2] * mood, corner_speed(road, i, slowest)))
        along += steps[i] if i < len(steps) else 0
    for i in range(len(steps) - 1, -1, -1):
        speeds[i] = min(speeds[i], math.sqrt(speeds[i + 1] ** 2 + 2 * BRAKING * steps[i]))
    for i, step in enumerate(steps):
        speeds[i + 1] = min(speeds[i + 1], math.sqrt(speeds[i] ** 2 + 2 * ACCELERATION * step))
    clock, tick, fixes = 0.0, 0, []
    for i, step in enumerate(steps):
        leave = clock + stops.get(i, 0)
        while tick < leave:  # standing
            fixes.append((road[i][0], road[i][1], 0.0, i))
            tick += 1
        arrive = leave + 2 * step / (speeds[i] + speeds[i + 1])
        rate = (speeds[i + 1] - speeds[i]) / (arrive - leave)
        while tick < arrive:
            seconds = tick - leave
            share = (speeds[i] * seconds + rate * seconds * seconds / 2) / step
            fixes.append((road[i][0] + share * (road[i + 1][0] - road[i][0]),
                          road[i][1] + share * (road[i + 1][1] - road[i][1]), speeds[i] + rate * seconds, i))
            tick += 1
        clock = arrive
    last = len(road) - 1
    return fixes + [(road[last][0], road[last][1], 0.0, last)] * stops.get(last, 0)


def receiver_errors(count, excursion, generator):
    """(north, east) errors in meters, one a second: a first-order Gauss-Markov process (3.5 m on each axis, 60 s),
    white jitter of 0.7 m, and one reflection off buildings that grows to 22 m and fades within 40 s."""
    memory = math.exp(-1 / 60)
    slow = [3.5 * n for n in normal_pair(generator)]
    angle = 2 * math.pi * generator.random()
    errors = []
    for second in range(count):
        drive_noise, jitter = normal_pair(generator), normal_pair(generator)
        slow = [memory * s + 3.5 * math.sqrt(1 - memory**2) * n for s, n in zip(slow, drive_noise)]
        phase = (second - excursion) / 40
        bump = 11 * (1 - math.cos(2 * math.pi * phase)) if 0 <= phase <= 1 else 0.0
        errors.append((slow[0] + 0.7 * jitter[0] + bump * math.sin(angle),
                       slow[1] + 0.7 * jitter[1] + bump * math.cos(angle)))
    return errors


def height(place, table):
    """Meters above the sea, weighted by the inverse square of the distance to the towns of the table."""
    weights = [1 / (distance(place, town) ** 2 + 1e6) for town, _ in table]
    return sum(w * h for w, (_, h) in zip(weights, table)) / sum(weights)


def heading(a, b):
    """Degrees clockwise from north."""
    north, east = meters_per_degree(a[0])
    return math.degrees(math.atan2((b[1] - a[1]) * east, (b[0] - a[0]) * north)) % 360


def stamp(second):
    return (START + datetime.timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%SZ")


class Drive:
    """One simulated drive: its fixes are (second, latitude, longitude, true speed in m/s, index on the road)."""

    def __init__(self, points, stops, slowest, reflection, tunnel, seed):
        generator = random.Random(seed)
        self.road = course(points)
        self.stops = {nearest(self.road, place): seconds for place, seconds in stops}
        self.stops[0], self.stops[len(self.road) - 1] = 90, 60
        positions = drive(self.road, self.stops, slowest, generator)
        self.indices = [position[3] for position in positions]
        errors = receiver_errors(len(positions), self.passes(reflection) - 20, generator)
        gap = self.passes(tunnel)
        self.fixes = []
        for second, (position, error) in enumerate(zip(positions, errors)):
            if gap <= second < gap + 20:
                continue  # no signal
            north, east = meters_per_degree(position[0])
            self.fixes.append((second, position[0] + error[0] / north, position[1] + error[1] / east, *position[2:]))

    def passes(self, place):
        """The second at which the drive comes to a place."""
        index = nearest(self.road, place)
        return next(second for second, reached in enumerate(self.indices) if reached >= index)


def gpx(trip, name, description, waypoints, detail):
    """The drive as GPX 1.1 text; detail(fix) gives the optional elements of a point, before and after its time."""
    fixes = trip.fixes
    latitudes, longitudes = [f[1] for f in fixes], [f[2] for f in fixes]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<gpx version="1.1" creator="Hereabouts make-samples.py" xmlns="http://www.topografix.com/GPX/1/1"'
        ' xmlns:tpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v2">',
        f"<metadata><name>{name}</name><desc>{description}</desc>"
        '<copyright author="OpenStreetMap contributors"><year>2026</year>'
        "<license>https://opendatacommons.org/licenses/odbl/1-0/</license></copyright>"
        f'<time>{stamp(0)}</time><bounds minlat="{min(latitudes):.6f}" minlon="{min(longitudes):.6f}"'
        f' maxlat="{max(latitudes):.6f}" maxlon="{max(longitudes):.6f}"/></metadata>',
    ]
    for second, title in waypoints:
        fix = next(f for f in fixes if f[0] >= second)
        lines.append(f'<wpt lat="{fix[1]:.6f}" lon="{fix[2]:.6f}"><time>{stamp(fix[0])}</time>'
                     f"<name>{title}</name></wpt>")
    lines.append(f"<trk><name>{name}</name><desc>{description}</desc><type>driving</type><trkseg>")
    for fix, following in zip(fixes, fixes[1:] + fixes[-1:]):
        before, after = detail(fix)
        lines.append(f'<trkpt lat="{fix[1]:.6f}" lon="{fix[2]:.6f}">{before}<time>{stamp(fix[0])}</time>'
                     f"{after}</trkpt>")
        if following[0] - fix[0] > 1:
            lines.append("</trkseg><trkseg>")
    return "\n".join(lines + ["</trkseg></trk>", "</gpx>"]) + "\n"


def i10_drive():
    stops = [((31.173378, -105.358082), 240)]
    trip = Drive(I10, stops, 21.0, (31.765163, -106.483880), (31.760500, -106.498000), SEED)
    first, last = trip.passes((31.839430, -106.570376)), trip.passes((31.778147, -106.461505))
    generator = random.Random(SEED + 10)

    def detail(fix):
        if not first <= fix[0] < last:
            return "", ""
        up, speed = normal_pair(generator)
        ele = height(fix[1:3], I10_HEIGHTS) + 1.5 * up
        course_degrees = heading(trip.road[fix[4]], trip.road[min(fix[4] + 1, len(trip.road) - 1)])
        return f"<ele>{ele:.1f}</ele>", (
            f"<sat>{9 + fix[0] // 97 % 4}</sat><hdop>{0.8 + fix[0] // 61 % 5 / 10:.1f}</hdop><extensions>"
            f"<tpx:TrackPointExtension><tpx:speed>{max(0.0, fix[3] + 0.1 * speed):.2f}</tpx:speed>"
            f"<tpx:course>{course_degrees:.0f}</tpx:course></tpx:TrackPointExtension></extensions>")

    text = gpx(trip, "Van 7, morning run", "Las Cruces to Van Horn on I-10 (simulated)",
               [(0, "Yard"), (trip.passes((31.173378, -105.358082)) + 60, "Coffee")], detail)
    return trip, text


def juarez_drive():
    lights = [(31.607743, -106.474273), (31.637441, -106.473905), (31.667107, -106.497602), (31.736391, -106.549688),
              (31.758048, -106.547813), (31.762330, -106.512200), (31.752750, -106.497100), (31.747790, -106.491050),
              (31.746630, -106.484450), (31.749070, -106.473660), (31.756840, -106.467800), (31.763360, -106.453670),
              (31.755710, -106.439050), (31.751680, -106.421700), (31.745780, -106.408450), (31.736620, -106.391730),
              (31.714660, -106.375390), (31.697810, -106.352690), (31.660149, -106.333441), (31.644109, -106.346760)]
    generator = random.Random(SEED + 20)
    stops = [((31.450506, -106.466510), 75)]  # checkpoint
    stops += [(place, round(12 + 55 * generator.random())) for place in lights]
    trip = Drive(JUAREZ, stops, 4.5, (31.747790, -106.491050), (31.746900, -106.483000), SEED + 1)
    first, last = trip.passes((31.758048, -106.547813)), trip.passes((31.746630, -106.484450))
    halts = {trip.passes(place): n + 1 for n, place in enumerate(lights)}

    def detail(fix):
        ele = f"<ele>{height(fix[1:3], JUAREZ_HEIGHTS):.0f}</ele>" if first <= fix[0] < last else ""
        if fix[0] not in halts:
            return ele, ""
        return ele, f"<name>Light {halts[fix[0]]}</name><cmt>red</cmt>"

    text = gpx(trip, "Camioneta 12", "De la carretera 45 a El Porvenir por Juárez (simulado)", [(0, "Salida")], detail)
    return trip, text


def csv(trips):
    """Both drives in one table in the order of time, a row every five seconds for each."""
    rows = sorted((fix[0], name, fix) for name, trip in trips for fix in trip.fixes if fix[0] % 5 == 0)
    lines = [f"{name},{stamp(second)},{fix[1]:.6f},{fix[2]:.6f}" for second, name, fix in rows]
    return "\n".join(["id,time,latitude,longitude"] + lines) + "\n"


def main():
    folder = pathlib.Path(__file__).resolve().parent
    (north_trip, north_text), (south_trip, south_text) = i10_drive(), juarez_drive()
    files = {"i10-el-paso.gpx": north_text, "juarez.gpx": south_text,
             "border-drives.csv": csv([("elpaso", north_trip), ("juarez", south_trip)])}
    for name, text in files.items():
        (folder / name).write_bytes(text.encode("utf-8"))
    for name, trip in (("i10-el-paso.gpx", north_trip), ("juarez.gpx", south_trip)):
        meters = sum(distance(a, b) for a, b in zip(trip.road, trip.road[1:]))
        print(f"{name}: {len(trip.fixes)} fixes, {trip.fixes[-1][0] / 60:.1f} minutes, {meters / 1000:.1f} km")


if __name__ == "__main__":
    main()
