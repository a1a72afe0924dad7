"""`hub stats`: what many trajectories are like."""

import csv
import sys
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from hub.cli.options import (
    AsJson,
    Files,
    From,
    Jobs,
    Limit,
    MaxSize,
    Options,
    Plugins,
    Strict,
    SummaryFile,
    Timezone,
    limits,
    load_plugins,
    pairs,
    processes,
)
from hub.cli.output import print_json, printable
from hub.errors import UsageError

if TYPE_CHECKING:
    from hub.batch.counting import Measures
    from hub.batch.outcome import Outcome
    from hub.batch.statistics import Spread, Statistics

SHOWN = 10
"""Models and agents of which a line is shown."""
WIDTH = 30
"""Of the longest bar of a histogram."""


def stats(
    files: Files,
    from_: From = None,
    as_json: AsJson = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print a line of CSV for each trajectory.")
    ] = False,
    histograms: Annotated[
        bool, typer.Option("--histograms", help="Show how each measure is spread.")
    ] = False,
    strict: Strict = False,
    assume_timezone: Timezone = None,
    max_size: MaxSize = None,
    limit: Limit = None,
    option: Options = None,
    jobs: Jobs = None,
    summary: SummaryFile = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing summary.")] = False,
    plugin: Plugins = None,
) -> None:
    """Count what is in files, directories and archives: formats, turns, tool calls, tokens, costs, times, outcomes.

    What no trajectory says is not counted, and never taken for 0.
    """
    if as_json and as_csv:
        raise UsageError("--json or --csv, not both")
    from hub.batch.running import count, count_many
    from hub.batch.statistics import Statistics
    from hub.cli.bulk import follow, tell

    load_plugins(plugin)
    found = Statistics()
    rows = csv.writer(sys.stdout, lineterminator="\n")
    if as_csv:
        rows.writerow(_columns())

    def show(outcome: "Outcome") -> None:
        tell(outcome)
        for one in outcome.measures or ():
            found.add(one)
            if as_csv:
                rows.writerow(_row(outcome.input, one))

    status = follow(
        count_many(
            files,
            format=from_,
            jobs=processes(jobs),
            strict=strict,
            assume_timezone=assume_timezone,
            limits=limits(limit, size=max_size),
            options=pairs(option),
            plugins=tuple(plugin or ()),
        ),
        inputs=files,
        total=lambda: count(files, from_),
        summary=summary,
        force=force,
        quiet=not sys.stderr.isatty(),
        show=show,
    )
    if as_json:
        print_json(found.to_json())
    elif not as_csv:
        for line in _lines(found, histograms=histograms):
            typer.echo(printable(line))
    raise typer.Exit(status)


def _columns() -> list[str]:
    from hub.batch.counting import Measures

    return ["input", *Measures._fields]


def _row(input: str, one: "Measures") -> list[str]:
    values = one._replace(models=" ".join(one.models))  # type: ignore[arg-type]  # as it stands in a cell
    cells = (input, *values)
    return [_cell(cell) for cell in cells]


def _cell(value: object) -> str:
    """Return *value* so that no spreadsheet takes it for a formula, and no terminal for a command."""
    if not isinstance(value, str):
        return "" if value is None else str(value)
    text = printable(value)
    return f"'{text}" if text[:1] in FORMULAS else text


FORMULAS = {"=", "+", "-", "@", "\t", "\n"}
"""What a cell begins with that a spreadsheet may take for a formula."""


def _lines(found: "Statistics", *, histograms: bool) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"{found.trajectories} trajectories"
    formats = Counter({" ".join(filter(None, key)): count for key, count in found.formats.items()})
    for title, counts in (
        ("format", formats),
        ("outcome", found.outcomes),
        ("model", found.models),
        ("agent", found.agents),
    ):
        yield from _shares(title, counts, found.trajectories)
    yield ""
    yield f"{'':18}{'known of':>10}{'total':>16}{'mean':>12}{'min':>12}{'max':>12}"
    for name, spread in found.spreads.items():
        numbers = (spread.total, spread.mean, spread.least, spread.largest)
        total, mean, least, largest = (_number(one) if spread.count else "-" for one in numbers)
        yield f"{_title(name):18}{spread.count:>10}{total:>16}{mean:>12}{least:>12}{largest:>12}"
    if found.error_rate is not None:
        yield f"{'tool error rate':18}{found.error_rate:>26.1%}"
    if histograms:
        for name, spread in found.spreads.items():
            yield from _histogram(_title(name), spread)


def _shares(title: str, counts: Counter[str], whole: int) -> Iterator[str]:
    if not counts:
        return
    yield ""
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    for name, count in ordered[:SHOWN]:
        yield f"{title:10}{name:40}{count:>10}{count / whole:>8.1%}"
    if len(ordered) > SHOWN:
        yield f"{title:10}… and {len(ordered) - SHOWN} more"


def _histogram(title: str, spread: "Spread") -> Iterator[str]:
    bars = spread.bars()
    largest = max((count for _, _, count in bars), default=0)
    if bars:
        yield ""
        yield title
    for low, high, count in bars:
        label = _number(low) if low == high else f"{_number(low)} to {_number(high)}"
        yield f"  {label:>24} {'█' * round(count / largest * WIDTH):{WIDTH}} {count}"


def _title(name: str) -> str:
    return name.replace("_usd", " USD").replace("_ms", " ms").replace("_", " ")


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, int) or value == int(value):
        return f"{int(value):,}".replace(",", " ")
    return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}".replace(",", " ")  # noqa: PLR2004  # three digits
