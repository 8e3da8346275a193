#!/usr/bin/env python3
"""Writes man pages from the commands' own description of themselves.

usage: make-manual.py FOLDER PROGRAM...

Of several programs that have a subcommand of one name, the one with more options describes it."""

import json
import re
import subprocess
import sys
from pathlib import Path


def weight(command):
    """How much a description of a command says."""
    return (
        len(command.get("subcommands", [])),
        len(command.get("arguments", [])),
        len(command.get("discussion", "")),
    )


def merged(programs):
    """The root command with the fullest description of each of its subcommands."""
    roots = []
    for program in programs:
        dump = subprocess.run([program, "--experimental-dump-help"], check=True, capture_output=True).stdout
        roots.append(json.loads(dump)["command"])
    found = {}
    for root in roots:
        for command in root.get("subcommands", []):
            name = command["commandName"]
            if name != "help" and (name not in found or weight(command) > weight(found[name])):
                found[name] = command
    return {**roots[0], "subcommands": list(found.values())}


def escaped(text):
    """A text as roff has it."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def paragraphs(text):
    """A discussion: indented lines are examples."""
    lines, is_example = [], False
    for line in text.split("\n"):
        if line.startswith("  ") != is_example and line.strip():
            is_example = not is_example
            lines.append(".nf" if is_example else ".fi")
        lines.append(escaped(line) if line.strip() else ".PP")
    return lines + ([".fi"] if is_example else [])


def names(argument):
    """An option's names with what follows them."""
    value = f" \\fI{escaped(argument['valueName'])}\\fR" if argument["kind"] == "option" else ""
    if argument["kind"] == "positional":
        return f"\\fI{escaped(argument['valueName'])}\\fR"
    marks = {"short": "-", "long": "--", "longWithSingleDash": "-"}
    ordered = sorted(argument["names"], key=lambda name: name["kind"] != "short")
    return ", ".join(f"\\fB{escaped(marks[n['kind']] + n['name'])}\\fR" for n in ordered) + value


def shown(command):
    """The arguments that help shows, its own option and version aside."""
    return [a for a in command.get("arguments", []) if a["shouldDisplay"] and a["valueName"] not in ("help", "version")]


def page(path, command):
    """A page of the manual."""
    title = "-".join(path)
    lines = [f'.TH "{escaped(title.upper())}" "1" "" "hereabouts" "User Commands"', ".SH NAME"]
    lines.append(f"{escaped(title)} \\- {escaped(command.get('abstract', ''))}")
    lines += [".SH SYNOPSIS", f"\\fB{escaped(' '.join(path))}\\fR"]
    arguments = shown(command)
    if any(a["kind"] != "positional" for a in arguments):
        lines.append("[\\fIoptions\\fR]")
    for argument in arguments:
        if argument["kind"] == "positional":
            text = names(argument) + (" ..." if argument["isRepeating"] else "")
            lines.append(f"[{text}]" if argument["isOptional"] else text)
    children = [c for c in command.get("subcommands", []) if c["commandName"] != "help"]
    if children:
        lines.append("\\fIsubcommand\\fR")
    if command.get("discussion"):
        lines += [".SH DESCRIPTION"] + paragraphs(command["discussion"])
    if arguments:
        lines.append(".SH OPTIONS")
    for argument in arguments:
        lines += [".TP", names(argument), escaped(" ".join(argument.get("abstract", "").split()))]
        if argument.get("allValueStrings"):
            lines.append(escaped("Values: " + ", ".join(argument["allValueStrings"]) + "."))
        if argument.get("defaultValue"):
            lines.append(escaped(f"Default: {argument['defaultValue']}."))
    if children:
        lines.append(".SH SUBCOMMANDS")
    for child in children:
        reference = escaped("-".join(path + [child["commandName"]]))
        lines += [".TP", f"\\fB{reference}\\fR(1)", escaped(child.get("abstract", ""))]
    if len(path) > 1:
        lines += [".SH SEE ALSO", f"\\fB{escaped('-'.join(path[:-1]))}\\fR(1)"]
    return "\n".join(lines) + "\n"


def write(folder, path, command):
    """Writes the page of a command and those of its subcommands."""
    (folder / ("-".join(path) + ".1")).write_text(page(path, command), encoding="utf-8")
    for child in command.get("subcommands", []):
        if child["commandName"] != "help":
            write(folder, path + [child["commandName"]], child)


def main():
    """Writes the pages."""
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    write(folder, ["hereabouts"], merged(sys.argv[2:]))


main()
