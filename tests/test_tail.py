"""The last members of an object, read from the end of its text alone."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.errors import Json
from hub.scanner import scan
from hub.tail import last_members

hostile = st.text(alphabet='"\\{}[],:a \n\u00e9', max_size=8)
scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | hostile
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(hostile, inner, max_size=4),
    max_leaves=15,
)
objects = st.dictionaries(hostile | st.text(max_size=5), values, min_size=1, max_size=6)
layouts: st.SearchStrategy[Callable[[Json], str]] = st.sampled_from(
    [
        json.dumps,
        lambda value: json.dumps(value, indent=1),
        lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False),
        lambda value: json.dumps(value, separators=(" , ", " : ")) + "\r\n",
    ]
)


class TestLastMembers:
    def test_behind_a_large_member(self) -> None:
        """The members behind one that begins before the tail are found."""
        text = b'{"attempts":{"1":{"x":[1,2,3]}},"category":"c","k":1, "task_id" : "t" }\n'

        for size in range(len(b'"category":"c","k":1, "task_id" : "t" }\n') + 2, len(text)):
            assert {"category": "c", "k": 1, "task_id": "t"} == last_members(text[-size:])

    def test_values_are_cut(self) -> None:
        """Containers among the members are cut as everywhere."""
        text = b'{"a":0,"b":1,"steps":[1,2,3,4,5,6,7,8,9],"extra":{"x":{}}}'

        assert {"steps": [1, 2, 3, 4, 5, 6, 7, 8], "extra": {"x": {}}} == last_members(text[8:])

    def test_strings_that_look_like_structure(self) -> None:
        """A tail that begins inside a string, however that looks, tells what the whole text tells."""
        value = {
            "a": '","task_id":"no",{[\\"}]' * 5 + "\\",
            "b": {"c": ['"]},"task_id":"no"']},
            "task_id": "t",
        }
        text = json.dumps(value).encode()

        for size in range(len(text)):
            assert last_members(text[-size:]) in (
                None,
                {"task_id": "t"},
                {"b": value["b"], "task_id": "t"},
            )
        assert {"task_id": "t"} == last_members(text[-30:])

    def test_backslashes(self) -> None:
        """A tail that begins in a run of backslashes does not take an escaped quote for one that ends a string."""
        for count in range(1, 9):
            text = json.dumps({"a": "\\" * count + '","b":"no', "c": 1}).encode()

            for size in range(len(text)):
                assert last_members(text[-size:]) in (None, {}, {"c": 1})

    @pytest.mark.parametrize(
        "tail",
        [
            b"",
            b"}",
            b"\\",
            b'1,"a":1]',
            b'1,"a":1',
            b'1,"a":1}}',
            b'1,"a":1}]}',
            b'1,"a":nope}',
            b'1,"a":1,}',
            b'":{"a":1}}',
            b'x{"a":1,"b":2}',
            b'"a":1,"b":2}\n{"a":1,"b":2}',
            b'"a":1,"b":2}\n{"c":3}\n',
        ],
    )
    def test_no_answer(self, tail: bytes) -> None:
        """A text that is not the end of one object, or shows no whole member of it, tells nothing."""
        assert last_members(tail) is None

    def test_deep(self) -> None:
        """A tail full of brackets tells nothing."""
        for bracket in (b"[", b"{", b"]", b"}", b'"', b"\\", b",", b'"a":1,', b"]}"):
            assert last_members(bracket * 10_000 + b"}") in (None, {"a": 1}, {})

    @settings(deadline=None)
    @given(value=objects, layout=layouts)
    def test_every_tail(self, value: dict[str, Json], layout: Callable[[Json], str]) -> None:
        """Whatever tail of an object is seen, what it tells are the last members of that object."""
        text = layout(value).encode("utf-8", "surrogatepass")
        items = list(scan(text).records[0].items())

        for size in range(len(text)):
            found = last_members(text[-size:])
            assert found is None or list(found.items()) == items[len(items) - len(found) :]

    @given(value=objects, layout=layouts)
    def test_all_but_the_first(self, value: dict[str, Json], layout: Callable[[Json], str]) -> None:
        """A tail that lacks only the first bracket and a character tells all members but the first."""
        text = layout(value).encode("utf-8", "surrogatepass")
        (whole,) = scan(text).records

        assert (dict(list(whole.items())[1:]) or None) == last_members(text[1:])

    @given(st.binary(max_size=60))
    def test_any_bytes(self, data: bytes) -> None:
        """Any bytes give an answer or none."""
        for tail in (data, data + b"}", b'",' + data + b"}", data + b',"a":1}'):
            found = last_members(tail)
            assert found is None or isinstance(found, dict)
