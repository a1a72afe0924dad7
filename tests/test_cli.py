"""The command line, with the hub's own format and a one-file plugin: no other format need be installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from hub import Rule, api
from hub.cli.app import run
from hub.cli.output import grouped_lines
from hub.discovery import EntryPoint
from hub.registry import PACKAGES, Formats

TOYS = Path(__file__).parent / "toys"

STORY = {
    "schema_version": "storyline/v1",
    "session": "s",
    "agent": {"id": "a"},
    "turns": [{"id": 1, "src": "user", "msg": "hi"}],
}
BROKEN = {
    **STORY,
    "turns": [{"id": 1, "src": "", "msg": "hi"}, {"id": 1, "src": "user", "msg": ""}],
}

BROKEN_LINES = """\
{file}: /turns/0/src: fatal: expected a non-empty string, found "" [storyline.source]
{file}: /turns/1/id: fatal: expected an id that no earlier turn has, found 1 [storyline.turn-id]
"""


EMPTY_DIRECTORY = (
    "hub: {directory}: the directory holds no files; name a file, or a directory that holds some\n"
)


class Outcome(NamedTuple):
    """What one run of the program did."""

    status: int
    out: str
    err: str


Hub = Callable[..., Outcome]


@pytest.fixture
def hub(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Hub:
    """Run the program in this process, with formats of its own: those of `--plugin` go with it."""
    monkeypatch.setattr(api, "formats", Formats())

    def call(*arguments: str | Path) -> Outcome:
        status = run([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return Outcome(status, captured.out, captured.err)

    return call


@pytest.fixture
def story(tmp_path: Path) -> Path:
    """A valid Storyline file."""
    return written(tmp_path / "run.json", STORY)


def written(path: Path, *values: object) -> Path:
    """Write *values* to *path*, one JSON line each, and return it."""
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path


class TestProgram:
    def test_every_level_has_help(self, hub: Hub) -> None:
        """`--help` explains the program and each of its commands."""
        for command in (
            (),
            ("detect",),
            ("convert",),
            ("validate",),
            ("formats",),
            ("plugins",),
            ("plugins", "doctor"),
        ):
            status, out, err = hub(*command, "--help")
            assert (0, "") == (status, err)
            assert out.startswith(f"Usage: hub {' '.join(command)}".rstrip())

    @pytest.mark.parametrize(
        ("command", "arguments"),
        [(["convert"], "INPUT..."), (["plugins", "doctor"], "ID"), (["formats"], "[ID]")],
        ids=str,
    )
    def test_usage_line(self, hub: Hub, command: list[str], arguments: str) -> None:
        """The usage line names arguments as the reference does: optional ones in brackets, and no braces."""
        usage = hub(*command, "--help").out.splitlines()[0]
        assert f"Usage: hub {' '.join(command)} [OPTIONS] {arguments}" == usage

    def test_without_arguments(self, hub: Hub) -> None:
        """Without arguments the program shows its help and counts that as misuse."""
        status, out, err = hub()
        assert 2 == status
        assert "Usage: hub [OPTIONS] COMMAND" in out + err

    def test_version(self, hub: Hub) -> None:
        """`--version` names the distribution and its version."""
        assert (0, "storyline-hub 0.1.0\n", "") == hub("--version")

    def test_misuse(self, hub: Hub, story: Path) -> None:
        """An unknown command, an unknown option and a missing one are misuse: exit status 2."""
        for arguments in (
            ["frobnicate"],
            ["detect", "--frobnicate", str(story)],
            ["convert", str(story)],
        ):
            status, out, err = hub(*arguments)
            assert (2, "") == (status, out)
            assert "Error" in err

    def test_module(self, story: Path) -> None:
        """`python -m hub` is the same program."""
        done = subprocess.run(  # noqa: S603  # our own program
            [sys.executable, "-m", "hub", "detect", story],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (
            0,
            f'{story}: storyline storyline/v1 (100): schema_version "storyline/v1" at /\n',
        ) == (
            done.returncode,
            done.stdout,
        )

    def test_reader_that_goes_away(self, tmp_path: Path) -> None:
        """A closed pipe behind standard output is no error and shows no trace."""
        many = written(
            tmp_path / "many.jsonl", *({**STORY, "session": str(n)} for n in range(5000))
        )
        command = (
            f"{sys.executable} -m hub convert {many} --to storyline --container lines | head -n 1"
        )
        done = subprocess.run(  # noqa: S602  # a pipe of our own
            command, shell=True, capture_output=True, text=True, check=False
        )
        assert 1 == done.stdout.count("\n")
        assert "Traceback" not in done.stderr
        assert "Error" not in done.stderr


class TestDetect:
    def test_line(self, hub: Hub, story: Path) -> None:
        """A file gives one line: format, version, score and why."""
        line = f'{story}: storyline storyline/v1 (100): schema_version "storyline/v1" at /\n'
        assert (0, line, "") == hub("detect", story)

    def test_json(self, hub: Hub, story: Path) -> None:
        """`--json` gives one JSON object a file."""
        status, out, err = hub("detect", "--json", story)
        assert (0, "") == (status, err)
        assert {
            "file": str(story),
            "format": "storyline",
            "version": "storyline/v1",
            "variant": None,
            "confidence": 100,
            "reason": 'schema_version "storyline/v1" at /',
            "others": [],
            "problems": [],
        } == json.loads(out)

    def test_unknown(self, hub: Hub, tmp_path: Path) -> None:
        """A file of no known format is exit status 1, with what it looks like and what to do."""
        file = written(tmp_path / "x.json", {"name": "x", "scripts": {}})
        status, out, err = hub("detect", file)
        assert (1, "") == (status, out)
        assert err.startswith(
            f'{file}: fatal: unknown format: an object with "name", "scripts"; pass --from FORMAT'
        )

    def test_some_of_many(self, hub: Hub, story: Path, tmp_path: Path) -> None:
        """When some of several files fail, the others are complete and the exit status is 3."""
        status, out, err = hub("detect", tmp_path / "none.json", story)
        assert (3, 1) == (status, out.count("\n"))
        assert "none.json: no such file or directory" in err

    def test_directory(self, hub: Hub, story: Path, tmp_path: Path) -> None:
        """Of a directory each file is detected; what is none of ours is passed over with a line."""
        (tmp_path / "notes.txt").write_text("not JSON")
        status, out, err = hub("detect", tmp_path)
        assert (
            0,
            f'{story}: storyline storyline/v1 (100): schema_version "storyline/v1" at /\n',
        ) == (status, out)
        assert err.startswith(f"{tmp_path / 'notes.txt'}: skipped: unknown format: a text")

    @pytest.mark.parametrize("command", ["detect", "validate"])
    def test_unreadable_folder(
        self,
        hub: Hub,
        story: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        command: str,
    ) -> None:
        """A folder that may not be read is named, and the rest of the directory is looked at."""
        (tmp_path / "mine").mkdir()
        scan = os.scandir

        def refuse(path: object) -> object:
            if str(path).endswith("mine"):
                raise PermissionError(13, "Permission denied", str(path))
            return scan(path)  # type: ignore[call-overload]  # whatever it was called with

        monkeypatch.setattr(os, "scandir", refuse)
        status, out, err = hub(command, tmp_path)
        assert (3, f"hub: {tmp_path / 'mine'}: permission denied\n") == (status, err)
        assert out.startswith(f"{story}: ")

    @pytest.mark.parametrize("command", ["detect", "validate"])
    @pytest.mark.parametrize("text", [b'{"a":"\xe9"}', b"abc \xe9 abc"])
    def test_encoding(self, hub: Hub, tmp_path: Path, command: str, text: bytes) -> None:
        """A file that is no UTF-8 is refused as such, with the place."""
        file = tmp_path / "latin1.json"
        file.write_bytes(text)
        status, _, err = hub(command, file)
        assert 1 == status
        assert err.startswith(f"{file}: fatal: not UTF-8: invalid continuation byte at offset ")
        assert err.endswith("[input.encoding]\n")

    def test_scalar(self, hub: Hub, tmp_path: Path) -> None:
        """A JSON value that no format is, is named."""
        err = hub("detect", written(tmp_path / "x.json", None)).err
        assert "unknown format: the JSON value null; pass --from" in err

    def test_empty_directory(self, hub: Hub, tmp_path: Path) -> None:
        """A directory without files is a failure that says so, with what to do."""
        assert (1, "", EMPTY_DIRECTORY.format(directory=tmp_path)) == hub("detect", tmp_path)


SAID = {"who": "user", "says": "m"}


@pytest.fixture
def moody(tmp_path: Path) -> Path:
    """A plugin that wants a mood in every entry, and a title."""
    reports = """document = Document(record.value, record=record)
        if not record.value["title"]:
            document.report(Rule("log.title", "error", "a title").at("/title", ""))
            record.value["title"] = "unknown"
        for index, _ in enumerate(record.value["entries"]):
            mood = Rule("log.mood", "warning", "a mood")
            document.report(mood.at(f"/entries/{index}/mood"))
        yield document"""
    text = (TOYS / "log.py").read_text().replace("    Sample,", "    Rule,\n    Sample,")
    plugin = tmp_path / "moody.py"
    plugin.write_text(text.replace("yield Document(record.value, record=record)", reports))
    return plugin


class TestConvert:
    def test_standard_output(self, hub: Hub, story: Path) -> None:
        """Without an output the result goes to standard output, and what was done to standard error."""
        status, out, err = hub("convert", story, "--to", "storyline")
        assert (0, STORY) == (status, json.loads(out))
        assert "storyline -> storyline: 1 trajectory in 1 document\n" == err

    def test_keys_are_sorted(self, hub: Hub, story: Path) -> None:
        """A Storyline is written with sorted keys, indented by two spaces, and a line end."""
        _, out, _ = hub("convert", story, "--to", "storyline")
        assert out == json.dumps(STORY, indent=2, sort_keys=True) + "\n"

    def test_output(self, hub: Hub, story: Path, tmp_path: Path) -> None:
        """`-o` writes a file, and says so."""
        target = tmp_path / "out.json"
        status, out, err = hub("convert", story, "--to", "storyline", "-o", target)
        assert (0, "") == (status, out)
        assert f"storyline -> storyline: 1 trajectory in 1 document in {target}\n" == err
        assert STORY == json.loads(target.read_text())

    def test_existing_output(self, hub: Hub, story: Path, tmp_path: Path) -> None:
        """An existing output is not replaced without `--force`."""
        target = tmp_path / "out.json"
        target.write_text("mine")
        status, _, err = hub("convert", story, "--to", "storyline", "-o", target)
        assert (2, "mine") == (status, target.read_text())
        assert "--force" in err
        assert 0 == hub("convert", story, "--to", "storyline", "-o", target, "--force").status
        assert STORY == json.loads(target.read_text())

    def test_output_is_the_input(self, hub: Hub, story: Path, tmp_path: Path) -> None:
        """The input is never written over, whatever name it goes by, also with `--force`."""
        before = story.read_bytes()
        os.link(story, tmp_path / "linked.json")
        (tmp_path / "symbolic.json").symlink_to(story)
        for name in ("run.json", "linked.json", "symbolic.json"):
            status, _, err = hub(
                "convert", story, "--to", "storyline", "--force", "-o", tmp_path / name
            )
            assert 2 == status
            assert "input" in err
        assert before == story.read_bytes()

    def test_invalid_input(self, hub: Hub, tmp_path: Path) -> None:
        """An input that falls short is exit status 1, with all problems, and nothing is written."""
        file = written(tmp_path / "broken.json", BROKEN)
        status, out, err = hub("convert", file, "--to", "storyline", "-o", tmp_path / "out.json")
        assert (1, "", BROKEN_LINES.format(file=file)) == (status, out, err)
        assert [file] == list(tmp_path.iterdir())

    def test_equal_warnings(self, hub: Hub, moody: Path, tmp_path: Path) -> None:
        """Many warnings that say the same are one line; those of several kinds stand below the name of the file."""
        words = ("--to", "storyline", "--plugin", moody, "-o", tmp_path / "out.json", "--force")
        file = written(tmp_path / "a.json", {"title": "t", "entries": [SAID] * 40})
        warning = "/entries/0/mood: warning: expected a mood, found nothing [log.mood]"
        assert f"{file}: {warning} (and at 39 more places)" in hub("convert", file, *words).err
        file = written(tmp_path / "b.json", {"title": "", "entries": [SAID]})
        below = f'{file}:\n  /title: error: expected a title, found "" [log.title]\n  {warning}\n'
        assert below in hub("convert", file, *words).err

    def test_many_kinds_of_warnings(self) -> None:
        """Of one rule ten lines are shown, and how many more there are."""
        rule = Rule("log.mood", "warning", "a mood")
        found = [rule.at(f"/{place}", mood) for mood in range(14) for place in range(5)]
        lines = grouped_lines([*found, rule._replace(rule="log.title").at("/title")])
        assert "/0: warning: expected a mood, found 9 [log.mood] (and at 4 more places)" == lines[9]
        assert [
            "… and 4 more [log.mood]",
            "/title: warning: expected a mood, found nothing [log.title]",
        ] == lines[10:]

    def test_without_warnings(self, hub: Hub, moody: Path, tmp_path: Path) -> None:
        """`--no-warnings` tells only of what could not be read, of one input and of many."""
        silent = ("--no-warnings", "--on-error", "skip", "--plugin", moody, "--from", "log")
        folder = tmp_path / "runs"
        folder.mkdir()
        file = folder / "a.jsonl"
        file.write_text(json.dumps({"title": "t", "entries": [SAID]}) + '\n{"title"')
        for one, output in ((file, "out.json"), (folder, "out")):
            _, _, err = hub("convert", one, *silent, "--to", "storyline", "-o", tmp_path / output)
            assert [f"{file}: line 2: fatal: the last line is cut [input.line-cut]"] == [
                line for line in err.splitlines() if "[" in line
            ]

    def test_skip(self, hub: Hub, tmp_path: Path) -> None:
        """`--on-error skip` leaves broken records out, lists them, and ends with exit status 3."""
        file = written(tmp_path / "some.jsonl", STORY, BROKEN, {**STORY, "session": "t"})
        with file.open("a") as lines:
            lines.write('{"schema_version": "storyl')
        status, out, err = hub(
            "convert", file, "--to", "storyline", "--on-error", "skip", "--container", "lines"
        )
        assert (3, ["s", "t"]) == (
            status,
            [json.loads(line)["session"] for line in out.splitlines()],
        )
        assert f"{file}: line 2 /turns/0/src: fatal" in err
        assert f"{file}: line 4: fatal: the last line is cut [input.line-cut]" in err
        assert "2 trajectories in 2 documents, 2 skipped" in err

    def test_from_wins(self, hub: Hub, tmp_path: Path) -> None:
        """`--from` wins over detection; when reading then fails, one line says what detection thinks."""
        file = written(tmp_path / "log.json", {"title": "t", "entries": []})
        plugin = TOYS / "log.py"
        status, _, err = hub(
            "convert", file, "--from", "storyline", "--to", "storyline", "--plugin", plugin
        )
        assert 1 == status
        assert "[storyline.required]" in err

    def test_unknown_format(self, hub: Hub, story: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """An unknown target names the nearest formats; one that is not installed the package that has it."""
        status, _, err = hub("convert", story, "--to", "storylin")
        assert 2 == status
        assert "did you mean storyline?" in err
        monkeypatch.setitem(PACKAGES, "elsewhere", "storyline-hub-elsewhere")
        assert (
            "pip install storyline-hub-elsewhere" in hub("convert", story, "--to", "elsewhere").err
        )

    def test_unknown_option(self, hub: Hub, story: Path) -> None:
        """An option that neither side has, and one without a value, are misuse."""
        status, _, err = hub("convert", story, "--to", "storyline", "--option", "colour=red")
        assert (
            2,
            "hub: no option 'colour' for storyline; `hub formats ID` lists those of a format\n",
        ) == (status, err)
        status, _, err = hub("convert", story, "--to", "storyline", "--option", "colour")
        assert (2, "hub: --option takes NAME=VALUE, not 'colour'\n") == (status, err)

    def test_no_such_zone(self, hub: Hub, story: Path) -> None:
        """A zone that does not exist is misuse, told before anything is read."""
        status, out, err = hub(
            "convert", story, "--to", "storyline", "--assume-timezone", "Mars/Olympus"
        )
        assert (2, "") == (status, out)
        assert "no time zone named 'Mars/Olympus'" in err


class TestValidate:
    def test_valid(self, hub: Hub, story: Path) -> None:
        """A valid file is exit status 0 and one line."""
        assert (0, f"{story}: valid storyline: no problems\n", "") == hub("validate", story)

    def test_problems(self, hub: Hub, tmp_path: Path) -> None:
        """Every problem is listed on standard output: place, severity, expected, found, rule."""
        file = written(tmp_path / "broken.json", BROKEN)
        verdict = f"{file}: not valid storyline: 2 fatal\n"
        assert (1, BROKEN_LINES.format(file=file) + verdict, "") == hub("validate", file)

    def test_every_record(self, hub: Hub, tmp_path: Path) -> None:
        """Validation goes on behind a broken record, and names the line of each problem."""
        file = written(tmp_path / "some.jsonl", BROKEN, STORY, BROKEN)
        status, out, _ = hub("validate", file)
        assert 1 == status
        assert ["line 1", "line 1", "line 3", "line 3"] == [
            line.split(": ")[1].rpartition(" ")[0] for line in out.splitlines()[:-1]
        ]

    def test_many_of_one_kind_are_folded(self, hub: Hub, tmp_path: Path) -> None:
        """After ten problems of one rule the text says how many more there are; JSON has all of them."""
        turns = [{"id": n, "src": "", "msg": ""} for n in range(422)]
        file = written(tmp_path / "many.json", {**STORY, "turns": turns})
        lines = hub("validate", file).out.splitlines()
        assert 12 == len(lines)
        assert f"{file}: … and 412 more [storyline.source]" == lines[10]
        assert 422 == len(json.loads(hub("validate", "--json", file).out)["problems"])

    def test_json(self, hub: Hub, tmp_path: Path) -> None:
        """`--json` has every part of a problem by name."""
        file = written(tmp_path / "broken.jsonl", BROKEN, STORY)
        status, out, err = hub("validate", "--json", file)
        result = json.loads(out)
        assert (1, "", "storyline", False, 2) == (
            status,
            err,
            result["format"],
            result["valid"],
            result["documents"],
        )
        assert {
            "severity": "fatal",
            "rule": "storyline.source",
            "pointer": "/turns/0/src",
            "message": 'expected a non-empty string, found ""',
            "document": "line 1",
            "expected": "a non-empty string",
            "found": '""',
        } == result["problems"][0]

    def test_duplicate_keys(self, hub: Hub, tmp_path: Path) -> None:
        """A key that stands twice is found, with the pointer of its object."""
        file = tmp_path / "twice.json"
        file.write_text(json.dumps(STORY).replace('"src"', '"id": 1, "src"'))
        status, out, _ = hub("validate", file)
        assert 1 == status
        assert f"{file}: /turns/0: error: " in out
        assert "[input.duplicate-key]" in out

    def test_empty_directory(self, hub: Hub, tmp_path: Path) -> None:
        """Of a directory without files that is said."""
        assert (1, "", EMPTY_DIRECTORY.format(directory=tmp_path)) == hub("validate", tmp_path)


class TestReport:
    def test_report_over_files(self, hub: Hub, story: Path, tmp_path: Path) -> None:
        """A report is written neither over the input nor over the output, with `--force` either."""
        before = story.read_bytes()
        output = tmp_path / "out.json"
        convert = ("convert", story, "--to", "storyline", "-o", output, "--force", "--report")

        assert (2, "", f"hub: {story}: the output is the input {story}\n") == hub(*convert, story)
        assert before == story.read_bytes()
        assert (
            2,
            "",
            f"hub: {output}: the report would be written over by the output\n",
        ) == hub(*convert, output)
        assert not output.exists()

    def test_report_of_standard_input(
        self, hub: Hub, story: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Standard input is kept to be read twice, with the same settings as a file, and within the limit."""
        convert = ("convert", "-", "--to", "storyline", "--report", "-")
        broken = written(story.parent / "broken.json", {**STORY, "turns": [], "x": 1}, STORY)
        for file, options in ((story, ("--max-size", "10")), (broken, ("--on-error", "skip"))):
            outcomes = []
            for name in (str(file), "-"):
                with file.open() as stream:
                    monkeypatch.setattr("sys.stdin", stream)
                    status, out, err = hub("convert", name, *convert[2:], *options)
                outcomes.append((status, out, err.replace(f"{file}: ", "").replace("-: ", "")))
            assert outcomes[0] == outcomes[1]

    def test_report(self, hub: Hub, story: Path, tmp_path: Path) -> None:
        """`--report` says what was kept, and does not change the output."""
        plain = hub("convert", story, "--to", "storyline")
        status, out, err = hub("convert", story, "--to", "storyline", "--report", "-")
        assert (0, plain.out) == (status, out)
        assert err.startswith(
            "storyline -> storyline: 6 kept, 0 carried, 0 normalised, 0 dropped, 0 synthesised\n"
        )
        assert (
            0
            == hub(
                "convert", story, "--to", "storyline", "--report", tmp_path / "report.json"
            ).status
        )
        assert 6 == json.loads((tmp_path / "report.json").read_text())["summary"]["kept"]

    def test_fail_on(self, hub: Hub, story: Path, tmp_path: Path) -> None:
        """`--fail-on` ends with exit status 1, and nothing written, when the report has any of that class."""
        target = tmp_path / "out.json"
        arguments = ["convert", story, "--plugin", TOYS / "log.py", "--to", "log", "-o", target]
        status, _, err = hub(*arguments, "--no-carry", "--fail-on", "dropped")
        assert (1, False) == (status, target.exists())
        assert "dropped; nothing is written\n" in err
        assert 0 == hub(*arguments, "--fail-on", "dropped").status
        assert target.exists()
        assert 2 == hub(*arguments, "--fail-on", "everything").status

    def test_without_an_envelope(self, hub: Hub, story: Path, tmp_path: Path) -> None:
        """Where nothing carries what the target cannot hold, that is said; not where nothing is left out."""
        left_out = "what log cannot hold of 1 trajectory is left out; --report lists it\n"
        target = tmp_path / "out.json"
        arguments = ["convert", story, "--plugin", TOYS / "log.py", "--to", "log", "-o", target]
        assert hub(*arguments, "--no-carry").err.endswith(left_out)
        assert left_out not in hub(*arguments, "--force").err
        assert left_out not in hub(*arguments, "--no-carry", "--force", "--quiet").err
        own = ["convert", story, "--to", "storyline", "-o", tmp_path / "own.json", "--no-carry"]
        assert "left out" not in hub(*own).err


