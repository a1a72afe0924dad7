"""Speed and memory of the hub as ratios to a floor in the same run, against the bars: `make bench`.

    python benchmarks/run.py [--runs 5] [--only convert,detect,...] [--json]

The floor of a conversion is a process that does `orjson.loads` and `orjson.dumps` of the same file; that of a command
is `python -c pass`. Runs of the hub and of the floor take turns, and medians are compared, so a slow moment of the
machine touches both. The input is made by `corpus.py`, anew in a temporary folder.
"""

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import NamedTuple

from corpus import document

CORPUS = Path(__file__).with_name("corpus.py")
HUB = str(Path(sys.executable).with_name("hub"))
FLOOR = """
import sys
import orjson
with open(sys.argv[1], "rb") as source:
    value = orjson.loads(source.read())
with open(sys.argv[2], "wb") as target:
    target.write(orjson.dumps(value))
"""
FLOOR_OF_MANY = """
import os
import sys
import orjson
source, target = sys.argv[1:]
os.makedirs(target, exist_ok=True)
for name in sorted(os.listdir(source)):
    with open(os.path.join(source, name), "rb") as file:
        value = orjson.loads(file.read())
    with open(os.path.join(target, name), "wb") as file:
        file.write(orjson.dumps(value))
"""
MANY = 2000
"""Files of a folder of small ones."""
NOTHING = [sys.executable, "-c", "pass"]
LARGE, MIDDLE, SMALL = 50, 10, 1
"""Megabytes of the ordinary documents."""


class Row(NamedTuple):
    """One ratio, its bar, and what was divided by what."""

    what: str
    measured: float
    floor: float
    unit: str
    bar: float | None = None
    aim: float | None = None

    @property
    def ratio(self) -> float:
        """How many times the floor."""
        return self.measured / self.floor

    @property
    def is_met(self) -> bool:
        """Whether the ratio is within its bar; a row without one only informs."""
        return self.bar is None or self.ratio <= self.bar


class Cost(NamedTuple):
    """What one process took."""

    seconds: float
    peak: float
    """Resident memory at its highest, in MB."""
    cpu: float = 0.0
    """Seconds of the processor, those of processes that it started included."""


class Bench:
    """The files to measure on, and how often each measurement is taken."""

    def __init__(self, folder: Path, runs: int) -> None:
        self.folder = folder
        self.runs = runs

    def document(self, megabytes: float, *flags: str) -> str:
        """Return the path of an ACTF document, made at its first use by a process of its own."""
        path = self.folder / f"{megabytes:g}{''.join(flags)}.actf.json"
        if not path.exists():
            command = [sys.executable, str(CORPUS), str(path), f"{megabytes:g}", *flags]
            subprocess.run(command, check=True)  # noqa: S603  # our own script
        return str(path)

    def least(self, *commands: list[str], turns: int = 2) -> list[Cost]:
        """Return the least cost of each of *commands*, which take turns: for what takes long."""
        costs = [[spent(command) for command in commands] for _ in range(turns)]
        return [
            Cost(
                min(one.seconds for one in each),
                min(one.peak for one in each),
                min(one.cpu for one in each),
            )
            for each in zip(*costs, strict=True)
        ]

    def compare(self, *commands: list[str] | Callable[[], list[str]]) -> list[Cost]:
        """Return the median cost of each of *commands*, which take turns; a first turn of each is not counted."""
        costs: list[list[Cost]] = [[] for _ in commands]
        for turn in range(self.runs + 1):
            for position, command in enumerate(commands):
                cost = spent(command() if callable(command) else command)
                if turn:
                    costs[position].append(cost)
        return [
            Cost(
                statistics.median(one.seconds for one in each),
                statistics.median(one.peak for one in each),
                statistics.median(one.cpu for one in each),
            )
            for each in costs
        ]

    def compare_calls(self, *calls: Callable[[], object]) -> list[float]:
        """Return the median seconds of each of *calls*, which take turns, without the garbage collector."""
        times: list[list[float]] = [[] for _ in calls]
        for turn in range(self.runs + 1):
            for position, call in enumerate(calls):
                gc.collect()
                gc.disable()
                start = time.perf_counter()
                call()
                taken = time.perf_counter() - start
                gc.enable()
                if turn:
                    times[position].append(taken)
        return [statistics.median(each) for each in times]


