"""A format that shows more than it reads: notes of anybody, of which those of user and agent are turns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from hub import (
    Agent,
    Detection,
    Document,
    FormatInfo,
    Json,
    Origin,
    Residuals,
    Sample,
    Source,
    Storyline,
    Turn,
    WriteOptions,
    hookimpl,
)


@hookimpl
def format_info() -> FormatInfo:
    return FormatInfo(
        id="notes",
        title="Notes",
        reads=("1",),
        writes=("1",),
        nodes=("",),
        envelope=("/_storyline",),
    )


@hookimpl
def detect(sample: Sample) -> Detection | None:
    is_notes = all(isinstance(one, dict) and "notes" in one for one in sample.records)
    return Detection(90, "notes at /") if is_notes else None


@hookimpl
def parse(source: Source) -> Iterator[Document[Any]]:
    for record in source.records():
        yield Document(record.value, record=record)


@hookimpl
def to_storyline(document: Document[Any]) -> Iterator[Storyline]:
    notes = document.value["notes"]
    unread = {
        f"/notes/{index}": note
        for index, note in enumerate(notes)
        if note["who"] not in ("user", "agent")
    }
    name = document.record.name or "standard input"
    yield Storyline(
        session_id="s",
        agent=Agent(agent_id="notes"),
        origin=Origin(format="notes", document_id=name),
        turns=[
            Turn(turn_id=index, source=note["who"], message=note["says"])
            for index, note in enumerate(notes, start=1)
            if note["who"] in ("user", "agent")
        ],
        unknown_fields={"notes": Residuals(source_document_id=name, fields=unread)}
        if unread
        else {},
    )


@hookimpl
def from_storyline(storylines: Iterable[Storyline], options: WriteOptions) -> Iterator[Json]:
    del options
    for storyline in storylines:
        yield {"notes": [{"who": one.source, "says": one.message} for one in storyline.turns]}
