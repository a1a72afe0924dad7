"""Limits: what each of them counts, in every container and compression, and how it is chosen."""

from __future__ import annotations

import bz2
import codecs
import gc
import gzip
import json
import lzma
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import hub
from hub.errors import InvalidDocument, Json, Problem, UsageError
from hub.limits import DEFAULTS, Limits
from hub.source import Source

zstandard = pytest.importorskip("zstandard", reason="in the standard library from 3.14 on")

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstandard.ZstdCompressor().compress,
    "utf-16": lambda text: codecs.BOM_UTF16_LE + text.decode().encode("utf-16-le"),
}
each_packer = pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)

TWO = {"object": b'{"n":[[]]}', "array": b'[{"n":[]},{}]', "lines": b'{"n":[[]]}\n{}\n'}
each_container = pytest.mark.parametrize("text", TWO.values(), ids=TWO)


def read(data: bytes, limits: Limits, **settings: Any) -> list[tuple[str, Json]]:
    """Return the place and the value of each record of *data*."""
    source = Source(data, limits=limits, **settings)
    return [(record.place, record.value) for record in source.records()]


def refusal(data: bytes, limits: Limits, **settings: Any) -> list[Problem]:
    """Return the problems for which reading *data* ends."""
    with pytest.raises(InvalidDocument) as error:
        read(data, limits, **settings)
    return list(error.value.problems)


