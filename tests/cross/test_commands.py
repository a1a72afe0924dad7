"""The command line on ACTF and ALE: real-looking files, directories, and everything that breaks converters.

Each call runs the program in this process, except where standard input is read. Sources: design.md, failure;
validation.md 2; carrier.md 10.3; pitfalls of the formats.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import hub as api
from hub.cli.app import run

Json = Any

EXAMPLES = Path(__file__).parent.parent.parent / "examples"

pytestmark = pytest.mark.skipif(
    not {"actf", "ale"} <= set(api.formats), reason="needs ACTF and ALE"
)


class Outcome(NamedTuple):
    """What one run of the program did."""

    status: int
    out: str
    err: str


Hub = Callable[..., Outcome]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def hub(here: Path, capfd: pytest.CaptureFixture[str]) -> Hub:
    """Run the program in this process, in the folder of the test; whatever happens, no trace is shown."""
    del here

    def call(*arguments: str) -> Outcome:
        status = run(list(arguments))
        captured = capfd.readouterr()
        assert "Traceback" not in captured.err
        assert "internal error" not in captured.err
        return Outcome(status, captured.out, captured.err)

    return call


def piped(data: bytes, *arguments: str) -> tuple[int, bytes, str]:
    """Run the program with *data* as its standard input."""
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-m", "hub", *arguments], input=data, capture_output=True, check=False
    )
    assert b"Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr.decode()


def example(name: str) -> str:
    """Copy the example *name* into the current folder."""
    shutil.copy(EXAMPLES / name, name)
    return name


def load(path: str) -> Json:
    return json.loads(Path(path).read_bytes())


def write(path: str, *documents: Json) -> str:
    """Write *documents*, one a line, to *path*."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(document) + "\n" for document in documents)
    Path(path).write_text(text, encoding="utf-8")
    return path


def below(folder: str) -> list[str]:
    """Return the files below *folder*."""
    return sorted(
        path.relative_to(folder).as_posix() for path in Path(folder).rglob("*") if path.is_file()
    )


# Documents

T0, T1 = "2026-01-01 00:00:00+00:00", "2026-01-01 00:00:01+00:00"
METRIC = dict.fromkeys(
    ("prompt_tokens_len", "completion_tokens_len", "llm_infer_ms", "env_action_ms", "stop_reason")
)


def step(number: int, *tools: Json, **members: Json) -> Json:
    """Return a step of ACTF which calls *tools*, as it is written."""
    return {
        "step_id": number,
        "assistant_content": {"content": "c", "reasoning_content": "", "tool_calls": list(tools)},
        "metric": METRIC,
        "system_prompt": "",
        "user_content": "",
        "tools": list(tools),
        "observation": [],
        "started_at": T0,
        "finished_at": T1,
        **members,
    }


def actf(*steps: Json, **members: Json) -> Json:
    """Return an ACTF document with one attempt, as it is written."""
    trajectory = {
        "schema_version": "ACTF_v1.0",
        "started_at": T0,
        "finished_at": T1,
        "steps": list(steps),
    }
    attempt = {
        "correct": False,
        "final_answer": None,
        "ground_truth": "g",
        "status": "completed",
        "score": None,
        "error": "",
        "artifacts": {},
        "extra": {},
        "analysis_result": {},
        "meta": {},
        "trajectory": trajectory,
    }
    return {
        "task_id": "t",
        "category": "c",
        "k": 1,
        "correct": False,
        "attempts_tried": 1,
        "solved_at": None,
        "attempts": {"1": attempt},
        **members,
    }


def ale(*steps: Json, **members: Json) -> Json:
    """Return an ALE document."""
    return {
        "schema_version": "ALE-v1.0",
        "episode_id": "e",
        "agent": {"name": "cc"},
        "task_path": "web/dark",
        "variant_index": 2,
        "steps": [{"step_id": number, **one} for number, one in enumerate(steps, start=1)],
        **members,
    }


def call(name: str = "f", **members: Json) -> Json:
    """Return a tool call of ACTF."""
    return {"type": "tool_use", "name": name, "input": {}, **members}


def text(words: str) -> Json:
    return [{"type": "text", "text": words}]


def steps_of(document: Json) -> Json:
    """Return the steps of an ACTF document with one attempt."""
    return document["attempts"]["1"]["trajectory"]["steps"]


# The commands


class TestFormats:
    def test_list(self, hub: Hub) -> None:
        """Each format is a line: id, what can be done with it, versions, distribution, title."""
        status, out, err = hub("formats")
        assert (0, "") == (status, err)
        by_id = {line.split()[0]: re.split("  +", line)[1:] for line in out.splitlines()}
        assert [
            "read, write",
            "ACTF_v1.0, ACTF_v1.0 in records of AgentCompass 1.0",
            "storyline-hub-actf 0.1.0",
            "ACTF: benchmark tasks and the attempts at them",
        ] == by_id["actf"]
        assert "ATIF-v1.0 to ATIF-v1.8" == by_id["atif"][1]

    def test_options(self, hub: Hub) -> None:
        """The options of a format are shown with it."""
        lines = hub("formats", "ale").out.splitlines()
        options = lines[lines.index("  options") + 1 : lines.index("  rules")]
        assert ["task_path", "variant_index", "conform"] == [line.split()[0] for line in options]

    def test_json(self, hub: Hub) -> None:
        """Programs get the rules as well, each with its severity."""
        shown = json.loads(hub("formats", "actf", "--json").out)
        assert "actf" == shown["id"]
        assert "error" == next(
            rule["severity"] for rule in shown["rules"] if rule["rule"] == "actf.result-call"
        )

    def test_plugins(self, hub: Hub) -> None:
        """Every installed plugin works."""
        status, out, _ = hub("plugins")
        assert 0 == status
        assert {"ok"} == {line.split()[2] for line in out.splitlines()[1:]}


