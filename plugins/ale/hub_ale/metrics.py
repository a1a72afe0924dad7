"""Accounting: the metrics of a step, and the totals and the outcome of a trajectory; each pair side by side.

Source: ale.md 5.1, 5.5, 6.3, 6.7 and 6.8.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import isfinite
from typing import NamedTuple

from hub import Json, Storyline, TaskResult, Turn, WriteOptions, is_integer
from hub_ale.model import TOTALS, FinalMetrics, Step, StepMetrics
from hub_ale.rules import STATUS_WORD, sum_metrics

WORDS = {
    word: status
    for status, words in {
        "completed": "completed complete success succeeded solved resolved passed pass ok done finished",
        "timeout": "timeout timed_out timedout agent_timeout deadline_exceeded time_limit_exceeded truncated"
        " max_steps max_turns max_tokens step_limit budget_exceeded",
        "failed": "failed failure fail error errored crashed exception cancelled canceled aborted killed"
        " interrupted skipped not_executed invalid rejected",
    }.items()
    for word in words.split()
}
"""What an outcome of any format is called in ALE."""

ERROR_WORDS = frozenset(
    {word for word, status in WORDS.items() if status == "failed"} | {"timeout", "timed_out"}
)
"""Statuses of a call or a result that make it an error."""

BAD_REQUEST = 400
"""HTTP status codes from here on are failures."""

_GAPS = r"[\s-]+"


def word(text: str) -> str:
    """Return *text* lower-cased and trimmed, with `_` for runs of spaces and hyphens."""
    return re.sub(_GAPS, "_", text.strip().lower())


# Steps

_CACHE_READS = ("cache_read_tokens", "cached_tokens", "cache_read_input_tokens")
_CACHE_WRITES = ("cache_creation_tokens", "cache_creation_input_tokens")


def read_metrics(metrics: StepMetrics) -> Json:
    """The metrics with ALE's names, nulls left out."""
    if None not in metrics.values():
        return metrics
    kept = {**metrics}
    for key, value in metrics.items():
        if value is None:
            del kept[key]
    return kept


def write_metrics(turn: Turn) -> StepMetrics | None:
    """The six values of ALE, read out of whatever the source of the turn calls them."""
    metrics = turn.metrics
    if type(metrics) is not dict:
        if turn.latency_ms is None:
            return None
        metrics = {}
    names = _names(tuple(metrics))
    reads = writes = None
    if names.caches:
        reads = _count(metrics, _CACHE_READS, ("prompt_tokens_details", "cached_tokens"))
        writes = _count(metrics, _CACHE_WRITES, ("extra", "cache_creation_tokens"))
    fresh = _count(metrics, names.fresh) if names.fresh else None
    if fresh is None:
        # Prompt tokens without cache reads and writes: the three are disjoint (ale.md 3.1).
        whole = _count(metrics, names.whole)
        fresh = None if whole is None else count(max(whole - (reads or 0) - (writes or 0), 0))
    return {
        "input_tokens": fresh,
        "output_tokens": _count(metrics, names.outputs),
        "cache_read_tokens": reads,
        "cache_creation_tokens": writes,
        "cost_usd": first_number(map(metrics.get, names.costs)) if names.costs else None,
        "duration_ms": _duration(metrics, names.durations)
        if turn.latency_ms is None
        else turn.latency_ms,
    }


class _Names(NamedTuple):
    """Under which names metrics have each value, in the order in which they count."""

    fresh: tuple[str, ...]
    whole: tuple[str, ...]
    outputs: tuple[str, ...]
    costs: tuple[str, ...]
    durations: tuple[str, ...]
    caches: tuple[str, ...]


_KNOWN_NAMES = _Names(
    fresh=("input_tokens",),
    whole=("prompt_tokens", "prompt_tokens_len"),
    outputs=("output_tokens", "completion_tokens", "completion_tokens_len"),
    costs=("cost_usd", "cost"),
    durations=("latency_ms", "duration_ms", "llm_infer_ms", "total_latency_ms", "elapsed_ms"),
    caches=(*_CACHE_READS, *_CACHE_WRITES, "prompt_tokens_details", "extra"),
)


@lru_cache(maxsize=64)
def _names(keys: tuple[str, ...]) -> _Names:
    """Return the names that metrics with these *keys* have; the turns of one source are alike."""
    return _Names._make(tuple(name for name in names if name in keys) for names in _KNOWN_NAMES)


def _duration(metrics: Mapping[str, Json], names: Iterable[str]) -> int | None:
    for name in names:
        value = metrics[name]
        if type(value) is int or (type(value) is float and isfinite(value)):
            return count(int(value))
    return None


def _count(
    metrics: Mapping[str, Json], names: Iterable[str], inner: tuple[str, str] | None = None
) -> int | None:
    """Return the first count of *metrics* under *names*, or under a member of a member."""
    for name in names:
        value = metrics.get(name)
        if type(value) is float:
            value = count(value)
        if is_integer(value):
            return value
    if inner is None:
        return None
    member = metrics.get(inner[0])
    return count(member.get(inner[1])) if type(member) is dict else None


