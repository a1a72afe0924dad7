"""Patches: their operations and their bounds."""

from __future__ import annotations

import contextlib
import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.errors import Json
from hub.limits import MAX_COPIED
from hub.patch import Budget, PatchError, apply
from hub.testing.strategies import KEYS, json_objects, json_values

ELEMENT: Json = {"a": "x", "l": [1, {"b": "y"}], "n": None, "o": {"p": {}}}


def patched(*operations: Json, element: Json = ELEMENT) -> Json:
    """Return *element* with *operations* applied, after a check that it was not changed itself."""
    before = copy.deepcopy(element)
    try:
        return apply(element, list(operations), Budget())
    finally:
        assert before == element


def refusal(*operations: Json) -> str:
    with pytest.raises(PatchError) as caught:
        patched(*operations)
    return str(caught.value)


class TestApply:
    @pytest.mark.parametrize(
        ("operation", "changed"),
        [
            ({"op": "add", "path": "/z", "value": [1]}, {"z": [1]}),
            ({"op": "add", "path": "/a", "value": None}, {"a": None}),
            ({"op": "add", "path": "/l/0", "value": 0}, {"l": [0, 1, {"b": "y"}]}),
            ({"op": "add", "path": "/l/2", "value": 0}, {"l": [1, {"b": "y"}, 0]}),
            ({"op": "add", "path": "/o/p/q", "value": 0}, {"o": {"p": {"q": 0}}}),
            ({"op": "add", "path": "/", "value": 0}, {"": 0}),
            ({"op": "replace", "path": "/n", "value": 1}, {"n": 1}),
            ({"op": "replace", "path": "/l/1/b", "value": 1}, {"l": [1, {"b": 1}]}),
            ({"op": "replace", "path": "/l/0", "value": 2}, {"l": [2, {"b": "y"}]}),
            ({"op": "remove", "path": "/l/0"}, {"l": [{"b": "y"}]}),
            ({"op": "remove", "path": "/o/p"}, {"o": {}}),
            ({"op": "copy", "from": "/l/1/b", "path": "/l/0"}, {"l": ["y", 1, {"b": "y"}]}),
            ({"op": "copy", "from": "/a", "path": "/a"}, {}),
            ({"op": "move", "from": "/l/1/b", "path": "/z"}, {"l": [1, {}], "z": "y"}),
            ({"op": "remove", "path": "/l/0", "digest": "00"}, {"l": [{"b": "y"}]}),
        ],
    )
    def test_operation(self, operation: Json, changed: Json) -> None:
        """Each operation does what RFC 6902 says, further members are ignored."""
        assert {**ELEMENT, **changed} == patched(operation)

    def test_member_goes(self) -> None:
        """A member can be removed."""
        assert {"l", "n", "o"} == patched({"op": "remove", "path": "/a"}).keys()

    def test_in_order(self) -> None:
        """Operations apply one after the other."""
        assert {**ELEMENT, "l": [3, 2, 1, {"b": "y"}]} == patched(
            {"op": "add", "path": "/l/0", "value": 2}, {"op": "add", "path": "/l/0", "value": 3}
        )

    def test_added_values_are_shared(self) -> None:
        """A value of the patch is not changed by what is put into it later."""
        value: Json = {"a": []}

        patched(
            {"op": "add", "path": "/z", "value": value}, {"op": "add", "path": "/z/a/0", "value": 1}
        )

        assert {"a": []} == value

    def test_nothing(self) -> None:
        """A patch may be empty."""
        assert ELEMENT == patched()


