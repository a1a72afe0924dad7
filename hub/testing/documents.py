"""Documents of the formats that the hub's own plugins read, and files that are of no format.

They are there whether those plugins are installed or not: a format must leave them to their owners.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from hub.errors import Json

DATA = Path(__file__).parent / "data"


class FormatSample(NamedTuple):
    """One sample document."""

    format: str
    """Id of its format; empty for a file that is no trajectory."""
    name: str
    data: bytes


def samples() -> list[FormatSample]:
    """Return sample documents of every first-party format, all of the same trajectory."""
    return [
        FormatSample(path.name.partition(".")[0], path.name, path.read_bytes())
        for path in sorted(DATA.glob("*.json"))
    ]


STRANGERS: dict[str, Json] = {
    "an empty object": {},
    "an empty array": [],
    "a number": 5,
    "an array of numbers": [1, 2, 3],
    "a package": {"name": "x", "version": "1.0.0", "dependencies": {"y": "^2"}},
    "a table": [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}],
    "a schema": {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"},
    "a map": {"type": "FeatureCollection", "features": []},
    "a notebook": {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5},
    "a log": [{"level": "info", "msg": "started", "time": "2026-01-01T00:00:00Z"}],
    "a version alone": {"version": 1},
}
"""JSON that is no trajectory of any format."""
