"""`hub convert`: one input to another format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from hub.cli.options import (
    From,
    MaxSize,
    Options,
    Plugins,
    Strict,
    Timezone,
    To,
    load_plugins,
    pairs,
)
from hub.cli.output import say, say_problems

if TYPE_CHECKING:
    from hub.api import Conversion


def convert(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="File or directory; - is standard input.")
    ],
    to: To,
    from_: From = None,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT|DIR|-",
            help="File or directory to write; - is standard output.",
        ),
    ] = "-",
    container: Annotated[
        Literal["object", "array", "lines", "dir"] | None,
        typer.Option(
            help="How documents are put together; by default one object, an array of several, lines for .jsonl."
        ),
    ] = None,
    strict: Strict = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing output.")] = False,
    on_error: Annotated[
        Literal["fail", "skip"],
        typer.Option(
            help="What to do with a record that cannot be read: write nothing, or leave it out."
        ),
    ] = "fail",
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
    assume_timezone: Timezone = None,
    max_size: MaxSize = None,
    option: Options = None,
    plugin: Plugins = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Do not tell what was written.")
    ] = False,
) -> None:
    """Convert a trajectory file to another format.

    What the target cannot hold travels in its envelope, and comes back when the file is converted again.
    Nothing is written over the input, nor over an existing file without --force; no half-written file is left.
    """
    from hub import api

    load_plugins(plugin)
    result = api.convert(
        file,
        output,
        to=to,
        format=from_,
        container=container,
        force=force,
        strict=strict,
        on_error=on_error,
        carry=not no_carry,
        extract_images=extract_images,
        assume_timezone=assume_timezone,
        max_size=max_size,
        options=pairs(option),
    )
    say_problems([one for one in result.problems if one.severity != "info"], file)
    if not quiet:
        say(_summary(result))
    if result.skipped:
        raise typer.Exit(3)


def _summary(result: Conversion) -> str:
    skipped = f", {result.skipped} skipped" if result.skipped else ""
    target = f" in {', '.join(result.outputs[:3])}" if result.outputs else ""
    more = f" and {len(result.outputs) - 3} more files" if len(result.outputs) > 3 else ""  # noqa: PLR2004
    return (
        f"{result.reader} -> {result.writer}: {_count(result.storylines, 'trajectory', 'trajectories')}"
        f" in {_count(result.documents, 'document', 'documents')}{target}{more}{skipped}"
    )


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
