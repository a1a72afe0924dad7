"""A third-party format that knows who says what, and nothing else: `{"title", "entries": [{"who", "says"}]}`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hub import (
    Agent,
    Detection,
    Document,
    FormatInfo,
    Json,
    Origin,
    Sample,
    Source,
    Storyline,
    Turn,
    WriteOptions,
    compact,
    hookimpl,
)


@hookimpl
def format_info() -> FormatInfo:
    return FormatInfo(id="log", title="Log", nodes=("",), envelope=("/_storyline",))


@hookimpl
def detect(sample: Sample) -> Detection | None:
    is_log = all(isinstance(record, dict) and "entries" in record for record in sample.records)
    return Detection(60, "entries at /") if is_log else None


@hookimpl
def parse(source: Source) -> Iterator[Document[Json]]:
    for record in source.records():
        yield Document(record.value, record=record)


@hookimpl
def to_storyline(document: Document[Json]) -> Iterator[Storyline]:
    log = document.value
    yield Storyline(
        session_id=log["title"],
        agent=Agent(agent_id="log"),
        origin=Origin(format="log"),
        turns=[
            Turn(turn_id=position, source=entry["who"], message=entry["says"])
            for position, entry in enumerate(log["entries"], start=1)
        ],
    )


@hookimpl
def from_storyline(storylines: Iterable[Storyline], options: WriteOptions) -> Iterator[Json]:
    del options
    for storyline in storylines:
        yield {
            "title": storyline.session_id,
            "entries": [{"who": turn.source, "says": _text(turn)} for turn in storyline.turns],
        }


def _text(turn: Turn) -> str:
    return turn.message if isinstance(turn.message, str) else compact(turn.message)