class TestDetect:
    def test_examples(self, hub: Hub) -> None:
        """Each file is a line: format, version, score and why."""
        example("slugify.actf.json")
        example("dark-mode.ale.json")
        line = (
            'slugify.actf.json: actf ACTF_v1.0 (100): schema_version "ACTF_v1.0" at /attempts/1/trajectory,'
            " and the name ends with .actf.json\n"
            'dark-mode.ale.json: ale ALE-v1.0 (100): schema_version "ALE-v1.0" at /,'
            " and the name ends with .ale.json\n"
        )
        assert (0, line, "") == hub("detect", "slugify.actf.json", "dark-mode.ale.json")

    def test_standard_input(self) -> None:
        """Standard input is detected like a file."""
        status, out, err = piped(json.dumps(ale()).encode(), "detect", "-")
        assert (0, b'-: ale ALE-v1.0 (100): schema_version "ALE-v1.0" at /\n', "") == (
            status,
            out,
            err,
        )

    def test_other_files(self, hub: Hub) -> None:
        """In a folder of files each is detected; what is no trajectory is passed over, what is broken is not."""
        write("runs/a.json", ale())
        write("runs/b/c.json", actf())
        Path("runs/notes.txt").write_text("hi")
        Path("runs/z.json").write_text('{"schema_version": "ALE-v1.0", "epi')
        status, out, err = hub("detect", "runs")
        assert 3 == status
        assert ["runs/a.json: ale", "runs/b/c.json: actf"] == [
            " ".join(line.split()[:2]) for line in out.splitlines()
        ]
        skipped, broken = err.splitlines()
        assert skipped.startswith("runs/notes.txt: skipped: unknown format: a text")
        assert broken.startswith("runs/z.json: fatal: not JSON: ")


class TestValidate:
    def test_examples(self, hub: Hub) -> None:
        """The examples have no errors."""
        names = [example("slugify.actf.json"), example("dark-mode.ale.json")]
        status, out, err = hub("validate", *names)
        assert (0, "") == (status, err)
        assert [f"{names[0]}: valid actf", f"{names[1]}: valid ale"] == [
            line.rpartition(": ")[0] for line in out.splitlines() if ": valid " in line
        ]

    def test_problems(self, hub: Hub) -> None:
        """Every problem is listed with its place and its rule."""
        write("x.json", actf(step(2), step(1, observation=[{"tool_use_id": "gone"}]), k=0))
        late = "/attempts/1/trajectory/steps/1/observation/0/tool_use_id"
        expected = "expected no reference, since the step has no call"
        status, out, err = hub("validate", "x.json")
        assert (1, "") == (status, err)
        assert [
            "x.json: /k: error: expected an integer above 0, found 0 [actf.k]",
            "x.json: /attempts/1/trajectory/steps/1/step_id: error: expected more than 2, found 1 [actf.step-order]",
            f'x.json: {late}: error: {expected}, found "gone" [actf.result-call]',
            "x.json: not valid actf: 3 errors",
        ] == out.splitlines()


class TestConvert:
    def test_there_and_back(self, hub: Hub) -> None:
        """An ACTF file comes back from ALE as it was, members that no specification knows among them."""
        example("slugify.actf.json")
        assert (0, "", "actf -> ale: 2 trajectories in 2 documents in run.ale.json\n") == hub(
            "convert", "slugify.actf.json", "--to", "ale", "-o", "run.ale.json"
        )
        assert (0, "", "ale -> actf: 2 trajectories in 1 document in back.json\n") == hub(
            "convert", "run.ale.json", "--to", "actf", "-o", "back.json"
        )
        assert load("slugify.actf.json") == load("back.json")

    def test_back_and_there(self, hub: Hub) -> None:
        """An ALE file comes back from ACTF as ALE writes it."""
        example("dark-mode.ale.json")
        hub("convert", "dark-mode.ale.json", "--to", "ale", "-o", "itself.json")
        hub("convert", "dark-mode.ale.json", "--to", "actf", "-o", "run.actf.json")
        hub("convert", "run.actf.json", "--to", "ale", "-o", "back.json")
        assert Path("itself.json").read_bytes() == Path("back.json").read_bytes()

    def test_pipe(self) -> None:
        """From standard input to standard output, twice, nothing is lost; what was done is told elsewhere."""
        data = (EXAMPLES / "slugify.actf.json").read_bytes()
        status, middle, err = piped(data, "convert", "-", "--to", "ale")
        assert (0, "actf -> ale: 2 trajectories in 2 documents\n") == (status, err)
        status, back, _ = piped(middle, "convert", "-", "--to", "actf", "-o", "-")
        assert (0, json.loads(data)) == (status, json.loads(back))

    def test_same_bytes(self, hub: Hub) -> None:
        """The same input gives the same bytes."""
        example("slugify.actf.json")
        for name in ("a.json", "b.json"):
            hub("convert", "slugify.actf.json", "--to", "ale", "-o", name)
        assert Path("a.json").read_bytes() == Path("b.json").read_bytes()

    def test_from(self, hub: Hub) -> None:
        """`--from` wins over detection, and the error says what detection thinks."""
        write("x.json", ale())
        status, out, err = hub("convert", "x.json", "--from", "actf", "--to", "storyline")
        assert (1, "") == (status, out)
        assert err.startswith("x.json: /task_id: fatal: ")
        assert err.endswith('hub: detection says ale (100): schema_version "ALE-v1.0" at /\n')

    def test_strict(self, hub: Hub) -> None:
        """With `--strict` an error refuses the input, all problems are told, and nothing is written."""
        write("x.json", ale(nick="x", vendor=1))
        status, out, err = hub("convert", "x.json", "--to", "actf", "--strict", "-o", "out.json")
        assert (1, "") == (status, out)
        assert [
            "x.json: /nick: fatal: unknown key [ale.unknown-key]",
            "x.json: /vendor: fatal: unknown key [ale.unknown-key]",
        ] == err.splitlines()
        assert ["x.json"] == below(".")
        assert 0 == hub("convert", "x.json", "--to", "actf", "-o", "out.json").status

    def test_no_carry(self, hub: Hub) -> None:
        """Without envelopes the output is smaller, valid, and does not give the source back."""
        example("slugify.actf.json")
        convert = ("convert", "slugify.actf.json", "--to", "ale")
        assert 0 == hub(*convert, "--no-carry", "-o", "bare.json").status
        assert b"_storyline" not in Path("bare.json").read_bytes()
        assert 0 == hub("validate", "bare.json").status
        hub("convert", "bare.json", "--to", "actf", "-o", "back.json")
        assert load("slugify.actf.json") != load("back.json")

    def test_options(self, hub: Hub) -> None:
        """Options go to the format that declares them; what it does not take is misuse."""
        example("slugify.actf.json")
        convert = ("convert", "slugify.actf.json", "--to", "ale", "-o", "out.json", "--option")
        assert 0 == hub(*convert, "task_path=a/b", "--option", "variant_index=7").status
        assert [("a/b", 7)] * 2 == [
            (one["task_path"], one["variant_index"]) for one in load("out.json")
        ]
        for option, message in (
            ("variant_index=x", "option 'variant_index' of ale takes an integer, not 'x'"),
            ("conform=maybe", "option 'conform' of ale takes yes or no, not 'maybe'"),
            (
                "colour=red",
                "no option 'colour' for actf nor ale; `hub formats ID` lists those of a format",
            ),
        ):
            assert (2, "", f"hub: {message}\n") == hub(*convert, option, "--force")
        assert ("a/b", 7) == (
            load("out.json")[0]["task_path"],
            load("out.json")[0]["variant_index"],
        )

    def test_conform(self, hub: Hub) -> None:
        """A document with errors is written without them when it is to conform, and the rest is carried."""
        write("x.json", actf(step(2), step(1), category="", vendor=1))
        assert 0 == hub("convert", "x.json", "--to", "actf", "-o", "same.json").status
        assert load("x.json") == load("same.json")
        option = ("--option", "conform=yes")
        assert 0 == hub("convert", "x.json", "--to", "actf", *option, "-o", "good.json").status
        assert 0 == hub("validate", "good.json").status
        assert "vendor" not in load("good.json")
        hub("convert", "good.json", "--to", "ale", "-o", "far.json")
        hub("convert", "far.json", "--to", "actf", "-o", "back.json")
        assert 1 == load("back.json")["vendor"]


