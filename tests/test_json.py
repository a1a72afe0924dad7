"""Exact JSON: what is kept, what is refused and where, spellings, depth, duplicate keys."""

from __future__ import annotations

import json
import math
import pickle
import random
import re
import sys
from collections.abc import Callable

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub import json_text
from hub.errors import MISSING, HubError, InvalidDocument, Json, Problem
from hub.json import (
    ExactNumber,
    Place,
    are_compact,
    canonical,
    canonical_pieces,
    check_depth,
    compact,
    dump_pieces,
    dumps,
    duplicate_keys,
    fingerprint,
    in_one_piece,
    loads,
    loads_at_once,
    loads_padded,
    pad,
    refuse_non_finite,
    value_of_text,
    values_of_texts,
)
from hub.limits import DEPTH
from hub.residuals import equal
from hub.testing.strategies import json_values


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let padded texts take the path of large ones; the others take that of small ones."""
    monkeypatch.setattr("hub.json._LARGE", 0)


def padded(data: bytes, notes: list[Problem] | None = None) -> Json:
    return loads_padded(pad() + data, notes=notes)


both_ways = pytest.mark.parametrize("read", [loads, padded])


def nested(levels: int, leaf: bytes = b"") -> bytes:
    return b"[" * levels + leaf + b"]" * levels


def float_or_exact(text: str) -> float | ExactNumber:
    return float(text) if math.isfinite(float(text)) else ExactNumber(text)


def refusal(data: bytes, read: Callable[[bytes], Json] = loads) -> Problem:
    """Return the one problem of *data*, which is refused."""
    with pytest.raises(InvalidDocument) as error:
        read(data)
    [problem] = error.value.problems
    return problem


def fatal(rule: str, message: str, pointer: str = "") -> tuple[str, str, str, str]:
    return ("fatal", rule, pointer, message)


class TestExactNumbers:
    @both_ways
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            (b"18446744073709551615", 18446744073709551615),
            (b"18446744073709551616", 18446744073709551616),
            (b"-9223372036854775808", -9223372036854775808),
            (b"-9223372036854775809", -9223372036854775809),
            (b"123456789012345678901234567890", 123456789012345678901234567890),
            (b"1e400", ExactNumber("1e400")),
            (b"-1E+400", ExactNumber("-1E+400")),
            (b"9" * 400 + b".5", ExactNumber("9" * 400 + ".5")),
            (b"9" * 5000, ExactNumber("9" * 5000)),
        ],
    )
    def test_kept(self, read: Callable[[bytes], Json], text: bytes, value: Json) -> None:
        """A number that orjson would change or refuse is kept, and written as it was."""
        assert {"n": [value]} == read(b'{"n":[%b]}' % text)
        assert b'{"n":[%b]}' % text == dumps(read(b'{"n":[%b]}' % text))

    @both_ways
    def test_example_of_pitfall_1(self, read: Callable[[bytes], Json]) -> None:
        """Integers beyond 64 bits survive, on both sides of zero."""
        text = b'{"extra":{"snowflake":18446744073709551616,"neg":-9223372036854775809}}'

        assert {"extra": {"snowflake": 18446744073709551616, "neg": -9223372036854775809}} == read(
            text
        )
        assert text == dumps(read(text))

    @both_ways
    def test_integer_and_float_differ(self, read: Callable[[bytes], Json]) -> None:
        """`1` is an integer, `1.0` is a float, `-0.0` keeps its sign, and `-0` is the integer 0."""
        assert "[1, 1.0, -0.0, 0]" == repr(read(b"[1,1.0,-0.0,-0]"))

    @both_ways
    def test_double_that_is_zero(self, read: Callable[[bytes], Json]) -> None:
        """A number whose nearest double is 0 is that double."""
        assert [0.0, 0.0, 18446744073709551616] == read(b"[1e-400,0e-400,18446744073709551616]")

    def test_integer_of_a_million_digits(self) -> None:
        """An integer beyond Python's limit for digits is kept as its text."""
        assert ExactNumber("1" * 1_000_000) == loads(b"1" * 1_000_000)

    @pytest.mark.parametrize("white", [b"", b" ", b"\n", b"\r\n", b"\t"])
    def test_white_space_around(self, white: bytes) -> None:
        """White space around an integer does not hide it."""
        text = b"[%b-9999999999999999999%b]" % (white, white)

        assert [-9999999999999999999] == loads(text)

    @given(st.lists(st.integers(), min_size=1), st.booleans())
    def test_every_integer(self, integers: list[int], pretty: bool) -> None:  # noqa: FBT001
        """Every integer is read as it is."""
        text = json.dumps({"n": integers}, indent=1 if pretty else None).encode()

        assert {"n": integers} == loads(text)

    def test_exact_number(self) -> None:
        """An exact number is equal to one of the same text only, and survives pickling."""
        number = ExactNumber("1e400")

        assert number == ExactNumber("1e400")
        assert number != ExactNumber("1e401")
        assert number != "1e400"
        assert 1 == len({number, ExactNumber("1e400")})
        assert number == pickle.loads(pickle.dumps(number))  # noqa: S301  # our own
        assert "1e400" == repr(number)


