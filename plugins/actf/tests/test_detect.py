"""Detection: detection.md 3, 5 and 7."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hub_actf import plugin

from hub import Detection, Sample

from .builders import attempt, document, record, step, trajectory

Json = Any


def detect(
    *records: Json,
    complete: bool = True,
    container: Literal["object", "array", "lines", "text", "directory"] = "object",
) -> Detection | None:
    """Return the answer for a sample of *records*."""
    found: Detection | None = plugin.detect(Sample(None, container, list(records), complete, None))
    return found


def task(*trajectories: Json, **members: Json) -> Json:
    """Return a task with attempts of these trajectories."""
    attempts = {str(index): {"trajectory": one} for index, one in enumerate(trajectories, 1)}
    return {"task_id": "t", "attempts": attempts, **members}


class TestDocuments:
    """A task and its attempts."""

    def test_marker(self) -> None:
        """The version marker of a trajectory decides, and is named."""
        expected = Detection(100, 'schema_version "ACTF_v1.0" at /attempts/1/trajectory')

        assert detect(document(step())) == expected
        assert detect(task(trajectory())) == expected

    def test_the_place_is_a_pointer(self) -> None:
        """The place of the marker is escaped."""
        found = detect(document(attempts={"a/b~c": attempt()}))

        assert found is not None
        assert found.reason.endswith("at /attempts/a~1b~0c/trajectory")

    def test_another_version(self) -> None:
        """A version that is not known is claimed as well: reading says so."""
        found = detect(task({"schema_version": "ACTF_v9"}))

        assert found is not None
        assert found.confidence == 100

    def test_record(self) -> None:
        """A record is named as such."""
        assert detect(record()) == Detection(
            100, 'schema_version "ACTF_v1.0" at /attempts/1/trajectory', "record"
        )
        assert detect(task({}, attempt_plan={})) == Detection(
            90, "task_id, attempts and attempt_plan at /", "record"
        )

    @pytest.mark.parametrize("found", [[{"type": "session"}], [], {}, None])
    def test_without_marker(self, found: Json) -> None:
        """A trajectory without a marker is one all the same, if it is of a known kind."""
        assert detect(task(found)) == Detection(
            90, "task_id at / and a trajectory at /attempts/1/trajectory"
        )

    def test_what_is_not_visible(self) -> None:
        """Where the sample is cut a trajectory may be there."""
        assert detect({"task_id": "t", "attempts": {"1": {}}}, complete=False) == Detection(
            70, "task_id and attempts at /"
        )
        assert detect(task({"steps": []}), complete=False) == Detection(
            90, "task_id at / and a trajectory at /attempts/1/trajectory"
        )

    @pytest.mark.parametrize(
        "value",
        [
            5,
            [],
            {},
            {"task_id": "t"},
            {"task_id": "t", "attempts": {}},
            {"task_id": "t", "attempts": [1]},
            {"task_id": "t", "attempts": {"1": 5}},
            {"task_id": "t", "attempts": {"1": {}}},
            {"attempts": {"1": {"trajectory": {"schema_version": "ACTF_v1.0"}}}},
            task("x"),
            task([5]),
            task({"steps": []}),
            task({"schema_version": "ATIF-v1.7"}),
            task({"schema_version": 5}),
            {"name": "x", "version": "1.0.0", "scripts": {}},
        ],
    )
    def test_something_else(self, value: Json) -> None:
        """What has no task, no attempt, or something else for a trajectory is not claimed."""
        assert detect(value) is None

    @pytest.mark.parametrize("version", ["ATIF-v1.7", "storyline/v1", "ALE-v1.0"])
    def test_a_foreign_marker(self, version: str) -> None:
        """With the marker of another format there is no more than a hint."""
        found = detect(task([], schema_version=version))

        assert found is not None
        assert found.confidence == 50

    @pytest.mark.parametrize(
        ("value", "reason"),
        [
            (trajectory(), "a trajectory without its task"),
            ({"metrics": {}, "issues": [], "trajectory": {}}, "a result without its task"),
        ],
    )
    def test_hints(self, value: Json, reason: str) -> None:
        """Parts of a task are not claimed, but known."""
        assert detect(value) == Detection(50, reason)


class TestContainers:
    """Several records, and directories."""

    def test_the_least_sure_answer(self) -> None:
        """The answer is for all records shown."""
        found = detect(document(), task([]), container="array")

        assert found is not None
        assert (found.confidence, found.variant) == (90, None)

    def test_two_forms(self) -> None:
        """Records and documents in one file have no variant."""
        found = detect(record(), document(), container="lines")

        assert found is not None
        assert (found.confidence, found.variant) == (100, None)

    def test_one_record_that_is_none(self) -> None:
        """A record that would not be claimed alone makes no claim of all."""
        assert detect(document(), {}, container="lines") is None
        assert detect(container="array") is None

    def test_task_file(self) -> None:
        """AgentCompass's `task.json` stands for its directory."""
        value = {"schema_version": "agentcompass.task.v3", "attempts": {"1": "attempt-1"}}

        assert detect(value) == Detection(100, 'schema_version "agentcompass.task.v3" at /', "task")
        assert detect({**value, "attempts": {"1": {}}}) is None

    @pytest.mark.parametrize(
        "paths",
        [
            ["task.json", "attempt-1/result.json"],
            ["details/normal/x/a/result.json", "details/normal/x/task.json", "run.log"],
        ],
    )
    def test_directory(self, paths: list[str]) -> None:
        """A directory with a task, and a result one folder deeper, is claimed as a whole."""
        found = detect(*paths, container="directory")

        assert found is not None
        assert (found.confidence, found.variant) == (85, "directory")

    @pytest.mark.parametrize(
        "paths",
        [
            [],
            ["task.json"],
            ["task.json", "result.json"],
            ["task.json", "a/b/result.json"],
            ["a/task.json", "b/c/result.json"],
        ],
    )
    def test_another_directory(self, paths: list[str]) -> None:
        """Other directories are not."""
        assert detect(*paths, container="directory") is None


class TestFormat:
    """What the format says of itself."""

    def test_info(self) -> None:
        """The facts that the hub needs."""
        info = plugin.format_info()

        assert (info.id, info.source) == ("actf", "actf")
        assert (info.nodes, info.envelope) == (("/attempts/*",), ("/_storyline",))
        assert info.suffixes == (".actf.json",)
