"""Token counts, cost and duration by the names that formats use (storyline.md 4.6)."""

from __future__ import annotations

import pytest

from hub.errors import Json
from hub.storyline.usage import (
    cached_tokens,
    completion_tokens,
    cost_usd,
    duration_ms,
    integer,
    number,
    prompt_tokens,
)


class TestPromptTokens:
    @pytest.mark.parametrize(
        ("metrics", "expected"),
        [
            ({"prompt_tokens": 5}, 5),
            ({"prompt_tokens": 0}, 0),
            ({"prompt_tokens_len": 5}, 5),
            ({"prompt_tokens": 5, "prompt_tokens_len": 6, "input_tokens": 7}, 5),
            ({"prompt_tokens": "5", "prompt_tokens_len": 6}, 6),
            ({"prompt_tokens": 5.0, "input_tokens": 7}, 7),
            ({"prompt_tokens": True, "input_tokens": 7}, 7),
            ({"prompt_tokens": 2**63, "input_tokens": 7}, 7),
            ({"input_tokens": 7, "cache_read_tokens": 2, "cache_creation_tokens": 1}, 10),
            ({"input_tokens": 7, "cache_read_input_tokens": 2}, 9),
            ({"input_tokens": 7, "cache_creation_input_tokens": 1}, 8),
            ({"input_tokens": 7, "cache_read_tokens": 2, "cache_read_input_tokens": 4}, 9),
            ({"input_tokens": 7, "cache_read_tokens": None, "cache_read_input_tokens": 4}, 11),
            ({"cache_read_tokens": 2}, None),
            ({}, None),
        ],
    )
    def test_names(self, metrics: Json, expected: int | None) -> None:
        """All prompt tokens are one count, or what was new and what the cache read and wrote."""
        assert expected == prompt_tokens(metrics)


class TestOthers:
    @pytest.mark.parametrize(
        ("metrics", "expected"),
        [
            ({"completion_tokens": 5, "output_tokens": 6}, 5),
            ({"completion_tokens_len": 5}, 5),
            ({"output_tokens": 5}, 5),
            ({"completion_tokens": None, "output_tokens": 5}, 5),
            ({"output_tokens": 5.5}, None),
        ],
    )
    def test_completion_tokens(self, metrics: Json, expected: int | None) -> None:
        """The first of three names counts."""
        assert expected == completion_tokens(metrics)

    @pytest.mark.parametrize(
        ("metrics", "expected"),
        [
            ({"cached_tokens": 5, "cache_read_tokens": 6}, 5),
            ({"cache_read_tokens": 5}, 5),
            ({"cache_read_input_tokens": 5}, 5),
            ({"prompt_tokens_details": {"cached_tokens": 5}}, 5),
            ({"prompt_tokens_details": [5]}, None),
            ({"prompt_tokens_details": {"cached_tokens": "5"}}, None),
            ({"prompt_tokens_details.cached_tokens": 5}, None),
        ],
    )
    def test_cached_tokens(self, metrics: Json, expected: int | None) -> None:
        """Cached tokens may stand in a member of a member."""
        assert expected == cached_tokens(metrics)

    @pytest.mark.parametrize(
        ("metrics", "expected"),
        [
            ({"cost_usd": 0.5, "cost": 1}, 0.5),
            ({"cost": 1}, 1),
            ({"cost_usd": "0.5", "cost": 0}, 0),
            ({"cost": True}, None),
        ],
    )
    def test_cost(self, metrics: Json, expected: float | None) -> None:
        """A cost is any number."""
        assert expected == cost_usd(metrics)

    @pytest.mark.parametrize(
        ("metrics", "latency_ms", "expected"),
        [
            ({"latency_ms": 2}, 1, 1),
            ({"latency_ms": 2}, 0, 0),
            ({"latency_ms": 2, "duration_ms": 3}, None, 2),
            ({"duration_ms": 3}, None, 3),
            ({"llm_infer_ms": 4.5}, None, 4.5),
            ({"total_latency_ms": 5}, None, 5),
            ({"elapsed_ms": 6}, None, 6),
            (None, 7, 7),
            ({}, None, None),
        ],
    )
    def test_duration(self, metrics: Json, latency_ms: int | None, expected: float | None) -> None:
        """The latency of the turn comes before any metric."""
        assert expected == duration_ms(metrics, latency_ms)

    @pytest.mark.parametrize("metrics", [None, 5, "prompt_tokens", [], [{"prompt_tokens": 5}]])
    def test_no_object(self, metrics: Json) -> None:
        """Metrics that are no object say nothing."""
        for read in (prompt_tokens, completion_tokens, cached_tokens, cost_usd, duration_ms):
            assert None is read(metrics)

    def test_names_of_a_format(self) -> None:
        """A format may ask for names of its own, in its own order."""
        assert 2 == integer({"a": 1.0, "b": 2, "c": 3}, ("a", "b", "c"))
        assert 1.0 == number({"a": 1.0, "b": 2}, ("a", "b"))
        assert None is integer({}, ())
