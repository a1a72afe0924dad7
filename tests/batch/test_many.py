"""Commands on many inputs, with the hub's own format and one-file plugins: no other format need be installed."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hub import api
from hub.batch import pool
from hub.batch.outcome import Outcome
from hub.cli.app import run
from hub.registry import Formats

TOYS = Path(__file__).parent.parent / "toys"
STATE = ".storyline-hub"


class Ended(NamedTuple):
    """What one run of the program did."""

    status: int
    out: str
    err: str


Hub = Callable[..., Ended]


@pytest.fixture
def hub(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Hub:
    """Run the program in this process, in an empty folder, with formats of its own."""
    monkeypatch.setattr(api, "formats", Formats([]))
    monkeypatch.setenv("HUB_DISABLE_PLUGINS", "actf,ale,atif,openai-messages")
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Ended:
        status = run(list(arguments))
        captured = capfd.readouterr()
        assert "Traceback" not in captured.err
        assert "internal error" not in captured.err
        return Ended(status, captured.out, captured.err)

    return call


def story(session: str, **members: object) -> dict[str, Any]:
    """Return a Storyline."""
    return {
        "schema_version": "storyline/v1",
        "session": session,
        "agent": {"id": "a"},
        "turns": [{"id": 1, "src": "user", "msg": "hi"}],
        **members,
    }


def write(path: str, *values: object) -> None:
    """Write *values* to *path*, one JSON line each."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text("".join(json.dumps(value) + "\n" for value in values))


