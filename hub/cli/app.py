"""The program: its commands, its version, and what happens to errors."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from hub.cli import convert, detect, formats, plugins, validate
from hub.cli.output import error_status

app = typer.Typer(
    name="hub",
    help="Detect, convert and validate AI-agent trajectories. Nothing is lost in silence.",
    epilog="Exit status: 0 done; 1 the input fell short; 2 misuse; 3 some of many inputs failed.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("detect", short_help="Say which format each file is, and why.")(detect.detect)
app.command("convert", short_help="Convert a file to another format.")(convert.convert)
app.command("validate", short_help="List all problems of each file.")(validate.validate)
app.command("formats", short_help="List the formats, or show one of them.")(formats.formats)
app.add_typer(plugins.app, name="plugins", short_help="Show how each format plugin fares.")


def _version(value: bool) -> None:
    if value:
        from hub import __version__

        typer.echo(f"storyline-hub {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Detect, convert and validate AI-agent trajectories. Nothing is lost in silence."""
    del version


def run(arguments: list[str] | None = None) -> int:
    """Run the program with *arguments*, those of the process by default, and return its exit status."""
    try:
        app(arguments, prog_name="hub", standalone_mode=True)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException as error:  # noqa: BLE001  # no traceback reaches a user
        return error_status(error)
    finally:
        _flush()
    return 0


def _flush() -> None:
    """Write out what is buffered; a reader that went away is no error."""
    try:
        sys.stdout.flush()
    except (BrokenPipeError, ValueError):
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