class TestDiff:
    def test_equal(self, hub: Hub, story: Path, tmp_path: Path) -> None:
        """Files that say the same are equal, also in two formats: exit status 0."""
        other = tmp_path / "run.log.json"
        hub("convert", story, "--plugin", TOYS / "log.py", "--to", "log", "-o", other)
        assert (0, "equal: 1 trajectory\n", "") == hub("diff", story, other)

    def test_different(self, hub: Hub, story: Path, tmp_path: Path) -> None:
        """Files that differ show the turns and the first differences by pointer: exit status 1."""
        other = written(
            tmp_path / "b.json", {**STORY, "turns": [{"id": 1, "src": "user", "msg": "ho"}]}
        )
        status, out, err = hub("diff", story, other)
        assert (1, "") == (status, err)
        assert '  /turns/0/msg: "hi" | "ho"\n' in out
        assert json.loads(hub("diff", "--json", story, other).out)["equal"] is False

    def test_standard_input_twice(self, hub: Hub) -> None:
        """Standard input on both sides is misuse."""
        message = "hub: standard input can be read only once; name a file for A or B\n"
        assert (2, "", message) == hub("diff", "-", "-")

    def test_limit(self, hub: Hub, story: Path) -> None:
        """A negative limit is misuse."""
        assert 2 == hub("diff", story, story, "--show", "-3").status


