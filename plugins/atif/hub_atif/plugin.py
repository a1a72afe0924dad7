"""The hook implementations of the ATIF format; what they need is imported when they are called.

Source: atif.md; detection.md 3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from hub import Detection, FormatInfo, Json, Rule, Sample, hookimpl

if TYPE_CHECKING:
    from hub import Document, Source, Storyline, WriteOptions

VERSIONS = tuple(f"ATIF-v1.{minor}" for minor in range(9))
_MARKER = re.compile(r"ATIF-v1\.\d+", re.ASCII).fullmatch


@hookimpl
def format_info() -> FormatInfo:
    """Describe ATIF."""
    return FormatInfo(
        id="atif",
        title="ATIF: Agent Trajectory Interchange Format",
        reads=VERSIONS,
        writes=VERSIONS,
        suffixes=(".atif.json",),
        nodes=("", "/subagent_trajectories/*/**"),
        envelope=("/extra/_storyline", "/_storyline"),
    )


@hookimpl
def rules() -> Iterable[Rule]:
    """Name every rule of the format."""
    from hub_atif.rules import RULES

    return RULES


# Detection


@hookimpl
def detect(sample: Sample) -> Detection | None:
    """Claim trajectories by their marker or their members: detection.md 3."""
    if sample.container == "directory":
        return None
    verdicts = [_verdict(record) for record in sample.records]
    found = [verdict for verdict in verdicts if verdict is not None]
    return min(found) if found and len(found) == len(verdicts) else None


def _verdict(record: Json) -> Detection | None:
    """Return how sure one record looks like a trajectory."""
    if not isinstance(record, dict):
        return None
    if "schema_version" not in record:
        return _by_members(record)
    version = record["schema_version"]
    if not isinstance(version, str) or not version.startswith("ATIF"):
        return None
    return Detection(100 if _MARKER(version) else 95, f'schema_version "{version}" at /')


def _by_members(record: dict[str, Any]) -> Detection | None:
    agent, steps = record.get("agent"), record.get("steps")
    if "episode_id" in record or not isinstance(agent, dict) or not isinstance(steps, list):
        return None
    if not isinstance(agent.get("name"), str):
        return None
    seen = [step for step in steps if isinstance(step, dict)]
    if len(seen) < len(steps):
        return None
    if not seen:
        return Detection(60, "agent and steps at /")
    if any({"step_id", "source", "message"} <= step.keys() for step in seen):
        return Detection(65, "agent, and steps with step_id, source and message at /")
    return None


# Reading


@hookimpl
def parse(source: Source) -> Iterable[Document[Any]]:
    """Yield the trees of the input, one a record; atif.md 2."""
    from hub_atif.parsing import parse_record

    return map(parse_record, source.records())


@hookimpl
def to_storyline(document: Document[Any]) -> Iterator[Storyline]:
    """Yield one Storyline a trajectory, parents before children; atif.md 5."""
    from hub_atif.reading import read

    return read(document)


# Writing


@hookimpl
def from_storyline(storylines: Iterable[Storyline], options: WriteOptions) -> Iterator[Json]:
    """Yield one document for each root, its sub-agents nested in it; atif.md 6."""
    from hub_atif.writing import write

    return write(list(storylines), options)
