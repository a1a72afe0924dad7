"""Detection: which records are ATIF."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hub_atif import plugin

from hub import Detection, Sample

from .builders import ROOT, A, trajectory, user

Json = Any

MEMBERS = {**A, "steps": [{"step_id": 1, "source": "user", "message": "x"}]}


def detect(
    *records: Json,
    container: Literal["object", "array", "lines", "text", "directory"] = "object",
    complete: bool = True,
) -> Detection | None:
    found = plugin.detect(Sample("x", container, list(records), complete, 100))
    assert found is None or isinstance(found, Detection)
    return found


class TestMarker:
    @pytest.mark.parametrize("minor", [*range(10), 10, 4711])
    def test_minor_versions(self, minor: int) -> None:
        """Every minor version of 1 is certain, whatever else is there."""
        version = f"ATIF-v1.{minor}"
        expected = Detection(100, f'schema_version "{version}" at /')
        assert expected == detect({"schema_version": version})

    @pytest.mark.parametrize(
        "version", ["ATIF-v2.0", "ATIF", "ATIF-v1.x", "ATIF-v1.", "ATIF-v1.1b"]
    )
    def test_unsupported(self, version: str) -> None:
        """Any other text that begins so is ATIF, and reading will say what is wrong."""
        expected = Detection(95, f'schema_version "{version}" at /')
        assert expected == detect({**ROOT, "schema_version": version})

    @pytest.mark.parametrize(
        "version",
        ["ALE-v1.0", "ACTF_v1.0", "storyline/v1", "atif-v1.7", "", 1, None, ["ATIF-v1.7"]],
    )
    def test_foreign(self, version: Json) -> None:
        """Another marker, or one that is no string, belongs to another format."""
        assert None is detect({**MEMBERS, "schema_version": version})


class TestMembers:
    def test_steps_seen(self) -> None:
        """Without a marker an agent with a name and steps of the right shape are a sign."""
        assert Detection(65, "agent, and steps with step_id, source and message at /") == detect(
            MEMBERS
        )

    def test_no_step_seen(self) -> None:
        """Without a step it is a weaker one."""
        assert Detection(60, "agent and steps at /") == detect({**A, "steps": []})

    @pytest.mark.parametrize(
        "record",
        [
            {"steps": [], "agent": {}},
            {"steps": [], "agent": {"name": 1}},
            {"steps": [], "agent": "a"},
            {"steps": {}, **A},
            {"steps": [{"step_id": 1, "source": "user"}], **A},
            {"steps": [{"step_id": 1, "source": "user", "message": ""}, 5], **A},
            {"steps": [5], **A},
            {**A},
            {**MEMBERS, "episode_id": "e"},
            {"parent": MEMBERS, "child": MEMBERS},
            {"__header__": True, "schema_version_of": "ATIF-v1.7"},
            {"name": "x", "version": "1.0.0", "description": "ATIF-v1.7"},
            {},
        ],
    )
    def test_near_misses(self, record: Json) -> None:
        """What lacks one of them, or is ALE, is not claimed."""
        assert None is detect(record)


class TestContainers:
    def test_every_record(self) -> None:
        """Of several records the least sure one decides."""
        found = detect(trajectory(user()), MEMBERS, container="lines")

        assert found is not None
        assert 65 == found.confidence

    @pytest.mark.parametrize("other", [5, {}, [], "x", None, {"x": 1}])
    def test_one_stranger(self, other: Json) -> None:
        """A record that is none of ours means that the input is not ours."""
        assert None is detect(trajectory(user()), other, container="array")

    def test_nothing(self) -> None:
        """No records, no answer; nor are directories claimed."""
        assert None is detect(container="text")
        assert None is detect("trajectory.json", container="directory")
