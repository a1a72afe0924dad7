"""Options that several commands share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from hub.limits import Limits


def _complete_format(incomplete: str) -> list[str]:
    from hub.api import formats

    return [name for name in formats.declared if name.startswith(incomplete)]


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
    str | None,
    typer.Option(
        metavar="BYTES",
        help="The same as --limit size=BYTES: of the input after decompression, such as 500MB.  [default: 4 GiB]",
    ),
]
LIMITS = "HUB_LIMITS"
"""Environment variable that stands for `--limit`, with spaces between: `size=10GiB line=2GiB`."""
Limit = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=NUMBER",
        envvar=LIMITS,
        help="Limit of an input: size, line, records, members, depth, envelope, problems or detect; repeatable.",
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


def pairs(
    options: Sequence[str] | None, option: str = "--option", form: str = "NAME=VALUE"
) -> dict[str, str]:
    """Return the names and values that an *option* of this *form* was given."""
    from hub.errors import UsageError

    found = {}
    for one in options or ():
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise UsageError(f"{option} takes {form}, not {one!r}")
        found[name] = value
    return found


def limits(chosen: Sequence[str] | None, **others: str | None) -> "Limits":
    """Return the limits of `--limit name=number`; *others* are those with an option of their own, which wins."""
    from hub.limits import Limits

    given = {name: value for name, value in others.items() if value is not None}
    return Limits.of({**pairs(chosen, "--limit", "NAME=NUMBER"), **given})


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
