"""The program: its commands, and what happens to errors.

Only the command that was asked for is imported and built; of the others the help needs the name and a line.
"""

import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Annotated, NamedTuple

import typer

from hub.cli.usage import UsageCommand
from hub.errors import FormatError

HELP = "Detect, convert and validate AI-agent trajectories. Nothing is lost in silence."


exits_at_once = False
"""Whether the process ends with this program: then nothing need be freed."""


class Command(NamedTuple):
    """A command: the function of its name in the module of its name, or the typer application `app` there."""

    name: str
    short_help: str
    is_group: bool = False

    @property
    def function(self) -> str:
        """Name of the function and of its module below `hub.cli`."""
        return self.name.replace("-", "_")


COMMANDS = (
    Command("detect", "Say which format each file is, and why."),
    Command("convert", "Convert a file to another format."),
    Command("validate", "List all problems of each file."),
    Command("stats", "Count what is in files: turns, calls, tokens, costs, outcomes."),
    Command("diff", "Show where two files differ."),
    Command("formats", "List the formats, or show one of them."),
    Command("plugins", "Show how each plugin fares.", is_group=True),
    Command("new-plugin", "Make a plugin for a format of your own."),
)
NAMES = frozenset(command.name for command in COMMANDS)


def program(wanted: str | None = None) -> typer.Typer:
    """Return the program; only the command *wanted* is complete, with None all of them are."""
    app = typer.Typer(
        name="hub",
        help=HELP,
        epilog="Exit status: 0 done; 1 the input fell short; 2 misuse; 3 some of many inputs failed.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(_main)
    for command in COMMANDS:
        if wanted not in (command.name, None):
            app.command(command.name, short_help=command.short_help)(_not_asked_for)
            continue
        module = import_module(f"hub.cli.{command.function}")
        if command.is_group:
            app.add_typer(module.app, name=command.name, short_help=command.short_help)
        else:
            function = getattr(module, command.function)
            app.command(command.name, cls=UsageCommand, short_help=command.short_help)(function)
    if wanted not in NAMES:
        _add_others(app, wanted)
    return app


def _add_others(app: typer.Typer, wanted: str | None) -> None:
    """Add the commands of other distributions; with None those that cannot be used are left out."""
    from hub.cli.additions import usable

    for one in usable(NAMES):
        name, short_help = one.point.id, one.short_help
        if wanted not in (name, None):
            app.command(name, short_help=short_help)(_not_asked_for)
            continue
        try:
            added = one.load()
        except FormatError:
            if wanted is not None:
                raise
            continue
        app.add_typer(added, name=name, short_help=short_help)


def _not_asked_for() -> None:
    """Stand in for a command in the help of the program."""


def _version(value: bool) -> None:
    if value:
        from hub import __version__

        typer.echo(f"storyline-hub {__version__}")
        raise typer.Exit


def _main(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Detect, convert and validate AI-agent trajectories. Nothing is lost in silence."""
    del version


def run(arguments: list[str] | None = None) -> int:
    """Run the program with *arguments*, those of the process by default, and return its exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        program(_wanted(words))(words, prog_name="hub")
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException as error:  # noqa: BLE001  # no traceback reaches a user
        from hub.cli.output import error_status

        status = error_status(error)
    else:
        status = 0
    return _ended(status)


def _wanted(words: list[str]) -> str | None:
    """Return the command that *words* ask for, `""` for none; None for completion, which needs all."""
    if "_HUB_COMPLETE" in os.environ:
        return None
    return next((word for word in words if not word.startswith("-")), "")


def _ended(status: int) -> int:
    """Tell of plugins that could not be used, and write out what is buffered; return the exit status."""
    api = sys.modules.get("hub.api")
    if api is not None and "hub.cli.plugins" not in sys.modules:
        from hub.cli.output import say

        for state in api.formats.refused():
            say(f"hub: plugin {state.id} ({state.origin}) is not used: {state.reason}")
            say(f"hub: `hub plugins doctor {state.id}` shows more")
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError) as error:
        from hub.cli.output import error_status

        status = status or error_status(error)
        # Who reads the output has seen enough, or the disk is full; the interpreter must not try again.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status