class TestFailuresAsJson:
    @pytest.mark.parametrize("command", ["detect", "validate"])
    def test_unknown(self, hub: Hub, tmp_path: Path, command: str) -> None:
        """Of a file of no known format `--json` gives the problem, and nothing else is said."""
        file = written(tmp_path / "x.json", {"a": 1})
        status, out, err = hub(command, "--json", file)
        shown = json.loads(out)
        assert (1, "", str(file), None) == (status, err, shown["file"], shown["format"])
        assert ["detect.unknown"] == [one["rule"] for one in shown["problems"]]

    @pytest.mark.parametrize("command", ["detect", "validate"])
    def test_every_file_has_a_line(
        self, hub: Hub, story: Path, tmp_path: Path, command: str
    ) -> None:
        """With `--json` each input has its line, also one that is not there."""
        (tmp_path / "empty").mkdir()
        for name, status, message in (
            ("none.json", 2, "no such file or directory"),
            (
                "empty",
                1,
                "the directory holds no files; name a file, or a directory that holds some",
            ),
        ):
            alone = hub(command, "--json", tmp_path / name)
            assert (status, message) == (alone.status, json.loads(alone.out)["message"])
        several = hub(command, "--json", story, tmp_path / "none.json")
        assert (3, [str(story), str(tmp_path / "none.json")]) == (
            several.status,
            [json.loads(line)["file"] for line in several.out.splitlines()],
        )


