"""Placing: residuals of one message go back to where they were, unless the message says something else there.

Source: residuals.md 5; openai-messages.md A8.2 and B5.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hub import MISSING, Json, equal, is_derived, pointer, restore
from hub_openai_messages.calls import same_arguments
from hub_openai_messages.messages import Message
from hub_openai_messages.model import ENVIRONMENT

Fields = dict[str, Json]
"""Residuals by pointer, here relative to the message."""

NOWHERE = ("/_storyline/-",)
"""No envelope is inside a message, so no member of it is reserved."""
CALLS = "/tool_calls/"


def place(message: Message, fields: Mapping[str, Json]) -> Fields:
    """Put *fields* into *message*, which is changed; return those that have no place."""
    own: dict[int, Fields] = {}
    others: Fields = {}
    are_between = any(map(_tells_of_skipped, fields))
    left = {
        at: one
        for at, one in fields.items()
        if not _put_plainly(message, at, one, are_between=are_between)
    }
    if not left:
        return left
    for at, value in left.items():
        index, slash, rest = at[len(CALLS) :].partition("/")
        if at.startswith(CALLS) and pointer.is_index(index) and len(index) < MAX_DIGITS:
            own.setdefault(int(index), {})[slash + rest] = value
        else:
            others[at] = value
    if own:
        listed = message.get("tool_calls", [])
        if type(listed) is list:
            message["tool_calls"] = calls_with_skipped(listed, own)
        others |= {
            f"{CALLS}{index}{at}": value for index, one in own.items() for at, value in one.items()
        }
    refusal = fields.get("/refusal", MISSING)
    return restore(message, others, _Replaceable(refusal).gives_way, places=NOWHERE)


MAX_DIGITS = 9
"""No message has as many calls."""

_tells_of_skipped = re.compile(
    r"/tool_calls/\d+(?:/id|/function|/function/name|/custom)?", re.ASCII
).fullmatch
"""Whether a residual may be one of an element that is no call, between those that are."""
_SPELLING = re.compile(r"/tool_calls/(\d{1,3})/function/arguments", re.ASCII).fullmatch


def _put_plainly(message: Message, at: str, value: Json, *, are_between: bool) -> bool:
    """Put back what most residuals of a message are: a further member, or how arguments are spelled."""
    if at.count("/") == 1 and "~" not in at:
        key = at[1:]
        if key in message:
            return False
        message[key] = value
        return True
    found = None if are_between else _SPELLING(at)
    calls = message.get("tool_calls") if found is not None else None
    if found is None or type(calls) is not list or int(found[1]) >= len(calls):
        return False
    function = calls[int(found[1])].get("function")
    if type(function) is not dict or type(value) is not str:
        return False
    if not same_arguments(function.get("arguments"), value):
        return False
    function["arguments"] = value
    return True


def calls_with_skipped(calls: Sequence[Json], fields: dict[int, Fields]) -> list[Json]:
    """Return *calls* with those between them which are no calls of a turn; what is placed is taken out of *fields*."""
    left = list(reversed(calls))
    found: list[Json] = []
    last = max(fields, default=-1)
    while left or len(found) <= last:
        own = fields.get(len(found), {})
        if left and not _is_skipped(own, left[-1]):
            found.append(left.pop())
        elif own:
            found.append(_skipped(fields.pop(len(found))))
        else:
            break
    return found


def _is_skipped(fields: Mapping[str, Json], call: Json) -> bool:
    """Tell whether *fields* are all of an element, and not what is left of *call*."""
    if not fields:
        return False
    if "" in fields or "/function" in fields or "/function/name" in fields or "/custom" in fields:
        return True
    if "/id" not in fields or "id" not in call:
        return False
    return fields["/id"] != "" and not is_derived(call["id"], fields["/id"])


def _skipped(fields: Fields) -> Json:
    """Return the element of which *fields* are all."""
    if "" in fields:
        return fields[""]
    call: Message = {}
    for at, value in fields.items():
        tokens = pointer.split(at)
        if tokens[0] == "function" and len(tokens) > 1:
            call.setdefault("function", {})[tokens[1]] = value
        else:
            call[tokens[0]] = value
    return call


class _Replaceable:
    """Tells which members of a written message give way to a residual."""

    def __init__(self, refusal: Json) -> None:
        self.refusal = refusal

    def gives_way(self, tokens: Sequence[str], written: Json, residual: Json) -> bool:
        """Tell whether *written*, at *tokens*, is read as the same when *residual* stands there."""
        match tokens:
            case ["role"]:
                return (
                    (written == "assistant" and residual not in ("system", "user"))
                    or (written == "system" and residual == "developer")
                    or (written == ENVIRONMENT and residual in ("tool", "function"))
                )
            case ["content"]:
                return residual is None and equal(written, self.refusal)
            case ["tool_calls", _, "type"]:
                return True
            case ["tool_calls", _, "id"]:
                return residual == "" or type(residual) is not str
            case [*_, "arguments"]:
                return same_arguments(written, residual)
        return False