class TestExactNote:
    @both_ways
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (b"18446744073709551616", "kept exactly: an integer beyond 64 bits"),
            (b"1e400", "kept exactly: a number that no double holds"),
            (
                b"[1e400,18446744073709551616]",
                "kept exactly: a number that no double holds, an integer beyond 64 bits",
            ),
            (rb'"\ud800"', "kept exactly: a lone surrogate"),
        ],
    )
    def test_reported(self, read: Callable[..., Json], text: bytes, message: str) -> None:
        """What orjson would not have kept is an info."""
        notes: list[Problem] = []

        read(text, notes=notes)

        assert [("info", "input.exact", "", message)] == [note[:4] for note in notes]

    @both_ways
    @pytest.mark.parametrize(
        "text",
        [
            b"18446744073709551615",
            b"-9223372036854775808",
            b"1767261600000000000",
            b"0.1234567890123456789012345",
            b"12345678901234567890.5",
            b"12345678901234567890e-3",
            b'"18446744073709551616"',
            rb'"a \"x\": 18446744073709551616, \\"',
            rb'{"\\":"[18446744073709551616]"}',
            rb'"\ud83d\ude00"',
            b'"123e4567-e89b-12d3-a456-426614174000 1e-400"',
        ],
    )
    def test_not_reported(self, read: Callable[..., Json], text: bytes) -> None:
        """Long numbers that fit, and digits in strings, are nothing to report."""
        notes: list[Problem] = []

        assert json.loads(text) == read(text, notes=notes)
        assert [] == notes


