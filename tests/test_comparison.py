"""Comparing Storylines: pairs, aligned turns, differences, for programs and for people."""

from __future__ import annotations

import pytest
from hypothesis import given

from hub.codec import from_wire
from hub.comparison import Comparison, Difference, compare
from hub.errors import MISSING, Json
from hub.storyline.model import Storyline
from hub.testing.strategies import storylines
from hub.wire import to_wire

USER = {"id": 1, "src": "user", "msg": "hi"}
AGENT = {"id": 2, "src": "agent", "msg": "ok", "model": "m"}


def storyline(*turns: Json, **members: Json) -> Storyline:
    wire = {
        "schema_version": "storyline/v1",
        "session": "s",
        "agent": {"id": "a"},
        "turns": list(turns),
    }
    return from_wire(wire | members)


def differences(comparison: Comparison) -> list[tuple[str, str]]:
    return [(one.kind, one.pointer) for _, one in comparison.differences()]


class TestEqual:
    @given(one=storylines(), other=storylines())
    def test_any(self, one: Storyline, other: Storyline) -> None:
        """A Storyline equals its copy, and nothing that is spelled otherwise."""
        assert compare([one], [from_wire(to_wire(one))]).is_equal
        assert "" == compare([one], [one]).to_text()
        if one.document_id == other.document_id:
            assert compare([one], [other]).is_equal == (to_wire(one) == to_wire(other))

    def test_order_of_storylines(self) -> None:
        """The order of Storylines does not count."""
        one, other = storyline(USER, session="a"), storyline(USER, session="b")

        assert compare([one, other], [other, one]).is_equal

    def test_integer_and_float(self) -> None:
        """The type of a number does."""
        assert not compare([storyline(extra={"a": 1})], [storyline(extra={"a": 1.0})]).is_equal

    def test_nothing(self) -> None:
        """Two empty lists are equal."""
        assert compare([], []).is_equal


class TestDifferences:
    def test_root(self) -> None:
        """Differences of the root are named by pointer, residuals among them."""
        residuals = {"atif": {"source_document_id": "T", "fields": {"/v": 1}}}
        first = storyline(USER, notes="n", extra={"a": [1, 2], "b": 1})
        second = storyline(
            USER,
            extra={"a": [1, 3, 4], "c": 1},
            unknown_fields={"sources": residuals},
            unknown_key_counts={"atif": {"/v": 1}},
        )

        comparison = compare([first], [second])

        assert [
            ("changed", "/extra/a/1"),
            ("added", "/extra/a/2"),
            ("removed", "/extra/b"),
            ("added", "/extra/c"),
            ("removed", "/notes"),
            ("added", "/unknown_fields"),
        ] == differences(comparison)

    def test_whole_values(self) -> None:
        """A value of another type, or an empty one, differs as a whole."""
        first = storyline(extra={"a": {"b": 1}, "c": [1], "d": {}})
        second = storyline(extra={"a": [1], "c": [], "d": {"e": 1}})

        assert [
            Difference("/extra/a", {"b": 1}, [1]),
            Difference("/extra/c", [1], []),
            Difference("/extra/d", {}, {"e": 1}),
        ] == compare([first], [second]).pairs[0].differences

    def test_turns(self) -> None:
        """Turns are compared with the turns that they belong to."""
        first = storyline(USER, AGENT)
        second = storyline(
            USER, {"id": 5, "src": "note", "msg": "new"}, AGENT | {"id": 6, "nllm": 1}
        )

        comparison = compare([first], [second])

        assert [(0, 0), (None, 1), (1, 2)] == [
            (turn.first, turn.second) for turn in comparison.pairs[0].turns
        ]
        assert [
            Difference("/turns/1", MISSING, {"id": 5, "src": "note", "msg": "new"}),
            Difference("/turns/1/id", 2, 6),
            Difference("/turns/2/nllm", MISSING, 1),
        ] == [one for _, one in comparison.differences()]

    def test_without_a_partner(self) -> None:
        """A Storyline without a partner is named."""
        a, b, c = (storyline(USER, session=name) for name in "abc")

        comparison = compare([a, b, c], [b])

        assert [(0, "a"), (2, "c")] == comparison.first_only
        assert [] == comparison.second_only
        assert not comparison.is_equal
        assert [(0, "a"), (2, "c")] == compare([b], [a, b, c]).second_only

    def test_ignored_members(self) -> None:
        """Members that only say how a Storyline was stored can be left out."""
        first = storyline(USER, origin={"format": "actf"}, notes="n")
        second = storyline(USER, origin={"format": "ale"}, notes="n")

        assert [("changed", "/origin/format")] == differences(compare([first], [second]))
        assert compare([first], [second], ignore={"origin", "unknown_fields"}).is_equal

    def test_deep_values(self) -> None:
        """Values as deep as a document may be are compared."""
        values: list[Json] = [1, 2]
        for _ in range(500):
            values = [[value] for value in values]

        (difference,) = (
            compare([storyline(extra=values[0])], [storyline(extra=values[1])]).pairs[0].differences
        )

        assert "/extra" + "/0" * 500 == difference.pointer


