"""`hub plugins`: how each plugin and each extension fares; works also when all of them are broken."""

import traceback
from typing import Annotated

import typer

from hub.cli.options import AsJson, Plugins, load_plugins
from hub.cli.output import print_json, print_table, printable
from hub.cli.usage import UsageCommand

app = typer.Typer(
    help="Show how each format plugin and each extension fares, broken ones with the reason.",
    invoke_without_command=True,
    rich_markup_mode=None,
)


@app.callback()
def plugins(
    context: typer.Context,
    as_json: AsJson = False,
    plugin: Plugins = None,
) -> None:
    """Show how each format plugin and each extension fares, broken ones with the reason."""
    load_plugins(plugin)
    if context.invoked_subcommand is not None:
        return
    from hub.api import formats

    states = [*formats.examined(), *formats.extensions()]
    if as_json:
        print_json([state._asdict() for state in states])
    else:
        columns = ("id", "kind", "status", "distribution", "reason")
        rows = [(one.id, one.kind, one.status, one.origin, one.reason) for one in states]
        print_table(columns, rows)


@app.command(cls=UsageCommand)
def doctor(
    id: Annotated[
        str, typer.Argument(metavar="ID", help="Format id of the plugin, or name of the extension.")
    ],
) -> None:
    """Show all there is to know of a plugin that does not work, with the full trace."""
    from hub.api import formats

    states = [one for one in [*formats.examined(), *formats.extensions()] if one.id == id]
    for state in states:
        reason = f": {state.reason}" if state.reason else ""
        typer.echo(printable(f"{state.id} of {state.origin}: {state.status}{reason}"))
    error = formats.failure(id)
    if any(state.kind == "extension" for state in states):
        error = error or formats.failure_of_extension(id)
    if error is not None:
        typer.echo(printable("".join(traceback.format_exception(error)).rstrip()))
    if not states:
        formats[id]
    raise typer.Exit(0 if all(state.status == "ok" for state in states) else 1)
