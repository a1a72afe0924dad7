"""ATIF to Storyline: one trajectory is one Storyline, one step is one turn, in the same order.

Opaque values are shared with the document; an object is copied only where a member of it differs.

Source: atif.md 4 and 5.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from hub import (
    INTEGERS,
    MISSING,
    PLACEHOLDER,
    Agent,
    CallIndex,
    Document,
    ExactNumber,
    Json,
    Origin,
    Parent,
    Storyline,
    ToolCall,
    Turn,
    add_residuals,
    is_integer,
    turn_ids,
    unique_call_ids,
)
from hub_atif import model
from hub_atif.model import CHILDREN, SOURCE, SOURCES, Step
from hub_atif.tree import Identity, Node, Tree

Fields = dict[str, Json]
"""Residuals by pointer from the root of the document."""

_NODE = re.compile(rf"(?:/{CHILDREN}/\d+)*", re.ASCII).match
LATENCIES = ("latency_ms", "elapsed_ms", "duration_ms")
TTFT = "ttft_ms"


def read(document: Document[Tree]) -> Iterator[Storyline]:
    """Yield the Storylines of a document, parents before children."""
    tree = document.value
    ids = tree.identities
    children: list[list[str]] = [[] for _ in tree.nodes]
    for node, identity in zip(tree.nodes, ids, strict=True):
        if node.parent is not None:
            children[node.parent].append(identity.key)
    set_aside = _by_node(document.residuals)
    for node, identity, keys in zip(tree.nodes, ids, children, strict=True):
        fields = set_aside.get(node.pointer, {})
        storyline = storyline_from_node(node, identity, fields)
        if node.parent is not None:
            storyline.parent = Parent(session_id=ids[node.parent].key)
        if node.trajectory.get(CHILDREN) is not None:
            storyline.child_ids = keys
        if fields:
            add_residuals(storyline, SOURCE, tree.document_id, fields)
        yield storyline


def _by_node(residuals: Mapping[str, Json]) -> dict[str, Fields]:
    """Return *residuals* by the pointer of the node that they are in."""
    found: dict[str, Fields] = {}
    for place, value in residuals.items():
        node = _NODE(place)[0]  # type: ignore[index]  # matches any text
        found.setdefault(node, {})[place] = value
    return found


def storyline_from_node(node: Node, identity: Identity, fields: Fields) -> Storyline:
    """A trajectory as a Storyline, without its links; *fields* gets what has to be set aside."""
    trajectory = node.trajectory
    return Storyline(
        session_id=identity.session,
        trajectory_id=identity.trajectory,
        agent=agent_from_info(node.agent),
        turns=turns_from_steps(node, fields),
        origin=Origin(format=SOURCE, schema_version=trajectory.get("schema_version")),
        notes=trajectory.get("notes"),
        final_metrics=trajectory.get("final_metrics"),
        continued_trajectory_ref=trajectory.get("continued_trajectory_ref"),
        extra=trajectory.get("extra"),
        node=node.pointer,
    )


def agent_from_info(agent: model.Agent) -> Agent:
    """Who acted."""
    name = agent.get("name")
    return Agent(
        agent_id=name or PLACEHOLDER,
        name=name,
        version=agent.get("version"),
        model_name=agent.get("model_name"),
        tool_definitions=agent.get("tool_definitions"),
        extra=agent.get("extra"),
    )


# Turns


def turns_from_steps(node: Node, fields: Fields) -> list[Turn]:
    """The steps as turns, with ids that are unique and results that name calls by these."""
    steps, at = node.steps, f"{node.pointer}/steps"
    ids = [step.get("step_id", MISSING) for step in steps]
    if ids != list(range(1, len(ids) + 1)):
        ids, replaced = turn_ids(ids)
        for index in replaced:
            fields[f"{at}/{index}/step_id"] = steps[index]["step_id"]
    if node.has_unique_call_ids:
        return list(map(turn_from_step, steps, ids))
    call_ids = _call_ids(steps, ids, at, fields)
    turns = list(map(turn_from_step, steps, ids, call_ids))
    _follow_renamed(steps, turns, at, fields)
    return turns


def turn_from_step(step: Step, turn_id: int, call_ids: Sequence[str] | None = None) -> Turn:
    """A step as a turn; its calls have *call_ids*, or those of the file."""
    get: Callable[[str], Any] = step.get
    source: str = get("source") or PLACEHOLDER
    calls, metrics = get("tool_calls"), get("metrics")
    kind = None
    if source not in SOURCES:
        kind = "dialogue"
    elif calls and source == "agent":
        kind = "autonomous"
    turn = Turn(
        turn_id=turn_id,
        source=source,
        message=get("message"),
        kind=kind,
        timestamp=get("timestamp"),
        reasoning_content=get("reasoning_content"),
        reasoning_effort=get("reasoning_effort"),
        observation=get("observation"),
        metrics=metrics,
        model_name=get("model_name"),
        llm_call_count=get("llm_call_count"),
        is_copied_context=get("is_copied_context"),
        extra=get("extra"),
    )
    if calls is not None:
        if call_ids is None:
            turn.tool_calls = [call_from_call(call, call["tool_call_id"]) for call in calls]
        else:
            turn.tool_calls = list(map(call_from_call, calls, call_ids))
    if type(metrics) is dict:
        _promote_times(turn, metrics)
    return turn


def _promote_times(turn: Turn, metrics: Mapping[str, Json]) -> None:
    """Promote the latency under the first key that is there, and the time to the first token; atif.md 5.3."""
    for key in LATENCIES:
        if key in metrics:
            turn.latency_ms = whole_number(metrics[key])
            break
    if TTFT in metrics:
        turn.ttft_ms = whole_number(metrics[TTFT])


def whole_number(value: Json) -> int | None:
    """Return a number truncated toward zero, and to 64 bits; None if *value* is none."""
    if type(value) is ExactNumber:  # too large for a float, so for 64 bits as well
        return INTEGERS[0] if value.text.startswith("-") else INTEGERS[-1]
    if type(value) is not int and type(value) is not float:
        return None
    return max(INTEGERS[0], min(int(value), INTEGERS[-1]))


def call_from_call(call: Mapping[str, Any], call_id: str) -> ToolCall:
    """A call, which has *call_id* in the Storyline."""
    extra = call.get("extra")
    read = ToolCall(
        tool_call_id=call_id,
        function_name=call.get("function_name") or PLACEHOLDER,
        arguments=call.get("arguments"),
        result=call.get("result"),
        extra=extra,
    )
    if type(extra) is dict and is_integer(duration := extra.get("duration_ms")):
        read.duration_ms = duration
    return read


# Call ids: storyline.md 5.2


def _call_ids(
    steps: Sequence[Step], ids: Sequence[int], at: str, fields: Fields
) -> list[list[str]]:
    """Return an id for each call of each step, all different; those that had to be changed are set aside."""
    places = [
        (index, place) for index, step in enumerate(steps) for place in range(len(_calls(step)))
    ]
    sources: list[str | None] = [
        _calls(steps[index])[place].get("tool_call_id") or None for index, place in places
    ]
    chosen = unique_call_ids(
        sources,
        [positional_id(ids[index], place) for index, place in places],
        reserved=_references(steps),
    )
    by_step: list[list[str]] = [[] for _ in steps]
    for (index, place), source, call_id in zip(places, sources, chosen, strict=True):
        by_step[index].append(call_id)
        if source is not None and source != call_id:
            fields[f"{at}/{index}/tool_calls/{place}/tool_call_id"] = source
    return by_step


def positional_id(turn_id: int, place: int) -> str:
    """Return the id of a call that has none."""
    return f"call-{turn_id}-{place}"


def _references(steps: Sequence[Step]) -> Iterator[str]:
    """Yield what results name: no id that is made up may come to be one of them."""
    for step in steps:
        for _, _, call_id in _named_results(step):
            yield call_id


def _calls(step: Step) -> Sequence[Any]:
    return step.get("tool_calls") or ()


def _named_results(step: Step) -> Iterator[tuple[int, dict[str, Json], str]]:
    """Yield place and value of each result of *step* that names a call, and the name."""
    observation = step.get("observation")
    for place, result in enumerate(observation.get("results", ()) if observation else ()):
        if type(result) is dict and type(call_id := result.get("source_call_id")) is str:
            yield place, result, call_id


def _follow_renamed(steps: Sequence[Step], turns: Sequence[Turn], at: str, fields: Fields) -> None:
    """Let results name the calls that they answer by their new ids."""
    calls = CallIndex()
    for index, (step, turn) in enumerate(zip(steps, turns, strict=True)):
        for source, call in zip(_calls(step), turn.tool_calls or (), strict=True):
            if source.get("tool_call_id"):
                calls.add(index, source["tool_call_id"], call.tool_call_id)
        for place, result, named in _named_results(step):
            found = calls.answer(named)
            if found is None or found[1] == named:
                continue
            if turn.observation is step["observation"]:
                turn.observation = {"results": list(step["observation"]["results"])}
            turn.observation["results"][place] = {**result, "source_call_id": found[1]}
            fields[f"{at}/{index}/observation/results/{place}/source_call_id"] = named
