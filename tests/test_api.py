"""What a Python user calls, with the hub's own format."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

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

    def test_batches(self, tmp_path: Path) -> None:
        """Many batches stand in one output, one behind the other; each is taken when it is written."""
        target = tmp_path / "out.jsonl"
        batches = ([story(number)] * number for number in range(3))
        result = hub.write_batches(batches, target, to="storyline")
        assert (3, 3) == (result.documents, result.storylines)
        assert [1, 2, 2] == [one.turns[0].message for one in hub.read(target)]
        with pytest.raises(hub.InvalidDocument, match="nothing to write"):
            hub.write_batches([[], []], tmp_path / "none.jsonl", to="storyline")

    def test_not_a_number(self, tmp_path: Path) -> None:
        """A float that is no JSON number is refused with its pointer, and nothing is written."""
        with pytest.raises(ValueError, match="nan at '/turns/0/msg/score' is not JSON"):
            hub.write([story({"score": math.nan})], tmp_path / "out.json", to="storyline")

        assert [] == list(tmp_path.iterdir())

    def test_no_storyline(self, tmp_path: Path) -> None:
        """What is no Storyline is a mistake of the caller."""
        with pytest.raises(TypeError, match="expected a Storyline, found str"):
            hub.write(["x"], tmp_path / "out.json", to="storyline")  # type: ignore[list-item]  # the mistake

    def test_container(self, tmp_path: Path) -> None:
        """A container that there is not is misuse."""
        with pytest.raises(hub.UsageError, match="container takes one of None, 'object'"):
            hub.write([story("hi")], tmp_path / "o", to="storyline", container="zip")  # type: ignore[arg-type]  # the mistake


class TestConvert:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"container": "zip"}, "container takes one of None, 'object', 'array', .* not 'zip'"),
            ({"on_error": "zap"}, "on_error takes one of 'fail', 'skip', not 'zap'"),
            ({"options": {"conform": 1}}, "option 'conform' of storyline takes a text, not 1"),
        ],
    )
    def test_misuse(self, tmp_path: Path, settings: dict[str, Any], message: str) -> None:
        """A setting that cannot be is misuse, and nothing is written."""
        source = tmp_path / "in.json"
        hub.write([story("hi")], source, to="storyline")
        with pytest.raises(hub.UsageError, match=message):
            hub.convert(source, tmp_path / "out.json", to="storyline", **settings)

        assert [source] == list(tmp_path.iterdir())


class TestValidate:
    @pytest.mark.parametrize(
        ("data", "rule"),
        [(b'{"turns": [', "input.json"), (b"", "input.empty"), (b'{"a": 1}', "detect.unknown")],
    )
    def test_no_format(self, data: bytes, rule: str) -> None:
        """What keeps a format from being found is a problem among the others."""
        result = hub.validate(data)

        assert ("", 0, False) == (result.format, result.documents, result.is_valid)
        assert [rule] == [problem.rule for problem in result.problems]
