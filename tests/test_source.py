"""Sources: containers, broken records, compression, encodings, directories, standard input, memory."""

from __future__ import annotations

import bz2
import codecs
import gc
import gzip
import io
import lzma
import os
import socket
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.errors import MISSING, HubError, InvalidDocument, Json, Problem, UsageError
from hub.json import dumps, loads
from hub.limits import Limits
from hub.source import Source
from hub.streams import Pieces
from hub.testing.strategies import json_objects

zstandard = pytest.importorskip("zstandard", reason="in the standard library from 3.14 on")

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}
each_packer = pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)

NO_KEY = "expecting property name enclosed in double quotes"
NO_END = "unterminated string starting"

LINES = b'{"a":1}\n{"b":2}\n'


def read(data: bytes | Source, **settings: Any) -> list[tuple[str, Json]]:
    """Return the place and the value of each record."""
    source = Source(data, **settings) if isinstance(data, bytes) else data
    return [(record.place, record.value) for record in source.records()]


def refusal(data: bytes | Source, **settings: Any) -> list[Problem]:
    """Return the problems for which reading *data* ends."""
    with pytest.raises(InvalidDocument) as error:
        read(data, **settings)
    return list(error.value.problems)


def skipping(data: bytes) -> tuple[list[Json], list[str]]:
    """Return the values of the records of *data* that are not broken, and what is said of the others."""
    source = Source(data, on_error="skip")
    values = [record.value for record in source.records()]
    return values, [str(problem) for problem in source.problems]


class TestContainers:
    @pytest.mark.parametrize(
        "text",
        [b'{"a":1}', b'{"a":1}\n', b'\r\n\n {"a":1} \n\n', b'{\n  "a": 1\n}\n', b'{"a":\n1}'],
    )
    def test_one_object(self, text: bytes) -> None:
        """One object is one record without a place, however it is laid out."""
        assert [("", {"a": 1})] == read(text)

    @pytest.mark.parametrize(
        "text",
        [
            b'[{"a":1},{"b":2}]',
            b'[\n  {"a":1},\n  {"b":2}\n]\n',
            b'[{"a":1}\n,{"b":2}]',
            b'[{"a":\n1},\n{"b":2}]',
            b'\n[\n\n{"a":1\n},{"b":2}\n]',
        ],
    )
    def test_array(self, text: bytes) -> None:
        """The elements of an array are records, counted from 1, however it is laid out."""
        assert [("element 1", {"a": 1}), ("element 2", {"b": 2})] == read(text)

    def test_array_of_one(self) -> None:
        """An array of one element is an array."""
        assert [("element 1", {"a": 1})] == read(b'[\n{"a":1}\n]\n')

    @pytest.mark.parametrize("end", [b"\n", b"\r\n"])
    def test_lines(self, end: bytes) -> None:
        """Each line is a record, named by its number; blank lines count and are skipped."""
        text = end.join([b"", b'{"a":1}', b"", b" ", b' {"b":2}', b""])

        assert [("line 2", {"a": 1}), ("line 5", {"b": 2})] == read(text)

    def test_last_line_without_end(self) -> None:
        """The last line may have no line end."""
        assert [("line 1", {"a": 1}), ("line 2", {"b": 2})] == read(LINES[:-1])

    @pytest.mark.parametrize("text", [b"5", b'"x"\n', b"null", b" true"])
    def test_scalar(self, text: bytes) -> None:
        """One scalar is one record, which the format refuses."""
        assert [("", loads(text))] == read(text)

    def test_index(self) -> None:
        """Records are counted from 0, broken ones too."""
        source = Source(
            b'{"a":1}\n5\n{"b":2}\n', on_error="skip", name="run.jsonl", options={"x": "y"}
        )

        records = list(source.records())

        assert [0, 2] == [record.index for record in records]
        assert ["run.jsonl"] * 2 == [record.name for record in records]
        assert [{"x": "y"}] * 2 == [record.options for record in records]

    def test_prepare(self) -> None:
        """Each record is prepared before it is handed out."""
        seen: list[str] = []
        source = Source(LINES)
        source.prepare = lambda record: seen.append(record.place)

        for record in source.records():
            assert record.place == seen[-1]
        assert ["line 1", "line 2"] == seen

    @given(st.lists(json_objects(8), min_size=2, max_size=5), st.booleans())
    def test_any_lines(self, values: list[Json], blank: bool) -> None:  # noqa: FBT001
        """JSON Lines of any objects give these objects."""
        text = (b"\n\n" if blank else b"\n").join(map(dumps, values))

        assert values == [value for _, value in read(text)]

    @given(json_objects(20))
    def test_any_object(self, value: Json) -> None:
        """An object is one record in both layouts, and an element of an array."""
        assert [("", value)] == read(dumps(value)) == read(dumps(value, indent=True))
        assert [("element 1", value)] == read(dumps([value], indent=True))


