"""What exactness costs: finding out whether the exact path is needed, and how deep a text is, as shares of the parse.

    python benchmarks/exactness.py [--megabytes 50] [--runs 7]

The parse is `orjson.loads` of the same bytes in the same run. What is measured takes turns with it, and medians are
compared, so a slow moment of the machine touches both.
"""

import argparse
import gc
import json
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial

import orjson
from corpus import document

from hub.json import loads, loads_padded, needs_exact, pad

MEGABYTE = 1 << 20
LEAST_RUNS = 5

Prepared = Callable[[], object]
Prepare = Callable[[], Prepared]
"""Makes what a call needs, which takes no part in the measurement, and returns the call."""


def medians(runs: int, *prepares: Prepare) -> list[float]:
    """Return the median seconds of each call; they take turns, and a first turn is not counted."""
    times: list[list[float]] = [[] for _ in prepares]
    for turn in range(runs + 1):
        for prepare, taken in zip(prepares, times, strict=True):
            call = prepare()
            gc.collect()
            gc.disable()
            start = time.perf_counter()
            result = call()
            seconds = time.perf_counter() - start
            gc.enable()
            del result, call
            if turn:
                taken.append(seconds)
    return [statistics.median(each) for each in times]


def rows(data: bytes, runs: int) -> Iterator[tuple[str, float]]:
    """Yield what is measured on *data*, with its time as a share of the parse."""

    def padded() -> Prepared:
        buffer = pad()
        buffer += data
        return partial(loads_padded, buffer)

    parse, scan, whole, part = medians(
        runs,
        lambda: partial(orjson.loads, data),
        lambda: partial(needs_exact, data),
        padded,
        lambda: partial(loads, data),
    )
    yield "orjson.loads", 1.0
    yield "is the exact path needed", scan / parse
    yield "a whole input: parse, exactness, depth", whole / parse
    yield "a line or a part: parse, exactness, depth", part / parse
    print(f"  {len(data) / MEGABYTE:.1f} MB, parsed in {parse * 1e3:.1f} ms")


def texts(megabytes: float) -> Iterator[tuple[str, bytes]]:
    """Yield documents of several kinds."""
    yield (
        "tool output, indented",
        json.dumps(document(megabytes), ensure_ascii=False, indent=2).encode(),
    )
    yield "short texts", orjson.dumps(document(megabytes / 10, dense=True))
    yield "one line of many", orjson.dumps(document(0.2))
    numbers = [index / 7 for index in range(int(megabytes * MEGABYTE / 200))]
    yield "floats of 17 digits", orjson.dumps({"logprobs": numbers})


def main() -> None:
    """Print a table for each kind of document."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--megabytes", type=float, default=50)
    parser.add_argument("--runs", type=int, default=7, help=f"at least {LEAST_RUNS}")
    chosen = parser.parse_args()
    for kind, data in texts(chosen.megabytes):
        print(kind)
        for what, share in rows(data, max(LEAST_RUNS, chosen.runs)):
            print(f"  {what:44}{share:8.1%}", flush=True)


if __name__ == "__main__":
    main()
