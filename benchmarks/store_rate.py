"""Fill a store, beside what fills the same tables elsewhere: python benchmarks/store_rate.py [FOLDER|FILES] [ROUNDS].

That is `pchronicle import -o storyline` of the package `persisting` (see `peers`). Both get the same folder, one after
the other, ROUNDS times; without a FOLDER it has so many FILES of ACTF. Prints CPU, clock and peak memory of each, and
the ratio.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from pathlib import Path

from corpus import document
from peers import environment
from run import HUB, Cost, spent

MEGABYTE = 1_000_000


def write(folder: Path, number: int) -> None:
    """Write *number* files of 30 to 60 kB."""
    folder.mkdir()
    for index in range(number):
        value = document(0.03 + index % 31 / 1000, seed=str(index))
        value["task_id"] = f"task-{index}"  # a store has an id once
        (folder / f"{index:05}.json").write_text(json.dumps(value, ensure_ascii=False))


def main(source: Path, rounds: int, scratch: Path) -> int:
    """Measure; return the exit status."""
    programs = environment("persisting")
    if programs is None:
        return 1
    files = [path for path in source.rglob("*") if path.is_file()]
    megabytes = sum(path.stat().st_size for path in files) / MEGABYTE
    costs: dict[str, list[Cost]] = {"hub store add": [], "pchronicle import": []}
    for number in range(rounds):
        ours, theirs = str(scratch / f"ours-{number}"), str(scratch / f"theirs-{number}")
        costs["hub store add"].append(spent([HUB, "store", "add", ours, str(source), "--quiet"]))
        words = ["import", "--from", str(source), "--to", theirs, "-o", "storyline"]
        wal = ["--wal-dir", str(scratch / f"wal-{number}")]
        costs["pchronicle import"].append(spent([str(programs / "pchronicle"), *words, *wal]))
    print(f"{len(files)} files, {megabytes:.0f} MB, {rounds} rounds; medians")
    for name, taken in costs.items():
        cpu, seconds = (
            statistics.median(getattr(one, key) for one in taken) for key in ("cpu", "seconds")
        )
        peak = max(one.peak for one in taken)
        rate = 1000 * cpu / megabytes
        print(
            f"{name}: CPU {cpu:.1f} s, {rate:.0f} ms a MB; clock {seconds:.1f} s; peak {peak:.0f} MB"
        )
    each = [theirs.cpu / ours.cpu for ours, theirs in zip(*costs.values(), strict=True)]
    print(f"CPU of pchronicle to ours: {statistics.median(each):.1f}x")
    return 0


if __name__ == "__main__":
    given = sys.argv[1] if sys.argv[1:] else "2000"
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "files"
        if given.isdecimal():
            write(folder, int(given))
        else:
            folder = Path(given)
        sys.exit(main(folder, int(sys.argv[2]) if sys.argv[2:] else 3, Path(place)))
