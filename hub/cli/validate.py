"""`hub validate`: every problem of a file."""

from collections import Counter
from typing import Any

import typer

from hub.cli.options import (
    AsJson,
    Files,
    From,
    MaxSize,
    Options,
    Plugins,
    Strict,
    Timezone,
    load_plugins,
    pairs,
)
from hub.cli.output import each_input, print_json, printable, problem_lines


def validate(
    files: Files,
    from_: From = None,
    strict: Strict = False,
    as_json: AsJson = False,
    assume_timezone: Timezone = None,
    max_size: MaxSize = None,
    option: Options = None,
    plugin: Plugins = None,
) -> None:
    """List all problems of each file: place, severity, what was expected, what was found, and the rule.

    Exit status 1 when a file has an error or a fatal problem; warnings and infos are no failure.
    """
    load_plugins(plugin)
    settings = {
        "format": from_,
        "strict": strict,
        "assume_timezone": assume_timezone,
        "max_size": max_size,
        "options": pairs(option),
    }
    raise typer.Exit(each_input(files, lambda name: _validate(name, settings, as_json=as_json)))


def _validate(name: str, settings: dict[str, Any], *, as_json: bool) -> int:
    from hub import api
    from hub.errors import InvalidDocument

    try:
        result = api.validate(name, **settings)
    except InvalidDocument as error:
        if not as_json:
            raise
        result = api.Validation("", 0, list(error.problems))
    if as_json:
        print_json(
            {
                "file": name,
                "format": result.format or None,
                "valid": result.is_valid,
                "documents": result.documents,
                "problems": [problem._asdict() for problem in result.problems],
            }
        )
    else:
        for line in [*problem_lines(result.problems, name), f"{name}: {_verdict(result)}"]:
            typer.echo(printable(line))
    return 0 if result.is_valid else 1


def _verdict(result: Any) -> str:
    counts = Counter(problem.severity for problem in result.problems)
    words = [
        f"{counts[severity]} {severity if severity == 'fatal' or counts[severity] == 1 else severity + 's'}"
        for severity in ("fatal", "error", "warning", "info")
        if counts[severity]
    ]
    found = ", ".join(words) or "no problems"
    verdict = "valid" if result.is_valid else "not valid"
    return f"{verdict}{' ' + result.format if result.format else ''}: {found}"
