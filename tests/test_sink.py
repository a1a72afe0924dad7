"""Sinks: containers, atomic files, directories, attachments, standard output."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import signal
import stat
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub import staging
from hub.errors import HubError, InvalidDocument, Json, UsageError
from hub.json import loads
from hub.sink import Sink, numbered, safe_name
from hub.source import Source
from hub.testing.strategies import json_objects

zstandard = pytest.importorskip("zstandard", reason="in the standard library from 3.14 on")


def write(target: str | Path, *documents: Json | bytes, **settings: Any) -> Sink:
    with Sink.open(target, **settings) as sink:
        for document in documents:
            sink.write(document)
    return sink


def write_named(target: str, *names: str, **settings: Any) -> Sink:
    with Sink.open(target, **settings) as sink:
        for name in names:
            sink.write({}, name=name)
    return sink


def below(folder: Path) -> dict[str, bytes]:
    """Return the files below *folder*, by relative path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def nested(levels: int, innermost: Json) -> Json:
    """Return *innermost* inside *levels* objects."""
    for _ in range(levels):
        innermost = {"a": innermost}
    return innermost


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


class TestContainers:
    @pytest.mark.parametrize(
        ("container", "documents", "text"),
        [
            (None, [{"a": [1]}], b'{\n  "a": [\n    1\n  ]\n}\n'),
            (None, [{"a": 1}, {}], b'[\n  {\n    "a": 1\n  },\n  {}\n]\n'),
            (None, [{}, {}, {"a": "x\ny"}], b'[\n  {},\n  {},\n  {\n    "a": "x\\ny"\n  }\n]\n'),
            (None, [], b"[]\n"),
            ("object", [{"a": 1}], b'{\n  "a": 1\n}\n'),
            ("array", [], b"[]\n"),
            ("array", [{"a": 1}], b'[\n  {\n    "a": 1\n  }\n]\n'),
            ("lines", [], b""),
            ("lines", [{"a": [1]}, {}], b'{"a":[1]}\n{}\n'),
            (None, [b"raw"], b"raw"),
            ("object", [b"raw\n\n"], b"raw\n\n"),
            ("lines", [b"raw", {"a": 1}], b'raw\n{"a":1}\n'),
        ],
    )
    def test_text(self, here: Path, container: Any, documents: list[Json], text: bytes) -> None:
        """An object and an array are indented by two, lines are compact, and all end with a line end."""
        sink = write("x.json", *documents, container=container)

        assert {"x.json": text} == below(here)
        assert ["x.json"] == sink.outputs

    @pytest.mark.parametrize("innermost", [{}, [], {"a": 1}, [[]]])
    @pytest.mark.parametrize(
        ("container", "levels"), [("object", 512), ("lines", 512), ("array", 511), (None, 511)]
    )
    def test_deep(self, here: Path, container: Any, levels: int, innermost: Json) -> None:
        """What no reader would take is not written: an array around documents is a level of its own."""
        first: list[Json] = [] if container == "object" else [{}]
        inside = 2 if innermost == [[]] else 1

        write("x.json", *first, nested(levels - inside, innermost), container=container)
        assert 1 <= len(list(Source.open("x.json").records()))

        with pytest.raises(InvalidDocument) as caught:
            write("y.json", *first, nested(levels - inside + 1, innermost), container=container)
        assert (
            "fatal: the output would have more than 512 levels of arrays and objects [input.depth]"
        ) == str(caught.value)
        assert ["x.json"] == list(below(here))

    @pytest.mark.parametrize("name", ["x.jsonl", "x.ndjson", "x.actf.jsonl"])
    def test_lines_by_name(self, here: Path, name: str) -> None:
        """A name can ask for lines."""
        write(name, {"a": 1})

        assert {name: b'{"a":1}\n'} == below(here)

    @pytest.mark.parametrize(
        ("container", "documents", "message"),
        [
            ("object", [{}, {}], "more than one document; array, lines and dir hold several"),
            ("object", [], "no document; an object holds one"),
            (
                "array",
                [b"x"],
                "documents that are no JSON do not fit into an array; dir holds them",
            ),
            (
                None,
                [{}, b"x"],
                "documents that are no JSON do not fit into an array; dir holds them",
            ),
            (None, [b"x", {}], "more than one document; array, lines and dir hold several"),
        ],
    )
    def test_does_not_fit(
        self, here: Path, container: Any, documents: list[Json], message: str
    ) -> None:
        """Documents that the container does not hold are refused, and nothing is written."""
        with pytest.raises(UsageError, match=f"^{message}$"):
            write("x.json", *documents, container=container)
        assert {} == below(here)

    def test_records_in_lines(self, here: Path) -> None:
        """In lines, a document that is an array is made of records, a line each."""
        write("out.jsonl", [{"a": 1}, {"a": 2}], {"a": 3})
        assert b'{"a":1}\n{"a":2}\n{"a":3}\n' == (here / "out.jsonl").read_bytes()

    @pytest.mark.parametrize(
        ("target", "asked", "preferred", "expected"),
        [
            ("out.json", None, "lines", "lines"),
            ("out.json", "array", "lines", "array"),
            ("out.jsonl", None, "array", "lines"),
            ("out.json", None, None, None),
            ("out/", None, "lines", "dir"),
            ("-", None, "lines", "lines"),
        ],
    )
    def test_preferred(
        self, here: Path, target: str, asked: Any, preferred: Any, expected: Any
    ) -> None:
        """A container that is preferred is taken where none is asked for."""
        del here
        sink = Sink.open(target, container=asked)
        sink.prefer(preferred)
        assert expected == sink.container

    def test_preferred_too_late(self, here: Path) -> None:
        """Once a document is written its container is settled."""
        with Sink.open("out.json") as sink:
            sink.write({"a": 1})
            sink.prefer("lines")
        assert b'{\n  "a": 1\n}\n' == (here / "out.json").read_bytes()

    @given(st.lists(json_objects(8), min_size=1, max_size=4))
    def test_read_back(self, documents: list[Json]) -> None:
        """What is written is read back, in every container."""
        output = io.BytesIO()
        for container in (None, "array", "lines"):
            output = io.BytesIO()
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("sys.stdout", io.TextIOWrapper(output))
                write("-", *documents, container=container)
                text = output.getvalue()
            assert documents == [record.value for record in Source(text).records()]

    def test_constant_memory(self, here: Path) -> None:
        """Lines are written as they come."""
        tracemalloc.start()
        try:
            with Sink.open("x.jsonl") as sink:
                for number in range(2000):
                    sink.write({"n": number, "text": "x" * 10_000})
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

        assert 20_000_000 < (here / "x.jsonl").stat().st_size
        assert peak < 1_000_000


