"""Restoring: ACTF's residuals go back to where they were read, unless the Storyline says something else there.

Source: actf.md 6.1 (fillers) and 6.5; residuals.md 5; actf-records.md 5.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from hub import PLACEHOLDER, Json, Storyline, Turn, is_derived, pointer, restore
from hub_actf.grouping import Group
from hub_actf.model import SOURCE
from hub_actf.rules import CALLS
from hub_actf.tools import COMMAND_EXECUTION
from hub_actf.values import budget, final_metrics, first_of_type, is_blank, is_empty, outcome

_MEMBER_OF_TOOL = (
    rf"(?P<step>/attempts/[^/]*/trajectory/steps/\d+)/(?P<place>tools|{CALLS})/(?P<rest>\d+/[^/]*)"
)


def native_residuals(storyline: Storyline) -> Mapping[str, Json]:
    """Return the residuals of *storyline* that are ACTF's."""
    residuals = storyline.unknown_fields.get(SOURCE)
    return {} if residuals is None else residuals.fields


def put_back(document: dict[str, Json], group: Group, fields: Mapping[str, Json]) -> set[str]:
    """Put *fields* back into *document*, made from *group*; return the pointers of those without a place."""
    members = {
        place: found
        for place in fields
        if (found := re.fullmatch(_MEMBER_OF_TOOL, place, re.ASCII))
    }
    unplaced = {
        place
        for place, found in members.items()
        if not _put_into_tools(document, found, fields[place], fields)
    }
    unplaced |= {place for place in fields if re.fullmatch(_IDENTITY, place)}
    others = {
        place: value
        for place, value in fields.items()
        if place not in members and place not in unplaced
    }
    return unplaced | restore(document, others, _Fillers(group).give_way).keys()


_IDENTITY = "/task_id|/attempts/[^/]*"
"""What makes a document and its attempts: never a residual that was read, so no residual may change it."""


# Below the tool lists: actf.md 6.5


def _put_into_tools(
    document: Json, found: re.Match[str], value: Json, fields: Mapping[str, Json]
) -> bool:
    """Put a member of a tool into its own list, and into the other one unless that has a residual of its own there."""
    try:
        step = pointer.get(document, pointer.split(found["step"]))
    except LookupError:
        return False
    content = step["assistant_content"]
    if content["tool_calls"] is step["tools"]:
        content["tool_calls"] = [dict(tool) for tool in step["tools"]]
    lists = {"tools": step["tools"], CALLS: content["tool_calls"]}
    index, _, key = found["rest"].partition("/")
    is_placed = False
    for place, tools in lists.items():
        is_own = place == found["place"]
        if (is_own or f"{found['step']}/{place}/{found['rest']}" not in fields) and int(
            index
        ) < len(tools):
            is_placed |= _put_into_tool(tools[int(index)], pointer.unescape(key), value)
    return is_placed


def _put_into_tool(tool: dict[str, Json], key: str, value: Json) -> bool:
    """Insert a member, or let it replace what was derived from it or made up for want of it."""
    if key == "command" and tool.get("type") == COMMAND_EXECUTION and "command" in tool:
        # The other spelling of the same arguments: what stands under `command` is not what was chosen.
        tool["input"] = {"command": tool.pop("command")}
    if key in tool and not _gives_way(tool, key, value):
        return False
    tool[key] = value
    return True


def _gives_way(tool: Mapping[str, Json], key: str, value: Json) -> bool:
    """Tell whether a member is one that is read in the same way when *value* stands there again."""
    if key == "id":
        is_usable = type(value) is str and not is_blank(value)
        return not is_usable or is_derived(tool["id"], value)
    return key == "name" and bool(tool["name"] == tool.get("type", PLACEHOLDER))


# Fillers: actf.md 6.1

Unset = Callable[[Storyline], bool]

ROOT_FILLERS: Mapping[str, Unset] = {
    "k": lambda first: budget(first) is None,
    "correct": lambda first: (
        first_of_type(
            bool,
            outcome(first).extras.get("task_correct"),
            final_metrics(first).get("task_correct"),
        )
        is None
    ),
    "attempts_tried": lambda first: type(outcome(first).extras.get("attempts_tried")) is not int,
}
ATTEMPT_FILLERS: Mapping[str, Unset] = {
    "correct": lambda one: (
        first_of_type(bool, outcome(one).correct, final_metrics(one).get("correct")) is None
    ),
    "trajectory": lambda one: not one.turns and one.started_at is None and one.finished_at is None,
}
TRAJECTORY_FILLERS: Mapping[str, Unset] = {
    "schema_version": lambda one: one.origin is None or one.origin.schema_version is None,
    "started_at": lambda one: one.started_at is None,
    "finished_at": lambda one: one.finished_at is None,
}
"""Members which stand for a field that is not set, although they are not empty."""

STEP_FILLERS: Mapping[str, Callable[[Turn], bool]] = {
    "assistant_content": lambda turn: not turn.message and not turn.reasoning_content,
    "metric": lambda turn: type(turn.metrics) is not dict,
    "tools": lambda _: True,
    "started_at": lambda turn: turn.timestamp is None,
    "finished_at": lambda turn: turn.finished_at is None,
}


class _Fillers:
    """Tells which values of a written document stand for fields that are not set."""

    def __init__(self, group: Group) -> None:
        self.attempts = group.attempts
        self.first = next(iter(group.attempts.values()))

    def give_way(self, tokens: Sequence[str], written: Json, residual: Json) -> bool:
        """Tell whether *written*, at *tokens*, is a filler, and *residual* one that was read there."""
        if _is_never_read(tokens, residual):
            return False
        match tokens:
            case [key]:
                is_bare_plan = key == "attempt_plan" and written.keys() == {"k"}
                return is_bare_plan or is_empty(written) or _is_unset(ROOT_FILLERS, key, self.first)
            case ["attempts", name, key]:
                return is_empty(written) or _is_unset(ATTEMPT_FILLERS, key, self.attempts[name])
            case ["attempts", name, "trajectory", key]:
                return _is_unset(TRAJECTORY_FILLERS, key, self.attempts[name])
            case ["attempts", _, "trajectory", "steps", index, "step_id"]:
                return bool(written == int(index) + 1)
            case ["attempts", name, "trajectory", "steps", index, key]:
                turn = self.attempts[name].turns[int(index)]
                return is_empty(written) or (key in STEP_FILLERS and STEP_FILLERS[key](turn))
            case ["attempts", _, "trajectory", "steps", _, "assistant_content", key]:
                return is_empty(written) or key == "tool_calls"
        return False


def _is_never_read(tokens: Sequence[str], residual: Json) -> bool:
    """Tell whether *residual* would make a trajectory unreadable: another value than none, or another version."""
    match tokens:
        case ["attempts", _, "trajectory"]:
            return not is_empty(residual)
        case ["attempts", _, "trajectory", "schema_version"]:
            return type(residual) is str
    return False


def _is_unset(fillers: Mapping[str, Unset], key: str, storyline: Storyline) -> bool:
    return key in fillers and fillers[key](storyline)
