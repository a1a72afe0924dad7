"""A third-party format that is asked to end while an object is freed, and then goes on for long."""

from __future__ import annotations

import os
import signal
import time
import weakref
from collections.abc import Iterable, Iterator

from hub import Detection, Document, FormatInfo, Json, Sample, Source, Storyline, hookimpl


class _Thing:
    """What is freed."""


@hookimpl
def format_info() -> FormatInfo:
    return FormatInfo(id="freeing", title="Freeing")


@hookimpl
def detect(sample: Sample) -> Detection | None:
    del sample
    return None


@hookimpl
def parse(source: Source) -> Iterator[Document[Json]]:
    thing = _Thing()
    kept = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGTERM))
    del thing
    time.sleep(60)
    del kept
    return map(Document, source.records())


@hookimpl
def to_storyline(document: Document[Json]) -> Iterable[Storyline]:
    del document
    return ()