def tree(folder: str) -> dict[str, bytes]:
    """Return the files below *folder* with what is in them, but for the journal."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file() and STATE not in path.parts
    }


def sessions(folder: str) -> dict[str, str]:
    """Return the session of each file below *folder*."""
    return {path: json.loads(text)["session"] for path, text in tree(folder).items()}


def summary(path: str) -> dict[str, Any]:
    """Return the inputs of a summary, by name."""
    return {one["input"]: one for one in json.loads(Path(path).read_text())["inputs"]}


def mixed(folder: str) -> None:
    """Write a folder with good files, a broken one, a torn one, and one that is none of ours."""
    write(f"{folder}/a.json", story("a"))
    write(f"{folder}/b/broken.json", story("b", turns=[{"id": 1, "src": "", "msg": "hi"}]))
    write(f"{folder}/b/c.storyline.json", story("c"))
    write(f"{folder}/rows.jsonl", story("d"), story("e"))
    Path(f"{folder}/README.md").write_text("Read me.\n")
    Path(f"{folder}/torn.json").write_text('{"schema_version": "storyline/v1", "ses')


class TestConvert:
    def test_tree(self, hub: Hub) -> None:
        """The tree is mirrored, one bad file costs itself only, and what is none of ours is passed over."""
        mixed("in")
        status, out, err = hub("convert", "in", "--to", "storyline", "-o", "out")
        assert (3, "") == (status, out)
        assert ["a.json", "b/c.storyline.json", "rows.jsonl"] == list(tree("out"))
        lines = err.splitlines()
        assert "in/README.md: skipped: unknown format: a text" in lines[0]
        assert lines[1].startswith("in/b/broken.json: /turns/0/src: fatal: ")
        assert lines[2].startswith("in/torn.json: fatal: not JSON: ")
        assert lines[3].endswith(" s: 3 done, 2 failed, 1 passed over")
        assert lines[3].startswith("6 inputs in ")

    def test_workers_do_the_same(self, hub: Hub) -> None:
        """Several workers give the same files, messages and summary, in the same order."""
        mixed("in")
        convert = ("convert", "in", "--to", "storyline")
        one = hub(*convert, "-o", "out", "--summary", "one.json")
        two = hub(*convert, "-o", "out2", "--jobs", "2", "--summary", "two.json")
        assert one.status == two.status == 3
        assert one.err.splitlines()[:-1] == two.err.splitlines()[:-1]
        assert tree("out") == tree("out2")
        assert Path("one.json").read_text() == Path("two.json").read_text().replace("out2/", "out/")

    def test_several_inputs(self, hub: Hub) -> None:
        """Several inputs stand below the output as below the folder that holds all of them."""
        write("x/1/run.json", story("a"))
        write("x/2/run.json", story("b"))
        hub("convert", "x/1/run.json", "x/2", "x/2/run.json", "--to", "storyline", "-o", "out")
        assert {"1/run.json": "a", "2/run.json": "b"} == sessions("out")

    def test_pattern(self, hub: Hub) -> None:
        """A pattern finds files at any depth, and places are relative to where it begins."""
        write("x/1/run.json", story("a"))
        write("x/1/2/run.json", story("b"))
        write("x/1/2/other.json", story("c"))
        status, _, _ = hub("convert", "x/**/run.json", "--to", "storyline", "-o", "out")
        assert 0 == status
        assert {"1/run.json": "a", "1/2/run.json": "b"} == sessions("out")

    def test_pattern_without_match(self, hub: Hub) -> None:
        """A pattern that nothing matches is a failure."""
        status, _, err = hub("convert", "x/*.json", "--to", "storyline", "-o", "out")
        assert 1 == status
        assert "hub: x/*.json: no file matches\n" in err

    def test_collisions(self, hub: Hub) -> None:
        """Two inputs that would become one file get numbers, in the order of their names."""
        write("in/a.log.json", {"title": "t", "entries": [{"who": "u", "says": "x"}]})
        write("in/a.storyline.json", story("b"))
        write("in/a-2.storyline.json", story("c"))
        plugin = ("--plugin", str(TOYS / "log.py"))
        hub("convert", "in", "--to", "storyline", "-o", "out", *plugin)
        assert ["a-2.storyline.json", "a.log.json", "a.storyline.json"] == list(tree("out"))

    def test_names_that_differ_in_case(self, hub: Hub) -> None:
        """Names that differ in case only get numbers, so that every system holds both."""
        write("in/A.json", story("a"))
        write("in/a.json", story("b"))
        hub("convert", "in", "--to", "storyline", "-o", "out")
        assert {"A.json": "a", "a-2.json": "b"} == sessions("out")

    def test_output_among_the_inputs(self, hub: Hub) -> None:
        """An output folder that lies among the inputs is not read."""
        write("run.json", story("a"))
        for _ in range(2):
            assert 0 == hub("convert", ".", "--to", "storyline", "-o", "out", "--resume").status
        assert {"run.json": "a"} == sessions("out")

    def test_links_are_not_followed(self, hub: Hub) -> None:
        """A link in a folder is no input."""
        write("other/run.json", story("a"))
        write("in/run.json", story("b"))
        Path("in/link.json").symlink_to("../other/run.json")
        Path("in/folder").symlink_to("../other")
        hub("convert", "in", "--to", "storyline", "-o", "out")
        assert {"run.json": "b"} == sessions("out")

    def test_left_out_records(self, hub: Hub) -> None:
        """With `--on-error skip` a file with a broken record is done in part."""
        mixed("in")
        Path("in/rows.jsonl").write_text(json.dumps(story("d")) + '\n{"sess')
        arguments = ("convert", "in", "--to", "storyline", "--on-error", "skip")
        status, _, err = hub(*arguments, "-o", "out", "--summary", "s.json")
        assert 3 == status
        assert "in/rows.jsonl: line 2: fatal: the last line is cut [input.line-cut]\n" in err
        assert "partial" == summary("s.json")["in/rows.jsonl"]["outcome"]

    def test_lossy(self, hub: Hub) -> None:
        """With `--fail-on` a file that would lose something is not written, and its counts are in the summary."""
        write("in/a.json", story("a"))
        write("in/b.json", story("b", meta={"x": 1}))
        arguments = ("convert", "in", "--to", "storyline", "--fail-on", "kept", "-o", "out")
        assert 2 == hub(*arguments).status
        arguments = ("convert", "in", "--to", "storyline", "--fail-on", "dropped", "-o", "out")
        status, _, _ = hub(*arguments, "--summary", "s.json")
        assert 0 == status
        assert 0 == summary("s.json")["in/b.json"]["fidelity"]["dropped"]

    def test_existing_output(self, hub: Hub) -> None:
        """A file that is there is replaced only with `--force`; the others are written."""
        write("in/a.json", story("a"))
        write("in/b.json", story("b"))
        write("out/b.json", "mine")
        status, _, err = hub("convert", "in", "--to", "storyline", "-o", "out")
        assert 3 == status
        assert "hub: in/b.json: out/b.json: exists; --force replaces it\n" in err
        assert b'"mine"\n' == tree("out")["b.json"]
        status, _, err = hub("convert", "in", "--to", "storyline", "-o", "out", "--resume")
        assert (3, b'"mine"\n') == (status, tree("out")["b.json"])
        assert 0 == hub("convert", "in", "--to", "storyline", "-o", "out", "--force").status
        assert {"a.json": "a", "b.json": "b"} == sessions("out")

    def test_split(self, hub: Hub) -> None:
        """With `--split` each input becomes a folder, with a file for each document."""
        write("in/rows.jsonl", story("d"), story("e"))
        hub("convert", "in", "--to", "storyline", "-o", "out", "--split")
        assert {
            "rows/d.storyline.json": "d",
            "rows/e.storyline.json": "e",
        } == sessions("out")

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("in", "--to", "storyline"), "several inputs need a folder to write to"),
            (("in", "--to", "storyline", "-o", "in"), "in: the output is the input"),
            (("in", "--to", "storyline", "-o", "in/a.json"), "in/a.json: not a folder"),
            (("in", "-", "--to", "storyline", "-o", "out"), "standard input is no part of"),
            (("in", "--to", "none", "-o", "out"), "no format named 'none'"),
            (("in", "--to", "storyline", "-o", "out", "--report", "-"), "--report is for one"),
        ],
    )
    def test_misuse(self, hub: Hub, arguments: tuple[str, ...], words: str) -> None:
        """What cannot be is misuse, and nothing is written."""
        write("in/a.json", story("a"))
        status, _, err = hub("convert", *arguments)
        assert 2 == status
        assert words in err
        assert not Path("out").exists()

    def test_nothing_temporary_is_left(self, hub: Hub) -> None:
        """When a run has ended there are its outputs, and its journal."""
        mixed("in")
        hub("convert", "in", "--to", "storyline", "-o", "out", "--jobs", "2")
        assert ["journal.jsonl"] == [path.name for path in Path("out", STATE).iterdir()]


class TestRedacted:
    @pytest.mark.parametrize("jobs", ["1", "2"])
    def test_counts(self, hub: Hub, jobs: str) -> None:
        """What is hidden in all inputs is counted in the last line, also when nothing is done again."""
        pytest.importorskip("detect_secrets")
        for name in ("a", "b"):
            turns = [{"id": 1, "src": "user", "msg": f"write to {name}@example.org"}]
            write(f"in/{name}.json", story(name, turns=turns))
        convert = ("convert", "in", "--to", "storyline", "--redact", "--jobs", jobs, "-o", "out")
        for arguments in (convert, (*convert, "--resume")):
            assert "redacted: 2 e-mail address" == hub(*arguments).err.splitlines()[-1]
        assert b"example.org" not in tree("out")["a.json"]


class TestMerge:
    CONVERT = ("convert", "in", "--to", "storyline", "--merge", "lines")

    @pytest.mark.parametrize("jobs", ["1", "2"])
    def test_one_file(self, hub: Hub, jobs: str) -> None:
        """All documents stand in one file, in the order of the inputs; what is broken is left out."""
        mixed("in")
        convert = (*self.CONVERT, "--jobs", jobs, "--summary", "s.json", "-o", "all.jsonl")
        assert 3 == hub(*convert).status
        lines = Path("all.jsonl").read_text().splitlines()
        assert ["a", "c", "d", "e"] == [json.loads(line)["session"] for line in lines]
        assert ["all.jsonl"] == summary("s.json")["in/rows.jsonl"]["outputs"]
        assert ["all.jsonl", "in", "s.json"] == sorted(path.name for path in Path().iterdir())

    def test_standard_output(self, hub: Hub) -> None:
        """So do they on standard output."""
        mixed("in")
        lines = hub(*self.CONVERT).out.splitlines()
        assert ["a", "c", "d", "e"] == [json.loads(line)["session"] for line in lines]

    def test_compressed(self, hub: Hub) -> None:
        """Whether the file is compressed its own name says, not that of an input."""
        write("in/b.json", story("b"))
        Path("in/a.json.gz").write_bytes(gzip.compress(json.dumps(story("a")).encode()))
        hub(*self.CONVERT, "-o", "all.jsonl.gz")
        lines = gzip.decompress(Path("all.jsonl.gz").read_bytes()).splitlines()
        assert ["a", "b"] == [json.loads(line)["session"] for line in lines]

    def test_resumed(self, hub: Hub) -> None:
        """A run that was cut short goes on with the parts that it has."""
        for number in range(100):
            write(f"in/{number:03}.json", story(f"s{number}", notes="x" * 2000))
        hub(*self.CONVERT, "-o", "whole.jsonl")
        arguments = program(*self.CONVERT, "-o", "all.jsonl", "--resume")
        with subprocess.Popen(arguments, stderr=subprocess.DEVNULL) as process:  # noqa: S603
            while process.poll() is None and len(tree(".storyline-hub-all.jsonl")) < 30:
                time.sleep(0.002)
            process.kill()
        assert not Path("all.jsonl").exists()
        assert 0 == hub(*self.CONVERT, "-o", "all.jsonl", "--resume").status
        assert Path("whole.jsonl").read_bytes() == Path("all.jsonl").read_bytes()
        assert ["all.jsonl", "in", "whole.jsonl"] == sorted(path.name for path in Path().iterdir())

    def test_existing(self, hub: Hub) -> None:
        """A file that is there is replaced only with `--force`."""
        write("in/a.json", story("a"))
        write("all.jsonl", "mine")
        assert 2 == hub(*self.CONVERT, "-o", "all.jsonl").status
        assert '"mine"\n' == Path("all.jsonl").read_text()
        assert 0 == hub(*self.CONVERT, "-o", "all.jsonl", "--force").status

    def test_nothing(self, hub: Hub) -> None:
        """Where nothing can be converted, nothing is written."""
        Path("in").mkdir()
        Path("in/torn.json").write_text("{")
        assert 1 == hub(*self.CONVERT, "-o", "all.jsonl").status
        assert not Path("all.jsonl").exists()

    def test_beside_it(self, hub: Hub) -> None:
        """Folders and files beside it are not for one file."""
        mixed("in")
        assert 2 == hub(*self.CONVERT, "-o", "all.jsonl", "--split").status


class TestArchives:
    def archive(self, path: str) -> None:
        """Write an archive of a mixed folder."""
        mixed("files")
        Path(path).parent.mkdir(exist_ok=True)
        with tarfile.open(path, "w:gz") as archive:
            archive.add("files", ".")
        shutil.rmtree("files")

    def test_alone(self, hub: Hub) -> None:
        """The files of an archive are inputs, and stand as they do in it."""
        self.archive("runs.tar.gz")
        convert = (
            "convert",
            "runs.tar.gz",
            "--to",
            "storyline",
            "-o",
            "out",
            "--summary",
            "s.json",
        )
        status, _, err = hub(*convert)
        assert 3 == status
        assert "runs.tar.gz/torn.json: fatal: not JSON: " in err
        assert ["a.json", "b/c.storyline.json", "rows.jsonl"] == list(tree("out"))
        assert "done" == summary("s.json")["runs.tar.gz/a.json"]["outcome"]

    def test_among_others(self, hub: Hub) -> None:
        """Among other inputs an archive is a folder; a broken one costs itself only."""
        self.archive("in/runs.tgz")
        Path("in/broken.zip").write_bytes(b"words")
        write("in/z.json", story("z"))
        one = hub("validate", "in")
        assert 3 == one.status
        assert "hub: in/broken.zip: no zip archive, or a damaged one: " in one.err
        assert one == hub("validate", "in", "--jobs", "2")
        hub("convert", "in", "--to", "storyline", "-o", "out", "--jobs", "2")
        names = ["runs/a.json", "runs/b/c.storyline.json", "runs/rows.jsonl", "z.json"]
        assert names == list(tree("out"))
        assert ["journal.jsonl"] == [path.name for path in Path("out", STATE).iterdir()]

    def test_resumed(self, hub: Hub) -> None:
        """An archive that has not changed is not done again."""
        self.archive("runs.tar.gz")
        convert = ("convert", "runs.tar.gz", "--to", "storyline", "-o", "out")
        hub(*convert)
        before = {path: Path("out", path).stat().st_mtime_ns for path in tree("out")}
        hub(*convert, "--resume")
        assert before == {path: Path("out", path).stat().st_mtime_ns for path in tree("out")}


class TestWorkers:
    def test_one_that_dies(self, hub: Hub) -> None:
        """A worker that dies costs the file it was at: the others are converted."""
        for number in range(12):
            write(f"in/{number:02}.json", {"deadly": 1} if number % 5 == 3 else story("a"))
        plugin = ("--plugin", str(TOYS / "deadly.py"))
        status, _, err = hub(
            "convert", "in", "--to", "storyline", "-o", "out", "--jobs", "2", *plugin
        )
        assert 3 == status
        assert [
            "hub: in/03.json: the process that was at it ended with status 7",
            "hub: in/08.json: the process that was at it ended with status 7",
        ] == err.splitlines()[:2]
        assert 10 == len(tree("out"))

    def test_one_that_is_ended_while_it_starts(
        self, hub: Hub, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A worker that is ended while it loads plugins shows no trace, and no plugin is blamed for it."""
        monkeypatch.setattr(pool, "start_method", lambda: "spawn")
        write("in/1.json", story("a"))
        plugin = ("--plugin", str(TOYS / "stopped.py"))
        convert = ("convert", "in", "--to", "storyline", "-o", "out", "--jobs", "2")
        status, _, err = hub(*convert, *plugin)
        message = "hub: in/1.json: the process that was at it was ended by SIGTERM"
        assert (1, message) == (status, err.splitlines()[0])


