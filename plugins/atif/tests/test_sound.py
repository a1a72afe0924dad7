"""The quick look at a step: it asks for a close look wherever that finds something, and seldom elsewhere."""

from __future__ import annotations

from typing import Any

import pytest
from hub_atif import parsing, sound
from hypothesis import HealthCheck, given, settings

from .builders import agent, call, document, problems, results, trajectory, user
from .strategies import trajectories, with_faults

Json = Any


def closely(value: Json, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the document of *value*, each of whose steps was looked at closely."""
    with monkeypatch.context() as patched:
        patched.setattr(parsing, "is_sound", lambda *_: False)
        return document(value)


class TestSameAnswer:
    @settings(
        deadline=None,
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.data_too_large,
            HealthCheck.function_scoped_fixture,
        ],
    )
    @given(source=trajectories().flatmap(lambda one: with_faults(one, 6)))
    def test_faults(self, source: Json, monkeypatch: pytest.MonkeyPatch) -> None:
        """With or without the quick look the same problems are found, and the same values set aside."""
        quick, close = document(source), closely(source, monkeypatch)

        assert close.problems == quick.problems
        assert close.residuals == quick.residuals

    @settings(
        deadline=None,
        max_examples=20,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(trajectories(depth=0))
    def test_sound(self, source: Json) -> None:
        """A step without a fault needs no close look, unless its time is none of a Storyline's."""
        for position, step in enumerate(source["steps"], start=1):
            is_odd = step.get("timestamp") in ("2026-06-05", "2026-06-05T03:11:05")
            assert is_odd != sound.is_sound(step, position)


class TestSignatures:
    def test_types_count(self) -> None:
        """What is known of one step says nothing of one with other types, or another order of keys."""
        step = {"step_id": 1, "source": "user", "message": "x"}
        assert sound.is_sound(step, 1)
        assert sound.is_sound({"message": "x", "source": "user", "step_id": 1}, 1)
        assert not sound.is_sound({**step, "step_id": True}, 1)
        assert not sound.is_sound({**step, "step_id": 1.0}, 1)
        assert not sound.is_sound({**step, "message": None}, 1)

    def test_few_are_remembered(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """However many signatures a file has, memory stays small, and answers right."""
        monkeypatch.setattr(sound, "MAX_KNOWN", 1)
        source = trajectory(
            user(),
            agent("c", **results({"source_call_id": "c"}, {"content": "x"})),
            agent(tool_calls=[call("d", extra={})], metrics={"prompt_tokens": 1}),
            user(x=1),
        )
        assert [("error", "unknown-key", "/steps/3/x")] == problems(source)

    @pytest.mark.parametrize("observation", [{"results": {}}, {"x": []}, {}, {"results": None}])
    def test_observation(self, observation: Json) -> None:
        """An observation has results, and those are an array."""
        assert not sound.is_sound({"step_id": 1, **user(observation=observation)}, 1)


PART: Json = {"type": "text", "text": "x"}
CALLS = [f"c{number}" for number in range(20)]
NONE: Json = dict.fromkeys(
    (
        "timestamp",
        "model_name",
        "reasoning_effort",
        "reasoning_content",
        "tool_calls",
        "observation",
        "metrics",
        "is_copied_context",
        "llm_call_count",
        "extra",
    )
)


def is_sound(step: Json) -> bool:
    """Return the answer for *step*, the first of a file; it is the same when such a step is known already."""
    answers = [sound.is_sound({"step_id": 1, **step}, 1) for _ in range(2)]
    assert answers[0] is answers[1]
    return answers[0]


def measured(**metrics: Json) -> Json:
    """Return a step with these *metrics*."""
    return agent(metrics=metrics)


class TestQuickLook:
    """Steps that need no close look, and steps that do: atif.md 1.2 and 6.3."""

    @pytest.mark.parametrize(
        "step",
        [
            user(),
            user("", source="system", is_copied_context=True, llm_call_count=0, extra={"a": 1}),
            user([], **NONE),
            user([PART, PART], timestamp="2026-01-01T00:00:00Z"),
            user(**results({"content": "x"}), timestamp="2026-01-01t00:00:00Z"),
            agent(model_name="m", reasoning_effort=1.5, reasoning_content="r", tool_calls=[]),
            agent(reasoning_effort="low", metrics={}, llm_call_count=1),
            agent(llm_call_count=2**63 - 1, **results()),
            agent(llm_call_count=0),
            agent("c", **results({"source_call_id": "c", "content": [PART]}, {})),
            agent("c", **results({"source_call_id": None, "content": None, "extra": {}})),
            agent(*CALLS, **results({"source_call_id": "c19"}, {"source_call_id": "c0"}, {})),
            agent(**results({"subagent_trajectory_ref": None})),
            measured(prompt_tokens=2**63 - 1, completion_tokens=-(2**63), cached_tokens=None),
            measured(cost_usd=1, logprobs=[], prompt_token_ids=[1], completion_token_ids=None),
            measured(cost_usd=0.5, logprobs=[0, -0.5], extra={"a": 1}),
        ],
    )
    def test_sound(self, step: Json) -> None:
        """Nothing is wrong with it, and it is seen at once."""
        assert [] == problems(trajectory(step))
        assert is_sound(step)

    @pytest.mark.parametrize(
        "step",
        [
            user(source="tool"),
            user(source="environment"),
            user(5),
            user(["x"]),
            user([PART, {"type": "text"}]),
            user(timestamp="2026-01-01"),
            user(timestamp="soon"),
            user(extra=[]),
            user(x=None),
            user(model_name="m"),
            user(reasoning_effort="low"),
            user(reasoning_content="r"),
            user(tool_calls=[]),
            user(metrics={}),
            user(llm_call_count=-1),
            user(llm_call_count=2**63),
            agent(llm_call_count=0, metrics={}),
            agent(llm_call_count=0, reasoning_content="r"),
            agent(reasoning_effort=True),
            agent(tool_calls=[5]),
            agent(tool_calls=[{}]),
            agent(""),
            agent(tool_calls=[call(name="")]),
            agent(tool_calls=[call(arguments="{}")]),
            agent(tool_calls=[call(result="x")]),
            agent(observation={"results": [], "error": None}),
            agent(**results("x")),
            agent(**results({"content": 5})),
            agent(**results({"content": ["x"]})),
            agent(**results({"x": 1})),
            agent("c", **results({"source_call_id": "d"})),
            agent("c", **results({"source_call_id": ""})),
            agent(*CALLS, **results({"source_call_id": "c19"}, {"source_call_id": "c20"})),
            agent(*CALLS, **results({"source_call_id": "c19"}, "x")),
            agent(**results({"source_call_id": "d"})),
            agent(**results({"subagent_trajectory_ref": [{}]})),
            measured(x=1),
            measured(prompt_tokens=1.0),
            measured(prompt_tokens=2**63),
            measured(cached_tokens=-(2**63) - 1),
            measured(completion_tokens=2**63, cost_usd=1),
            measured(prompt_token_ids=[1.0]),
            measured(logprobs=[None]),
            measured(logprobs={}),
            measured(extra=5),
        ],
    )
    def test_not_sound(self, step: Json) -> None:
        """What has a problem is looked at closely."""
        assert [] != problems(trajectory(step))
        assert not is_sound(step)

    def test_another_place(self) -> None:
        """The id of a step is its position."""
        assert not sound.is_sound({"step_id": 2, **user()}, 1)
        assert sound.is_sound({"step_id": 2, **user()}, 2)


class TestCallIds:
    @pytest.mark.parametrize(
        ("steps", "is_unique"),
        [
            ([], True),
            ([user(), agent(tool_calls=None), agent(tool_calls=[])], True),
            ([agent("a", "b"), user(), agent("c")], True),
            ([agent("a", "a")], False),
            ([agent("a"), agent("a")], False),
            ([agent("a", "")], False),
            ([agent("a", tool_calls=[{"function_name": "f"}])], False),
            ([agent(tool_calls=[call("a"), call(5)])], False),
        ],
    )
    def test_unique(self, steps: Json, is_unique: bool) -> None:  # noqa: FBT001  # a column
        """Every call of a trajectory has an id, a text that says something, and no two have the same."""
        assert sound.has_unique_call_ids(steps) is is_unique


class TestReferences:
    def test_embedded(self) -> None:
        """References that name a trajectory and no file are those that a nested one answers."""
        steps = [
            user(),
            agent(
                **results(
                    "x",
                    {"content": "x"},
                    {
                        "subagent_trajectory_ref": [
                            {"trajectory_id": "a"},
                            5,
                            {"trajectory_id": "b", "trajectory_path": "b.json"},
                            {"trajectory_id": "c", "trajectory_path": None},
                            {"trajectory_id": 5},
                            {},
                        ]
                    },
                    {"subagent_trajectory_ref": {"trajectory_id": "d"}},
                )
            ),
        ]
        place = "/steps/1/observation/results/2/subagent_trajectory_ref"

        assert [(f"{place}/0", "a"), (f"{place}/3", "c")] == list(
            sound.embedded_references(steps, "/steps")
        )
