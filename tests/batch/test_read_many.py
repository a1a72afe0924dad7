"""What a function makes of each of many inputs: `hub.read_many`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hub
from hub import Outcome, Storyline


def sessions(storylines: Iterator[Storyline]) -> list[str]:
    """Return the sessions of *storylines*."""
    return [one.session_id for one in storylines]


def refuse(storylines: Iterator[Storyline]) -> None:
    """Fail at the second Storyline."""
    next(storylines)
    for one in storylines:
        raise hub.HubError(f"no place for {one.session_id}")


def wire(session: str) -> dict[str, Any]:
    """Return a Storyline without turns."""
    root = {"schema_version": "storyline/v1", "session": session, "agent": {"id": "a"}}
    return {**root, "turns": []}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two good files and two others."""
    (tmp_path / "a.json").write_text(json.dumps(wire("a")))
    lines = [json.dumps(wire("b")), '{"schema_version": "storyline/v1"}', json.dumps(wire("c"))]
    (tmp_path / "b.jsonl").write_text("\n".join(lines))
    (tmp_path / "c.txt").write_text("none of ours")
    (tmp_path / "d.json").write_text(json.dumps(wire("d")))
    return tmp_path


def told(outcomes: Iterator[Outcome]) -> list[tuple[str, str, int, Any]]:
    """Return name, result, number of Storylines, and what was made, of each input."""
    return [(Path(one.input).name, one.result, one.storylines, one.made) for one in outcomes]


class TestReadMany:
    @pytest.mark.parametrize("jobs", [1, 2])
    def test_made(self, folder: Path, jobs: int) -> None:
        """Each input has what was made of its Storylines, in the order of the inputs, whoever made it."""
        assert [
            ("a.json", "done", 1, ["a"]),
            ("b.jsonl", "failed", 0, None),
            ("c.txt", "passed-over", 0, None),
            ("d.json", "done", 1, ["d"]),
        ] == told(hub.read_many([folder], sessions, jobs=jobs))

    def test_records_left_out(self, folder: Path) -> None:
        """A record that cannot be read is left out when that is asked for, and told."""
        (outcome,) = hub.read_many([folder / "b.jsonl"], sessions, on_error="skip")
        assert ("partial", 3, ["b", "c"]) == (outcome.result, outcome.status, outcome.made)
        assert "1 record left out" == outcome.message
        assert {"line 2"} == {one.document for one in outcome.problems}

    def test_failure_of_the_function(self, folder: Path) -> None:
        """What the function refuses costs that input only."""
        (folder / "b.jsonl").write_text(f"{json.dumps(wire('b'))}\n{json.dumps(wire('c'))}")
        results = [(one.result, one.message) for one in hub.read_many([folder], refuse)]
        assert ("done", None) == results[0] == results[-1]
        assert ("failed", "no place for c") == results[1]

    def test_known(self, folder: Path) -> None:
        """An input of which an outcome is known is not read; what is asked is its name, and what changes with it."""
        asked = []

        def known(name: str, stamp: str | None) -> Outcome | None:
            asked.append((Path(name).name, stamp is not None))
            return Outcome(name, "done", made="kept") if name.endswith("b.jsonl") else None

        assert ["a", "kept", None, "d"] == [
            one.made[0] if isinstance(one.made, list) else one.made
            for one in hub.read_many([folder], sessions, known=known)
        ]
        assert [(name, True) for name in ("a.json", "b.jsonl", "c.txt", "d.json")] == asked

    def test_without(self, folder: Path) -> None:
        """A folder among the inputs is left out."""
        (folder / "out").mkdir()
        (folder / "out" / "e.json").write_text(json.dumps(wire("e")))
        names = [one.input for one in hub.read_many([folder], sessions, without=folder / "out")]
        assert 4 == len(names)

    def test_standard_input(self) -> None:
        """Standard input is none of many."""
        with pytest.raises(hub.UsageError, match="standard input is no part of several inputs"):
            list(hub.read_many(["-"], sessions))
