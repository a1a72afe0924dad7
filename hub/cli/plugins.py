"""`hub plugins`: how each plugin and each extension fares; works also when all of them are broken."""

import traceback
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from hub.cli.options import AsJson, Plugins, load_plugins
from hub.cli.output import print_json, print_table, printable
from hub.cli.usage import UsageCommand

if TYPE_CHECKING:
    from hub.cli.additions import Addition
    from hub.registry import PluginState

app = typer.Typer(
    help="Show how each plugin and each extension fares, broken ones with the reason.",
    invoke_without_command=True,
    rich_markup_mode=None,
)


@app.callback()
def plugins(
    context: typer.Context,
    as_json: AsJson = False,
    plugin: Plugins = None,
) -> None:
    """Show how each plugin and each extension fares, broken ones with the reason."""
    load_plugins(plugin)
    if context.invoked_subcommand is not None:
        return
    states = list(_states())
    if as_json:
        print_json([state._asdict() for state in states])
    else:
        columns = ("id", "kind", "status", "distribution", "reason")
        rows = [(one.id, one.kind, one.status, one.origin, one.reason) for one in states]
        print_table(columns, rows)


@app.command(cls=UsageCommand)
def doctor(
    id: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="Id of the format, or name of the extension or the command."
        ),
    ],
) -> None:
    """Show all there is to know of a plugin that does not work, with the full trace."""
    from hub.api import formats

    states = [state for state in _states() if state.id == id]
    for state in states:
        reason = f": {state.reason}" if state.reason else ""
        typer.echo(printable(f"{state.id} of {state.origin}: {state.status}{reason}"))
    errors = [formats.failure(id), *(one.failure() for one in _additions() if one.point.id == id)]
    if any(state.kind == "extension" for state in states):
        errors.append(formats.failure_of_extension(id))
    for error in filter(None, errors):
        typer.echo(printable("".join(traceback.format_exception(error)).rstrip()))
    if not states:
        formats[id]
    raise typer.Exit(0 if all(state.status == "ok" for state in states) else 1)


def _states() -> "Iterator[PluginState]":
    """Yield how each plugin fares: those with formats, then extensions, then those with commands."""
    from hub.api import formats

    yield from formats.examined()
    yield from formats.extensions()
    yield from (one.state() for one in _additions())


def _additions() -> "Iterator[Addition]":
    from hub.cli.additions import additions
    from hub.cli.app import NAMES

    return additions(NAMES)