class TestContainers:
    def test_array(self, hub: Hub) -> None:
        """Several documents are an array."""
        example("slugify.actf.json")
        hub("convert", "slugify.actf.json", "--to", "ale", "--container", "array", "-o", "x.json")
        assert ["textkit-slugify-accents#attempt-1", "textkit-slugify-accents#attempt-2"] == [
            one["episode_id"] for one in load("x.json")
        ]

    def test_lines(self, hub: Hub) -> None:
        """Or a line each, also by the name of the file."""
        example("slugify.actf.json")
        convert = ("convert", "slugify.actf.json", "--to", "ale")
        hub(*convert, "--container", "lines", "-o", "a.txt")
        hub(*convert, "-o", "b.jsonl")
        lines = Path("a.txt").read_bytes()
        assert lines == Path("b.jsonl").read_bytes()
        assert 2 == lines.count(b"\n") == len(list(map(json.loads, lines.splitlines())))

    def test_object(self, hub: Hub) -> None:
        """An object holds one document; where there are several nothing is written."""
        example("slugify.actf.json")
        example("dark-mode.ale.json")
        hub(
            "convert", "dark-mode.ale.json", "--to", "actf", "--container", "object", "-o", "x.json"
        )
        assert "task_id" in load("x.json")
        status, out, err = hub(
            "convert", "slugify.actf.json", "--to", "ale", "--container", "object", "-o", "y.json"
        )
        assert (2, "", "hub: more than one document; array, lines and dir hold several\n") == (
            status,
            out,
            err,
        )
        assert ["dark-mode.ale.json", "slugify.actf.json", "x.json"] == below(".")

    @pytest.mark.parametrize("container", ["array", "lines", "dir"])
    def test_all_are_read(self, hub: Hub, container: str) -> None:
        """Whatever container the documents are in, they come back as one ACTF document."""
        example("slugify.actf.json")
        hub("convert", "slugify.actf.json", "--to", "ale", "--container", container, "-o", "x")
        assert 0 == hub("convert", "x", "--to", "actf", "-o", "back.json").status
        assert load("slugify.actf.json") == load("back.json")

    def test_gathered(self, hub: Hub) -> None:
        """Attempts at one task from many lines are one ACTF document, and tasks stay apart."""
        runs = [
            ale(episode_id=str(number), task_path=f"task-{number % 2}", variant_index=0)
            for number in range(4)
        ]
        write("x.jsonl", *runs)
        assert (0, "", "ale -> actf: 4 trajectories in 2 documents in y.json\n") == hub(
            "convert", "x.jsonl", "--to", "actf", "-o", "y.json"
        )
        assert [("task-0", ["1", "2"]), ("task-1", ["1", "2"])] == [
            (one["task_id"], list(one["attempts"])) for one in load("y.json")
        ]

    def test_family(self, hub: Hub) -> None:
        """A sub-agent is a task of its own in ACTF, and inside its parent again in ALE."""
        write("x.json", ale(subagent_trajectories=[ale(episode_id="sub")]))
        hub("convert", "x.json", "--to", "ale", "-o", "itself.json")
        hub("convert", "x.json", "--to", "actf", "-o", "apart.jsonl")
        assert 2 == len(Path("apart.jsonl").read_text().splitlines())
        hub("convert", "apart.jsonl", "--to", "ale", "-o", "back.json")
        assert load("itself.json") == load("back.json")

    @pytest.mark.parametrize("through", ["actf", "storyline"])
    def test_families_alike(self, hub: Hub, through: str) -> None:
        """Sub-agents that have one id in several runs come back to their own run."""
        runs = [
            ale(
                {"source": "user", "message": name},
                episode_id=name,
                subagent_trajectories=[
                    ale({"source": "user", "message": f"for {name}"}, episode_id="searcher")
                ],
            )
            for name in "abc"
        ]
        write("x.jsonl", *runs)
        hub("convert", "x.jsonl", "--to", "ale", "-o", "itself.jsonl")
        hub("convert", "x.jsonl", "--to", through, "-o", "y.jsonl")
        hub("convert", "y.jsonl", "--to", "ale", "-o", "back.jsonl")
        assert Path("itself.jsonl").read_bytes() == Path("back.jsonl").read_bytes()


