"""Usage of a step, totals and outcome of a trajectory."""

from __future__ import annotations

from typing import Any

import pytest

from hub import Task, TaskResult

from .builders import storyline, turn, write_one

Json = Any

NAMES = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_creation_tokens",
    "cost_usd",
    "duration_ms",
)


def metrics(value: Json, latency_ms: int | None = None) -> Json:
    """Return the metrics of the step for a turn with the metrics *value*."""
    return write_one(storyline(turn(metrics=value, latency_ms=latency_ms)))["steps"][0]["metrics"]


def known(value: Json, latency_ms: int | None = None) -> dict[str, Json]:
    """Return those that are not null."""
    found = metrics(value, latency_ms)
    assert tuple(found) == NAMES
    return {key: member for key, member in found.items() if member is not None}


def final(
    result: TaskResult | None = None, metrics: Json = None, steps: tuple[Json, ...] = ()
) -> Json:
    """Return the final metrics of a trajectory with one turn for each of the *steps*' metrics."""
    turns = [turn(position, metrics=one) for position, one in enumerate(steps, start=1)]
    task = None if result is None else Task(result=result)
    return write_one(storyline(*turns, task=task, final_metrics=metrics))["final_metrics"]


class TestStepMetrics:
    @pytest.mark.parametrize("value", [None, 5, "x", []])
    def test_none(self, value: Json) -> None:
        """A turn without an object of metrics and without a latency has none."""
        assert metrics(value) is None

    def test_latency_alone(self) -> None:
        """A latency is a duration."""
        assert {"duration_ms": 7} == known(None, 7)
        assert {"duration_ms": 7} == known("x", 7)

    def test_empty(self) -> None:
        """An empty object is metrics that say nothing."""
        assert {} == known({})

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            ({"input_tokens": 5, "output_tokens": 2}, {"input_tokens": 5, "output_tokens": 2}),
            (
                {"cache_read_tokens": 3, "cache_creation_tokens": 4, "duration_ms": 6},
                {"cache_read_tokens": 3, "cache_creation_tokens": 4, "duration_ms": 6},
            ),
            (
                {"prompt_tokens": 9, "cache_read_tokens": 3, "cache_creation_tokens": 4},
                {"input_tokens": 2, "cache_read_tokens": 3, "cache_creation_tokens": 4},
            ),
            ({"cache_read_tokens": 3, "cached_tokens": 4}, {"cache_read_tokens": 3}),
            (
                {"cache_creation_tokens": 3, "cache_creation_input_tokens": 4},
                {"cache_creation_tokens": 3},
            ),
            ({"prompt_tokens": 9, "prompt_tokens_len": 8}, {"input_tokens": 9}),
            ({"duration_ms": 1, "llm_infer_ms": 2}, {"duration_ms": 1}),
            ({"llm_infer_ms": 1, "total_latency_ms": 2}, {"duration_ms": 1}),
            ({"input_tokens": 5.0}, {"input_tokens": 5}),
            ({"input_tokens": 5.5}, {}),
            ({"input_tokens": True}, {}),
            ({"input_tokens": "5"}, {}),
            ({"input_tokens": 2**63}, {}),
            ({"input_tokens": 1e300}, {}),
            (
                {"prompt_tokens": 100, "cached_tokens": 40},
                {"input_tokens": 60, "cache_read_tokens": 40},
            ),
            (
                {"prompt_tokens_len": 28, "completion_tokens_len": 10},
                {"input_tokens": 28, "output_tokens": 10},
            ),
            (
                {"prompt_tokens": 10, "cached_tokens": 40},
                {"input_tokens": 0, "cache_read_tokens": 40},
            ),
            (
                {
                    "prompt_tokens": 100,
                    "cache_read_input_tokens": 40,
                    "cache_creation_input_tokens": 10,
                },
                {"input_tokens": 50, "cache_read_tokens": 40, "cache_creation_tokens": 10},
            ),
            (
                {"input_tokens": 9, "prompt_tokens": 100, "cached_tokens": 40},
                {"input_tokens": 9, "cache_read_tokens": 40},
            ),
            ({"prompt_tokens_details": {"cached_tokens": 4}}, {"cache_read_tokens": 4}),
            ({"prompt_tokens_details": 4}, {}),
            ({"extra": {"cache_creation_tokens": 4}}, {"cache_creation_tokens": 4}),
            ({"cache_read_tokens": "x", "cached_tokens": 4}, {"cache_read_tokens": 4}),
            ({"output_tokens": 1, "completion_tokens": 2}, {"output_tokens": 1}),
            ({"completion_tokens": 2}, {"output_tokens": 2}),
            ({"cost_usd": 0.5, "cost": 1}, {"cost_usd": 0.5}),
            ({"cost": 1}, {"cost_usd": 1.0}),
            ({"cost_usd": 10**400}, {}),
            ({"cost_usd": "1"}, {}),
            ({"llm_infer_ms": 12.9}, {"duration_ms": 12}),
            ({"latency_ms": 1, "duration_ms": 2}, {"duration_ms": 1}),
            ({"elapsed_ms": 3, "total_latency_ms": 4}, {"duration_ms": 4}),
            ({"elapsed_ms": 1e300}, {}),
        ],
    )
    def test_names(self, value: Json, expected: Json) -> None:
        """Whatever a source calls its usage, ALE has its six values, with their types."""
        found = known(value)

        assert expected == found
        assert [type(member) for member in expected.values()] == [
            type(found[key]) for key in expected
        ]

    def test_latency_first(self) -> None:
        """The latency of the turn is the duration, whatever the metrics say."""
        assert {"duration_ms": 7} == known({"duration_ms": 9}, 7)


