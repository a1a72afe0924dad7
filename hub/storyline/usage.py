"""Token counts, cost and duration, read out of opaque metrics by the names that formats use.

A value counts only when it has the right type, and the first hit counts. Source: storyline.md 4.6.
"""

from __future__ import annotations

from collections.abc import Iterable

from hub.errors import Json
from hub.storyline.calls import is_integer

CACHE_READS = ("cache_read_tokens", "cache_read_input_tokens")
CACHE_WRITES = ("cache_creation_tokens", "cache_creation_input_tokens")
DURATIONS = ("latency_ms", "duration_ms", "llm_infer_ms", "total_latency_ms", "elapsed_ms")


def integer(metrics: Json, names: Iterable[str]) -> int | None:
    """Return the first integer of *metrics* under *names*; a name `a.b` is a member of a member."""
    for name in names:
        value: Json = _member(metrics, name)
        if is_integer(value):
            return value
    return None


def number(metrics: Json, names: Iterable[str]) -> int | float | None:
    """Return the first number of *metrics* under *names*."""
    for name in names:
        value = _member(metrics, name)
        if type(value) is int or type(value) is float:
            return value
    return None


def _member(metrics: Json, name: str) -> Json:
    value = metrics
    for key in name.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def prompt_tokens(metrics: Json) -> int | None:
    """Return all prompt tokens, cached ones among them."""
    whole = integer(metrics, ("prompt_tokens", "prompt_tokens_len"))
    if whole is not None:
        return whole
    fresh = integer(metrics, ("input_tokens",))
    if fresh is None:
        return None
    return fresh + (integer(metrics, CACHE_READS) or 0) + (integer(metrics, CACHE_WRITES) or 0)


def completion_tokens(metrics: Json) -> int | None:
    """Return the generated tokens."""
    return integer(metrics, ("completion_tokens", "completion_tokens_len", "output_tokens"))


def cached_tokens(metrics: Json) -> int | None:
    """Return the prompt tokens that were read from a cache."""
    return integer(metrics, ("cached_tokens", *CACHE_READS, "prompt_tokens_details.cached_tokens"))


def cost_usd(metrics: Json) -> int | float | None:
    """Return the cost in US dollars."""
    return number(metrics, ("cost_usd", "cost"))


def duration_ms(metrics: Json, latency_ms: int | None = None) -> int | float | None:
    """Return the duration of a model call in milliseconds; *latency_ms* is that of the turn."""
    return latency_ms if latency_ms is not None else number(metrics, DURATIONS)