class TestDirectories:
    @pytest.mark.skipif("atif" not in api.formats, reason="needs ATIF")
    def test_one_input(self, hub: Hub) -> None:
        """A directory of files of a format that is named becomes one file again; without the name it stays many."""
        file = example("slugify.actf.json")
        hub("convert", file, "--to", "atif", "--container", "dir", "-o", "runs")
        assert ["document-1.atif.json", "document-2.atif.json"] == below("runs")
        back = ("--to", "actf", "-o", "back.json")
        status, _, err = hub("convert", "runs", "--from", "atif", *back)
        assert (0, "atif -> actf: 2 trajectories in 1 document in back.json\n") == (status, err)
        assert load(file) == load("back.json")
        assert 2 == len(list(api.read("runs", format="atif")))
        status, _, err = hub("convert", "runs", "--to", "actf", "-o", "other.json")
        assert (2, "--from FORMAT makes one input of a directory\n") == (
            status,
            err.split("; ")[-1],
        )
        hub("convert", "runs", "--from", "atif", "--to", "actf", "-o", "out")
        assert ["document-1.actf.json", "document-2.actf.json"] == below("out")[-2:]

    RUN = "textkit-slugify-accents/v0/textkit-slugify-accents_attempt-{}/trajectory.json"

    @pytest.mark.parametrize("target", ["runs/", "runs"])
    def test_runs(self, hub: Hub, target: str) -> None:
        """Into a directory, runs are laid out as the benchmark does, and are read as a whole again."""
        example("slugify.actf.json")
        if target == "runs":
            Path(target).mkdir()
        hub("convert", "slugify.actf.json", "--to", "ale", "-o", target)
        assert [self.RUN.format(1), self.RUN.format(2)] == below("runs")
        assert "runs: ale (85): a file trajectory.json below it\n" == hub("detect", "runs").out
        assert "runs: valid ale: " in hub("validate", "runs").out
        hub("convert", "runs", "--to", "actf", "-o", "back.json")
        assert load("slugify.actf.json") == load("back.json")

    def test_existing_file(self, hub: Hub) -> None:
        """Where one of the files is there already, none is written without `--force`."""
        example("slugify.actf.json")
        write("runs/" + self.RUN.format(2), "mine")
        convert = ("convert", "slugify.actf.json", "--to", "ale", "-o", "runs/")
        status, _, err = hub(*convert)
        assert 2 == status
        assert "--force" in err
        assert [self.RUN.format(2)] == below("runs")
        assert "mine" == load("runs/" + self.RUN.format(2))
        assert 0 == hub(*convert, "--force").status
        assert [self.RUN.format(1), self.RUN.format(2)] == below("runs")

    def test_broken_file(self, hub: Hub) -> None:
        """One broken run of many stops the conversion, or is left out."""
        write("runs/a/trajectory.json", ale(episode_id="a"))
        Path("runs/b").mkdir()
        Path("runs/b/trajectory.json").write_text('{"schema_version": "ALE-v1.0", "epi')
        write("runs/c/trajectory.json", ale(episode_id="c"))
        status, _, err = hub("convert", "runs", "--to", "storyline", "-o", "out.jsonl")
        assert 1 == status
        assert err.startswith("runs: b/trajectory.json: fatal: not JSON: ")
        assert not Path("out.jsonl").exists()
        status, _, err = hub(
            "convert", "runs", "--to", "storyline", "-o", "out.jsonl", "--on-error", "skip"
        )
        assert 3 == status
        assert err.endswith(
            "ale -> storyline: 2 trajectories in 2 documents in out.jsonl, 1 skipped\n"
        )
        assert ["a", "c"] == [
            json.loads(line)["session"] for line in Path("out.jsonl").read_text().splitlines()
        ]


TASK = {
    "schema_version": "agentcompass.task.v3",
    "task_id": "issue/7",
    "category": "swe",
    "ground_truth": ["a.py"],
    "attempt_plan": {"k": 3, "strategy": "pass"},
    "attempts": {"1": "attempt-1", "2": "attempt-2"},
}


def result(*steps: Json, **members: Json) -> Json:
    """Return the `result.json` of an attempt, as AgentCompass writes it."""
    trajectory = {
        "schema_version": "ACTF_v1.0",
        "started_at": None,
        "finished_at": None,
        "steps": list(steps),
    }
    return {
        "status": "completed",
        "metrics": {"correct": True, "score": 1.0},
        "final_answer": "done",
        "trajectory": trajectory if steps else {},
        "issues": [],
        "artifacts": {},
        "analysis_result": {},
        "meta": {},
        "retry_count": 0,
        **members,
    }


def task_folder(folder: str, task_id: str = "issue/7", *, retries: int = 0) -> None:
    """Write the folder of one task with two attempts, the first of which never ran."""
    write(f"{folder}/task.json", {**TASK, "task_id": task_id})
    write(f"{folder}/attempt-1/result.json", result(status="run_error", retry_count=retries))
    clock = "2026-11-03 08:15:02"
    write(f"{folder}/attempt-2/result.json", result(step(1, started_at=clock, finished_at=None)))


class TestRecords:
    """What the producer of ACTF writes today: actf-records.md 2."""

    def test_folder(self, hub: Hub) -> None:
        """The folder of a task is one record, wherever one starts to read."""
        task_folder("details/normal/issue_7--0", retries=2)
        for name, path in (
            ("run", "."),
            ("details", "details"),
            ("task", "details/normal/issue_7--0"),
            ("file", "details/normal/issue_7--0/task.json"),
        ):
            assert 0 == hub("convert", path, "--to", "actf", "-o", f"../{name}.json").status
            record = load(f"../{name}.json")
            assert ("issue/7", 2, {"1": 2}) == (
                record["task_id"],
                record["retry_count"],
                record["retry_counts"],
            )
            assert {"k": 3, "strategy": "pass"} == record["attempt_plan"]
            assert [("run_error", {}), ("completed", ["a.py"])] == [
                (record["attempts"]["1"]["status"], record["attempts"]["1"]["trajectory"]),
                (record["attempts"]["2"]["status"], record["ground_truth"]),
            ]

    def test_running(self, hub: Hub) -> None:
        """A task that is still running is left out, and that is told."""
        task_folder("details/normal/a", "a")
        task_folder("details/running/b", "b")
        status, _, err = hub("convert", "details", "--to", "actf", "-o", "out.jsonl")
        assert 0 == status
        assert "[actf.record-running]" in err
        assert ["a"] == [
            json.loads(line)["task_id"] for line in Path("out.jsonl").read_text().splitlines()
        ]

    def test_path_that_leaves(self, hub: Hub) -> None:
        """A directory name that leaves the folder of its task is not followed; the other attempts are read."""
        task_folder("a")
        write("secret/result.json", result(final_answer="secret"))
        (Path("a") / "link").symlink_to(Path("secret").resolve())
        for name in ("../secret", str(Path("secret").resolve()), "link", "attempt-1/../../secret"):
            task = {**TASK, "attempts": {"1": name, "2": "attempt-2"}}
            Path("a/task.json").write_text(json.dumps(task))
            status, out, err = hub("convert", "a", "--to", "actf")
            assert 0 == status, name
            assert "[actf.record-" in err, name
            assert ["2"] == list(json.loads(out)["attempts"]), name
            assert "secret" not in json.dumps(json.loads(out)["attempts"])

    def test_missing_attempt(self, hub: Hub) -> None:
        """An attempt without a result is told, and the others are read."""
        task_folder("a")
        Path("a/attempt-1/result.json").unlink()
        status, out, err = hub("convert", "a", "--to", "actf")
        assert (0, ["2"]) == (status, list(json.loads(out)["attempts"]))
        assert "[actf.record-missing]" in err

    def test_through_ale(self, hub: Hub) -> None:
        """A record comes back from ALE as a record."""
        task_folder("a")
        hub("convert", "a", "--to", "actf", "-o", "record.json")
        hub("convert", "a", "--to", "ale", "-o", "runs/")
        assert 0 == hub("validate", "runs").status
        hub("convert", "runs", "--to", "actf", "-o", "back.json")
        assert load("record.json") == load("back.json")


