"""Metrics of steps and of trajectories, as Harbor wants them: what it does not know stands in their `extra`.

Source: atif.md 6.3, M.
"""

from typing import Any, TypeGuard

from hub import (
    Json,
    Shape,
    Turn,
    cached_tokens,
    completion_tokens,
    cost_usd,
    is_integer,
    prompt_tokens,
)
from hub_atif.model import FINAL_METRICS, METRICS, NUMBER_LISTS, element_types

Metrics = dict[str, Any]

USAGE = {
    "prompt_tokens": prompt_tokens,
    "completion_tokens": completion_tokens,
    "cached_tokens": cached_tokens,
    "cost_usd": cost_usd,
}
"""Members that are read out of the metrics of any format: storyline.md 4.6."""


def write_metrics(turn: Turn) -> Metrics | None:
    """Metrics of a turn, with the usage that they say in other words, and what was measured of its time."""
    metrics = turn.metrics
    times = {"latency_ms": turn.latency_ms, "ttft_ms": turn.ttft_ms}
    times = {key: value for key, value in times.items() if value is not None}
    if metrics is None and not times:
        return None
    written, extra = _divided(metrics, METRICS)
    for key, usage in USAGE.items():
        if written.get(key) is None and is_number(value := usage(metrics)):
            written[key] = value
    return _joined(written, {**times, **extra})


def write_final_metrics(metrics: Json) -> Metrics | None:
    """Totals of a trajectory."""
    if metrics is None:
        return None
    written, extra = _divided(metrics, FINAL_METRICS)
    total = written.get("total_steps")
    if total is not None and total < 0:
        extra = {"total_steps": written.pop("total_steps"), **extra}
    return _joined(written, extra)


def _divided(metrics: Json, shape: Shape) -> tuple[Metrics, Metrics]:
    """Divide *metrics* into the members that Harbor knows, with their types, and its `extra`."""
    if metrics is None:
        return {}, {}
    if type(metrics) is not dict:
        return {}, {"value": metrics}
    written = {key: value for key, value in metrics.items() if _is_known(shape, key, value)}
    extra = {key: value for key, value in metrics.items() if key not in written and key != "extra"}
    own = metrics.get("extra")
    if type(own) is dict:
        extra.update(own)
    elif own is not None:
        extra["extra"] = own
    return written, extra


def _is_known(shape: Shape, key: str, value: Json) -> bool:
    if key not in shape.types or key == "extra":
        return False
    if value is None:
        return True
    if key in NUMBER_LISTS:
        types, _ = NUMBER_LISTS[key]
        return type(value) is list and element_types(value) <= types
    return is_number(value) if key.endswith("cost_usd") else is_integer(value)


def is_number(value: Json) -> TypeGuard[int | float]:
    """Tell whether *value* is a number that any reader holds."""
    return type(value) is float or is_integer(value)


def _joined(written: Metrics, extra: Metrics) -> Metrics | None:
    """Return the metrics, `extra` among them if there is any; None for nothing at all."""
    if extra:
        written["extra"] = extra
    return written or None
