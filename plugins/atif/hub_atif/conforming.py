"""Steps as Harbor wants them, whatever the Storyline: what has to give way is for the carrier.

Source: atif.md 6.3.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hub import (
    Json,
    Storyline,
    ToolCall,
    Turn,
    compact,
    document_prompt_turns,
    turn_prompt_turns,
    value_of_text,
    visible_results,
)
from hub_atif.content import has_audio, write_content
from hub_atif.metrics import is_number, write_metrics
from hub_atif.model import REFERENCE, SOURCES
from hub_atif.rules import is_resolvable
from hub_atif.times import write_time

Step = dict[str, Any]

EMPTY = {"source": "system", "message": ""}
"""The one step of a Storyline without turns."""


def conformed_steps(storyline: Storyline) -> list[Step]:
    """Return the steps of *storyline*, prompts among them; there is at least one."""
    steps: list[Step] = []
    for members in _steps(storyline):
        steps.append({"step_id": len(steps) + 1, **members})
    return steps or [{"step_id": 1, **EMPTY}]


def _steps(storyline: Storyline) -> Iterator[Step]:
    """Yield the steps without their ids."""
    for source, text in document_prompt_turns(storyline):
        yield {"source": source, "message": text}
    for turn, prompts in turn_prompt_turns(storyline):
        for source, text in prompts:
            yield {"source": source, "message": text}
        yield conformed_step(turn)


def conformed_step(turn: Turn) -> Step:
    """A turn as a step, without its id."""
    source = turn.source if turn.source in SOURCES else "system"
    step: Step = {"source": source, "message": write_content(turn.message)}
    if turn.timestamp is not None:
        step["timestamp"] = write_time(turn.timestamp)
    if source == "agent":
        _add_agent_members(step, turn)
    observation = _observation(turn, step.get("tool_calls", ()))
    if observation is not None:
        step["observation"] = observation
    if turn.llm_call_count is not None and turn.llm_call_count >= 0:
        step["llm_call_count"] = turn.llm_call_count
    if turn.is_copied_context is not None:
        step["is_copied_context"] = turn.is_copied_context
    if type(turn.extra) is dict:
        step["extra"] = turn.extra
    return step


def _add_agent_members(step: Step, turn: Turn) -> None:
    """Add what only an agent step has; a step without a model call has neither reasoning nor metrics."""
    if turn.model_name is not None:
        step["model_name"] = turn.model_name
    if type(turn.reasoning_effort) is str or is_number(turn.reasoning_effort):
        step["reasoning_effort"] = turn.reasoning_effort
    if turn.llm_call_count != 0:
        if turn.reasoning_content is not None:
            step["reasoning_content"] = turn.reasoning_content
        metrics = write_metrics(turn)
        if metrics is not None:
            step["metrics"] = metrics
    if turn.tool_calls is not None:
        step["tool_calls"] = list(map(conformed_call, turn.tool_calls))


# Calls


def conformed_call(call: ToolCall) -> dict[str, Json]:
    """A call, its arguments an object."""
    written = {
        "tool_call_id": call.tool_call_id,
        "function_name": call.function_name,
        "arguments": write_arguments(call.arguments),
    }
    extra = call.extra if type(call.extra) is dict else {}
    if call.duration_ms is not None and "duration_ms" not in extra:
        extra = {**extra, "duration_ms": call.duration_ms}
    if extra:
        written["extra"] = extra
    return written


def write_arguments(arguments: Json) -> dict[str, Json]:
    """An object, or that which a text is; null is an empty one, and anything else stands under `value`."""
    if type(arguments) is dict:
        return arguments
    if arguments is None:
        return {}
    found = value_of_text(arguments) if type(arguments) is str else None
    return found if type(found) is dict else {"value": arguments}


# Results


def _observation(turn: Turn, calls: Sequence[Mapping[str, Json]]) -> Json:
    """Return what came back: the results that are visible, and an error behind them; None if nothing did."""
    found = turn.observation
    results = visible_results(turn)
    error = found.get("error") if type(found) is dict else None
    if type(error) is str and error:
        results = [*results, {"content": error}]
    if found is None and not results:
        return None
    ids = {call["tool_call_id"] for call in calls}
    return {"results": [conformed_result(result, ids) for result in results]}


_READ = frozenset({"source_call_id", "content", "subagent_trajectory_ref", "extra", "is_error"})
"""Keys of a result that are looked at."""


def conformed_result(result: Mapping[str, Json], ids: set[Json]) -> dict[str, Json]:
    """A result of a step whose calls have *ids*."""
    if _READ.isdisjoint(result):
        return {"content": compact(result)}
    written: dict[str, Json] = {}
    call_id, content = result.get("source_call_id"), result.get("content")
    if type(call_id) is str and call_id in ids:
        written["source_call_id"] = call_id
    if content is not None:
        written["content"] = write_content(content)
    references = result.get("subagent_trajectory_ref")
    if references and type(references) is list and all(map(_is_reference, references)):
        written["subagent_trajectory_ref"] = references
    extra = result.get("extra") if type(result.get("extra")) is dict else None
    if result.get("is_error") is True:
        extra = {**(extra or {}), "is_error": True}
    if extra is not None:
        written["extra"] = extra
    return written


def _is_reference(value: Json) -> bool:
    return type(value) is dict and REFERENCE.fits(value) and is_resolvable(value)


# Version


def steps_have_audio(steps: Sequence[Step]) -> bool:
    """Tell whether a recording is in *steps*, which ATIF knows since 1.8."""
    return any(
        has_audio(step["message"])
        or any(
            has_audio(one.get("content")) for one in step.get("observation", NO_RESULTS)["results"]
        )
        for step in steps
    )


NO_RESULTS: Mapping[str, Any] = {"results": ()}
