"""The difference of two elements: operations, bounds, long strings."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.difference import LONG, difference
from hub.errors import Json
from hub.patch import Budget, Operation, apply
from hub.residuals import equal
from hub.testing.strategies import json_objects, json_values

TEXT = "0123456789abcdef" * 8
"""A string of 128 characters."""


def patch(plain: dict[str, Json], intended: dict[str, Json]) -> list[Operation]:
    """Return the difference, after a check that it leads from *plain* to *intended*."""
    operations = difference(plain, intended, Budget())
    assert equal(intended, apply(plain, operations, Budget()))
    return operations


def add(path: str, value: Json) -> Operation:
    return {"op": "add", "path": path, "value": value}


def replace(path: str, value: Json) -> Operation:
    return {"op": "replace", "path": path, "value": value}


def remove(path: str) -> Operation:
    return {"op": "remove", "path": path}


def copied(source: str, path: str) -> Operation:
    return {"op": "copy", "from": source, "path": path}


def moved(source: str, path: str) -> Operation:
    return {"op": "move", "from": source, "path": path}


def nested(levels: int, leaf: Json) -> Json:
    value = leaf
    for _ in range(levels):
        value = {"k": value}
    return value


class TestOperations:
    def test_equal(self) -> None:
        """Equal elements have no difference."""
        assert [] == patch({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]})

    def test_fewer_operations_than_leaves(self) -> None:
        """Operations on members stay while they are fewer than the leaves (carrier.md 12, example 4)."""
        plain = {"metrics": {"input_tokens": 5, "cost_usd": 0.5}}
        intended = {"metrics": {"prompt_tokens": 5, "cost_usd": 0.5, "n": 1.0, "m": [1, 2]}}

        assert [
            remove("/metrics/input_tokens"),
            add("/metrics/m", [1, 2]),
            add("/metrics/n", 1.0),
            add("/metrics/prompt_tokens", 5),
        ] == patch(plain, intended)

    def test_as_many_operations_as_leaves(self) -> None:
        """Otherwise the whole value is replaced (carrier.md 12, example 4)."""
        plain = {"a": 1, "l": [1, 2, 3], "o": {"x": 1}}
        intended = {"a": 1.0, "l": [1, 5], "o": {"y": {"z": 2}}}

        assert [
            replace("/a", 1.0),
            replace("/l", [1, 5]),
            replace("/o", {"y": {"z": 2}}),
        ] == patch(plain, intended)

    def test_the_element_is_never_replaced(self) -> None:
        """The element itself has an operation for each member, however many."""
        assert [add("/a", 1), remove("/b"), replace("/c", 2)] == patch(
            {"b": 1, "c": 1}, {"a": 1, "c": 2}
        )

    def test_array_shrinks(self) -> None:
        """Elements go from the end."""
        assert [remove("/l/4"), remove("/l/3")] == patch({"l": [1, 2, 3, 4, 5]}, {"l": [1, 2, 3]})

    def test_array_grows(self) -> None:
        """Elements are added at the end."""
        assert [add("/l/3", 4), add("/l/4", [])] == patch({"l": [1, 2, 3]}, {"l": [1, 2, 3, 4, []]})

    def test_empty_container(self) -> None:
        """An empty container is one leaf, so it is put as a whole."""
        assert [replace("/l", []), replace("/o", {})] == patch(
            {"l": [1], "o": {"a": 1}}, {"l": [], "o": {}}
        )

    def test_type_changes(self) -> None:
        """A value of another type is replaced."""
        assert [
            {"op": "replace", "path": "/a", "value": True},
            replace("/b", []),
            replace("/c", None),
            replace("/d", "1"),
        ] == patch({"a": 1, "b": {}, "c": False, "d": 1}, {"a": True, "b": [], "c": None, "d": "1"})

    def test_keys_in_code_point_order(self) -> None:
        """Keys are compared in code point order, and escaped in pointers."""
        assert [
            add("/", 1),
            add("/A", 1),
            add("/a~1b", 1),
            add("/~0", 1),
            add("/é", 1),
            add("/\U0001f600", 1),
        ] == patch({}, dict.fromkeys(["\U0001f600", "é", "~", "a/b", "A", ""], 1))

    def test_shared_values_are_not_looked_into(self) -> None:
        """Two references to one object are equal without a look inside."""

        class Opaque(dict[str, Json]):
            def items(self) -> Json:
                raise AssertionError

        shared = Opaque(a=1)

        assert [] == difference(
            {"x": shared, "y": [shared]}, {"x": shared, "y": [shared]}, Budget()
        )


class TestBounds:
    def test_deep_value(self) -> None:
        """A value 100 tokens deep is replaced whole."""
        plain = {"k": nested(500, {"a": 1, "b": 2, "c": 3})}
        intended = {"k": nested(500, {"a": 1, "b": 2, "c": 4})}
        expected: Json = nested(401, {"a": 1, "b": 2, "c": 4})

        assert [replace("/k" * 100, expected)] == patch(plain, intended)

    def test_not_quite_as_deep(self) -> None:
        """A value less deep is compared."""
        plain = {"k": nested(98, {"a": 1, "b": 2, "c": 3})}
        intended = {"k": nested(98, {"a": 1, "b": 2, "c": 4})}

        assert [replace("/k" * 99 + "/c", 4)] == patch(plain, intended)

    def test_deep_equal_value(self) -> None:
        """Equal values as deep as a document may be have no difference."""
        assert [] == patch({"k": nested(511, 1)}, {"k": nested(511, 1)})

    def test_long_strings_beyond_the_depth(self) -> None:
        """A long string deeper than a pointer may go is neither copied from there nor to there."""
        plain = {"a": nested(120, TEXT), "b": TEXT + "b"}
        intended = {
            "a": nested(120, TEXT),
            "b": TEXT + "b",
            "c": TEXT,
            "d": nested(120, TEXT + "b"),
        }

        assert [add("/c", TEXT), add("/d", nested(120, TEXT + "b"))] == patch(plain, intended)

    def test_too_many_operations(self) -> None:
        """An entry with too many operations has one for each member, and shares no strings."""
        plain = {"l": [[number, 0, 0] for number in range(10_001)], "t": TEXT, "x": 1, "y": 1}
        intended: Json = {
            "l": [[number, 1, 0] for number in range(10_001)],
            "t": TEXT,
            "u": TEXT,
            "x": 1,
        }

        assert [replace("/l", intended["l"]), add("/u", TEXT), remove("/y")] == patch(
            plain, intended
        )

    def test_just_enough_operations(self) -> None:
        """10 000 operations are allowed."""
        plain = {"l": [[number, 0, 0] for number in range(10_000)]}
        intended = {"l": [[number, 1, 0] for number in range(10_000)]}

        assert 10_000 == len(patch(plain, intended))

    def test_too_many_copies(self) -> None:
        """Copies count as operations."""
        plain: Json = {"t": TEXT}
        intended: Json = {"l": [TEXT] * 5001}

        assert [add("/l", [TEXT] * 5001), remove("/t")] == patch(plain, intended)

    def test_too_much_text(self) -> None:
        """Beyond the bound on copied text, strings are written out."""
        plain: Json = {"t": TEXT}
        intended = {"t": TEXT, "u": TEXT, "v": TEXT + "v", "w": TEXT + "v"}
        budget = Budget(characters=LONG)

        operations = difference(plain, intended, budget)

        assert [add("/v", TEXT + "v"), add("/w", TEXT + "v"), copied("/t", "/u")] == operations
        assert 0 == budget.characters


class TestLongStrings:
    def test_parked_copied_moved(self) -> None:
        """A string whose place is replaced is parked first, and not stored (carrier.md 12, example 3)."""
        plain = {
            "id": 1,
            "src": "agent",
            "msg": "",
            "observation": {"results": [{"content": TEXT}]},
        }
        intended = {
            "id": 1,
            "src": "agent",
            "msg": "",
            "tool_calls": [{"tcid": "c", "fn": "f", "args": {}, "result": TEXT}],
            "observation": {"results": [{"content": [{"type": "text", "text": TEXT}]}]},
        }

        assert [
            copied("/observation/results/0/content", "/$0"),
            replace("/observation/results/0/content", [{"type": "text", "text": ""}]),
            add("/tool_calls", [{"tcid": "c", "fn": "f", "args": {}, "result": ""}]),
            copied("/$0", "/observation/results/0/content/0/text"),
            moved("/$0", "/tool_calls/0/result"),
        ] == patch(plain, intended)

    def test_whole_value(self) -> None:
        """An operation that would only add the string is left out."""
        assert [copied("/a", "/b")] == patch({"a": TEXT}, {"a": TEXT, "b": TEXT})

    def test_string_moves(self) -> None:
        """A string that stands elsewhere is moved by way of its parking place."""
        assert [copied("/a", "/$0"), remove("/a"), moved("/$0", "/b")] == patch(
            {"a": TEXT}, {"b": TEXT}
        )

    def test_strings_change_places(self) -> None:
        """Two strings can change places."""
        other = TEXT + "!"

        assert [
            copied("/b", "/$0"),
            copied("/a", "/$1"),
            moved("/$0", "/a"),
            moved("/$1", "/b"),
        ] == patch({"a": TEXT, "b": other}, {"a": other, "b": TEXT})

    def test_number_of_the_parking_place(self) -> None:
        """A parked string has the number of the string among all that are long."""
        new = TEXT + "new"

        assert [
            copied("/b", "/$1"),
            add("/a", new),
            remove("/b"),
            moved("/$1", "/c"),
        ] == patch({"b": TEXT}, {"a": new, "c": TEXT})

    def test_new_string_is_stored_once(self) -> None:
        """A string that the plain element has not is stored at its first place."""
        assert [
            add("/a", [TEXT, {"x": ""}]),
            copied("/a/0", "/a/1/x"),
            copied("/a/0", "/b"),
        ] == patch({}, {"a": [TEXT, {"x": TEXT}], "b": TEXT})

    def test_element_of_an_array(self) -> None:
        """A target in an array is inserted, and the empty string behind it removed."""
        assert [
            add("/l/3", ""),
            copied("/t", "/l/3"),
            remove("/l/4"),
        ] == patch({"l": [1, 2, 3], "t": TEXT}, {"l": [1, 2, 3, TEXT], "t": TEXT})

    def test_elements_of_an_added_array(self) -> None:
        """Every element of an array that is a target is put in its place."""
        assert [
            add("/l", [1, "", ""]),
            copied("/t", "/l/1"),
            remove("/l/2"),
            copied("/t", "/l/2"),
            remove("/l/3"),
        ] == patch({"t": TEXT}, {"l": [1, TEXT, TEXT], "t": TEXT})

    def test_home_is_the_first_place(self) -> None:
        """A string is copied from its first place, keys sorted."""
        assert [copied("/b/0/a", "/c")] == patch(
            {"d": TEXT, "b": [{"z": TEXT, "a": TEXT}]},
            {"d": TEXT, "b": [{"z": TEXT, "a": TEXT}], "c": TEXT},
        )

    def test_shorter_string(self) -> None:
        """A string of 127 characters is stored."""
        assert [add("/b", TEXT[1:])] == patch({"a": TEXT[1:]}, {"a": TEXT[1:], "b": TEXT[1:]})

    def test_unchanged_strings_are_not_touched(self) -> None:
        """A long string that stays where it is has no operation."""
        assert [add("/b", 1)] == patch({"a": TEXT}, {"a": TEXT, "b": 1})

    def test_json_text(self) -> None:
        """What the plain element shows as JSON text is stored as JSON."""
        value = [TEXT]

        assert [replace("/a", value)] == patch({"a": f'["{TEXT}"]'}, {"a": value})

    def test_intended_is_not_changed(self) -> None:
        """Emptying targets leaves the intended element as it is."""
        intended = {"a": TEXT, "b": {"c": [TEXT, 1], "d": 1}}
        before = copy.deepcopy(intended)

        patch({"a": TEXT}, intended)

        assert before == intended


def long_strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        if len(value) >= LONG:
            yield value
    elif isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from long_strings(member)


ELEMENTS = json_objects().map(
    lambda element: {key: value for key, value in element.items() if not key.startswith("$")}
)


@st.composite
def edited(draw: st.DrawFn) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return an element, and another one that has much of it."""
    element = draw(ELEMENTS)
    other = dict(element)
    for key in list(element):
        what = draw(st.sampled_from(["keep", "keep", "drop", "change", "wrap", "extend"]))
        if what == "drop":
            del other[key]
        elif what == "change":
            other[key] = draw(json_values(6))
        elif what == "wrap":
            other[key] = [element[key], {"in": element[key]}]
        elif what == "extend" and isinstance(element[key], list):
            other[key] = [*element[key], draw(json_values(3)), *element[key]]
        elif what == "extend" and isinstance(element[key], dict):
            other[key] = {**element[key], "a": element[key], "c": draw(json_values(3))}
    return element, other


