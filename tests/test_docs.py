"""The README and the docs: their blocks run, their lines are sentences, their links lead somewhere."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .pages import FENCE, Block, blocks, commands, is_like

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(page for page in ROOT.glob("docs/**/*.md") if page.parent.name != "reference"),
        *ROOT.glob("plugins/*/*.md"),
        *ROOT.glob("examples/*.md"),
    ]
)


def by_name(page: Path) -> str:
    """Return *page* as it is named in a report."""
    return page.relative_to(ROOT).as_posix()


def with_blocks(*kinds: str) -> list[Path]:
    """Return the pages that have a block of one of *kinds*."""
    return [page for page in PAGES if any(block.kind in kinds for block in blocks(page))]


class TestBlocks:
    @pytest.mark.parametrize("page", with_blocks("python", "console"), ids=by_name)
    def test_blocks_run(self, page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The blocks of a page run one after another, on a copy of the examples, and print what the page says."""
        shutil.copytree(ROOT / "examples", tmp_path / "examples")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("PIP_TARGET", str(tmp_path / "site"))
        names: dict[str, object] = {"__name__": "page"}
        for block in blocks(page):
            if block.title:
                Path(block.title).write_text(block.text, encoding="utf-8")
            elif block.kind == "python":
                exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), names)  # noqa: S102
            elif block.kind == "console":
                run_console(block, f"{by_name(page)}:{block.line}")


PROGRAMS = ("hub", "pip", "pytest")
"""What runs in a console block, beside `cd`."""

SETTINGS = {
    "PYTHONIOENCODING": "utf-8",
    "COLUMNS": "100",
    "PIP_NO_INDEX": "1",
    "PIP_NO_DEPS": "1",
    "PIP_NO_BUILD_ISOLATION": "false",  # pip reads it the other way round: none
    "PIP_ROOT_USER_ACTION": "ignore",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}
"""No test needs the network, and none installs anything but into a folder of its own (`PIP_TARGET`)."""


def run_console(block: Block, place: str) -> None:
    """Run the commands of *block* and compare what they print with what stands below each."""
    for command, expected in commands(block.text):
        program, *arguments = shlex.split(command)
        if program == "cd":
            os.chdir(*arguments)  # the test goes back
            continue
        assert program in PROGRAMS, f"{place}: no {program} in a console block"
        done = subprocess.run(  # noqa: S603  # a command of our own docs
            [sys.executable, "-m", program, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **SETTINGS, "PYTHONPATH": os.environ["PIP_TARGET"]},
            encoding="utf-8",
            check=False,
        )
        assert is_like(done.stdout, expected), f"{place}: {command}\n{done.stdout}"


class TestProse:
    @pytest.mark.parametrize("page", PAGES, ids=by_name)
    def test_one_sentence_a_line(self, page: Path) -> None:
        """No line of prose holds the end of one sentence and the beginning of the next."""
        crowded = [
            line
            for line in FENCE.sub("", page.read_text(encoding="utf-8")).splitlines()
            if re.search(r"\w[.!?]\*{0,2} [A-Z]", re.sub(r"`[^`]*`", "x", line))
            and not line.startswith(("|", "- **", "<!--"))
        ]
        assert [] == crowded

    @pytest.mark.parametrize("page", [*PAGES, *ROOT.glob("docs/reference/*.md")], ids=by_name)
    def test_links(self, page: Path) -> None:
        """A link between pages leads to a file that is there."""
        text = FENCE.sub("", page.read_text(encoding="utf-8"))
        targets = re.findall(r"\]\(([^)#]+)[^)]*\)", text)
        assert [] == [one for one in targets if not (page.parent / one).exists()]
