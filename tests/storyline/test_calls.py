"""Call ids, turn ids, and the call that a result answers (storyline.md 4.4 and 5.2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.errors import MISSING, Json
from hub.storyline.calls import CallIndex, is_integer, turn_ids, unique_call_ids


def positional(count: int) -> list[str]:
    return [f"call-{index}" for index in range(count)]


class TestUniqueCallIds:
    @pytest.mark.parametrize(
        ("ids", "expected"),
        [
            ([], []),
            (["a", "b"], ["a", "b"]),
            (["a", "a", "a"], ["a", "a#2", "a#3"]),
            (["a", "b", "a", "b"], ["a", "b", "a#2", "b#2"]),
            (["a", "a", "a#2"], ["a", "a#3", "a#2"]),
            (["a#2", "a", "a"], ["a#2", "a", "a#3"]),
            (["a", "a#2", "a#2", "a"], ["a", "a#2", "a#2#2", "a#3"]),
            ([None, None], ["call-0", "call-1"]),
            (["call-1", None], ["call-1", "call-1#2"]),
            ([None, "call-0"], ["call-0#2", "call-0"]),
            ([None, "call-0", "call-0#2"], ["call-0#3", "call-0", "call-0#2"]),
            ([None, "call-0", "call-0"], ["call-0#2", "call-0", "call-0#3"]),
        ],
    )
    def test_walk(self, ids: list[str | None], expected: list[str]) -> None:
        """The first use of an id keeps it, later ones get the next number that no call uses or is called."""
        assert expected == unique_call_ids(ids, positional(len(ids)))

    def test_reserved(self) -> None:
        """An id that is made up is none of those that are reserved."""
        ids = ["a", "a", None]
        assert ["a", "a#3", "call-2#2"] == unique_call_ids(
            ids, positional(3), reserved=["a#2", "call-2", "a"]
        )

    def test_positional_ids_may_repeat(self) -> None:
        """Positional ids that repeat are told apart like any other."""
        assert ["p", "p#2"] == unique_call_ids([None, None], ["p", "p"])

    @given(st.lists(st.one_of(st.none(), st.sampled_from(["a", "a#2", "a#2#2", "call-1", "b"]))))
    def test_all_differ(self, ids: list[str | None]) -> None:
        """All ids differ, the first use of a source id keeps it, and a made-up id is no source id."""
        chosen = unique_call_ids(ids, positional(len(ids)))
        assert len(chosen) == len(ids) == len(set(chosen))
        for index, (source, one) in enumerate(zip(ids, chosen, strict=True)):
            assert (source == one) is (source is not None and source not in ids[:index])
            assert one == source or one not in ids

    def test_many(self) -> None:
        """A long run of one id takes no time to speak of."""
        count = 20_000
        assert f"a#{count}" == unique_call_ids(["a"] * count, positional(count))[-1]


class TestTurnIds:
    @pytest.mark.parametrize(
        ("step_ids", "ids", "residuals"),
        [
            ([], [], []),
            ([1, 2, 3], [1, 2, 3], []),
            ([3, 1, -7], [3, 1, -7], []),
            ([2**63 - 1, -(2**63)], [2**63 - 1, -(2**63)], []),
            ([1, 1, 3], [1, 2, 3], [1]),
            ([5, 5], [1, 2], [0, 1]),
            ([1, "2", 3], [1, 2, 3], [1]),
            ([1, 2.0, 3], [1, 2, 3], [1]),
            ([True, 2], [1, 2], [0]),
            ([1, None], [1, 2], [1]),
            ([MISSING, 2, 7], [1, 2, 3], [2]),
            ([1, 2**63], [1, 2], [1]),
            ([[], {}], [1, 2], [0, 1]),
        ],
    )
    def test_ids(self, step_ids: list[Json], ids: list[int], residuals: list[int]) -> None:
        """Different integers are the ids, in whatever order; else positions are, and other ids are residuals."""
        assert (ids, residuals) == turn_ids(step_ids)


class TestInteger:
    @pytest.mark.parametrize("value", [0, -1, 2**63 - 1, -(2**63)])
    def test_integer(self, value: Json) -> None:
        """An integer slot takes 64 bits."""
        assert is_integer(value)

    @pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 1.0, True, "1", None, []])
    def test_none(self, value: Json) -> None:
        """A float, a boolean, a text is no integer."""
        assert not is_integer(value)


class TestCallIndex:
    def test_unknown(self) -> None:
        """A reference to a call that is not there finds nothing."""
        index = CallIndex()
        index.add(0, "a", "a")
        assert None is index.answer("b")
        assert None is index.find("b")

    def test_renamed(self) -> None:
        """A call is found by its source id, and answered by its id in the Storyline."""
        index = CallIndex()
        index.add(0, "a", "a")
        index.add(1, "a", "a#2")
        assert 1 == index.find("a")
        assert (1, "a#2") == index.answer("a")

    def test_same_turn_first(self) -> None:
        """Calls of the same turn come before those of earlier turns, however many results there are."""
        index = CallIndex()
        index.add(0, "a", "a")
        index.add(1, "a", "a#2")
        assert [(1, "a#2"), (1, "a#2")] == [index.answer("a"), index.answer("a")]

    def test_first_without_result(self) -> None:
        """Within a turn the first call without a result is answered, and after the last the first again."""
        index = CallIndex()
        for one in ("a", "a#2", "a#3"):
            index.add(4, "a", one)
        answers = [index.answer("a") for _ in range(5)]
        assert [(4, "a"), (4, "a#2"), (4, "a#3"), (4, "a"), (4, "a")] == answers

    def test_nearest_earlier_turn(self) -> None:
        """A turn without such a call asks the nearest earlier one."""
        index = CallIndex()
        index.add(0, "a", "a")
        index.add(3, "a", "a#2")
        index.add(3, "a", "a#3")
        index.add(5, "b", "b")
        assert [(3, "a#2"), (3, "a#3"), (5, "b")] == [
            index.answer("a"),
            index.answer("a"),
            index.answer("b"),
        ]

    def test_find_answers_nothing(self) -> None:
        """Asking where a call is does not answer it."""
        index = CallIndex()
        index.add(0, "a", "a")
        index.add(0, "a", "a#2")
        index.find("a")
        assert (0, "a") == index.answer("a")
