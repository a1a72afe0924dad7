"""ALE to Storyline: one trajectory is one Storyline, one step is one turn, but for what is folded and what are prompts.

Source: ale.md 5.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hub import (
    PLACEHOLDER,
    Agent,
    Document,
    Env,
    Json,
    Origin,
    Parent,
    Prompt,
    Storyline,
    Task,
    ToolCall,
    Turn,
    add_residuals,
    unique_call_ids,
)
from hub_ale.completing import Node
from hub_ale.content import read_message
from hub_ale.fold import Fold
from hub_ale.marks import Role, roles, without_mark
from hub_ale.metrics import read_final, read_metrics
from hub_ale.model import AgentInfo, Step, Trajectory
from hub_ale.residuals import positional_id

SOURCE = "ale"

Fields = dict[str, Json]
"""Residuals by pointer from the root of the document."""


def read(document: Document[list[Node]]) -> Iterator[Storyline]:
    """Yield the Storylines of a document, parents before children."""
    nodes = document.value
    ids = _identities(nodes)
    children: list[list[str]] = [[] for _ in nodes]
    for node, identity in zip(nodes, ids, strict=True):
        if node.parent is not None:
            children[node.parent].append(identity)
    set_aside = _by_node(document.residuals)
    for position, node in enumerate(nodes):
        fields = set_aside.get(node.pointer, {})
        storyline = storyline_from_trajectory(node.trajectory, node.pointer, fields)
        storyline.node = node.pointer
        if node.parent is not None:
            storyline.parent = Parent(session_id=ids[node.parent])
        if node.parent is not None or ids[position] != storyline.session_id:
            storyline.trajectory_id = ids[position]
        storyline.child_ids = children[position] or None
        add_residuals(storyline, SOURCE, ids[0], fields)
        yield storyline


def _identities(nodes: Sequence[Node]) -> list[str]:
    """The identity of each trajectory: its `episode_id`, with `#2`, `#3`, ... where that is taken (ale.md 5.4)."""
    taken: dict[str, None] = {}
    for node in nodes:
        identity = episode_id = node.trajectory["episode_id"]
        number = 1
        while identity in taken:
            number += 1
            identity = f"{episode_id}#{number}"
        taken[identity] = None
    return list(taken)


_NODE = re.compile(r"(?:/subagent_trajectories/\d+)*", re.ASCII).match


def _by_node(residuals: Mapping[str, Json]) -> dict[str, Fields]:
    """Give each residual to the trajectory that its pointer leads into."""
    found: dict[str, Fields] = {}
    for pointer, value in residuals.items():
        node = _NODE(pointer)
        found.setdefault(node[0] if node is not None else "", {})[pointer] = value
    return found


# Trajectory


def storyline_from_trajectory(trajectory: Trajectory, at: str, fields: Fields) -> Storyline:
    """A trajectory as a Storyline, without its links; ale.md 5.1. What is set aside goes to *fields*."""
    final_metrics, result = None, None
    if trajectory["final_metrics"] is not None:
        final_metrics, result = read_final(trajectory["final_metrics"])
    task_path, env = trajectory["task_path"], _env(trajectory)
    turns, system = _turns(trajectory, at, fields)
    prompt = Prompt(system=system, user=trajectory["instruction"] or None)
    return Storyline(
        session_id=trajectory["episode_id"],
        origin=Origin(format=SOURCE, schema_version=trajectory["schema_version"]),
        run_id=_run(task_path, trajectory["variant_index"]),
        agent=agent_from_info(trajectory["agent"]),
        task=None if env is None and result is None else Task(env=env, result=result),
        prompt=None if prompt == Prompt() else prompt,
        started_at=trajectory["started_at"],
        finished_at=trajectory["ended_at"],
        final_metrics=final_metrics,
        continued_trajectory_ref=trajectory["continued_trajectory_ref"],
        extra=trajectory["extra"] or None,
        turns=turns,
    )


def _run(task_path: str | None, variant_index: int | None) -> str | None:
    """The task, with its variant when that is not the first: ale.md 5.4."""
    return (
        f"{task_path}#variant-{variant_index}" if task_path and variant_index else task_path or None
    )


def _env(trajectory: Trajectory) -> Env | None:
    name, variant_index = trajectory["task_path"], trajectory["variant_index"]
    state = None if variant_index is None else {"variant_index": variant_index}
    return None if name is None and state is None else Env(name=name, state=state)


def agent_from_info(info: AgentInfo) -> Agent:
    """Who produced the trajectory; ale.md 5.1."""
    return Agent(
        agent_id=info["name"] or PLACEHOLDER,
        name=info["name"],
        version=info["version"],
        model_name=info["model"],
        extra=info["extra"] or None,
    )


# Turns


def _turns(trajectory: Trajectory, at: str, fields: Fields) -> tuple[list[Turn], str | None]:
    """Return the turns, and the system prompt that a marked step holds."""
    steps = trajectory["steps"]
    parts = list(roles(trajectory))
    step_ids, turn_ids = _ids(steps, parts, at, fields)
    call_ids = _call_ids(steps, turn_ids, at, fields)
    fold = Fold(step_ids)
    blank: list[tuple[int, int]] = []
    system: str | None = None
    prompts = _Prompts(trajectory["instruction"])
    for index, (step, role) in enumerate(zip(steps, parts, strict=True)):
        if role == "turn":
            turn = turn_from_step(step, turn_ids[index])
            if not step["source"] and step["source"] is not None:
                fields[f"{at}/steps/{index}/source"] = step["source"]
            if step["tool_calls"]:
                turn.tool_calls = _calls(step, index, call_ids, fold, blank)
                if turn.tool_calls is not None and step["source"] == "agent":
                    turn.kind = "autonomous"
            if prompts.is_changed:
                turn.prompt = prompts.in_force()
            fold.add(turn, index, step)
        elif role in ("folded", "folded here"):
            time = step["timestamp"]
            if fields:
                # The skeleton keeps the source text, so it is no residual of its own.
                place = f"{at}/steps/{index}/timestamp"
                time = fields.pop(place) if type(fields.get(place)) is str else time
            fold.fold(index, step, time, here=role == "folded here")
        elif role == "turn-prompt":
            prompts.replace(step)
        elif step["source"] == "system":
            system = step["message"]  # type: ignore[assignment]  # a prompt is a string
            prompts.set_document(system)
    fields.update((f"{at}/steps/{index}/tool_calls/{call}/name", "") for index, call in blank)
    fields.update((f"{at}/steps/{index}", skeleton) for index, skeleton in fold.skeletons())
    return fold.turns, system


def turn_from_step(step: Step, turn_id: int) -> Turn:
    """A step as a turn, without calls and results; ale.md 5.1, 5.2 and 5.5."""
    metrics, source, extra = step["metrics"], step["source"], step["extra"]
    turn = Turn(
        turn_id=turn_id,
        source=source or PLACEHOLDER,
        message=read_message(step["message"]),
        timestamp=step["timestamp"],
        reasoning_content=step["reasoning"],
    )
    if source == "environment":
        turn.kind = "observation"
    if metrics is not None:
        turn.metrics = read_metrics(metrics)
        turn.latency_ms = metrics["duration_ms"]
    if extra:
        turn.extra = without_mark(extra) or None
    return turn


class _Prompts:
    """The prompt in force while the steps are read: ale.md 5.9."""

    def __init__(self, user: str) -> None:
        self._document = {"system": "", "user": user}
        self._present = dict(self._document)

    @property
    def is_changed(self) -> bool:
        """Whether the prompt in force is not the document's."""
        return self._present != self._document

    def set_document(self, system: str | None) -> None:
        self._document["system"] = self._present["system"] = system or ""

    def replace(self, step: Step) -> None:
        self._present[step["source"]] = step["message"]  # type: ignore[assignment]  # a prompt is a string

    def in_force(self) -> Prompt:
        return Prompt(system=self._present["system"] or None, user=self._present["user"] or None)


