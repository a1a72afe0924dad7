"""A third-party format `{"deadly": true}` whose plugin ends the process that reads it, as a crash would."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from hub import Detection, Document, FormatInfo, Json, Sample, Source, Storyline, hookimpl


@hookimpl
def format_info() -> FormatInfo:
    return FormatInfo(id="deadly", title="Deadly")


@hookimpl
def detect(sample: Sample) -> Detection | None:
    is_deadly = sample.container == "object" and "deadly" in sample.records[0]
    return Detection(100, "deadly at /") if is_deadly else None


@hookimpl
def parse(source: Source) -> Iterator[Document[Json]]:
    del source
    os._exit(7)


@hookimpl
def to_storyline(document: Document[Json]) -> Iterable[Storyline]:
    del document
    return ()
