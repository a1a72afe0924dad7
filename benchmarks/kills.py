"""Kill conversions at random moments, and look at what is left: python benchmarks/kills.py [KILLS] [SEED].

Three outputs take turns: a file and a folder that are there and are replaced, and a folder that is not. After each kill
the old output must be whole, or the new one; the next run to the same folder may have to take back what was half done,
and then no temporary file is left. Prints a line for each output, and fails if anything was lost.
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
from pathlib import Path

from hub import leftovers

DOCUMENTS = 400
STORY = {
    "schema_version": "storyline/v1",
    "agent": {"id": "a"},
    "turns": [{"id": number, "src": "user", "msg": "x" * 500} for number in range(20)],
}
TARGETS = ("file", "old folder", "new folder")


def files(folder: Path) -> dict[str, bytes]:
    """Return the files below *folder*, temporary ones as well."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def lay(place: Path, target: str) -> None:
    """Make the folder *place* with the old output in it."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    if target == "file":
        (place / "out.jsonl").write_bytes(b"old\n")
    elif target == "old folder":
        (place / "out").mkdir()
        for number in range(0, DOCUMENTS, 2):
            (place / f"out/{number}.storyline.json").write_bytes(b"old\n")
        (place / "out/other").write_bytes(b"old\n")


def command(source: Path, place: Path, target: str) -> list[str]:
    """Return the command that writes the new output."""
    output = place / ("out.jsonl" if target == "file" else "out")
    container = "lines" if target == "file" else "dir"
    options = ["--to", "storyline", "--force", "--container", container, "-o", str(output)]
    return [sys.executable, "-m", "hub", "convert", str(source), *options]


def main(kills: int, seed: int) -> int:
    """Kill that many runs; return the exit status."""
    chance = random.Random(seed)  # noqa: S311  # not for secrets
    lost = 0
    with tempfile.TemporaryDirectory() as scratch:
        source, place = Path(scratch) / "in.jsonl", Path(scratch) / "place"
        texts = [json.dumps({**STORY, "session": str(number)}) for number in range(DOCUMENTS)]
        source.write_text("\n".join(texts) + "\n")
        for target in TARGETS:
            lay(place, target)
            old = files(place)
            start = time.monotonic()
            subprocess.run(command(source, place, target), check=True, stderr=subprocess.DEVNULL)  # noqa: S603
            seconds = time.monotonic() - start
            new = files(place)
            seen: Counter[str] = Counter()
            for _ in range(-(-kills // len(TARGETS))):
                lay(place, target)
                process = subprocess.Popen(  # noqa: S603  # our own
                    command(source, place, target), stderr=subprocess.DEVNULL
                )
                time.sleep(chance.uniform(0.2, 1.05) * seconds)
                process.kill()
                if process.wait() != -signal.SIGKILL:
                    seen["had ended"] += 1
                before = files(place)
                for folder in (place, place / "out"):
                    leftovers.clean(str(folder))
                after = files(place)
                seen["with temporary files" if before != after else "clean"] += 1
                seen["old" if after == old else "new" if after == new else "LOST"] += 1
            print(f"{target}: {dict(sorted(seen.items()))}")
            lost += seen["LOST"]
    return 1 if lost else 0


if __name__ == "__main__":
    numbers = [int(one) for one in sys.argv[1:]]
    sys.exit(main(*(numbers + [240, 1][len(numbers) :])))
