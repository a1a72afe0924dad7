"""Where records come from: files, standard input, directories; bytes to JSON records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hub.errors import Json, Problem
from hub.json import loads
from hub.reading import Record
from hub.storyline.times import Zone


class Source:
    """One input, or one file of a directory."""

    def __init__(self, data: bytes, *, name: str | None = None, zone: Zone | None = None, options: Mapping[str, str] | None = None) -> None:
        self._data = data
        self.name = name
        self.zone = zone
        self.options: Mapping[str, str] = options or {}
        self.problems: list[Problem] = []

    @classmethod
    def of(cls, *values: Json, **settings: Any) -> Source:
        """Return a source whose records are *values*; for tests and for values already in memory."""
        import orjson

        return cls(b"\n".join(orjson.dumps(value) for value in values), **settings)

    def records(self) -> Iterator[Record]:
        """Yield the records, lazily: the object, the elements of the array, or the lines."""
        lines = self._data.split(b"\n")
        for index, line in enumerate(lines):
            place = f"line {index + 1}" if len(lines) > 1 else ""
            yield Record(loads(line), place=place, index=index, zone=self.zone, options=self.options, name=self.name)

    @property
    def is_directory(self) -> bool:
        return False

    def files(self) -> Iterator[Source]:
        """Yield the files of a directory, in path order."""
        return iter(())
