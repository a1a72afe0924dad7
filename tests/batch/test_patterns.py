"""Patterns: what they match, as `glob` has it where no folder is a link."""

from __future__ import annotations

import glob
import os
from pathlib import Path

import pytest

from hub.batch.patterns import matching

FILES = ("a.json", "b/a.json", "b/c/a.json", "b/c/d.txt", ".h/a.json", "b/.a.json", "[x]/a.json")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with some files, which is the current one."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("tree")
class TestMatching:
    @pytest.mark.parametrize(
        "pattern",
        [
            *("*", "*.json", "**", "**/*.json", "b/**", "b/**/a.json", "**/c/*", "*/*", "b/*/a.*"),
            *("?.json", "[ab].json", "[!a]/a.json", "[[]x]/*", ".*", ".h/*", "b/.*", "**/.a.json"),
            *("none/*", "b/none*", "*/", "**/**/a.json", "b/../*.json", "./*.json", "b/c/d.txt"),
        ],
    )
    def test_as_glob(self, pattern: str, tree: Path) -> None:
        """Relative and absolute patterns match what those of the standard library do."""
        for one in (pattern, os.path.join(tree, pattern)):  # noqa: PTH118  # a pattern is no path
            assert sorted(set(glob.glob(one, recursive=True))) == matching(one)  # noqa: PTH207  # the same

    def test_links(self) -> None:
        """A link to a folder is not followed, so that none leads in circles; one to a file is a match."""
        Path("b/up").symlink_to("..")
        Path("b/down").symlink_to("c")
        Path("b/file.json").symlink_to("a.json")
        assert ["[x]/a.json", "a.json", "b/a.json", "b/c/a.json", "b/file.json"] == matching(
            "**/*.json"
        )
        assert ["b/c/a.json", "b/c/d.txt"] == matching("b/*/*")

    def test_a_folder_that_is_closed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A folder that cannot be read has no matches."""
        scandir = os.scandir

        def closed(folder: str) -> object:
            if folder == "b":
                raise PermissionError
            return scandir(folder)

        monkeypatch.setattr(os, "scandir", closed)
        assert ["[x]/a.json", "a.json"] == matching("**/*.json")