def count(value: Json) -> int | None:
    """Return an integral number that fits an integer slot; None for anything else."""
    if type(value) is float and value.is_integer():
        value = int(value)
    return value if is_integer(value) else None


def first_number(values: Iterable[Json]) -> float | None:
    """Return the first number of *values*, as the float that it is."""
    for value in values:
        if type(value) is float:
            return value
        if type(value) is int:
            try:
                return float(value)
            except OverflowError:
                continue
    return None


# Trajectory


def read_final(final: FinalMetrics) -> tuple[dict[str, Json], TaskResult | None]:
    """The totals with a copy of the outcome, and the outcome: ale.md 5.1 and 5.5."""
    metrics: dict[str, Json] = {**final}
    if metrics["reward"] is None:
        del metrics["reward"]
    # storyline.md 3.4: an empty status means none.
    result = TaskResult(score=final["reward"], status=final["status"] or None)
    return metrics, result if result != TaskResult() else None


def write_final(
    storyline: Storyline, steps: list[Step], options: WriteOptions
) -> FinalMetrics | None:
    """Totals, reward and status; None when the Storyline says nothing of totals or outcome."""
    result = storyline.task.result if storyline.task is not None else None
    if storyline.final_metrics is None and not _is_set(result):
        return None
    stated = storyline.final_metrics if type(storyline.final_metrics) is dict else {}
    outcome = result if result is not None else _NOTHING
    return {
        **_totals(stated, steps, is_own=storyline.is_from("ale")),
        "reward": _reward(outcome, stated),
        "status": _status(storyline, outcome, stated, options),
    }  # type: ignore[return-value]  # the seven totals and these two


def _is_set(result: TaskResult | None) -> bool:
    return result is not None and result != _NOTHING


_NOTHING = TaskResult()
"""What is known of the outcome where nothing is."""


def _totals(stated: Mapping[str, Json], steps: list[Step], *, is_own: bool) -> dict[str, Json]:
    """What is stated under the same name, else the known sum over the steps, else what other names say, else 0."""
    sums: dict[str, int | float] = sum_metrics(steps)
    if _STATES_NO_TOTAL(stated):
        return {**_NO_TOTALS, **sums}
    cached = _count(stated, ("total_cached_tokens",))
    prompt = _count(stated, ("total_prompt_tokens",))
    elsewhere = {
        "total_input_tokens": None if prompt is None else count(max(prompt - (cached or 0), 0)),
        "total_output_tokens": _count(stated, ("total_completion_tokens",)),
        "total_cache_read_tokens": cached,
    }
    totals: dict[str, Json] = {}
    for key, nothing in _NO_TOTALS.items():
        is_cost = key == "total_cost_usd"
        own: Json = first_number([stated.get(key)]) if is_cost else count(stated.get(key))
        if key == "total_steps" and not is_own:
            own = None
        candidates = (own, sums.get(key), elsewhere.get(key), nothing)
        totals[key] = next(value for value in candidates if value is not None)
    return totals


_NO_TOTALS: Mapping[str, Json] = {key: 0.0 if key == "total_cost_usd" else 0 for key in TOTALS}
_STATES_NO_TOTAL = frozenset(
    {*TOTALS, "total_prompt_tokens", "total_completion_tokens", "total_cached_tokens"}
).isdisjoint
"""Whether final metrics have no total under any name."""


def _reward(result: TaskResult, stated: Mapping[str, Json]) -> float | None:
    number = first_number((result.score, stated.get("reward"), stated.get("score")))
    if number is not None:
        return number
    for correct in (result.correct, stated.get("correct")):
        if type(correct) is bool:
            return float(correct)
    return None


def _status(
    storyline: Storyline, result: TaskResult, stated: Mapping[str, Json], options: WriteOptions
) -> str:
    """The first outcome that is a non-empty string, in ALE's words; else what the totals let one guess."""
    for text, at in (
        (result.status, "/task/result/status"),
        (stated.get("status"), "/final_metrics/status"),
    ):
        if type(text) is str and text:
            status = WORDS.get(text) or WORDS.get(word(text))
            if status is not None:
                return status
            options.warn(STATUS_WORD.at(at, text), storyline)
            return "failed" if result.error else "completed"
    if result.error or _is_broken_off(stated):
        return "failed"
    return "timeout" if stated.get("is_truncated") is True else "completed"


def _is_broken_off(stated: Mapping[str, Json]) -> bool:
    code = stated.get("status_code")
    return (
        stated.get("error_type") not in (None, "", [], {})
        or stated.get("client_cancelled") is True
        or stated.get("upstream_cancelled") is True
        or (isinstance(code, int | float) and code >= BAD_REQUEST)
    )