def spent(command: list[str]) -> Cost:
    """Run *command* and return what it took."""
    start = time.perf_counter()
    with subprocess.Popen(  # noqa: S603  # the hub, or Python
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None  # noqa: S101  # a pipe, as asked for
        complaint = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed: {complaint.decode(errors='replace')}")
    kilobytes = usage.ru_maxrss / 1024 if sys.platform == "darwin" else usage.ru_maxrss
    return Cost(seconds, kilobytes / 1024, usage.ru_utime + usage.ru_stime)


# What is measured


def conversions(bench: Bench) -> Iterator[Row]:
    """Whole processes: `hub convert` ACTF to ALE against loads and dumps of the same file."""
    speed = {}
    for megabytes, bar, aim in ((SMALL, 3, None), (MIDDLE, None, None), (LARGE, 2, 1.2)):
        source, target = bench.document(megabytes), str(bench.folder / "out.json")
        convert = [HUB, "convert", source, "--to", "ale", "--output", target, "--force", "--quiet"]
        floor = [sys.executable, "-c", FLOOR, source, target]
        plain, carrying, least = bench.compare([*convert, "--no-carry"], convert, floor)
        yield Row(
            f"convert {megabytes} MB, --no-carry", plain.seconds, least.seconds, "s", bar, aim
        )
        carried_bar = 3 if megabytes == LARGE else None
        yield Row(f"convert {megabytes} MB", carrying.seconds, least.seconds, "s", carried_bar)
        speed[megabytes] = plain.seconds / megabytes
        if megabytes == LARGE:
            for what, cost in (("--no-carry", plain), ("with the carrier", carrying)):
                name = f"peak memory, {megabytes} MB, {what}"
                yield Row(name, cost.peak, least.peak, "MB", 1.2)
    yield Row(f"time per MB, {LARGE} MB to {MIDDLE} MB", speed[LARGE], speed[MIDDLE], "s/MB", 1.05)


FORMATS = {
    "ATIF": ["--to", "atif"],
    "rows of messages": ["--to", "openai-messages", "--option", "variant=rows"],
    "chats": ["--to", "openai-messages", "--option", "variant=chat"],
}
"""How the benchmark's document becomes one of each format."""


def formats(bench: Bench) -> Iterator[Row]:
    """Whole processes: `hub convert` of each format to Storyline against loads and dumps of the same file."""
    actf, target = bench.document(LARGE), str(bench.folder / "out.json")
    for name, chosen in FORMATS.items():
        source = str(bench.folder / f"{name}.json")
        made = [HUB, "convert", actf, *chosen, "--no-carry", "--output", source, "--quiet"]
        subprocess.run(made, check=True)  # noqa: S603  # the hub
        ours, floors = bench.compare(
            [HUB, "convert", source, "--to", "storyline", "-o", target, "--force", "--quiet"],
            [sys.executable, "-c", FLOOR, source, target],
        )
        yield Row(f"{name} to Storyline, {LARGE} MB", ours.seconds, floors.seconds, "s", 2)


ALL = ("storyline", "actf", "ale", "atif", "openai-messages")


def pairs(bench: Bench) -> Iterator[Row]:
    """Whole processes: each format to each, with the carrier and without, against loads and dumps of the same file."""
    target = str(bench.folder / "out.json")
    for source in ALL:
        path = _made(bench, source, LARGE)
        for to in ALL:
            convert = [HUB, "convert", path, "--to", to, "--output", target, "--force", "--quiet"]
            floor = [sys.executable, "-c", FLOOR, path, target]
            plain, carrying, least = bench.least([*convert, "--no-carry"], convert, floor)
            name = f"{source} to {to}"
            yield Row(f"{name}, --no-carry", plain.seconds, least.seconds, "s", 2, 1.2)
            yield Row(name, carrying.seconds, least.seconds, "s", 3)
            yield Row(f"{name}, --no-carry, peak", plain.peak, least.peak, "MB", 1.2)


def peers(bench: Bench) -> Iterator[Row]:
    """Whole processes: what others make of the same files, as far as they can be installed; see `peers.py`."""
    from peers import atif_models, exporter

    target = str(bench.folder / "out.json")
    atif = _made(bench, "atif", LARGE)
    convert = [HUB, "convert", "--output", target, "--force", "--quiet", "--no-carry"]
    for name, command in atif_models():
        ours, theirs = bench.least([*convert, atif, "--to", "atif"], command(atif, target))
        yield Row(f"atif to atif, to {name}", ours.seconds, theirs.seconds, "s", 1)
        yield Row(f"atif to atif, to {name}, peak", ours.peak, theirs.peak, "MB")
    for name, export in exporter():
        for source, to, megabytes, bar in EXPORTED:
            path = _made(bench, source, megabytes)
            ours, theirs = bench.least(
                [*convert, path, "--to", to], export(path, target, to), turns=1
            )
            what = (
                f"{source} to {to}" if megabytes == LARGE else f"{source} to {to}, {megabytes} MB"
            )
            yield Row(f"{what}, to {name}", ours.seconds, theirs.seconds, "s", bar)


def _made(bench: Bench, to: str, megabytes: float) -> str:
    """Return the path of what an ACTF document of *megabytes* becomes in the format *to*."""
    actf = bench.document(megabytes)
    path = str(bench.folder / f"{megabytes:g}.{to}.json")
    if to != "actf" and not os.path.exists(path):  # noqa: PTH110  # a text, as all paths here
        made = [HUB, "convert", actf, "--to", to, "--no-carry", "--output", path, "--quiet"]
        subprocess.run(made, check=True)  # noqa: S603  # the hub
    return actf if to == "actf" else path


EXPORTED = (
    ("actf", "actf", LARGE, 0.1),
    ("actf", "atif", LARGE, 0.1),
    ("actf", "openai-messages", SMALL, 0.25),
    ("actf", "storyline", LARGE, None),
    ("atif", "atif", LARGE, 0.1),
    ("atif", "storyline", LARGE, None),
    ("openai-messages", "openai-messages", LARGE, 0.25),
    ("openai-messages", "storyline", LARGE, None),
)
"""What others export as well, of how many megabytes, and the bar.

Where they make rows of messages, each repeats the whole conversation: 1 MB becomes 22, and 50 more than they take.
"""


def short_texts(bench: Bench) -> Iterator[Row]:
    """In process: `hub.convert` of many small objects against loads and dumps, both without start-up."""
    source, target = bench.document(5, "--dense"), str(bench.folder / "out.json")
    ours, floors = bench.compare_calls(
        partial(_convert, source, target, "ale", carry=False), partial(_floor, source, target)
    )
    yield Row("short texts, 5 MB, in process, --no-carry", ours, floors, "s", 4.5)


def carrier(bench: Bench) -> Iterator[Row]:
    """In process: a conversion with the carrier against the same one without."""
    ale = str(bench.folder / "source.ale.json")
    for megabytes in (SMALL, LARGE):
        actf, target = bench.document(megabytes), str(bench.folder / "out.json")
        _convert(actf, ale, "ale", carry=False)
        for source, what, bar in ((actf, "every turn differs", 2.0), (ale, "nothing differs", 1.4)):
            carrying, plain = bench.compare_calls(
                *(partial(_convert, source, target, "ale", carry=carry) for carry in (True, False))
            )
            yield Row(f"carrier, {megabytes} MB, {what}", carrying, plain, "s", bar)


def _convert(source: str, target: str, to: str, *, carry: bool) -> None:
    import hub

    hub.convert(source, target, to=to, force=True, carry=carry)


def _floor(source: str, target: str) -> None:
    import orjson

    Path(target).write_bytes(orjson.dumps(orjson.loads(Path(source).read_bytes())))


def exactness(bench: Bench) -> Iterator[Row]:
    """In process: finding out whether the exact path is needed, as a share of the parse."""
    import orjson

    from hub.json import needs_exact

    for flags in ((), ("--dense",)):
        megabytes = 5 if flags else LARGE
        data = Path(bench.document(megabytes, *flags)).read_bytes()
        check, parse = bench.compare_calls(partial(needs_exact, data), partial(orjson.loads, data))
        kind = "short texts" if flags else "ordinary"
        yield Row(f"exactness check to parse, {megabytes} MB {kind}", check, parse, "s")


def commands(bench: Bench) -> Iterator[Row]:
    """Whole processes: what a user waits for before anything is read."""
    small = bench.document(0.03)
    help_, detect, large, sorted_, nothing = bench.compare(
        [HUB, "--help"],
        [HUB, "detect", small],
        [HUB, "detect", bench.document(LARGE)],
        [HUB, "detect", bench.document(LARGE, "--sorted")],
        NOTHING,
    )
    yield Row("hub --help", help_.seconds, nothing.seconds, "s", 7, 4)
    yield Row("hub detect, small file", detect.seconds, nothing.seconds, "s", 8, 5)
    yield Row(f"hub detect, {LARGE} MB to small", large.seconds, detect.seconds, "s", 1.5)
    yield Row(f"hub detect, {LARGE} MB sorted to small", sorted_.seconds, detect.seconds, "s", 1.5)


def bulk(bench: Bench) -> Iterator[Row]:
    """Whole processes: a folder of small files against one process that loads and dumps each of them."""
    many, few = bench.folder / "many", bench.folder / "few"
    for folder, number in ((many, MANY), (few, MANY // 10)):
        folder.mkdir()
        for index in range(number):
            value = document(0.03 + index % 31 / 1000, seed=str(index))
            (folder / f"{index:05}.json").write_text(json.dumps(value, ensure_ascii=False))
    # Each run writes to a folder of its own: a file system may take long to use again what was freed a moment ago.
    places = (str(bench.folder / f"converted-{number}") for number in count())
    convert = [HUB, "convert", "--to", "ale", "--quiet"]
    plain, carrying, shared, small, floor = bench.compare(
        lambda: [*convert, str(many), "--no-carry", "--output", next(places)],
        lambda: [*convert, str(many), "--output", next(places)],
        lambda: [*convert, str(many), "--no-carry", "--jobs", "2", "--output", next(places)],
        lambda: [*convert, str(few), "--no-carry", "--output", next(places)],
        lambda: [sys.executable, "-c", FLOOR_OF_MANY, str(many), next(places)],
    )
    yield Row(f"{MANY} small files, --no-carry", plain.cpu, floor.cpu, "s", 2.5, 1.5)
    yield Row(f"{MANY} small files, with the carrier", carrying.cpu, floor.cpu, "s")
    yield Row("two workers to one, wall time", shared.seconds, plain.seconds, "s", 0.6)
    yield Row(f"peak memory, {MANY} to {MANY // 10} files", plain.peak, small.peak, "MB", 1.3)


GROUPS = {
    "convert": conversions,
    "formats": formats,
    "pairs": pairs,
    "peers": peers,
    "dense": short_texts,
    "carrier": carrier,
    "exact": exactness,
    "commands": commands,
    "bulk": bulk,
}


def main() -> int:
    """Measure, print a row as soon as it is there, and return 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=5, help="measurements of each, at least 5")
    parser.add_argument("--only", default=",".join(GROUPS), help=f"some of {','.join(GROUPS)}")
    parser.add_argument("--json", action="store_true", help="print JSON lines")
    chosen = parser.parse_args()
    if not chosen.json:
        print(f"{'':48}{'hub':>10}{'floor':>10}{'ratio':>8}{'bar':>7}{'aim':>7}")
    groups = chosen.only.split(",")
    rows = []
    for group in groups:
        for row in (measured if len(groups) == 1 else apart)(group, max(5, chosen.runs)):
            rows.append(row)
            shown = {**row._asdict(), "ratio": row.ratio, "met": row.is_met}
            print(json.dumps(shown) if chosen.json else line(row), flush=True)
    return 0 if all(row.is_met for row in rows) else 1


def measured(group: str, runs: int) -> Iterator[Row]:
    """Yield the rows of *group*."""
    with tempfile.TemporaryDirectory() as folder:
        yield from GROUPS[group](Bench(Path(folder), runs))


def apart(group: str, runs: int) -> Iterator[Row]:
    """Yield the rows of *group*, measured by a process of its own.

    What one group has in memory would count as the peak of the processes that the next one starts.
    """
    are_met = True
    command = [sys.executable, __file__, "--only", group, "--runs", str(runs), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  # this script
        assert process.stdout is not None  # noqa: S101  # a pipe, as asked for
        for text in process.stdout:
            row = Row(*(json.loads(text)[name] for name in Row._fields))
            are_met &= row.is_met
            yield row
    if process.returncode != (0 if are_met else 1):
        sys.exit(f"measuring {group} failed")


def line(row: Row) -> str:
    """Return *row* of the table, with a mark behind a missed bar."""
    measured, floor = (f"{value:.3g} {row.unit}" for value in (row.measured, row.floor))
    bar, aim = ("-" if value is None else f"{value:g}" for value in (row.bar, row.aim))
    mark = "" if row.is_met else "  MISSED"
    return f"{row.what:48}{measured:>10}{floor:>10}{row.ratio:>8.2f}{bar:>7}{aim:>7}{mark}"


if __name__ == "__main__":
    sys.exit(main())
