"""What is kept of a head of JSON, and what is refused: detection.md 1 and 2, steps 3 and 4."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.errors import InvalidDocument, Json
from hub.limits import DEPTH, MAX_VALUES
from hub.scanner import Scan, scan

keys = st.sampled_from(
    ["", "a", "b", "schema_version", "~", "/", 'q"', "\\", "é", "__proto__"]
) | st.text(max_size=5)
texts = st.text() | st.sampled_from(["\ud800", "\udc00x", "😀", '\\"', "{", "]", "\n", "a" * 1030])
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=40,
)
deep_values = st.builds(
    lambda value, levels: [value] if not levels else _wrapped(value, levels),
    values,
    st.lists(st.sampled_from(["a", 0]), max_size=8),
)
layouts: st.SearchStrategy[Callable[[Json], str]] = st.sampled_from(
    [
        json.dumps,
        lambda value: json.dumps(value, indent=1),
        lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=True),
        lambda value: json.dumps(value, indent="\t", separators=(" , ", "\r\n:\t")),
    ]
)
fragments = st.lists(
    st.sampled_from(
        [
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            '"a"',
            '"',
            "\\",
            '"\\n"',
            "1",
            "-",
            "0",
            ".5",
            "e+1",
            "true",
            "nul",
            "NaN",
            " ",
            "\n",
            "\x00",
            "\\u12",
        ]
    ),
    max_size=12,
).map("".join)
wrappings = st.sampled_from(
    [
        ("[", "]"),
        ('{"a":', "}"),
        ("[" * 8, "]" * 8),
        ('{"a":' * 7, "}" * 7),
        ("[1,1,1,1,1,1,1,1,", "]"),
        ('{"a":[1,2,3,4,5,6,7,[],', ',{"b":{}}]}'),
    ]
)


def _wrapped(value: Json, levels: list[str | int]) -> Json:
    for level in levels:
        value = [value] if level == 0 else {level: value}
    return value


def cut(value: Json, level: int = 1) -> Json:
    """What section 1 keeps of a value, written without any thought of speed."""
    if isinstance(value, str):
        return value[:1024]
    if isinstance(value, list):
        return [cut(one, level + 1) for one in value[:8]] if level <= 6 else []
    if isinstance(value, dict):
        kept = list(value.items())[:256] if level <= 6 else []
        return {key[:1024]: cut(one, level + 1) for key, one in kept}
    return value


def is_part(part: Json, whole: Json) -> bool:
    """Tell whether *part* is *whole*, but for members and elements at the end of any container."""
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) <= len(whole) and all(map(is_part, part, whole))
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and is_part(one, whole[key]) for key, one in part.items())
    return type(part) is type(whole) and bool(part == whole)


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def as_json(value: Json) -> bytes:
    return json.dumps(value).encode()


def refused(text: bytes) -> str:
    """Return the message and the rule by which *text*, a whole input, is refused."""
    with pytest.raises(InvalidDocument) as caught:
        scan(text)
    (problem,) = caught.value.problems
    assert ("fatal", "") == (problem.severity, problem.pointer)
    return f"{problem.message} [{problem.rule}]"


class TestContainer:
    @pytest.mark.parametrize(
        ("text", "container", "records"),
        [
            (b'{"a":1}', "object", [{"a": 1}]),
            (b' \r\n\t{"a":1}\n\n', "object", [{"a": 1}]),
            (b"[]", "array", []),
            (b'[{"a":1},2,"x",null]', "array", [{"a": 1}, 2, "x", None]),
            (b'{"a":1}\n{"b":2}', "lines", [{"a": 1}, {"b": 2}]),
            (b'{"a":1}\r\n\r\n{"b":2}\r\n', "lines", [{"a": 1}, {"b": 2}]),
            (b'{"a":1}\n5\n"x"', "lines", [{"a": 1}, 5, "x"]),
            (b"[1]\n[2,3]", "lines", [[1], [2, 3]]),
            (b'{\n"a":1\n}\n{\n"b":2\n}\n', "lines", [{"a": 1}, {"b": 2}]),
            (b"5", "text", ["5"]),
            (b'"x"', "text", ['"x"']),
            (b"Dear all,\r\nhello\n", "text", ["Dear all,", "hello"]),
            (b"", "text", []),
            (b" \n ", "text", []),
        ],
    )
    def test_by_content(self, text: bytes, container: str, records: list[Json]) -> None:
        """The container is told by the first character and by what follows the first value."""
        assert Scan(container, records, complete=True, ends=True) == scan(text)  # type: ignore[arg-type]  # one of four

    def test_no_more_than_eight(self) -> None:
        """Eight records are shown of an array, of lines and of a text, and the sample is not complete."""
        eight = [1, 2, 3, 4, 5, 6, 7, 8]

        assert Scan("array", eight, complete=False, ends=True) == scan(b"[1,2,3,4,5,6,7,8,9]")
        assert Scan("array", eight, complete=True, ends=True) == scan(b"[1,2,3,4,5,6,7,8]")
        assert Scan("lines", [{}] * 8, complete=False, ends=True) == scan(b"{}\n" * 9)
        assert Scan("lines", [{}] * 8, complete=True, ends=True) == scan(b"{}\n" * 8)
        assert Scan("text", ["x"] * 8, complete=False, ends=True) == scan(b"x\n" * 9)

    def test_settled(self) -> None:
        """Eight whole lines are all that any head shows; an array may still be followed by another line."""
        assert scan(b"{}\n" * 9, everything=False).is_settled
        assert not scan(b"{}\n" * 7, everything=False).is_settled
        assert not scan(b"[1,2,3,4,5,6,7,8,9", everything=False).is_settled

    def test_array_behind_the_head(self) -> None:
        """An array whose end lies behind the head is an array, whatever may follow."""
        assert Scan("array", [1], complete=False, ends=False) == scan(b"[1,", everything=False)

    def test_long_text_line(self) -> None:
        """A line of a text is cut like any string, and is shown though it goes on behind the head."""
        assert Scan("text", ["é" * 1024], complete=False, ends=False) == scan(
            ("é" * 2000).encode(), everything=False
        )
        assert ["a"] == scan(b"a\nb", everything=False).records


class TestLines:
    def test_broken_line(self) -> None:
        """A line that is not JSON is left out: reading reports it, and may skip it."""
        assert Scan("lines", [{"a": 1}, {"c": 3}], complete=False, ends=True) == scan(
            b'{"a":1}\n{"b":nope}\n{"c":3}\n'
        )

    def test_broken_first_line(self) -> None:
        """The first line may be the broken one, where every other line that is seen is a record."""
        found = Scan("lines", [{"b": 2}, {"c": 3}], complete=False, ends=True)

        assert found == scan(b'{"a":nope}\n{"b":2}\n{"c":3}\n')
        assert found == scan(b'{"a":[1,2\n{"b":2}\n{"c":3}')
        assert [{"b": 2}] == scan(b'{"a":nope}\n{"b":2}\n{"c":3', everything=False).records

    def test_broken_value(self) -> None:
        """A broken value on many lines, some of which look like records, is not taken for lines."""
        for text in (
            b'{\n"steps": [\n{"id":1}\n{"id":2}\n]\n}',
            b'[\n{"id":1}\n{"id":2}\n]\n',
            b"[\n1\n2",
        ):
            assert refused(text).startswith('not JSON: expected "," or "]"')

    def test_cut_line(self) -> None:
        """A last line that is cut is left out as well."""
        assert Scan("lines", [{"a": 1}], complete=False, ends=True) == scan(b'{"a":1}\n{"b":"x')

    def test_torn_line_in_the_middle(self) -> None:
        """A line that is cut in the middle of the file costs itself, not the lines behind it."""
        assert [{"a": 1}, {"c": 3}] == scan(b'{"a":1}\n{"b":[1,2\n{"c":3}\n').records

    def test_two_values_on_a_line(self) -> None:
        """A line that holds two values is broken."""
        assert [{"a": 1}, {"d": 4}] == scan(b'{"a":1}\n{"b":2} {"c":3}\n{"d":4}\n').records

    def test_broken_lines_count(self) -> None:
        """Broken lines count among the eight, so that a file of nothing else costs no more than others."""
        assert [{}] == scan(b"{}\n" + b"[\n" * 100 + b"{}\n").records

    def test_deep_line(self) -> None:
        """A line that is nested too deep is broken like any other."""
        assert [{}, {}] == scan(b"{}\n" + b"[" * 513 + b"]" * 513 + b"\n{}\n").records

    def test_record_behind_the_head(self) -> None:
        """Of several records, one that the head cuts is left out: it may lack what tells its format."""
        assert [{"a": 1}] == scan(b'{"a":1}\n{"b":2,', everything=False).records
        assert [{"a": 1}] == scan(b'[{"a":1},{"b":2,', everything=False).records
        assert [{"b": 2}] == scan(b'[{"b":2,', everything=False).records


class TestCut:
    def test_strings(self) -> None:
        """A string is cut after 1,024 characters, however they are written."""
        for character in ("a", "é", "😀", '"', "\n"):
            for ascii_only in (True, False):
                text = encoded(json.dumps({"a": character * 1024, "b": 1}, ensure_ascii=ascii_only))
                longer = encoded(
                    json.dumps({"a": character * 1025, "b": 1}, ensure_ascii=ascii_only)
                )
                expected = [{"a": character * 1024, "b": 1}]

                assert Scan("object", expected, complete=True, ends=True) == scan(text)
                assert Scan("object", expected, complete=False, ends=True) == scan(longer)

    def test_arrays(self) -> None:
        """An array is cut after eight elements, and what follows it is still seen."""
        assert Scan("object", [{"a": [1] * 8, "b": 2}], complete=False, ends=True) == scan(
            b'{"a":[1,1,1,1,1,1,1,1,1],"b":2}'
        )
        assert scan(b'{"a":[1,1,1,1,1,1,1,1],"b":2}').complete

    def test_objects(self) -> None:
        """An object is cut after 256 members; a member that is kept takes later values all the same."""
        members = {str(number): number for number in range(256)}
        text = as_json(members)[:-1] + b', "x": {"y": [1]}, "0": "last", "z": 1}'

        assert scan(as_json(members)).complete
        assert Scan("object", [{**members, "0": "last"}], complete=False, ends=True) == scan(text)

    def test_levels(self) -> None:
        """What is below six levels is an empty container."""
        text = b'{"2":[{"4":[{"6":{"7":1}, "x":[1,[2]], "y":[ [], {"z":1} ]}]}]}'

        assert [{"2": [{"4": [{"6": {"7": 1}, "x": [1, []], "y": [[], {}]}]}]}] == scan(
            text
        ).records
        assert not scan(text).complete

    def test_levels_count_from_the_record(self) -> None:
        """The levels count from the record, so that an array around it takes none away."""
        six = {"2": {"3": {"4": {"5": {"6": {"x": 1}}}}}}
        seven = {"2": {"3": {"4": {"5": {"6": {"7": {"x": 1}}}}}}}
        cut_seven: Json = {"2": {"3": {"4": {"5": {"6": {"7": {}}}}}}}

        assert [six] == scan(as_json(six)).records == scan(as_json([six])).records
        assert scan(as_json(six)).complete
        assert [cut_seven] == scan(as_json(seven)).records == scan(as_json([seven])).records

    def test_empty_below(self) -> None:
        """An empty container below six levels is shown as it is: nothing is cut."""
        assert scan(b'{"2":{"3":{"4":{"5":{"6":{"7":{ }, "x":[]}}}}}}').complete

    def test_repeated_key(self) -> None:
        """Of a key that stands twice the last value counts, with its place or without."""
        assert [{"a": {"c": 3}, "b": 2}] == scan(b'{"a":1,"b":2,"a":{"c":3}}').records

    def test_repeated_key_that_is_cut(self) -> None:
        """A value that the head does not show is not there, so the one before it stands."""
        assert [{"a": 1}] == scan(b'{"a":1,"a":2', everything=False).records

    def test_values_that_the_head_cuts(self) -> None:
        """A scalar whose end is not seen is not shown; a container is shown as far as it goes."""
        for end in ('"ATIF-v1.', '"x\\', '"x\\u12', "1", "1.", "1e", "-", "tru", "n", "", " "):
            text = f'{{"a":[1,{{"b":2,"c":{end}'.encode()

            assert Scan("object", [{"a": [1, {"b": 2}]}], complete=False, ends=False) == scan(
                text, everything=False
            )

    def test_long_string_that_the_head_cuts(self) -> None:
        """A string of which the head shows all that is kept is shown."""
        assert [{"a": "x" * 1024}] == scan(b'{"a":"' + b"x" * 2000, everything=False).records
        assert [{"a": "\n" * 1024}] == scan(
            b'{"a":"' + b"\\n" * 2000 + b"\\", everything=False
        ).records
        assert [{}] == scan(b'{"' + b"x" * 2000, everything=False).records

    def test_values_read(self) -> None:
        """Beyond a bound the containers inside records are shown empty, and the record's own members still come."""
        inner = {
            str(number): {"a": {str(member): 0 for member in range(256)}} for number in range(256)
        }
        text = as_json({"x": inner, "y": inner, "z": {"last": 1}, "schema_version": "v"})

        (record,) = scan(text).records

        assert 65_792 < MAX_VALUES < 131_584
        assert inner == record["x"]
        assert inner != record["y"]
        assert ({}, "v") == (record["z"], record["schema_version"])

    def test_numbers(self) -> None:
        """Numbers are what they are; one beyond every double becomes the largest, whatever its length."""
        text = b'{"a":[0,-0,1.5,-2e3,18446744073709551616,1e400,-1e400]}'
        largest = sys.float_info.max

        assert [{"a": [0, 0, 1.5, -2000.0, 2**64, largest, -largest]}] == scan(text).records
        assert [{"a": largest}] == scan(b'{"a":' + b"9" * 5000 + b"}").records


