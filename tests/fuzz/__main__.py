"""The long run of the fuzzer: python tests/fuzz [SECONDS [SEED]].

Half of the time goes to changed documents. The other half goes, where `atheris` is installed, to bytes that a
coverage-guided fuzzer makes of the samples. What breaks the invariant is written to a file of the working directory,
`fuzz-*.json` or `crash-*`; a fixed case of it belongs into `test_fuzz.py`.
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import os
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from random import Random
from typing import Any

HERE = Path(__file__).parent


def _mutations() -> Any:
    """Return the module beside this one."""
    sys.path.insert(0, str(HERE))
    return importlib.import_module("mutations")


def by_mutations(seconds: float, seed: int) -> int:
    """Check changed documents for so many *seconds*; return how many broke something."""
    fuzz = _mutations()
    chance, end, broken = Random(seed), time.monotonic() + seconds, 0
    number = 0
    for number, (source, data) in enumerate(fuzz.mutants(chance)):
        if time.monotonic() > end:
            break
        target = chance.choice(fuzz.FORMATS)
        try:
            fuzz.check(data, source, target)
        except Exception:  # noqa: BLE001  # whatever it is, it is what is looked for
            broken += 1
            path = Path(f"fuzz-{seed}-{number}-{source}-{target}.json")
            path.write_bytes(data)
            print(f"{path}:\n{traceback.format_exc(limit=-4)}")
    print(f"mutations: {number} documents, {broken} broke something (seed {seed})")
    return broken


def by_coverage(seconds: float) -> int:
    """Let atheris look for bytes that reach new code, for so many *seconds*; return its exit status."""
    import atheris  # type: ignore[import-not-found,import-untyped,unused-ignore]  # only where it is installed

    with atheris.instrument_imports(include=["hub", "hub_actf", "hub_ale", "hub_atif"]):
        fuzz = _mutations()

    pairs = list(itertools.product(fuzz.FORMATS, fuzz.FORMATS))

    def one(data: bytes) -> None:
        if data:
            fuzz.check(data[1:], *pairs[data[0] % len(pairs)])

    with tempfile.TemporaryDirectory() as corpus:
        for number, (source, value) in enumerate(fuzz.inputs()):
            start = bytes([pairs.index((source, fuzz.FORMATS[number % len(fuzz.FORMATS)]))])
            (Path(corpus) / str(number)).write_bytes(start + fuzz.dumps(value))
        options = [
            f"-max_total_time={int(seconds)}",
            "-max_len=60000",
            "-timeout=20",
            "-rss_limit_mb=2048",
        ]
        atheris.Setup([sys.argv[0], *options, corpus], one)
        atheris.Fuzz()
    return 0


def main() -> int:
    """Run both; return the exit status."""
    if sys.argv[1:2] == ["--coverage"]:
        return by_coverage(float(sys.argv[2]))
    seconds = float(sys.argv[1]) if sys.argv[1:] else 120.0
    seed = int(sys.argv[2]) if sys.argv[2:] else int.from_bytes(os.urandom(4))
    has_atheris = importlib.util.find_spec("atheris") is not None
    broken = by_mutations(seconds / 2 if has_atheris else seconds, seed)
    if not has_atheris:
        print("coverage-guided: left out; pip install atheris")
        return int(broken > 0)
    command = [sys.executable, str(HERE), "--coverage", str(seconds / 2)]
    done = subprocess.run(command, check=False)  # noqa: S603  # this program
    return int(broken > 0) or done.returncode


if __name__ == "__main__":
    sys.exit(main())
