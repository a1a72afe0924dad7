"""`hub new-plugin`: a plugin to start from."""

from os.path import commonpath
from typing import Annotated

import typer

from hub.cli.output import say


def new_plugin(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Id of the format, such as chat-log.")
    ],
    dir: Annotated[
        str, typer.Option("--dir", "-d", metavar="DIR", help="Where its folder is made.")
    ] = ".",
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Name of the format, for people.")
    ] = None,
) -> None:
    """Make a whole plugin for a format of your own, whose tests pass at once.

    It reads and writes a small format; make yours of it, a member at a time. Needs the extra `kit`.
    """
    from hub import scaffold

    files = scaffold.create(name, dir, title=title)
    for path in files:
        typer.echo(str(path))
    folder = commonpath(files)
    say(f"next: cd {folder}; pip install --editable '.[test]'; pytest; hub plugins")