class TestHugeIntegers:
    @pytest.mark.parametrize("seed", range(8))
    def test_runs_are_found(self, seed: int) -> None:
        """Every run of 19 digits is found, wherever chunks begin and however many there are."""
        chance = random.Random(seed)  # noqa: S311  # for a test
        size = chance.choice([60, 400, 66_000, 140_000])
        weights = chance.choice(["0123456789 ", "0123456789" * 3 + "ab-:T., "])
        text = bytearray(chance.choices(weights.encode(), k=size))
        for _ in range(chance.randrange(1, 5)):
            at, length = chance.randrange(size), chance.randrange(16, 40)
            text[at : at + length] = bytes(chance.choices(b"0123456789", k=length))
        expected = [run.start() for run in re.finditer(rb"[0-9]{19,}", text)]

        assert expected == list(json_text._long_runs(bytes(text), 0, len(text)))  # noqa: SLF001

    @pytest.mark.parametrize("before", [0, 1, 2, 3, 65_500, 65_533, 65_536, 65_537, 131_060])
    def test_any_place(self, before: int) -> None:
        """A huge integer is found wherever it stands."""
        text = b'["%b",18446744073709551617]' % (b"x" * before)

        assert ["x" * before, 18446744073709551617] == loads(text)

    @pytest.mark.parametrize("integer", [b"18446744073709551617", b"-9223372036854775809"])
    @pytest.mark.parametrize("before", [0, 3, 1000, 1024, 4096, 70_000])
    def test_read_as_it_is(self, before: int, integer: bytes) -> None:
        """It is an integer then, whether few values or many stand beside it, and never the float that is near."""
        few = b'["%b",%b]' % (b"x" * before, integer)
        many = b"[%b%b]" % (b"0.5," * before, integer)

        for read in (loads, padded):
            assert (int, int(integer)) == (type(read(few)[-1]), read(few)[-1])
            assert (int, int(integer)) == (type(read(many)[-1]), read(many)[-1])

    @pytest.mark.parametrize("length", [18, 19, 20, 23])
    @pytest.mark.parametrize("before", range(9))
    def test_shortest_run(self, before: int, length: int) -> None:
        """A run of 19 digits is long enough, wherever every fourth byte falls."""
        text = b"X" * before + b"1" * length + b"X"
        runs = list(json_text._long_runs(text, 0, len(text)))  # noqa: SLF001

        assert ([before] if length >= 19 else []) == runs
        assert [] == list(json_text._long_runs(text, 0, before + 18))  # noqa: SLF001
        assert [] == list(json_text._long_runs(text, before + length - 18, len(text)))  # noqa: SLF001

    @pytest.mark.parametrize(
        "before",
        [
            rb'"\\"',
            rb'"\""',
            rb'"a \" b"',
            rb'"\\\""',
            rb'"\\\\"',
            rb'"[\"\","',
            rb'"", "\"\"\""',
        ],
    )
    def test_behind_quotes(self, before: bytes) -> None:
        """Quotes that are escaped, and backslashes that are, hide no integer and show none."""
        text = b"[%b, 18446744073709551617]" % before
        inside = before[:-1] + b' , 18446744073709551617 "'
        notes: list[Problem] = []

        assert 18446744073709551617 == loads(text)[-1]
        assert json_text.has_huge_integers(text)
        assert not json_text.has_huge_integers(b"[%b]" % inside)
        assert json.loads(b"[%b]" % inside) == loads(b"[%b]" % inside, notes=notes)
        assert [] == notes

    @pytest.mark.parametrize(
        "text",
        [b"18446744073709551617", b"[1,18446744073709551617]", b'{"a":-9223372036854775809}'],
    )
    def test_part_of_a_text(self, text: bytes) -> None:
        """Only what is between start and end is looked at."""
        whole = b"[" + text + b",18446744073709551617"
        end = 1 + len(text)

        assert json_text.has_huge_integers(whole, 1, end)
        assert not json_text.has_huge_integers(whole, 1, end - 10)
        assert not json_text.has_huge_integers(whole, end - 10, end)
        assert json_text.has_huge_integers(whole, end)

    def test_among_many_floats(self) -> None:
        """A huge integer is found among floats with as many digits."""
        floats = [index + 0.12345678901234567 for index in range(20_000)]
        text = json.dumps([*floats, 2**64 + 1, *floats]).encode()

        assert [*floats, 2**64 + 1, *floats] == loads(text)

    @pytest.mark.parametrize("unit", [rb"\\\"", rb"\"", rb"\"x", rb"\\x", rb"\\"])
    @pytest.mark.parametrize("before", range(5))
    def test_escapes_across_chunks(self, before: int, unit: bytes) -> None:
        """Escaped quotes before a huge integer are not taken for ends of strings, wherever a chunk ends."""
        for length in (70_000, 140_000, 400_000):
            said = b"x" * before + unit * (length // len(unit))

            assert 18446744073709551617 == loads(b'["%b",18446744073709551617]' % said)[1]
            assert not json_text.has_huge_integers(b'["%b,18446744073709551617,"]' % said)

    @pytest.mark.parametrize(
        ("text", "is_searched"),
        [
            (b"[%b0.5]" % (b"1," * 2000), True),
            (b'["%b",0.5,-1e18,12345678901234567]' % (b"x" * 5000), False),
            (b'["%b",1e20]' % (b"x" * 5000), True),
            (b'["%b",-1e19]' % (b"x" * 5000), True),
            (b"[0.5]", True),
        ],
        ids=["many", "few", "large", "small", "short"],
    )
    def test_effort(self, text: bytes, is_searched: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001
        """A text is searched for digits where that is cheaper than looking at its floats, or one is large."""
        searched = []
        search = json_text.has_huge_integers

        def counted(text: bytes, *part: int) -> bool:
            searched.append(text)
            return search(text, *part)

        monkeypatch.setattr(json_text, "has_huge_integers", counted)

        assert json.loads(text) == loads(text)
        assert is_searched == bool(searched)

    @both_ways
    @pytest.mark.parametrize(
        "text",
        [
            b"1",
            b'{"a":[1.5,null]}',
            b"[18446744073709551615,-9223372036854775808]",
            b'["18446744073709551616","\\\\"]',
            b"[%b0.5]" % (b"1e18," * 2000),
            b'["%b",12345678901234567]' % (b"x" * 5000),
            b"[[%b]]" % (b"[]," * 2000 + b"{}"),
            b"[" * 512 + b"]" * 512,
            b"[[1],[2]]",
        ],
        ids=range(9),
    )
    def test_no_detour(
        self, read: Callable[[bytes], Json], text: bytes, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A text that orjson reads as what it says is read by nothing else."""
        expected = json.loads(text)

        def detour(*_: object, **__: object) -> Json:
            raise AssertionError(text)

        monkeypatch.setattr("hub.json._loads_exactly", detour)

        assert expected == read(text)


class TestLoneSurrogates:
    @both_ways
    @pytest.mark.parametrize(
        "text",
        [
            rb'{"message":"bytes \udc88 from a tool"}',
            rb'{"\ud800":1}',
            rb'["\ud800\ud83d"]',
            b'{"a":"\xc3\xa9\\udfff\\n"}',
        ],
    )
    def test_kept(self, read: Callable[[bytes], Json], text: bytes) -> None:
        """A lone surrogate is read, and written back as its escape: pitfall 4."""
        assert json.loads(text) == read(text)
        assert text == dumps(read(text))

    def test_pair(self) -> None:
        """Two escapes that are a pair are one character."""
        assert "😀" == loads(rb'"\ud83d\ude00"')

    def test_escaped_backslash(self) -> None:
        """A backslash that is escaped begins no escape."""
        assert "\\ud800" == loads(rb'"\\ud800"')


class TestRefusals:
    @both_ways
    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            (b"", fatal("input.empty", "the input is empty")),
            (b" \r\n\t", fatal("input.empty", "the input is empty")),
            (
                b'{"a":\n  nope}',
                fatal("input.json", "not JSON: expecting value at line 2 column 3 (byte 8)", "/a"),
            ),
            (
                b"\n\nnope",
                fatal("input.json", "not JSON: expecting value at line 3 column 1 (byte 2)"),
            ),
            (
                b"\n [nope",
                fatal("input.json", "not JSON: expecting value at line 2 column 3 (byte 3)", "/0"),
            ),
            (
                '["é",é]'.encode(),
                fatal("input.json", "not JSON: expecting value at line 1 column 6 (byte 6)", "/1"),
            ),
            (
                b'{"schema_version":"ATIF-v1.7","session_id":"s", trunc',
                fatal(
                    "input.json",
                    "not JSON: expecting property name enclosed in double quotes"
                    " at line 1 column 49 (byte 48)",
                ),
            ),
            (
                b'["a',
                fatal(
                    "input.json",
                    "not JSON: unterminated string starting at line 1 column 2 (byte 1)",
                    "/0",
                ),
            ),
            (
                b'["\x01"]',
                fatal(
                    "input.json",
                    "not JSON: invalid control character at line 1 column 3 (byte 2)",
                    "/0",
                ),
            ),
            (
                b'{"metrics":{"logprob":NaN,"score":-Infinity}}',
                fatal(
                    "input.json",
                    "not JSON: NaN at line 1 column 23 (byte 22)",
                    "/metrics/logprob",
                ),
            ),
            (
                b'["-Infinity",-Infinity]',
                fatal("input.json", "not JSON: -Infinity at line 1 column 14 (byte 13)", "/1"),
            ),
            (
                rb'["\ud800",Infinity]',
                fatal("input.json", "not JSON: Infinity at line 1 column 11 (byte 10)", "/1"),
            ),
            (
                b"[18446744073709551616,]x",
                fatal("input.json", "not JSON: ", "/1"),
            ),
            (
                b'{"a":1} x',
                fatal(
                    "input.trailing",
                    "something follows the JSON value at line 1 column 9 (byte 8)",
                ),
            ),
            (
                b"1],[2",
                fatal(
                    "input.trailing",
                    "something follows the JSON value at line 1 column 2 (byte 1)",
                ),
            ),
            (b'{"a":"\xff"}', fatal("input.encoding", "not UTF-8: byte 0xff at offset 6")),
            (b'"\xed\xa0\x80"', fatal("input.encoding", "not UTF-8: byte 0xed at offset 1")),
            (b'{"\0":1}', fatal("input.encoding", "not text: a NUL byte at offset 2")),
            (b"\0[]", fatal("input.encoding", "not text: a NUL byte at offset 0")),
        ],
    )
    def test_refused(
        self, read: Callable[[bytes], Json], text: bytes, problem: tuple[str, str, str, str]
    ) -> None:
        """What is no JSON is refused, with line, column, byte and pointer."""
        found = refusal(text, read)

        assert problem[:3] == found[:3]
        assert found.message.startswith(problem[3])

    @both_ways
    def test_message_is_whole(self, read: Callable[[bytes], Json]) -> None:
        """The message ends with the place."""
        expected = "something follows the JSON value at line 2 column 1 (byte 2)"

        assert expected == refusal(b"1\n2", read).message

    def test_place_in_the_input(self) -> None:
        """Errors of a part count from where it begins in the input."""
        problem = refusal(b"{]", lambda data: loads(data, at=Place(7, 100)))

        assert "at line 7 column 2 (byte 101)" in problem.message

    @both_ways
    def test_brackets_of_the_pad(self, read: Callable[[bytes], Json]) -> None:
        """A text that would close the brackets around it is refused."""
        for text in (b"]", b"],[", b"1,2", b"]" * DEPTH + b"[" * DEPTH, b"1]],[[2"):
            assert refusal(text, read).severity == "fatal"

    def test_mark(self) -> None:
        """A byte-order mark is passed over."""
        assert [1] == loads(b"\xef\xbb\xbf[1]")
        assert "(byte 6)" in refusal(b"\xef\xbb\xbf[1,x]").message.replace("7", "6")

    def test_small_text_with_a_pad(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A small text behind a pad is read as one without."""
        monkeypatch.setattr("hub.json._LARGE", 1 << 20)

        assert {"a": 2**64} == padded(b'{"a":18446744073709551616}')
        assert "input.depth" == refusal(nested(DEPTH + 1), padded).rule

    @both_ways
    @pytest.mark.parametrize("where", ["hub.json.orjson.loads", "hub.json.JSONDecoder.decode"])
    def test_out_of_memory(
        self, monkeypatch: pytest.MonkeyPatch, read: Callable[[bytes], Json], where: str
    ) -> None:
        """A text that does not fit into memory is an error, and no traceback."""

        def fail(*_: object) -> None:
            raise MemoryError

        monkeypatch.setattr(where, fail)

        with pytest.raises(HubError, match=r"^not enough memory to read [0-9]+ bytes of JSON$"):
            read(b"[1e400]" if "decode" in where else b"[1]")

    @pytest.mark.skipif(sys.version_info >= (3, 12), reason="the stack of C is counted apart")
    def test_deep_in_the_stack(self) -> None:
        """A text that needs the exact path deep in the stack is an error, and no traceback."""

        def descend(levels: int) -> Json:
            return descend(levels - 1) if levels else loads(nested(500, b"1e400"))

        with pytest.raises(HubError, match=r"^called too deep in the stack to read exact JSON$"):
            descend(sys.getrecursionlimit() - 450)

    @given(st.binary(max_size=60))
    def test_any_bytes(self, data: bytes) -> None:
        """Any bytes are read or refused, in both ways alike."""
        results = []
        for read in (loads, padded):
            try:
                results.append(repr(read(data)))
            except HubError as error:
                results.append(str(error))

        assert results[0] == results[1]

    @given(json_values(), st.data())
    def test_damaged_json(self, value: Json, data: st.DataObject) -> None:
        """JSON with one byte changed is read as the standard library reads it, or refused."""
        text = bytearray(dumps(value))
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(
            st.sampled_from(b'"[]{},:1e.\\ ')
        )
        try:
            expected = json.loads(text.decode(), parse_constant=int, parse_float=float_or_exact)
        except ValueError:
            assert refusal(bytes(text)).severity == "fatal"
        else:
            assert dumps(expected) == dumps(loads(bytes(text)))


class TestDepth:
    @both_ways
    @pytest.mark.parametrize("leaf", [b"", b"1", b"18446744073709551616", b'"\\ud800"'])
    def test_limit(self, read: Callable[[bytes], Json], leaf: bytes) -> None:
        """512 levels are read and written, 513 are refused, on the fast path and on the exact one."""
        assert 512 == DEPTH
        assert nested(DEPTH, leaf) == dumps(read(nested(DEPTH, leaf)))
        assert (
            fatal(
                "input.depth",
                "more than 512 levels of arrays and objects at line 1 column 513 (byte 512)",
                "/0/0/0/0/0/0/0/0",
            )
            == refusal(nested(DEPTH + 1, leaf), read)[:4]
        )

    @both_ways
    @pytest.mark.parametrize("levels", [513, 600, 1023, 1024, 1025, 3000, 1_000_000])
    def test_deeper(self, read: Callable[[bytes], Json], levels: int) -> None:
        """However deep a text is, closed or not, it is refused for its depth."""
        objects = b'{"k":' * levels

        assert "input.depth" == refusal(objects + b"1" + b"}" * levels, read).rule
        assert "input.depth" == refusal(objects, read).rule

    @both_ways
    def test_wide(self, read: Callable[[bytes], Json]) -> None:
        """Many brackets that are not nested, and brackets in strings, are no depth."""
        text = b'["%b"%b]' % (b"[{" * 2000, b",{},[]" * 2000)

        assert 4001 == len(read(text))

    @both_ways
    def test_wide_and_exact(self, read: Callable[[bytes], Json]) -> None:
        """What is beside is not above, on the exact path too."""
        text = b"[%b1e400]" % (b'[],{"k":[]},"[{",' * 400)

        assert 1201 == len(read(text))
        assert text == dumps(read(text))

    @pytest.mark.parametrize(
        ("text", "limit", "place"),
        [
            (b"[[],[],[[]]]", 2, 8),
            (b"[[],[],[[]]]", 3, None),
            (b'{"a":{},"b":{"c":[]}}', 2, 17),
            (b'["[[[[","]]]]",[[', 2, 16),
            (b'["\\"[[", "\\\\", [', 1, 15),
            (b"]]][[", 0, None),
            (b"]]][[[[[", 1, 7),
            (b"1", 0, None),
            (b"[", 0, 0),
        ],
    )
    def test_where(self, text: bytes, limit: int, place: int | None) -> None:
        """The first bracket that is too deep is named, whatever was closed before it, and not those in strings."""
        assert place == json_text.too_deep_at(text, limit)

    def test_lower_limit(self) -> None:
        """Fewer levels may be asked for, of a text that stands behind something else."""
        text = b'junk\n[1,\n {"a":[]}]'

        check_depth(text, 3, begin=5)
        check_depth(b"[" * 513, DEPTH)
        with pytest.raises(InvalidDocument) as error:
            check_depth(text, 2, begin=5, at=Place(7, 100))
        assert [
            fatal(
                "input.depth",
                "more than 2 levels of arrays and objects at line 8 column 7 (byte 110)"
                "; --limit depth=NUMBER allows more",
                "/1/a",
            )
        ] == [problem[:4] for problem in error.value.problems]

    @pytest.mark.parametrize("levels", [253, 254, 255, 258, 259, 260, 300, 511, 512])
    def test_written(self, levels: int) -> None:
        """What orjson does not write for its depth is written the same."""
        text = b'[1,{"k":"x"},' * (levels - 2) + b'[{"a":null}]' + b"]" * (levels - 2)

        assert text == dumps(loads(text))
        assert loads(text) == loads(dumps(loads(text), indent=True))

    def test_not_written(self) -> None:
        """Deeper values are not written; nor is one that contains itself."""
        deep: Json = []
        deeper: Json = [1]
        for _ in range(DEPTH):
            deep, deeper = [deep], {"k": deeper}
        endless: list[Json] = []
        endless.append(endless)

        expected = fatal("input.depth", "more than 512 levels of arrays and objects")
        for value in (deep, deeper, endless):
            assert expected == refusal(b"", lambda _, value=value: dumps(value))[:4]  # type: ignore[misc]
        for value in ([deeper, deeper], {"": {"k": deeper}}, endless):
            assert expected == refusal(b"", lambda _, value=value: refuse_non_finite(value))[:4]  # type: ignore[misc]


class TestMarks:
    """What is seen of a text without reading it."""

    @pytest.mark.parametrize(
        ("text", "number"),
        [
            (b"1", 0),
            (b"[1,2,3]", 3),
            (b'{"a":1,"b":[2]}', 4),
            (b'[{"a":{"b":1}}]', 3),
            (b"[[[1]]]", 3),
        ],
    )
    def test_number_of_values(self, text: bytes, number: int) -> None:
        """A text has no more values than marks before one, and one more."""
        assert json_text.has_values(text, number)
        assert not json_text.has_values(text, number + 1)

    @pytest.mark.parametrize(
        ("text", "place"),
        [
            (b"NaN", 0),
            (b'["NaN",NaN]', 7),
            (b'["\\"NaN", "\\\\", NaN]', 16),
            (b'"NaN"', -1),
            (b'"NaN', -1),
            (b"[]", -1),
        ],
    )
    def test_outside_strings(self, text: bytes, place: int) -> None:
        """A word in a string is none."""
        assert place == json_text.find_outside_strings(text, b"NaN")


class TestAtOnce:
    @pytest.mark.parametrize("text", [b"[1]", b'"x"', b"null", b"18446744073709551615"])
    def test_read(self, text: bytes) -> None:
        """What orjson reads as what it says is read."""
        assert json.loads(text) == loads_at_once(text)

    @pytest.mark.parametrize(
        "text", [b"", b"[", b"18446744073709551616", b"1e400", rb'"\ud800"', nested(DEPTH + 1)]
    )
    def test_not_read(self, text: bytes) -> None:
        """Anything else is not."""
        assert loads_at_once(text) is MISSING


class TestOnePiece:
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            ({"b": [1, {}], "a": 2.0}, b'{"b":[1,{}],"a":2.0}'),
            ([2**64], b"[\n  18446744073709551616\n]"),
            ([ExactNumber("1e400")], b"[1e400]"),
        ],
    )
    def test_written(self, value: Json, text: bytes) -> None:
        """A value in one piece stands on one line of an indented text, if orjson writes it."""
        assert text == dumps(in_one_piece(value), indent=True)


class TestDumps:
    @given(json_values())
    def test_round_trip(self, value: Json) -> None:
        """What is written is read back the same, in both layouts."""
        assert value == loads(dumps(value))
        assert value == loads(dumps(value, indent=True))

    @given(json_values(), st.booleans(), st.booleans())
    def test_both_writers(self, value: Json, indent: bool, sort_keys: bool) -> None:  # noqa: FBT001
        """What is written beside something exact is spelled as orjson spells it."""
        option = (orjson.OPT_INDENT_2 if indent else 0) | (orjson.OPT_SORT_KEYS if sort_keys else 0)
        try:
            expected = orjson.dumps({"exact": 0, "value": value}, option=option)
        except TypeError:
            return
        document = {"exact": 2**64, "value": value}

        written = dumps(document, indent=indent, sort_keys=sort_keys)

        head, _, tail = expected.partition(b"0")
        assert head + b"18446744073709551616" + tail == written

    def test_indent(self) -> None:
        """Two spaces a level, a blank after the colon, brackets together when empty."""
        value = {"b": [2**64, {}, []], "a": {"c": "\ud800", "b": [1, {"x": "a\nb"}]}}

        assert rb"""{
  "a": {
    "b": [
      1,
      {
        "x": "a\nb"
      }
    ],
    "c": "\ud800"
  },
  "b": [
    18446744073709551616,
    {},
    []
  ]
}""" == dumps(value, indent=True, sort_keys=True)

    @pytest.mark.parametrize(
        "value", [object(), {1: 2}, [2**64, object()], {"a": 2**64, 1: 2}, b"x"]
    )
    def test_not_json(self, value: Json) -> None:
        """A value that is no JSON is a mistake of the caller."""
        with pytest.raises(TypeError):
            dumps(value)

    @pytest.mark.parametrize(
        ("value", "pointer"),
        [
            (float("nan"), "nan at ''"),
            ({"a": [1, float("inf")]}, "inf at '/a/1'"),
            ([{"x/": (-float("inf"),)}], "-inf at '/0/x~1/0'"),
        ],
    )
    def test_non_finite(self, value: Json, pointer: str) -> None:
        """A float that JSON does not have is found, with its pointer."""
        with pytest.raises(ValueError, match=re.escape(f"{pointer} is not JSON")):
            refuse_non_finite(value)

    @given(json_values())
    def test_finite(self, value: Json) -> None:
        """Everything that was read is finite."""
        refuse_non_finite(value)


class TestSpellings:
    def test_canonical_numbers(self) -> None:
        """Doubles are spelled as storyline.md 1.2 says; so are huge integers and numbers that no double holds."""
        spellings = {
            "100.0": 100.0,
            "0.0": 0.0,
            "-0.0": -0.0,
            "0.00001": 0.00001,
            "1e-6": 0.000001,
            "1.5e-7": 0.00000015,
            "1000000000000000.0": 1e15,
            "1e+16": 1e16,
            "1.5e+16": 1.5e16,
            "1e+100": 1e100,
            "1.7976931348623157e+308": 1.7976931348623157e308,
            "5e-324": 5e-324,
            "0.1": 0.1,
            "18446744073709551616": 2**64,
            "-9223372036854775809": -(2**63) - 1,
            "1E400": ExactNumber("1E400"),
            "true": True,
            "null": None,
        }

        assert list(spellings) == [canonical(value).decode() for value in spellings.values()]
        assert list(spellings) == [
            canonical([value, 2**64])[1:-22].decode() for value in spellings.values()
        ]

    def test_canonical_strings(self) -> None:
        """Only quotes, backslashes and control characters are escaped, and lone surrogates."""
        text = '"\\/\b\f\n\r\t\0\x1f\x7f\x80é\u2028😀\ud800'

        assert (
            '"\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\x80é\u2028😀\\ud800"'.encode()
            == canonical(text)
        )

    def test_canonical_order(self) -> None:
        """Keys are sorted by code point, recursively, lone surrogates among them."""
        value = {"\ue000": 1, "😀": 2, "\ud800": 3, "b": {"z": 1, "B": 2}, "": [{"b": 1, "a": 2}]}

        assert (
            '{"":[{"a":2,"b":1}],"b":{"B":2,"z":1},"\\ud800":3,"\ue000":1,"😀":2}'.encode()
            == canonical(value)
        )
        del value["\ud800"]
        assert '{"":[{"a":2,"b":1}],"b":{"B":2,"z":1},"\ue000":1,"😀":2}'.encode() == canonical(
            value
        )

    def test_compact(self) -> None:
        """Compact text keeps the order of keys, and has no white space outside strings."""
        assert '{"b":[1,2.0,"x y"],"a":{}}' == compact({"b": [1, 2.0, "x y"], "a": {}})
        assert '"\\udc88"' == compact("\udc88")


class TestDuplicateKeys:
    def test_reported(self) -> None:
        """A key twice in one object is reported at the object, however it is escaped."""
        text = rb'{"a":1,"b":[{"x~/":{"k":1,"k":2,"\u006b":{"k":0}}},{"a":1}],"a":{"c":1,"\"":2}}'

        found = duplicate_keys(text)

        assert [
            (
                "error",
                "input.duplicate-key",
                "/b/0/x~0~1",
                'key "k" 3 times in one object: the last value is used, others dropped',
            ),
            (
                "error",
                "input.duplicate-key",
                "",
                'key "a" 2 times in one object: the last value is used, others dropped',
            ),
        ] == [problem[:4] for problem in found]

    def test_example_of_pitfall_3(self) -> None:
        """The last value is the one that is read."""
        text = b'{"step_id":1,"source":"user","message":"first","message":"second"}'

        assert [""] == [problem.pointer for problem in duplicate_keys(text)]
        assert {"step_id": 1, "source": "user", "message": "second"} == loads(text)

    @pytest.mark.parametrize(
        "text", [b'{"a":{"a":[{"a":"a"},{"a":"\\"a\\":,"}]},"b":1}', b"[]", b'"a"', b"5"]
    )
    def test_not_reported(self, text: bytes) -> None:
        """Keys of different objects, and strings that look like keys, are no duplicates."""
        assert [] == duplicate_keys(text)

    @given(json_values())
    def test_what_is_written(self, value: Json) -> None:
        """What the hub writes has no key twice."""
        assert [] == duplicate_keys(dumps(value))
        assert [] == duplicate_keys(dumps(value, indent=True))

    def test_a_million_times(self) -> None:
        """A key as often as one likes is one problem."""
        text = b"{" + b",".join([b'"a":1'] * 100_000) + b"}"

        assert 1 == len(duplicate_keys(text))


class TestValueOfText:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ('{"a": 1}', {"a": 1}),
            ("[1.0]", [1.0]),
            ("null", None),
            ('"x"', "x"),
            ("18446744073709551616", 2**64),
            pytest.param("[" * 256 + "]" * 256, loads(b"[" * 256 + b"]" * 256), id="deep"),
        ],
    )
    def test_json(self, text: str, value: Json) -> None:
        """A string that spells JSON gives its value, exactly."""
        found = value_of_text(text)
        assert (type(value), value) == (type(found), found)

    @pytest.mark.parametrize(
        "text",
        ["", "{bad", "NaN", "1 2", "\ud800", '"\ud800"', "[" * 257 + "]" * 257, "[" * 9999],
        ids=lambda text: ascii(text[:8]),
    )
    def test_none(self, text: str) -> None:
        """Any other string, and one that is nested too deep, spells none."""
        assert value_of_text(text) is MISSING


