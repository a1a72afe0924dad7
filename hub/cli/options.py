"""Options that several commands share."""

import re
from collections.abc import Sequence
from typing import Annotated, Literal

import typer


def _complete_format(incomplete: str) -> list[str]:
    from hub.api import formats

    return [name for name in formats.declared if name.startswith(incomplete)]


UNITS = {"K": 1, "M": 2, "G": 3, "T": 4}
SIZE = re.compile(r"([0-9]{1,18}) ?(?:([KMGT])(i?))?B?", re.IGNORECASE)


def number_of_bytes(text: str | int) -> int:
    """Return how many bytes *text* says: a number, or one with a unit, `10MB` of 1000 and `10MiB` of 1024."""
    found = SIZE.fullmatch(str(text))
    if found is None or not int(found[1]):
        raise typer.BadParameter(f"{text!r} is no number of bytes, such as 1000, 10MB or 2GiB")
    number, unit, is_binary = found.groups()
    base = 1024 if is_binary else 1000
    factor: int = base ** UNITS[unit.upper()] if unit else 1
    return int(number) * factor


Files = Annotated[
    list[str], typer.Argument(metavar="FILE...", help="Files or directories; - is standard input.")
]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        "-f",
        metavar="FORMAT",
        help="Format of the input; wins over detection.",
        autocompletion=_complete_format,
    ),
]
To = Annotated[
    str,
    typer.Option(
        "--to", "-t", metavar="FORMAT", help="Format to write.", autocompletion=_complete_format
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Strict = Annotated[bool, typer.Option("--strict", help="Take every error for fatal.")]
Timezone = Annotated[
    str | None,
    typer.Option(
        "--assume-timezone",
        metavar="ZONE",
        help="Zone of times without one: an IANA name or +HH:MM. Without it they are kept, not guessed.",
    ),
]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        help="Option of a format, as `hub formats ID` lists them; repeatable.",
    ),
]
MaxSize = Annotated[
    int | None,
    typer.Option(
        metavar="BYTES",
        parser=number_of_bytes,
        help="Limit of the input after decompression, such as 500MB or 2GiB.  [default: 4 GiB]",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=0,
        help="Processes that share the work on many inputs; 0 is one for each processor.  [default: 1; on Ray 0]",
    ),
]
Engine = Annotated[
    Literal["local", "ray"],
    typer.Option(
        "--engine",
        help="Who works on many inputs: processes of this machine, or the Ray cluster that RAY_ADDRESS names,"
        " by default one of this machine.",
    ),
]
SummaryFile = Annotated[
    str | None,
    typer.Option(
        "--summary",
        metavar="FILE",
        help="Write what became of each input, for programs: JSON, or JSON Lines for .jsonl.",
    ),
]
Plugins = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin", metavar="PATH", help="Load a one-file format plugin as well; repeatable."
    ),
]


def pairs(options: Sequence[str] | None) -> dict[str, str]:
    """Return the names and values of `--option name=value`."""
    from hub.errors import UsageError

    found = {}
    for option in options or ():
        name, equals, value = option.partition("=")
        if not equals or not name:
            raise UsageError(f"--option takes NAME=VALUE, not {option!r}")
        found[name] = value
    return found


def processes(jobs: int | None, engine: str = "local") -> int:
    """Return how many processes `--jobs` asks for; on Ray 0 for as many as there are processors."""
    if engine == "ray":
        return jobs or 0
    if jobs != 0:
        return jobs or 1
    import os

    has_affinity = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1


def load_plugins(paths: Sequence[str] | None) -> None:
    """Load the one-file plugins at *paths*."""
    from hub.api import formats

    for path in paths or ():
        formats.add_file(path)
