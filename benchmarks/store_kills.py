"""Kill `hub store add` at random moments, and look at what is left: python benchmarks/store_kills.py [KILLS] [SEED].

A store with half of the trajectories gets the other half, some of the first with another text. After each kill it must
open, hold the old state or the new one, each trajectory whole and once; after a rerun with --resume, the new one.
KILLS are counted that came under way; runs that had not begun, or had just ended, are looked at like the others.
Between kills two writers start at once, of which one must win and the other say so. Prints a line in the end, and
fails if anything was lost, double or half.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import count
from pathlib import Path

import hub_lance

FILES = 200
"""Trajectories that are there, and as many that are added; a tenth of both are the same."""
BUSY = "another process writes to this store"


def write(folder: Path, begin: int, text: str) -> None:
    """Write the files of half of the trajectories, which say *text*."""
    folder.mkdir()
    for number in range(begin, begin + FILES):
        call = {"tcid": "c", "fn": "f", "args": {"n": number}}
        turns = [
            {"id": 1, "src": "user", "msg": text * 50},
            {"id": 2, "src": "agent", "msg": "x" * 5000, "tool_calls": [call]},
        ]
        story = {"schema_version": "storyline/v1", "session": f"s{number}", "agent": {"id": "a"}}
        (folder / f"{number:05}.json").write_text(json.dumps({**story, "turns": turns}))


def command(store: Path, inputs: Path) -> list[str]:
    """Return the command that adds *inputs*."""
    words = ["store", "add", str(store), str(inputs), "--on-duplicate", "replace", "--resume"]
    # Small chunks, so that many moments are between two of them.
    script = (
        "import sys; from hub_lance import adding; adding.OFTEN = 8;"
        "from hub.cli.app import run; sys.exit(run(sys.argv[1:]))"
    )
    return [sys.executable, "-c", script, *words]


def start(store: Path, inputs: Path) -> subprocess.Popen[str]:
    """Start the command."""
    return subprocess.Popen(  # noqa: S603  # our own
        command(store, inputs), stderr=subprocess.PIPE, encoding="utf-8"
    )


def state(store: Path) -> str:
    """Return which state the store is in: `old`, `new`, or what is wrong with it."""
    found = Counter[tuple[str, str]]()
    for one in hub_lance.open(store).storylines():
        found[one.session_id, str(one.turns[0].message)[:3]] += 1
    shared = FILES - FILES // 10
    old = Counter((f"s{number}", "old") for number in range(FILES))
    new = Counter((f"s{number}", "old") for number in range(shared))
    new += Counter((f"s{number}", "new") for number in range(shared, shared + FILES))
    tables = [one.rows for one in hub_lance.open(store).health().values()]
    total = found.total()
    if tables != [total, 2 * total, total]:
        return f"ROWS {tables}"
    return "old" if found == old else "new" if found == new else "LOST"


def two_writers(before: Path, inputs: Path, place: Path) -> str:
    """Return what happens when two writers start at once."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(before, place)
    both = [start(place, inputs) for _ in range(2)]
    told = [one.communicate()[1] for one in both]
    codes = sorted(one.returncode for one in both)
    if codes == [0, 2] and sum(BUSY in text for text in told) == 1 and state(place) == "new":
        return "one won, the other said so"
    if codes == [0, 0] and state(place) == "new":
        return "one came after the other"
    return f"WRONG {codes}"


def main(kills: int, seed: int) -> int:
    """Kill that many runs under way; return the exit status."""
    chance = random.Random(seed)  # noqa: S311  # not for secrets
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        before, place, inputs = root / "before", root / "store", root / "new"
        write(root / "old", 0, "old")
        write(inputs, FILES - FILES // 10, "new")
        list(hub_lance.open(before, create=True).add([root / "old"]))
        shutil.copytree(before, place)
        begin = time.monotonic()
        start(place, inputs).wait()
        seconds = time.monotonic() - begin
        for number in count():
            if seen["under way"] == kills:
                break
            shutil.rmtree(place)
            shutil.copytree(before, place)
            process = start(place, inputs)
            time.sleep(chance.uniform(0.3, 1.05) * seconds)
            process.kill()
            process.communicate()
            if process.returncode != -signal.SIGKILL:
                seen["had ended"] += 1
            journal = place / ".storyline-hub" / "add.jsonl"
            if process.returncode == -signal.SIGKILL and journal.stat().st_size > 0:
                seen["under way"] += 1
            after = state(place)
            seen[f"then {after}"] += 1
            again = start(place, inputs)
            again.communicate()
            seen["rerun " + ("whole" if state(place) == "new" else "LOST")] += 1
            if number % 10 == 0:
                seen[two_writers(before, inputs, place)] += 1
    print(f"{number} runs: {dict(sorted(seen.items()))}")
    return int(any(word in key for key in seen for word in ("LOST", "ROWS", "WRONG")))


if __name__ == "__main__":
    numbers = [int(one) for one in sys.argv[1:]]
    sys.exit(main(*(numbers + [100, 1][len(numbers) :])))
