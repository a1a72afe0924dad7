"""The hook implementations; what they need is imported when they are called.

The format is only read: a session is a log that the program itself wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from hub import Detection, FormatInfo, Json, Rule, Sample, hookimpl

if TYPE_CHECKING:
    from hub import Document, Source, Storyline
    from hub_claude_code.parsing import Session


@hookimpl
def format_info() -> FormatInfo:
    """Describe the format."""
    return FormatInfo(
        id="claude-code",
        title="Claude Code sessions",
        reads=("1", "2"),
        aliases=("claude-session",),
        suffixes=(".claude.jsonl",),
        nodes=("/*",),
    )


@hookimpl
def rules() -> Iterable[Rule]:
    """Name every rule of the format."""
    from hub_claude_code.rules import RULES

    return RULES


# Detection


@hookimpl
def detect(sample: Sample) -> Detection | None:
    """Claim lines that all have a type, of which one stands in the chain of a session, or names its leaf.

    A directory is claimed when sub-agents have files of their own in it: they belong to their sessions.
    """
    if sample.container == "directory":
        agents = [one for one in sample.records if _is_of_agent(one)]
        return Detection(85, "a file agent-*.jsonl below it", "directory") if agents else None
    if not sample.records:
        return None
    if not all(
        isinstance(one, dict) and isinstance(one.get("type"), str) for one in sample.records
    ):
        return None
    if any(map(_is_in_chain, sample.records)):
        return Detection(90, "sessionId, uuid, parentUuid and message in a line")
    if any(map(_is_summary, sample.records)):
        return Detection(85, "a summary with its leafUuid in a line")
    return None


def _is_of_agent(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.startswith("agent-") and name.endswith(".jsonl")


def _is_in_chain(line: Json) -> bool:
    return (
        line["type"] in ("user", "assistant")
        and isinstance(line.get("sessionId"), str)
        and isinstance(line.get("uuid"), str)
        and "parentUuid" in line
        and isinstance(line.get("message"), dict)
    )


def _is_summary(line: Json) -> bool:
    return (
        line["type"] == "summary"
        and isinstance(line.get("summary"), str)
        and isinstance(line.get("leafUuid"), str)
    )


# Reading


@hookimpl
def parse(source: Source) -> Iterator[Document[Session]]:
    """Yield the whole input as one document."""
    from hub_claude_code.parsing import parse_source

    return parse_source(source)


@hookimpl
def to_storyline(document: Document[Session]) -> Iterator[Storyline]:
    """Yield one Storyline a session, and one a sub-agent behind it."""
    from hub_claude_code.mapping import storylines_from_session

    return storylines_from_session(document)
