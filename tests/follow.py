"""Follow a page as a reader does, in one shell with a home of its own: `python -m tests.follow PAGE HOME`.

The `sh` blocks are run too, which install what the page needs; the tests run the others alone (`test_docs.py`).
Each block must do what the page says: a file is saved, a command prints what stands below it, Python ends well.
All happens in a new folder with the examples, but for the first `sh` block, which installs from the checkout.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from .pages import Block, blocks, commands, is_like

ROOT = Path(__file__).parent.parent
ENDED = "-- ended --"
"""What the shell prints behind each command, with its exit code."""


class Shell:
    """A shell that keeps its folder and its environment from one command to the next."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.session = subprocess.Popen(  # noqa: S603  # what it runs stands in our own docs
            [shutil.which("bash") or "bash", "--norc"],
            cwd=folder,
            env={**os.environ, "HOME": str(home), "COLUMNS": "100"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )

    def run(self, text: str) -> tuple[int, str]:
        """Run *text* and return its exit code and what it printed."""
        assert self.session.stdin is not None
        assert self.session.stdout is not None
        self.session.stdin.write(f"{text}\necho '{ENDED}' $?\n")
        self.session.stdin.flush()
        printed: list[str] = []
        for line in self.session.stdout:
            if line.startswith(ENDED):
                return int(line.removeprefix(ENDED)), "".join(printed)
            printed.append(line)
        return 1, "".join(printed)  # the shell itself ended


class Reader:
    """Somebody who follows a page."""

    def __init__(self, page: Path, home: Path) -> None:
        self.page = page
        self.folder = home / "work"
        shutil.copytree(ROOT / "examples", self.folder / "examples")
        self.shell = Shell(home, self.folder)
        self.installed = False
        self.imports: list[str] = []
        """Import lines of the Python blocks so far: they are one session."""

    def follow(self) -> None:
        """Do what each block says."""
        for block in blocks(self.page):
            if block.title:
                self.must(block, f"cat >{shlex.quote(block.title)} <<'BLOCK'\n{block.text}BLOCK")
            elif block.kind == "sh":
                if not self.installed:
                    self.must(block, f"cd {shlex.quote(str(ROOT))}")
                for line in block.text.splitlines():
                    self.must(block, line)
                if not self.installed:
                    self.must(block, f"cd {shlex.quote(str(self.folder))}")
                    self.installed = True
            elif block.kind == "python":
                text = "\n".join([*self.imports, block.text])
                self.must(block, f"python - <<'BLOCK'\n{text}BLOCK")
                self.imports += re.findall(r"^(?:import|from) .*", block.text, re.MULTILINE)
            elif block.kind == "console":
                for command, expected in commands(block.text):
                    _, printed = self.shell.run(command)
                    if not is_like(printed, expected):
                        self.stop(block, command, printed)

    def must(self, block: Block, text: str) -> None:
        """Run *text*, which must end well."""
        code, printed = self.shell.run(text)
        if code != 0:
            self.stop(block, text, printed)

    def stop(self, block: Block, text: str, printed: str) -> None:
        """Say where the page is wrong."""
        sys.exit(f"{self.page}:{block.line}: {text}\n{printed}")


if __name__ == "__main__":
    Reader(Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute()).follow()
