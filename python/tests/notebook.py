"""Runs a notebook and compares what it shows with what it holds; pictures are not compared.

    notebook.py [--write] FILE    --write: keeps what it shows
"""

import sys

import nbformat
from nbclient import NotebookClient


def texts(notebook):
    return [
        output.get("text") or output.get("data", {}).get("text/plain")
        for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs if "image/png" not in output.get("data", {})
    ]  # fmt: skip


path = sys.argv[-1]
kept = nbformat.read(path, 4)
run = nbformat.from_dict(kept)
NotebookClient(run, timeout=300).execute()
if "--write" in sys.argv:
    for cell in run.cells:
        cell.metadata = {}
    run.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(run, path)
elif texts(run) != texts(kept):
    for shown, held in zip(texts(run), texts(kept)):
        if shown != held:
            print(f"shown:\n{shown}\nheld:\n{held}")
    print(f"{path} shows what it does not hold: notebook.py --write {path}")
    sys.exit(1)