class TestReadAhead:
    """The value of a small input, which detection looks at and reading takes."""

    def test_read_once(self, tmp_path: Path) -> None:
        """Records are those of the value that was looked at; asked for again, they are read again."""
        path = tmp_path / "a.json"
        path.write_bytes(b'[{"a": 1}]')
        source = Source.open(path)
        assert [{"a": 1}] == source.small(100)
        path.write_bytes(b'[{"b": 1}]')
        assert [{"a": 1}] == [record.value for record in source.records()]
        assert [{"b": 1}] == [record.value for record in source.records()]

    @pytest.mark.parametrize(
        "text",
        [b"", b'{"a": 1}\n{"a": 2}', b'{"a": ', b"[%d]" % 2**70, gzip.compress(b"{}"), b" " * 99],
    )
    def test_what_is_read_as_usual(self, text: bytes) -> None:
        """What is longer, packed, several values, or kept exactly only, is none."""
        assert MISSING is Source(text).small(90)

    def test_keys_that_are_there_twice(self) -> None:
        """They are found in a value that was looked at, too."""
        source = Source(b'{"a": 1, "a": 2}', thorough=True)
        source.small(100)
        assert 1 == len(list(source.records()))
        assert ["input.duplicate-key"] == [problem.rule for problem in source.problems]


class TestWholeInput:
    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            (b"", "fatal: the input is empty [input.empty]"),
            (b" \r\n\n", "fatal: the input is empty [input.empty]"),
            (b"\xef\xbb\xbf", "fatal: the input is empty [input.empty]"),
            (b"[]", "fatal: no documents: [] [input.no-documents]"),
            (b" [ \n ] ", "fatal: no documents: [] [input.no-documents]"),
            (
                b'{"a":1} x',
                "fatal: something follows the JSON value at line 1 column 9 (byte 8) [input.trailing]",
            ),
            (
                b'{"a":1}\nx',
                "fatal: something follows the JSON value at line 2 column 1 (byte 8) [input.trailing]",
            ),
            (
                b'{"a":1} {"b":2}',
                "fatal: something follows the JSON value at line 1 column 9 (byte 8) [input.trailing]",
            ),
            (
                b"some text\n",
                "fatal: not JSON: expecting value at line 1 column 1 (byte 0) [input.json]",
            ),
            (
                b'{\n "a": 1,\n "b": nope\n}\n',
                "/b: fatal: not JSON: expecting value at line 3 column 7 (byte 17) [input.json]",
            ),
            (b'{"a":"\xff"}', "fatal: not UTF-8: byte 0xff at offset 6 [input.encoding]"),
            (
                b'[{"a":1},\n{"b":2',
                "/1/b: fatal: not JSON: expecting ',' delimiter at line 2 column 7 (byte 16) [input.json]",
            ),
        ],
    )
    @pytest.mark.parametrize("on_error", ["fail", "skip", "collect"])
    def test_refused(self, text: bytes, problem: str, on_error: str) -> None:
        """What is wrong with the whole input ends it, and is never skipped."""
        assert [problem] == [str(one) for one in refusal(text, on_error=on_error)]

    def test_name(self) -> None:
        """The error names the input."""
        with pytest.raises(InvalidDocument, match=r"^x\.json: fatal: the input is empty"):
            read(b"", name="x.json")

    @each_packer
    def test_size(self, pack: Callable[[bytes], bytes]) -> None:
        """More bytes than the limit, after decompression, end the input."""
        message = "fatal: expected at most 20 bytes, found more; --limit size=NUMBER allows more [input.size]"

        for text in (b'{"a":"%b"}' % (b"x" * 13), b"{}\n" * 7, b" " * 21):
            assert [message] == [str(one) for one in refusal(text, limits=Limits(size=20))]
            assert [message] == [str(one) for one in refusal(pack(text), limits=Limits(size=20))]
        assert 1 == len(read(pack(b'{"a":"%b"}' % (b"x" * 12)), limits=Limits(size=20)))

    def test_size_of_lines(self) -> None:
        """A long line ends the input, whatever was read before."""
        source = Source(b"{}\n{}\n" + b" " * 2_000_000 + b"{}\n", limits=Limits(size=1_500_000))
        records = source.records()

        assert ["line 1", "line 2"] == [next(records).place, next(records).place]
        with pytest.raises(InvalidDocument, match="expected at most 1500000 bytes"):
            next(records)

    def test_bomb(self) -> None:
        """A small file that unpacks to much more than the limit takes no memory for it."""
        bomb = zstandard.ZstdCompressor().compress(b"[" + b" " * 100_000_000)
        tracemalloc.start()
        try:
            assert ["input.size"] == [one.rule for one in refusal(bomb, limits=Limits(size=1000))]
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 50_000_000