# Ids


def _ids(
    steps: Sequence[Step], parts: Sequence[Role], at: str, fields: Fields
) -> tuple[Sequence[int], list[int]]:
    """Return the ids of the steps, and for each step the id of the turn that it becomes; ale.md 5.4.

    Ids that are not all different integers are set aside, and the positions stand in for them.
    """
    found: list[Any] = [step["step_id"] for step in steps]
    positions = range(1, len(steps) + 1)
    if found != list(positions):
        if None not in found and len(set(found)) == len(found):
            return found, found
        fields.update(
            (f"{at}/steps/{position - 1}/step_id", step_id)
            for position, step_id in zip(positions, found, strict=True)
            if step_id is not None and step_id != position
        )
    turn_ids = []
    turns = 0
    for role in parts:
        turns += role == "turn"
        turn_ids.append(turns)
    return positions, turn_ids


def _call_ids(
    steps: Sequence[Step], turn_ids: Sequence[int], at: str, fields: Fields
) -> Iterator[str]:
    """Yield an id for each call in order; those that had to be changed are set aside."""
    found: list[str] = [
        call["id"] for step in steps if step["tool_calls"] for call in step["tool_calls"] if call
    ]
    if all(found) and len(set(found)) == len(found):
        return iter(found)
    places = [
        (index, position)
        for index, step in enumerate(steps)
        for position, call in enumerate(step["tool_calls"])
        if call
    ]
    chosen = unique_call_ids(
        [source or None for source in found],
        [positional_id(turn_ids[index], position) for index, position in places],
        reserved=_references(steps),
    )
    fields.update(
        (f"{at}/steps/{index}/tool_calls/{position}/id", source)
        for (index, position), source, call_id in zip(places, found, chosen, strict=True)
        if source not in (call_id, None)
    )
    return iter(chosen)


def _references(steps: Sequence[Step]) -> Iterator[str]:
    """Yield the call ids that results name."""
    for step in steps:
        if step["observation"] is not None:
            for result in step["observation"]["results"]:
                if result and result["tool_call_id"]:
                    yield result["tool_call_id"]


# Calls


def _calls(
    step: Step, index: int, ids: Iterator[str], fold: Fold, blank: list[tuple[int, int]]
) -> list[ToolCall] | None:
    """Return the calls of the step at *index*, and let results find them by the ids that the file has.

    Step and call of a blank name are added to *blank*.
    """
    turn = len(fold.turns)
    calls = []
    for position, call in enumerate(step["tool_calls"]):
        if call is None:
            continue
        call_id, name, source = next(ids), call["name"], call["id"]
        if source:
            fold.calls.add(turn, source, call_id)
        if name == "":
            blank.append((index, position))
        calls.append(
            ToolCall(
                tool_call_id=call_id, function_name=name or PLACEHOLDER, arguments=call["arguments"]
            )
        )
    return calls or None