class TestHeadEndsBehindValue:
    def test_number(self) -> None:
        """A head that ends inside what follows a whole value is no error: more of the input will tell."""
        found = scan(b"{}0", everything=False)

        assert ("object", [{}]) == (found.container, found.records)


class TestRefused:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (
                b'{"schema_version":"ATIF-v1.7","session_id":"s", trunc',
                'not JSON: expected a key, found "t" at line 1 column 49 (byte 48) [input.json]',
            ),
            (
                b'{"a":NaN}',
                'not JSON: expected a value, found "N" at line 1 column 6 (byte 5) [input.json]',
            ),
            (
                b'{"a":-Infinity}',
                'not JSON: expected a value, found "-" at line 1 column 6 (byte 5) [input.json]',
            ),
            (
                b'{"a":01}',
                'not JSON: expected "," or "}", found "1" at line 1 column 7 (byte 6) [input.json]',
            ),
            (
                b'{"a":1,}',
                'not JSON: expected a key, found "}" at line 1 column 8 (byte 7) [input.json]',
            ),
            (
                b"[1,]",
                'not JSON: expected a value, found "]" at line 1 column 4 (byte 3) [input.json]',
            ),
            (
                b"[,1]",
                'not JSON: expected a value, found "," at line 1 column 2 (byte 1) [input.json]',
            ),
            (
                b"[1 2]",
                'not JSON: expected "," or "]", found "2" at line 1 column 4 (byte 3) [input.json]',
            ),
            (
                b"[1}",
                'not JSON: expected "," or "]", found "}" at line 1 column 3 (byte 2) [input.json]',
            ),
            (
                b'{"a" 1}',
                'not JSON: expected ":", found "1" at line 1 column 6 (byte 5) [input.json]',
            ),
            (
                b"{a:1}",
                'not JSON: expected a key, found "a" at line 1 column 2 (byte 1) [input.json]',
            ),
            (
                b'{"\xc3\xa9":\n"x\x01"}',
                'not JSON: expected the rest of a string, found "\\u0001" at line 2 column 3 (byte 9) [input.json]',
            ),
            (
                b'{"\xc3\xa9":\n"x\x00"}',
                "not text: a NUL byte at offset 9 [input.encoding]",
            ),
            (
                '{"a":1}'.encode("utf-16-le"),
                "not text: a NUL byte at offset 1 [input.encoding]",
            ),
            (
                b'{"a":"x\\q"}',
                'not JSON: expected the rest of a string, found "\\\\" at line 1 column 8 (byte 7) [input.json]',
            ),
            (
                b"[",
                "not JSON: expected a value, found the end at line 1 column 2 (byte 1) [input.json]",
            ),
            (
                b'{"a":1',
                'not JSON: expected "," or "}", found the end at line 1 column 7 (byte 6) [input.json]',
            ),
            (
                b'{"a":"x',
                "not JSON: expected the rest of a string, found the end at line 1 column 8 (byte 7) [input.json]",
            ),
            (
                b'{"a":1} {"b":2}',
                'not JSON: expected the end of the input, found "{" at line 1 column 9 (byte 8) [input.trailing]',
            ),
            (
                b"{}\nand so on",
                'not JSON: expected the end of the input, found "a" at line 2 column 1 (byte 3) [input.trailing]',
            ),
        ],
    )
    def test_what_is_not_json(self, text: bytes, message: str) -> None:
        """What is not JSON is refused with line, column and byte."""
        assert message == refused(text)

    @pytest.mark.parametrize(
        "before", [b"[" * 8, b'{"a":' * 8, b"[1,1,1,1,1,1,1,1,", b'[[1,1,1,1,1,1,1,1,{"a":']
    )
    @pytest.mark.parametrize(
        "fault", [b"NaN", b"01", b"1,,", b"tru ", b'{"a":1,}', b'"\n"', b'"\\x"', b"[1,]"]
    )
    def test_what_is_not_kept_is_checked(self, before: bytes, fault: bytes) -> None:
        """The grammar holds where nothing is kept as well, and the position is that of the fault."""
        text = before + fault + b" "
        with pytest.raises(InvalidDocument) as caught:
            scan(text, everything=False)

        assert "input.json" == caught.value.problems[0].rule
        offset = int(caught.value.problems[0].message.rpartition("byte ")[2][:-1])
        assert len(before) <= offset < len(text)

    def test_depth(self) -> None:
        """512 levels are read, one more is refused at its bracket, an array of records included."""
        objects = b'{"a":' * DEPTH + b"1" + b"}" * DEPTH
        message = (
            "more than 512 levels of arrays and objects at line 1 column {} (byte {}) [input.depth]"
        )

        assert scan(objects).records
        assert scan(b"[" * 512 + b"]" * 512).records
        assert message.format(513, 512) == refused(b"[" * 513)
        assert message.format(2557, 2556) == refused(b"[" + objects + b"]")
        assert scan(b"[0,0,0,0,0,0,0,0," + b"[" * 511 + b"]" * 512).records
        assert message.format(529, 528) == refused(b"[0,0,0,0,0,0,0,0," + b"[" * 512)

    def test_depth_behind_the_members_kept(self) -> None:
        """Members that are not kept count as deep as they are."""
        members = b"{" + b",".join(b'"%d":0' % number for number in range(256)) + b',"x":'

        assert scan(members + b"[" * 511 + b"]" * 511 + b"}").records
        assert refused(members + b"[" * 512).endswith("[input.depth]")


