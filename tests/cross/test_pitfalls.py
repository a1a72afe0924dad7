"""Fifteen inputs that break converters, for every format that is installed.

What a source says is kept, with the spelling of its numbers; nothing is invented; nothing fails in silence. Driven by
what is installed: a format that is added is tested without a line here.
"""

from __future__ import annotations

import base64
import bz2
import gzip
import json
import lzma
import os
from collections.abc import Callable
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import pytest

import hub
from hub import InvalidDocument, Storyline, UsageError
from hub.codec import from_wire
from hub.json import loads
from hub.residuals import equal
from hub.testing import to_wire

zstandard = pytest.importorskip("zstandard", reason="in the standard library from 3.14 on")

Json = Any

OWN = "storyline"
FORMATS = [OWN, *sorted(one.id for one in hub.formats.values() if one.can_write and one.id != OWN)]
RELAYS = [one for one in FORMATS if hub.formats[one].info.envelope]

each_format = pytest.mark.parametrize("format", FORMATS)
each_pair = pytest.mark.parametrize(
    ("format", "other"),
    [pair for pair in permutations(FORMATS, 2) if pair[1] in RELAYS],
    ids="-".join,
)

CALL = {"tcid": "call_0", "fn": "f", "args": {"a": 1}}
TURN: dict[str, Json] = {
    "id": 1,
    "src": "agent",
    "msg": "hello",
    "extra": {"x": 1},
    "tool_calls": [CALL],
    "observation": {"results": [{"source_call_id": "call_0", "content": "done"}]},
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def story(**members: Json) -> Storyline:
    """Return a Storyline with one turn that has these *members*."""
    return from_wire(
        {
            "schema_version": "storyline/v1",
            "session": "s",
            "agent": {"id": "a", "name": "a"},
            "turns": [{"id": 0, "src": "user", "msg": "go"}, {**TURN, **members}],
        }
    )


def written(format: str, *storylines: Storyline, name: str = "in.json") -> bytes:
    """Write *storylines* to the file *name* in *format*, and return its bytes."""
    hub.write(storylines or [story()], name, to=format, force=True)
    return Path(name).read_bytes()


def with_member(format: str, value: str, file: bytes | None = None) -> bytes:
    """Return a file of *format* in which a member `pitfall`, which no format knows, has the JSON text *value*."""
    member = f'{{"pitfall": {value}, '.encode("utf-8", "surrogatepass")
    text = written(format) if file is None else file
    # A Storyline is closed; what nobody knows is in the extra of a turn.
    head, brace, rest = text.partition(b'"extra": {' if format == OWN else b"{")
    return head + brace[:-1] + member + rest


def converted(file: bytes, *formats: str) -> bytes:
    """Return what *file*, of the first of *formats*, is after it went through the others."""
    for number, (source, target) in enumerate(pairwise(formats)):
        hub.convert(file, f"out-{number}.json", to=target, format=source, force=True)
        file = Path(f"out-{number}.json").read_bytes()
    return file


def rules(file: bytes, format: str) -> list[tuple[str, str]]:
    """Return severity and rule of what is wrong with the text of *file*."""
    found = hub.validate(file, format=format).problems
    return [(one.severity, one.rule) for one in found if one.rule.startswith("input.")]


class TestNumbers:
    NUMBERS = (
        '[18446744073709551616, -9223372036854775809, 1e400, -0.0, 1.0, 1, 0.1, {"x": 1E+400}]'
    )

    @each_format
    def test_itself(self, format: str) -> None:
        """1, 2. Integers beyond 64 bits and numbers that no double holds come back as they were spelled."""
        back = converted(with_member(format, self.NUMBERS), format, format)

        for spelled in (b"18446744073709551616", b"-9223372036854775809", b"1e400", b"1E+400"):
            assert 1 == back.count(spelled)
        assert b"Infinity" not in back

    @each_pair
    def test_through_another(self, format: str, other: str) -> None:
        """They do through every other format that has a place for them."""
        file = with_member(format, self.NUMBERS)

        assert equal(
            loads(converted(file, format, format)), loads(converted(file, format, other, format))
        )

    @each_format
    @pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
    def test_no_number(self, format: str, constant: str) -> None:
        """`NaN` and the like are not JSON: an error with its place, and nothing is written."""
        file = with_member(format, f'{{"x": {constant}}}')
        [problem] = hub.validate(file, format=format).problems

        assert ("fatal", "input.json") == (problem.severity, problem.rule)
        assert problem.pointer.endswith("/pitfall/x")
        assert "line " in problem.message
        with pytest.raises(InvalidDocument, match=r"input\.json"):
            hub.convert(file, "out.json", to=format, format=format)
        assert not Path("out.json").exists()


class TestKeys:
    @each_format
    def test_twice(self, format: str) -> None:
        """3. A key that an object has twice is an error with the place; conversion takes the last value."""
        file = with_member(format, '{"k": "first", "k": "second"}')

        [found] = [
            one
            for one in hub.validate(file, format=format).problems
            if one.rule == "input.duplicate-key"
        ]
        assert "error" == found.severity
        assert found.pointer.endswith("/pitfall")
        assert 'key "k" 2 times' in found.message
        back = converted(file, format, format)
        assert b'"second"' in back
        assert b'"first"' not in back
        with pytest.raises(InvalidDocument, match="duplicate-key"):
            hub.convert(file, "strict.json", to=format, format=format, strict=True)


class TestText:
    @each_format
    def test_lone_surrogates(self, format: str) -> None:
        """4. A lone surrogate comes back as the escape that it was, and the output is UTF-8."""
        back = converted(with_member(format, r'"bytes \udc88 and \ud800"'), format, format)

        assert rb'"bytes \udc88 and \ud800"' in back
        assert back.decode()

    @each_pair
    def test_lone_surrogates_in_a_message(self, format: str, other: str) -> None:
        """One in a message, or in an argument, comes through every format."""
        one = story(msg="\udc88", tool_calls=[{**CALL, "args": {"\ud800": "\udfff"}}])

        file = converted(written(format, one), format, other, format)

        assert equal(loads(written(format, one)), loads(file))

    @each_format
    @pytest.mark.parametrize(
        ("encoding", "mark"),
        [
            ("utf-8", b"\xef\xbb\xbf"),
            ("utf-16-le", b"\xff\xfe"),
            ("utf-16-be", b"\xfe\xff"),
            ("utf-32-le", b"\xff\xfe\0\0"),
            ("utf-32-be", b"\0\0\xfe\xff"),
        ],
    )
    def test_byte_order_marks(self, format: str, encoding: str, mark: bytes) -> None:
        """5. A byte-order mark is seen through, also by detection, and not written; another encoding is told."""
        plain = written(format, story(msg="héllo"))
        file = mark + plain.decode().encode(encoding)

        assert format == hub.detect(file).format
        assert ([] if encoding == "utf-8" else [("info", "input.utf16")]) == rules(file, format)
        assert converted(plain, format, format) == converted(file, format, format)

    @each_format
    @pytest.mark.parametrize("levels", [600, 3000, 100_000])
    def test_depth(self, format: str, levels: int) -> None:
        """6. What is nested too deep is an error that says so, with its place."""
        file = with_member(format, '{"k":' * levels + "1" + "}" * levels)

        assert [("fatal", "input.depth")] == rules(file, format)
        [problem] = hub.validate(file, format=format).problems
        assert "more than 512 levels of arrays and objects at line " in problem.message
        assert "/pitfall/k/k" in problem.pointer
        with pytest.raises(InvalidDocument, match=r"input\.depth"):
            hub.detect(file)


ARGUMENTS = [{"a": 1}, '{"a": 1}', '{"a":  1 }', '{"a": 1', "[1]", [1], "", "null", None, 5, {}]


class TestCalls:
    @each_format
    @pytest.mark.parametrize("arguments", ARGUMENTS, ids=repr)
    def test_arguments(self, format: str, arguments: Json) -> None:
        """7. An object, a JSON text, one that is broken and what is no object stay what they are."""
        one = story(tool_calls=[{**CALL, "args": arguments}])
        file = written(format, one)

        assert equal(loads(file), loads(converted(file, format, format)))
        if format in (OWN, *RELAYS):
            [back] = hub.read(file, format=format)
            assert equal([{**CALL, "args": arguments}], to_wire(back)["turns"][1]["tool_calls"])

    @pytest.mark.parametrize("format", [OWN, *RELAYS])
    @pytest.mark.parametrize(
        "message", ["", "None", "null", [], [{"type": "text", "text": ""}], {}]
    )
    def test_empty_message(self, format: str, message: Json) -> None:
        """8. An empty message is none that is missing, and no text; its calls stay."""
        [back] = hub.read(written(format, story(msg=message)), format=format)

        assert equal(message, to_wire(back)["turns"][1]["msg"])
        assert equal([CALL], to_wire(back)["turns"][1]["tool_calls"])

    @pytest.mark.parametrize("format", [OWN, *RELAYS])
    def test_ids(self, format: str) -> None:
        """9. Ids of calls stay as they are, and each result stays with its call."""
        calls = [
            {**CALL, "tcid": id_, "fn": id_}
            for id_ in ("call_0", "call_1", "step-1-tool-1", "é/~", "0")
        ]
        results = [
            {"source_call_id": call["tcid"], "content": call["fn"]} for call in reversed(calls)
        ]
        one = story(tool_calls=calls, observation={"results": results})

        [back] = hub.read(written(format, one), format=format)

        assert equal(calls, to_wire(back)["turns"][1]["tool_calls"])
        assert equal({"results": results}, to_wire(back)["turns"][1]["observation"])

    @each_format
    def test_same_bytes(self, format: str) -> None:
        """What has to be made up for a target comes from its position: the same input gives the same bytes."""
        calls = [{"tcid": f"step-1-tool-{number}", "fn": "f", "args": {}} for number in range(3)]

        assert written(format, story(tool_calls=calls)) == written(format, story(tool_calls=calls))

    @pytest.mark.parametrize("format", [OWN, *RELAYS])
    def test_result_without_a_call(self, format: str) -> None:
        """10. A result whose call is not there is kept, and so is one that names none."""
        observation = {
            "results": [{"source_call_id": "gone", "content": "late"}, {"content": "nobody's"}]
        }

        [back] = hub.read(written(format, story(observation=observation)), format=format)

        assert equal(observation, to_wire(back)["turns"][1]["observation"])


class TestTimes:
    @pytest.mark.parametrize("format", [OWN, *RELAYS])
    @pytest.mark.parametrize(
        "time",
        [
            "2026-01-01T10:00:00Z",
            "2026-01-01T18:00:00+08:00",
            "2026-01-01T10:00:00.123456789Z",
            "2026-01-01T10:00:00.100+00:00",
            1767261600,
            1767261600.5,
        ],
    )
    def test_kept(self, format: str, time: Json) -> None:
        """11. A time keeps its spelling; a number stays a number; a time that is missing stays so."""
        [back] = hub.read(written(format, story(ts=time)), format=format)

        turns = to_wire(back)["turns"]
        assert equal([None, time], [turn.get("ts") for turn in turns])

    def test_no_unit_is_guessed(self) -> None:
        """Milliseconds are not read as seconds, which would be the year 57970: they are refused."""
        with pytest.raises(InvalidDocument, match=r"/turns/1/ts: fatal: .*storyline\.time"):
            story(ts=1767261600000)


class TestLines:
    @pytest.fixture
    def lines(self, format: str) -> list[bytes]:
        """Three documents of *format*, a line each."""
        return [
            json.dumps(
                json.loads(written(format, from_wire({**to_wire(story()), "session": name})))
            ).encode()
            for name in "abc"
        ]

    @each_format
    def test_cut(self, format: str, lines: list[bytes]) -> None:
        """12. A last line that is cut stops everything, with its place; or it is left out, and that is told."""
        file = b"\n".join([*lines[:2], lines[2][: len(lines[2]) // 2]])

        with pytest.raises(InvalidDocument, match=r"line 3.*input\.line-cut"):
            hub.convert(file, "out.jsonl", to=OWN, format=format)
        assert not Path("out.jsonl").exists()
        result = hub.convert(file, "out.jsonl", to=OWN, format=format, on_error="skip")
        assert (2, 1) == (result.storylines, result.skipped)
        assert [("line 3", "input.line-cut")] == [
            (one.document, one.rule) for one in result.problems if one.severity == "fatal"
        ]

    @each_format
    def test_broken(self, format: str, lines: list[bytes]) -> None:
        """A line that is broken in the middle is told apart from one that is cut."""
        file = b"\n".join([lines[0], lines[1][:-5], lines[2], b""])

        result = hub.convert(file, "out.jsonl", to=OWN, format=format, on_error="skip")

        assert (2, 1) == (result.storylines, result.skipped)
        assert [("line 2", "input.line")] == [
            (one.document, one.rule) for one in result.problems if one.severity == "fatal"
        ]


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstandard.compress,
}


class TestCompression:
    @each_format
    @pytest.mark.parametrize("packer", PACKERS)
    @pytest.mark.parametrize(
        "name", ["run.json", "run.jsonl", "run.json.gz", "run.json.zst", "run"]
    )
    def test_suffix(self, format: str, packer: str, name: str) -> None:
        """13. The first bytes say how a file is packed, whatever its name is."""
        plain = written(format)
        Path(name).write_bytes(PACKERS[packer](plain))

        assert format == hub.detect(name).format
        hub.convert(name, "packed.json", to=format)
        Path(name).write_bytes(plain)
        hub.convert(name, "plain.json", to=format)
        assert Path("plain.json").read_bytes() == Path("packed.json").read_bytes()

    @each_format
    @pytest.mark.parametrize("packer", PACKERS)
    def test_damaged(self, format: str, packer: str) -> None:
        """Data that is cut is an error with the number of bytes, and what gets too large when unpacked as well."""
        packed = PACKERS[packer](written(format))

        with pytest.raises(
            InvalidDocument, match=rf"{packer} data is cut: {len(packed) - 3} bytes read"
        ):
            list(hub.read(packed[:-3], format=format))
        bomb = PACKERS[packer](with_member(format, '"' + "x" * 3_000_000 + '"'))
        assert len(bomb) < 50_000
        with pytest.raises(InvalidDocument, match=r"at most 1000000 bytes.*input\.size"):
            list(hub.read(bomb, format=format, limits=hub.Limits(size=1_000_000)))


SECRET = b"\x89PNG\r\n\x1a\nnobody's business"


class TestPaths:
    @each_format
    @pytest.mark.parametrize("target", FORMATS)
    def test_not_opened(self, here: Path, format: str, target: str) -> None:
        """14. No file is read because a document names it, and none is written outside of the output."""
        (here / "in").mkdir()
        (here / "secret.png").write_bytes(SECRET)
        (here / "in/link.png").symlink_to(here / "secret.png")
        data = base64.b64encode(SECRET[:8]).decode()
        paths = [
            "../secret.png",
            f"{here}/secret.png",
            f"file://{here}/secret.png",
            "link.png",
            "C:\\secret.png",
        ]
        paths += ["a\0b", "CON", "..", "../out.png", "//host/share", "http://localhost:1/x.png"]
        parts: list[Json] = [
            {"type": "image", "source": {"media_type": "image/png", "path": path}} for path in paths
        ]
        parts += [
            {"type": "image", "source": {"media_type": media_type, "path": path, "data": data}}
            for path in paths
            for media_type in ("image/png", "image/../../x", "\0")
        ]
        parts += [{"type": "image_url", "image_url": {"url": path}} for path in paths]
        name = "in/run.json"
        written(format, story(msg=parts), name=name)
        settings = [False, True] if hub.formats[target].can_attach else [False]
        before = {str(path) for path in here.rglob("*")}

        for extract in settings:
            out = f"out-{extract}"
            hub.convert(name, f"{out}/", to=target, format=format, extract_images=extract)
            made = {str(path) for path in here.rglob("*")} - before
            assert all(path.startswith(str(here / "out-")) for path in made)
            for path in map(Path, made):
                if path.is_file():
                    assert b"nobody's" not in path.read_bytes()
                    assert base64.b64encode(SECRET)[12:24] not in path.read_bytes()


class TestOutput:
    @each_format
    def test_is_input(self, here: Path, format: str) -> None:
        """15. The input is not written over, whatever it is called; what is there is replaced only with force."""
        before = written(format, name="run.json")
        os.link("run.json", "hard.json")
        (here / "link.json").symlink_to("run.json")

        for name in ("run.json", "./run.json", "hard.json", "link.json"):
            with pytest.raises(UsageError, match="the output is the input"):
                hub.convert("run.json", name, to=OWN, format=format, force=True)
        (here / "there.json").write_bytes(b"old")
        with pytest.raises(UsageError, match="exists; --force replaces it"):
            hub.convert("run.json", "there.json", to=OWN, format=format)
        assert (before, b"old") == (Path("run.json").read_bytes(), Path("there.json").read_bytes())

    @each_format
    def test_failure(self, here: Path, format: str) -> None:
        """When the input falls short the old output stays, and nothing temporary."""
        file = with_member(format, "NaN")
        (here / "in.json").unlink()
        (here / "out.json").write_bytes(b"old")

        with pytest.raises(InvalidDocument):
            hub.convert(file, "out.json", to=OWN, format=format, force=True)
        assert ["out.json"] == [path.name for path in here.iterdir()]
        assert b"old" == (here / "out.json").read_bytes()