class TestSummary:
    def test_object(self, hub: Hub) -> None:
        """The summary says of every input what became of it, and how many came to which end."""
        mixed("in")
        hub("convert", "in", "--to", "storyline", "-o", "out", "--summary", "s.json")
        shown = json.loads(Path("s.json").read_text())
        assert {"done": 3, "partial": 0, "failed": 2, "passed-over": 1} == shown["counts"]
        assert {
            "input": "in/rows.jsonl",
            "outcome": "done",
            "format": "storyline",
            "outputs": ["out/rows.jsonl"],
            "documents": 2,
            "storylines": 2,
            "problems": [],
        } == summary("s.json")["in/rows.jsonl"]
        problem = summary("s.json")["in/b/broken.json"]["problems"][0]
        assert ("/turns/0/src", "storyline.source") == (problem["pointer"], problem["rule"])

    def test_lines(self, hub: Hub) -> None:
        """A summary whose name says so is JSON Lines."""
        write("in/a.json", story("a"))
        hub("validate", "in", "--summary", "s.jsonl")
        (line,) = Path("s.jsonl").read_text().splitlines()
        assert ("in/a.json", "done") == (json.loads(line)["input"], json.loads(line)["outcome"])

    def test_no_input(self, hub: Hub) -> None:
        """Of an empty folder there is an empty summary, and a failure."""
        Path("in").mkdir()
        assert 1 == hub("validate", "in", "--summary", "s.json").status
        assert [] == json.loads(Path("s.json").read_text())["inputs"]

    def test_existing(self, hub: Hub) -> None:
        """A summary is not written over without `--force`."""
        write("in/a.json", story("a"))
        write("s.json", "mine")
        assert 2 == hub("validate", "in", "--summary", "s.json").status
        assert 0 == hub("validate", "in", "--summary", "s.json", "--force").status

    @pytest.mark.parametrize("inputs", [("in/a.json", "in/b.json"), ("in",), ("in/*.json",)])
    @pytest.mark.parametrize("alias", ["in/a.json", "link.json", "hard.json"])
    def test_over_an_input(self, hub: Hub, inputs: tuple[str, ...], alias: str) -> None:
        """A summary is never written over an input, whatever it is called, also with `--force` or `--resume`."""
        write("in/a.json", story("a"))
        write("in/b.json", story("b"))
        Path("link.json").symlink_to("in/a.json")
        Path("hard.json").hardlink_to("in/a.json")
        before = tree("in")
        for command in (
            ("validate", *inputs, "--force"),
            ("convert", *inputs, "--to", "storyline", "-o", "out", "--force"),
            ("convert", *inputs, "--to", "storyline", "-o", "out", "--resume"),
        ):
            if alias == "hard.json" and inputs == ("in",):
                continue  # another name in another folder is another file, once it is replaced
            status, _, err = hub(*command, "--summary", alias)
            assert (2, True) == (status, "over" in err or "the output is the input" in err)
            assert before == tree("in")

    def test_over_the_output(self, hub: Hub) -> None:
        """Nor is it written over an output."""
        write("in/a.json", story("a"))
        merge = ("convert", "in", "--to", "storyline", "--merge", "lines", "-o", "m.jsonl")
        assert (2, "", "hub: m.jsonl: the summary would be written over the output\n") == hub(
            *merge, "--summary", "m.jsonl"
        )
        Path("out").mkdir()
        convert = ("convert", "in", "--to", "storyline", "-o", "out")
        status, _, err = hub(*convert, "--summary", "out/a.json")
        assert (2, True) == (status, "out/a.json" in err)
        assert ["a"] == list(sessions("out").values())

    @pytest.mark.parametrize("name", ["", "-", "no/s.json", "in"])
    def test_no_file(self, hub: Hub, name: str) -> None:
        """What is no name of a file is misuse, and nothing is begun."""
        write("in/a.json", story("a"))
        status, out, _ = hub("convert", "in", "--to", "storyline", "-o", "out", "--summary", name)
        assert (2, "") == (status, out)
        assert not tree("out")

    def test_planted_link(self, hub: Hub) -> None:
        """Nobody can foresee, and link elsewhere, the name that a summary has until it is whole."""
        write("in/a.json", story("a"))
        write("precious", 1)
        Path(".s.json.part").symlink_to("precious")
        hub("validate", "in", "--summary", "s.json")
        assert "1\n" == Path("precious").read_text()
        assert not Path("s.json").is_symlink()

    def test_device(self, hub: Hub) -> None:
        """A device is written to, and not replaced by a file."""
        write("in/a.json", story("a"))
        os.mkfifo("pipe")
        with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE) as reader:  # noqa: S607  # of the system
            hub("validate", "in", "--summary", "pipe")
            shown, _ = reader.communicate()
        assert {"done": 1, "partial": 0, "failed": 0, "passed-over": 0} == json.loads(shown)[
            "counts"
        ]
        assert Path("pipe").is_fifo()

    def test_among_the_inputs(self, hub: Hub) -> None:
        """A summary that is made in a folder of inputs is no input."""
        write("in/a.json", story("a"))
        hub("validate", "in", "--summary", "in/s.json")
        assert ["in/a.json"] == list(summary("in/s.json"))


