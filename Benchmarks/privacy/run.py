"""Attacks on the command's output, with simulated people and fixed seeds: what an observer learns, in meters and people.

    python Benchmarks/privacy/run.py [--command COMMAND] [--atlas ATLAS] [--old ATLAS] [ATTACK ...]

ATTACK is journeys, pairs, atlases, dates, zones or sparse; all of them without one. `atlases` needs another atlas of the same format,
OLD. Figures are printed and go to Benchmarks/results/privacy.json and privacy.md; attacks that do not run keep their last ones.
Needs numpy and scipy (data/requirements-people.txt) and takes some minutes.
"""

import argparse
import json
import subprocess
import time

import atlases
import common
import dates
import journeys
import pairs
import sparse
import zones

RESULTS = common.PROJECT / "Benchmarks/results"
ATTACKS = {module.__name__: module for module in (journeys, pairs, atlases, dates, zones, sparse)}


def measure(attack, atlas, old):
    if attack == "sparse":
        return {"world": sparse.run(atlas)}
    more = [old] if attack == "atlases" else []
    return {area: ATTACKS[attack].run(atlas, area, *more) for area in common.AREAS}


def rows(values, before=""):
    """(name, value) of nested figures."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from rows(value, f"{before}{key}: ")
        else:
            yield f"{before}{key}", f"{value:,}" if isinstance(value, (int, float)) else str(value)


def markdown(results):
    lines = ["# What an observer learns", "", "Written by `Benchmarks/privacy/run.py`; people and journeys are simulated, with fixed seeds.", ""]
    for attack in ATTACKS:
        if attack not in results:
            continue
        areas, about = results[attack]["figures"], {name: value for name, value in results[attack].items() if name != "figures"}
        lines += [f"## {ATTACKS[attack].__doc__.splitlines()[0].rstrip('.')}", ""]
        lines += ["; ".join(f"{name} {value}" for name, value in about.items()) + ".", ""]
        lines += ["| | " + " | ".join(areas) + " |", "|---|" + "---|" * len(areas)]
        tables = {area: dict(rows(values)) for area, values in areas.items()}
        for name in dict.fromkeys(name for table in tables.values() for name in table):
            lines.append(f"| {name} | " + " | ".join(table.get(name, "") for table in tables.values()) + " |")
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", default=common.PROJECT / ".build/release/hereabouts")
    parser.add_argument("--atlas", default=common.PROJECT / "data/world.atlas")
    parser.add_argument("--old")
    parser.add_argument("attacks", nargs="*", metavar="ATTACK")
    options = parser.parse_args()
    if unknown := set(options.attacks) - set(ATTACKS):
        parser.error(f"no attack: {', '.join(sorted(unknown))}")
    wanted = options.attacks or [attack for attack in ATTACKS if attack != "atlases" or options.old]
    if "atlases" in wanted and not options.old:
        parser.error("atlases needs --old")
    atlas = common.Atlas(options.command, options.atlas)
    old = common.Atlas(options.command, options.old) if options.old else None
    path = RESULTS / "privacy.json"
    results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    about = {
        "command": subprocess.run([options.command, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1],
        "atlas": atlas.name,
    }
    for attack in wanted:
        began = time.monotonic()
        found = measure(attack, atlas, old)
        results[attack] = {**about, **({"old atlas": old.name} if attack == "atlases" else {}), "figures": found}
        print(f"{attack}: {time.monotonic() - began:.0f} s")
        for area, values in found.items():
            for name, value in rows(values):
                print(f"  {area}: {name}: {value}")
        path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        (RESULTS / "privacy.md").write_text(markdown(results), encoding="utf-8")


if __name__ == "__main__":
    main()