class TestEveryElement:
    @given(ELEMENTS, ELEMENTS)
    def test_any_two(self, plain: dict[str, Json], intended: dict[str, Json]) -> None:
        """Applied to the plain element, the difference gives the intended one, types kept apart."""
        patch(plain, intended)

    @given(edited())
    def test_edited(self, elements: tuple[dict[str, Json], dict[str, Json]]) -> None:
        """The same for elements that have much in common, both ways, and nothing given is changed."""
        before = copy.deepcopy(elements)

        patch(*elements)
        patch(elements[1], elements[0])

        assert equal(list(before), list(elements))

    @given(edited())
    def test_long_strings(self, elements: tuple[dict[str, Json], dict[str, Json]]) -> None:
        """No long string is stored that the plain element has, and none twice."""
        plain, intended = elements

        operations = patch(plain, intended)

        stored = [text for one in operations for text in long_strings(one.get("value"))]
        assert [] == [text for text in stored if text in set(long_strings(plain))]
        assert len(stored) == len(set(stored))

    @pytest.mark.parametrize("value", [1, 1.0, True, None, "1", [], {}, [1], {"a": 1}])
    @pytest.mark.parametrize("other", [1, 1.0, True, None, "1", [], {}, [1], {"a": 1}])
    def test_types(self, value: Json, other: Json) -> None:
        """Every change of type is seen."""
        assert bool(patch({"a": value}, {"a": other})) == (
            value is not other and not equal(value, other)
        )
