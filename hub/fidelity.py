"""The fidelity report: what a conversion kept, measured by converting back.

It needs nothing from a plugin. Source: carrier.md 10; conversion-matrix.md 3 for what formats normalise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from attrs import Factory, evolve, frozen

from hub.alignment import align, match
from hub.carrier import SOURCE
from hub.conversion import (
    Reading,
    batches,
    parsed_documents,
    read_document,
    read_documents,
    write_documents,
)
from hub.errors import MISSING, InvalidDocument, Json, Problem
from hub.input_rules import REDACTED
from hub.pointer import escape, unescape
from hub.registry import Format
from hub.residuals import equal
from hub.source import Source
from hub.storyline.model import Storyline
from hub.wire import root_to_wire, to_wire, turn_to_wire
from hub.writing import WriteOptions

Class = Literal["kept", "carried", "normalised", "dropped", "synthesised"]

CLASSES: tuple[Class, ...] = ("kept", "carried", "normalised", "dropped", "synthesised")
"""`kept` comes back without the envelope, `carried` only with it; `normalised` the source format itself does not keep;
`dropped` is lost; `synthesised` is in the output, though the source never said it."""


@frozen
class Entry:
    """One leaf of a source document that was not kept, or one field that was made up."""

    kind: Class
    pointer: str
    """Into the source document, or, where *in_storyline*, into the Storyline."""
    in_storyline: bool = False

    def to_json(self) -> dict[str, Json]:
        """Return the entry as it stands in a report."""
        entry = {"class": self.kind, "pointer": self.pointer}
        return entry | {"in": "storyline"} if self.in_storyline else entry


@frozen
class DocumentReport:
    """What became of one source document."""

    index: int
    """Position in its input, from 0."""
    name: str | None
    kept: int
    """How many leaves were kept; they are not listed."""
    entries: list[Entry]

    @property
    def counts(self) -> dict[Class, int]:
        """How many there are of each class."""
        counted = Counter(entry.kind for entry in self.entries)
        return {kind: counted[kind] for kind in CLASSES} | {"kept": self.kept}

    def to_json(self) -> dict[str, Json]:
        """Return this part of a report."""
        place = {"index": self.index} | ({} if self.name is None else {"name": self.name})
        entries = [entry.to_json() for entry in self.entries]
        return {**place, "summary": self.counts, "entries": entries}


@frozen
class Report:
    """What a conversion kept, carried, normalised, dropped and synthesised."""

    reader: str
    writer: str
    documents: list[DocumentReport]
    redacted: dict[str, int] = Factory(dict)
    """How much was redacted, by kind (`--redact`)."""

    @property
    def counts(self) -> dict[Class, int]:
        """How many there are of each class, over all documents."""
        all_counts = [document.counts for document in self.documents]
        return {kind: sum(counts[kind] for counts in all_counts) for kind in CLASSES}

    def to_json(self) -> dict[str, Json]:
        """Return the report for programs: carrier.md 10.2."""
        return {
            "version": 1,
            "from": self.reader,
            "to": self.writer,
            "summary": self.counts,
            **({"redacted": self.redacted} if self.redacted else {}),
            "documents": [document.to_json() for document in self.documents],
        }

    def to_text(self) -> str:
        """Return the report for people: a line of counts, then a line for each place, indices apart."""
        counts = ", ".join(f"{number} {kind}" for kind, number in self.counts.items())
        lines = [f"{self.reader} -> {self.writer}: {counts}"]
        lines += [f"{'redacted':<12} {kind}  ({number})" for kind, number in self.redacted.items()]
        places = Counter(
            (entry.kind, _without_numbers(entry.pointer))
            for document in self.documents
            for entry in document.entries
        )
        for kind in CLASSES:
            for pointer in sorted(pointer for kind_, pointer in places if kind_ == kind):
                number = places[kind, pointer]
                lines.append(f"{kind:<12} {pointer}" + (f"  ({number})" if number > 1 else ""))
        return "\n".join(lines) + "\n"


def _without_numbers(pointer: str) -> str:
    """Return *pointer* with `*` for indices, also for those in the pointer of a residual that is one of its keys."""
    return "/".join(map(_without_number, pointer.split("/")))


def _without_number(token: str) -> str:
    if token.startswith("~1"):
        return escape(_without_numbers(unescape(token)))
    return "*" if token.isascii() and token.isdecimal() else token


def join(reports: Sequence[Report]) -> Report:
    """Return one report of several conversions between the same formats; there is at least one."""
    documents = [document for report in reports for document in report.documents]
    redacted = sum((Counter(report.redacted) for report in reports), Counter())
    return evolve(reports[0], documents=documents, redacted=dict(redacted))


def measure(
    reader: Format,
    writer: Format,
    source: Source,
    *,
    carry: bool = True,
    options: Mapping[str, str] | None = None,
) -> Report:
    """Return what is kept when *source* is converted from the format of *reader* to that of *writer*.

    *options* are write options of the conversion. Nothing is written. Documents that are refused are left out.

    Raises:
        InvalidDocument: the source cannot be read, or what was written of it cannot.
    """
    origins = list(_origins(reader, source))
    readings = [origin.reading for origin in origins]
    plain = _reread(writer, _written(writer, readings, reader, options or {}, carry=False))
    full = plain
    if carry:
        full = _reread(writer, _written(writer, readings, reader, options or {}, carry=True))
    if reader.can_write and reader.info.source != SOURCE:
        leaves = list(_document_leaves(origins, reader, writer, plain, full))
    else:
        leaves = list(_storyline_leaves(readings, plain, full))
    made_up = _made_up(readings, plain)
    return Report(
        reader.id,
        writer.id,
        [
            DocumentReport(
                origin.index,
                origin.name,
                sum(entry.kind == "kept" for entry in found),
                [entry for entry in found if entry.kind != "kept"] + made_up[number],
            )
            for number, (origin, found) in enumerate(zip(origins, leaves, strict=True))
        ],
        redactions(problem for reading in readings for problem in reading.problems),
    )


def redactions(problems: Iterable[Problem]) -> dict[str, int]:
    """Return how much was redacted, by kind, in order."""
    found = Counter(one.found or "" for one in problems if one.rule == REDACTED.rule)
    return dict(sorted(found.items()))


# There and back


@frozen
class _Origin:
    """A source document: D of carrier.md 10.1, and what is read of it."""

    index: int
    name: str | None
    value: Json
    """The document without its envelopes."""
    reading: Reading


def _origins(reader: Format, source: Source) -> Iterator[_Origin]:
    for document in parsed_documents(reader, source):
        reading = read_document(reader, document)
        if not reading.is_fatal:
            record = document.record
            yield _Origin(record.index, record.name, record.value, reading)


def _written(
    writer: Format,
    readings: Sequence[Reading],
    reader: Format,
    options: Mapping[str, str],
    *,
    carry: bool,
) -> list[Json | bytes]:
    """Return the documents that *writer* makes of what *reader* read."""
    return [
        written.document
        for batch in batches(readings, reader.info, writer.info)
        for written in write_documents(writer, batch, WriteOptions(options=options, carry=carry))
    ]


def _reread(format: Format, documents: Sequence[Json | bytes]) -> list[Reading]:
    """Return what is read of *documents*, which have just been written.

    Raises:
        InvalidDocument: one of them is refused.
    """
    readings = []
    for document in documents:
        values = document if isinstance(document, list) else [document]
        source = Source(document) if isinstance(document, bytes) else Source.of(*values)
        for reading in read_documents(format, source):
            if reading.is_fatal:
                raise InvalidDocument(reading.problems)
            readings.append(reading)
    return readings


def _document_leaves(
    origins: Sequence[_Origin],
    reader: Format,
    writer: Format,
    plain: Sequence[Reading],
    full: Sequence[Reading],
) -> Iterator[list[Entry]]:
    """Yield the leaves of each source document, by what comes back when everything is written in its format again."""
    readings = [origin.reading for origin in origins]
    own = _written(reader, readings, reader, {}, carry=False)
    ways = [own, _written(reader, plain, writer, {}, carry=False)]
    ways.append(ways[-1] if full is plain else _written(reader, full, writer, {}, carry=False))
    for number, origin in enumerate(origins):
        yield list(_leaves(origin.value, *(_member(way, number) for way in ways)))


def _storyline_leaves(
    readings: Sequence[Reading], plain: Sequence[Reading], full: Sequence[Reading]
) -> Iterator[list[Entry]]:
    """Yield the leaves of the Storylines of each source document, by what comes back of them."""
    before = _storylines(readings)
    came = [
        {
            first: to_wire(after[second])
            for after in (_storylines(way),)
            for first, second in match(before, after).pairs
        }
        for way in (plain, full)
    ]
    number = 0
    for reading in readings:
        found: list[Entry] = []
        for storyline in reading.storylines:
            wire = to_wire(storyline)
            found.extend(_leaves(wire, wire, *(way.get(number, MISSING) for way in came)))
            number += 1
        yield found


def _storylines(readings: Iterable[Reading]) -> list[Storyline]:
    return [storyline for reading in readings for storyline in reading.storylines]


# Leaves


def _leaves(value: Json, own: Json, plain: Json, full: Json) -> Iterator[Entry]:
    """Yield each leaf of *value*, in document order, in its class: carrier.md 10.1."""
    todo = [("", value, own, plain, full)]
    while todo:
        pointer, value, own, plain, full = todo.pop()
        if isinstance(value, dict | list) and value:
            keys = list(value) if isinstance(value, dict) else range(len(value))
            for key in reversed(keys):
                at = f"{pointer}/{escape(key)}"
                ways = [_member(way, key) for way in (own, plain, full)]
                todo.append((at, value[key], *ways))
        elif equal(value, plain):
            yield Entry("kept", pointer)
        elif equal(value, full):
            yield Entry("carried", pointer)
        elif not equal(value, own):
            yield Entry("normalised", pointer)
        else:
            yield Entry("dropped", pointer)


def _member(value: Json, key: str | int) -> Json:
    """Return the member or element *key* of *value*; `MISSING` if it has none."""
    if isinstance(value, dict) and isinstance(key, str):
        return value.get(key, MISSING)
    if isinstance(value, list) and isinstance(key, int) and key < len(value):
        return value[key]
    return MISSING


# Synthesised fields


def _made_up(readings: Sequence[Reading], plain: Sequence[Reading]) -> list[list[Entry]]:
    """Return, by source document, the fields that *plain* has set and the Storylines that were read have not."""
    before, after = _storylines(readings), _storylines(plain)
    pairs = dict(match(before, after).pairs)
    made_up = []
    number = 0
    for reading in readings:
        pointers: list[str] = []
        for storyline in reading.storylines:
            if number in pairs:
                pointers.extend(_new_fields(storyline, after[pairs[number]]))
            number += 1
        made_up.append([Entry("synthesised", pointer, in_storyline=True) for pointer in pointers])
    return made_up


_Parts = Mapping[str, Any]
"""Members that are objects of the model, with their own; everything else counts whole."""

_ENV: _Parts = {"state": {}}
_ROOT: _Parts = {
    "agent": {},
    "parent": {},
    "task": {"env": _ENV, "llm": {}, "result": {}},
    "prompt": {},
}
_TURN: _Parts = {"env": _ENV, "prompt": {}}
_CALL: _Parts = {"response": {}}

_DO_NOT_COUNT = ("schema_version", "origin")


def _new_fields(before: Storyline, after: Storyline) -> Iterator[str]:
    """Yield the pointer of each hub field that is set in *after* and not in *before*."""
    root = root_to_wire(after)
    for key in _DO_NOT_COUNT:
        root.pop(key, None)
    yield from _new_members(root_to_wire(before), root, _ROOT, "")
    for first, second in align(before.turns, after.turns):
        if second is None:
            continue
        at = f"/turns/{second}"
        if first is None:
            yield at
            continue
        old, new = turn_to_wire(before.turns[first]), turn_to_wire(after.turns[second])
        if "tool_calls" in old:
            yield from _new_in_calls(old["tool_calls"], new.pop("tool_calls", []), at)
        yield from _new_members(old, new, _TURN, at)


def _new_in_calls(before: list[Json], after: list[Json], at: str) -> Iterator[str]:
    for index, call in enumerate(after):
        here = f"{at}/tool_calls/{index}"
        if index < len(before):
            yield from _new_members(before[index], call, _CALL, here)
        else:
            yield here


def _new_members(before: Json, after: Json, parts: _Parts, at: str) -> Iterator[str]:
    for key, value in after.items():
        here = f"{at}/{escape(key)}"
        if key in parts and value:
            yield from _new_members(before.get(key, {}), value, parts[key], here)
        elif key not in before:
            yield here
