"""`hub store`: what it prints, writes and returns."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from hub.cli.app import run

from .builders import folder, wire, write

Hub = Callable[..., tuple[int, str, str]]


@pytest.fixture
def hub(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Hub:
    """Run the program in this process; returns status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        status = run(list(arguments))
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return status, out, re.sub(r"in [\d.]+ s", "in 0.1 s", err)

    return call


@pytest.fixture
def made(tmp_path: Path, hub: Hub) -> Path:
    """A folder with a store `s` of two trajectories, which stand in `in`."""
    folder(tmp_path / "in", 2)
    done = hub("store", "add", "s", "in")
    told = "2 inputs in 0.1 s: 2 done\ns: 2 added, 0 replaced, 0 skipped; it holds 2 trajectories\n"
    assert (0, "", told) == done
    return tmp_path


class TestAdd:
    @pytest.mark.usefixtures("made")
    def test_again(self, hub: Hub) -> None:
        """What is there already is told, and fails unless it is said what becomes of it."""
        status, out, err = hub("store", "add", "s", "in")
        assert (1, "") == (status, out)
        told = "fatal: the store has a trajectory of this id; nothing of this input is added"
        assert [
            f"in/0000.json: s0: {told} [store.duplicate]",
            f"in/0001.json: s1: {told} [store.duplicate]",
            "2 inputs in 0.1 s: 2 failed",
            "s: 0 added, 0 replaced, 0 skipped; it holds 2 trajectories",
        ] == err.splitlines()
        skipped = "s: 0 added, 0 replaced, 2 skipped; it holds 2 trajectories\n"
        done = hub("store", "add", "s", "in", "--on-duplicate", "skip", "--jobs", "2")
        assert (0, "2 inputs in 0.1 s: 2 done\n" + skipped) == (done[0], done[2])
        done = hub("store", "add", "s", "in/0001.json", "--on-duplicate", "replace", "-q")
        assert (0, "", "") == done

    def test_some_fail(self, hub: Hub, made: Path) -> None:
        """When some of many fail, the status is 3, and a summary says what became of each."""
        write(made / "more/a.json", wire("a"))
        (made / "more/b.json").write_text('{"schema_version": "storyline/v1"}')
        (made / "more/c.txt").write_text("none of ours")
        status, _, err = hub("store", "add", "s", "more", "--summary", "out.json")
        assert 3 == status
        assert "more/c.txt: skipped: " in err
        summary = json.loads((made / "out.json").read_text())
        assert {"done": 1, "partial": 0, "failed": 1, "passed-over": 1} == summary["counts"]

    @pytest.mark.parametrize(
        ("arguments", "status", "told"),
        [
            (["in", "in"], 2, "in: no store, and not empty: it holds 0000.json"),
            (["s", "nowhere"], 2, "nowhere"),
            (["s", "in", "--from", "nope"], 2, "no format named 'nope'"),
            (["s", "-"], 2, "standard input is no part of several inputs"),
            (["s", "in", "--option", "x=y"], 2, "no option 'x'"),
        ],
    )
    @pytest.mark.usefixtures("made")
    def test_misuse(self, hub: Hub, arguments: list[str], status: int, told: str) -> None:
        """What cannot be is told in a line."""
        done = hub("store", "add", *arguments)
        assert status == done[0]
        assert told in done[2]


class TestExport:
    def test_back(self, hub: Hub, made: Path) -> None:
        """Trajectories come back in the format that is asked for."""
        done = hub("store", "export", "s", "--to", "storyline", "-o", "out.jsonl")
        assert (0, "", "s -> storyline: 2 trajectories in 2 documents\n") == done
        lines = (made / "out.jsonl").read_text().splitlines()
        assert [wire("s0", "text 0"), wire("s1", "text 1")] == [json.loads(one) for one in lines]

    @pytest.mark.usefixtures("made")
    def test_some(self, hub: Hub) -> None:
        """Only those of which a condition holds, to standard output by default."""
        status, out, _ = hub(
            "store", "export", "s", "--to", "storyline", "--where", "session_id = 's1'", "-q"
        )
        assert (0, wire("s1", "text 1")) == (status, json.loads(out))

    def test_folder(self, hub: Hub, made: Path) -> None:
        """Or to a folder, a file for each document."""
        words = ("--to", "storyline", "-o", "out", "--container", "dir")
        assert 0 == hub("store", "export", "s", *words)[0]
        names = sorted(path.name for path in (made / "out").iterdir())
        assert ["s0.storyline.json", "s1.storyline.json"] == names

    @pytest.mark.parametrize(
        ("arguments", "status", "told"),
        [
            (["s", "--to", "storyline", "--where", "false"], 1, "nothing to write"),
            (["s", "--to", "storyline", "--where", "nope"], 2, "the query cannot be run"),
            (["s", "--to", "nope"], 2, "no format named 'nope'"),
            (["s", "--to", "storyline", "-o", "in/0000.json"], 2, "exists"),
            (["in", "--to", "storyline"], 1, "in: no store: it has no CURRENT"),
        ],
    )
    @pytest.mark.usefixtures("made")
    def test_misuse(self, hub: Hub, arguments: list[str], status: int, told: str) -> None:
        """What cannot be is told in a line."""
        done = hub("store", "export", *arguments)
        assert (status, "") == done[:2]
        assert told in done[2]