def _raise(constant: str) -> NoReturn:
    raise ValueError(constant)


class TestAgainstTheStandardLibrary:
    @given(
        values=st.lists(
            deep_values.filter(lambda value: isinstance(value, (dict, list))),
            min_size=1,
            max_size=3,
        ),
        layout=layouts,
    )
    def test_same_values(self, values: list[Json], layout: Callable[[Json], str]) -> None:
        """A whole text gives what section 1 keeps of its values."""
        text = encoded("\n".join(map(layout, values)))
        read = [json.loads(layout(value)) for value in values]
        if len(values) == 1 and isinstance(values[0], list):
            read = read[0][:8]

        assert list(map(cut, read)) == scan(text).records

    @settings(deadline=None)
    @given(value=deep_values, layout=layouts)
    def test_every_head(self, value: Json, layout: Callable[[Json], str]) -> None:
        """A head that ends anywhere shows a part of the whole, and is never refused."""
        text = encoded(layout([value]))
        whole = scan(text).records

        for end in range(len(text)):
            found = scan(text[:end], everything=False)
            assert not found.complete
            assert not text[:end].strip() or "array" == found.container
            assert is_part(found.records, whole)

    @given(fragment=fragments, wrapping=wrappings)
    def test_same_grammar(self, fragment: str, wrapping: tuple[str, str]) -> None:
        """What the standard library refuses is refused, and what it reads is read, kept or not."""
        text = f"{wrapping[0]}{fragment}{wrapping[1]}"
        try:
            value = json.loads(text, parse_constant=_raise)
        except ValueError:
            value = None

        try:
            found = scan(text.encode())
        except InvalidDocument:
            assert value is None
        else:
            read = value[:8] if isinstance(value, list) else [value]
            assert "lines" == found.container or [cut(one) for one in read] == found.records

    @given(fragment=fragments, wrapping=wrappings)
    def test_heads_of_what_is_read(self, fragment: str, wrapping: tuple[str, str]) -> None:
        """A head of a text that is read is never refused."""
        text = f"{wrapping[0]}{fragment}{wrapping[1]}".encode()
        try:
            scan(text)
        except InvalidDocument:
            return
        for end in range(len(text)):
            scan(text[:end], everything=False)