class TestTimezone:
    SOURCE = "2026-11-03 08:15:02"

    def test_kept(self, hub: Hub) -> None:
        """A time without a zone is kept, not guessed; a warning says what reads it."""
        write("x.json", actf(step(1, started_at=self.SOURCE)))
        status, out, err = hub("convert", "x.json", "--to", "ale")
        assert 0 == status
        assert (
            f"x.json: /attempts/1/trajectory/steps/0/started_at: warning: expected a date-time with an offset,"
            f' found "{self.SOURCE}"; --assume-timezone ZONE reads it [actf.time]'
        ) == err.splitlines()[0]
        assert "timestamp" not in json.loads(out)["steps"][0]

    @pytest.mark.parametrize(
        ("zone", "instant"),
        [
            ("Asia/Shanghai", "2026-11-03T00:15:02.000000Z"),
            ("+01:30", "2026-11-03T06:45:02.000000Z"),
            ("UTC", "2026-11-03T08:15:02.000000Z"),
        ],
    )
    def test_assumed(self, hub: Hub, zone: str, instant: str) -> None:
        """With a zone it is read, each with a warning, and the source text comes back."""
        write("x.json", actf(step(1, started_at=self.SOURCE)))
        zoned = ("--assume-timezone", zone)
        status, _, err = hub("convert", "x.json", "--to", "ale", *zoned, "-o", "y.json")
        assert 0 == status
        assert f'no offset in "{self.SOURCE}", assumed {zone} [actf.time]' in err
        assert instant == load("y.json")["steps"][0]["timestamp"]
        hub("convert", "y.json", "--to", "actf", "-o", "back.json")
        hub("convert", "x.json", "--to", "actf", *zoned, "-o", "itself.json")
        assert load("itself.json") == load("back.json")
        assert self.SOURCE == steps_of(load("back.json"))[0]["started_at"]

    def test_validate(self, hub: Hub) -> None:
        """Validation takes the zone as well."""
        write("x.json", ale({"source": "user", "message": "x", "timestamp": self.SOURCE}))
        assert "reads it [ale.time]" in hub("validate", "x.json").out
        assert "assumed UTC [ale.time]" in hub("validate", "x.json", "--assume-timezone", "UTC").out


PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(200))).decode()
JPEG = base64.b64encode(b"\xff\xd8\xff" + bytes(50)).decode()


def image(data: str, media_type: str = "image/png", **members: Json) -> Json:
    source = {"type": "base64", "media_type": media_type, "data": data, **members}
    return {"type": "image", "image": source}


PICTURES = ale(
    {"source": "user", "message": [*text("look"), image(PNG, alt_text="a"), image("no base64!")]},
    {
        "source": "agent",
        "message": "",
        "tool_calls": [{"id": "t", "name": "shot", "arguments": {}}],
    },
    {
        "source": "environment",
        "observation": {
            "results": [
                {
                    "tool_call_id": "t",
                    "content": [
                        image(PNG),
                        image(f"data:image/jpeg;base64,{JPEG}"),
                        image("", path="../../etc/passwd", type="path"),
                    ],
                }
            ]
        },
    },
)


class TestImages:
    FILES = ("screenshots/0000.png", "screenshots/0001.jpg")

    @pytest.mark.parametrize("carry", [(), ("--no-carry",)], ids=["carry", "no carry"])
    @pytest.mark.parametrize("through", ["ale", "actf", "storyline"])
    def test_beside_the_output(self, hub: Hub, carry: tuple[str, ...], through: str) -> None:
        """Inline images become numbered files beside the output, equal ones one, and are nowhere in the document."""
        write("x.json", PICTURES)
        hub("convert", "x.json", "--to", through, "-o", "source.json")
        Path("out").mkdir()
        before = below(".")
        status, _, err = hub(
            "convert",
            "source.json",
            "--to",
            "ale",
            "--extract-images",
            *carry,
            "-o",
            "out/run.json",
        )
        assert 0 == status
        assert "no base64: the image stays inline [ale.inline-image]" in err
        assert sorted([*before, "out/run.json", *(f"out/{name}" for name in self.FILES)]) == below(
            "."
        )
        assert base64.b64decode(PNG) == Path("out", self.FILES[0]).read_bytes()
        assert base64.b64decode(JPEG) == Path("out", self.FILES[1]).read_bytes()
        written = Path("out/run.json").read_text()
        assert [] == [one for one in (PNG, JPEG) if one[:40] in written]
        images = list(_images(load("out/run.json")))
        assert [self.FILES[0], None, *self.FILES, "../../etc/passwd"] == [
            one["path"] for one in images
        ]

    def test_not_carried(self, hub: Hub) -> None:
        """What is taken out does not come back inside, but as what it was written: a path."""
        write("x.json", PICTURES)
        hub("convert", "x.json", "--to", "ale", "--extract-images", "-o", "runs/")
        assert ["trajectory.json", *(f"{name}" for name in self.FILES)] != []
        assert 0 == hub("convert", "runs", "--to", "actf", "-o", "y.json").status
        assert PNG[:40] not in Path("y.json").read_text()
        assert 3 == Path("y.json").read_text().count(self.FILES[0]) + Path(
            "y.json"
        ).read_text().count(self.FILES[1])

    def test_own_folder(self, hub: Hub) -> None:
        """In a directory each run has its images in its own folder, numbered through."""
        runs = [{**PICTURES, "episode_id": name} for name in ("a", "../../b")]
        write("x.jsonl", *runs)
        hub("convert", "x.jsonl", "--to", "ale", "--extract-images", "-o", "runs/")
        folders = ["web__dark/v2/..__..__b", "web__dark/v2/a"]
        found = below("runs")
        assert folders == sorted(
            {name.rsplit("/", 1)[0].removesuffix("/screenshots") for name in found}
        )
        for folder in folders:
            document = load(f"runs/{folder}/trajectory.json")
            paths = {
                one["path"] for one in _images(document) if one["path"] and ".." not in one["path"]
            }
            assert paths == {
                name.removeprefix(f"{folder}/") for name in found if f"{folder}/screenshots" in name
            }
        assert not Path("../b").exists()

    def test_nothing_replaced(self, hub: Hub) -> None:
        """An image that is there already is not replaced, and then nothing is written."""
        write("x.json", PICTURES)
        write("out/screenshots/0001.jpg", "mine")
        convert = ("convert", "x.json", "--to", "ale", "--extract-images", "-o", "out/run.json")
        assert 2 == hub(*convert).status
        assert ["screenshots/0001.jpg"] == below("out")
        assert "mine" == load("out/screenshots/0001.jpg")

    def test_misuse(self, hub: Hub) -> None:
        """Images need a format that has files, and a file to be beside of."""
        write("x.json", PICTURES)
        convert = ("convert", "x.json", "--extract-images", "--to")
        assert (
            2,
            "",
            "hub: actf has no files beside a document: no --extract-images\n",
        ) == hub(*convert, "actf", "-o", "y.json")
        assert (
            2,
            "",
            "hub: --extract-images writes files beside the output; name one with -o\n",
        ) == hub(*convert, "ale")


