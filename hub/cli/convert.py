"""`hub convert`: one input, or many, to another format."""

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from hub.cli import app
from hub.cli.many import are_many
from hub.cli.options import (
    Engine,
    From,
    Jobs,
    Limit,
    MaxSize,
    Options,
    Plugins,
    Strict,
    SummaryFile,
    Timezone,
    To,
    limits,
    load_plugins,
    pairs,
    processes,
)
from hub.cli.output import say, say_notes
from hub.errors import Problem, UsageError
from hub.input_rules import REDACTED

if TYPE_CHECKING:
    from hub.api import Conversion
    from hub.fidelity import Report
    from hub.limits import Limits

FAILURES = ("carried", "normalised", "dropped", "synthesised")
"""Classes of the fidelity report that `--fail-on` takes."""


def convert(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...",
            help="Files, directories, archives, patterns such as 'runs/**/*.json'; - is standard input.",
        ),
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
    limit: Limit = None,
    option: Options = None,
    report: Annotated[
        str | None,
        typer.Option(
            metavar="PATH|-",
            help="Write what was kept, carried, normalised, dropped and synthesised; - is standard error.",
        ),
    ] = None,
    report_format: Annotated[
        Literal["text", "json"] | None,
        typer.Option(
            help="Format of the report; by default json for a PATH that ends so, else text."
        ),
    ] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CLASS",
            help="Fail, and write nothing, if anything is carried, normalised, dropped or synthesised; repeatable.",
        ),
    ] = None,
    jobs: Jobs = None,
    engine: Engine = "local",
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on with a run on many inputs: do what is missing or has changed."
        ),
    ] = False,
    split: Annotated[
        bool,
        typer.Option("--split", help="Make a folder of each input, with a file for each document."),
    ] = False,
    merge: Annotated[
        Literal["lines"] | None,
        typer.Option(
            "--merge", help="Put the documents of all inputs into one file of JSON Lines."
        ),
    ] = None,
    summary: SummaryFile = None,
    redact: Annotated[
        bool,
        typer.Option(
            "--redact",
            help="Hide secrets and personal data, and count them; the same as --extension redact.",
        ),
    ] = False,
    extension: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Use an extension that is installed; repeatable."),
    ] = None,
    plugin: Plugins = None,
    no_warnings: Annotated[
        bool,
        typer.Option(
            "--no-warnings",
            help="Tell only of what could not be read, not of what is wrong with the rest.",
        ),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Do not tell what was written.")
    ] = False,
) -> None:
    """Convert a trajectory file to another format, or all files of directories.

    Of many inputs each is detected alone, and becomes a file below the folder OUT, as the inputs lie. A directory that
    is to become one file is one input, if --from says what its files are.
    What the target cannot hold travels in its envelope, and comes back when the file is converted again.
    Nothing is written over the input, nor over an existing file without --force; no half-written file is left.
    """
    from hub import api

    load_plugins(plugin)
    refused = [kind for kind in fail_on or () if kind not in FAILURES]
    if refused:
        raise UsageError(f"--fail-on takes one of {', '.join(FAILURES)}, not {refused[0]!r}")
    severities = ("fatal",) if no_warnings else ("fatal", "error", "warning")
    taken = limits(limit, size=max_size)
    extensions = [*(extension or ()), *(["redact"] if redact else [])]
    is_run = jobs is not None or engine == "ray" or bool(resume or split or merge or summary)
    if is_run or are_many(inputs, from_, output):
        if report:
            raise UsageError("--report is for one input; --summary shows the counts of --fail-on")
        settings = {
            "to": to,
            "format": from_,
            "container": container,
            "carry": not no_carry,
            "extensions": extensions,
            "extract_images": extract_images,
            "force": force,
            "fail_on": tuple(fail_on or ()),
            "resume": resume,
            "split": split,
            "merge": merge,
            "jobs": processes(jobs, engine),
            "engine": engine,
            "strict": strict,
            "on_error": on_error,
            "assume_timezone": assume_timezone,
            "limits": taken,
            "options": pairs(option),
            "plugins": tuple(plugin or ()),
        }
        raise typer.Exit(
            _convert_many(
                inputs, output, settings, severities=severities, summary=summary, quiet=quiet
            )
        )
    api.kept = [] if app.exits_at_once else None
    file = inputs[0]
    twice = bool(report or fail_on)
    data = _standard_input(taken) if twice and file == "-" else None
    if twice:
        measured = api.measure(
            file if data is None else data,
            to=to,
            format=from_,
            carry=not no_carry,
            assume_timezone=assume_timezone,
            limits=taken,
            options=pairs(option),
            extensions=extensions,
        )
        if report:
            _write_report(
                measured, report, report_format, force=force, inputs=[file], output=output
            )
        counts = {str(kind): number for kind, number in measured.counts.items()}
        lossy = [kind for kind in fail_on or () if counts[kind]]
        if lossy:
            say(
                "".join(
                    f"{file}: {counts[kind]} {kind}; nothing is written\n" for kind in lossy
                ).rstrip()
            )
            raise typer.Exit(1)
    redacted = _Redactions()
    result = api.convert(
        file if data is None else data,
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
        limits=taken,
        options=pairs(option),
        extensions=extensions,
        report=redacted.add if redact else None,
    )
    say_notes([one for one in result.problems if one.severity in severities], file)
    if not quiet:
        say(_summary(result))
        if result.homeless:
            say(
                f"without an envelope: what {result.writer} cannot hold of"
                f" {_count(result.homeless, 'trajectory', 'trajectories')} is left out; --report lists it"
            )
        if redact:
            say(_redactions(redacted.counts))
    if result.skipped:
        raise typer.Exit(3)