MANY = 1_000_000
SOME = 30_000


class TestHostile:
    def test_opening_brackets(self) -> None:
        """A million opening brackets are nested too deep."""
        assert refused(b"[" * MANY).endswith("[input.depth]")
        assert refused(b'{"a":' * MANY).endswith("[input.depth]")
        assert refused(b"[[[[[[[[" + b"[" * MANY).endswith("[input.depth]")

    def test_huge_string(self) -> None:
        """A string of megabytes is passed over, plain or escaped, whole or cut."""
        for part in (b"x", b"\\\\", b'\\"', b"\\u0041", "é".encode()):
            text = b'{"a":"' + part * MANY

            assert [1024] == [len(record["a"]) for record in scan(text + b'"}').records]
            assert [1024] == [len(record["a"]) for record in scan(text, everything=False).records]

    def test_a_key_a_million_times(self) -> None:
        """A key that comes again and again is one member; behind a bound nothing more is read."""
        assert [{"a": 1}] == scan(b"{" + b'"a":1,' * MANY + b'"b":2}').records
        assert [{"a": 2, "b": 2}] == scan(b"{" + b'"a":1,' * 1000 + b'"a":2,"b":2}').records

    def test_very_many_members(self) -> None:
        """An object of very many members shows 256."""
        text = b"{" + b",".join(b'"%d":0' % number for number in range(MAX_VALUES + 10)) + b"}"

        assert {str(number): 0 for number in range(256)} == scan(text).records[0]

    @pytest.mark.parametrize("element", [b"1,", b"[],", b'{"a":{}},', b'"",'])
    def test_long_arrays(self, element: bytes) -> None:
        """An array of very many elements is passed over, whole, cut or broken."""
        text = b"[" + element * SOME

        assert 8 == len(scan(text + b"0]").records)
        assert 8 == len(scan(text, everything=False).records)
        assert refused(text + b"]").startswith('not JSON: expected a value, found "]"')

    def test_a_million_digits(self) -> None:
        """A number of a million digits is a number."""
        assert [{"a": sys.float_info.max}] == scan(b'{"a":' + b"9" * MANY + b"}").records

    def test_a_million_lines(self) -> None:
        """A million lines show eight, broken lines too."""
        assert 8 == len(scan(b"{}\n" * MANY).records)
        assert 1 == len(scan(b"{}\n" + b'{"a":\n' * MANY).records)

    def test_odd_strings(self) -> None:
        """Lone surrogates, and keys that mean something elsewhere, are strings like others."""
        text = b'{"__proto__":{"a":"\\ud83d\\ude00 \\ud800"},"\\u0000":"\\udc88"}'

        assert [{"__proto__": {"a": "😀 \ud800"}, "\0": "\udc88"}] == scan(text).records

    @given(st.binary(max_size=60))
    def test_any_bytes(self, data: bytes) -> None:
        """Any bytes give an answer or an error."""
        for text in (data, b"{" + data, b'{"a":"' + data + b'"}', b"[" + data):
            for everything in (True, False):
                with suppress(InvalidDocument):
                    scan(text, everything=everything)


