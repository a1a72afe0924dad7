"""Tools and observations: a tool is a call, an observation is a result, each pair of functions side by side.

Source: actf.md 5.2, 5.4, 5.5, 6.4 and 6.6; actf-records.md 3 and 5.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import NoneType

from hub import MISSING, PLACEHOLDER, Json, Response, ToolCall, equal, is_integer
from hub_actf.effective import reference, reference_key, tool_name
from hub_actf.model import Tool

COMMAND_EXECUTION = "command_execution"
NOTHING: Mapping[str, Json] = {}


# Tool and call: actf.md 5.4 and 6.4


def call_from_tool(tool: Tool, call_id: str) -> ToolCall:
    """Return the call of *tool*, which has the Storyline id *call_id*."""
    return ToolCall(
        tool_call_id=call_id,
        kind=kind if type(kind := tool.get("type")) is str and kind else None,
        function_name=tool_name(tool) or PLACEHOLDER,
        arguments=chosen_arguments(tool),
        result=tool.get("aggregated_output"),
        response=None if NO_RESPONSE(tool) else response_from_tool(tool),
    )


NO_RESPONSE = frozenset({"status", "exit_code"}).isdisjoint


def tool_from_call(call: ToolCall, tool_id: str, *, restored: bool) -> dict[str, Json]:
    """Return the tool of *call*; *restored*: a call without kind had no type."""
    kind = call.kind or None
    if kind is None and not restored:
        is_command = call.function_name == COMMAND_EXECUTION
        kind = COMMAND_EXECUTION if is_command else "tool_use"
    tool = {"id": tool_id} if kind is None else {"id": tool_id, "type": kind}
    if kind != COMMAND_EXECUTION or call.function_name != COMMAND_EXECUTION:
        tool["name"] = call.function_name
    arguments = call.arguments
    if kind == COMMAND_EXECUTION and type(arguments) is dict and arguments.keys() == {"command"}:
        tool["command"] = arguments["command"]
    else:
        tool["input"] = arguments
    return with_outcome(tool, call)


def function_tool_from_call(call: ToolCall) -> dict[str, Json]:
    """Return the tool of *call* as a record has it: actf-records.md 5."""
    function = {"name": call.function_name, "arguments": call.arguments}
    return with_outcome({"id": call.tool_call_id, "type": call.kind, "function": function}, call)


def with_outcome(tool: dict[str, Json], call: ToolCall) -> dict[str, Json]:
    """Add to *tool* what came back."""
    if call.result is not None:
        tool["aggregated_output"] = call.result
    if call.response is not None:
        if call.response.status is not None:
            tool["status"] = call.response.status
        if call.response.exit_code is not None:
            tool["exit_code"] = call.response.exit_code
    return tool


def chosen_arguments(tool: Tool) -> Json:
    """Return the arguments of *tool*: the first of five that applies, by key, so that `null` counts."""
    if "input" in tool:
        return tool["input"]
    if "arguments" in tool:
        return tool["arguments"]
    function = tool.get("function")
    if type(function) is dict and "arguments" in function:
        return function["arguments"]
    if "command" in tool:
        return {"command": tool["command"]}
    return {key: value for key, value in tool.items() if key not in NOT_ARGUMENTS}


NOT_ARGUMENTS = frozenset({"type", "id", "status", "exit_code"})
"""What a flat tool says of itself; its other members are its arguments."""


def response_from_tool(tool: Tool) -> Response | None:
    """Return status and exit code of *tool*, if it has one of them."""
    status, exit_code = tool.get("status"), tool.get("exit_code")
    status = status if type(status) is str and status else None
    exit_code = exit_code if is_integer(exit_code) else None
    if status is None and exit_code is None:
        return None
    return Response(status=status, exit_code=exit_code)


def unheld_members(tool: Tool, call: ToolCall) -> Mapping[str, Json]:
    """Return the known members of *tool* that say something which *call* does not hold: actf.md 5.6.

    That is what was not chosen and differs from what was, and what has a wrong type. `null` says nothing.
    """
    if SELDOM.isdisjoint(tool):
        if type(tool.get("name")) in (str, NoneType):
            return NOTHING
    elif OTHER_CHOICES.isdisjoint(tool) and _is_held_function(tool["function"], call):
        return NOTHING
    return {
        key: value
        for key, value in tool.items()
        if key in HELD and value is not None and not HELD[key](value, call)
    }


def _is_held_function(function: Json, call: ToolCall) -> bool:
    return (
        type(function) is dict
        and function.keys() <= {"name", "arguments"}
        and function.get("name", call.function_name) == call.function_name
        and ("arguments" not in function or equal(function["arguments"], call.arguments))
    )


def _is_held_command(command: Json, call: ToolCall) -> bool:
    arguments = call.arguments
    return (
        type(arguments) is dict and "command" in arguments and equal(arguments["command"], command)
    )


HELD: Mapping[str, Callable[[Json, ToolCall], bool]] = {
    "name": lambda name, _: type(name) is str,
    "arguments": lambda arguments, call: equal(arguments, call.arguments),
    "function": _is_held_function,
    "command": _is_held_command,
    "status": lambda status, _: type(status) is str,
    "exit_code": lambda exit_code, _: is_integer(exit_code),
}
"""Whether a call holds what a member of its tool says."""

SELDOM = frozenset(HELD) - {"name"}
OTHER_CHOICES = frozenset(HELD) - {"function"} | {"input"}
"""What a tool says besides a function."""


# Observation and result: actf.md 5.2, 5.5 and 6.6


def result_from_observation(observation: dict[str, Json], call_id: str | None) -> dict[str, Json]:
    """Return the result of *observation*, which answers the call *call_id*."""
    result = observation if call_id is None else {**observation, "source_call_id": call_id}
    output = observation.get("aggregated_output")
    if output is not None:
        result = {**result, "content": output}
    kind = observation.get("type", MISSING)
    if kind is None or kind == "":
        result = {key: value for key, value in result.items() if key != "type"}
    return result


def replaced_members(observation: Mapping[str, Json]) -> dict[str, Json]:
    """Return the members of *observation* that stand where its result has a promoted one, and say something else."""
    replaced = {key: observation[key] for key in ("source_call_id",) if key in observation}
    output = observation.get("aggregated_output")
    if output is not None and not equal(observation.get("content", output), output):
        replaced["content"] = observation["content"]
    return replaced


HAS_NO_PROMOTED = frozenset({"source_call_id", "aggregated_output"}).isdisjoint
"""Whether an observation or a result has none of the members by which the two differ."""


def observation_from_result(result: dict[str, Json], calls: Collection[str]) -> dict[str, Json]:
    """Return the observation of *result* as it was read; *calls* are those that a new link may name."""
    if HAS_NO_PROMOTED(result):
        return result
    observation = dict(result)
    call_id = observation.pop("source_call_id", None)
    _demote_content(observation)
    if reference(observation) is None and type(call_id) is str and call_id in calls:
        _refer(observation, call_id)
    return observation


def conformed_observation(result: dict[str, Json], calls: Mapping[str, str]) -> dict[str, Json]:
    """Return an observation that breaks no rule; *calls* are the ids that the calls of the turn are written with."""
    observation = dict(result)
    call_id = observation.pop("source_call_id", None)
    is_command = observation.get("type") == COMMAND_EXECUTION
    if not _demote_content(observation) and is_command and "content" in observation:
        observation["aggregated_output"] = observation.pop("content")
    if type(call_id) is str and call_id in calls:
        _refer(observation, calls[call_id])
    else:
        for key in ("tool_use_id", "tool_call_id", "id"):
            observation.pop(key, None)
    kind = observation.pop("type", None)
    if type(kind) is str and kind:
        observation["type"] = kind
    elif reference_key(observation) is not None:
        observation["type"] = "tool_result"
    return observation


def _demote_content(observation: dict[str, Json]) -> bool:
    """Undo the promotion of `aggregated_output` to `content`; tell whether there was one."""
    if observation.get("aggregated_output") is None or "content" not in observation:
        return False
    observation["aggregated_output"] = observation.pop("content")
    return True


def _refer(observation: dict[str, Json], call_id: str) -> None:
    """Make *observation* refer to a call, by the member that it refers with."""
    key = reference_key(observation)
    observation[key if key == "id" else "tool_use_id"] = call_id


def is_paired_by_position(observations: Sequence[Json], calls: Sequence[str]) -> bool:
    """Tell whether the observations of a record's step answer its calls one by one: actf-records.md 3."""
    return len(observations) == len(calls) and not any(
        type(one) is dict and reference(one) is not None for one in observations
    )


def was_paired_by_position(results: Sequence[Json], calls: Sequence[str]) -> bool:
    """Tell whether *results* are what such a pairing gives."""
    return is_paired_by_position(results, calls) and all(
        type(one) is not dict or one.get("source_call_id") == call_id
        for one, call_id in zip(results, calls, strict=True)
    )
