"""The data model: a line each of the log, with the message of the API inside.

Members in camel case are the program's own, those in snake case the API's. The list is not closed: versions add to it.
A line that is neither said by anybody nor a summary is bookkeeping (snapshots, queues, titles) and a residual.
"""

from typing import Any, Literal, Required, TypedDict

from hub import Json


class Message(TypedDict, total=False):
    """A message of the API; of one that the model made, each line holds one block, and the usage so far."""

    role: Literal["user", "assistant"]
    content: Required[str | list[dict[str, Any]]]
    """Text, or blocks: `text`, `thinking`, `redacted_thinking`, `tool_use`, `tool_result`, `image`."""
    id: str
    """The same in all lines of one message."""
    model: str
    usage: dict[str, Any]
    """Of the whole message, not of the block: the last line has the final counts."""
    stop_reason: str | None


class Line(TypedDict, total=False):
    """A line of a session."""

    type: Required[str]
    sessionId: str
    uuid: str
    parentUuid: str | None
    timestamp: str
    version: str
    """Of the program."""
    isSidechain: bool
    """Whether a sub-agent says it."""
    agentId: str
    """Which one."""
    message: Message
    toolUseResult: Json
    """What the program knows of a result beside what the model is told."""
    summary: str
    content: str
    """Of a line of type `system`."""


MAPPED = frozenset({"type", "sessionId", "timestamp", "isSidechain", "message"})
"""Members of a line that are fields of a Storyline; all others are residuals, or flags."""
MAPPED_IN_MESSAGE = frozenset({"role", "content", "model", "usage"})
FLAGS = ("isMeta", "isCompactSummary", "isApiErrorMessage", "subtype", "level")
"""Members of a line that say what kind of message it is; they go into `extra` of the turn."""
CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
"""Blocks that are calls; of tools that the API runs itself the result stands in the same message, `..._tool_result`."""
TASKS = ("Task", "Agent")
"""Tools that start a sub-agent."""