class TestCost:
    @pytest.mark.parametrize(
        "element",
        [
            {
                "step_id": 1,
                "source": "agent",
                "message": "x" * 50,
                "tool_calls": [{"id": "c", "arguments": {"a": 1}}],
            },
            [[[[[[[[1]]]]]]], {}],
            'a "quoted" \n text',
        ],
    )
    def test_linear(self, element: Json) -> None:
        """Twice the text takes twice the calls, of Python functions and of the patterns, not more."""
        once, twice = (_calls(as_json({"steps": [element] * count})) for count in (2000, 4000))

        assert twice <= 2 * once + 10

    def test_kept_values_are_few(self) -> None:
        """An array of scalars that are not kept costs one match of a pattern, however long it is."""
        assert _calls(as_json([1] * 10_000)) == _calls(as_json([1] * 20_000))

    def test_light_imports(self) -> None:
        """Detection imports nothing that is slow to import."""
        program = "import sys, hub.detection; print(*sys.modules)"
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603  # our own program
        slow = {"attr", "attrs", "cattrs", "orjson", "dataclasses", "json", "asyncio"}

        assert not slow & set(done.stdout.split())


def _calls(text: bytes) -> int:
    """Return how many functions are called while *text* is scanned."""
    count = 0

    def profile(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        scan(text)
    finally:
        sys.setprofile(None)
    return count