def _images(value: Json) -> Iterator[dict[str, Json]]:
    """Yield the images of a document, in order, envelopes aside."""
    if isinstance(value, dict):
        if isinstance(value.get("image"), dict):
            yield value["image"]
        for key, member in value.items():
            if key != "_storyline":
                yield from _images(member)
    elif isinstance(value, list):
        for element in value:
            yield from _images(element)


# What breaks converters

BOTH = {
    "actf": actf(step(1, call(id="c"), observation=[{"tool_use_id": "c", "content": "x"}])),
    "ale": ale({"source": "user", "message": "hi"}, {"source": "agent", "message": "yo"}),
}
each = pytest.mark.parametrize("format", list(BOTH))
OTHER = {"actf": "ale", "ale": "actf"}


def with_text(format: str, value: str) -> str:
    """Return the text of a document with `vendor` at its root, spelled as *value*."""
    return json.dumps(BOTH[format])[:-1] + f', "vendor": {value}}}'


def refused(hub: Hub, name: str, *arguments: str) -> str:
    """Convert *name*, which is refused with exit status 1 and one line, and writes nothing; return that line."""
    before = below(".")
    status, out, err = hub("convert", name, "--to", "storyline", "-o", "out.json", *arguments)
    assert (1, "", before) == (status, out, below("."))
    (line,) = err.splitlines()
    return line


