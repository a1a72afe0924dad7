"""Where outputs stand: suffixes, collisions, folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from hub.batch.places import Places, relative_to, shared_folder

SUFFIXES = (".actf.json", ".ale.json", "session_steps.json", ".json")


class TestNames:
    @pytest.mark.parametrize(
        ("path", "place"),
        [
            ("a/b.json", "a/b.json"),
            ("a/b.actf.json", "a/b.ale.json"),
            ("b.ACTF.json", "b.ale.json"),
            ("b.ale.json", "b.ale.json"),
            ("rows.jsonl", "rows.jsonl"),
            ("rows.ndjson.gz", "rows.ndjson.gz"),
            ("b.actf.json.zst", "b.ale.json.zst"),
            ("session_steps.json", "session_steps.json"),
            ("run", "run.json"),
            ("run.txt", "run.txt.json"),
            ("a/.actf.json", "a/.actf.json"),
        ],
    )
    def test_suffix(self, path: str, place: str) -> None:
        """The suffix of a format becomes that of the target; any other name stays, and ends as JSON does."""
        assert place == Places(SUFFIXES, ".ale.json").of(path)

    def test_target_without_a_suffix(self) -> None:
        """A target without a suffix of its own gets the common one."""
        assert "b.json" == Places(SUFFIXES, "session_steps.json").of("b.actf.json")

    def test_folders(self) -> None:
        """An input that becomes a folder loses its suffixes."""
        places = Places(SUFFIXES, ".ale.json", folders=True)
        assert ["a/b", "rows", "c", "run"] == [
            places.of(path) for path in ("a/b.actf.json", "rows.jsonl.gz", "c.json", "run")
        ]


class TestCollisions:
    def test_numbers(self) -> None:
        """The first input gets the name, the next ones get numbers that nobody has."""
        places = Places(SUFFIXES, ".ale.json")
        given = [places.of(f"a/b.{kind}.json") for kind in ("actf", "ale")]
        given += [places.of("a/b-2.ale.json"), places.of("a/B.ale.json")]
        assert ["a/b.ale.json", "a/b-2.ale.json", "a/b-2-2.ale.json", "a/B-3.ale.json"] == given

    def test_folders_do_not_collide(self) -> None:
        """One name in two folders is two places."""
        places = Places((), None)
        assert ["a/x.json", "b/x.json"] == [places.of("a/x.json"), places.of("b/x.json")]


class TestFolders:
    def test_relative(self) -> None:
        """A place is relative to the folder, the folder itself goes by its name."""
        assert "b/c.json" == relative_to("a", str(Path("a", "b", "c.json")))
        assert "a" == relative_to("a", "a")

    def test_shared(self) -> None:
        """Several inputs share the deepest folder that holds all of them."""
        assert str(Path("a").absolute()) == shared_folder(["a/b", "a/c/d", "a/c"])
        assert str(Path("a/b").absolute()) == shared_folder(["a/b", "a/b"])
