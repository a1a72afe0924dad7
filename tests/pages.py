"""The fenced blocks of a page, and the commands in them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FENCE = re.compile(
    r"^```(?P<kind>\w*)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """A fenced block of a page."""

    kind: str
    title: str
    """Name of the file that the block shows, which the blocks behind it find; empty: none."""
    text: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of *page*."""
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        line = text.count("\n", 0, found.start()) + 2
        yield Block(found["kind"], found["title"] or "", found["text"], line)


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield each command behind a `$`, further lines of it behind a `>`, and the output that is shown below it."""
    for piece in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        lines = piece.splitlines(keepends=True)
        end = next(
            (at for at, line in enumerate(lines[1:], 1) if not line.startswith("> ")), len(lines)
        )
        yield "".join(line.removeprefix("> ") for line in lines[:end]), "".join(lines[end:])


def is_like(output: str, expected: str) -> bool:
    """Tell whether *output* is the text *expected*, in which a line `...` stands for any lines."""
    pattern = "".join(
        "(?:.*\n)*" if line == "...\n" else re.escape(line)
        for line in expected.splitlines(keepends=True)
    )
    return re.fullmatch(pattern, output) is not None
