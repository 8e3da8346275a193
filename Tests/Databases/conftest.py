"""What the tests of the extensions share: positions with the command's answers, and the examples of docs/sql.md."""

import math
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILT = ROOT / ".build/databases"
ATLAS = ROOT / "data/world.atlas"
OTHER_ATLAS = ROOT / "Tests/Fixtures/sound.atlas"
HEADER = "latitude,longitude,horizontal_accuracy,region,country,place\n"


@pytest.fixture(scope="session")
def scratch():
    """A folder that the server's user can read, for root runs no server."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="hereabouts-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def positions(scratch):
    """400,024 lines of latitude and longitude: anywhere, about El Paso (a border, many regions), and awkward ones."""
    random.seed(62)
    lines = [f"{math.degrees(math.asin(random.uniform(-1, 1))):.7f},{random.uniform(-180, 180):.7f}" for _ in range(300_000)]
    lines += [f"{random.uniform(31.2, 32.4):.7f},{random.uniform(-107, -105.9):.7f}" for _ in range(100_000)]
    lines += [f"{latitude},{longitude}" for latitude in (-90, 90, 0) for longitude in (-540, -180, 0, 180, 540)]
    lines += ["90.1,0", "95,0", "0,540.5", "nan,0", "0,nan", "inf,1", "1,-inf", ",1", "1,"]
    (scratch / "positions.csv").write_text("".join(line + "\n" for line in lines))
    return scratch / "positions.csv"


@pytest.fixture(scope="session")
def expected(positions):
    """What the command writes for them."""
    arguments = [os.environ["HEREABOUTS_COMMAND"], "snap", "--from", "csv", "--accept-null-island", "--atlas", str(ATLAS)]
    done = subprocess.run(arguments, input="latitude,longitude\n" + positions.read_text(), capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    assert done.stdout.startswith(HEADER) and done.stdout.endswith(",,,,,\n" * 9)
    return done.stdout


def examples(heading):
    """The blocks of SQL below a heading of docs/sql.md, each with the block of text that follows it, or none."""
    section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", (ROOT / "docs/sql.md").read_text(), re.M | re.S)[1]
    found = re.findall(r"^```sql\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", section, re.M | re.S)
    assert found
    return found
