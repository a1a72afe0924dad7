"""What steps, tools and observations mean by themselves: tools in effect, ids, names and references.

Source: actf.md 3.1 and 3.2; storyline.md 4.4.
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from hub import MISSING, Json, is_integer, turn_ids
from hub_actf.model import Form, Step, Tool


def tools_in(value: Json) -> list[Tool]:
    """Return the tools of a tool list; none if it is no list of objects, for then it is one residual."""
    if type(value) is not list:
        return []
    for tool in value:
        if type(tool) is not dict:
            return []
    return value


def listed_calls(step: Step) -> Json:
    """Return what the step has as `assistant_content.tool_calls`."""
    content: Json = step.get("assistant_content")
    return content.get("tool_calls") if type(content) is dict else None


def calls_in(step: Step) -> list[Tool]:
    """Return the tools in the step's `assistant_content.tool_calls`."""
    return tools_in(listed_calls(step))


def effective_tools(step: Step) -> list[Tool]:
    """Return `tools` if there are any, else `assistant_content.tool_calls`."""
    tools: Json = step.get("tools")
    listed = tools_in(tools) if tools else None
    if listed:
        return listed
    tools = listed_calls(step)
    return tools_in(tools) if tools else []


def usable_id(tool: Tool) -> str | None:
    """Return the tool's id; None if it has none that is not blank."""
    source = tool.get("id")
    return source if type(source) is str and source and not source.isspace() else None


def tool_name(tool: Tool) -> str | None:
    """Return the first of `name`, `function.name` and `type` that is a string and not empty (actf.md 5.4)."""
    name = tool.get("name")
    if type(name) is str and name:
        return name
    function = tool.get("function")
    if type(function) is dict:
        name = function.get("name")
        if type(name) is str and name:
            return name
    name = tool.get("type")
    return name if type(name) is str and name else None


class Steps(NamedTuple):
    """The steps of one trajectory, and what follows from each: lists of one length."""

    steps: Sequence[Step]
    turn_ids: list[int]
    tools: list[list[Tool]]
    """The tools in effect."""
    call_ids: list[list[str]]
    """Their effective ids: the tool's own, or `step-{step_id}-tool-{index}`."""
    observations: list[list[Json]]
    replaced_ids: list[int]
    """Not one a step, but the indices of the steps whose id is there and is not that of the turn."""

    @classmethod
    def of(cls, steps: Sequence[Step]) -> "Steps":
        """Derive the rest from *steps*, which are objects."""
        ids = [step.get("step_id") for step in steps]
        turns, replaced = turn_ids([MISSING if one is None else one for one in ids])
        tools = list(map(effective_tools, steps))
        numbers = turns
        if turns != ids:
            numbers = [
                one if is_integer(one) else turn for one, turn in zip(ids, turns, strict=True)
            ]
        call_ids = _own_ids(tools) or list(map(effective_ids, tools, numbers))
        seen: list[Json] = [step.get("observation") for step in steps]
        observations = [one if type(one) is list else [] for one in seen]
        return cls(steps, turns, tools, call_ids, observations, replaced)


def _own_ids(tools: Sequence[Sequence[Tool]]) -> list[list[str]] | None:
    """Return the ids that the tools of all steps have; None if one has none that is usable."""
    ids: list[Json] = [tool.get("id") for listed in tools for tool in listed]
    if not set(map(type, ids)) <= {str} or "" in ids or any(map(str.isspace, ids)):
        return None
    every = iter(ids)
    return [list(islice(every, len(listed))) for listed in tools]


def effective_ids(tools: Sequence[Tool], number: int) -> list[str]:
    """Return the effective ids of the *tools* of the step with that *number*."""
    if not tools:
        return []
    return [usable_id(tool) or f"step-{number}-tool-{index}" for index, tool in enumerate(tools)]


def reference_key(observation: Mapping[str, Json]) -> str | None:
    """Return the member that refers to a call: the first of three that is there and not null (actf.md 3.2)."""
    for key in ("tool_use_id", "tool_call_id", "id"):
        if observation.get(key) is not None:
            return key
    return None


def reference(observation: Mapping[str, Json]) -> str | None:
    """Return the call that *observation* refers to; None also where the member is no string."""
    named = observation.get("tool_use_id")
    if named is None:
        named = observation.get("tool_call_id")
        if named is None:
            named = observation.get("id")
    return named if type(named) is str else None


class ParsedTask(NamedTuple):
    """One document: its JSON, and what reading it has to know of its trajectories."""

    value: Json
    form: Form
    steps: dict[str, Steps]
    """Of each attempt whose trajectory is an object."""
    times: dict[str, str | None]
    """What is read at a pointer where there is no Storyline time: the text with a zone added, or nothing."""