class TestSizes:
    @pytest.mark.parametrize("size", ["-1", "1.5GB", "ten", "10XB", "٣"])
    def test_misuse(self, hub: Hub, story: Path, size: str) -> None:
        """What is no number, with or without a unit, is misuse."""
        message = f"hub: limit size: {size!r} is no number, such as 1000, 10MB or 2GiB\n"
        assert (2, "", message) == hub("validate", story, "--max-size", size)


class TestFormats:
    def test_rules(self, hub: Hub) -> None:
        """With an id, the rules of the format are shown, each with its severity and what it asks for."""
        lines = hub("formats", "storyline").out.splitlines()
        assert "    storyline.source  [fatal]  expected a non-empty string" in lines

    def test_json(self, hub: Hub) -> None:
        """`--json` lists the formats with what they can do."""
        status, out, _ = hub("formats", "--json")
        own = next(one for one in json.loads(out) if one["id"] == "storyline")
        assert (0, ["storyline/v1"], ["storyline/v1"], "storyline-hub 0.1.0") == (
            status,
            own["reads"],
            own["writes"],
            own["distribution"],
        )

    def test_table(self, hub: Hub) -> None:
        """Piped, a format is a line of a table, whose columns are named and aligned."""
        head, *lines = hub("formats").out.splitlines()
        line = next(one for one in lines if one.startswith("storyline "))
        assert ["id", "can", "versions", "distribution", "title"] == head.split()
        assert "storyline/v1" == line[head.index("versions") :].split()[0]
        assert "Storyline" == line[head.index("title") :]
        assert "\t" not in line

    def test_terminal(self, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
        """On a terminal long cells are folded, so that no line is wider than it."""
        monkeypatch.setenv("COLUMNS", "60")
        monkeypatch.setattr("sys.stdout.isatty", lambda: True)
        lines = hub("formats").out.splitlines()
        assert 60 >= max(map(len, lines))
        assert [] == [
            word for word in ("storyline", "read,", "write") if word not in "".join(lines)
        ]

    def test_one(self, hub: Hub) -> None:
        """With an id, the options of the format are shown, that of every format among them."""
        status, out, _ = hub("formats", "storyline")
        assert 0 == status
        assert "    conform (yes|no)  [write]  " in out

    def test_one_file_plugin(self, hub: Hub) -> None:
        """`--plugin` adds the format of a file."""
        assert "\nlog " in hub("formats", "--plugin", TOYS / "log.py").out


class TestPlugins:
    def test_broken_file(self, hub: Hub, tmp_path: Path) -> None:
        """A one-file plugin that cannot be loaded is named with the reason."""
        plugin = tmp_path / "bad.py"
        plugin.write_text("import nowhere_to_be_found\n")
        status, _, err = hub("plugins", "--plugin", plugin)
        assert 1 == status
        assert f"hub: the plugin {plugin} cannot be used: ModuleNotFoundError" in err

    def test_extensions(self, hub: Hub) -> None:
        """Extensions are listed behind the formats; the doctor knows them too."""
        rows = [line.split() for line in hub("plugins").out.splitlines()]
        assert ["redact", "extension", "ok", "storyline-hub", "0.1.0"] in rows
        assert ["storyline", "format", "ok", "storyline-hub", "0.1.0"] in rows
        found = {one["id"]: one["kind"] for one in json.loads(hub("plugins", "--json").out)}
        assert ("extension", "format") == (found["redact"], found["storyline"])
        assert (0, "redact of storyline-hub 0.1.0: ok\n", "") == hub("plugins", "doctor", "redact")

    def test_broken_extension(self, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
        """An extension that cannot be loaded is named with the reason, and the doctor shows the trace."""
        points = [EntryPoint("lost", "nowhere_to_be_found", "hub-lost", "1.0")]
        monkeypatch.setattr("hub.registry.entry_points", lambda _: points)
        rows = [line.split()[:7] for line in hub("plugins").out.splitlines()]
        assert ["lost", "extension", "broken", "hub-lost", "1.0", "the", "extension"] in rows
        status, out, _ = hub("plugins", "doctor", "lost")
        assert 1 == status
        assert "ModuleNotFoundError: No module named 'nowhere_to_be_found'" in out

    def test_doctor(self, hub: Hub) -> None:
        """The doctor says of a plugin that it works, and of one that is not there what there is."""
        assert (0, "storyline of storyline-hub 0.1.0: ok\n", "") == hub(
            "plugins", "doctor", "storyline"
        )
        assert "did you mean storyline?" in hub("plugins", "doctor", "storylin").err
