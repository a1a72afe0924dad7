"""Many inputs on a Ray cluster of this machine: what becomes of them is what local processes make, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hub
from hub import api
from hub.batch.running import Engine
from hub.cli.app import run
from hub.registry import Formats

ray: Any = pytest.importorskip("ray")

# Ray warns of what it will do in versions to come, and leaves files open.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

TOYS = Path(__file__).parent.parent / "toys"


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """A cluster with two processors, which several runs use."""
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


def wire(session: str) -> dict[str, Any]:
    """Return a Storyline of one turn."""
    turns = [{"id": 1, "src": "user", "msg": f"hi {session}"}]
    root = {"schema_version": "storyline/v1", "session": session, "agent": {"id": "a"}}
    return {**root, "turns": turns}


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder with good files, one that cannot be read, and one that is none of ours."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "in"
    for number in range(40):
        path = folder / f"{number % 3}" / f"{number:03}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(wire(f"s{number}")))
    (folder / "1" / "bad.json").write_text('{"schema_version": "storyline/v1"}')
    (folder / "2" / "notes.txt").write_text("none of ours")
    return "in"


def tree(folder: Path) -> dict[str, bytes]:
    """Return all files below *folder*."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


class TestConvert:
    def test_same(self, inputs: str, tmp_path: Path) -> None:
        """Outputs, journal, summary and exit status are those of a local run."""
        found = []
        for engine in ("local", "ray"):
            words = ("--to", "storyline", "-o", "out", "--summary", "summary.json")
            status = run(["convert", inputs, *words, "--engine", engine, "--jobs", "2", "--quiet"])
            summary = (tmp_path / "summary.json").read_bytes()
            found.append((status, tree(tmp_path / "out"), summary))
            for name in ("out", "summary.json"):
                (tmp_path / name).rename(tmp_path / f"{engine}-{name}")
        assert 3 == found[0][0]
        assert found[0] == found[1]
        assert ".storyline-hub/journal.jsonl" in found[0][1]

    def test_resume(self, inputs: str, tmp_path: Path) -> None:
        """A run that was cut short on Ray goes on locally, and the other way round."""
        whole = list(hub.convert_many([inputs], "whole", to="storyline"))
        orders: list[tuple[Engine, Engine]] = [("ray", "local"), ("local", "ray")]
        for number, engines in enumerate(orders):
            out = f"out{number}"
            outcomes = hub.convert_many([inputs], out, to="storyline", engine=engines[0], jobs=2)
            for _ in range(5):
                next(outcomes)
            outcomes.close()  # type: ignore[attr-defined]  # a generator
            done = list(
                hub.convert_many(
                    [inputs], out, to="storyline", engine=engines[1], jobs=2, resume=True
                )
            )
            assert [one.result for one in whole] == [one.result for one in done]
            assert tree(tmp_path / "whole") == tree(tmp_path / out)

    def test_worker_that_dies(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """An input that ends the worker that is at it costs itself only."""
        monkeypatch.chdir(tmp_path)
        (tmp_path / "in").mkdir()
        for number in range(10):
            (tmp_path / "in" / f"{number}.json").write_text(json.dumps(wire(f"s{number}")))
        (tmp_path / "in" / "5.json").write_text('{"deadly": true}')
        monkeypatch.setattr(api, "formats", Formats())
        engines: tuple[Engine, ...] = ("local", "ray")
        found = [
            list(
                hub.convert_many(
                    ["in"],
                    engine,
                    to="storyline",
                    plugins=[str(TOYS / "deadly.py")],
                    engine=engine,
                    jobs=2,
                )
            )
            for engine in engines
        ]
        for outcomes in found:
            results = {Path(one.input).name: one.result for one in outcomes}
            assert 10 == len(results)
            assert {"5.json"} == {name for name, result in results.items() if result != "done"}
        messages = [[one.message for one in outcomes] for outcomes in found]
        assert messages[0] == messages[1]


class TestStore:
    def test_same(self, inputs: str, tmp_path: Path) -> None:
        """A store is the same, and so is what is told of each input."""
        hub_lance: Any = pytest.importorskip("hub_lance")
        found = []
        for engine in ("local", "ray"):
            store = hub_lance.open(tmp_path / engine, create=True)
            outcomes = list(store.add([inputs], engine=engine, jobs=2))
            stories = [hub.to_wire(one) for one in store.storylines()]
            found.append((outcomes, stories, store.query("SELECT * FROM steps").to_pylist()))
        assert 40 == len(found[0][1])
        assert found[0] == found[1]


class TestEngine:
    def test_unknown(self, inputs: str) -> None:
        """An engine that there is not is refused."""
        with pytest.raises(hub.UsageError, match="engine takes 'local' or 'ray', not 'spark'"):
            list(hub.convert_many([inputs], "out", to="storyline", engine="spark"))  # type: ignore[arg-type]  # the point
