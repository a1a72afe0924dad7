"""Statistics of many trajectories, in one pass and in little memory: totals, extremes and histograms.

A histogram has a bucket for each power of two, and nothing is kept of a single trajectory.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from hub.batch.counting import NUMBERS, Measures, Number

UNKNOWN = "unknown"


class Spread:
    """How the values of one measure are spread."""

    def __init__(self) -> None:
        self.count = 0
        self.total: Number = 0
        self.least: Number | None = None
        self.largest: Number | None = None
        self.buckets: Counter[int] = Counter()
        """How many values there are at or below 0, and in each range from 2**n to 2**(n+1) (`n`)."""

    def add(self, value: Number) -> None:
        """Count *value*."""
        self.count += 1
        self.total += value
        self.least = value if self.least is None else min(self.least, value)
        self.largest = value if self.largest is None else max(self.largest, value)
        self.buckets[_bucket(value)] += 1

    @property
    def mean(self) -> float | None:
        """The mean; None of no value."""
        return self.total / self.count if self.count else None

    def bars(self) -> list[tuple[float, float, int]]:
        """Return both bounds of each bucket, and how many values are in it; empty ones between others included."""
        if not self.buckets:
            return []
        known = [number for number in self.buckets if number != _ZERO]
        bars = [(0.0, 0.0, self.buckets[_ZERO])] if self.buckets[_ZERO] else []
        numbers = range(min(known), max(known) + 1) if known else ()
        return bars + [(2.0**one, 2.0 ** (one + 1), self.buckets[one]) for one in numbers]

    def to_json(self) -> dict[str, Any]:
        """Return the spread for programs."""
        return {
            "count": self.count,
            "total": self.total,
            "min": self.least,
            "max": self.largest,
            "mean": self.mean,
            "histogram": [
                {"from": low, "below": high, "count": count} for low, high, count in self.bars()
            ],
        }


_ZERO = -10_000


def _bucket(value: Number) -> int:
    return _ZERO if value <= 0 else math.frexp(value)[1] - 1


class Statistics:
    """Statistics under way."""

    def __init__(self) -> None:
        self.trajectories = 0
        self.formats: Counter[tuple[str, str]] = Counter()
        """How many trajectories there are of each format and version."""
        self.outcomes: Counter[str] = Counter()
        self.models: Counter[str] = Counter()
        self.agents: Counter[str] = Counter()
        self.spreads = {name: Spread() for name in NUMBERS}

    def add(self, one: Measures) -> None:
        """Count one trajectory."""
        self.trajectories += 1
        self.formats[one.format, one.version or ""] += 1
        self.outcomes[one.outcome] += 1
        self.agents[one.agent] += 1
        self.models.update(one.models or (UNKNOWN,))
        for name in NUMBERS:
            value = getattr(one, name)
            if value is not None:
                self.spreads[name].add(value)

    @property
    def error_rate(self) -> float | None:
        """The share of tool calls that went wrong; None without calls."""
        calls = self.spreads["tool_calls"].total
        return self.spreads["tool_errors"].total / calls if calls else None

    def to_json(self) -> dict[str, Any]:
        """Return the statistics for programs."""
        return {
            "trajectories": self.trajectories,
            "formats": [
                {"format": id_, "version": version or None, "trajectories": count}
                for (id_, version), count in sorted(self.formats.items())
            ],
            "outcomes": dict(sorted(self.outcomes.items())),
            "models": dict(sorted(self.models.items())),
            "agents": dict(sorted(self.agents.items())),
            "tool_error_rate": self.error_rate,
            "measures": {name: spread.to_json() for name, spread in self.spreads.items()},
        }
