"""Detection: which records and directories are ALE."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hub_ale import plugin

from hub import Detection, Sample

from .builders import ROOT, trajectory

Json = Any


def detect(
    *records: Json,
    container: Literal["object", "array", "lines", "text", "directory"] = "object",
    complete: bool = True,
) -> Detection | None:
    found = plugin.detect(Sample("x", container, list(records), complete, 100))
    assert found is None or isinstance(found, Detection)
    return found


def without(*keys: str) -> dict[str, Json]:
    return {key: value for key, value in ROOT.items() if key not in keys}


class TestMarker:
    def test_supported(self) -> None:
        """The marker with a member of a trajectory is certain."""
        assert Detection(100, 'schema_version "ALE-v1.0" at /') == detect(trajectory())

    @pytest.mark.parametrize("key", ["episode_id", "agent", "task_path"])
    def test_one_member_is_enough(self, key: str) -> None:
        """Any one of the three members beside the marker will do."""
        found = detect({"schema_version": "ALE-v1.0", key: ROOT[key]})

        assert found is not None
        assert found.confidence == 100

    def test_cut(self) -> None:
        """In a record that was cut the other members may stand behind the head."""
        found = detect({"schema_version": "ALE-v1.0", "steps": []}, complete=False)

        assert found is not None
        assert found.confidence == 100

    def test_complete_without_members(self) -> None:
        """The marker alone, in a complete record, is a trajectory that reading will complain about."""
        found = detect({"schema_version": "ALE-v1.0"})

        assert found is not None
        assert found.confidence == 95

    def test_other_version(self) -> None:
        """An unsupported version is still ALE."""
        assert Detection(95, 'schema_version "ALE-v2.0" at /') == detect(
            {**ROOT, "schema_version": "ALE-v2.0"}
        )

    @pytest.mark.parametrize("complete", [True, False])
    def test_bare_step(self, *, complete: bool) -> None:
        """A step that carries the marker itself is not claimed."""
        step = {"schema_version": "ALE-v1.0", "step_id": 1, "source": "user", "message": "x"}

        assert None is detect(step, complete=complete)

    @pytest.mark.parametrize(
        "version", ["ATIF-v1.7", "storyline/v1", "ACTF_v1.0", 1, None, ["ALE-v1.0"]]
    )
    def test_foreign_marker(self, version: Json) -> None:
        """Another marker, or one that is no string, belongs to another format."""
        assert None is detect({**ROOT, "schema_version": version})


class TestMembers:
    def test_all_four(self) -> None:
        """Without a marker the four members are a clear sign."""
        found = detect(without("schema_version"))

        assert Detection(90, "episode_id, task_path, variant_index, agent at /") == found

    @pytest.mark.parametrize("key", ["episode_id", "agent", "task_path", "variant_index"])
    def test_three_of_four(self, key: str) -> None:
        """Three of them are a weaker one."""
        found = detect(without("schema_version", key))

        assert found is not None
        assert found.confidence == 60

    def test_two_of_four(self) -> None:
        """Two are none."""
        assert None is detect(without("schema_version", "agent", "task_path"))

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("episode_id", 1),
            ("task_path", None),
            ("variant_index", True),
            ("variant_index", "0"),
            ("agent", "cc"),
        ],
    )
    def test_types(self, key: str, value: Json) -> None:
        """A member of another type does not count."""
        found = detect({**without("schema_version"), key: value})

        assert found is not None
        assert found.confidence == 60


class TestContainers:
    def test_every_record(self) -> None:
        """Of several records the least sure one decides."""
        found = detect(trajectory(), without("schema_version"), container="lines")

        assert found is not None
        assert found.confidence == 90

    @pytest.mark.parametrize("other", [5, {}, [], "x"])
    def test_one_stranger(self, other: Json) -> None:
        """A record that is none of ours means that the input is not ours."""
        assert None is detect(trajectory(), other, container="array")

    def test_nothing(self) -> None:
        """No records, no answer."""
        assert None is detect(container="text")

    @pytest.mark.parametrize("path", ["trajectory.json", "demo__note/v0/e1/trajectory.json"])
    def test_directory(self, path: str) -> None:
        """A directory with a trajectory below it is claimed as a whole."""
        expected = Detection(85, "a file trajectory.json below it", "directory")

        assert expected == detect("notes.txt", path, container="directory")

    @pytest.mark.parametrize(
        "path", ["my-trajectory.json", "trajectory.json/x", "trajectory.jsonl"]
    )
    def test_other_directory(self, path: str) -> None:
        """Only that very file name counts."""
        assert None is detect(path, container="directory")
