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