class TestFingerprint:
    def test_equal_values(self) -> None:
        """The order of keys means nothing; the type of a number does."""
        assert fingerprint({"a": 1, "b": [None]}) == fingerprint({"b": [None], "a": 1})
        assert fingerprint(1) != fingerprint(1.0)
        assert 64 == len(fingerprint({}))


class TestManyTexts:
    """JSON in strings, many at once: each as it would be alone."""

    TEXTS = (
        '{"a": 1}',
        "not JSON",
        '"',
        "",
        "null",
        "[" * 256 + "]" * 256,
        "[" * 257 + "]" * 257,
        '{"text": "' + "[" * 600 + '"}',
        '"\\ud800"',
        "\ud800",
        "1.0",
    )

    def test_each_as_alone(self) -> None:
        """Broken, deep and odd ones among others."""
        expected = [value_of_text(text) for text in self.TEXTS]
        assert expected == list(values_of_texts(self.TEXTS))
        assert [{"a": 1}, MISSING, MISSING, MISSING, None] == expected[:5]
        assert [list, type(MISSING), dict] == [type(one) for one in expected[5:8]]

    def test_a_huge_integer_among_them(self) -> None:
        """It is kept, after a text whose quotes are not balanced too."""
        texts = [*self.TEXTS, '{"n": 123456789012345678901}', "-9223372036854775809"]
        *_, first, second = values_of_texts(texts)
        assert {"n": 123456789012345678901} == first
        assert -9223372036854775809 == second

    @given(st.lists(st.one_of(json_values().map(compact), st.text(max_size=8))))
    def test_any(self, texts: list[str]) -> None:
        """Whatever they are."""
        for alone, together in zip(map(value_of_text, texts), values_of_texts(texts), strict=True):
            assert equal(alone, together)


