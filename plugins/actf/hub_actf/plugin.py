"""The hook implementations of the ACTF format; what they need is imported when they are called.

Source: actf.md; actf-records.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from hub import Detection, FormatInfo, Json, Rule, Sample, hookimpl

if TYPE_CHECKING:
    from hub import Document, Source, Storyline, WriteOptions
    from hub_actf.effective import ParsedTask


@hookimpl
def format_info() -> FormatInfo:
    """Describe the format."""
    return FormatInfo(
        id="actf",
        title="ACTF: benchmark tasks and the attempts at them",
        reads=("ACTF_v1.0", "ACTF_v1.0 in records of AgentCompass 1.0"),
        writes=("ACTF_v1.0",),
        suffixes=(".actf.json",),
        nodes=("/attempts/*",),
        envelope=("/_storyline",),
        gathers=True,
    )


@hookimpl
def rules() -> Iterable[Rule]:
    """Name every rule of the format."""
    from hub_actf.rules import RULES

    return RULES


@hookimpl
def detect(sample: Sample) -> Detection | None:
    """Answer by the version marker in the trajectories, or by the shape."""
    from hub_actf.detection import detect_sample

    return detect_sample(sample)


@hookimpl
def parse(source: Source) -> Iterator[Document[ParsedTask]]:
    """Yield one document a task: of a record each, of a directory each that is finished.

    A `task.json` stands for the directory that holds it.
    """
    from hub_actf.detection import is_task
    from hub_actf.directories import parse_directory
    from hub_actf.parsing import parse_record

    if source.is_directory:
        yield from parse_directory(source, source.problems)
        return
    for record in source.records():
        folder = source.folder() if is_task(record.value) else None
        if folder is None:
            yield parse_record(record)
        else:
            yield from parse_directory(folder, source.problems)


@hookimpl
def to_storyline(document: Document[ParsedTask]) -> Iterator[Storyline]:
    """Yield one Storyline an attempt."""
    from hub_actf.mapping import storylines_from_document

    return storylines_from_document(document)


@hookimpl
def from_storyline(storylines: Iterable[Storyline], options: WriteOptions) -> Iterator[Json]:
    """Yield the documents that *storylines* make, the attempts of a task together."""
    from hub_actf.mapping import documents_from_storylines

    return documents_from_storylines(storylines, options)
