"""What is counted in trajectories, and how it is summed up."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

import hub
from hub.batch.counting import Measures, measures
from hub.batch.statistics import Spread, Statistics
from hub.cli.app import run

STORY: dict[str, Any] = {
    "schema_version": "storyline/v1",
    "session": "s",
    "agent": {"id": "a", "name": "coder", "model": "small"},
    "turns": [],
}
CALL = {"tcid": "c1", "fn": "bash", "args": {}}
AGENT: dict[str, Any] = {"id": 2, "src": "agent", "msg": "hi"}


def counted(*turns: dict[str, Any], **members: Any) -> Measures:
    """Return what is counted in a Storyline of these turns."""
    return measures(hub.from_wire({**STORY, **members, "turns": list(turns)}), "storyline")


class TestMeasures:
    def test_nothing(self) -> None:
        """What nothing says is not there."""
        assert (
            Measures(
                format="storyline",
                version=None,
                session="s",
                agent="coder",
                models=("small",),
                outcome="unknown",
                turns=0,
                agent_turns=0,
                tool_calls=0,
                tool_errors=0,
                prompt_tokens=None,
                completion_tokens=None,
                cached_tokens=None,
                cost_usd=None,
                model_ms=None,
                seconds=None,
            )
            == counted()
        )

    def test_turns(self) -> None:
        """Turns, those of the agent, their calls, and those that went wrong are counted."""
        failed = {**CALL, "tcid": "c2", "response": {"exit_code": 1}}
        results = [{"source_call_id": "c1", "content": "x", "is_error": True}]
        found = counted(
            {"id": 1, "src": "user", "msg": "x"},
            {**AGENT, "tool_calls": [CALL], "observation": {"results": results}},
            {**AGENT, "id": 3, "tool_calls": [failed]},
        )
        assert (3, 2, 2, 2) == (
            found.turns,
            found.agent_turns,
            found.tool_calls,
            found.tool_errors,
        )

    def test_tokens(self) -> None:
        """Tokens and costs of all turns are summed up, but for turns that are copies."""
        one = {**AGENT, "metrics": {"prompt_tokens": 10, "completion_tokens": 1, "cost": 0.5}}
        two = {**AGENT, "id": 3, "metrics": {"input_tokens": 5, "cache_read_input_tokens": 2}}
        copied = {**one, "id": 4, "copied": True}
        found = counted(one, two, copied)
        assert (17, 1, 2, 0.5) == (
            found.prompt_tokens,
            found.completion_tokens,
            found.cached_tokens,
            found.cost_usd,
        )

    def test_tokens_of_the_whole(self) -> None:
        """Where no turn names any, those of the trajectory count; what is no number does not."""
        found = counted(
            AGENT,
            final_metrics={"total_prompt_tokens": 7, "total_cost_usd": "1", "cached_tokens": 2**70},
        )
        assert (7, None, None) == (found.prompt_tokens, found.cost_usd, found.cached_tokens)

    def test_times(self) -> None:
        """The span is that between the first and the last instant."""
        found = counted(
            {**AGENT, "ts": "2026-01-01T00:00:01Z"},
            {**AGENT, "id": 3, "ts": "2026-01-01T01:00:02.5+01:00"},
        )
        assert 1.5 == found.seconds

    @pytest.mark.parametrize(
        ("result", "outcome"),
        [
            ({"correct": True, "status": "done"}, "correct"),
            ({"correct": False}, "incorrect"),
            ({"status": "timeout"}, "timeout"),
            ({"error": "x"}, "error"),
            ({"score": 1}, "unknown"),
        ],
    )
    def test_outcome(self, result: dict[str, Any], outcome: str) -> None:
        """The outcome is whether the task is correct, else its status."""
        assert outcome == counted(task={"result": result}).outcome


class TestSpread:
    def test_buckets(self) -> None:
        """There is a bar for each power of two, and one for nothing."""
        spread = Spread()
        for value in (0, 1, 1.5, 5, 7):
            spread.add(value)
        assert [(0.0, 0.0, 1), (1.0, 2.0, 2), (2.0, 4.0, 0), (4.0, 8.0, 2)] == spread.bars()
        assert (5, 14.5, 0, 7, 2.9) == (
            spread.count,
            spread.total,
            spread.least,
            spread.largest,
            spread.mean,
        )

    def test_nothing(self) -> None:
        """Of no value there is no mean, and no bar."""
        assert (None, []) == (Spread().mean, Spread().bars())

    def test_error_rate(self) -> None:
        """Without calls there is no error rate."""
        assert None is Statistics().error_rate


class TestCommand:
    @pytest.fixture
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A folder with two files, and a broken one."""
        monkeypatch.chdir(tmp_path)
        (tmp_path / "in").mkdir()
        for name in ("a", "b"):
            value = {**STORY, "session": name, "task": {"result": {"correct": name == "a"}}}
            (tmp_path / "in" / f"{name}.json").write_text(json.dumps(value))
        (tmp_path / "in" / "c.json").write_text("{")
        return tmp_path

    @pytest.mark.usefixtures("folder")
    def test_json(self, capfd: pytest.CaptureFixture[str]) -> None:
        """For programs there is everything as JSON; one process or two, it is the same."""
        assert 3 == run(["stats", "in", "--json"])
        one = capfd.readouterr()
        assert 3 == run(["stats", "in", "--json", "--jobs", "2"])
        assert one == capfd.readouterr()
        found = json.loads(one.out)
        assert 2 == found["trajectories"]
        assert {"correct": 1, "incorrect": 1} == found["outcomes"]
        assert {"small": 2} == found["models"]
        assert "in/c.json: fatal: not JSON" in one.err

    @pytest.mark.usefixtures("folder")
    def test_csv(self, capfd: pytest.CaptureFixture[str]) -> None:
        """As CSV there is a line for each trajectory; what is not known is empty."""
        run(["stats", "in", "--csv"])
        lines = capfd.readouterr().out.splitlines()
        assert lines[0].startswith("input,format,version,session,agent,models,outcome,turns,")
        assert [
            "in/a.json,storyline,,a,coder,small,correct,0,0,0,0,,,,,,",
            "in/b.json,storyline,,b,coder,small,incorrect,0,0,0,0,,,,,,",
        ] == lines[1:]

    @pytest.mark.parametrize(
        ("session", "cell"),
        [
            ("=1+1", "'=1+1"),
            ("-2+3", "'-2+3"),
            ("+1", "'+1"),
            ("@x", "'@x"),
            ("\t=1", "'\t=1"),
            ("\x1b[31m", "\\x1b[31m"),
            ("a=1", "a=1"),
        ],
    )
    def test_formulas(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str], session: str, cell: str
    ) -> None:
        """What a spreadsheet would take for a formula, or a terminal for a command, is none in CSV."""
        path = tmp_path / "a.json"
        wire = {"schema_version": "storyline/v1", "agent": {"id": "a"}, "turns": []}
        path.write_text(json.dumps({**wire, "session": session}))
        run(["stats", str(path), "--csv"])
        _, row = csv.reader(io.StringIO(capfd.readouterr().out))
        assert cell == row[3]

    @pytest.mark.usefixtures("folder")
    def test_table(self, capfd: pytest.CaptureFixture[str]) -> None:
        """For people there is a table, with histograms where they are wanted."""
        run(["stats", "in", "--histograms"])
        lines = capfd.readouterr().out.splitlines()
        assert "2 trajectories" == lines[0]
        assert "outcome   correct                                          1   50.0%" in lines
        assert f"  {'0':>24} {'█' * 30} 2" in lines

    @pytest.mark.usefixtures("folder")
    def test_misuse(self, capfd: pytest.CaptureFixture[str]) -> None:
        """JSON and CSV at once is misuse."""
        assert 2 == run(["stats", "in", "--csv", "--json"])
        assert "--json or --csv, not both" in capfd.readouterr().err
