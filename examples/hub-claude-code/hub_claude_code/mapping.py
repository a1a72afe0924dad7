"""From a session to Storylines: the main agent's, and one for each sub-agent, linked to the call that started it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from hub import Agent, Document, Origin, Parent, Storyline, ToolCall, Turn, add_residuals
from hub_claude_code.model import TASKS
from hub_claude_code.parsing import Session, Thread
from hub_claude_code.turns import Turns

FORMAT = "claude-code"


class Start(NamedTuple):
    """The call that started a sub-agent."""

    thread: Thread
    turn: Turn
    call: ToolCall


def storylines_from_session(document: Document[Session]) -> Iterator[Storyline]:
    """Yield the Storylines of a document, main agents first."""
    session = document.value
    made = [(thread, Turns(document, thread)) for thread in session.threads]
    starts = _starts(made)
    source_id = session.threads[0].session_id
    for number, (thread, turns) in enumerate(made):
        storyline = _storyline(thread, turns, starts.get(thread.document_id))
        storyline.child_ids = _children(thread, session.threads, starts) or None
        add_residuals(storyline, FORMAT, source_id, turns.residuals)
        if number == 0:
            storyline.notes = "\n".join(session.summaries) or None
            add_residuals(storyline, FORMAT, source_id, document.residuals)
        yield storyline


def _storyline(thread: Thread, turns: Turns, start: Start | None) -> Storyline:
    first = thread.lines[0].value
    version = first.get("version")
    version = version if isinstance(version, str) else None
    models = (turn.model_name for turn in turns.turns if turn.model_name)
    kind = start.call.arguments.get("subagent_type") if start is not None else None
    return Storyline(
        session_id=thread.session_id,
        trajectory_id=thread.document_id if thread.agent else None,
        agent=Agent(
            agent_id=kind if isinstance(kind, str) and kind else FORMAT,
            version=version,
            model_name=next(models, None),
        ),
        origin=Origin(format=FORMAT, schema_version=version),
        parent=_parent(thread, start),
        turns=turns.turns,
        node=thread.lines[0].at,
    )


def _parent(thread: Thread, start: Start | None) -> Parent | None:
    if not thread.agent:
        return None
    if start is None:
        return Parent(session_id=thread.session_id)
    return Parent(
        session_id=start.thread.document_id,
        call_id=start.call.tool_call_id,
        turn_id=start.turn.turn_id,
    )


def _children(thread: Thread, threads: Sequence[Thread], starts: dict[str, Start]) -> list[str]:
    """Return the sub-agents that *thread* started; the main one has those of which that is not known."""
    found = []
    for one in threads:
        start = starts.get(one.document_id)
        parent = one.session_id if start is None else start.thread.document_id
        if one.agent and parent == thread.document_id:
            found.append(one.document_id)
    return found


# Which call started a sub-agent


def _starts(made: Sequence[tuple[Thread, Turns]]) -> dict[str, Start]:
    """Return the call that started each sub-agent, by the document id of the sub-agent, where that can be told."""
    found: dict[str, Start] = {}
    taken: set[str] = set()
    for thread, turns in made:
        if thread.agent:
            start = _start(thread, turns, [one for one in made if one[0] is not thread], taken)
            if start is not None:
                found[thread.document_id] = start
                taken.add(start.call.tool_call_id)
    return found


def _start(
    thread: Thread, turns: Turns, others: Sequence[tuple[Thread, Turns]], taken: set[str]
) -> Start | None:
    """Find the call by the id that its result names, by its prompt, or by the line that the first one follows."""
    candidates = [
        Start(other, turn, call)
        for other, made in others
        if other.session_id == thread.session_id
        for turn in made.turns
        for call in turn.tool_calls or ()
        if call.function_name in TASKS and isinstance(call.arguments, dict)
    ]
    named = {made.call_of_agent.get(thread.agent) for _, made in others}
    by_result = [one for one in candidates if one.call.tool_call_id in named]
    if by_result:
        return by_result[0]
    free = [one for one in candidates if one.call.tool_call_id not in taken]
    prompt = turns.turns[0].message
    by_prompt = [one for one in free if prompt and one.call.arguments.get("prompt") == prompt]
    if by_prompt:
        return by_prompt[0]
    above: Any = thread.lines[0].value.get("parentUuid")
    followed = [made.turn_of_line.get(above) for _, made in others if isinstance(above, str)]
    by_line = [one for one in free if any(one.turn is turn for turn in followed)]
    return by_line[0] if len(by_line) == 1 else None
