"""Metrics: the metric of a step is copied whole, its standard members are always there.

Source: actf.md 5.2, 5.5 and 6.3.
"""

from __future__ import annotations

from hub import Json, Turn, completion_tokens, is_integer, prompt_tokens
from hub_actf.model import METRICS, NUMERIC_METRICS
from hub_actf.values import is_number


def metrics_from_metric(metric: Json) -> Json:
    """Return the metric whole, with `null` for standard members that it lacks; None if it is no object."""
    if metric is None:
        return dict(METRICS)
    if type(metric) is not dict:
        return None
    return metric if METRICS.keys() <= metric.keys() else {**METRICS, **metric}


def metric_from_metrics(turn: Turn, *, restored: bool) -> Json:
    """Return the metrics of *turn* with what they lack; conformed, only numbers stand for numbers."""
    metrics = turn.metrics if type(turn.metrics) is dict else {}
    metric = metrics
    if not METRICS.keys() <= metrics.keys():
        metric = {
            **metrics,
            **{key: value for key, value in known(turn).items() if key not in metrics},
        }
    if not restored:
        wrong = [
            key for key in NUMERIC_METRICS if metric[key] is not None and not is_number(metric[key])
        ]
        metric = {**metric, **dict.fromkeys(wrong)} if wrong else metric
    return metric


def known(turn: Turn) -> dict[str, Json]:
    """Return the standard members of a metric, from what *turn* has under other names."""
    metrics = turn.metrics if type(turn.metrics) is dict else {}
    total = metrics.get("total_latency_ms")
    return {
        "prompt_tokens_len": prompt_tokens(metrics),
        "completion_tokens_len": completion_tokens(metrics),
        "llm_infer_ms": total if is_number(total) else turn.latency_ms,
        "env_action_ms": None,
        "stop_reason": metrics.get("finish_reason"),
    }


def milliseconds(value: Json) -> int | None:
    """Return a number truncated toward zero; None for anything else, and where 64 bits do not hold it."""
    if type(value) is not int and type(value) is not float:
        return None
    whole = int(value)
    return whole if is_integer(whole) else None
