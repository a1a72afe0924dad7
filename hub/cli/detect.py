"""`hub detect`: which format a file is, and why."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hub.cli.options import AsJson, Files, Limit, Plugins, limits, load_plugins
from hub.cli.output import each_input, print_json, printable, say_problems

if TYPE_CHECKING:
    from hub.batch.outcome import Outcome
    from hub.detection import Detected
    from hub.limits import Limits


def detect(
    files: Files,
    as_json: AsJson = False,
    max_detect: Annotated[
        str | None,
        typer.Option(
            metavar="BYTES",
            help="The same as --limit detect=BYTES: how much of a file is looked at.  [default: 256 MiB]",
        ),
    ] = None,
    limit: Limit = None,
    plugin: Plugins = None,
) -> None:
    """Say which format each file is: format, version, score and why, a line a file.

    A directory is taken as a whole if a format claims it, otherwise each file in it is detected alone.
    """
    load_plugins(plugin)
    taken = limits(limit, detect=max_detect)
    raise typer.Exit(
        each_input(
            files,
            lambda name: _detect(name, taken, as_json=as_json),
            failed=(lambda outcome: print_json(_failure_as_json(outcome))) if as_json else None,
        )
    )


def _detect(name: str, limits: "Limits", *, as_json: bool) -> int:
    from hub import api

    found = api.detect(name, limits=limits)
    if as_json:
        print_json(_as_json(name, found))
    else:
        say_problems(found.warnings, name)
        typer.echo(printable(_as_line(name, found)))
    return 0


def _as_line(name: str, found: "Detected") -> str:
    words = [found.format, found.version or "", f"({found.confidence})"]
    line = f"{name}: {' '.join(word for word in words if word)}: {found.reason}"
    others = ", ".join(f"{one.format} ({one.confidence})" for one in found.others)
    return f"{line}; also {others}" if others else line


def _as_json(name: str, found: "Detected") -> dict[str, Any]:
    return {
        "file": name,
        "format": found.format,
        "version": found.version,
        "variant": found.variant,
        "confidence": found.confidence,
        "reason": found.reason,
        "others": [
            {"format": one.format, "confidence": one.confidence, "reason": one.reason}
            for one in found.others
        ],
        "problems": [one._asdict() for one in found.warnings],
    }


def _failure_as_json(outcome: "Outcome") -> dict[str, Any]:
    absent = dict.fromkeys(("format", "version", "variant", "confidence", "reason"))
    shown = {
        "file": outcome.input,
        **absent,
        "others": [],
        "problems": [one._asdict() for one in outcome.problems],
    }
    return shown if outcome.message is None else {**shown, "message": outcome.message}
