"""The hook implementations of the ALE format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from hub import Detection, FormatInfo, Json, Option, Rule, Sample, hookimpl

if TYPE_CHECKING:
    from hub import Document, Source, Storyline, WriteOptions

VERSION = "ALE-v1.0"
FILE = "trajectory.json"


@hookimpl
def format_info() -> FormatInfo:
    """Describe ALE-v1.0."""
    return FormatInfo(
        id="ale",
        title="Agents' Last Exam trajectory",
        reads=(VERSION,),
        writes=(VERSION,),
        suffixes=(".ale.json",),
        nodes=("", "/subagent_trajectories/*/**"),
        envelope=("/extra/_storyline",),
        options=(
            Option("task_path", "task of every trajectory, such as demo/note"),
            Option("variant_index", "variant of that task, an integer"),
        ),
    )


@hookimpl
def rules() -> Iterable[Rule]:
    """Name every rule of the format."""
    from hub_ale.rules import RULES

    return RULES


# Detection


@hookimpl
def detect(sample: Sample) -> Detection | None:
    """Claim trajectories by their marker or their members, and directories of runs by their files: detection.md 3."""
    if sample.container == "directory":
        if any(path == FILE or path.endswith("/" + FILE) for path in sample.records):
            return Detection(85, f"a file {FILE} below it", "directory")
        return None
    verdicts = [_verdict(record, sample) for record in sample.records]
    found = [verdict for verdict in verdicts if verdict is not None]
    if not found or len(found) < len(verdicts):
        return None
    return min(found)


def _verdict(record: Json, sample: Sample) -> Detection | None:
    """Return how sure one record looks like a trajectory."""
    if not isinstance(record, dict):
        return None
    version = record.get("schema_version")
    if isinstance(version, str) and version.startswith("ALE-v"):
        return _by_marker(record, version, is_complete=sample.complete)
    return _by_members(record) if "schema_version" not in record else None


def _by_marker(record: dict[str, Any], version: str, *, is_complete: bool) -> Detection | None:
    is_trajectory = any(key in record for key in ("episode_id", "agent", "task_path"))
    if not is_trajectory and "step_id" in record and "source" in record:
        return None
    reason = f'schema_version "{version}" at /'
    is_sure = version == VERSION and (is_trajectory or not is_complete)
    return Detection(100 if is_sure else 95, reason)


def _by_members(record: dict[str, Any]) -> Detection | None:
    index = record.get("variant_index")
    found = [
        name
        for name, is_there in (
            ("episode_id", isinstance(record.get("episode_id"), str)),
            ("task_path", isinstance(record.get("task_path"), str)),
            ("variant_index", isinstance(index, int | float) and not isinstance(index, bool)),
            ("agent", isinstance(record.get("agent"), dict)),
        )
        if is_there
    ]
    confidence = {4: 90, 3: 60}.get(len(found))
    return None if confidence is None else Detection(confidence, f"{', '.join(found)} at /")


# Reading


@hookimpl
def parse(source: Source) -> Iterable[Document[Any]]:
    """Yield the trajectories of the input, or of every `trajectory.json` below a directory; ale.md 4."""
    from hub_ale.parsing import parse_directory, parse_record

    if source.is_directory:
        return parse_directory(source, FILE)
    return map(parse_record, source.records())


@hookimpl
def to_storyline(document: Document[Any]) -> Iterator[Storyline]:
    """Yield one Storyline a trajectory, parents before children; ale.md 5."""
    from hub_ale.reading import read

    return read(document)


# Writing


@hookimpl
def from_storyline(storylines: Iterable[Storyline], options: WriteOptions) -> Iterator[Json]:
    """Yield one document for each root, its sub-agents nested in it; ale.md 6."""
    from hub_ale.writing import write

    return write(list(storylines), options)


@hookimpl
def file_name(document: Json, options: WriteOptions) -> str:  # noqa: ARG001  # the hook's own
    """Name the file of a document as the benchmark lays out its runs; ale.md 4."""
    from hub_ale.files import run_file

    return run_file(document)


@hookimpl
def attachments(document: Json, options: WriteOptions) -> Iterable[tuple[str, bytes]]:
    """Take the inline images out of a document, as the benchmark does; ale.md 3.1."""
    from hub_ale.images import attach_images

    return attach_images(document, options)