class TestCompression:
    @pytest.mark.parametrize(
        ("suffix", "unpack"),
        [
            (".gz", gzip.decompress),
            (".bz2", bz2.decompress),
            (".xz", lzma.decompress),
            (".zst", lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data)),
        ],
    )
    def test_suffix(self, here: Path, suffix: str, unpack: Callable[[bytes], bytes]) -> None:
        """The suffix says how the file is compressed, what is before it which container it is."""
        write(f"x.jsonl{suffix}", {"a": 1}, {"b": 2})
        write(f"y.json{suffix}", {"a": 1})
        write("d", {"a": 1}, container="dir")
        with Sink.open("d2", container="dir") as sink:
            sink.write({"a": 1}, name=f"z.json{suffix}")

        assert b'{"a":1}\n{"b":2}\n' == unpack((here / f"x.jsonl{suffix}").read_bytes())
        assert b'{\n  "a": 1\n}\n' == unpack((here / f"y.json{suffix}").read_bytes())
        assert b'{\n  "a": 1\n}\n' == unpack((here / f"d2/z.json{suffix}").read_bytes())

    def test_same_bytes(self, here: Path) -> None:
        """The same documents give the same bytes, whenever they are written."""
        write("x.json.gz", {"a": 1})
        os.utime("x.json.gz", (0, 0))
        write("y.json.gz", {"a": 1})

        assert (here / "x.json.gz").read_bytes() == (here / "y.json.gz").read_bytes()

    def test_missing_extra(self, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without zstd the extra to install is named, and nothing is left behind."""

        def missing(name: str) -> None:
            raise ImportError(name)

        monkeypatch.setattr("importlib.import_module", missing)

        with pytest.raises(HubError, match=r"pip install 'storyline-hub\[zstd\]'"):
            write("x.json.zst", {})
        assert {} == below(here)


class TestFile:
    def test_permissions(self, here: Path) -> None:
        """A file has the permissions of any new file."""
        old = os.umask(0o027)
        try:
            write("x.json", {})
        finally:
            os.umask(old)

        assert 0o640 == stat.S_IMODE((here / "x.json").stat().st_mode)

    def test_exists(self, here: Path) -> None:
        """A file that is there is replaced only with force."""
        (here / "x.json").write_bytes(b"old")

        with pytest.raises(UsageError, match=r"^x\.json: exists; --force replaces it$"):
            Sink.open("x.json")
        assert {"x.json": b"old"} == below(here)
        write("x.json", {}, force=True)
        assert {"x.json": b"{}\n"} == below(here)

    def test_comes_to_exist(self, here: Path) -> None:
        """A file that comes to be there while another one is written is not replaced."""
        sink = Sink.open("x.json")
        (here / "x.json").write_bytes(b"other")

        with pytest.raises(UsageError, match=r"^x\.json: exists"), sink:
            sink.write({})

        assert {"x.json": b"other"} == below(here)

    def test_comes_to_exist_last(self, here: Path) -> None:
        """It is not replaced either when it comes between the last look and the renaming."""
        (here / "t").write_bytes(b"new")
        (here / "x.json").write_bytes(b"other")

        with pytest.raises(UsageError, match=r"^x\.json: exists"):
            staging._rename_new("t", "x.json")  # noqa: SLF001
        assert b"other" == (here / "x.json").read_bytes()

    def test_no_hard_links(self, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A file system without hard links will do."""

        def refuse(*_: object, **__: object) -> None:
            raise OSError(95, "Operation not supported")

        monkeypatch.setattr("os.link", refuse)

        write("x.json", {})

        assert {"x.json": b"{}\n"} == below(here)

    def test_invisible_until_complete(self, here: Path) -> None:
        """Before the end the old file is there, and the new one beside it under another name."""
        (here / "x.json").write_bytes(b"old")

        with Sink.open("x.json", force=True, container="lines") as sink:
            sink.write({"a": 1})
            [temporary] = set(below(here)) - {"x.json"}
            assert b"old" == (here / "x.json").read_bytes()
            assert temporary.startswith(".storyline-hub.")
        assert {"x.json": b'{"a":1}\n'} == below(here)

    @pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, InvalidDocument])
    def test_failure(self, here: Path, error: type[BaseException]) -> None:
        """After a failure the old file is there, and nothing else."""
        (here / "x.json").write_bytes(b"old")

        def attachments() -> Iterator[tuple[str, bytes]]:
            yield "image.png", b"P"
            raise error([]) if error is InvalidDocument else error

        with pytest.raises(error), Sink.open("x.json", force=True) as sink:
            sink.write({"a": 1}, attachments=attachments())
        assert {"x.json": b"old"} == below(here)

    def test_document_that_cannot_be_written(self, here: Path) -> None:
        """A document that is too deep is refused as `input.depth`, and nothing is written."""
        deep: Json = {}
        for _ in range(512):
            deep = {"k": deep}

        with pytest.raises(InvalidDocument, match=r"\[input\.depth\]"):
            write("x.json", {}, deep)
        assert {} == below(here)

    def test_full_disk(self, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A disk that is full is an error with the name of the file; nothing is left behind."""

        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)

        with pytest.raises(HubError, match=r"^x\.json: no space left on device$"):
            write("x.json", {})
        assert {} == below(here)

    def test_terminated(self, here: Path) -> None:
        """A program that is told to stop leaves nothing behind when it makes an exception of it."""
        program = (
            "import signal, sys, time; from hub.sink import Sink\n"
            "signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))\n"
            "with Sink.open('x.jsonl') as sink:\n"
            "    sink.write({}); print('ready', flush=True); time.sleep(60)\n"
        )
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)  # noqa: S603  # our own
        assert process.stdout is not None
        assert b"ready\n" == process.stdout.readline()
        assert 1 == len(below(here))

        process.send_signal(signal.SIGTERM)

        assert 1 == process.wait()
        assert {} == below(here)
        process.stdout.close()

    def test_no_folder(self, here: Path) -> None:
        """A folder that is not there is not made for a file."""
        with pytest.raises(UsageError, match=r"^nothing: no such folder$"):
            Sink.open("nothing/x.json")
        assert [] == list(here.iterdir())

    def test_link(self, here: Path) -> None:
        """A symbolic link keeps pointing to the file, which is replaced."""
        (here / "x.json").write_bytes(b"old")
        (here / "link.json").symlink_to("x.json")

        write("link.json", {}, force=True)

        assert (here / "link.json").is_symlink()
        assert {"link.json": b"{}\n", "x.json": b"{}\n"} == below(here)

    def test_device(self) -> None:
        """What is no file is written to as it is."""
        write(os.devnull, {})

        assert not Path(os.devnull).is_file()

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
    def test_pipe(self, here: Path) -> None:
        """A pipe with a name is written to."""
        os.mkfifo(here / "pipe")
        with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE) as reader:  # noqa: S607
            write("pipe", {"a": 1}, container="lines")
            assert reader.stdout is not None
            assert b'{"a":1}\n' == reader.stdout.read()

    def test_with(self, here: Path) -> None:
        """A sink is written to inside its `with` only."""
        with pytest.raises(ValueError, match="inside its `with`"):
            Sink.open("x.json", container="lines").write({})
        assert {} == below(here)


class TestInputs:
    @pytest.mark.parametrize("as_source", [True, False])
    def test_output_is_input(self, here: Path, as_source: bool) -> None:  # noqa: FBT001
        """The input is not written over, under any of its names, with force or without."""
        (here / "x.json").write_bytes(b"{}")
        (here / "link.json").symlink_to("x.json")
        os.link("x.json", "hard.json")
        inputs = [Source.open("x.json") if as_source else Path("x.json")]

        for name in ("x.json", "link.json", "hard.json", str(here / "x.json")):
            for force in (False, True):
                with pytest.raises(UsageError, match=r"the output is the input x\.json"):
                    Sink.open(name, force=force, inputs=inputs)
        assert b"{}" == (here / "x.json").read_bytes()

    def test_exit_status(self, here: Path) -> None:
        """It is misuse."""
        (here / "x.json").write_bytes(b"{}")

        with pytest.raises(UsageError) as error:
            Sink.open("x.json", inputs=["x.json"])
        assert 2 == error.value.exit_status

    def test_other_inputs(self, here: Path) -> None:
        """Standard input, values in memory and files that are gone are in nobody's way."""
        write("x.json", {}, inputs=[Source.open("-"), Source.of({}), "gone.json"])

        assert {"x.json": b"{}\n"} == below(here)

    def test_file_of_an_input_folder(self, here: Path) -> None:
        """A file of a folder that is the input is not written over; a new one beside it is."""
        (here / "in").mkdir()
        (here / "in/a.json").write_bytes(b"{}")

        for target, container in (("in/a.json", None), ("in", "dir")):
            with (
                pytest.raises(UsageError, match="the output is the input in"),
                Sink.open(target, container=container, force=True, inputs=["in"]) as sink,  # type: ignore[arg-type]
            ):
                sink.write({"b": 1}, name="a.json")
        write("in/b.json", {}, inputs=["in"])
        assert {"in/a.json": b"{}", "in/b.json": b"{}\n"} == below(here)


class TestDirectory:
    def test_documents(self, here: Path) -> None:
        """Each document is a file of its own, indented, in folders that are made for it."""
        with Sink.open("out/deep", container="dir") as sink:
            assert sink.wants_names
            sink.write({"a": 1}, name="t/v0/e/trajectory.json")
            sink.write({}, name="b.json")
            sink.write(b"raw", name="c.bin")
            sink.write({})
            assert [] == [name for name in below(here) if name.startswith("out")]

        assert {
            "out/deep/t/v0/e/trajectory.json": b'{\n  "a": 1\n}\n',
            "out/deep/b.json": b"{}\n",
            "out/deep/c.bin": b"raw",
            "out/deep/document-4.json": b"{}\n",
        } == below(here)
        assert [
            "out/deep/t/v0/e/trajectory.json",
            "out/deep/b.json",
            "out/deep/c.bin",
            "out/deep/document-4.json",
        ] == sink.outputs
        assert ["out"] == [path.name for path in here.iterdir()]

    def test_chosen(self, here: Path) -> None:
        """A directory, or a name with a slash at its end, asks for a directory."""
        (here / "there").mkdir()

        for target in ("there", "new/"):
            with Sink.open(target) as sink:
                sink.write({}, name="x.json")
        assert {"there/x.json": b"{}\n", "new/x.json": b"{}\n"} == below(here)

    def test_clashes(self, here: Path) -> None:
        """A name that is taken is numbered: at its folder, or without one before its suffixes."""
        names = ["t/e/trajectory.json"] * 3 + [
            "s.actf.json",
            "S.actf.json",
            "s.actf.json",
            "v1.2",
        ] * 2

        with Sink.open("out", container="dir") as sink:
            for number, name in enumerate(names):
                sink.write(number, name=name)

        assert [
            "t/e/trajectory.json",
            "t/e-2/trajectory.json",
            "t/e-3/trajectory.json",
            "s.actf.json",
            "S-2.actf.json",
            "s-3.actf.json",
            "v1.2",
            "s-4.actf.json",
            "S-5.actf.json",
            "s-6.actf.json",
            "v1.2-2",
        ] == [Path(path).relative_to("out").as_posix() for path in sink.outputs]
        assert len(names) == len(below(here))

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("a", "a-2"),
            ("a.b.json", "a-2.b.json"),
            ("v1.2.json", "v1.2-2.json"),
            (".hidden", ".hidden-2"),
            ("a/b.c/x.json", "a/b.c-2/x.json"),
        ],
    )
    def test_numbered(self, name: str, expected: str) -> None:
        """The number is behind the name of the folder, or of the file before its suffixes."""
        assert expected == numbered(name, 2)

    @pytest.mark.parametrize(
        "name",
        [
            "",
            "/x",
            "../x",
            "a/../../x",
            "a/./x",
            "a//x",
            "a/",
            "C:x",
            "c:/x",
            "a\\x",
            "x\0",
            ".",
            "..",
        ],
    )
    def test_unsafe_names(self, here: Path, name: str) -> None:
        """A name that may lead out of the directory is refused, for documents and attachments."""
        with pytest.raises(HubError, match=r"^not a name for a file below the output: "):
            safe_name(name)
        for target in ("out/", "x.json"):
            with pytest.raises(HubError, match=r"^not a name"), Sink.open(target) as sink:
                sink.write({}, name="x.json", attachments=[(name, b"")])
        assert {} == below(here)

    def test_link_out(self, here: Path) -> None:
        """A link in the directory is not followed out of it."""
        (here / "out").mkdir()
        (here / "elsewhere").mkdir()
        (here / "out/link").symlink_to(here / "elsewhere")
        (here / "out/inside").mkdir()
        (here / "out/inner").symlink_to(here / "out/inside")

        with pytest.raises(UsageError, match="a link leads out of out"), Sink.open("out") as sink:
            sink.write({}, name="link/x.json")
        with Sink.open("out") as sink:
            sink.write({}, name="inner/x.json")

        assert {"out/inside/x.json": b"{}\n"} == below(here)

    def test_exists(self, here: Path) -> None:
        """A file that is there is replaced only with force, and others stay."""
        (here / "out").mkdir()
        (here / "out/b.json").write_bytes(b"old")
        (here / "out/other.json").write_bytes(b"other")

        with pytest.raises(UsageError, match=r"^out/b\.json: exists"):
            write_named("out", "a.json", "b.json")
        assert {"out/b.json": b"old", "out/other.json": b"other"} == below(here)
        write_named("out", "a.json", "b.json", force=True)
        assert {"out/a.json": b"{}\n", "out/b.json": b"{}\n", "out/other.json": b"other"} == below(
            here
        )

    @pytest.mark.parametrize("folder_is_there", [True, False])
    def test_all_or_nothing(
        self,
        here: Path,
        monkeypatch: pytest.MonkeyPatch,
        folder_is_there: bool,  # noqa: FBT001
    ) -> None:
        """When one file cannot get its name, the others lose theirs, and what was replaced is back."""
        if folder_is_there:
            (here / "out").mkdir()
            (here / "out/a.json").write_bytes(b"old")
        before = below(here)
        replace, calls = os.replace, []

        def fail_at_third(source: str, target: str) -> None:
            calls.append(target)
            if len(calls) == 3:
                raise OSError(5, "Input/output error")
            replace(source, target)

        monkeypatch.setattr("os.replace", fail_at_third)

        with pytest.raises(HubError, match=r"c\.json: input/output error$"):
            write_named("out/", "a.json", "new/b.json", "c.json", "d.json", force=True)

        assert before == below(here)
        assert folder_is_there == (here / "out").exists()
        assert not (here / "out/new").exists()

    def test_failure(self, here: Path) -> None:
        """After a failure there is no directory, and nothing temporary."""
        with pytest.raises(TypeError), Sink.open("out", container="dir") as sink:
            sink.write([{}, object()], name="a.json")

        assert [] == list(here.iterdir())

    def test_no_directory(self, here: Path) -> None:
        """A file is no directory, and a directory no file."""
        (here / "x").touch()
        (here / "d").mkdir()

        with pytest.raises(UsageError, match=r"^x: no such folder$"):
            Sink.open("x", container="dir")
        with pytest.raises(UsageError, match=r"^d: a directory$"):
            Sink.open("d", container="object")


