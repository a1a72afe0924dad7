"""Adding to a store, and reading back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator, Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import hub_lance
import pyarrow as pa
import pytest
from hub_lance import adding, known, reading, splitting, tables
from hub_lance.adding import Added
from hub_lance.rebuild import Damaged
from hub_lance.schema import INDEXES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hub
from hub.testing.strategies import storylines

from .builders import folder, sessions, story, wire, write


def run(store: hub_lance.Store, *inputs: Path, **settings: Any) -> list[tuple[str, str]]:
    """Add *inputs*, and return what became of each."""
    return [(Path(one.input).name, one.result) for one in store.add(inputs, **settings)]


def held(store: hub_lance.Store) -> list[str]:
    """Return the sessions that the store at its path holds."""
    return sessions(list(hub_lance.open(store.root).storylines()))


def cut_short(outcomes: Iterator[hub.Outcome]) -> None:
    """End an `add` under way."""
    assert isinstance(outcomes, Generator)
    outcomes.close()


def rules(outcomes: Iterable[hub.Outcome]) -> list[tuple[str, str | None]]:
    """Return rule and document of each problem."""
    return [(one.rule, one.document) for outcome in outcomes for one in outcome.problems]


class TestOpen:
    def test_layout(self, store: hub_lance.Store) -> None:
        """A store is three tables, and a file that says which versions belong together."""
        names = sorted(path.name for path in store.root.iterdir())
        assert [
            ".storyline-hub",
            "CURRENT",
            "runs.lance",
            "steps.lance",
            "tool_calls.lance",
        ] == names
        assert {
            "schema_version": 2,
            "runs_version": 1,
            "steps_version": 1,
            "tool_calls_version": 1,
        } == json.loads((store.root / "CURRENT").read_text())
        assert (0, []) == (len(store), list(store.storylines()))

    def test_none(self, tmp_path: Path) -> None:
        """A folder without `CURRENT` is no store."""
        with pytest.raises(hub.HubError, match="no store: it has no CURRENT"):
            hub_lance.open(tmp_path)

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ('{"schema_version":3}', "has schema_version 3; this package reads 2"),
            ("[]", "has schema_version None"),
            ("{", "is no JSON"),
            ('{"schema_version":2,"runs_version":1}', "does not say the version of each table"),
            (
                '{"schema_version":2,"runs_version":1,"steps_version":true,"tool_calls_version":1}',
                "does not say the version of each table",
            ),
        ],
    )
    def test_other_current(self, store: hub_lance.Store, text: str, reason: str) -> None:
        """One with another `CURRENT` is refused before any table is opened."""
        (store.root / "CURRENT").write_text(text)
        with pytest.raises(hub.HubError, match=reason):
            hub_lance.open(store.root)

    def test_missing_table(self, store: hub_lance.Store) -> None:
        """A table that is not there is told as such."""
        (store.root / "steps.lance").rename(store.root / "gone")
        with pytest.raises(hub.HubError, match="steps cannot be read"):
            hub_lance.open(store.root).dataset("steps")

    def test_other_folder(self, tmp_path: Path) -> None:
        """A folder that holds something else becomes no store."""
        (tmp_path / "notes.txt").touch()
        with pytest.raises(hub.UsageError, match=r"not empty: it holds notes\.txt"):
            hub_lance.open(tmp_path, create=True)
        with pytest.raises(hub.UsageError, match="but a file"):
            hub_lance.open(tmp_path / "notes.txt", create=True)
        with pytest.raises(hub.HubError, match="but a file"):
            hub_lance.open(tmp_path / "notes.txt")

    def test_url(self) -> None:
        """A store is a folder."""
        with pytest.raises(hub.UsageError, match="a folder of this machine, and no URL"):
            hub_lance.open("s3://bucket/store", create=True)

    def test_one_that_never_was(self, store: hub_lance.Store) -> None:
        """Tables of a store that was never published are made anew."""
        (store.root / "CURRENT").unlink()
        assert 0 == len(hub_lance.open(store.root, create=True))

    def test_light(self) -> None:
        """Importing the package imports nothing that is slow."""
        script = (
            "import sys, hub_lance, hub_lance.commands, hub_lance.store;"
            "print(sorted({'lance', 'pyarrow', 'duckdb', 'numpy'} & sys.modules.keys()))"
        )
        done = subprocess.run(  # noqa: S603  # our own interpreter
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
        assert "[]\n" == done.stdout

    def test_unknown_name(self) -> None:
        """A name that there is not is an attribute error."""
        with pytest.raises(AttributeError, match="no attribute 'gone'"):
            hub_lance.gone  # noqa: B018  # the point


class TestAdd:
    def test_files(self, store: hub_lance.Store, tmp_path: Path) -> None:
        """Files of a folder are added in their order, and each says what became of it."""
        done: list[Added] = []
        inputs = folder(tmp_path / "in", 3)
        write(inputs / "0001.json", wire("s1", "a", "b"), wire("s2b"))
        (inputs / "notes.txt").write_text("no trajectory")
        assert [
            ("0000.json", "done"),
            ("0001.json", "done"),
            ("0002.json", "done"),
            ("notes.txt", "passed-over"),
        ] == run(store, inputs, report=done.append)
        assert ["s0", "s1", "s2b", "s2"] == held(store)
        assert [(4, 0, 0)] == [one[1:] for one in done]
        assert 4 == len(store)

    def test_order(self, store: hub_lance.Store, tmp_path: Path) -> None:
        """What is added later stands behind what is there."""
        run(store, folder(tmp_path / "a", 2, begin=5))
        run(store, folder(tmp_path / "b", 2))
        assert ["s5", "s6", "s0", "s1"] == held(store)
        assert [0, 1, 2, 3] == store.query("SELECT storage_ordinal FROM runs ORDER BY 1").column(
            0
        ).to_pylist()

    def test_nothing(self, store: hub_lance.Store, tmp_path: Path) -> None:
        """Without anything to add the store stays as it is."""
        before = store.versions
        (tmp_path / "empty").mkdir()
        assert [] == run(store, tmp_path / "empty")
        assert before == hub_lance.open(store.root).versions

    def test_bad_file(self, store: hub_lance.Store, tmp_path: Path) -> None:
        """A file that cannot be read costs itself only."""
        inputs = folder(tmp_path / "in", 3)
        write(inputs / "0001.json", {**wire("s1"), "turns": [{"id": 1}]})
        assert [("0000.json", "done"), ("0001.json", "failed"), ("0002.json", "done")] == run(
            store, inputs
        )
        assert ["s0", "s2"] == held(store)

    def test_record_left_out(self, store: hub_lance.Store, tmp_path: Path) -> None:
        """A record that cannot be read is left out when that is asked for."""
        path = write(tmp_path / "in.jsonl", wire("a"), {**wire("b"), "turns": 5}, wire("c"))
        (outcome,) = store.add([path], on_error="skip")
        assert ("partial", 3) == (outcome.result, outcome.status)
        assert ["a", "c"] == held(store)

    def test_same_id_in_one_input(self, store: hub_lance.Store, tmp_path: Path) -> None:
        """In one input a second Storyline of an id gets another one, with a warning."""
        path = write(tmp_path / "in.jsonl", wire("a"), wire("b"), wire("a"))
        (outcome,) = store.add([path])
        assert ["a", "b", "a#1"] == held(store)
        assert [("storyline.document-id", "a")] == rules([outcome])

    def test_several_processes(self, store: hub_lance.Store, tmp_path: Path) -> None:
        """With several processes the store is the same."""
        run(store, folder(tmp_path / "in", 20), jobs=2)
        assert [f"s{number}" for number in range(20)] == held(store)

    def test_many_rows(
        self, store: hub_lance.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Where rows are many they go through files, and the store is the same."""
        monkeypatch.setattr(splitting, "HELD", 300)
        monkeypatch.setattr(adding, "HELD", 500)
        stories = [wire(f"s{number}", "x" * 100) for number in range(10)]
        write(tmp_path / "in/a.jsonl", *stories[:7])
        write(tmp_path / "in/b.jsonl", *stories[7:])
        run(store, tmp_path / "in")
        assert stories == [hub.to_wire(one) for one in store.storylines()]
        assert [] == list((store.root / ".storyline-hub").glob("rows*"))
        again = run(store, tmp_path / "in/a.jsonl", on_duplicate="skip")
        assert [("a.jsonl", "done")] == again
        assert 10 == len(store)

    def test_failure_leaves_no_rows(
        self, store: hub_lance.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An input that fails in its middle leaves nothing, not even files."""
        monkeypatch.setattr(splitting, "HELD", 10)
        path = write(tmp_path / "in.jsonl", wire("a"), wire("b"), {**wire("c"), "turns": 5})
        assert [("in.jsonl", "failed")] == run(store, path)
        assert [] == held(store)

    def test_storylines(self, store: hub_lance.Store) -> None:
        """Storylines are added as they are, all or none."""
        assert (2, 0, 0) == store.add_storylines([story("a"), story("b")])[1:]
        with pytest.raises(hub.InvalidDocument, match="the store has a trajectory of this id"):
            store.add_storylines([story("c"), story("a")])
        assert ["a", "b"] == held(store)

    def test_unknown_policy(self, store: hub_lance.Store) -> None:
        """A policy that there is not is refused."""
        with pytest.raises(hub.UsageError, match="on_duplicate takes one of 'fail', 'skip', 'repl"):
            store.add_storylines([], on_duplicate="keep")  # type: ignore[arg-type]  # the point


class TestDuplicates:
    def test_fail(self, store: hub_lance.Store, tmp_path: Path) -> None:
        """By default an input with a trajectory that the store has fails, and nothing of it is added."""
        run(store, folder(tmp_path / "in", 2))
        path = write(tmp_path / "more/a.jsonl", wire("new"), wire("s1"))
        other = write(tmp_path / "more/b.json", wire("other"))
        first, second = store.add([path, other])
        assert [("store.duplicate", "s1")] == rules([first])
        assert ("failed", "done") == (first.result, second.result)
        assert ["s0", "s1", "other"] == held(store)

    def test_fail_in_one_run(self, store: hub_lance.Store, tmp_path: Path) -> None:
        """So does an input with a trajectory of an earlier one."""
        write(tmp_path / "in/a.json", wire("s"))
        write(tmp_path / "in/b.json", wire("s"))
        assert [("a.json", "done"), ("b.json", "failed")] == run(store, tmp_path / "in")
        assert ["s"] == held(store)

    def test_skip(self, store: hub_lance.Store, tmp_path: Path) -> None:
        """Or the trajectory that the store has is left out."""
        run(store, folder(tmp_path / "in", 2))
        path = write(tmp_path / "more.jsonl", wire("s1", "changed"), wire("new"), wire("s0"))
        (outcome,) = store.add([path], on_duplicate="skip")
        assert [("store.duplicate", "s1"), ("store.duplicate", "s0")] == rules([outcome])
        assert ["s0", "s1", "new"] == held(store)
        assert story("s1", "text 1").turns[0].message == store.get("s1").turns[0].message

    def test_replace(self, store: hub_lance.Store, tmp_path: Path) -> None:
        """Or it replaces the one that is there, and stands at the end."""
        run(store, folder(tmp_path / "in", 3))
        path = write(tmp_path / "more.jsonl", wire("s1", "new"), wire("x"))
        done: list[Added] = []
        run(store, path, on_duplicate="replace", report=done.append)
        assert ["s0", "s2", "s1", "x"] == held(store)
        assert wire("s1", "new") == hub.to_wire(store.get("s1"))
        assert (2, 1, 0) == done[0][1:]
        assert 4 == store.query("SELECT count(*) FROM steps").column(0)[0].as_py()

    @pytest.mark.parametrize("at_once", [1, 10**6])
    def test_replace_in_one_run(
        self,
        store: hub_lance.Store,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        at_once: int,
    ) -> None:
        """It replaces one of the same run as well, and the last one stays."""
        monkeypatch.setattr(adding, "HELD", at_once)
        run(store, write(tmp_path / "old.jsonl", wire("b", "old"), wire("z")))
        for name, text in (("1", "one"), ("2", "two"), ("3", "three")):
            write(tmp_path / f"in/{name}.jsonl", wire("a", text), wire("b", text), wire(f"c{name}"))
        run(store, tmp_path / "in", on_duplicate="replace")
        found = {one.session_id: one.turns[0].message for one in store.storylines()}
        assert {"z": "hi", "c1": "hi", "c2": "hi", "a": "three", "b": "three", "c3": "hi"} == found
        assert ["z", "c1", "c2", "a", "b", "c3"] == held(store)

    def test_many_questions(
        self, store: hub_lance.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It is the same whether few ids are asked about or many."""
        run(store, folder(tmp_path / "in", 5))
        monkeypatch.setattr(known, "FEW", 2)
        assert [("done" if number >= 5 else "failed") for number in range(8)] == [
            result for _, result in run(store, folder(tmp_path / "in", 8))
        ]
        assert 8 == len(store)


class TestRead:
    def test_get(self, store: hub_lance.Store) -> None:
        """A trajectory is found by its id: its trajectory, or its session."""
        store.add_storylines([story("s"), story("s", "x", trajectory="t")])
        assert wire("s") == hub.to_wire(store.get("s"))
        assert wire("s", "x", trajectory="t") == hub.to_wire(store.get("t"))
        with pytest.raises(KeyError, match="nobody"):
            store.get("nobody")

    def test_where(self, store: hub_lance.Store) -> None:
        """Those of which an SQL condition holds are read, in the order of the store."""
        store.add_storylines([story("b", run="1"), story("a", run="2"), story("c", run="1")])
        assert ["b", "c"] == sessions(list(store.storylines(where="run_id = '1' -- one")))
        assert ["c", "b"] == sessions(list(store.storylines(ids=["c", "nobody", "b"])))
        with pytest.raises(hub.UsageError, match="the query cannot be run"):
            list(store.storylines(where="nope = 1"))

    def test_quotes(self, store: hub_lance.Store) -> None:
        """An id may have any characters."""
        ids = ["it's", '"', "a\\b", "\x00", "\ud800", "é", "%", "a;b--"]
        store.add_storylines([story(one) for one in ids])
        assert ids == held(store)
        for one in ids:
            assert one == store.get(one).session_id
        store.add_storylines([story(one, "new") for one in ids], on_duplicate="replace")
        assert ids == held(store)

    @settings(
        max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(st.lists(storylines(), max_size=3, unique_by=lambda one: one.document_id))
    def test_any(self, tmp_path_factory: pytest.TempPathFactory, stories: list[Any]) -> None:
        """Whatever is added comes back equal, and as it was spelled."""
        store = hub_lance.open(tmp_path_factory.mktemp("store"), create=True)
        store.add_storylines(stories)
        back = list(store.storylines())
        assert stories == back
        assert [hub.canonical(hub.to_wire(one)) for one in stories] == [
            hub.canonical(hub.to_wire(one)) for one in back
        ]

    def test_few_at_a_time(self, store: hub_lance.Store, monkeypatch: pytest.MonkeyPatch) -> None:
        """Large trajectories are read one at a time, small ones many."""
        stories = [story(f"s{number}", "x" * (number * 10)) for number in range(60)]
        store.add_storylines(stories)
        monkeypatch.setattr(reading, "ENOUGH", 1000)
        assert stories == list(store.storylines())

    def test_damaged(self, store: hub_lance.Store) -> None:
        """A store whose tables do not fit together is not read as if they did."""
        store.add_storylines([story("s", "a", "b")])
        steps = store.dataset("steps")
        steps.delete("step_id = 0")
        current = json.loads((store.root / "CURRENT").read_text())
        current["steps_version"] = steps.version
        (store.root / "CURRENT").write_text(json.dumps(current))
        with pytest.raises(Damaged, match="the ordinals of its turns are not 0 to 0"):
            list(hub_lance.open(store.root).storylines())

    def test_scan(self, store: hub_lance.Store) -> None:
        """A table is read as Arrow batches, only the columns and rows that are wanted."""
        store.add_storylines([story("a", "x", "y"), story("b", "z")])
        batches = list(store.scan("steps", columns=["message_json"], where="step_id = 0"))
        assert ['"x"', '"z"'] == pa.Table.from_batches(batches).column(0).to_pylist()
        small = list(store.scan("steps", batch_size=2))
        assert [2, 1] == [one.num_rows for one in small]
        with pytest.raises(hub.UsageError, match="no table 'turns'; there are runs, steps, tool"):
            list(store.scan("turns"))  # type: ignore[arg-type]  # the point

    def test_times(self, store: hub_lance.Store) -> None:
        """Times are instants, to the nanosecond."""
        turn = {"id": 1, "src": "user", "msg": "", "ts": "2026-01-05T10:00:00.123456789+01:00"}
        store.add_storylines([hub.from_wire({**wire("s"), "turns": [turn]})])
        (batch,) = store.scan("steps", columns=["timestamp"])
        assert [1767603600123456789] == batch.column(0).cast(pa.int64()).to_pylist()


class TestReaders:
    def test_pinned(self, store: hub_lance.Store, tmp_path: Path) -> None:
        """Who has opened a store sees what it was then, until it is refreshed."""
        run(store, folder(tmp_path / "in", 2))
        reader = hub_lance.open(store.root)
        run(store, folder(tmp_path / "more", 3, begin=2), on_duplicate="replace")
        assert 2 == len(reader)
        assert ["s0", "s1"] == sessions(list(reader.storylines()))
        reader.refresh()
        assert 5 == len(reader)

    def test_not_before_the_end(self, store: hub_lance.Store, tmp_path: Path) -> None:
        """Nothing that is added can be seen before all is."""
        outcomes = store.add([folder(tmp_path / "in", 3)])
        next(outcomes)
        assert 0 == len(hub_lance.open(store.root))
        assert 2 == len(list(outcomes))
        assert 3 == len(hub_lance.open(store.root))


class TestWriters:
    def test_one_wins(self, store: hub_lance.Store, tmp_path: Path) -> None:
        """While one writes, another is told so, and changes nothing."""
        outcomes = store.add([folder(tmp_path / "in", 2)])
        next(outcomes)
        other = hub_lance.open(store.root)
        told = "another process writes to this store"
        with pytest.raises(hub.UsageError, match=told):
            list(other.add([tmp_path / "in"]))
        with pytest.raises(hub.UsageError, match=told):
            other.add_storylines([story("x")])
        with pytest.raises(hub.UsageError, match=told):
            other.maintain()
        list(outcomes)
        assert ["s0", "s1"] == held(store)

    def test_one_after_the_other(self, store: hub_lance.Store) -> None:
        """Who opened the store before another added to it adds to what is there."""
        other = hub_lance.open(store.root)
        store.add_storylines([story("a")])
        other.add_storylines([story("b")])
        assert ["a", "b"] == held(store)


class TestResume:
    def test_goes_on(
        self, store: hub_lance.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A run that was cut short goes on: what it has read is not read again."""
        monkeypatch.setattr(adding, "OFTEN", 2)
        inputs = folder(tmp_path / "in", 6)
        outcomes = store.add([inputs])
        for _ in range(5):
            next(outcomes)
        cut_short(outcomes)
        assert [] == held(store)
        read: list[str] = []
        monkeypatch.setattr(splitting, "split", _recording(read))
        assert [("done")] * 6 == [result for _, result in run(store, inputs, resume=True)]
        assert ["s4", "s5"] == read
        assert [f"s{number}" for number in range(6)] == held(store)

    def test_changed_input(
        self, store: hub_lance.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An input that has changed since is read again, and told to be there already."""
        monkeypatch.setattr(adding, "OFTEN", 1)
        inputs = folder(tmp_path / "in", 3)
        outcomes = store.add([inputs])
        next(outcomes)
        next(outcomes)
        cut_short(outcomes)
        write(inputs / "0001.json", wire("s1", "changed text"))
        results = [result for _, result in run(store, inputs, resume=True)]
        assert ["done", "failed", "done"] == results

    def test_done(self, store: hub_lance.Store, tmp_path: Path) -> None:
        """A run that came to its end is known to have done so; what is new is added."""
        inputs = folder(tmp_path / "in", 2)
        run(store, inputs)
        before = store.versions
        assert ["done", "done"] == [result for _, result in run(store, inputs, resume=True)]
        assert before == store.versions
        folder(inputs, 1, begin=2)
        assert ["done"] * 3 == [result for _, result in run(store, inputs, resume=True)]
        assert ["done"] * 3 == [result for _, result in run(store, inputs, resume=True)]
        assert ["s0", "s1", "s2"] == held(store)

    def test_other_run(
        self, store: hub_lance.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A run with other settings is another one, which `resume` does not go on with."""
        monkeypatch.setattr(adding, "OFTEN", 1)
        inputs = folder(tmp_path / "in", 2)
        outcomes = store.add([inputs])
        next(outcomes)
        cut_short(outcomes)
        with pytest.raises(hub.UsageError, match=r"was another one \(on_duplicate\)"):
            run(store, inputs, resume=True, on_duplicate="skip")
        run(store, inputs, on_duplicate="skip")
        assert ["s0", "s1"] == held(store)
        run(store, folder(tmp_path / "more", 1, begin=2), resume=True)
        assert ["s0", "s1", "s2"] == held(store)

    def test_store_has_changed(
        self, store: hub_lance.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """When the store has changed since, the run begins anew."""
        monkeypatch.setattr(adding, "OFTEN", 1)
        inputs = folder(tmp_path / "in", 2)
        outcomes = store.add([inputs])
        next(outcomes)
        cut_short(outcomes)
        journal = (store.root / ".storyline-hub/add.jsonl").read_bytes()
        store.add_storylines([story("x")])
        (store.root / ".storyline-hub/add.jsonl").write_bytes(journal)
        run(store, inputs, resume=True)
        assert ["x", "s0", "s1"] == held(store)

    @pytest.mark.parametrize("cut", [1, 30, 300])
    def test_torn_journal(
        self, store: hub_lance.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut: int
    ) -> None:
        """A journal whose end is cut is good up to its last whole line."""
        monkeypatch.setattr(adding, "OFTEN", 1)
        inputs = folder(tmp_path / "in", 3)
        outcomes = store.add([inputs])
        for _ in range(3):
            next(outcomes)
        cut_short(outcomes)
        path = store.root / ".storyline-hub/add.jsonl"
        os.truncate(path, path.stat().st_size - cut)
        assert ["done"] * 3 == [result for _, result in run(store, inputs, resume=True)]
        assert ["s0", "s1", "s2"] == held(store)

    def test_lost_files(
        self, store: hub_lance.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """When a file of rows is gone, the run begins anew."""
        monkeypatch.setattr(adding, "OFTEN", 1)
        inputs = folder(tmp_path / "in", 2)
        outcomes = store.add([inputs])
        next(outcomes)
        cut_short(outcomes)
        for path in (store.root / "steps.lance/data").iterdir():
            path.unlink()
        run(store, inputs, resume=True)
        assert ["s0", "s1"] == held(store)


def _recording(read: list[str]) -> Any:
    from hub_lance.rows import split

    def recording(storyline: hub.Storyline) -> Any:
        read.append(storyline.session_id)
        return split(storyline)

    return recording


def unknown_rows(store: hub_lance.Store) -> int:
    """Return how many steps the indexes of a store do not know."""
    statistics = store.dataset("steps").stats.index_stats("document_id_idx")
    return int(statistics["num_unindexed_rows"])


class TestMaintain:
    def test_smaller(self, store: hub_lance.Store) -> None:
        """Many small files become one, old versions go, and the trajectories stay."""
        for number in range(6):
            store.add_storylines([story(f"s{number}", "x" * 1000)])
        store.add_storylines([story("s0", "new")], on_duplicate="replace")
        before = store.health()["steps"]
        store.maintain(older_than=timedelta(0))
        after = store.health()["steps"]
        assert (6, 1, 1) == (before.fragments, after.fragments, after.versions)
        assert (0, 6) == (after.deleted, after.rows)
        assert after.size < before.size
        assert ["s1", "s2", "s3", "s4", "s5", "s0"] == held(store)

    def test_indexes(
        self, store: hub_lance.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A table that is large enough has indexes, and `maintain` brings them up to date."""
        monkeypatch.setattr(tables, "INDEXED_FROM", 4)
        run(store, folder(tmp_path / "a", 3))
        assert [] == store.dataset("steps").describe_indices()
        run(store, folder(tmp_path / "b", 3, begin=3))
        names = {one.name for one in store.dataset("steps").describe_indices()}
        assert {f"{column}_idx" for column in INDEXES["steps"]} == names
        run(store, folder(tmp_path / "c", 3, begin=6))
        assert 3 == unknown_rows(store)
        store.maintain()
        assert 0 == unknown_rows(store)
        assert [f"s{number}" for number in range(9)] == held(store)
        assert "s4" == store.get("s4").session_id

    def test_gives_up_what_was_cut_short(
        self, store: hub_lance.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What a run that was cut short has written is removed, and it begins anew."""
        monkeypatch.setattr(adding, "OFTEN", 1)
        inputs = folder(tmp_path / "in", 3)
        outcomes = store.add([inputs])
        next(outcomes)
        cut_short(outcomes)
        store.maintain(older_than=timedelta(0))
        assert [] == list((store.root / "steps.lance").glob("data/*"))
        run(store, inputs, resume=True)
        assert ["s0", "s1", "s2"] == held(store)
