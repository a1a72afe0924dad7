"""What a document says, in one spelling: the normalisations of actf.md 7, written out from its tables."""

from __future__ import annotations

import copy
from typing import Any

from hub import equal

from .builders import M0

Json = Any

OF_ATTEMPT: dict[str, Json] = {
    "status": "",
    "error": "",
    "final_answer": None,
    "ground_truth": "",
    "score": None,
    "artifacts": {},
    "extra": {},
    "meta": {},
    "analysis_result": None,
}
"""Members of an attempt that are always written, as they stand when they are empty."""


def is_empty(value: Json) -> bool:
    """Tell whether a known member says nothing."""
    return value is None or value in ("", {}, [])


def normal(value: Json) -> Json:
    """Return a document of the RFC's form in the spelling in which it is written."""
    value = copy.deepcopy(value)
    value["solved_at"] = value.get("solved_at") or None
    for key in ("retry_count", "retry_counts"):
        if value.get(key) is None:
            value.pop(key, None)
    for attempt in value["attempts"].values():
        for key, empty in OF_ATTEMPT.items():
            if key == "analysis_result":
                attempt.setdefault(key, empty)
            elif is_empty(attempt.get(key)):
                attempt[key] = empty
        if is_empty(attempt.get("max_score")):
            attempt.pop("max_score", None)
        for step in attempt["trajectory"]["steps"]:
            normalise_step(step)
    return value


def normalise_step(step: Json) -> None:
    """Put a step into the spelling in which it is written."""
    content = step["assistant_content"]
    for holder, key in (
        (step, "system_prompt"),
        (step, "user_content"),
        (content, "content"),
        (content, "reasoning_content"),
    ):
        holder[key] = holder.get(key) or ""
    step["metric"] = {**M0, **step["metric"]}
    step["observation"] = [observation(one) for one in step.get("observation") or []]
    tools, calls = step.get("tools") or [], content.get("tool_calls") or []
    written = [tool(one, step["step_id"], index) for index, one in enumerate(tools or calls)]
    differ = tools and calls and not equal(list(map(plain, tools)), list(map(plain, calls)))
    step["tools"] = written
    content["tool_calls"] = calls if differ else written


def plain(value: Json) -> Json:
    """Return a tool as it is compared: actf.md 3."""
    return {
        key: member
        for key, member in value.items()
        if key not in ("type", "id") or member not in (None, "")
    }


def observation(value: Json) -> Json:
    """Return an observation; a content that repeats the output is not written."""
    value = {key: member for key, member in value.items() if key != "type" or not is_empty(member)}
    output = value.get("aggregated_output")
    if output is not None and "content" in value and equal(value["content"], output):
        del value["content"]
    return value


def tool(value: Json, step_id: int, index: int) -> Json:
    """Return a tool of one of the usual forms."""
    value = dict(value)
    written: Json = {"id": value.pop("id", None) or f"step-{step_id}-tool-{index}"}
    function = value.pop("function", {})
    kind = value.pop("type", None)
    name = value.pop("name", None) or function.get("name") or kind
    if kind:
        written["type"] = kind
    if not kind == name == "command_execution":
        written["name"] = name
    for key, holder in (("input", value), ("arguments", value), ("arguments", function)):
        if key in holder:
            written["input"] = holder[key]
            value.pop(key, None)
            break
    for key in ("aggregated_output", "status", "exit_code"):
        member = value.pop(key, None)
        if member is not None and not (key == "status" and not member):
            written[key] = member
    return {**written, **value}