class TestEach:
    """Each limit is exact, and what goes beyond it is an error with a rule of its own that says what to do."""

    @each_packer
    @each_container
    def test_size(self, pack: Callable[[bytes], bytes], text: bytes) -> None:
        """Bytes of the text count, unpacked and as UTF-8."""
        size = len(text)
        problem = Problem(
            "fatal",
            "input.size",
            "",
            f"expected at most {size - 1} bytes, found more; --limit size=NUMBER allows more",
            expected=f"at most {size - 1} bytes",
            found="more",
        )

        assert [problem] == refusal(pack(text), Limits(size=size - 1))
        assert read(text, DEFAULTS) == read(pack(text), Limits(size=size))

    @each_packer
    @each_container
    def test_depth(self, pack: Callable[[bytes], bytes], text: bytes) -> None:
        """Levels of arrays and objects count, in a line those of the line; the place of the first too many is named."""
        line = text.startswith(b'{"n":[[]]}\n')
        column = text.index(b"[]") + 1
        problem = Problem(
            "fatal",
            "input.depth",
            "/0/n" if text.startswith(b"[") else "/n/0",
            f"more than 2 levels of arrays and objects at line 1 column {column} (byte {column - 1})"
            "; --limit depth=NUMBER allows more",
            document="line 1" if line else None,
            expected="at most 512 levels of arrays and objects",
        )

        assert [problem] == refusal(pack(text), Limits(depth=2))
        assert read(text, DEFAULTS) == read(pack(text), Limits(depth=3))

    def test_depth_of_brackets_in_strings(self) -> None:
        """Brackets in strings are no levels."""
        assert [("", {"a": '[[["\\'})] == read(b'{"a":"[[[\\"\\\\"}', Limits(depth=1))

    @each_packer
    @pytest.mark.parametrize("on_error", ["fail", "skip", "collect"])
    def test_records(self, pack: Callable[[bytes], bytes], on_error: str) -> None:
        """Records count, broken ones too; those beyond the limit end everything, also where others are left out."""
        for text, place in ((b"{}\n\n{}\n{}\n", "line 4"), (b"[{},{},{}]", "element 3")):
            limits = Limits(records=2)
            expected = (
                f"fatal: expected at most 2 records, found more at {place}"
                "; --limit records=NUMBER allows more [input.records]"
            )
            assert [expected] == [
                str(one) for one in refusal(pack(text), limits, on_error=on_error)
            ]
            assert 3 == len(read(pack(text), Limits(records=3)))
        broken = b'{}\n{"a\n{}\n'
        assert ["input.records"] == [
            one.rule for one in refusal(pack(broken), Limits(records=2), on_error="skip")
        ]

    @each_packer
    def test_line(self, pack: Callable[[bytes], bytes]) -> None:
        """Bytes of a line count, without its end; a longer one is left out like any broken line."""
        text = (
            b'{"a":1}\r\n{"b":"'
            + b"x" * 1_000_000
            + b'"}\n{"c":"12"}\n{"d":"'
            + b"x" * 300_000
            + b'"}'
        )
        limits = Limits(line=10)
        message = (
            "line 2: fatal: expected at most 10 bytes, found more; --limit line=NUMBER allows more"
            " [input.line-size]"
        )
        source = Source(pack(text), limits=limits, on_error="skip")

        assert [message] == [str(one) for one in refusal(pack(text), limits)]
        assert [("line 1", {"a": 1}), ("line 3", {"c": "12"})] == [
            (record.place, record.value) for record in source.records()
        ]
        told = [str(one) for one in source.problems if one.severity == "fatal"]
        assert [message, message.replace("line 2", "line 4")] == told

    def test_line_in_the_size(self) -> None:
        """What is left out of a line counts as input."""
        text = b"{}\n{}\n" + b"x" * 1_000_000
        problems = refusal(text, Limits(line=10, size=999_999), on_error="skip")
        assert ["input.size"] == [one.rule for one in problems]

    @pytest.mark.parametrize("form", ["object", "array", "lines"])
    def test_envelope(self, form: str) -> None:
        """Bytes of an envelope as compact JSON count; the document of a longer one is refused."""
        pytest.importorskip("hub_atif")
        sources = {"ale": {"source_document_id": "d", "fields": {"/x": "y" * 100}}}
        held = {"unknown_fields": {"version": 1, "by_trajectory": {"": {"sources": sources}}}}
        document: dict[str, Json] = {
            "schema_version": "ATIF-v1.6",
            "session_id": "s",
            "steps": [],
            "extra": {"_storyline": held},
        }
        document["agent"] = {"name": "a", "version": "1"}
        value = [document, document] if form == "array" else document
        text = json.dumps(value, indent=None if form == "lines" else 2).encode()
        text += b"\n" + text if form == "lines" else b""
        size = len(json.dumps(held, separators=(",", ":")))
        message = (
            f"expected at most {size - 1} bytes, found more; --limit envelope=NUMBER allows more"
        )
        problem = Problem(
            "fatal",
            "envelope.size",
            "/extra/_storyline",
            message,
            expected=f"at most {size - 1} bytes",
            found="more",
        )
        places: dict[str, list[str | None]] = {
            "object": [None],
            "array": ["element 1", "element 2"],
            "lines": ["line 1", "line 2"],
        }

        def found(limit: int) -> list[Problem]:
            result = hub.validate(text, format="atif", limits=Limits(envelope=limit))
            return [one for one in result.problems if one.rule.startswith("envelope.")]

        assert [problem._replace(document=place) for place in places[form]] == found(size - 1)
        assert [] == found(size)

    def test_problems(self) -> None:
        """Problems count; those beyond the limit are counted in one that is as grave as the gravest of them."""
        turns = [{"id": number, "src": "user", "msg": "m", "time": "x"} for number in (1, 2, 3)]
        story = {
            "schema_version": "storyline/v1",
            "session": "s",
            "agent": {"id": "a"},
            "turns": turns,
        }
        lines = b"\n".join([json.dumps(story).encode(), b"{", b"{", b"{}"])
        told: list[Problem] = []
        everything = hub.validate(lines, format="storyline", report=told.append)
        some = hub.validate(lines, format="storyline", limits=Limits(problems=2))
        rest = [one.severity for one in told[2:]]
        counts = ", ".join(
            f"{rest.count(one)} {one}" for one in ("fatal", "error", "warning") if one in rest
        )
        more = Problem(
            "fatal",
            "input.problems",
            "",
            f"{len(rest)} more problems ({counts}) are not listed; --limit problems=NUMBER lists more",
            expected="as many problems as the limit allows",
        )

        assert ["line 1", "line 2", "line 3", "line 4"] == list(
            dict.fromkeys(one.document for one in told)
        )
        assert told == everything.problems
        assert [*told[:2], more] == some.problems
        assert (4 - 2, 2) == (everything.documents, some.documents)
        assert not some.is_valid

    def test_problems_of_a_conversion(self, tmp_path: Path) -> None:
        """A conversion keeps so many problems as well, tells of all, and counts all records that it leaves out."""
        story = {
            "schema_version": "storyline/v1",
            "session": "s",
            "agent": {"id": "a"},
            "turns": [],
        }
        lines = b"\n".join([json.dumps(story).encode(), *[b"{"] * 50])
        told: list[Problem] = []
        result = hub.convert(
            lines,
            tmp_path / "out.json",
            to="storyline",
            format="storyline",
            on_error="skip",
            limits=Limits(problems=3),
            report=told.append,
        )

        assert (50, 4, 50) == (len(told), len(result.problems), result.skipped)
        assert "47 more problems (47 fatal)" in result.problems[-1].message

    def test_detect(self, tmp_path: Path) -> None:
        """Bytes that are looked at to find the format count."""
        pytest.importorskip("hub_atif")
        text = b'{"steps":["' + b"x" * 300_000 + b'"],"schema_version":"ATIF-v1.7","agent":{}}'
        path = tmp_path / "run.json.gz"
        path.write_bytes(gzip.compress(text))

        assert "atif" == hub.detect(path).format
        with pytest.raises(InvalidDocument, match=r"\(--limit detect=NUMBER\)"):
            hub.detect(path, limits=Limits(detect=100_000))
        with pytest.raises(InvalidDocument, match=r"\(--limit detect=NUMBER\)"):
            list(hub.read(path, limits=Limits(detect=100_000)))

    def test_files_of_a_directory(self, tmp_path: Path) -> None:
        """Each file of a directory has the limits of its source."""
        (tmp_path / "1.json").write_bytes(b"[{},{}]")
        source = Source.open(tmp_path, limits=Limits(records=1))
        with pytest.raises(InvalidDocument, match="records=NUMBER"):
            [list(file.records()) for file in source.files()]

    def test_values(self) -> None:
        """Values in memory are not measured by their text, as they have none; their number is."""
        tiny = Limits(size=1, line=1, depth=1, envelope=1)
        assert [{"a": [[]]}] == [one.value for one in Source.of({"a": [[]]}, limits=tiny).records()]
        with pytest.raises(InvalidDocument, match="at most 1 records"):
            list(Source.of({}, {}, limits=Limits(records=1)).records())


