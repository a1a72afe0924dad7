"""From lines to a session: what somebody says, by the one who says it; all the rest is set aside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from hub import Document, InvalidDocument, Json, Record, Source
from hub_claude_code import rules

SPEAKERS = ("user", "assistant", "system")
AGENT = "agent-"
"""How the file of a sub-agent begins."""
UNKNOWN = "unknown"
"""Stands for the id of a session that has none."""


class Spoken(NamedTuple):
    """A line that somebody says."""

    number: int
    """Its position in the file, from 0."""
    value: dict[str, Any]

    @property
    def at(self) -> str:
        """Its pointer."""
        return f"/{self.number}"


class Thread(NamedTuple):
    """What one agent said and saw: the main one of a session, or a sub-agent."""

    session_id: str
    agent: str
    """Id of the sub-agent, or of its first line; empty for the main agent."""
    lines: list[Spoken]

    @property
    def document_id(self) -> str:
        """How the other threads name it."""
        return f"{self.session_id}/{self.agent}" if self.agent else self.session_id


class Session(NamedTuple):
    """A file: its threads, the main one before those that it started, and its summaries."""

    threads: Sequence[Thread]
    summaries: Sequence[str]


def parse_source(source: Source) -> Iterator[Document[Session]]:
    """Yield the document that all lines of *source* make; of a directory, one a session."""
    if source.is_directory:
        yield from _parse_directory(source)
        return
    records = list(source.records())
    if records:
        first = records[0]
        record = Record(None, "", 0, first.zone, first.options, first.name)
        yield _parse([one.value for one in records], record)


def _parse_directory(source: Source) -> Iterator[Document[Session]]:
    """Yield a document a session: its own file, and those of its sub-agents."""
    sessions: dict[str, list[Record]] = {}
    for file in source.files():
        name = file.name or ""
        if not name.endswith(".jsonl"):
            continue
        try:
            records = list(file.records())
        except InvalidDocument as refusal:
            record = Record(None, place=name, name=name)
            yield Document(Session((), ()), record=record, problems=list(refusal.problems))
            continue
        if records:
            sessions.setdefault(_session_of_file(name, records[0].value), []).extend(records)
    for index, (place, records) in enumerate(sessions.items()):
        first = records[0]
        record = Record(None, place, index, source.zone, source.options, first.name)
        yield _parse([one.value for one in records], record)


def _session_of_file(name: str, first: Json) -> str:
    """Return the path of the session, without its suffix, that the file *name* belongs to.

    Sub-agents are logged in `SESSION/subagents/agent-ID.jsonl`, or in `agent-ID.jsonl` beside `SESSION.jsonl`.
    """
    folder, slash, file = name.rpartition("/")
    if not file.startswith(AGENT):
        return name.removesuffix(".jsonl")
    if folder.endswith("/subagents") or folder == "subagents":
        return folder.removesuffix("subagents").rstrip("/")
    session_id = first.get("sessionId") if isinstance(first, dict) else None
    return f"{folder}{slash}{session_id}" if isinstance(session_id, str) else name


def _parse(lines: list[Json], record: Record) -> Document[Session]:
    """Return the document that *lines* make; *record* says where they stand."""
    record.value = lines
    document: Document[Session] = Document(Session((), ()), record=record)
    spoken = list(_spoken(document, lines))
    if not spoken:
        document.report(rules.SPOKEN.at("", lines))
    summaries = [
        line["summary"]
        for line in lines
        if isinstance(line, dict)
        and line.get("type") == "summary"
        and isinstance(line.get("summary"), str)
    ]
    document.value = Session(_threads(document, spoken), summaries)
    return document


def _spoken(document: Document[Session], lines: Sequence[Json]) -> Iterator[Spoken]:
    for index, value in enumerate(lines):
        line = Spoken(index, value)
        if _is_spoken(document, line):
            yield line
        else:
            document.set_aside(line.at, value)


def _is_spoken(document: Document[Session], line: Spoken) -> bool:
    """Tell whether somebody says *line*, so that it can be read."""
    value = line.value
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str):
        document.report(rules.TYPE.at(f"{line.at}/type", kind))
        return False
    if kind not in SPEAKERS:
        return False
    if kind == "system":
        return isinstance(value.get("content"), str)
    message = value.get("message")
    if not isinstance(message, dict):
        document.report(rules.MESSAGE.at(f"{line.at}/message", message))
        return False
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    if isinstance(content, str | list) and all(isinstance(one, dict) for one in blocks):
        return True
    document.report(rules.CONTENT.at(f"{line.at}/message/content", content))
    return False


def _threads(document: Document[Session], spoken: Sequence[Spoken]) -> list[Thread]:
    """Return the threads in the order in which they begin, main ones first."""
    threads: dict[tuple[str, str], Thread] = {}
    roots: dict[str, str] = {}
    for line in spoken:
        session_id = line.value.get("sessionId")
        if not isinstance(session_id, str) or not session_id:
            problem = rules.SESSION.at(f"{line.at}/sessionId", session_id)
            document.report(problem)
            if "sessionId" in line.value:
                document.set_aside(problem.pointer, session_id)
            session_id = UNKNOWN
        agent = _agent(line, roots) if line.value.get("isSidechain") is True else ""
        key = (session_id, agent)
        threads.setdefault(key, Thread(session_id, agent, [])).lines.append(line)
    return sorted(threads.values(), key=lambda one: one.agent != "")


def _agent(line: Spoken, roots: dict[str, str]) -> str:
    """Return the id of the sub-agent that says *line*; without one, the id of the first line of its chain."""
    uuid, parent = line.value.get("uuid"), line.value.get("parentUuid")
    root = roots.get(parent) if isinstance(parent, str) else None
    if root is None:
        root = uuid if isinstance(uuid, str) and uuid else f"line-{line.number + 1}"
    if isinstance(uuid, str):
        roots[uuid] = root
    agent_id = line.value.get("agentId")
    return agent_id if isinstance(agent_id, str) and agent_id else root
