"""Show that cost is linear in the size of the input, for every command: python benchmarks/linear.py [DOUBLINGS].

Each shape of input is made in sizes that double. Prints processor seconds by size, and fails where doubling the size
more than triples the time.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import hub

Json = Any
START = 500
SMALLEST = 0.05
"""Seconds below which a time says nothing."""


def story(*turns: Json, session: str = "s") -> bytes:
    """Return the text of a Storyline."""
    wire = {
        "schema_version": "storyline/v1",
        "session": session,
        "agent": {"id": "a"},
        "turns": list(turns),
    }
    return json.dumps(wire).encode()


def turn(number: int, **members: Json) -> Json:
    """Return a turn."""
    return {"id": number, "src": "agent", "msg": "m", **members}


def calls(size: int) -> Json:
    """Return a turn with so many calls and results."""
    made = [{"tcid": f"c{number}", "fn": "f", "args": {}} for number in range(size)]
    results = [{"source_call_id": f"c{number}", "content": "x"} for number in range(size)]
    return turn(0, tool_calls=made, observation={"results": results})


SHAPES: dict[str, Callable[[int], bytes]] = {
    "turns": lambda size: story(*map(turn, range(size))),
    "calls": lambda size: story(calls(size)),
    "lines": lambda size: b"\n".join(story(turn(0), session=str(n)) for n in range(size)),
    "broken lines": lambda size: b"{}\n" * size,
    "long text": lambda size: story(turn(0, msg='<think>\\"{[' * size * 10)),
    "keys": lambda size: story(turn(0, extra={f"k{number}": number for number in range(size)})),
    "huge integers": lambda size: story(turn(0, extra={"x": [10**30] * size})),
    "open brackets": lambda size: b'{"a":"' + b"[{" * size * 10,
    "equal turns": lambda size: story(
        *(turn(n, msg=str(n) if n % 2 else "x") for n in range(size))
    ),
}


def commands(folder: Path) -> dict[str, Callable[[Path], object]]:
    """Return what is measured, by name."""
    found: dict[str, Callable[[Path], object]] = {
        "detect": hub.detect,
        "validate": lambda path: hub.validate(path, format="storyline"),
        "measure": lambda path: hub.measure(path, to="storyline", format="storyline"),
        "diff": lambda path: hub.compare(
            list(hub.read(path, format="storyline")),
            list(hub.read(path.with_suffix(".other"), format="storyline")),
        ),
        "stats": lambda path: list(hub.count_many([path], format="storyline")),
        "validate many": lambda path: list(hub.validate_many([path, path.with_suffix(".other")])),
        "convert many": lambda path: list(
            hub.convert_many(
                [path, path.with_suffix(".other")],
                folder / "many",
                to="storyline",
                format="storyline",
                force=True,
            )
        ),
    }
    for one in hub.formats.values():
        if one.can_write:
            found[f"convert to {one.id}"] = lambda path, to=one.id: hub.convert(  # type: ignore[misc]
                path, folder / "out.jsonl", to=to, format="storyline", force=True
            )
    return found


def seconds(command: Callable[[Path], object], path: Path) -> float:
    """Return the processor time of a command, which may refuse its input."""
    start = time.process_time()
    with suppress(hub.HubError):
        command(path)
    return time.process_time() - start


def main(doublings: int) -> int:
    """Measure everything; return the exit status."""
    worst = 0
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for shape, make in SHAPES.items():
            paths = []
            for step in range(doublings + 1):
                path = folder / f"{step}.in"
                path.write_bytes(make(START << step))
                path.with_suffix(".other").write_bytes(make(START << step).replace(b'"m"', b'"n"'))
                paths.append(path)
            for name, command in commands(folder).items():
                times = [min(seconds(command, path) for _ in range(2)) for path in paths]
                steps = pairwise(times)
                is_linear = all(later < 3 * max(sooner, SMALLEST) for sooner, later in steps)
                worst |= not is_linear
                shown = " ".join(f"{one:7.3f}" for one in times)
                print(f"{shape:14} {name:28} {shown}{'' if is_linear else '  NOT LINEAR'}")
    return worst


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else 3))