class TestAttachments:
    def test_beside_a_file(self, here: Path) -> None:
        """Attachments are beside the file."""
        (here / "sub").mkdir()

        with Sink.open("sub/x.json") as sink:
            sink.write({}, attachments=[("images/1.png", b"P"), ("images/2.png", b"Q")])

        assert {"sub/x.json": b"{}\n", "sub/images/1.png": b"P", "sub/images/2.png": b"Q"} == below(
            here
        )
        assert ["sub/x.json", "sub/images/1.png", "sub/images/2.png"] == sink.outputs

    def test_beside_a_document(self, here: Path) -> None:
        """In a directory they are beside their document, wherever its number puts it."""
        with Sink.open("out/") as sink:
            for byte in (b"P", b"Q"):
                sink.write({}, name="e/trajectory.json", attachments=[("images/1.png", byte)])

        assert {
            "out/e/trajectory.json": b"{}\n",
            "out/e/images/1.png": b"P",
            "out/e-2/trajectory.json": b"{}\n",
            "out/e-2/images/1.png": b"Q",
        } == below(here)

    def test_exists(self, here: Path) -> None:
        """An attachment that is there keeps everything from being written."""
        (here / "1.png").write_bytes(b"old")

        with pytest.raises(UsageError, match=r"^1\.png: exists"), Sink.open("x.json") as sink:
            sink.write({}, attachments=[("1.png", b"P")])
        assert {"1.png": b"old"} == below(here)

    def test_twice(self, here: Path) -> None:
        """Two attachments do not share a name."""
        with (
            pytest.raises(UsageError, match=r"^1\.png: written twice$"),
            Sink.open("x.json") as sink,
        ):
            sink.write({}, attachments=[("1.png", b"P"), ("1.png", b"Q")])
        assert {} == below(here)

    def test_standard_output(self, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
        """There is nothing beside standard output."""
        with (
            pytest.raises(UsageError, match=r"^attachments are written beside"),
            Sink.open("-") as sink,
        ):
            sink.write({}, attachments=[("1.png", b"P")])
        assert b"" == capfdbinary.readouterr().out


class TestStandardOutput:
    def test_text(self, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
        """Standard output takes what a file would."""
        print("before")  # noqa: T201  # as a program does
        sink = write("-", {"a": "é"}, {})

        assert [] == sink.outputs
        assert (
            'before\n[\n  {\n    "a": "é"\n  },\n  {}\n]\n'.encode() == capfdbinary.readouterr().out
        )

    def test_no_directory(self) -> None:
        """Standard output is no directory."""
        with pytest.raises(UsageError, match=r"^standard output is no directory"):
            Sink.open("-", container="dir")

    def test_closed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Standard output that is closed is no traceback."""
        monkeypatch.setattr("sys.stdout", None)

        with pytest.raises(HubError, match=r"^standard output is closed$"):
            write("-", {})

    @pytest.mark.parametrize("count", [1, 200_000])
    def test_closed_pipe(self, count: int) -> None:
        """When nobody reads on, writing stops quietly."""
        program = (
            "import time; from hub.sink import Sink\n"
            "with Sink.open('-', container='lines') as sink:\n"
            f"    for number in range({count}):\n"
            "        sink.write({'n': number})\n"
            "        if number == 0: time.sleep(0.5)\n"
        )
        process = subprocess.Popen(  # noqa: S603  # our own
            [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None

        errors = process.stderr.read()

        assert (0, b"") == (process.wait(), errors)
        process.stderr.close()

    def test_first_document_waits(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nothing is written before it is known whether there is a second document; lines go at once."""
        output = io.BytesIO()
        monkeypatch.setattr("sys.stdout", io.TextIOWrapper(output))

        with Sink.open("-") as sink:
            sink.write({"a": 1})
            assert b"" == output.getvalue()
        with Sink.open("-", container="lines") as sink:
            start = len(output.getvalue())
            sink.write({"a": 1})
            assert b'{"a":1}\n' == output.getvalue()[start:]
        assert {"a": 1} == loads(output.getvalue()[:start])


def test_documents_of_one_name(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many documents of one name are numbered, each in one step."""
    tried = []

    def count(name: str, number: int) -> str:
        tried.append(number)
        return numbered(name, number)

    monkeypatch.setattr("hub.sink.numbered", count)

    with Sink.open("out/") as sink:
        for _ in range(100):
            sink.write({}, name="x.json")

    assert list(range(2, 101)) == tried
    assert 100 == len(below(here))


def test_time_of_many_files(here: Path) -> None:
    """A thousand documents go into a directory in seconds."""
    start = time.monotonic()

    with Sink.open("out/") as sink:
        for number in range(300):
            sink.write({}, name=f"{number}/x.json")

    assert 300 == len(below(here))
    assert time.monotonic() - start < 30