FIRST = storyline(USER, {"id": 3, "src": "user", "msg": "more"}, AGENT, USER | {"id": 9}, notes="n")
SECOND = storyline(
    USER,
    {"id": 3, "src": "user", "msg": "more"},
    AGENT | {"msg": "edited"},
    {"id": 4, "src": "agent", "msg": "", "tool_calls": [{"tcid": "c", "fn": "bash", "args": {}}]},
    USER | {"id": 9},
)


class TestShapes:
    def test_json(self) -> None:
        """For programs, everything that differs, with its values."""
        assert {
            "version": 1,
            "equal": False,
            "storylines": [
                {
                    "first": 0,
                    "second": 0,
                    "document_id": "s",
                    "equal": False,
                    "differences": [{"kind": "removed", "pointer": "/notes", "first": "n"}],
                    "turns": [
                        {
                            "first": 2,
                            "second": 2,
                            "differences": [
                                {
                                    "kind": "changed",
                                    "pointer": "/turns/2/msg",
                                    "first": "ok",
                                    "second": "edited",
                                }
                            ],
                        },
                        {
                            "first": None,
                            "second": 3,
                            "differences": [
                                {
                                    "kind": "added",
                                    "pointer": "/turns/3",
                                    "second": to_wire(SECOND)["turns"][3],
                                }
                            ],
                        },
                    ],
                }
            ],
            "first_only": [{"index": 1, "document_id": "t"}],
            "second_only": [],
        } == compare([FIRST, storyline(session="t")], [SECOND]).to_json()

    def test_json_of_equal_storylines(self) -> None:
        """Of Storylines that are equal only the ids are there."""
        assert {
            "version": 1,
            "equal": True,
            "storylines": [
                {
                    "first": 0,
                    "second": 0,
                    "document_id": "s",
                    "equal": True,
                    "differences": [],
                    "turns": [],
                }
            ],
            "first_only": [],
            "second_only": [],
        } == compare([FIRST], [FIRST]).to_json()

    def test_text(self) -> None:
        """For people, the turns side by side and what differs."""
        text = compare([FIRST, storyline(session="t")], [SECOND]).to_text(width=65)

        assert [
            '"s":',
            "  = 2 equal turns",
            '  ~ 2 agent "ok"                   2 agent "edited"',
            "  +                                3 agent bash()",
            "  = 1 equal turn",
            '  /notes: "n" | nothing',
            '  /turns/2/msg: "ok" | "edited"',
            "  /turns/3: nothing | an object",
            '"t": only in the first',
        ] == text.splitlines()

    def test_text_is_cut(self) -> None:
        """Long turns are cut, and no more differences are shown than wanted."""
        first = storyline(*({"id": n, "src": "user", "msg": "x" * 99} for n in range(5)))
        second = storyline(*({"id": n + 9, "src": "user", "msg": "x" * 99} for n in range(5)))

        lines = compare([first], [second]).to_text(width=45, limit=2).splitlines()

        assert '  ~ 0 user "xxxxxxxxxxx… 0 user "xxxxxxxxxxx…' == lines[1]
        assert [
            "  /turns/0/id: 0 | 9",
            "  /turns/1/id: 1 | 10",
            "  … and 3 more",
        ] == lines[-3:]

    def test_texts_that_begin_alike(self) -> None:
        """Of texts that begin alike the part is shown that differs."""
        sides = [
            [storyline({"id": 1, "src": "user", "msg": "Opening the page of " + name})]
            for name in ("cats", "dogs")
        ]

        assert (
            '  ~ 0 user "…page of cats"    0 user "…page of dogs"'
            == (compare(*sides).to_text(width=55).splitlines()[1])
        )

    @pytest.mark.parametrize("swap", [False, True])
    def test_only_one_side(self, *, swap: bool) -> None:
        """A turn that only one side has is marked, and so is a Storyline."""
        sides = [[storyline(USER)], [storyline(USER, AGENT), storyline(session="t")]]
        first, second = sides[::-1] if swap else sides

        text = compare(first, second).to_text(width=45)

        mark, side = ("-", "first") if swap else ("+", "second")
        assert f"  {mark} " in text
        assert text.endswith(f'"t": only in the {side}\n')
