"""Shapes: known keys, required keys and JSON types, derived from a `TypedDict`."""

# A model may not postpone its annotations.

from typing import Any, Literal, NotRequired, Required, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.errors import MISSING, Json
from hub.json import ExactNumber
from hub.shapes import Deviation, Shape
from hub.testing.strategies import json_values


class Tool(TypedDict):
    """A tool."""

    name: str


class Step(TypedDict, total=False):
    """A step of every type."""

    step_id: Required[int]
    message: str | None
    cost: float | None
    ok: bool
    tools: list[Tool]
    tool: Tool | None
    extra: dict[str, Any]
    anything: Any
    source: Literal["user", "agent"]
    mixed: str | list[Any] | int
    either: str | Any


STEP = Shape.of(Step)
GOOD: dict[str, Json] = {
    "step_id": 1,
    "message": None,
    "cost": 1,
    "ok": False,
    "tools": [5],
    "tool": {"x": 1},
    "extra": {},
    "anything": MISSING,
    "source": "other",
    "mixed": [],
    "either": 5,
}
"""Every member with a value of the right type; what is in arrays and objects has a shape of its own."""

HUGE = 2**63

WRONG: list[tuple[str, Json, str]] = [
    ("step_id", "1", "an integer"),
    ("step_id", 1.0, "an integer"),
    ("step_id", True, "an integer"),
    ("step_id", HUGE, "an integer"),
    ("step_id", -HUGE - 1, "an integer"),
    ("message", 5, "a string or null"),
    ("cost", "5", "a number or null"),
    ("cost", True, "a number or null"),
    ("cost", ExactNumber("1e400"), "a number or null"),
    ("ok", 1, "a boolean"),
    ("tools", {}, "an array"),
    ("tool", [], "an object or null"),
    ("extra", [], "an object"),
    ("source", 5, "a string"),
    ("mixed", {}, "a string or an integer or an array"),
    ("mixed", HUGE, "a string or an integer or an array"),
]


class TestOf:
    def test_derived(self) -> None:
        """Keys, types and required keys come from the model."""
        assert "Step" == STEP.name
        assert {"step_id"} == STEP.required
        assert {
            "step_id": {int},
            "message": {str, type(None)},
            "cost": {int, float, type(None)},
            "ok": {bool},
            "tools": {list},
            "tool": {dict, type(None)},
            "extra": {dict},
            "anything": None,
            "source": {str},
            "mixed": {str, list, int},
            "either": None,
        } == STEP.types

    def test_total(self) -> None:
        """In a total model every key is required, but those that are said not to be."""

        class Call(TypedDict):
            name: str
            id: NotRequired[str]

        assert {"name"} == Shape.of(Call).required

    def test_inherited(self) -> None:
        """A model may extend another one."""

        class Longer(Tool, total=False):
            more: int

        assert {"name", "more"} == Shape.of(Longer).types.keys()
        assert {"name"} == Shape.of(Longer).required


MANY = [GOOD] * 20
"""So many that they are asked key by key."""


class TestFits:
    def test_good(self) -> None:
        """Values of the right types fit."""
        assert STEP.fits(GOOD)
        assert STEP.fits({"step_id": HUGE - 1})
        assert STEP.all_fit([GOOD, {"step_id": -HUGE}])
        assert STEP.all_fit([*MANY, GOOD, {"step_id": -HUGE}])
        assert [] == list(STEP.deviations(GOOD))

    @pytest.mark.parametrize("cost", [0.5, HUGE, -(10**400)])
    def test_numbers(self, cost: Json) -> None:
        """A number may be an integer of any size."""
        step = {"step_id": 1, "cost": cost}
        assert STEP.fits(step)
        assert STEP.all_fit([step])
        assert STEP.all_fit([*MANY, step])
        assert [] == list(STEP.deviations(step))

    @pytest.mark.parametrize(("key", "value", "expected"), WRONG)
    def test_wrong_type(self, key: str, value: Json, expected: str) -> None:
        """A value of another type is a deviation; nothing is coerced."""
        step = {**GOOD, key: value}
        assert not STEP.fits(step)
        assert not STEP.all_fit([GOOD, step])
        assert not STEP.all_fit([*MANY, GOOD, step])
        assert [Deviation("type", key, value, expected)] == list(STEP.deviations(step))

    def test_null(self) -> None:
        """`null` where there is none is a deviation of its own."""
        step = {**GOOD, "ok": None}
        assert not STEP.fits(step)
        assert not STEP.all_fit([step])
        assert not STEP.all_fit([*MANY, step])
        assert [Deviation("null", "ok", None, "a boolean")] == list(STEP.deviations(step))

    def test_unknown(self) -> None:
        """So is a key that the model does not have, whatever its value."""
        step = {"x": None, **GOOD}
        assert not STEP.fits(step)
        assert not STEP.all_fit([GOOD, step])
        assert not STEP.all_fit([*MANY, GOOD, step])
        assert [Deviation("unknown", "x", None, "a known key")] == list(STEP.deviations(step))

    def test_missing(self) -> None:
        """So is a required key that is not there."""
        assert not STEP.fits({})
        assert not STEP.all_fit([GOOD, {}])
        assert not STEP.all_fit([*MANY, GOOD, {}])
        missing = Deviation("missing", "step_id", MISSING, "an integer")
        assert [missing] == list(STEP.deviations({}))

    def test_order(self) -> None:
        """Deviations come in the order of the members, missing ones last."""
        step = {"ok": 1, "x": 1, "message": 1}
        assert ["ok", "x", "message", "step_id"] == [one.key for one in STEP.deviations(step)]

    def test_none(self) -> None:
        """Of no objects none deviates."""
        assert STEP.all_fit([])

    def test_required_of_any_type(self) -> None:
        """A required key may take any value, and must be there."""

        class Message(TypedDict):
            text: Any

        shape = Shape.of(Message)
        assert shape.fits({"text": None})
        for number in (1, 20):
            assert shape.all_fit([{"text": None}] * number)
            assert not shape.all_fit([*[{"text": None}] * number, {}])
        assert [Deviation("missing", "text", MISSING, "a value")] == list(shape.deviations({}))

    @given(st.lists(st.dictionaries(st.sampled_from([*GOOD, "x"]), json_values(2)), max_size=3))
    def test_three_questions_one_answer(self, steps: list[dict[str, Json]]) -> None:
        """An object fits exactly when it has no deviation, alone and among others."""
        answers = [not list(STEP.deviations(step)) for step in steps]
        assert answers == [STEP.fits(step) for step in steps]
        assert all(answers) is STEP.all_fit(steps)
        assert all(answers) is STEP.all_fit([*MANY, *steps])
