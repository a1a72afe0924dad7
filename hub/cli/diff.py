"""`hub diff`: where two trajectory files differ, whatever their formats."""

import shutil
from typing import Annotated

import typer

from hub.cli.options import (
    AsJson,
    Limit,
    Options,
    Plugins,
    Strict,
    Timezone,
    limits,
    load_plugins,
    pairs,
)
from hub.cli.output import print_json, printable
from hub.errors import UsageError

IGNORED = ("origin", "unknown_fields")
"""Root members that say how a Storyline was stored, not what happened in it."""


def diff(
    first: Annotated[str, typer.Argument(metavar="A", help="File or directory.")],
    second: Annotated[str, typer.Argument(metavar="B", help="File or directory.")],
    from_first: Annotated[
        str | None, typer.Option("--from-a", metavar="FORMAT", help="Format of A.")
    ] = None,
    from_second: Annotated[
        str | None, typer.Option("--from-b", metavar="FORMAT", help="Format of B.")
    ] = None,
    all_members: Annotated[
        bool, typer.Option("--all", help="Compare origins and residuals as well.")
    ] = False,
    show: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Differences shown of each pair of trajectories."),
    ] = 20,
    as_json: AsJson = False,
    strict: Strict = False,
    assume_timezone: Timezone = None,
    limit: Limit = None,
    option: Options = None,
    plugin: Plugins = None,
) -> None:
    """Compare two trajectory files, of one format or of two, as Storylines.

    Exit status 0 when they are equal, 1 when they differ; of those that differ the aligned turns and the first
    differences are shown.
    """
    from hub import api

    if first == second == "-":
        raise UsageError("standard input can be read only once; name a file for A or B")
    load_plugins(plugin)
    taken = limits(limit)
    sides = [
        list(
            api.read(
                name,
                format=id_,
                strict=strict,
                assume_timezone=assume_timezone,
                limits=taken,
                options=pairs(option),
            )
        )
        for name, id_ in ((first, from_first), (second, from_second))
    ]
    comparison = api.compare(sides[0], sides[1], ignore=() if all_members else IGNORED)
    if as_json:
        print_json(comparison.to_json())
    elif comparison.is_equal:
        number = len(comparison.pairs)
        typer.echo(f"equal: {number} {'trajectory' if number == 1 else 'trajectories'}")
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        typer.echo(printable(comparison.to_text(limit=show, width=width)), nl=False)
    raise typer.Exit(0 if comparison.is_equal else 1)
