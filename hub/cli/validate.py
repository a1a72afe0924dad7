"""`hub validate`: every problem of a file, or of many."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from hub.cli.many import are_many
from hub.cli.options import (
    AsJson,
    Files,
    From,
    Jobs,
    Limit,
    MaxSize,
    Options,
    Plugins,
    Strict,
    SummaryFile,
    Timezone,
    limits,
    load_plugins,
    pairs,
    processes,
)
from hub.cli.output import Shown, each_input, json_line, print_json, printable, problem_lines
from hub.errors import InvalidDocument, Problem

if TYPE_CHECKING:
    from hub.batch.outcome import Outcome


def validate(
    files: Files,
    from_: From = None,
    strict: Strict = False,
    as_json: AsJson = False,
    assume_timezone: Timezone = None,
    max_size: MaxSize = None,
    limit: Limit = None,
    option: Options = None,
    jobs: Jobs = None,
    summary: SummaryFile = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing summary.")] = False,
    plugin: Plugins = None,
) -> None:
    """List all problems of each file: place, severity, what was expected, what was found, and the rule.

    Of a directory each file is looked at, unless a format claims it as a whole.

    Exit status 1 when a file has an error or a fatal problem; warnings and infos are no failure.
    """
    load_plugins(plugin)
    settings: dict[str, Any] = {
        "format": from_,
        "strict": strict,
        "assume_timezone": assume_timezone,
        "limits": limits(limit, size=max_size),
        "options": pairs(option),
    }
    if jobs is None and summary is None and not are_many(files, from_):
        raise typer.Exit(
            each_input(
                files,
                lambda name: _validate(name, settings, as_json=as_json),
                failed=_show_failure if as_json else None,
            )
        )
    from hub.batch.running import count, validate_many
    from hub.cli.bulk import follow, tell

    def show(outcome: "Outcome") -> None:
        is_told = outcome.result != "passed-over" and (outcome.problems or not outcome.message)
        if is_told and (as_json or outcome.format is not None):
            is_valid = outcome.result == "done"
            found = Validated(outcome.format or "", outcome.documents, outcome.problems, is_valid)
            _show(outcome.input, found, as_json=as_json)
        else:
            if as_json and outcome.result != "passed-over":
                _show_failure(outcome)
            tell(outcome)

    raise typer.Exit(
        follow(
            validate_many(files, jobs=processes(jobs), plugins=tuple(plugin or ()), **settings),
            inputs=files,
            total=lambda: count(files, from_),
            summary=summary,
            force=force,
            quiet=not sys.stderr.isatty(),
            show=show,
        )
    )


def _validate(name: str, settings: dict[str, Any], *, as_json: bool) -> int:
    """Show the problems of the input *name*, of which there may be more than memory holds; return the exit status."""
    from hub import api

    with SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="utf-8") as spool:
        shown = Shown(name, lambda line: typer.echo(printable(line)))

        def note(problem: Problem) -> None:
            shown.counts[problem.severity] += 1
            spool.write(f"{', ' if shown.counts.total() > 1 else ''}{json_line(problem._asdict())}")

        result = api.validate(name, **settings, report=note if as_json else shown.add)
        if not result.format:
            raise InvalidDocument(result.problems, name)
        shown.end()
        if as_json:
            _print_from(
                spool, Validated(result.format, result.documents, (), result.is_valid), name
            )
        else:
            verdict = _verdict(result.format, shown.counts, is_valid=result.is_valid)
            typer.echo(printable(f"{name}: {verdict}"))
    return 0 if result.is_valid else 1


def _print_from(spool: IO[str], result: "Validated", name: str) -> None:
    """Print *result* as JSON, with the problems in *spool*, which are JSON."""
    begin, end = json_line(_as_json(name, result)).rsplit("]", 1)
    typer.echo(begin, nl=False)
    spool.seek(0)
    while piece := spool.read(_IN_MEMORY):
        typer.echo(piece, nl=False)
    typer.echo(f"]{end}")


_IN_MEMORY = 1 << 20
"""Characters of JSON that are held before they go to a temporary file."""


class Validated(NamedTuple):
    """What is shown of one input."""

    format: str
    documents: int
    problems: Sequence[Problem]
    is_valid: bool


def _show_failure(outcome: "Outcome") -> None:
    """Print as JSON what became of an input that could not be read, or of which no format is found."""
    found = Validated("", 0, outcome.problems, is_valid=False)
    message = {} if outcome.message is None else {"message": outcome.message}
    print_json(_as_json(outcome.input, found) | message)


def _as_json(name: str, result: Validated) -> dict[str, Any]:
    return {
        "file": name,
        "format": result.format or None,
        "valid": result.is_valid,
        "documents": result.documents,
        "problems": [problem._asdict() for problem in result.problems],
    }


def _show(name: str, result: Validated, *, as_json: bool) -> None:
    if as_json:
        print_json(_as_json(name, result))
    else:
        counts: Counter[str] = Counter(problem.severity for problem in result.problems)
        verdict = _verdict(result.format, counts, is_valid=result.is_valid)
        for line in [*problem_lines(result.problems, name), f"{name}: {verdict}"]:
            typer.echo(printable(line))


def _verdict(format: str, counts: Mapping[str, int], *, is_valid: bool) -> str:
    words = [
        f"{counts[severity]} {severity if severity == 'fatal' or counts[severity] == 1 else severity + 's'}"
        for severity in ("fatal", "error", "warning", "info")
        if counts[severity]
    ]
    found = ", ".join(words) or "no problems"
    verdict = "valid" if is_valid else "not valid"
    return f"{verdict}{' ' + format if format else ''}: {found}"