class TestOutcome:
    def test_none(self) -> None:
        """Without totals and outcome there are no final metrics."""
        assert final() is None
        assert final(TaskResult()) is None

    @pytest.mark.parametrize(
        ("word", "status"),
        [
            *(
                (word, "completed")
                for word in (
                    "completed",
                    "complete",
                    "success",
                    "succeeded",
                    "solved",
                    "resolved",
                    "passed",
                    "pass",
                    "ok",
                    "done",
                    "finished",
                )
            ),
            *(
                (word, "timeout")
                for word in (
                    "timeout",
                    "timed_out",
                    "timedout",
                    "agent_timeout",
                    "deadline_exceeded",
                    "time_limit_exceeded",
                    "truncated",
                    "max_steps",
                    "max_turns",
                    "max_tokens",
                    "step_limit",
                    "budget_exceeded",
                )
            ),
            *(
                (word, "failed")
                for word in (
                    "failed",
                    "failure",
                    "fail",
                    "error",
                    "errored",
                    "crashed",
                    "exception",
                    "cancelled",
                    "canceled",
                    "aborted",
                    "killed",
                    "interrupted",
                    "skipped",
                    "not_executed",
                    "invalid",
                    "rejected",
                )
            ),
            (" Timed - out ", "timeout"),
            ("MAX TURNS", "timeout"),
        ],
    )
    def test_words(self, word: str, status: str) -> None:
        """Every known word, however it is written, is one of the three."""
        assert status == final(TaskResult(status=word))["status"]
        assert status == final(None, {"status": word})["status"]

    def test_first_word(self) -> None:
        """The outcome of the task comes before that among the totals."""
        assert final(TaskResult(status="failed"), {"status": "ok"})["status"] == "failed"
        assert final(TaskResult(correct=True), {"status": "failed"})["status"] == "failed"
        assert final(TaskResult(correct=True), {"status": 5})["status"] == "completed"

    @pytest.mark.parametrize(
        ("result", "metrics", "status"),
        [
            (TaskResult(status="weird"), None, "completed"),
            (TaskResult(status="weird", error="e"), None, "failed"),
            (TaskResult(error="e"), None, "failed"),
            (TaskResult(correct=False), None, "completed"),
            (None, {"error_type": "X"}, "failed"),
            (None, {"error_type": ""}, "completed"),
            (None, {"error_type": None, "is_truncated": True}, "timeout"),
            (None, {"client_cancelled": True}, "failed"),
            (None, {"client_cancelled": 1}, "completed"),
            (None, {"upstream_cancelled": True, "is_truncated": True}, "failed"),
            (None, {"status_code": 400}, "failed"),
            (None, {"status_code": 399}, "completed"),
            (None, {"status_code": True}, "completed"),
            (None, "x", "completed"),
        ],
    )
    def test_without_a_known_word(
        self, result: TaskResult | None, metrics: Json, status: str
    ) -> None:
        """Without a known word the error, and what the totals say of the call, decide."""
        assert status == final(result, metrics)["status"]

    @pytest.mark.parametrize(
        ("result", "metrics", "reward"),
        [
            (TaskResult(score=0.5), {"reward": 1.0}, 0.5),
            (TaskResult(score=2), None, 2.0),
            (TaskResult(score="2"), {"reward": 1}, 1.0),
            (TaskResult(score=10**400), {"score": 3}, 3.0),
            (TaskResult(score=True, correct=False), None, 0.0),
            (TaskResult(correct=True), {"correct": False}, 1.0),
            (TaskResult(status="ok"), {"correct": True}, 1.0),
            (TaskResult(correct=True), {"score": 0}, 0.0),
            (TaskResult(status="ok"), {"correct": 1}, None),
        ],
    )
    def test_reward(self, result: TaskResult, metrics: Json, reward: float | None) -> None:
        """The reward is the first number, as a float; else it says whether the result was right."""
        found = final(result, metrics)["reward"]

        assert reward == found
        assert type(found) is type(reward)