class TestBrokenRecords:
    def test_example_8(self) -> None:
        """Of three lines, the last one cut, two are left: validation.md 10, example 8."""
        text = b'{"a":1}\n{"a":2}\n{"schema_version":"ATIF-v1.7","agent":{"na'

        assert ["line 3: fatal: the last line is cut [input.line-cut]"] == [
            str(one) for one in refusal(text)
        ]
        assert (
            [{"a": 1}, {"a": 2}],
            ["line 3: fatal: the last line is cut [input.line-cut]"],
        ) == skipping(text)

    def test_line(self) -> None:
        """A broken line is told from a cut one, with its place in the input."""
        text = b'{"a":1}\n{"b" 2}\r\n{"c":3}\n'

        assert (
            [{"a": 1}, {"c": 3}],
            [
                "line 2: fatal: not JSON: expecting ':' delimiter at line 2 column 6 (byte 13) [input.line]"
            ],
        ) == skipping(text)

    def test_second_value_on_a_line(self) -> None:
        """Two values on one line are a broken line."""
        problem = "something follows the JSON value at line 2 column 4 (byte 6)"

        assert (
            [{}, {}],
            [f"line 2: fatal: {problem} [input.line]"],
        ) == skipping(b"{}\n{} {}\n{}\n")

    @pytest.mark.parametrize(
        ("first", "problem"),
        [
            (
                b'{"a": 1,',
                f"line 1: fatal: not JSON: {NO_KEY} at line 1 column 9 (byte 8) [input.line]",
            ),
            (
                b'{"a": "te',
                f"line 1 /a: fatal: not JSON: {NO_END} at line 1 column 7 (byte 6) [input.line]",
            ),
            (
                b'{"a":',
                "line 1 /a: fatal: not JSON: expecting value at line 1 column 6 (byte 5) [input.line]",
            ),
            (
                b"{",
                f"line 1: fatal: not JSON: {NO_KEY} at line 1 column 2 (byte 1) [input.line]",
            ),
            (
                b'{"a" 1}',
                "line 1: fatal: not JSON: expecting ':' delimiter at line 1 column 6 (byte 5) [input.line]",
            ),
        ],
    )
    @pytest.mark.parametrize("rest", [1, 2, 3])
    def test_first_line(self, first: bytes, problem: str, rest: int) -> None:
        """A broken first line does not hide that the others are records."""
        text = first + b"\n" + b'{"b":2}\n' * rest

        assert ([{"b": 2}] * rest, [problem]) == skipping(text)

    def test_two_broken_lines(self) -> None:
        """Records behind several broken lines are found, too."""
        values, problems = skipping(b'{"a":[\n\n{"a":\n{"b":2}\n{"c":3}\n')

        assert [{"b": 2}, {"c": 3}] == values
        assert ["line 1", "line 3"] == [
            problem.split()[0] + " " + problem.split()[1] for problem in problems
        ]

    def test_line_of_an_object(self) -> None:
        """A line of one object that looks like a record is none."""
        text = b'{"a":\n{"b":2}\n,"c":[\n{}\n,\n[]\n]}\n'

        assert [("", {"a": {"b": 2}, "c": [{}, []]})] == read(text)

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            (b'[{"a":1},[]]', "element 2: fatal: expected an object, found an empty array"),
            (b'[{"a":1},5]', "element 2: fatal: expected an object, found 5"),
            (b'{"a":1}\n"x"\n', 'line 2: fatal: expected an object, found "x"'),
            (b'{"a":1}\nnull', "line 2: fatal: expected an object, found null"),
        ],
    )
    def test_no_object(self, text: bytes, problem: str) -> None:
        """An element or a line that is no object is broken, where the format wants objects."""
        assert [f"{problem} [input.record]"] == [str(one) for one in refusal(text)]
        assert ([{"a": 1}], [f"{problem} [input.record]"]) == skipping(text)
        assert 2 == len(list(Source(text).records(objects=False)))

    def test_encoding(self) -> None:
        """A line that is no text is a broken record; cut inside a character, it is a cut one."""
        text = b'{}\n{"a":"\xff"}\n{"a":"\xc3'

        assert (
            [{}],
            [
                "line 2: fatal: not UTF-8: byte 0xff at offset 9 [input.encoding]",
                "line 3: fatal: the last line is cut [input.line-cut]",
            ],
        ) == skipping(text)

    def test_depth(self) -> None:
        """A line that is too deep is a broken record."""
        values, problems = skipping(b'{}\n{"a":' + b"[" * 600 + b"]" * 600 + b"}\n{}\n")

        assert [{}, {}] == values
        message = "more than 512 levels of arrays and objects at line 2 column 517 (byte 519)"
        assert [f"line 2 /a/0/0/0/0/0/0/0: fatal: {message} [input.depth]"] == problems

    def test_lazy(self) -> None:
        """The records before a broken one are handed out."""
        records = Source(b'{"a":1}\n{"b"\n{}\n').records()

        assert {"a": 1} == next(records).value
        with pytest.raises(InvalidDocument):
            next(records)


