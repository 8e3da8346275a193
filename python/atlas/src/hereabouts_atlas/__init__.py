"""The atlas of Hereabouts, made from OpenStreetMap and other sources, under the Open Database License 1.0."""

from pathlib import Path

__version__ = "2026.11.29"


def path() -> str:
    """The file's path."""
    return str(Path(__file__).with_name("world.atlas"))