class TestTotals:
    def test_stated(self) -> None:
        """Totals are what the Storyline says, if of the right kind."""
        found = final(
            None,
            {
                "total_steps": 9,
                "total_input_tokens": 1.0,
                "total_output_tokens": "2",
                "total_cost_usd": 2,
                "total_duration_ms": 2**63,
            },
            ({"output_tokens": 5, "cost_usd": 1.0, "duration_ms": 4},),
        )

        assert {
            "total_steps": 1,
            "total_input_tokens": 1,
            "total_output_tokens": 5,
            "total_cache_read_tokens": 0,
            "total_cache_creation_tokens": 0,
            "total_cost_usd": 2.0,
            "total_duration_ms": 4,
            "reward": None,
            "status": "completed",
        } == found
        assert [int, int, int, int, int, float, int] == [
            type(value) for value in list(found.values())[:7]
        ]

    def test_sums(self) -> None:
        """Else they are the known sums over the steps."""
        found = final(
            TaskResult(correct=True),
            {"total_prompt_tokens": 99},
            ({"input_tokens": 2, "cost_usd": 0.5}, {"input_tokens": 3}),
        )

        assert (5, 0.5) == (found["total_input_tokens"], found["total_cost_usd"])

    def test_other_names(self) -> None:
        """Else they are what other names say."""
        found = final(
            None,
            {"total_prompt_tokens": 100, "total_cached_tokens": 40, "total_completion_tokens": 7},
        )

        assert (60, 7, 40) == (
            found["total_input_tokens"],
            found["total_output_tokens"],
            found["total_cache_read_tokens"],
        )

    def test_no_overflow(self) -> None:
        """A sum that does not fit its slot is not known."""
        most = {"input_tokens": 2**63 - 1, "cost_usd": 1e308}

        found = final(TaskResult(correct=True), None, (most, most))

        assert (0, 0.0) == (found["total_input_tokens"], found["total_cost_usd"])

    def test_steps_of_own(self) -> None:
        """A Storyline from ALE keeps the number of steps that it states."""
        stated = {"total_steps": 9}

        assert (
            write_one(storyline(turn(), origin="ale", final_metrics=stated))["final_metrics"][
                "total_steps"
            ]
            == 9
        )
        assert (
            write_one(storyline(turn(), origin="ale", final_metrics={}))["final_metrics"][
                "total_steps"
            ]
            == 1
        )