class TestNotes:
    def test_duplicate_keys(self) -> None:
        """Keys given twice are looked for only when asked, and reported at their records."""
        lines = b'{"a":1,"a":2}\n{"b":{"x/":1,"x/":2}}\n'
        array = b'[{"b":{"x":1,"x":2}},{"a":1,"a":2}]'
        said = "2 times in one object: the last value is used, others dropped [input.duplicate-key]"
        plain, thorough, elements = (
            Source(lines),
            Source(lines, thorough=True),
            Source(array, thorough=True),
        )

        assert [{"a": 2}, {"b": {"x/": 2}}] == [value for _, value in read(plain)]
        assert 2 == len(read(thorough)) == len(read(elements))
        assert [] == plain.problems
        assert [
            f'line 1: error: key "a" {said}',
            f'line 2 /b: error: key "x/" {said}',
        ] == [str(one) for one in thorough.problems]
        assert [
            f'element 1 /b: error: key "x" {said}',
            f'element 2: error: key "a" {said}',
        ] == [str(one) for one in elements.problems]

    def test_strict(self) -> None:
        """In strict reading a record with a key twice is broken."""
        source = Source(b'{"a":1,"a":2}\n{"b":1}\n', strict=True, on_error="skip")

        assert [("line 2", {"b": 1})] == read(source)
        assert [("fatal", "input.duplicate-key")] == [one[:2] for one in source.problems]
        assert ["input.duplicate-key"] == [
            one.rule for one in refusal(b'{"a":1,"a":2}', strict=True)
        ]

    @pytest.mark.parametrize(
        ("text", "places"),
        [
            (b'{"a":18446744073709551616}', [None]),
            (b'[{"a":1},{"a":1e400}]', [None]),
            (b'{"a":1}\n{"a":"\\ud800"}\n{"a":1e400}\n', ["line 2", "line 3"]),
            (b'{"a":1}\n', []),
        ],
    )
    def test_exact(self, text: bytes, places: list[str | None]) -> None:
        """What only the exact path keeps is an info, at its record."""
        source = Source(text)

        read(source)

        assert [("info", "input.exact", place) for place in places] == [
            (one.severity, one.rule, one.document) for one in source.problems
        ]


