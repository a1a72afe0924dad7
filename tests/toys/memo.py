"""A third-party format whose envelope has its place in a map that it keeps itself: `{"title", "extra"?}`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hub import (
    Agent,
    Document,
    FormatInfo,
    Json,
    Origin,
    Sample,
    Source,
    Storyline,
    WriteOptions,
    hookimpl,
)


@hookimpl
def format_info() -> FormatInfo:
    return FormatInfo(id="memo", title="Memo", nodes=("",), envelope=("/extra/_storyline",))


@hookimpl
def detect(sample: Sample) -> None:
    del sample


@hookimpl
def parse(source: Source) -> Iterator[Document[Json]]:
    for record in source.records():
        yield Document(record.value, record=record)


@hookimpl
def to_storyline(document: Document[Json]) -> Iterator[Storyline]:
    memo = document.value
    yield Storyline(
        session_id=memo["title"],
        agent=Agent(agent_id="memo"),
        origin=Origin(format="memo"),
        turns=[],
        extra=memo.get("extra"),
    )


@hookimpl
def from_storyline(storylines: Iterable[Storyline], options: WriteOptions) -> Iterator[Json]:
    del options
    for storyline in storylines:
        memo: Json = {"title": storyline.session_id}
        if storyline.extra is not None:
            memo["extra"] = storyline.extra
        yield memo
