"""`hub store`: a store on the command line. What is slow to import is imported by the command that needs it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from hub import UsageError, commands

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa

    from hub_lance.adding import Added

app = typer.Typer(
    help="Keep trajectories in three Lance tables, and ask them questions in SQL.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

StorePath = Annotated[str, typer.Argument(metavar="STORE", help="Folder of the store.")]
Where = Annotated[
    str | None,
    typer.Option(
        metavar="SQL",
        help="Only trajectories of which this SQL condition over `runs` holds.",
    ),
]


@app.callback()
def store() -> None:
    """Keep trajectories in three Lance tables, and ask them questions in SQL."""


@app.command(cls=commands.UsageCommand)
def add(
    path: StorePath,
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...",
            help="Files, directories, archives, patterns such as 'runs/**/*.json'.",
        ),
    ],
    from_: commands.From = None,
    on_duplicate: Annotated[
        Literal["fail", "skip", "replace"],
        typer.Option(
            help="What becomes of an input with a trajectory that the store has: nothing of it is added,"
            " that trajectory is left out, or it replaces the one that is there."
        ),
    ] = "fail",
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with the same command, which was cut short."),
    ] = False,
    strict: commands.Strict = False,
    on_error: Annotated[
        Literal["fail", "skip"],
        typer.Option(
            help="What to do with a record that cannot be read: add nothing of its input, or leave it out."
        ),
    ] = "fail",
    assume_timezone: commands.Timezone = None,
    limit: commands.Limit = None,
    max_size: commands.MaxSize = None,
    option: commands.Options = None,
    jobs: commands.Jobs = None,
    engine: commands.Engine = "local",
    summary: commands.SummaryFile = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing summary.")] = False,
    plugin: commands.Plugins = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Do not tell what was added.")
    ] = False,
) -> None:
    """Add the trajectories of files to a store, which is made if there is none.

    All of them are in the store in the end, at once; readers see the store as it was until then.
    A file that cannot be read costs itself only.
    """
    import hub_lance

    commands.load_plugins(plugin)
    found = hub_lance.open(path, create=True)
    done: list[Added] = []
    status = commands.follow(
        found.add(
            inputs,
            on_duplicate=on_duplicate,
            format=from_,
            jobs=commands.processes(jobs, engine),
            engine=engine,
            resume=resume,
            strict=strict,
            on_error=on_error,
            assume_timezone=assume_timezone,
            limits=commands.limits(limit, size=max_size),
            options=commands.pairs(option),
            plugins=tuple(plugin or ()),
            report=done.append,
        ),
        inputs=inputs,
        total=lambda: commands.count_inputs(inputs, from_, without=path),
        summary=summary,
        force=force,
        quiet=quiet,
        show=commands.tell,
    )
    for one in done if not quiet else ():
        commands.say(
            f"{path}: {one.added} added, {one.replaced} replaced, {one.skipped} skipped;"
            f" it holds {len(found)} trajectories"
        )
    raise typer.Exit(status)


@app.command(cls=commands.UsageCommand)
def export(
    path: StorePath,
    to: commands.To,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT|DIR|-",
            help="File or directory to write; - is standard output.",
        ),
    ] = "-",
    where: Where = None,
    container: Annotated[
        Literal["object", "array", "lines", "dir"] | None,
        typer.Option(
            help="How documents are put together; by default one object, an array of several, lines for .jsonl."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing output.")] = False,
    no_carry: Annotated[
        bool,
        typer.Option(
            "--no-carry",
            help="Leave out the envelopes that bring back what the target cannot hold.",
        ),
    ] = False,
    extract_images: Annotated[
        bool,
        typer.Option("--extract-images", help="Move inline images to files beside the output."),
    ] = False,
    option: commands.Options = None,
    plugin: commands.Plugins = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Do not tell what was written.")
    ] = False,
) -> None:
    """Write trajectories of a store in a format, as a conversion of the files that were added would."""
    import hub_lance

    commands.load_plugins(plugin)
    done = hub_lance.open(path).export(
        output,
        to=to,
        where=where,
        container=container,
        force=force,
        carry=not no_carry,
        extract_images=extract_images,
        options=commands.pairs(option),
    )
    commands.say_problems([one for one in done.problems if one.severity != "info"], path)
    if not quiet:
        commands.say(
            f"{path} -> {done.writer}: {done.storylines} trajectories in {done.documents} documents"
        )


@app.command(cls=commands.UsageCommand)
def query(
    path: StorePath,
    sql: Annotated[
        str, typer.Argument(metavar="SQL", help="A query over `runs`, `steps` and `tool_calls`.")
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print an object of JSON for each row, a line each.")
    ] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    parquet: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write a Parquet file instead.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Ask a question in SQL; the store is only read."""
    import hub_lance

    if (as_json, as_csv, parquet is not None).count(True) > 1:
        raise UsageError("one of --json, --csv and --parquet")
    batches = hub_lance.open(path).batches(sql)
    if parquet is not None:
        from hub_lance.printing import write_parquet

        write_parquet(batches, parquet, force=force)
    elif as_json:
        for row in _rows(batches):
            commands.print_json(row)
    elif as_csv:
        _print_csv(batches)
    else:
        columns = batches.schema.names
        cells = [[_cell(row[name]) for name in columns] for row in _rows(batches)]
        commands.print_table(columns, cells)


@app.command(cls=commands.UsageCommand)
def show(path: StorePath, as_json: commands.AsJson = False) -> None:
    """Show what a store holds, its versions, and whether it is well."""
    import hub_lance

    found = hub_lance.open(path)
    health = found.health()
    if as_json:
        commands.print_json({name: one._asdict() for name, one in health.items()})
        return
    columns = ("table", "rows", "version", "versions", "files", "deleted", "bytes", "state")
    rows = [
        (
            name,
            str(one.rows),
            str(one.version),
            str(one.versions),
            str(one.fragments),
            str(one.deleted),
            str(one.size),
            "well" if one.newest == one.version else f"version {one.newest} was not published",
        )
        for name, one in health.items()
    ]
    commands.print_table(columns, rows)


@app.command(cls=commands.UsageCommand)
def maintain(
    path: StorePath,
    keep_hours: Annotated[
        float,
        typer.Option(
            metavar="HOURS",
            min=0,
            help="How old versions are that are removed; who still reads one of them fails then.",
        ),
    ] = 24,
) -> None:
    """Put small files together, bring indexes up to date, and remove old versions and what was left half done."""
    from datetime import timedelta

    import hub_lance

    found = hub_lance.open(path)
    before = sum(one.size for one in found.health().values())
    found.maintain(older_than=timedelta(hours=keep_hours))
    after = sum(one.size for one in found.health().values())
    commands.say(f"{path}: {before} bytes before, {after} after")


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterable[dict[str, Any]]:
    from hub_lance.printing import plain
    from hub_lance.query import refusals

    with refusals():
        for batch in batches:
            for row in batch.to_pylist():
                yield {name: plain(value) for name, value in row.items()}


def _cell(value: Any) -> str:
    return "" if value is None else str(value)


def _print_csv(batches: pa.RecordBatchReader) -> None:
    import csv

    names: Sequence[str] = batches.schema.names
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(names)
    for row in _rows(batches):
        writer.writerow([_cell(row[name]) for name in names])