class TestValidate:
    def test_folder(self, hub: Hub) -> None:
        """Every file is looked at, in order, by one process or by several."""
        mixed("in")
        one, two = hub("validate", "in"), hub("validate", "in", "--jobs", "2")
        assert 3 == one.status
        assert one == two
        assert "in/a.json: valid storyline: no problems\n" in one.out
        assert "in/b/broken.json: not valid storyline: 1 fatal\n" in one.out

    def test_json(self, hub: Hub) -> None:
        """With `--json` each file that was looked at has a line."""
        mixed("in")
        lines = [json.loads(line) for line in hub("validate", "in", "--json").out.splitlines()]
        assert [
            ("in/a.json", True),
            ("in/b/broken.json", False),
            ("in/b/c.storyline.json", True),
            ("in/rows.jsonl", True),
            ("in/torn.json", False),
        ] == [(line["file"], line["valid"]) for line in lines]


def program(*arguments: str) -> list[str]:
    """Return the command that runs the program."""
    return [sys.executable, "-m", "hub", *arguments]


class TestResume:
    CONVERT = ("convert", "in", "--to", "storyline", "-o", "out")

    def test_again_without_resume(self, hub: Hub) -> None:
        """A folder that holds an earlier run is not written to unless that is said."""
        write("in/a.json", story("a"))
        hub(*self.CONVERT)
        status, _, err = hub(*self.CONVERT)
        assert 2 == status
        assert "out: holds an earlier run; --resume does what is missing or has changed" in err

    def test_nothing_is_done_twice(self, hub: Hub) -> None:
        """What is done, and has not changed, is left as it is; the summary is the same."""
        mixed("in")
        hub(*self.CONVERT, "--summary", "one.json")
        before = {path: Path("out", path).stat().st_mtime_ns for path in tree("out")}
        journal = Path("out", STATE, "journal.jsonl").read_bytes()
        status, _, _ = hub(*self.CONVERT, "--resume", "--summary", "two.json")
        assert 3 == status
        assert before == {path: Path("out", path).stat().st_mtime_ns for path in tree("out")}
        assert Path("one.json").read_bytes() == Path("two.json").read_bytes()
        assert journal == Path("out", STATE, "journal.jsonl").read_bytes()

    def test_what_changed_is_done_again(self, hub: Hub) -> None:
        """Changed inputs, new ones, failed ones and lost outputs are done again."""
        mixed("in")
        write("in/z.json", story("z"))
        hub(*self.CONVERT)
        write("in/a.json", story("changed"))
        write("in/b/broken.json", story("mended"))
        write("in/new.json", story("new"))
        Path("out/b/c.storyline.json").unlink()
        Path("out/z.json").write_text("")
        assert 3 == hub(*self.CONVERT, "--resume").status
        Path("out/rows.jsonl").unlink()
        assert {
            "a.json": "changed",
            "b/broken.json": "mended",
            "b/c.storyline.json": "c",
            "new.json": "new",
            "z.json": "z",
        } == sessions("out")

    def test_what_changed_and_fails(self, hub: Hub) -> None:
        """Of a changed input that fails nothing old is left; that is said, and in the summary."""
        write("in/a.json", story("a"))
        write("in/b.json", story("b"))
        write("in/c.json", story("c"))
        hub(*self.CONVERT)
        write("in/a.json", story("a", turns=[{"id": 1, "src": "", "msg": "hi"}]))
        write("in/c.json", "none of ours")
        Path("out/c.json").write_text("changed by hand")
        status, _, err = hub(*self.CONVERT, "--resume", "--summary", "s.json")
        assert 3 == status
        assert {"b.json", "c.json"} == set(tree("out"))
        assert "hub: in/a.json: out/a.json, of an earlier run, is removed\n" in err
        assert "in/c.json: out/c.json, of an earlier run, was changed and stays\n" in err
        assert "out/a.json, of an earlier run" in summary("s.json")["in/a.json"]["message"]
        err = hub(*self.CONVERT, "--resume").err
        assert "of an earlier run" not in err

    def test_old_output_behind_a_link(self, hub: Hub) -> None:
        """What a link leads to outside of the folder is not removed."""
        write("in/b/a.json", story("a"))
        hub(*self.CONVERT)
        shutil.move("out/b", "elsewhere")
        Path("out/b").symlink_to("../elsewhere")
        write("in/b/a.json", story("a", turns=[{"id": 1, "src": "", "msg": "hi"}]))
        err = hub(*self.CONVERT, "--resume").err
        assert "out/b/a.json, of an earlier run, cannot be removed and stays\n" in err
        assert Path("elsewhere/a.json").exists()

    def test_fewer_documents(self, hub: Hub) -> None:
        """So it is with what is no document of a changed input any more."""
        write("in/rows.jsonl", story("d"), story("e"))
        hub(*self.CONVERT, "--split")
        write("in/rows.jsonl", story("d"))
        status, _, err = hub(*self.CONVERT, "--split", "--resume")
        assert 0 == status
        assert {"rows/d.storyline.json": "d"} == sessions("out")
        assert "out/rows/e.storyline.json, of an earlier run, is removed" in err

    def test_other_versions(self, hub: Hub) -> None:
        """So is one with another version of a plugin."""
        write("in/a.json", story("a"))
        hub(*self.CONVERT)
        journal = Path("out", STATE, "journal.jsonl")
        first, *lines = journal.read_text().splitlines(keepends=True)
        run = json.loads(first)
        (name, _) = run["formats"][0].split(" ")
        assert "storyline-hub" == name
        run["formats"] = [f"{name} 0.0.1"]
        journal.write_text(json.dumps(run) + "\n" + "".join(lines))
        status, _, err = hub(*self.CONVERT, "--resume")
        assert 2 == status
        assert "out: the earlier run was another one (formats); --force begins anew" in err

    def test_other_settings(self, hub: Hub) -> None:
        """A run with other settings is another run."""
        write("in/a.json", story("a"))
        hub(*self.CONVERT)
        status, _, err = hub(*self.CONVERT, "--resume", "--no-carry")
        assert 2 == status
        assert "out: the earlier run was another one (carry); --force begins anew" in err

    def test_two_at_a_time(self, hub: Hub) -> None:
        """Two runs do not write to one folder."""
        fcntl = pytest.importorskip("fcntl")
        write("in/a.json", story("a"))
        hub(*self.CONVERT)
        with Path("out", STATE, "journal.jsonl").open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            status, _, err = hub(*self.CONVERT, "--resume")
        assert (2, "hub: out: another run writes to it\n") == (status, err)

    @pytest.mark.parametrize("jobs", ["1", "2"])
    def test_killed(self, hub: Hub, jobs: str) -> None:
        """A run that is killed, again and again, ends with what an undisturbed one gives, byte for byte."""
        for number in range(150):
            write(f"in/{number % 7}/{number:03}.json", story(f"s{number}", notes="x" * 2000))
        Path("in/torn.json").write_text("{")
        hub("convert", "in", "--to", "storyline", "-o", "whole", "--summary", "whole.json")
        arguments = (*self.CONVERT, "--resume", "--jobs", jobs, "--summary", "out.json")
        kills = 0
        for done in (10, 40, 70, 100, 130):
            with subprocess.Popen(program(*arguments), stderr=subprocess.DEVNULL) as process:  # noqa: S603
                while process.poll() is None and len(tree("out")) < done:
                    time.sleep(0.002)
                process.kill()
            kills += process.returncode == -signal.SIGKILL
        assert kills
        assert 3 == subprocess.run(program(*arguments), check=False, capture_output=True).returncode  # noqa: S603
        assert tree("whole") == tree("out")
        journals = [
            Path(folder, STATE, "journal.jsonl").read_bytes() for folder in ("whole", "out")
        ]
        assert journals[0] == journals[1]
        shown = Path("out.json").read_text().replace('"out/', '"whole/')
        assert Path("whole.json").read_text() == shown

    @pytest.mark.parametrize(
        "line",
        [
            b"[" * 100_000,
            b"null",
            b"7",
            b"{}",
            b'{"begun":[]}',
            b'{"input":"in/a.json","outcome":{}}',
            b"\xff",
            *(b'{"%s":NaN}' % name for name in (b"input", b"place", b"outcome")),
        ],
    )
    def test_broken_journal(self, hub: Hub, line: bytes) -> None:
        """A journal is believed up to the first line that no run has written; the rest is done again."""
        for name in "abc":
            write(f"in/{name}.json", story(name))
        hub(*self.CONVERT)
        before = tree("out")
        journal = Path("out", STATE, "journal.jsonl")
        lines = journal.read_bytes().splitlines(keepends=True)
        journal.write_bytes(b"".join([*lines[:2], line + b"\n", *lines[2:]]))
        for name in ("b", "c"):
            Path(f"out/{name}.json").unlink()
        assert 0 == hub(*self.CONVERT, "--resume").status
        assert before == tree("out")
        assert lines == journal.read_bytes().splitlines(keepends=True)

    @pytest.mark.parametrize("member", ["input", "place", *Outcome._fields])
    @pytest.mark.parametrize("value", [1.5, "x\0", [["x"]], [{}], {"x": "y"}])
    def test_tampered_journal(self, hub: Hub, member: str, value: object) -> None:
        """Whatever a journal says of an input, there is no trace, and at the end all outputs are there."""
        write("in/a.json", story("a"))
        hub(*self.CONVERT)
        before = tree("out")
        journal = Path("out", STATE, "journal.jsonl")
        first, line = journal.read_text().splitlines()
        entry = json.loads(line)
        (entry if member in entry and member != "input" else entry["outcome"])[member] = value
        journal.write_text(f"{first}\n{json.dumps(entry)}\n")
        assert hub(*self.CONVERT, "--resume").status in {0, 2}
        assert before == tree("out")

    @pytest.mark.parametrize("how", ["up", "absolute", "link"])
    def test_journal_that_names_other_files(self, hub: Hub, how: str) -> None:
        """What a journal names as an output is not read if it is outside of the folder, or leads there."""
        write("in/a.json", story("a"))
        write("secret", "s")
        merge = ("convert", "in", "--to", "storyline", "--merge", "lines", "-o", "m.jsonl")
        parts = Path(f"{STATE}-m.jsonl")
        parts.mkdir()
        hub("convert", "in", "--to", "storyline", "--container", "lines", "-o", str(parts))
        journal = next(parts.rglob("journal.jsonl"))
        first, line = journal.read_text().splitlines()
        entry = json.loads(line)
        (output,) = entry["outcome"]["outputs"]
        if how == "link":
            (parts / output).unlink()
            (parts / output).symlink_to(Path("secret").absolute())
        else:
            other = "../secret" if how == "up" else str(Path("secret").absolute())
            entry["outcome"]["outputs"] = [other]
        entry["sizes"] = [Path("secret").stat().st_size]
        journal.write_text(f"{first}\n{json.dumps(entry)}\n")
        hub(*merge, "--resume")
        assert (
            not Path("m.jsonl").exists()
            or "a" == json.loads(Path("m.jsonl").read_text())["session"]
        )
        assert '"s"\n' == Path("secret").read_text()

    def test_journal_that_names_files_behind_a_link(self, hub: Hub) -> None:
        """What an earlier run is said to have written is not removed where a link leads out of the folder."""
        write("in/b/a.json", story("a"))
        hub(*self.CONVERT)
        journal = Path("out", STATE, "journal.jsonl")
        first, line = journal.read_text().splitlines()
        entry = json.loads(line)
        write("else/precious.json", 1)
        shutil.rmtree("out/b")
        Path("out/b").symlink_to(Path("else").absolute())
        entry["outcome"]["outputs"] = ["b/precious.json"]
        entry["sizes"] = [Path("else/precious.json").stat().st_size]
        journal.write_text(f"{first}\n{json.dumps(entry)}\n")
        write("in/b/a.json", story("changed"))
        hub(*self.CONVERT, "--resume")
        assert {"precious.json": b"1\n"} == tree("else")

    @pytest.mark.parametrize("how", ["file", "folder"])
    def test_links_in_the_tree(self, hub: Hub, how: str) -> None:
        """Links in an output folder do not lead outputs out of it: one in the place of a file is replaced."""
        write("in/b/a.json", story("a"))
        write("else/a.json", story("precious"))
        if how == "file":
            Path("out/b").mkdir(parents=True)
            Path("out/b/a.json").symlink_to(Path("else/a.json").absolute())
        else:
            Path("out").mkdir()
            Path("out/b").symlink_to(Path("else").absolute())
        ended = hub(*self.CONVERT, "--force")
        assert {"a.json": "precious"} == sessions("else")
        if how == "file":
            assert (0, {"b/a.json": "a"}) == (ended.status, sessions("out"))
        else:
            assert "hub: in/b/a.json: out/b/a.json: a link leads out of out" in ended.err

    @pytest.mark.parametrize("place", ["", "journal.jsonl", "journal.next", "temporary"])
    def test_links_in_the_output(self, hub: Hub, place: str) -> None:
        """Links in an output folder do not lead a run to write, empty or remove what is elsewhere."""
        write("in/a.json", story("a"))
        write("elsewhere/temporary/precious", 1)
        write("elsewhere/journal.jsonl", 1)
        target = Path("out", STATE, place) if place else Path("out", STATE)
        target.parent.mkdir(parents=True)
        target.symlink_to(Path("elsewhere", place).absolute())
        before = tree("elsewhere")
        status, _, err = hub(*self.CONVERT, "--force")
        assert (2, True) == (status, "a link, which leads out of the output folder" in err)
        assert before == tree("elsewhere")

    def test_interrupted(self, hub: Hub) -> None:
        """An interrupted run leaves whole files only, and can be resumed."""
        for number in range(200):
            write(f"in/{number:03}.json", story(f"s{number}", notes="x" * 2000))
        command = program(*self.CONVERT, "--jobs", "2")
        with subprocess.Popen(command, stderr=subprocess.PIPE) as process:  # noqa: S603
            while process.poll() is None and len(tree("out")) < 20:
                time.sleep(0.002)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate()
        assert b"Traceback" not in err
        assert 130 == process.returncode
        assert all(json.loads(text) for text in tree("out").values())
        assert 0 == hub(*self.CONVERT, "--resume").status
        assert 200 == len(tree("out"))
