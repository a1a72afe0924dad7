"""A third-party format whose worker is ended while it loads this file; the process that started it is not."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterable, Iterator

from hub import Detection, Document, FormatInfo, Json, Sample, Source, Storyline, hookimpl

if multiprocessing.current_process().name == "hub-worker":
    os.kill(os.getpid(), signal.SIGTERM)


@hookimpl
def format_info() -> FormatInfo:
    return FormatInfo(id="stopped", title="Stopped")


@hookimpl
def detect(sample: Sample) -> Detection | None:
    del sample
    return None


@hookimpl
def parse(source: Source) -> Iterator[Document[Json]]:
    return map(Document, source.records())


@hookimpl
def to_storyline(document: Document[Json]) -> Iterable[Storyline]:
    del document
    return ()
