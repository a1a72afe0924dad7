"""Kill a run over many files, resume it, and compare: python benchmarks/resumed.py [FILES] [KILLS] [SEED].

The outputs, the journal and the summary have to be those of a run that nobody disturbed, byte for byte. Kills come at
random moments, workers and all; some inputs are broken, some hold several documents. Prints what was there at each
kill, and the memory that each run took; fails if anything differs.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FILES, KILLS, SEED = 20_000, 10, 1
STATE = ".storyline-hub"
JOBS = "2"


def lay(folder: Path, files: int) -> None:
    """Write the inputs: small Storylines in folders of a thousand, every hundredth of them broken."""
    for number in range(files):
        place = folder / f"{number // 1000:03}"
        place.mkdir(exist_ok=True, parents=True)
        stories = [
            {
                "schema_version": "storyline/v1",
                "session": f"s{number}-{part}",
                "agent": {"id": "a"},
                "turns": [{"id": 1, "src": "user" if number % 100 else "", "msg": "x" * 300}],
            }
            for part in range(1 + number % 3 // 2)
        ]
        text = "".join(json.dumps(story) + "\n" for story in stories)
        (place / f"{number:06}.json").write_text(text)


def command(source: Path, output: Path, jobs: str) -> list[str]:
    """Return the command that makes *output*, and a summary beside it."""
    options = ["--to", "storyline", "--resume", "--jobs", jobs, "--quiet", "-o", str(output)]
    summary = ["--summary", f"{output}.jsonl"]
    return [sys.executable, "-m", "hub", "convert", str(source), *options, *summary]


def run(arguments: list[str], seconds: float | None = None) -> tuple[float, int, bool]:
    """Run a command, and kill it after so many *seconds*; return time, peak memory in kB, whether it was killed."""
    begin = time.monotonic()
    with subprocess.Popen(  # noqa: S603  # the hub
        arguments, start_new_session=True, stderr=subprocess.DEVNULL
    ) as process:
        while not (found := os.wait4(process.pid, os.WNOHANG))[0]:
            if seconds is not None and time.monotonic() - begin > seconds:
                os.killpg(process.pid, signal.SIGKILL)
                seconds = None
            time.sleep(0.01)
        _, status, usage = found
        process.returncode = os.waitstatus_to_exitcode(status)
    return time.monotonic() - begin, usage.ru_maxrss, os.WIFSIGNALED(status)


def files(folder: Path) -> dict[str, bytes]:
    """Return the files below *folder*, the journal and what is temporary as well."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def main() -> int:
    """Return 1 if what came of it differs."""
    given = [int(one) for one in sys.argv[1:]]
    count, kills, seed = given + [FILES, KILLS, SEED][len(given) :]
    chance = random.Random(seed)  # noqa: S311  # no secret
    with tempfile.TemporaryDirectory() as place:
        base = Path(place)
        lay(base / "in", count)
        seconds, peak, _ = run(command(base / "in", base / "whole", "1"))
        print(f"undisturbed: {count} files in {seconds:.1f} s, {peak >> 10} MB", flush=True)
        killed = 0
        while killed < kills:
            arguments = command(base / "in", base / "out", JOBS)
            _, _, was_killed = run(arguments, 0.5 + chance.random() * seconds * 1.5 / kills)
            if not was_killed:
                print("it came to its end", flush=True)
                break
            killed += 1
            written = sum(1 for path in (base / "out").rglob("*.json"))
            print(f"kill {killed}: {written} outputs", flush=True)
        seconds, peak, _ = run(command(base / "in", base / "out", JOBS))
        print(f"resumed: the rest in {seconds:.1f} s, {peak >> 10} MB", flush=True)
        whole, resumed = files(base / "whole"), files(base / "out")
        summaries = [Path(f"{base / name}.jsonl").read_text() for name in ("whole", "out")]
        is_same = whole == resumed
        is_told = summaries[0] == summaries[1].replace(f"{base}/out/", f"{base}/whole/")
        print(f"{len(whole)} files: {'the same' if is_same else 'DIFFERENT'}", end="; ")
        print(f"summary: {'the same' if is_told else 'DIFFERENT'}")
    return 0 if is_same and is_told and killed else 1


if __name__ == "__main__":
    sys.exit(main())
