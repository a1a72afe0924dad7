"""The benchmark's schema page once more, written down apart from the plugin: a strict checker, and the defaults.

Every object is closed, nothing is coerced: `1` is no float, `1.0` no integer, `true` no number. The page is the
authority; the conditions of content parts ("set when") are checked as well, though the benchmark's own model does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Json = Any
Check = Callable[[Json, str], Iterator[str]]

REQUIRED = object()
"""Marks a field without default."""
UNKNOWN_TIME = object()
"""Marks a time, which is left out when it is not known: a made-up one would be worse."""


class Field(NamedTuple):
    check: Check
    default: Json = REQUIRED


def of(*kinds: type) -> Check:
    def check(value: Json, at: str) -> Iterator[str]:
        if type(value) not in kinds:
            yield f"{at}: {type(value).__name__}, not {' or '.join(kind.__name__ for kind in kinds)}"

    return check


def one_of(*words: str) -> Check:
    def check(value: Json, at: str) -> Iterator[str]:
        if type(value) is not str or value not in words:
            yield f"{at}: {value!r}, not one of {words}"

    return check


def array(element: Check) -> Check:
    def check(value: Json, at: str) -> Iterator[str]:
        if type(value) is not list:
            yield f"{at}: {type(value).__name__}, not an array"
            return
        for index, member in enumerate(value):
            yield from element(member, f"{at}/{index}")

    return check


def nullable(inner: Check) -> Check:
    def check(value: Json, at: str) -> Iterator[str]:
        if value is not None:
            yield from inner(value, at)

    return check


def string_or(inner: Check) -> Check:
    def check(value: Json, at: str) -> Iterator[str]:
        if type(value) is not str:
            yield from inner(value, at)

    return check


def object_of(name: str) -> Check:
    def check(value: Json, at: str) -> Iterator[str]:
        yield from closed(SCHEMA[name], value, at)
        if type(value) is dict and name in CONDITIONS:
            yield from CONDITIONS[name](value, at)

    return check


def closed(fields: dict[str, Field], value: Json, at: str) -> Iterator[str]:
    """Yield what is wrong with an object that must have every key, in the order of the page, and no other."""
    if type(value) is not dict:
        yield f"{at}: {type(value).__name__}, not an object"
        return
    wanted = [
        key for key, field in fields.items() if key in value or field.default is not UNKNOWN_TIME
    ]
    if list(value) != wanted:
        yield f"{at}: keys {list(value)}, not {wanted}"
    for key, field in fields.items():
        if key in value:
            yield from field.check(value[key], f"{at}/{key}")


def positive(value: Json, at: str) -> Iterator[str]:
    if type(value) is not int or value < 1:
        yield f"{at}: {value!r}, not an integer above 0"


TEXT, INTEGER, FLOAT, BOOLEAN, OPEN = of(str), of(int), of(float), of(bool), of(dict)

SCHEMA: dict[str, dict[str, Field]] = {
    "Trajectory": {
        "schema_version": Field(one_of("ALE-v1.0")),
        "episode_id": Field(TEXT),
        "agent": Field(object_of("AgentInfo")),
        "task_path": Field(TEXT),
        "variant_index": Field(INTEGER),
        "instruction": Field(TEXT, ""),
        "steps": Field(array(object_of("Step")), []),
        "final_metrics": Field(nullable(object_of("FinalMetrics")), None),
        "started_at": Field(TEXT, UNKNOWN_TIME),
        "ended_at": Field(nullable(TEXT), None),
        "subagent_trajectories": Field(array(object_of("Trajectory")), []),
        "continued_trajectory_ref": Field(nullable(TEXT), None),
        "extra": Field(OPEN, {}),
    },
    "AgentInfo": {
        "name": Field(TEXT),
        "version": Field(nullable(TEXT), None),
        "model": Field(nullable(TEXT), None),
        "extra": Field(OPEN, {}),
    },
    "Step": {
        "step_id": Field(positive),
        "timestamp": Field(TEXT, UNKNOWN_TIME),
        "source": Field(one_of("system", "user", "agent", "environment")),
        "message": Field(nullable(string_or(array(object_of("ContentPart")))), None),
        "reasoning": Field(nullable(TEXT), None),
        "tool_calls": Field(array(object_of("ToolCall")), []),
        "observation": Field(nullable(object_of("Observation")), None),
        "metrics": Field(nullable(object_of("StepMetrics")), None),
        "extra": Field(OPEN, {}),
    },
    "ToolCall": {
        "id": Field(TEXT, "call_generated"),
        "name": Field(TEXT),
        "arguments": Field(OPEN, {}),
    },
    "Observation": {
        "results": Field(array(object_of("ToolResult")), []),
        "error": Field(nullable(TEXT), None),
    },
    "ToolResult": {
        "tool_call_id": Field(TEXT),
        "content": Field(array(object_of("ContentPart")), []),
        "is_error": Field(BOOLEAN, default=False),
    },
    "ContentPart": {
        "type": Field(one_of("text", "image")),
        "text": Field(nullable(TEXT), None),
        "image": Field(nullable(object_of("ImageSource")), None),
    },
    "ImageSource": {
        "type": Field(one_of("path", "url", "base64"), "path"),
        "path": Field(nullable(TEXT), None),
        "url": Field(nullable(TEXT), None),
        "data": Field(nullable(TEXT), None),
        "media_type": Field(TEXT, "image/png"),
        "alt_text": Field(nullable(TEXT), None),
    },
    "StepMetrics": {
        "input_tokens": Field(nullable(INTEGER), None),
        "output_tokens": Field(nullable(INTEGER), None),
        "cache_read_tokens": Field(nullable(INTEGER), None),
        "cache_creation_tokens": Field(nullable(INTEGER), None),
        "cost_usd": Field(nullable(FLOAT), None),
        "duration_ms": Field(nullable(INTEGER), None),
    },
    "FinalMetrics": {
        "total_steps": Field(INTEGER, 0),
        "total_input_tokens": Field(INTEGER, 0),
        "total_output_tokens": Field(INTEGER, 0),
        "total_cache_read_tokens": Field(INTEGER, 0),
        "total_cache_creation_tokens": Field(INTEGER, 0),
        "total_cost_usd": Field(FLOAT, 0.0),
        "total_duration_ms": Field(INTEGER, 0),
        "reward": Field(nullable(FLOAT), None),
        "status": Field(one_of("completed", "timeout", "failed"), "completed"),
    },
}


def part_condition(part: Json, at: str) -> Iterator[str]:
    for kind in ("text", "image"):
        if (part.get("type") == kind) != (part.get(kind) is not None):
            yield f"{at}: {kind} set, or not set, against the type"


def image_condition(image: Json, at: str) -> Iterator[str]:
    payload = {"path": "path", "url": "url", "base64": "data"}.get(image.get("type"), "path")
    if image.get(payload) is None:
        yield f"{at}: no {payload}"


CONDITIONS: dict[str, Check] = {"ContentPart": part_condition, "ImageSource": image_condition}

INNER = {
    ("Trajectory", "agent"): "AgentInfo",
    ("Trajectory", "steps"): "Step",
    ("Trajectory", "final_metrics"): "FinalMetrics",
    ("Trajectory", "subagent_trajectories"): "Trajectory",
    ("Step", "message"): "ContentPart",
    ("Step", "tool_calls"): "ToolCall",
    ("Step", "observation"): "Observation",
    ("Step", "metrics"): "StepMetrics",
    ("Observation", "results"): "ToolResult",
    ("ToolResult", "content"): "ContentPart",
    ("ContentPart", "image"): "ImageSource",
}


def errors(document: Json) -> list[str]:
    """Return everything for which the benchmark would refuse *document*, or print it otherwise."""
    return list(object_of("Trajectory")(document, ""))


def whole(value: Json, name: str = "Trajectory") -> Json:
    """Return *value* with all defaults filled in: ALE documents are equal when these are (ale.md 1.7)."""
    if type(value) is list:
        return [whole(member, name) for member in value]
    if type(value) is not dict:
        return value
    filled = {}
    for key, field in SCHEMA[name].items():
        if key not in value and field.default in (REQUIRED, UNKNOWN_TIME):
            continue
        member = value.get(key, field.default)
        inner = INNER.get((name, key))
        filled[key] = member if inner is None else whole(member, inner)
    return filled
