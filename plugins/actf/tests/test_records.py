"""Records of AgentCompass, and the directories that hold them: actf-records.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hub_actf import plugin

import hub
from hub import Problem, Source

from .builders import (
    M0,
    T0,
    T1,
    A,
    T,
    document,
    fields,
    parse,
    problems,
    read,
    read_one,
    record,
    record_attempt,
    record_step,
    step,
    storyline,
    write,
    written,
)

Json = Any

FUNCTION = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": {"a": 1}}}
PLAN = {"/attempt_plan/strategy": "pass"}


def with_attempt(value: Json) -> Json:
    """Return a record with one attempt."""
    return record(attempts={"1": value})


class TestMapping:
    """Section 4: what a record has in other places."""

    def test_every_part_has_its_place(self) -> None:
        """A record is read as a document is, its own members in their fields."""
        value = record(
            record_step(),
            ground_truth={"tests": ["a"]},
            attempt_plan={"k": 3, "strategy": "pass"},
            retry_count=2,
            retry_counts={"1": 2},
            attempts={
                "1": record_attempt(
                    record_step(),
                    metrics={"correct": False, "score": 0.5, "f1": 1},
                    status="run_error",
                    issues=[
                        {"severity": "warning", "message": "w"},
                        {"severity": "fatal", "message": "reset"},
                    ],
                    artifacts={"patch": "p"},
                    meta={"benchmark": {"suite": "demo"}},
                )
            },
        )
        expected = {
            "schema_version": "storyline/v1",
            "origin": {"format": "actf", "schema_version": "ACTF_v1.0"},
            "run": "t",
            "attempt_id": "1",
            "session": "t",
            "agent": {"id": "actf-agent", "name": "ACTF Agent"},
            "task": {
                "llm": {"k": 3},
                "result": {
                    "correct": False,
                    "score": 0.5,
                    "status": "run_error",
                    "error": "reset",
                    "ground_truth": {"tests": ["a"]},
                    "artifacts": {"patch": "p"},
                    "category": "c",
                    "retry_count": 2,
                    "retry_counts": {"1": 2},
                },
            },
            "final_metrics": {
                "correct": False,
                "score": 0.5,
                "status": "run_error",
                "analysis_result": {},
            },
            "meta": {"benchmark": {"suite": "demo"}},
            "turns": [{"id": 1, "src": "agent", "nllm": 1, "msg": "c", "metrics": M0}],
            "unknown_fields": {
                "sources": {
                    "actf": {
                        "source_document_id": "t",
                        "fields": {
                            "/attempt_plan/strategy": "pass",
                            "/attempts/1/metrics/f1": 1,
                            "/attempts/1/issues": [
                                {"severity": "warning", "message": "w"},
                                {"severity": "fatal", "message": "reset"},
                            ],
                        },
                    }
                }
            },
            "unknown_key_counts": {
                "actf": {
                    "/attempt_plan/strategy": 1,
                    "/attempts/1/metrics/f1": 1,
                    "/attempts/1/issues": 1,
                }
            },
        }

        assert problems(value) == []
        assert read_one(value) == expected
        assert written(value) == value

    def test_members_of_the_other_form_are_unknown(self) -> None:
        """What only the RFC has is kept as any unknown member."""
        more = {"correct": True, "attempts_tried": 1, "solved_at": "x", "k": 1}
        value = record(
            attempts={"1": record_attempt(correct=True, score=1, max_score=2, error="e", extra={})},
            **more,
        )
        found = read_one(value)

        assert "extra" not in found
        assert set(fields(value)) == {
            "/attempt_plan/strategy",
            *(f"/{key}" for key in more),
            *(f"{A}/{key}" for key in ("correct", "score", "max_score", "error", "extra")),
        }
        assert written(value) == value

    def test_the_order_of_the_numbers(self) -> None:
        """Attempts come by number; keys that are none come last."""
        keys = ["x", "10", "9", "01"]
        value = record(
            attempt_plan={"k": 10, "strategy": "pass"},
            attempts={key: record_attempt() for key in keys},
        )

        assert [one.attempt_id for one in read(value)] == ["9", "10", "01", "x"]
        assert list(written(value)["attempts"]) == ["9", "10", "01", "x"]

    @pytest.mark.parametrize(
        ("metrics", "result", "left"),
        [
            ({"correct": 1, "score": True}, {}, {"correct": 1, "score": True}),
            ({"score": 0}, {"score": 0}, {}),
            ({}, {}, {}),
        ],
    )
    def test_metrics(self, metrics: Json, result: Json, left: Json) -> None:
        """A correctness that is no boolean and a score that is no number are residuals."""
        value = with_attempt(record_attempt(metrics=metrics))
        found = read_one(value)["task"]["result"]

        assert {key: found[key] for key in found if key in ("correct", "score")} == result
        assert fields(value) == {
            **PLAN,
            **{f"{A}/metrics/{key}": member for key, member in left.items()},
        }
        assert written(value) == value

    @pytest.mark.parametrize("never", [{}, [], None])
    def test_an_attempt_that_never_ran(self, never: Json) -> None:
        """A trajectory of an attempt that did not run comes back as it was."""
        value = with_attempt(record_attempt(trajectory=never))

        assert problems(value) == []
        assert read_one(value)["turns"] == []
        assert fields(value) == {**PLAN, T: never}
        assert written(value) == value

    def test_times_may_be_null(self) -> None:
        """An unknown time is no problem, and is written as one."""
        value = record(record_step(started_at=T0), record_step(step_id=2, finished_at=T1))

        assert problems(value) == []
        assert written(value) == value

    def test_times_without_a_zone(self) -> None:
        """Times as the producer writes them are residuals, and come back."""
        value = record(
            record_step(started_at="2026-11-03 08:15:07.735000", finished_at="2026-11-03 08:15:10")
        )

        assert [one.split("[")[-1] for one in problems(value)] == ["actf.time]"] * 2
        assert written(value) == value

    def test_an_event_array(self) -> None:
        """A log in the place of a trajectory is read as in the other form."""
        event = {"type": "message", "message": {"role": "user", "content": "u"}}
        value = with_attempt(record_attempt(trajectory=[event]))

        assert [turn["msg"] for turn in read_one(value)["turns"]] == ["u"]
        assert [one.split("[")[-1] for one in problems(value)] == ["actf.events]"]


class TestSteps:
    """Sections 3 and 5: steps as the producer writes them."""

    def test_functions(self) -> None:
        """Calls as functions come from and go to the second list."""
        value = record(record_step(tool_calls=[FUNCTION]))

        assert read_one(value)["turns"][0]["tool_calls"] == [
            {"tcid": "c", "fn": "bash", "args": {"a": 1}, "kind": "function"}
        ]
        assert written(value) == value

    def test_functions_with_an_outcome(self) -> None:
        """What came back stands beside the function."""
        tool = {**FUNCTION, "aggregated_output": "o", "status": "s", "exit_code": 1}
        value = record(record_step(tool_calls=[tool]))

        assert written(value) == value

    def test_functions_in_the_first_list(self) -> None:
        """Functions of the first list move to the second, with their unknown members."""
        value = record(record_step(tools=[{**FUNCTION, "zz": 1}]))
        expected = record(record_step(tool_calls=[{**FUNCTION, "zz": 1}]))

        assert written(value) == expected

    @pytest.mark.parametrize(
        "tool",
        [
            {"id": "c", "type": "tool_use", "name": "bash", "input": {"a": 1}},
            {"id": "c", "name": "bash", "input": {}},
        ],
    )
    def test_other_calls(self, tool: Json) -> None:
        """A step with another call is written as in the other form."""
        value = record(record_step(tools=[tool], tool_calls=[tool]))

        assert written(value) == value

    @pytest.mark.parametrize(
        "more",
        [
            {"function": {"name": "bash", "arguments": {"a": 1}, "x": 1}},
            {"function": {"name": "bash", "arguments": {"a": 2}}, "input": {"a": 1}},
            {"input": {"a": 1}, "arguments": {"a": 2}},
        ],
    )
    def test_functions_that_say_more(self, more: Json) -> None:
        """A call whose `function` or `arguments` come back is written beside them."""
        tool = {"id": "c", "type": "function", "name": "bash", **more}
        value = record(record_step(tool_calls=[tool]))
        again = written(value)

        (only,) = again["attempts"]["1"]["trajectory"]["steps"][0]["assistant_content"][
            "tool_calls"
        ]
        assert only == {**tool, "input": {"a": 1}}
        assert read_one(again)["turns"] == read_one(value)["turns"]

    def test_lists_that_differ(self) -> None:
        """Where the second list is a residual, the calls stand in the first."""
        other = {**FUNCTION, "id": "d"}
        value = record(record_step(tools=[FUNCTION], tool_calls=[other]))
        again = written(value)["attempts"]["1"]["trajectory"]["steps"][0]

        assert again["assistant_content"]["tool_calls"] == [other]
        assert [tool["id"] for tool in again["tools"]] == ["c"]

    def test_pairing_by_position(self) -> None:
        """As many observations as calls, none with a reference, answer them one by one."""
        calls = [FUNCTION, {**FUNCTION, "id": "d"}]
        seen = [{"content": "1"}, {"content": "2"}]
        value = record(record_step(tool_calls=calls, observation=seen))

        assert read_one(value)["turns"][0]["observation"] == {
            "results": [
                {"content": "1", "source_call_id": "c"},
                {"content": "2", "source_call_id": "d"},
            ]
        }
        assert written(value) == value

    @pytest.mark.parametrize(
        "seen", [[{"content": "1"}], [{"id": "c"}, {"content": "2"}], ["text", {"content": "2"}]]
    )
    def test_no_pairing(self, seen: Json) -> None:
        """Otherwise each observation says itself what it answers; texts are kept as they are."""
        calls = [FUNCTION, {**FUNCTION, "id": "d"}]
        value = record(record_step(tool_calls=calls, observation=seen))
        results = read_one(value)["turns"][0]["observation"]["results"]

        named = [one.get("source_call_id") for one in results if isinstance(one, dict)]
        assert named == (["d"] if seen[0] == "text" else ["c", None] if len(seen) == 2 else [None])
        assert written(value) == value

    @pytest.mark.parametrize("seen", ["text", ["a"]])
    def test_texts_are_no_problem(self, seen: Json) -> None:
        """An observation may be a text or an array."""
        assert problems(record(record_step(observation=[seen]))) == []
        assert len(problems(record(record_step(observation=[5])))) == 1

    def test_no_pairing_in_the_other_form(self) -> None:
        """Documents of the RFC pair by reference only."""
        tool = {"id": "c", "name": "n", "input": {}}
        value = document(step(tools=[tool], observation=[{"content": "1"}]))

        assert read_one(value)["turns"][0]["observation"] == {"results": [{"content": "1"}]}


class TestForm:
    """Section 5: which form is written."""

    def test_conformed(self) -> None:
        """With `conform` a record becomes a document of the RFC; what that has no place for is named to the hub."""
        value = record(record_step(tool_calls=[FUNCTION]))
        found = written(value, conform="yes")

        assert problems(found) == []
        assert "attempt_plan" not in found
        assert (found["correct"], found["k"], found["attempts_tried"]) == (False, 1, 1)
        assert found["attempts"]["1"]["correct"] is True

    def test_without_the_mark(self) -> None:
        """Storylines which are not all from a record are written as the RFC has it."""
        one = read(record(record_step()))[0]
        other = read(document(step(), task_id="t"))[0]
        other.attempt_id = "2"
        (found,) = write([one, other])

        assert "attempt_plan" not in found
        assert list(found["attempts"]) == ["1", "2"]

    def test_fields_that_were_unset(self) -> None:
        """What a Storyline does not say is written as the producer writes it."""
        one = read(record(record_step()))[0]
        one.task, one.final_metrics, one.meta = None, None, None
        (found,) = write([one])

        expected = record(record_step(), category=None)
        del expected["retry_count"], expected["retry_counts"]
        expected["attempts"]["1"].update(status="", metrics={})
        del expected["attempts"]["1"]["analysis_result"]
        assert found == expected

    def test_a_foreign_storyline(self) -> None:
        """A Storyline of another origin is never a record."""
        (found,) = write([storyline()])

        assert "attempt_plan" not in found


TASK: Json = {
    "schema_version": "agentcompass.task.v3",
    "task_id": "t",
    "category": "c",
    "ground_truth": None,
    "attempt_plan": {"k": 3, "strategy": "pass"},
    "attempts": {"1": "attempt-1", "2": "attempt-2"},
}


class TestDirectories:
    """Section 2: a task in several files."""

    def make(self, folder: Path, task: Json = None, **results: Json) -> Path:
        """Make a task directory, with a `result.json` for each of *results*."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "task.json").write_text(json.dumps(task or TASK), encoding="utf-8")
        for name, result in results.items():
            inner = folder / name.replace("_", "-")
            inner.mkdir()
            text = result if isinstance(result, str) else json.dumps(result)
            (inner / "result.json").write_text(text, encoding="utf-8")
        return folder

    @staticmethod
    def parsed(path: Path) -> tuple[list[Any], list[Problem]]:
        """Return the documents of a directory, or of a file, and what is said of the input."""
        source = Source.open(path)
        return list(plugin.parse(source)), source.problems

    def test_a_task(self, tmp_path: Path) -> None:
        """Task and results are one record, with the counts of all retries."""
        one = record_attempt(record_step())
        two = record_attempt(trajectory={})
        folder = self.make(
            tmp_path, attempt_1={**one, "retry_count": 0}, attempt_2={**two, "retry_count": 2}
        )
        (found,), problems_ = self.parsed(folder)

        assert found.value.value == {
            "task_id": "t",
            "category": "c",
            "ground_truth": None,
            "attempt_plan": {"k": 3, "strategy": "pass"},
            "retry_count": 2,
            "retry_counts": {"2": 2},
            "attempts": {"1": one, "2": two},
        }
        assert (found.problems, problems_) == ([], [])

    def test_a_file_of_the_task(self, tmp_path: Path) -> None:
        """A `task.json` alone stands for its directory."""
        folder = self.make(tmp_path, attempt_1=record_attempt(), attempt_2=record_attempt())
        (found,), _ = self.parsed(folder / "task.json")

        assert list(found.value.value["attempts"]) == ["1", "2"]

    def test_retries_without_a_result(self, tmp_path: Path) -> None:
        """An attempt that was only retried is counted, but is no attempt yet."""
        folder = self.make(tmp_path, attempt_1=record_attempt(), attempt_2={"retry_count": 3})
        (found,), _ = self.parsed(folder)

        assert list(found.value.value["attempts"]) == ["1"]
        assert found.value.value["retry_counts"] == {"2": 3}
        assert found.problems == []

    def test_a_run(self, tmp_path: Path) -> None:
        """Every task of a run is a document, in path order; one that is running is not read."""
        attempt = record_attempt()
        for state in ("normal/b", "error/a", "running/c"):
            self.make(tmp_path / "details" / state, attempt_1=attempt, attempt_2=attempt)
        found, problems_ = self.parsed(tmp_path)

        assert [one.record.place for one in found] == ["details/error/a", "details/normal/b"]
        assert [str(problem) for problem in problems_] == [
            (
                "details/running/c: warning: the task is still running: not read "
                "[actf.record-running]"
            )
        ]

    @pytest.mark.parametrize("below", ["", "c", "c/task.json"])
    def test_a_running_task(self, tmp_path: Path, below: str) -> None:
        """A task that is running is known by where its directory is, however it was given."""
        folder = tmp_path / "details" / "running"
        self.make(folder / "c", attempt_1=record_attempt(), attempt_2=record_attempt())
        found, problems_ = self.parsed(folder / below)

        assert found == []
        assert [problem.rule for problem in problems_] == ["actf.record-running"]

    @pytest.mark.parametrize("directory", ["/attempt-1", "../x/attempt-1", "", 5, "..\\x"])
    def test_a_path_that_leaves_the_directory(self, tmp_path: Path, directory: Json) -> None:
        """A directory outside that of the task is not read; the other attempts are."""
        task = {**TASK, "attempts": {"1": directory, "2": "attempt-2"}}
        folder = self.make(
            tmp_path / "x", task, attempt_1=record_attempt(), attempt_2=record_attempt()
        )
        (found,), _ = self.parsed(folder)

        (problem,) = found.problems
        assert str(problem).startswith(
            "/attempts/1: error: expected a directory inside that of the task, found "
        )
        assert problem.rule == "actf.record-path"
        assert list(found.value.value["attempts"]) == ["2"]

    def test_a_link(self, tmp_path: Path) -> None:
        """Nothing behind a symbolic link is read."""
        self.make(tmp_path / "other", attempt_1=record_attempt())
        folder = self.make(tmp_path / "x", attempt_2=record_attempt())
        (folder / "attempt-1").symlink_to(tmp_path / "other" / "attempt-1")
        (found,), _ = self.parsed(folder)

        assert [problem.rule for problem in found.problems] == ["actf.record-missing"]
        assert list(found.value.value["attempts"]) == ["2"]

    @pytest.mark.parametrize("result", [None, "{", "[]", "5"])
    def test_a_missing_result(self, tmp_path: Path, result: str | None) -> None:
        """An attempt without a result that can be read is not read; the others are."""
        results: dict[str, Json] = {"attempt_2": record_attempt()}
        if result is not None:
            results["attempt_1"] = result
        (found,), _ = self.parsed(self.make(tmp_path, **results))

        (problem,) = found.problems
        assert (problem.rule, problem.pointer) == ("actf.record-missing", "/attempts/1")
        assert list(found.value.value["attempts"]) == ["2"]

    @pytest.mark.parametrize(("text", "rule"), [("{", "input.json"), ("[]", "actf.object")])
    def test_a_broken_task(self, tmp_path: Path, text: str, rule: str) -> None:
        """A `task.json` that cannot be read refuses that task."""
        folder = self.make(tmp_path / "b", attempt_1=record_attempt(), attempt_2=record_attempt())
        (folder / "task.json").write_text(text, encoding="utf-8")
        self.make(tmp_path / "c", attempt_1=record_attempt(), attempt_2=record_attempt())
        (broken, other), _ = self.parsed(tmp_path)

        assert broken.is_fatal
        assert [problem.rule for problem in broken.problems] == [rule]
        assert not other.is_fatal

    def test_files_of_an_attempt(self, tmp_path: Path) -> None:
        """A `task.json` that an attempt left behind is no task."""
        folder = self.make(tmp_path, attempt_1=record_attempt(), attempt_2=record_attempt())
        self.make(folder / "attempt-1" / "work")

        assert len(self.parsed(folder)[0]) == 1

    def test_a_conversion(self, tmp_path: Path) -> None:
        """A run is converted to one record a task, without the version of the container."""
        folder = self.make(
            tmp_path / "x",
            attempt_1={**record_attempt(record_step(tool_calls=[FUNCTION])), "retry_count": 1},
            attempt_2=record_attempt(trajectory={}),
        )
        found = write(hub.read(folder / "task.json"))

        assert found == [
            record(
                attempt_plan={"k": 3, "strategy": "pass"},
                retry_count=1,
                retry_counts={"1": 1},
                attempts={
                    "1": record_attempt(record_step(tool_calls=[FUNCTION])),
                    "2": record_attempt(trajectory={}),
                },
            )
        ]


class TestHugeNumbers:
    """Attempt keys that look like numbers."""

    def test_many_digits(self) -> None:
        """A number of thousands of digits is a key like any other."""
        key = "9" * 5000
        value = record(attempts={key: record_attempt()})

        assert not parse(value).is_fatal
        assert [one.attempt_id for one in read(value)] == [key]