class TestAreCompact:
    """Whether texts are spelled as they would be written, many at once."""

    def test_each(self) -> None:
        """One that has a space, an escape or another number is none, whatever is around it."""
        odd = ('{"a": 1}', '"\\u0041"', "1.50", " 1", '{"b":1,"b":2}')
        for texts in ([*["[1,2]"] * 70, *odd, "{}"], ["[1]", '{"n":123456789012345678901}']):
            values = list(values_of_texts(texts))
            assert [text not in odd for text in texts] == are_compact(texts, values)

    def test_none(self) -> None:
        """None at all are no trouble."""
        assert [] == are_compact([], [])

    @pytest.mark.parametrize("value", [{"a": 1}, {'a": ': 1}, {"": 1}, {"\\": 1}, {}, [1, 2], None])
    def test_as_python_spells(self, value: Json) -> None:
        """With a space behind a colon or comma it is none, be it the first or among others, whatever the keys."""
        texts = [json.dumps(value), *[compact(value)] * 40, json.dumps(value)]
        is_same = texts[0] == texts[1]
        expected = [is_same, *[True] * 40, is_same]
        assert expected == are_compact(texts, [value] * len(texts))

    @given(st.lists(json_values()))
    def test_any(self, values: list[Json]) -> None:
        """Whatever is written as compact text is that."""
        texts = [compact(value) for value in values]
        assert [True] * len(values) == are_compact(texts, values)