class TestRefusals:
    @pytest.mark.parametrize(
        "operation",
        [
            None,
            "add",
            [],
            {},
            {"op": "test", "path": "/a", "value": "x"},
            {"op": ["add"], "path": "/z", "value": 1},
            {"op": "add", "path": "/z"},
            {"op": "add", "value": 1},
            {"op": "replace", "path": "/a"},
            {"op": "copy", "path": "/z"},
            {"op": "move", "from": "/a"},
        ],
    )
    def test_other_operations(self, operation: Json) -> None:
        """Only five kinds are known, each with its members."""
        assert "expected add, remove, replace, copy or move, with its members" == refusal(operation)

    @pytest.mark.parametrize("path", ["", "a", "/~2", "/~", None, 5, ["a"]])
    def test_no_pointer_into_the_element(self, path: Json) -> None:
        """A path is a pointer, and not the element itself."""
        expected = "expected a pointer to something in the element"

        assert expected == refusal({"op": "add", "path": path, "value": {}})
        assert expected == refusal({"op": "copy", "from": path, "path": "/z"})

    @pytest.mark.parametrize(
        "operation",
        [
            {"op": "add", "path": "/l/3", "value": 0},
            {"op": "add", "path": "/l/-", "value": 0},
            {"op": "add", "path": "/l/01", "value": 0},
            {"op": "add", "path": "/l/" + "9" * 5000, "value": 0},
            {"op": "add", "path": "/gone/z", "value": 0},
            {"op": "add", "path": "/a/z", "value": 0},
            {"op": "add", "path": "/n/z", "value": 0},
            {"op": "add", "path": "/l/5/z", "value": 0},
            {"op": "replace", "path": "/l/2", "value": 0},
            {"op": "replace", "path": "/z", "value": 0},
            {"op": "remove", "path": "/l/2"},
            {"op": "remove", "path": "/z"},
            {"op": "remove", "path": "/l/+0"},
            {"op": "copy", "from": "/z", "path": "/y"},
            {"op": "copy", "from": "/l/7", "path": "/y"},
            {"op": "move", "from": "/a/b", "path": "/y"},
        ],
    )
    def test_nothing_there(self, operation: Json) -> None:
        """An operation whose place is not there fails."""
        assert "nothing is where operation 0 goes" == refusal(operation)

    @pytest.mark.parametrize("kind", ["copy", "move"])
    @pytest.mark.parametrize("source", ["/l", "/o", "/n", "/l/0"])
    def test_copy_of_no_string(self, kind: str, source: str) -> None:
        """Only strings are copied, so nothing grows by doubling."""
        assert f"expected a string to {kind}" == refusal({"op": kind, "from": source, "path": "/z"})

    @pytest.mark.parametrize("patch", [None, {}, "x", 5])
    def test_no_array(self, patch: Json) -> None:
        """A patch is an array."""
        with pytest.raises(PatchError, match="expected an array of at most 10000 operations"):
            apply(ELEMENT, patch, Budget())

    def test_too_many_operations(self) -> None:
        """A patch has at most 10 000 operations."""
        operation = {"op": "add", "path": "/z", "value": 1}

        assert 1 == apply({}, [operation] * 10_000, Budget())["z"]
        with pytest.raises(PatchError, match="expected an array of at most 10000 operations"):
            apply({}, [operation] * 10_001, Budget())

    def test_too_many_tokens(self) -> None:
        """A pointer has at most 100 tokens."""
        assert "expected pointers of at most 100 tokens" == refusal(
            {"op": "add", "path": "/a" * 101, "value": 1}
        )

    def test_closed_members(self) -> None:
        """A closed member is out of reach, as target and as source."""
        for operation in (
            {"op": "add", "path": "/turns/0", "value": {}},
            {"op": "remove", "path": "/turns"},
            {"op": "copy", "from": "/turns/0/msg", "path": "/notes"},
        ):
            with pytest.raises(PatchError, match="expected no operation on /turns"):
                apply({"turns": [{"msg": "x"}]}, [operation], Budget(), closed={"turns"})

    def test_too_much_text(self) -> None:
        """The copies of one node together have a bound, over several patches; moves do not count."""
        budget = Budget(characters=5)
        copy_two = {"op": "copy", "from": "/t", "path": "/u"}

        apply({"t": "ab"}, [copy_two, {"op": "move", "from": "/t", "path": "/v"}], budget)
        apply({"t": "ab"}, [copy_two], budget)

        with pytest.raises(PatchError, match=f"expected copies of at most {MAX_COPIED} characters"):
            apply({"t": "ab"}, [copy_two], budget)
        assert 1 == budget.characters


PATHS = st.lists(KEYS, max_size=3).map(
    lambda tokens: "".join("/" + one.replace("~", "~0").replace("/", "~1") for one in tokens)
)
OPERATIONS = st.one_of(
    st.fixed_dictionaries(
        {"op": st.sampled_from(["add", "replace"]), "path": PATHS, "value": json_values(3)}
    ),
    st.fixed_dictionaries({"op": st.just("remove"), "path": PATHS}),
    st.fixed_dictionaries({"op": st.sampled_from(["copy", "move"]), "from": PATHS, "path": PATHS}),
    json_values(4),
)


class TestEveryPatch:
    @given(json_objects(), st.one_of(st.lists(OPERATIONS, max_size=4), json_values()))
    def test_no_other_error(self, element: dict[str, Json], patch: Json) -> None:
        """Whatever a patch is, it is applied or refused, and the element stays as it was."""
        before = copy.deepcopy(element)
        with contextlib.suppress(PatchError):
            assert isinstance(apply(element, patch, Budget()), dict)
        assert before == element
