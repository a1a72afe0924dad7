"""Short ways to make the Storylines that a test needs: only what matters in it is named.

storyline(
    turn("user", "What is here?"),
    turn("agent", "", call("c1", "list", {"path": "."}), results=[result("c1", "a.txt")]),
)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hub.errors import Json
from hub.storyline.model import Agent, Storyline, ToolCall, Turn


def agent(agent_id: str = "agent", **members: Any) -> Agent:
    """Return an agent."""
    return Agent(agent_id=agent_id, **members)


def call(
    tool_call_id: str, function_name: str = "tool", arguments: Json = None, **members: Any
) -> ToolCall:
    """Return a call of a tool; without *arguments* it has an empty object."""
    return ToolCall(
        tool_call_id=tool_call_id,
        function_name=function_name,
        arguments={} if arguments is None else arguments,
        **members,
    )


def result(source_call_id: str | None, content: Json = "done", **members: Json) -> dict[str, Json]:
    """Return what came back from a call; from none when *source_call_id* is None."""
    reference = {} if source_call_id is None else {"source_call_id": source_call_id}
    return {**reference, "content": content, **members}


def turn(
    source: str = "agent",
    message: Json = "",
    *calls: ToolCall,
    results: Sequence[Json] = (),
    turn_id: int = 0,
    **members: Any,
) -> Turn:
    """Return a turn that made *calls* and saw *results*; `storyline` numbers it when it has no *turn_id*."""
    return Turn(
        turn_id=turn_id,
        source=source,
        message=message,
        tool_calls=list(calls) or None,
        observation={"results": list(results)} if results else None,
        **members,
    )


def storyline(*turns: Turn, session_id: str = "session", **members: Any) -> Storyline:
    """Return a Storyline of *turns*, those without an id numbered by their place."""
    for place, one in enumerate(turns, start=1):
        one.turn_id = one.turn_id or place
    members.setdefault("agent", agent())
    return Storyline(session_id=session_id, turns=list(turns), **members)
