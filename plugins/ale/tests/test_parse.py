"""Containers: objects, arrays, lines, and directories of runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hub_ale import plugin
from hub_ale.files import folder, run_file

import hub
from hub import Document, InvalidDocument, Source, WriteOptions

from .builders import ROOT, storyline, trajectory, turn, write_one

Json = Any


def parse(source: Source) -> list[Document[Any]]:
    return list(plugin.parse(source))


def episodes(source: Source) -> list[tuple[str, str]]:
    """Return place and session of every document."""
    return [
        (document.record.place, one.session_id)
        for document in parse(source)
        for one in plugin.to_storyline(document)
    ]


class TestRecords:
    def test_object(self) -> None:
        """An object is one trajectory."""
        assert [("", "e1")] == episodes(Source(json.dumps(trajectory()).encode()))

    def test_array(self) -> None:
        """Each element of an array is a trajectory."""
        source = Source(json.dumps([trajectory(), {**ROOT, "episode_id": "e2"}]).encode())

        assert ["e1", "e2"] == [session for _, session in episodes(source)]

    def test_lines(self) -> None:
        """Each line is a trajectory."""
        lines = f"{json.dumps(trajectory())}\n\n{json.dumps({**ROOT, 'episode_id': 'e2'})}\n"

        assert [("line 1", "e1"), ("line 3", "e2")] == episodes(Source(lines.encode()))

    def test_bare_steps(self) -> None:
        """Lines that are steps are refused one by one."""
        step = {"schema_version": "ALE-v1.0", "step_id": 1, "source": "user", "message": "x"}
        lines = "\n".join(json.dumps(one) for one in (step, {**step, "step_id": 2}))

        found = parse(Source(lines.encode()))

        assert [["ale.bare-steps"], ["ale.bare-steps"]] == [
            [problem.rule for problem in document.problems] for document in found
        ]
        assert all(document.is_fatal for document in found)

    def test_one_bad_record(self) -> None:
        """A record that cannot be mapped does not keep the next one from being read."""
        found = parse(Source(json.dumps([{"episode_id": 5}, trajectory()]).encode()))

        assert [True, False] == [document.is_fatal for document in found]


class TestDirectories:
    def write(self, root: Path, name: str, content: str | bytes) -> None:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def test_every_trajectory_file(self, tmp_path: Path) -> None:
        """Every file with that name below a directory is a document, in path order; others are passed over."""
        self.write(tmp_path, "b/v0/e2/trajectory.json", json.dumps({**ROOT, "episode_id": "e2"}))
        self.write(tmp_path, "a/v0/e1/trajectory.json", json.dumps(ROOT))
        self.write(tmp_path, "a/v0/e1/result.json", "{}")
        self.write(tmp_path, "a/v0/e1/old-trajectory.json", "{")

        assert [("a/v0/e1/trajectory.json", "e1"), ("b/v0/e2/trajectory.json", "e2")] == episodes(
            Source.open(str(tmp_path))
        )

    def test_broken_file(self, tmp_path: Path) -> None:
        """A file that is no JSON is a problem of that file."""
        self.write(tmp_path, "a/trajectory.json", "{")
        self.write(tmp_path, "b/trajectory.json", json.dumps(ROOT))

        broken, sound = parse(Source.open(str(tmp_path)))

        assert (broken.record.place, broken.is_fatal) == ("a/trajectory.json", True)
        assert ["input.json"] == [problem.rule for problem in broken.problems]
        assert not sound.is_fatal

    def test_prepared(self, tmp_path: Path) -> None:
        """The hub sees each record before it is parsed, as it does those of a file."""
        self.write(tmp_path, "trajectory.json", json.dumps({**ROOT, "extra": {"_storyline": {}}}))
        source = Source.open(str(tmp_path))
        source.prepare = lambda record: record.value.pop("extra")

        (document,) = parse(source)

        assert [] == document.problems
        (found,) = plugin.to_storyline(document)
        assert found.extra is None

    def test_not_an_object(self, tmp_path: Path) -> None:
        """A file holds one trajectory."""
        self.write(tmp_path, "trajectory.json", json.dumps([ROOT]))

        (document,) = parse(Source.open(str(tmp_path)))

        assert [("fatal", "ale.object")] == [(one.severity, one.rule) for one in document.problems]

    def test_not_readable_as_one_value(self) -> None:
        """Outside a directory broken JSON is the hub's to refuse."""
        with pytest.raises(InvalidDocument):
            parse(Source(b"{"))


class TestFileNames:
    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("demo/note", "demo__note"),
            ("/a//b/", "a____b"),
            ("ü b:c", "__b_c"),
            ("A-z_0.9", "A-z_0.9"),
            ("", "unnamed"),
            ("///", "unnamed"),
            ("..", "unnamed"),
            (".", "unnamed"),
            ("../../etc", "..__..__etc"),
            ("a\\b\x00", "a_b_"),
            ("/X/aX", "X__aX"),
        ],
    )
    def test_folder(self, text: str, name: str) -> None:
        """A task or an episode is the name of one folder, whatever it is called."""
        assert name == folder(text)

    def test_run(self) -> None:
        """A document goes where the benchmark would have put it."""
        document = write_one(storyline(turn(), session_id="e/1", run_id="demo/note"))

        assert run_file(document) == "demo__note/v0/e__1/trajectory.json"
        assert plugin.file_name(document, WriteOptions()) == "demo__note/v0/e__1/trajectory.json"


class TestDirectory:
    def test_other_files(self, tmp_path: Path) -> None:
        """A file of the directory that is no trajectory of a run is named, not passed over in silence."""
        sample = Path(__file__).parent / "samples"
        run = next(path for path in sorted(sample.iterdir()) if path.name.endswith(".json"))
        for place in ("task/v0/one/trajectory.json", "task/v0/one/notes.json", "more.jsonl"):
            (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / place).write_bytes(run.read_bytes())
        (tmp_path / "task" / "log.txt").write_text("no JSON")

        assert [
            (
                "warning",
                "2 files are no part of what ale reads in a directory: more.jsonl, task/v0/one/notes.json",
            )
        ] == [
            (problem.severity, problem.message)
            for problem in hub.validate(tmp_path).problems
            if problem.rule == "input.unread"
        ]