@each
class TestPitfalls:
    @pytest.mark.parametrize(
        "value",
        [
            "[18446744073709551616, -9223372036854775809, 123456789012345678901234567890]",
            "[1e400, -1e400, 1, 1.0, 0.1, 1e2, -0.0]",
            r'"bytes \udc88 from a tool"',
            r'{"\ud800": "\udfff"}',
            '{"": {"/": {"~1": [null, {}, [], ""]}}}',
            '{"k": ' * 400 + "1" + "}" * 400,
        ],
        ids=["integers", "numbers", "surrogate", "surrogate key", "keys", "deep"],
    )
    def test_exact(self, hub: Hub, format: str, value: str) -> None:
        """Numbers of any size, lone surrogates and odd keys come back from every format, spelled as before."""
        Path("x.json").write_text(with_text(format, value))
        spelled = "".join(value.replace("1e2", "100.0").split())
        assert 0 == hub("convert", "x.json", "--to", format, "-o", "itself.json").status
        for target in (OTHER[format], "storyline"):
            assert 0 == hub("convert", "x.json", "--to", target, "-o", f"{target}.json").status
            back = f"{target}-back.json"
            assert 0 == hub("convert", f"{target}.json", "--to", format, "-o", back).status
            assert load("itself.json") == load(back)
            for name in ("itself.json", f"{target}.json", back):
                assert spelled in "".join(Path(name).read_text(encoding="utf-8").split())

    @pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "01", "+1", ".5", "1."])
    def test_no_numbers(self, hub: Hub, format: str, value: str) -> None:
        """What is no number in JSON is refused, with the place."""
        Path("x.json").write_text(with_text(format, value))
        line = refused(hub, "x.json", "--from", format)
        assert line.startswith("x.json: ")
        assert ": fatal: not JSON: " in line
        assert " at line 1 column " in line
        assert line.endswith(" [input.json]")

    def test_duplicate_keys(self, hub: Hub, format: str) -> None:
        """A key that stands twice is an error of validation, and refused when strict; the last value counts."""
        Path("x.json").write_text(with_text(format, '{"a": 1, "b": 0, "a": 2}'))
        status, out, _ = hub("validate", "x.json")
        assert 1 == status
        assert "x.json: /vendor: error: " in out
        assert "[input.duplicate-key]" in out
        assert 1 == hub("convert", "x.json", "--to", "storyline", "--strict").status
        _, out, _ = hub("convert", "x.json", "--to", "storyline")
        fields = json.loads(out)["unknown_fields"]["sources"][format]["fields"]
        assert {"a": 2, "b": 0} == fields["/vendor"]

    @pytest.mark.parametrize(
        "encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-16-be", "utf-32-le"]
    )
    def test_encodings(self, hub: Hub, format: str, encoding: str) -> None:
        """A byte-order mark says the encoding, and makes no other difference."""
        plain = with_text(format, '"héllo 🜁"')
        Path("plain.json").write_text(plain, encoding="utf-8")
        mark = "\ufeff" if encoding[-3:] in ("-be", "-le") else ""
        Path("x.json").write_text(mark + plain, encoding=encoding)
        for name in ("plain", "x"):
            assert (
                0 == hub("convert", f"{name}.json", "--to", "storyline", "-o", f"{name}.out").status
            )
        assert Path("plain.out").read_bytes() == Path("x.out").read_bytes()
        if encoding != "utf-8-sig":
            assert "[input.utf16]" in hub("validate", "x.json").out

    def test_no_encoding(self, hub: Hub, format: str) -> None:
        """Bytes that are not UTF-8 are refused, with their place."""
        Path("x.json").write_bytes(with_text(format, '"é"').encode("latin-1"))
        offset = len(with_text(format, '"')) - 1
        expected = f"x.json: fatal: not UTF-8: byte 0xe9 at offset {offset} [input.encoding]"
        assert expected == refused(hub, "x.json")

    def test_too_deep(self, hub: Hub, format: str) -> None:
        """More than 512 levels are refused, on the way in and on the way out."""
        Path("x.json").write_text(with_text(format, '{"k": ' * 3000 + "1" + "}" * 3000))
        assert "more than 512 levels" in refused(hub, "x.json")
        Path("x.json").write_text(with_text(format, '{"k": ' * 511 + "1" + "}" * 511))
        status, _, err = hub("convert", "x.json", "--to", OTHER[format], "-o", "out.json")
        assert 1 == status
        assert err.splitlines()[-1].endswith(
            "the output would have more than 512 levels of arrays and objects [input.depth]"
        )
        assert ["x.json"] == below(".")

    @pytest.mark.parametrize(
        ("data", "rule"),
        [
            (lambda text: text[:0], "input.empty"),
            (lambda text: text[:0] + b" \n\t", "input.empty"),
            (lambda text: text[:-10], "input.json"),
            (lambda text: text[:100] + b"\0" + text[100:], "input.encoding"),
            (lambda text: text + b" x", "input.trailing"),
            (lambda text: text + b"]", "input.trailing"),
            (lambda text: b"[" + text + b",", "input.json"),
            (lambda text: text[:0] + b"[]", "input.no-documents"),
            (lambda text: b"[" + text + b", 5]", "input.record"),
            (lambda text: gzip.compress(text)[:-9], "input.compressed"),
            (lambda text: gzip.compress(text)[:60] + b"xxxxxxxxxxx", "input.compressed"),
        ],
        ids=[
            "empty",
            "blank",
            "cut",
            "null byte",
            "trailing",
            "bracket",
            "cut array",
            "empty array",
            "number",
            "cut gzip",
            "damaged gzip",
        ],
    )
    def test_broken(self, hub: Hub, format: str, data: Callable[[bytes], bytes], rule: str) -> None:
        """A broken input is refused by the rule that says how, with and without `--from`; nothing is written."""
        Path("x.json").write_bytes(data(json.dumps(BOTH[format]).encode()))
        assert refused(hub, "x.json", "--from", format).endswith(f" [{rule}]")
        detected = refused(hub, "x.json")
        is_unknown = rule in ("input.no-documents", "input.record")
        assert detected.endswith(" [detect.unknown]" if is_unknown else f" [{rule}]")

    @pytest.mark.parametrize("torn", [20, 60])
    def test_torn_lines(self, hub: Hub, format: str, torn: int) -> None:
        """A cut last line and a broken one in the middle are told apart; the rest can be had."""
        whole = json.dumps(BOTH[format])
        Path("end.jsonl").write_text(f"{whole}\n{whole[:torn]}")
        assert "end.jsonl: line 2: fatal: the last line is cut [input.line-cut]" == refused(
            hub, "end.jsonl"
        )
        Path("middle.jsonl").write_text(f"{whole}\n{whole[:torn]}\n{whole}\n")
        line = refused(hub, "middle.jsonl")
        assert line.startswith("middle.jsonl: line 2")
        assert "at line 2 column " in line
        assert line.endswith(" [input.line]")
        for name, count in (("end", 1), ("middle", 2)):
            arguments = ("--to", format, "--container", "lines", "--on-error", "skip")
            status, out, err = hub("convert", f"{name}.jsonl", *arguments)
            assert 3 == status
            assert f"{name}.jsonl: line 2" in err
            assert err.endswith(", 1 skipped\n")
            assert count == len(out.splitlines())

    @pytest.mark.parametrize("name", ["x.json", "x.json.gz", "x.jsonl.zst"])
    def test_compression_by_content(self, hub: Hub, format: str, name: str) -> None:
        """What is compressed is found by its first bytes, whatever the name says."""
        text = json.dumps(BOTH[format]).encode()
        for data in (text, gzip.compress(text)):
            Path(name).write_bytes(data)
            assert (
                0 == hub("convert", name, "--to", "storyline", "-o", "out.json", "--force").status
            )

    def test_compressed_output(self, hub: Hub, format: str) -> None:
        """An output whose name says so is compressed, and is read again."""
        write("x.json", BOTH[format])
        hub("convert", "x.json", "--to", OTHER[format], "-o", "y.json.gz")
        hub("convert", "x.json", "--to", OTHER[format], "-o", "y.json")
        assert gzip.decompress(Path("y.json.gz").read_bytes()) == Path("y.json").read_bytes()
        assert 0 == hub("convert", "y.json.gz", "--to", format, "-o", "back.json").status

    def test_output_is_input(self, hub: Hub, format: str) -> None:
        """The input is never written over, whatever name it has, also with `--force`."""
        write("x.json", BOTH[format])
        before = Path("x.json").read_bytes()
        os.link("x.json", "hard.json")
        Path("soft.json").symlink_to("x.json")
        for name in ("x.json", "./x.json", "hard.json", "soft.json"):
            for force in ((), ("--force",)):
                assert (
                    2 == hub("convert", "x.json", "--to", OTHER[format], "-o", name, *force).status
                )
        assert before == Path("x.json").read_bytes()
        assert ["hard.json", "soft.json", "x.json"] == below(".")

    def test_existing_output(self, hub: Hub, format: str) -> None:
        """What is there is kept without `--force`, and when the input falls short also with it."""
        write("x.json", BOTH[format])
        Path("out.json").write_text("mine")
        convert = ("--to", OTHER[format], "-o", "out.json")
        assert (2, "", "hub: out.json: exists; --force replaces it\n") == hub(
            "convert", "x.json", *convert
        )
        Path("bad.json").write_text("{")
        assert 1 == hub("convert", "bad.json", "--from", format, *convert, "--force").status
        assert "mine" == Path("out.json").read_text()
        assert 0 == hub("convert", "x.json", *convert, "--force").status
        assert ["bad.json", "out.json", "x.json"] == below(".")
        assert "mine" != Path("out.json").read_text()

    def test_no_folder(self, hub: Hub, format: str) -> None:
        """A folder that is not there is misuse, and is not made."""
        write("x.json", BOTH[format])
        status, _, err = hub("convert", "x.json", "--to", "storyline", "-o", "no/such/out.json")
        assert (2, ["x.json"]) == (status, below("."))
        assert "no such folder" in err

    @pytest.mark.parametrize(
        ("envelope", "rule"),
        [
            (None, "envelope.shape"),
            ({"unknown_fields": {"version": 2, "by_trajectory": {}}}, "envelope.version"),
            (
                {"unknown_fields": {"version": 1, "by_trajectory": {"/no/node": {"sources": {}}}}},
                None,
            ),
            (
                {"unknown_fields": {"version": 1, "by_trajectory": {"": {"sources": {}}}}, "x": 1},
                "envelope.shape",
            ),
        ],
        ids=["null", "version", "carrier", "extra key"],
    )
    def test_tampered_envelope(
        self, hub: Hub, format: str, envelope: Json, rule: str | None
    ) -> None:
        """A broken envelope is refused by name; it is never half read."""
        document = json.loads(json.dumps(BOTH[format]))
        if format == "ale":
            document["extra"] = {"_storyline": envelope}
        else:
            document["attempts"]["1"]["_storyline"] = envelope
        write("x.json", document)
        assert refused(hub, "x.json").endswith(f" [{rule or 'envelope.carrier'}]")