class TestMemory:
    """What is read record by record leaves nothing behind, also where garbage is not collected, as in the program."""

    @pytest.fixture(autouse=True)
    def _no_collector(self) -> Iterator[None]:
        gc.collect()
        gc.disable()
        yield
        gc.enable()

    @pytest.mark.parametrize("line", [b'{"a": 1', b'{"a": NaN}', b"1e999", b'"\\ud800"', b"[1]"])
    def test_of_a_line(self, line: bytes) -> None:
        """Nothing that the hub makes of a line, broken, exact or none of an object, refers to itself."""
        list(
            Source(line + b"\n" + line, on_error="skip").records()
        )  # what is imported for it stays
        source = Source((line + b"\n") * 900, on_error="skip", limits=Limits(problems=1))
        before = len(gc.get_objects())
        for _ in source.records():
            pass
        assert len(gc.get_objects()) < before + 200

    def test_of_a_plugin(self) -> None:
        """What a plugin makes of a line, and refers to itself, goes after a while."""
        source = Source(b"{}\n" * 50_000)

        class Knot:
            alive = 0

            def __init__(self) -> None:
                Knot.alive += 1
                self.knot = self

            def __del__(self) -> None:
                Knot.alive -= 1

        most = 0
        for _ in source.records():
            Knot()
            most = max(most, Knot.alive)
        assert most <= 1000

    def test_problems_are_shown_as_found(self, tmp_path: Path) -> None:
        """`hub validate` shows problems before it has seen the end of the input."""
        path = tmp_path / "broken.jsonl"
        path.write_bytes(b'{"a": 1\n' * 500_000)
        command = [sys.executable, "-m", "hub", "validate", str(path), "--from", "storyline"]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as program:  # noqa: S603  # the hub itself
            assert program.stdout is not None
            first = program.stdout.readline().decode()
            is_running = program.poll() is None
            program.kill()
        assert first.startswith(f"{path}: line 1 /a: fatal: not JSON: ")
        assert is_running


