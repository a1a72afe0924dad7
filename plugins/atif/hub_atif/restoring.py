"""Restoring: steps and residuals of a Storyline that came from ATIF go back to where they were read.

Source: atif.md 5.2 and 6.2; residuals.md 5 and 6.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hub import Json, Storyline, ToolCall, Turn, WriteOptions, restore, utc_text
from hub import instant as instant_of
from hub_atif.model import CHILDREN, PLACES, SOURCE

Step = dict[str, Any]


def restored_steps(storyline: Storyline) -> list[Step]:
    """Return the steps as they were read."""
    return list(map(restored_step, storyline.turns))


def restored_step(turn: Turn) -> Step:
    """A turn as the step that it was."""
    step: Step = {"step_id": turn.turn_id}
    if turn.timestamp is not None:
        step["timestamp"] = _time(turn.timestamp)
    step["source"] = turn.source
    if turn.model_name is not None:
        step["model_name"] = turn.model_name
    if turn.reasoning_effort is not None:
        step["reasoning_effort"] = turn.reasoning_effort
    step["message"] = turn.message
    if turn.reasoning_content is not None:
        step["reasoning_content"] = turn.reasoning_content
    if turn.tool_calls is not None:
        step["tool_calls"] = list(map(restored_call, turn.tool_calls))
    if turn.observation is not None:
        step["observation"] = turn.observation
    if turn.metrics is not None:
        step["metrics"] = turn.metrics
    if turn.is_copied_context is not None:
        step["is_copied_context"] = turn.is_copied_context
    if turn.llm_call_count is not None:
        step["llm_call_count"] = turn.llm_call_count
    if turn.extra is not None:
        step["extra"] = turn.extra
    return step


def _time(value: Json) -> Json:
    """A text as it is; a number, which ATIF never has, as the instant that it is."""
    if type(value) is str:
        return value
    nanoseconds = instant_of(value)
    return None if nanoseconds is None else utc_text(nanoseconds) + "Z"


def restored_call(call: ToolCall) -> dict[str, Json]:
    """A call as it was."""
    written = {
        "tool_call_id": call.tool_call_id,
        "function_name": call.function_name,
        "arguments": call.arguments,
    }
    if call.result is not None:
        written["result"] = call.result
    if call.extra is not None:
        written["extra"] = call.extra
    return written


# Residuals


def native_residuals(storyline: Storyline) -> Mapping[str, Json]:
    """Return the residuals of *storyline* that are ATIF's."""
    residuals = storyline.unknown_fields.get(SOURCE)
    return {} if residuals is None else residuals.fields


_NODE = re.compile(rf"(?:/{CHILDREN}/(?:0|[1-9]\d*)(?=/))*", re.ASCII).match
_POSITIONAL = re.compile(r"call--?\d+-\d+(?:#\d+)?", re.ASCII).fullmatch


def put_back(node: dict[str, Any], storyline: Storyline, options: WriteOptions) -> None:
    """Put the residuals of *storyline* back into its node; name those without a place."""
    places: dict[str, str] = {}
    fields: dict[str, Json] = {}
    for place, value in native_residuals(storyline).items():
        relative = place[_NODE(place).end() :]  # type: ignore[union-attr]  # matches any text
        if relative in fields:
            options.unplaced(storyline, place, value)
        else:
            places[relative], fields[relative] = place, value
    for relative, value in restore(node, fields, _gives_way, places=PLACES).items():
        options.unplaced(storyline, places[relative], value)


def _gives_way(tokens: Sequence[str], written: Json, residual: Json) -> bool:
    """Tell whether *written*, at *tokens* of a node, stands there for want of a usable value."""
    match tokens:
        case ["session_id" | "trajectory_id"]:
            return not (type(residual) is str and residual)
        case ["steps", index, "step_id"]:
            return bool(written == int(index) + 1)
        case ["steps", _, "tool_calls", _, "tool_call_id"]:
            is_made_up = type(written) is str and bool(_POSITIONAL(written))
            return is_made_up and not (type(residual) is str and residual)
    return False