class TestPitfallsOfActf:
    ARGUMENTS = ({"a": 1}, '{"a": 1}', '{"a":  1', "[1]", "", [1], 5, False)

    def test_arguments(self, hub: Hub) -> None:
        """Arguments stay as they are; a target that needs an object keeps the value in one, and makes up none."""
        tools = [call(id=f"c{i}", input=value) for i, value in enumerate(self.ARGUMENTS)]
        write("x.json", actf(step(1, *tools)))
        hub("convert", "x.json", "--to", "actf", "-o", "itself.json")
        assert load("x.json") == load("itself.json")
        hub("convert", "x.json", "--to", "ale", "-o", "y.json")
        calls = load("y.json")["steps"][0]["tool_calls"]
        assert [{"a": 1}, *({"_raw": value} for value in self.ARGUMENTS[1:])] == [
            one["arguments"] for one in calls
        ]
        hub("convert", "y.json", "--to", "actf", "-o", "back.json")
        assert load("x.json") == load("back.json")

    def test_call_ids(self, hub: Hub) -> None:
        """Ids that are missing, repeated and used again pair inside their step, and come back untouched."""
        document = actf(
            step(
                1,
                call("f"),
                call("g", id="call_0"),
                call("h", id="call_0"),
                observation=[{"tool_use_id": "call_0", "content": "first"}],
            ),
            step(
                2,
                call("g", id="call_0"),
                observation=[
                    {"tool_use_id": "call_0", "content": "second"},
                    {"tool_use_id": "gone", "content": "late"},
                ],
            ),
        )
        write("x.json", document)
        assert 0 == hub("convert", "x.json", "--to", "ale", "-o", "y.json").status
        steps = load("y.json")["steps"]
        assert [["step-1-tool-0", "call_0", "call_0#2"], [], ["call_0#3"], []] == [
            [one["id"] for one in each["tool_calls"]] for each in steps
        ]
        assert [[], [("call_0", "first")], [], [("call_0#3", "second"), ("gone", "late")]] == [
            [
                (one["tool_call_id"], one["content"][0]["text"])
                for one in (each["observation"] or {"results": []})["results"]
            ]
            for each in steps
        ]
        hub("convert", "y.json", "--to", "actf", "-o", "back.json")
        first = document["attempts"]["1"]["trajectory"]["steps"][0]
        for tools in (first["tools"], first["assistant_content"]["tool_calls"]):
            tools[0] = {"id": "step-1-tool-0", **tools[0]}  # actf.md: a missing id is positional
        assert document == load("back.json")

    def test_times(self, hub: Hub) -> None:
        """Times of every spelling come back as they were; none is guessed, and none that is missing is filled in."""
        times = [
            "2026-01-01T10:00:00",
            "2026-01-01T10:00:00Z",
            "2026-01-01T18:00:00+08:00",
            "2026-01-01T10:00:00.123456789Z",
            1767261600,
            1767261600000,
        ]
        write("x.json", actf(*[step(n, started_at=one) for n, one in enumerate(times, start=1)]))
        hub("convert", "x.json", "--to", "ale", "-o", "y.json")
        assert [
            None,
            "2026-01-01T10:00:00.000000Z",
            "2026-01-01T10:00:00.000000Z",
            "2026-01-01T10:00:00.123456Z",
            None,
            None,
        ] == [one.get("timestamp") for one in load("y.json")["steps"]]
        hub("convert", "y.json", "--to", "actf", "-o", "back.json")
        assert load("x.json") == load("back.json")

    def test_order_of_attempts(self, hub: Hub) -> None:
        """Attempts keep their keys and their order through ALE, also where the keys are no numbers."""
        attempt = actf(step(1))["attempts"]["1"]
        keys = ["01", "1", "10", "2", "a/b~c", "ü"]
        write("x.json", actf(attempts=dict.fromkeys(keys, attempt), k=6, attempts_tried=6))
        hub("convert", "x.json", "--to", "ale", "-o", "y.json")
        hub("convert", "y.json", "--to", "actf", "-o", "back.json")
        assert load("x.json") == load("back.json")
        assert keys == list(load("back.json")["attempts"])


class TestPitfallsOfAle:
    def test_missing_null_and_empty(self, hub: Hub) -> None:
        """No message and an empty one stay two things, through ACTF too; neither becomes a word."""
        steps = [
            {"source": "agent", "message": None},
            {"source": "agent", "message": ""},
            {"source": "agent"},
        ]
        write("x.json", ale(*steps))
        hub("convert", "x.json", "--to", "actf", "-o", "y.json")
        assert ["", "", ""] == [
            one["assistant_content"]["content"] for one in steps_of(load("y.json"))
        ]
        hub("convert", "y.json", "--to", "ale", "-o", "back.json")
        assert [None, "", None] == [one["message"] for one in load("back.json")["steps"]]

    def test_unlinked_result(self, hub: Hub) -> None:
        """A result of a call that nobody made is kept, told by validation, and comes back."""
        reply = {"results": [{"tool_call_id": "gone", "content": text("late")}]}
        write(
            "x.json",
            ale(
                {"source": "agent", "message": ""}, {"source": "environment", "observation": reply}
            ),
        )
        assert "[ale.result-call]" in hub("validate", "x.json").out
        hub("convert", "x.json", "--to", "ale", "-o", "itself.json")
        hub("convert", "x.json", "--to", "actf", "-o", "y.json")
        assert "late" in Path("y.json").read_text()
        hub("convert", "y.json", "--to", "ale", "-o", "back.json")
        assert load("itself.json") == load("back.json")

    def test_paths_are_not_opened(self, hub: Hub) -> None:
        """Paths of images are text: nothing is opened, copied or checked, wherever they point."""
        Path("secret.png").write_bytes(b"secret")
        paths = ["secret.png", "../x.png", "/etc/passwd", "file:///etc/passwd", "C:\\x.png"]
        parts = [image("", path=path, type="path") for path in paths]
        write("x.json", ale({"source": "user", "message": parts}))
        hub("convert", "x.json", "--to", "ale", "--extract-images", "-o", "out/")
        assert ["web__dark/v2/e/trajectory.json"] == below("out")
        written = load("out/web__dark/v2/e/trajectory.json")
        assert paths == [one["path"] for one in _images(written)]

    def test_names_of_folders(self, hub: Hub) -> None:
        """No part of a document makes a file outside the output folder."""
        names = ["..", "../../up", "/abs", "", "a\0b", "C:\\x", "~", ".", "e\ne"]
        write("x.jsonl", *(ale(episode_id=name or "x", task_path=name) for name in names))
        Path("in").mkdir()
        assert 0 == hub("convert", "x.jsonl", "--to", "ale", "-o", "in/out/").status
        assert len(names) == len(below("in/out"))
        assert ["in", "x.jsonl"] == sorted(path.name for path in Path().iterdir())
        assert ["out"] == [path.name for path in Path("in").iterdir()]