SQL = "SELECT session_id AS s, storage_ordinal AS n, NULL AS x FROM runs ORDER BY n"


class TestQuery:
    @pytest.mark.usefixtures("made")
    def test_table(self, hub: Hub) -> None:
        """Rows are shown as a table."""
        assert (0, "s   n  x\ns0  0\ns1  1\n", "") == hub("store", "query", "s", SQL)

    @pytest.mark.usefixtures("made")
    def test_json(self, hub: Hub) -> None:
        """`--json` gives a line for each row."""
        expected = '{"s": "s0", "n": 0, "x": null}\n{"s": "s1", "n": 1, "x": null}\n'
        assert (0, expected, "") == hub("store", "query", "s", SQL, "--json")

    @pytest.mark.usefixtures("made")
    def test_kinds(self, hub: Hub) -> None:
        """Numbers, times, lists and structures are JSON."""
        sql = (
            "SELECT 1.5::DECIMAL(4,2) AS d, 2::HUGEINT AS h, TIMESTAMP '2026-01-05 09:00:00' AS t,"
            " DATE '2026-01-05' AS y, INTERVAL 90 SECOND AS i, [1, NULL] AS l, {'a': 'x'} AS s,"
            " 'ab'::BLOB AS b, 'nan'::DOUBLE AS n, TIME '09:00:00' AS c, MAP {'k': 1} AS m"
        )
        status, out, err = hub("store", "query", "s", sql, "--json")
        assert (0, "") == (status, err)
        found = json.loads(out)
        assert {
            "d": 1.5,
            "h": 2,
            "t": "2026-01-05T09:00:00",
            "y": "2026-01-05",
        }.items() <= found.items()
        assert {"l": [1, None], "s": {"a": "x"}, "b": "6162", "n": "nan"}.items() <= found.items()

    @pytest.mark.usefixtures("made")
    def test_csv(self, hub: Hub) -> None:
        """`--csv` gives a head and a line for each row."""
        assert (0, "s,n,x\ns0,0,\ns1,1,\n", "") == hub("store", "query", "s", SQL, "--csv")

    def test_parquet(self, hub: Hub, made: Path) -> None:
        """`--parquet` writes a file, over another one only when that is asked for."""
        words = ("store", "query", "s", SQL, "--parquet", "out.parquet")
        assert (0, "", "") == hub(*words)
        assert {"s": ["s0", "s1"], "n": [0, 1], "x": [None, None]} == pq.read_table(
            made / "out.parquet"
        ).to_pydict()
        assert (2, "", "hub: out.parquet: exists; --force replaces it\n") == hub(*words)
        assert 0 == hub(*words, "--force")[0]

    @pytest.mark.usefixtures("made")
    def test_misuse(self, hub: Hub) -> None:
        """What cannot be asked is told in a line."""
        assert (2, "", "hub: a store is only read: no DELETE\n") == hub(
            "store", "query", "s", "DELETE FROM runs"
        )
        assert (2, "", "hub: one of --json, --csv and --parquet\n") == hub(
            "store", "query", "s", SQL, "--json", "--csv"
        )


class TestShow:
    @pytest.mark.usefixtures("made")
    def test_table(self, hub: Hub) -> None:
        """Each table is shown with its rows, versions and state."""
        status, out, _ = hub("store", "show", "s")
        rows = [line.split() for line in out.splitlines()[1:]]
        assert 0 == status
        assert [("runs", "2", "well"), ("steps", "2", "well"), ("tool_calls", "0", "well")] == [
            (row[0], row[1], row[-1]) for row in rows
        ]

    @pytest.mark.usefixtures("made")
    def test_json(self, hub: Hub) -> None:
        """So it is for programs."""
        found = json.loads(hub("store", "show", "s", "--json")[1])
        assert {"rows": 2, "version": 2, "newest": 2}.items() <= found["steps"].items()


class TestMaintain:
    def test_smaller(self, hub: Hub, made: Path) -> None:
        """What nobody needs is removed."""
        for number in range(2, 5):
            folder(made / f"in{number}", 1, begin=number)
            hub("store", "add", "s", f"in{number}", "-q")
        status, out, err = hub("store", "maintain", "s", "--keep-hours", "0")
        assert (0, "") == (status, out)
        before, after = map(int, re.findall(r"\d+", err))
        assert after < before
        assert "n\n5\n" == hub("store", "query", "s", "SELECT count(*) AS n FROM runs", "--csv")[1]


class TestHelp:
    def test_group(self, hub: Hub) -> None:
        """The program lists the command, and the command those below it."""
        assert "  store       A store for trajectories" in hub("--help")[1]
        out = hub("store", "--help")[1]
        for name in ("add", "export", "query", "show", "maintain"):
            assert f"\n  {name} " in out
