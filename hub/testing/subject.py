"""The format under test: what its author says of it, and the ways that every check goes.

Source: design.md, the four hooks.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from hub.conversion import Reading, batches, read_documents, write_documents
from hub.errors import FormatError, InvalidDocument, Json
from hub.json import dumps
from hub.registry import Format, Formats
from hub.source import Source
from hub.testing.failures import broken, doing, expect
from hub.writing import WriteOptions


class Invalid(NamedTuple):
    """A document that breaks rules, and where."""

    document: Json
    problems: Sequence[tuple[str, str]]
    """Pointer and rule of every error and fatal problem that is reported, in document order."""


class SampleFile(NamedTuple):
    """A sample of the format under test."""

    name: str
    data: bytes
    records: list[Json]
    container: str
    """`object`, `array` or `lines`."""

    @classmethod
    def of(cls, path: Path) -> SampleFile:
        data = path.read_bytes()
        found = list(Source(data).records(objects=False))
        is_array = any(one.place.startswith("element") for one in found)
        is_single = len(found) == 1 and not found[0].place
        container = "object" if is_single else "array" if is_array else "lines"
        return cls(path.name, data, [one.value for one in found], container)

    def file(self, records: Sequence[Json]) -> bytes:
        """Return a file with *records* in the container of this one."""
        if self.container == "array":
            return dumps(list(records))
        return b"\n".join(map(dumps, records))


class Subject:
    """A format, installed, with samples. Everything here may be overridden."""

    format: ClassVar[str] = ""
    """Id of the format: the name of its entry point."""
    samples: ClassVar[Path | Sequence[Path]] = ()
    """Folder with documents of the format, or the files themselves."""
    invalid: ClassVar[Sequence[Invalid]] = ()
    """Documents that break rules, with the problems that each must give."""
    tolerated: ClassVar[Collection[str]] = ()
    """Rules that samples break, because real files do; their errors are no failure of the contract."""
    import_milliseconds: ClassVar[int] = 50
    """How long importing the plugin may take."""

    def normal(self, document: Json) -> Json:
        """Return *document* in the spelling in which the format is written: override it where several say the same.

        What is handed over may be changed. As it stands, a document must come back exactly as it was.
        """
        return document

    def records(self, documents: Sequence[Json]) -> list[Json]:
        """Return the records of written *documents*, of an array each element; a format may keep them elsewhere."""
        return records_of(documents)

    # What is under test

    @cached_property
    def _formats(self) -> Formats:
        return Formats()

    @cached_property
    def _format(self) -> Format:
        expect(
            self.format,
            f"{type(self).__name__} does not say which format it tests",
            'give the class the attribute `format = "<id>"`, the name of the entry point',
        )
        try:
            found = self._formats[self.format]
        except FormatError as error:
            broken(
                f"the format {self.format!r} cannot be used: {error}",
                "install the distribution into this environment (`pip install -e .` beside its pyproject.toml), and see"
                f" `hub plugins doctor {self.format}`",
            )
        return found

    @cached_property
    def _paths(self) -> list[Path]:
        if isinstance(self.samples, Path):
            paths = sorted(path for path in self.samples.glob("*") if path.is_file())
        else:
            paths = list(self.samples)
        expect(
            paths,
            f"there are no samples of {self.format!r} in {self.samples or 'the attribute `samples`'}",
            "put documents of the format, as real programs write them, into a folder and name it:"
            ' `samples = Path(__file__).parent / "samples"`',
        )
        return paths

    @cached_property
    def _files(self) -> list[SampleFile]:
        return list(map(SampleFile.of, self._paths))

    # Ways

    def _read(self, data: bytes, what: str) -> list[Reading]:
        """Return what the plugin reads of a file."""
        with doing(f"reading {what}"):
            return list(read_documents(self._format, Source(data)))

    def _read_well(self, data: bytes, what: str) -> list[Reading]:
        """Return what the plugin reads of a file that it must not refuse."""
        try:
            readings = self._read(data, what)
        except InvalidDocument as error:
            broken(f"{what} is refused: {error}", "mend the sample, or what refuses it")
        fatal = [
            one
            for reading in readings
            for one in reading.problems
            if reading.is_fatal and one.severity == "fatal"
        ]
        expect(
            not fatal,
            f"{what} is refused: {'; '.join(map(str, fatal[:3]))}",
            "a sample must be readable: mend the sample, or the rule that refuses it",
        )
        return readings


def converted(data: bytes, reader: Format, writer: Format, *, carry: bool = True) -> list[Json]:
    """Return the documents of *writer* that a file of *reader* becomes."""
    readings = list(read_documents(reader, Source(data)))
    refused = [one for reading in readings if reading.is_fatal for one in reading.problems]
    if refused:
        raise InvalidDocument(refused)
    return [
        written.document
        for batch in batches(readings, reader.info, writer.info)
        for written in write_documents(writer, batch, WriteOptions(carry=carry))
    ]


def text(documents: Sequence[Json]) -> bytes:
    """Return a file with *documents*, a line each."""
    return b"\n".join(one if isinstance(one, bytes) else dumps(one) for one in documents)


def records_of(documents: Sequence[Json]) -> list[Json]:
    """Return the records of written *documents*: of an array each element."""
    return [
        record
        for document in documents
        for record in (document if isinstance(document, list) else [document])
    ]


def for_all(strategy: st.SearchStrategy[Any], check: Callable[[Any], None], share: int = 1) -> None:
    """Call *check* with examples of *strategy*: one of *share* as many as hypothesis is set to."""
    examples = max(3, settings().max_examples // share)

    @settings(max_examples=examples, deadline=None, report_multiple_bugs=False)
    @given(strategy)
    def run(example: Any) -> None:
        check(copy.deepcopy(example))

    run()
