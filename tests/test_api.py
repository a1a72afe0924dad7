"""What a Python user calls, with the hub's own format."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import hub
from hub import Agent, Storyline, Turn


def story(message: object) -> Storyline:
    """Return a Storyline of one turn."""
    turn = Turn(turn_id=1, source="user", message=message)
    return Storyline(session_id="s", agent=Agent(agent_id="a"), turns=[turn])


class TestWrite:
    def test_there_and_back(self, tmp_path: Path) -> None:
        """What is written is read again."""
        target = tmp_path / "out.json"
        result = hub.write([story("hi")], target, to="storyline")

        assert ([str(target)], 1) == (result.outputs, result.storylines)
        assert [story("hi")] == list(hub.read(target))

    def test_not_a_number(self, tmp_path: Path) -> None:
        """A float that is no JSON number is refused with its pointer, and nothing is written."""
        with pytest.raises(ValueError, match="nan at '/turns/0/msg/score' is not JSON"):
            hub.write([story({"score": math.nan})], tmp_path / "out.json", to="storyline")

        assert [] == list(tmp_path.iterdir())