class TestChosen:
    """Limits are chosen by name, with units."""

    def test_units(self) -> None:
        """A unit counts by 1000, one with an i by 1024."""
        texts = {"size": "10MB", "line": "2GiB", "records": "4k", "envelope": "1 KiB", "depth": "7"}
        expected = DEFAULTS._replace(
            size=10_000_000, line=2_147_483_648, records=4000, envelope=1024, depth=7
        )
        assert expected == Limits.of(texts)
        assert DEFAULTS == Limits.of({})
        assert 12 == Limits.of({"problems": 12}).problems

    @pytest.mark.parametrize(
        ("chosen", "message"),
        [
            (
                {"lines": "1"},
                "no limit 'lines'; there are size, line, records, members, depth, envelope, problems, detect",
            ),
            ({"size": "1.5GB"}, "limit size: '1.5GB' is no number, such as 1000, 10MB or 2GiB"),
            ({"size": "-1"}, "limit size: '-1' is no number, such as 1000, 10MB or 2GiB"),
            ({"line": "٣"}, "limit line: '٣' is no number, such as 1000, 10MB or 2GiB"),
            ({"line": "0"}, f"limit line: expected a number from 1 to {1 << 62}, found 0"),
            ({"depth": "513"}, "limit depth: expected a number from 1 to 512, found 513"),
            (
                {"size": "999999999999T"},
                f"limit size: expected a number from 1 to {1 << 62}, found 999999999999000000000000",
            ),
        ],
    )
    def test_misuse(self, chosen: dict[str, str], message: str) -> None:
        """What is no limit, or cannot be one, is misuse."""
        with pytest.raises(UsageError) as error:
            Limits.of(chosen)
        assert message == str(error.value)

    @pytest.mark.parametrize("limits", [Limits(size=0), Limits(depth=1000), Limits(line=True)])
    def test_checked(self, limits: Limits) -> None:
        """A source refuses limits that cannot be."""
        with pytest.raises(UsageError, match="expected a number from 1 to"):
            Source(b"{}", limits=limits)


class TestCommandLine:
    """`--limit` and `HUB_LIMITS` are for every command that reads."""

    @pytest.mark.parametrize(
        "words",
        [
            ("detect", "IN"),
            ("validate", "IN"),
            ("validate", "IN", "--jobs", "1"),
            ("convert", "IN", "--to", "storyline"),
            ("convert", "IN", "--to", "storyline", "--report", "-"),
            ("convert", "IN", "IN", "--to", "storyline", "-o", "OUT"),
            ("stats", "IN"),
            ("diff", "IN", "IN"),
        ],
        ids=lambda words: "-".join(words).replace("IN", "i"),
    )
    @pytest.mark.parametrize("by", ["option", "variable"])
    def test_each_command(self, tmp_path: Path, words: tuple[str, ...], by: str) -> None:
        """Every command that reads takes limits, by option and by variable."""
        path = tmp_path / "in.json"
        path.write_bytes(b'{"steps":["' + b"x" * 300_000 + b'"],"schema_version":"ATIF-v1.7"}')
        named = {"IN": str(path), "OUT": str(tmp_path / "out")}
        chosen = ["size=1k", "detect=1k"]
        ran = subprocess.run(  # noqa: S603  # the hub itself
            [
                *(sys.executable, "-m", "hub"),
                *(named.get(word, word) for word in words),
                *(["--limit", chosen[0], "--limit", chosen[1]] if by == "option" else []),
            ],
            env={**os.environ, **({"HUB_LIMITS": " ".join(chosen)} if by == "variable" else {})},
            capture_output=True,
            text=True,
            check=False,
        )
        assert 1 == ran.returncode
        assert "1000 bytes" in ran.stderr
        assert "--limit detect=NUMBER" in ran.stderr

    def test_misuse(self, tmp_path: Path) -> None:
        """A limit that is none is misuse, told without a trace."""
        for words, message in (
            (("--limit", "size"), "hub: --limit takes NAME=NUMBER, not 'size'\n"),
            (
                ("--limit", "depth=9999"),
                "hub: limit depth: expected a number from 1 to 512, found 9999\n",
            ),
        ):
            ran = subprocess.run(  # noqa: S603  # the hub itself
                [sys.executable, "-m", "hub", "validate", str(tmp_path), *words],
                capture_output=True,
                text=True,
                check=False,
            )
            assert (2, "", message) == (ran.returncode, ran.stdout, ran.stderr)
