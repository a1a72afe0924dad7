"""Five ways to write a broken plugin: each leaves every other format working, and `hub plugins` explains it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

GOOD = """
from hub import Agent, Detection, Document, FormatInfo, Storyline, hookimpl

@hookimpl
def format_info():
    return FormatInfo(id="ID", title="T", reads=("1",))

@hookimpl
def detect(sample):
    known = [one for one in sample.records if isinstance(one, dict) and "ID" in one]
    return Detection(100, "ID at /") if known else None

@hookimpl
def parse(source):
    for record in source.records():
        yield Document(record.value, record=record)

@hookimpl
def to_storyline(document):
    yield Storyline(session_id=document.value["ID"], agent=Agent(agent_id="a"), turns=[])
"""


class Broken(NamedTuple):
    """A way to break a plugin."""

    name: str
    before: str
    after: str
    status: str
    reason: str
    """What `hub plugins` says."""


WAYS = (
    Broken(
        "import error",
        "\nfrom hub import",
        "\nimport no_such_module\nfrom hub import",
        "broken",
        "ModuleNotFoundError: No module named 'no_such_module'",
    ),
    Broken(
        "wrong signature",
        "def detect(sample):",
        "def detect(sample, file):",
        "broken",
        "{'file'} are declared in the hookimpl but can not be found in the hookspec",
    ),
    Broken(
        "exception in detect",
        "    known = [one for one in sample.records if isinstance(one, dict) and",
        "    known = [one for one in sample.records if",
        "failing",
        "detect raises TypeError: argument of type 'NoneType' is not iterable; the format is not detected",
    ),
    Broken("duplicate id", "", "", "conflict", "one 1.0 and two 1.0 claim 'ours'; uninstall one"),
    Broken(
        "too new api version",
        'reads=("1",)',
        'reads=("1",), api_version=99',
        "broken",
        "made for version 99 of the hooks, this hub has 1; update storyline-hub",
    ),
)


def install(site: Path, id_: str, text: str, name: str = "one") -> None:
    """Put a distribution into *site*."""
    folder = site / f"{name}-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Name: {name}\nVersion: 1.0\n")
    points = f"[storyline_hub.formats]\n{id_} = plugin_{name}\n"
    (folder / "entry_points.txt").write_text(points)
    (site / f"plugin_{name}.py").write_text(text.replace("ID", id_))


def hub(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command, with the distributions in *site*."""
    return subprocess.run(  # noqa: S603  # our own interpreter
        [sys.executable, "-m", "hub", *arguments],
        cwd=site,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture(params=WAYS, ids=lambda way: way.name)
def way(request: pytest.FixtureRequest, tmp_path: Path) -> Broken:
    """A broken plugin `ours`, installed beside the good one `theirs`."""
    found: Broken = request.param
    assert found.before in GOOD
    install(tmp_path, "theirs", GOOD, "good")
    install(tmp_path, "ours", GOOD.replace(found.before, found.after) if found.before else GOOD)
    if found.status == "conflict":
        install(tmp_path, "ours", GOOD, "two")
    (tmp_path / "theirs.json").write_text('{"theirs": "run"}')
    return found


class TestBroken:
    def test_others_work(self, way: Broken, tmp_path: Path) -> None:
        """A file of another format is detected and converted, and told of the plugin in a line at most."""
        del way
        detected = hub(tmp_path, "detect", "theirs.json")
        assert (0, "theirs.json: theirs (100): theirs at /\n") == (
            detected.returncode,
            detected.stdout,
        )
        converted = hub(tmp_path, "convert", "theirs.json", "--to", "storyline")
        assert 0 == converted.returncode
        assert "run" == json.loads(converted.stdout)["session"]
        assert "Traceback" not in detected.stderr + converted.stderr

    def test_is_explained(self, way: Broken, tmp_path: Path) -> None:
        """`hub plugins` says what is wrong with it, and that the others are well."""
        done = hub(tmp_path, "plugins", "--json")
        states = json.loads(done.stdout)
        ours = [one for one in states if one["id"] == "ours"]
        assert {way.status} == {one["status"] for one in ours}
        assert all(way.reason in one["reason"] for one in ours), ours
        assert {"ok"} == {one["status"] for one in states if one["id"] != "ours"}
        assert (0, "") == (done.returncode, done.stderr)

    def test_doctor(self, way: Broken, tmp_path: Path) -> None:
        """`hub plugins doctor` shows the same, with the trace where there is one, and fails."""
        done = hub(tmp_path, "plugins", "doctor", "ours")
        assert 1 == done.returncode
        assert f": {way.status}: " in done.stdout
        assert way.reason in " ".join(done.stdout.split())