class TestCanonicalPieces:
    """The canonical text, a piece at a time."""

    @pytest.mark.parametrize(
        "value",
        [
            {},
            [],
            None,
            {"b": list(range(64)), "a": 1},
            {"b": list(range(65)), "a": {"z": 1, "y": []}, "\ud800": [[]] * 200},
            {"only": [{"b": 1, "a": 123456789012345678901}] * 128},
            list(range(100)),
        ],
    )
    def test_are_the_whole(self, value: Json) -> None:
        """Joined they are it, also where arrays are long, keys odd and numbers large."""
        assert canonical(value) == b"".join(canonical_pieces(value))

    def test_no_piece_is_as_long_as_the_whole(self) -> None:
        """Of a long array the first piece has 64 elements, and others as many as make 64 kB."""
        lengths = [len(piece) for piece in canonical_pieces({"messages": ["x" * 97] * 6_400})]
        assert [6_399, 65_499, 65_499] == [length for length in lengths if length > 99][:3]
        assert 65_499 == max(lengths)

    @given(json_values())
    def test_any(self, value: Json) -> None:
        """Whatever the value is."""
        assert canonical(value) == b"".join(canonical_pieces(value))


class TestDumpPieces:
    """Text that is written piece by piece."""

    LONG: Json = [{"b": 1, "a": [2**70, "\ud800", None, {}]}, [], "x"] * 30
    VALUES: tuple[Json, ...] = (
        LONG,
        [LONG],
        {"b": LONG, "a": {"z": 1, "y": []}, "\ud800": LONG},
        {"attempts": [{"trajectory": {"steps": LONG}}, {"n": [], "a": 2.0}]},
        [[[[[LONG]]]]],
        [[0] * 64, [0] * 65],
        [loads(nested(507)), *range(100)],
        {"a": [loads(nested(505))], "b": [1] * 65},
        {},
        "x",
    )

    @pytest.mark.parametrize("value", VALUES)
    @pytest.mark.parametrize("indent", [True, False])
    @pytest.mark.parametrize("sort_keys", [True, False])
    def test_are_the_whole(self, value: Json, indent: bool, sort_keys: bool) -> None:  # noqa: FBT001
        """Joined they are what is written at once."""
        pieces = dump_pieces(value, indent=indent, sort_keys=sort_keys)
        assert dumps(value, indent=indent, sort_keys=sort_keys) == b"".join(pieces)

    @pytest.mark.parametrize("value", VALUES)
    def test_in_arrays(self, value: Json) -> None:
        """As an element it has the indentation of one."""
        pieces = dump_pieces(value, level=2, indent=True)
        assert dumps([[value]], indent=True) == b"[\n  [\n    %b\n  ]\n]" % b"".join(pieces)
        pieces = dump_pieces(value, level=2)
        assert dumps([[value]]) == b"[[%b]]" % b"".join(pieces)

    def test_takes_long_arrays_apart(self) -> None:
        """Also where they are some levels inside; others are one piece."""
        assert 1 < len(list(dump_pieces({"attempts": [{"trajectory": {"steps": [0] * 65}}]})))
        assert 1 == len(list(dump_pieces({"attempts": [{"trajectory": {"steps": [0] * 64}}]})))

    @given(json_values(), st.booleans(), st.integers(0, 3))
    def test_any(self, value: Json, indent: bool, level: int) -> None:  # noqa: FBT001
        """Whatever the value is."""
        value = [value] * 65
        whole = value
        for _ in range(level):
            whole = [whole]
        text = b"".join(dump_pieces(value, level=level, indent=indent))
        assert dumps(whole, indent=indent).find(text) > level - 1
        assert dumps(whole) == dumps(loads(b"[" * level + text + b"]" * level))

    @pytest.mark.parametrize("indent", [True, False])
    def test_too_deep(self, indent: bool) -> None:  # noqa: FBT001
        """Levels count from the outermost array on."""
        long: Json = [loads(nested(DEPTH - 2)), *range(64)]
        assert b"".join(dump_pieces(long, level=1, indent=indent))
        with pytest.raises(InvalidDocument, match="levels of arrays and objects"):
            list(dump_pieces(long, level=2, indent=indent))
        with pytest.raises(InvalidDocument, match="levels of arrays and objects"):
            list(dump_pieces({"a": loads(nested(DEPTH - 1)), "b": long}, level=1, indent=indent))

    @pytest.mark.parametrize("value", [{"a": [0] * 65, 1: 2}, [{1: 2}] * 65, [0, [set()] * 65]])
    def test_no_json(self, value: Json) -> None:
        """What is no JSON is refused there too."""
        with pytest.raises(TypeError, match="JSON"):
            list(dump_pieces(value))