class TestCompression:
    @each_packer
    def test_content_decides(self, pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
        """Compressed data is told by its first bytes, whatever the name."""
        path = tmp_path / "run.json"
        path.write_bytes(pack(LINES))

        assert [("line 1", {"a": 1}), ("line 2", {"b": 2})] == read(Source.open(path))

    def test_plain_with_a_suffix(self, tmp_path: Path) -> None:
        """A file that is not compressed is read as it is, whatever the name."""
        path = tmp_path / "run.json.gz"
        path.write_bytes(LINES)

        assert 2 == len(read(Source.open(path)))

    @each_packer
    def test_several_streams(self, pack: Callable[[bytes], bytes]) -> None:
        """Several compressed streams in a row are one input."""
        assert 3 == len(read(pack(LINES) + pack(b"") + pack(b'{"c":3}')))

    def test_padding(self) -> None:
        """Zeros behind compressed data are padding."""
        assert 2 == len(read(gzip.compress(LINES) + bytes(512)))

    @pytest.mark.parametrize("name", PACKERS)
    def test_cut(self, name: str) -> None:
        """Cut data is refused, with how much was read."""
        packed = PACKERS[name](os.urandom(5000).hex().encode())

        for size in (7, len(packed) // 2, len(packed) - 1):
            [problem] = refusal(packed[:size])
            assert ("fatal", "input.compressed") == problem[:2]
            assert f"the {name} data is cut: {size} bytes read" in problem.message

    @pytest.mark.parametrize("name", ["gzip", "bzip2", "xz"])
    def test_damaged(self, name: str) -> None:
        """Damaged data is refused, with how much was read."""
        packed = bytearray(PACKERS[name](b'{"a":"%b"}' % os.urandom(5000).hex().encode()))
        packed[len(packed) // 2] ^= 0xFF

        [problem] = refusal(bytes(packed))

        assert "input.compressed" == problem.rule
        assert f"the {name} data is damaged: {len(packed)} bytes read" in problem.message

    def test_damaged_zstd(self) -> None:
        """Damaged zstd data is refused, if it says so itself."""
        [problem] = refusal(b"\x28\xb5\x2f\xfd" + b"\xff" * 50)

        assert "the zstd data is damaged: 54 bytes read, 0 unpacked" == problem.message

    @each_packer
    def test_something_behind(self, pack: Callable[[bytes], bytes]) -> None:
        """Something else behind compressed data is refused."""
        [problem] = refusal(pack(LINES) + b"something")

        assert "input.compressed" == problem.rule
        assert "is followed by something else" in problem.message

    def test_missing_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without zstd the extra to install is named."""

        def missing(name: str) -> None:
            raise ImportError(name)

        monkeypatch.setattr("importlib.import_module", missing)

        assert [
            "fatal: zstd needs an extra: pip install 'storyline-hub[zstd]' [input.compressed]"
        ] == [str(one) for one in refusal(PACKERS["zstd"](LINES))]

    @each_packer
    def test_large(self, pack: Callable[[bytes], bytes]) -> None:
        """Data that takes many pieces to unpack comes out whole."""
        text = b"".join(b'{"n":%d,"text":"%b"}\n' % (n, b"x" * n) for n in range(3000))

        assert text == Source(pack(text)).bytes()

    def test_unpacked_in_pieces(self) -> None:
        """What a compressed stream becomes is not held in memory at once."""
        packed = gzip.compress(b'{"a":1}\n' * 5_000_000)
        source = Source(packed)
        tracemalloc.start()
        try:
            assert 1000 == sum(1 for _ in zip(range(1000), source.records(), strict=False))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 8_000_000


class TestEncodings:
    def test_utf8_mark(self) -> None:
        """A UTF-8 byte-order mark is dropped, silently."""
        source = Source(codecs.BOM_UTF8 + '{"é":1}\n{}'.encode())

        assert [("line 1", {"é": 1}), ("line 2", {})] == read(source)
        assert [] == source.problems

    @pytest.mark.parametrize(
        ("mark", "encoding"),
        [
            (codecs.BOM_UTF16_LE, "UTF-16-LE"),
            (codecs.BOM_UTF16_BE, "UTF-16-BE"),
            (codecs.BOM_UTF32_LE, "UTF-32-LE"),
            (codecs.BOM_UTF32_BE, "UTF-32-BE"),
        ],
    )
    @pytest.mark.parametrize("text", ['{"é":"😀"}', '{"é":"😀"}\n{"b":2}\n', '[{"é":"😀"}]'])
    def test_other_marks(self, mark: bytes, encoding: str, text: str) -> None:
        """UTF-16 and UTF-32 are read where a mark says so; an info tells."""
        source = Source(gzip.compress(mark + text.encode(encoding)))

        assert read(text.encode()) == read(source)
        assert [f"info: read as {encoding}, by its byte-order mark [input.utf16]"] == [
            str(one) for one in source.problems
        ]

    def test_note_once(self) -> None:
        """However often the text is looked at, the info is one."""
        source = Source("\ufeff{}".encode("utf-16-le"))

        source.head(10)
        read(source)

        assert 1 == len(source.problems)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (b"\xff\xfe{\0}", "not UTF-16-LE: truncated data at offset 4"),
            (b"\xff\xfe{\0\x3d\xd8}\0", "not UTF-16-LE: illegal UTF-16 surrogate at offset 4"),
            (
                b"\xff\xfe\0\0{\0\0\0\xff\xff\xff\xff",
                "not UTF-32-LE: code point not in range(0x110000) at offset 8",
            ),
        ],
    )
    def test_broken(self, text: bytes, message: str) -> None:
        """Text that is not what its mark says is refused at its first bad byte."""
        [problem] = refusal(text)

        assert ("fatal", "input.encoding", "", message) == problem[:4]

    def test_long(self) -> None:
        """A character that is cut between two pieces is read whole."""
        text = '{"a":"' + "😀é" * 300_001 + '"}'

        assert [("", loads(text.encode()))] == read(b"\xff\xfe" + text.encode("utf-16-le"))

    def test_no_mark(self) -> None:
        """UTF-16 without a mark is not guessed."""
        [problem] = refusal("{}".encode("utf-16-le"))

        assert ("input.encoding", "not text: a NUL byte at offset 1") == (
            problem.rule,
            problem.message,
        )


class TestHeadAndTail:
    @each_packer
    def test_head(self, pack: Callable[[bytes], bytes]) -> None:
        """The head is unpacked UTF-8 without a mark, as often as it is asked, and takes nothing away."""
        source = Source(pack(codecs.BOM_UTF8 + LINES))

        assert (b'{"a":', False) == source.head(5)
        assert (LINES, True) == source.head(len(LINES)) == source.head(100)
        assert (LINES[:-1], False) == source.head(len(LINES) - 1)
        assert 2 == len(read(source))

    def test_head_of_another_encoding(self) -> None:
        """The head of UTF-16 is UTF-8."""
        assert ('{"é'.encode(), False) == Source('{"é":1}'.encode("utf-16")).head(4)

    def test_tail(self, tmp_path: Path) -> None:
        """The tail is the end of a text that need not be read for it."""
        path = tmp_path / "x.json"
        path.write_bytes(codecs.BOM_UTF8 + LINES)

        for source in (Source.open(path), Source(LINES)):
            assert b'"b":2}\n' == source.tail(7)
            assert LINES == source.tail(100)
        assert None is Source(gzip.compress(LINES)).tail(7)
        assert None is Source("{}".encode("utf-16")).tail(7)
        assert None is Source.of({}).tail(7)

    def test_size(self, tmp_path: Path) -> None:
        """The size is that of what is stored."""
        path = tmp_path / "x.json"
        path.write_bytes(LINES)

        assert len(LINES) == Source.open(path).size == Source(LINES).size
        assert None is Source.open(tmp_path).size
        assert None is Source.open("-").size

    def test_bytes(self) -> None:
        """The bytes of an input are unpacked, and otherwise as they are."""
        assert b"\xff\xfe{\0" == Source(gzip.compress(b"\xff\xfe{\0")).bytes()
        with pytest.raises(InvalidDocument, match="expected at most 3 bytes"):
            Source(b"{}{}", limits=Limits(size=3)).bytes()

    def test_value(self) -> None:
        """The value is that of the whole input."""
        assert [{"a": 1}, 2] == Source(b'[{"a":1},2]').value()
        with pytest.raises(InvalidDocument, match="something follows"):
            Source(LINES).value()


class TestFiles:
    def test_open(self, tmp_path: Path) -> None:
        """A file is named by its path, and can be read again."""
        path = tmp_path / "run.json"
        path.write_bytes(b'{"a":1}')
        source = Source.open(path)

        assert str(path) == source.name == source.path
        assert not source.is_directory
        assert [("", {"a": 1})] == read(source) == read(source)
        assert [] == list(source.files())

    def test_missing(self, tmp_path: Path) -> None:
        """A path where nothing is, is a mistake of the caller."""
        with pytest.raises(UsageError, match=r"nothing\.json: no such file or directory"):
            Source.open(tmp_path / "nothing.json")

    def test_no_permission(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A file that may not be read is named."""
        path = tmp_path / "run.json"
        path.touch()

        def refuse(*_: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("builtins.open", refuse)

        with pytest.raises(HubError, match=r"run\.json: permission denied$"):
            read(Source.open(path))

    def test_gone(self, tmp_path: Path) -> None:
        """A file that is gone when it is read is named."""
        path = tmp_path / "run.json"
        path.write_bytes(b"{}")
        source = Source.open(path)
        path.unlink()

        with pytest.raises(UsageError, match="no such file"):
            read(source)

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
    def test_neither_file_nor_directory(self, tmp_path: Path) -> None:
        """A pipe, a socket or a device is not waited for."""
        os.mkfifo(tmp_path / "pipe")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(tmp_path / "socket"))

            for path in (tmp_path / "pipe", tmp_path / "socket", Path(os.devnull)):
                with pytest.raises(UsageError, match="neither a file nor a directory; - reads"):
                    Source.open(path)

    def test_directory(self, tmp_path: Path) -> None:
        """A directory has files in path order, each with its relative name; links are not followed."""
        for name in ("b.json", "a/y.json", "a/x/1.json", "c/d/e/2.json", "a.json"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(b'{"n":"%b"}' % name.encode())
        (tmp_path / "link.json").symlink_to(tmp_path / "b.json")
        (tmp_path / "loop").symlink_to(tmp_path)
        source = Source.open(
            tmp_path, zone=None, options={"k": "v"}, on_error="skip", limits=Limits(size=99)
        )

        files = list(source.files())

        names = ["a/x/1.json", "a/y.json", "a.json", "b.json", "c/d/e/2.json"]
        assert source.is_directory
        assert names == source.paths() == [file.name for file in files]
        assert names[:2] == source.paths(2)
        assert [{"n": name} for name in names] == [file.value() for file in files]
        assert [("skip", {"k": "v"}, Limits(size=99))] * 5 == [
            (file.on_error, file.options, file.limits) for file in files
        ]

    def test_directory_has_no_bytes(self, tmp_path: Path) -> None:
        """A directory is not read as a file."""
        for ask in (Source.value, lambda source: source.head(9), Source.bytes):
            with pytest.raises(UsageError, match="a directory, not a file"):
                ask(Source.open(tmp_path))

    def test_records_of_a_directory(self, tmp_path: Path) -> None:
        """The records of a directory are those of its JSON files, each with its file and its place in it."""
        for name, text in {
            "a/x.jsonl": '{"n": 1}\n{"n": 2}\n',
            "b.json": '{"n": 3}',
            "c.png": ".",
        }.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        source = Source.open(tmp_path)
        assert [
            (0, "a/x.jsonl line 1", {"n": 1}),
            (1, "a/x.jsonl line 2", {"n": 2}),
            (2, "b.json", {"n": 3}),
        ] == [(one.index, one.place, one.value) for one in source.records()]
        assert ([], []) == (source.problems, source.unread())

    def test_broken_files_of_a_directory(self, tmp_path: Path) -> None:
        """A file that is no JSON ends the reading of its directory, or is left out like any broken record."""
        (tmp_path / "a.json").write_text("{")
        (tmp_path / "b.jsonl").write_text('{"n": 1}\n7\n')
        with pytest.raises(InvalidDocument, match=r"a\.json: fatal"):
            list(Source.open(tmp_path).records())
        source = Source.open(tmp_path, on_error="skip")
        assert [{"n": 1}] == [one.value for one in source.records()]
        assert [("a.json", "input.json"), ("b.jsonl line 2", "input.record")] == [
            (one.document, one.rule) for one in source.problems
        ]

    def test_empty_directory(self, tmp_path: Path) -> None:
        """A directory without JSON files has no documents."""
        (tmp_path / "notes.txt").touch()
        with pytest.raises(InvalidDocument, match="no documents: the directory holds no JSON file"):
            list(Source.open(tmp_path).records())

    def test_deep_directory(self, tmp_path: Path) -> None:
        """Files are found however deep they are, as far as the system allows paths."""
        folder = tmp_path
        for _ in range(400):
            folder /= "d"
        folder.mkdir(parents=True)
        (folder / "x.json").touch()

        assert ["d/" * 400 + "x.json"] == Source.open(tmp_path).paths()

    def test_first_folders(self, tmp_path: Path) -> None:
        """As many folders are looked into as files are asked for, however deep they are."""
        (tmp_path / "a" / "b" / "c").mkdir(parents=True)
        for place in ("a/b/c/deep.json", "a/b/x.json", "z.json"):
            (tmp_path / place).touch()

        assert ["a/b/x.json", "z.json"] == Source.open(tmp_path).paths(2)
        assert ["a/b/c/deep.json", "a/b/x.json", "z.json"] == Source.open(tmp_path).paths(3)


class TestStandardInput:
    @pytest.fixture
    def give(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
        def give(data: bytes) -> None:
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))

        return give

    @pytest.mark.parametrize("pack", [bytes, gzip.compress])
    def test_starts_over(
        self, give: Callable[[bytes], None], pack: Callable[[bytes], bytes]
    ) -> None:
        """What was looked at is read again, once."""
        give(pack(LINES * 60_000))
        source = Source.open("-")

        assert None is source.name
        assert (LINES, False) == source.head(len(LINES))
        assert (LINES * 20_000, False) == source.head(len(LINES) * 20_000)
        assert 120_000 == sum(1 for _ in source.records())
        with pytest.raises(HubError, match="standard input can be read only once"):
            read(source)

    def test_whole_value(self, give: Callable[[bytes], None]) -> None:
        """One value is read whole."""
        give(b'{\n"a": [%b1]}' % (b"1," * 700_000))

        assert 700_001 == len(Source.open("-").value()["a"])

    def test_closed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Standard input that is closed is no traceback."""
        monkeypatch.setattr("sys.stdin", None)

        with pytest.raises(HubError, match="standard input is closed"):
            read(Source.open("-"))

    def test_slow_pipe(self) -> None:
        """Bytes that come one by one are a text all the same."""
        program = (
            "from hub.source import Source; print([r.value for r in Source.open('-').records()])"
        )
        process = subprocess.Popen(  # noqa: S603  # our own
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        assert process.stdin is not None
        for byte in gzip.compress(LINES):
            process.stdin.write(bytes([byte]))
        output, _ = process.communicate()

        assert "[{'a': 1}, {'b': 2}]" == output.decode().strip()


class TestMemory:
    def test_values(self) -> None:
        """Values in memory are records as they are, with places when they are several."""
        value = {"a": [1]}

        [record] = Source.of(value, name="x").records()

        assert value is record.value
        assert ("", "x") == (record.place, record.name)
        assert [("line 1", {}), ("line 2", {"b": 2})] == read(Source.of({}, {"b": 2}))
        assert [("", [1])] == read(Source.of([1]))
        assert (b'{"a":[1]}\n{}', True) == Source.of(value, {}).head(99)
        assert {} == Source.of({}).value()

    def test_lines_in_constant_memory(self) -> None:
        """JSON Lines are read in the same memory however many there are."""

        class Generated(Pieces):
            """A stream of lines that nobody stores."""

            def __init__(self, count: int) -> None:
                super().__init__()
                self.left = count

            def piece(self) -> bytes:
                self.left -= 1
                return (
                    b'{"n":%d,"text":"%b"}\n' % (self.left, b"x" * 5000) if self.left >= 0 else b""
                )

        class Origin:
            size: int | None = None

            def __init__(self, count: int) -> None:
                self.count = count

            def open(self, *, again: bool) -> Any:  # noqa: ARG002
                return Generated(self.count).buffered()

        def peak(count: int) -> int:
            source = Source()
            source._origin = Origin(count)  # noqa: SLF001
            tracemalloc.start()
            try:
                assert count == sum(1 for _ in source.records())
                return tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()

        small, large = peak(500), peak(4000)

        assert large < small + 500_000
        assert large < 10_000_000

    def test_bytes_are_released(self, tmp_path: Path) -> None:
        """The bytes of a value are gone when the record is handed out, and there never are two of them."""
        path = tmp_path / "x.json"
        path.write_bytes(b'{"a":[%b1]}' % (b"1," * 2_000_000))

        def measured(ask: Callable[[], Json]) -> tuple[int, int]:
            tracemalloc.start()
            try:
                value = ask()
                held = tracemalloc.get_traced_memory()
                del value
                return held
            finally:
                tracemalloc.stop()

        floor = measured(lambda: orjson.loads(path.read_bytes()))
        found = measured(lambda: next(Source.open(path).records()).value)

        assert found[0] < 1.1 * floor[0]
        assert found[1] < 1.1 * floor[1]

    def test_elements_are_released(self) -> None:
        """An element of an array is gone when the next one is asked for."""

        def alive() -> int:
            return sum(
                isinstance(one, dict) and one.get("mark") == "element" for one in gc.get_objects()
            )

        records = Source(b"[%b]" % b",".join([b'{"mark":"element","x":[1]}'] * 1000)).records()

        first = next(records)
        assert 1000 == alive()
        for _ in range(900):
            first = next(records)
        assert 100 == alive()
        assert "element 901" == first.place

    def test_closed_early(self, tmp_path: Path) -> None:
        """Whoever stops reading leaves no file open."""
        path = tmp_path / "x.jsonl"
        path.write_bytes(LINES * 1000)

        def first(records: Iterator[Any]) -> None:
            next(records)

        first(Source.open(path).records())
        gc.collect()


class TestImports:
    def test_light(self) -> None:
        """Looking at a head imports neither attrs nor orjson nor what unpacks."""
        program = (
            "import sys; from hub.source import Source; Source(b'{}').head(9);"
            "print({'attr', 'attrs', 'orjson', 'json', 'gzip', 'zlib', 'bz2', 'lzma', 'tempfile', 'shutil',"
            " 'pathlib'} & set(sys.modules))"
        )
        output = subprocess.run(  # noqa: S603  # our own
            [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {program}"],
            check=True,
            capture_output=True,
        ).stdout

        assert "set()" == output.decode().strip()


class TestArrays:
    def test_places(self) -> None:
        """The elements of one array have their places, also when there is one."""
        records = Source.of_array([{"a": 1}]).records()
        assert [("element 1", {"a": 1})] == [(one.place, one.value) for one in records]