def _convert_many(
    inputs: list[str],
    output: str,
    settings: dict[str, Any],
    *,
    severities: Sequence[str],
    summary: str | None,
    quiet: bool,
) -> int:
    from hub.batch.outcome import Outcome
    from hub.batch.running import convert_many, count
    from hub.cli.bulk import follow, tell

    redacted: Counter[str] = Counter()

    def show(outcome: Outcome) -> None:
        redacted.update(outcome.redacted)
        tell(outcome, severities=severities)

    status = follow(
        convert_many(inputs, output, **settings),
        inputs=inputs,
        total=lambda: count(inputs, settings["format"], without=output),
        summary=summary,
        force=settings["force"] or settings["resume"],
        quiet=quiet,
        show=show,
        output=output,
    )
    if "redact" in settings["extensions"] and not quiet:
        say(_redactions(redacted))
    return status


def _standard_input(limits: "Limits") -> bytes:
    """Return what is on standard input, to be read twice."""
    from hub.source import Source

    return Source.open("-", limits=limits).bytes()


def _write_report(
    report: "Report",
    path: str,
    format: Literal["text", "json"] | None,
    *,
    force: bool,
    inputs: Sequence[str],
    output: str,
) -> None:
    """Write a *report* to *path*, which is neither one of the *inputs* nor the *output*."""
    from hub.sink import Sink

    as_json = format == "json" or (format is None and path.endswith(".json"))
    if path == "-":
        text = json.dumps(report.to_json(), indent=2) if as_json else report.to_text().rstrip()
        say(text)
        return
    if output != "-" and os.path.realpath(path) == os.path.realpath(output):
        raise UsageError(f"{path}: the report would be written over by the output")
    with Sink.open(path, container="object", force=force, inputs=inputs) as sink:
        sink.write(report.to_json() if as_json else report.to_text().encode())


def _summary(result: "Conversion") -> str:
    skipped = f", {result.skipped} skipped" if result.skipped else ""
    target = f" in {', '.join(result.outputs[:3])}" if result.outputs else ""
    more = f" and {len(result.outputs) - 3} more files" if len(result.outputs) > 3 else ""  # noqa: PLR2004
    return (
        f"{result.reader} -> {result.writer}: {_count(result.storylines, 'trajectory', 'trajectories')}"
        f" in {_count(result.documents, 'document', 'documents')}{target}{more}{skipped}"
    )


class _Redactions:
    """How much of each kind is redacted."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def add(self, problem: Problem) -> None:
        """Count *problem*, if it tells of something that is redacted."""
        if problem.rule == REDACTED.rule:
            self.counts[problem.found or ""] += 1


def _redactions(counts: Mapping[str, int]) -> str:
    found = [f"{number} {kind}" for kind, number in sorted(counts.items())]
    return f"redacted: {', '.join(found) or 'nothing was found'}"


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
