"""The hub's own format, through the same hooks as every other.

Source: storyline.md; detection.md 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from hub.errors import InvalidDocument, Json, Rule
from hub.hookspecs import Detection, FormatInfo, Sample, hookimpl

if TYPE_CHECKING:
    from hub.reading import Document
    from hub.source import Source
    from hub.storyline.model import Storyline
    from hub.writing import WriteOptions

SCHEMA_VERSION = "storyline/v1"


@hookimpl
def format_info() -> FormatInfo:
    """Describe the format."""
    return FormatInfo(
        id="storyline",
        title="Storyline",
        reads=(SCHEMA_VERSION,),
        writes=(SCHEMA_VERSION,),
        suffixes=(".storyline.json",),
        nodes=("",),
        batch="input",
    )


@hookimpl
def rules() -> Iterable[Rule]:
    """Name every rule of a Storyline."""
    from hub.storyline.rules import RULES

    return RULES


@hookimpl
def detect(sample: Sample) -> Detection | None:
    """Answer by the version marker, or for want of one by the shape: detection.md 3."""
    answers = [_detect_record(record) for record in sample.records]
    known = [answer for answer in answers if answer is not None]
    if not known or len(known) < len(answers):
        return None
    return min(known, key=lambda answer: answer.confidence)


def _detect_record(record: Json) -> Detection | None:
    if not isinstance(record, dict):
        return None
    version = record.get("schema_version")
    if isinstance(version, str):
        if not version.startswith("storyline/"):
            return None
        confidence = 100 if version == SCHEMA_VERSION else 95
        return Detection(confidence, f'schema_version "{version}" at /')
    has_shape = (
        isinstance(record.get("session"), str)
        and isinstance(record.get("turns"), list)
        and isinstance(record.get("agent"), dict)
    )
    if "schema_version" not in record and has_shape:
        return Detection(50, "session, agent and turns at /, but no schema_version")
    return None


@hookimpl
def parse(source: Source) -> Iterator[Document[Any]]:
    """Yield one document a record; a record that is no valid Storyline has all its problems in it."""
    from hub.codec import from_wire
    from hub.reading import Document

    for record in source.records():
        try:
            yield Document(from_wire(record.value), record=record)
        except InvalidDocument as error:
            yield Document(None, record=record, problems=list(error.problems))


@hookimpl
def to_storyline(document: Document[Storyline]) -> Iterator[Storyline]:
    """Yield the Storyline itself."""
    yield document.value


@hookimpl
def from_storyline(storylines: Iterable[Storyline], options: WriteOptions) -> Iterator[Json]:
    """Yield the wire JSON of each Storyline, which must be valid."""
    from hub.codec import to_valid_wire

    del options
    yield from map(to_valid_wire, storylines)


@hookimpl
def file_name(document: Json, options: WriteOptions) -> str:
    """Name the file after the session, unsafe characters percent-encoded: storyline.md 9.1."""
    from urllib.parse import quote

    del options
    session = document["session"].encode("utf-8", "backslashreplace")
    return f"{quote(session, safe='#')}.storyline.json".replace("~", "%7E")
