"""What a Python user calls: detect, read, convert, write, validate, measure, compare, and the formats that are there.

Every function takes a path, `-` for standard input, or a `Source`; `format` names the format of the input, which is
otherwise detected; and `limits` say how much is taken. Source: design.md; validation.md 1 and 2.4.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from hub.errors import MISSING, HubError, InvalidDocument, Json, Problem, UsageError, invalid
from hub.limits import Limits
from hub.problems import Problems
from hub.registry import Format, Formats
from hub.source import Source

if TYPE_CHECKING:
    from hub.comparison import Comparison
    from hub.conversion import Reading
    from hub.detection import Detected
    from hub.fidelity import Report as FidelityReport
    from hub.sink import Sink
    from hub.storyline.model import Storyline
    from hub.writing import WriteOptions

Input = str | os.PathLike[str] | bytes | Source
"""The path of a file or directory, `-` for standard input; the bytes of a file; or a source."""
Report = Callable[[Problem], None]
Container = Literal["object", "array", "lines", "dir"]
CONTAINERS = (None, *get_args(Container))

formats = Formats()
"""The formats that are there, by id: `hub.formats["ale"].info`."""


kept: list[object] | None = None
"""Where what was read and written last is kept, by a program that then exits: freeing it takes as long as making it."""


class Conversion(NamedTuple):
    """What one conversion did."""

    reader: str
    """Id of the format that was read."""
    writer: str
    documents: int
    """How many documents were written."""
    storylines: int
    """How many trajectories they hold."""
    problems: list[Problem]
    """Everything that was found and went on, or was skipped: infos, warnings, errors."""
    skipped: int
    """How many records were left out (`on_error="skip"`)."""
    outputs: list[str]
    """Paths of the files written; empty for standard output."""
    homeless: int = 0
    """How many trajectories went into documents without an envelope: what these cannot hold is left out."""


class Validation(NamedTuple):
    """What is wrong with one input."""

    format: str
    """Id of the format that was read; empty when none was found."""
    documents: int
    problems: list[Problem]

    @property
    def is_valid(self) -> bool:
        """Whether no problem is an error or fatal."""
        return not any(problem.severity in ("error", "fatal") for problem in self.problems)


class Member(NamedTuple):
    """One input of a command."""

    path: str
    directory: str | None = None
    """The directory in which it was found; None: it was named itself."""


def detect(input: Input, *, limits: Limits | None = None) -> Detected:
    """Say which format *input* is, how sure that is, and why.

    Raises:
        InvalidDocument: no format answers (`detect.unknown`), or several (`detect.ambiguous`); or the input is no JSON.
    """
    from hub import detection

    source = opened(input, limits=limits)
    return detection.detect(source, formats, max_detect=source.limits.detect)


def read(
    input: Input,
    *,
    format: str | None = None,
    strict: bool = False,
    on_error: Literal["fail", "skip"] = "fail",
    assume_timezone: str | None = None,
    limits: Limits | None = None,
    options: Mapping[str, str] | None = None,
    report: Report | None = None,
) -> Iterator[Storyline]:
    """Yield the Storylines of *input*, lazily.

    *report* is called with every problem that is not fatal. Nothing is lost without it: what no field of a Storyline
    can hold is in its `unknown_fields`. With *on_error* `skip`, records that cannot be read are left out, and their
    problems reported too.

    Raises:
        InvalidDocument: a document of which no Storyline can be made; with *strict*, one that has an error.
    """
    from hub.conversion import check_options, read_documents

    _check_choice("on_error", on_error, ("fail", "skip"))
    source = opened(
        input,
        assume_timezone=assume_timezone,
        on_error=on_error,
        strict=strict,
        thorough=strict,
        limits=limits,
    )
    reader = _reader(source, format)
    source.options = check_options(reader, options or {}, "read")
    with _second_opinion(source, format):
        for reading in read_documents(reader, source, strict=strict):
            if on_error == "fail":
                _refuse(reading, source)
            for problem in reading.problems if report else ():
                report(problem)  # type: ignore[misc]  # it is there
            yield from reading.storylines


def convert(
    input: Input,
    output: str | os.PathLike[str] | Sink,
    *,
    to: str,
    format: str | None = None,
    container: Container | None = None,
    force: bool = False,
    strict: bool = False,
    on_error: Literal["fail", "skip"] = "fail",
    carry: bool = True,
    extract_images: bool = False,
    assume_timezone: str | None = None,
    limits: Limits | None = None,
    options: Mapping[str, str] | None = None,
    extensions: Sequence[str] = (),
    report: Report | None = None,
) -> Conversion:
    """Convert *input* to the format *to*, and write it to *output* (`-`: standard output; a sink of its own).

    *options* go to the side that declares them. With *on_error* `skip`, records that cannot be read are left out.
    *extensions* are used for this conversion: `["redact"]` hides secrets and personal data.

    Raises:
        InvalidDocument: the input fell short; nothing is written then.
        UsageError: an option that neither format has, an output that exists or is the input.
    """
    from hub import conversion

    _check_choice("container", container, CONTAINERS)
    _check_choice("on_error", on_error, ("fail", "skip"))
    source = opened(
        input,
        assume_timezone=assume_timezone,
        on_error=on_error,
        strict=strict,
        thorough=strict,
        limits=limits,
    )
    reader, writer = _reader(source, format), formats[to]
    source.options, write_options = conversion.split_options(options or {}, reader, writer)
    run = _Run(reader, writer, source, report, strict=strict, skip=on_error == "skip")
    batches = conversion.batches(run.readings(), reader.info, writer.info)
    with formats.extended(extensions), _second_opinion(source, format):
        run.write(
            batches,
            output,
            _write_options(write_options, carry=carry),
            container=container,
            force=force,
            extract_images=extract_images,
        )
    return run.result()


def measure(
    input: Input,
    *,
    to: str,
    format: str | None = None,
    carry: bool = True,
    assume_timezone: str | None = None,
    limits: Limits | None = None,
    options: Mapping[str, str] | None = None,
    extensions: Sequence[str] = (),
) -> FidelityReport:
    """Return what a conversion of *input* to the format *to* keeps, measured by converting back; writes nothing.

    Raises:
        InvalidDocument: the input fell short.
    """
    from hub import conversion, fidelity

    source = opened(input, assume_timezone=assume_timezone, limits=limits)
    reader, writer = _reader(source, format), formats[to]
    source.options, write_options = conversion.split_options(options or {}, reader, writer)
    with formats.extended(extensions):
        return fidelity.measure(reader, writer, source, carry=carry, options=write_options)


def compare(
    first: Sequence[Storyline], second: Sequence[Storyline], *, ignore: Collection[str] = ()
) -> Comparison:
    """Compare two lists of Storylines, read from whatever formats; *ignore* root members that do not count."""
    from hub import comparison

    return comparison.compare(first, second, ignore=ignore)


def write(
    storylines: Iterable[Storyline],
    output: str | os.PathLike[str],
    *,
    to: str,
    container: Container | None = None,
    force: bool = False,
    carry: bool = True,
    extract_images: bool = False,
    options: Mapping[str, str] | None = None,
    report: Report | None = None,
) -> Conversion:
    """Write *storylines*, taken as one batch, to *output* in the format *to*.

    Raises:
        InvalidDocument: a Storyline that is not valid.
        UsageError: as `convert`.
        TypeError: what is no Storyline.
        ValueError: a float that is infinite or not a number, which is not JSON; the message names its pointer.
    """
    return write_batches(
        [storylines],
        output,
        to=to,
        container=container,
        force=force,
        carry=carry,
        extract_images=extract_images,
        options=options,
        report=report,
    )


def write_batches(
    batches: Iterable[Iterable[Storyline]],
    output: str | os.PathLike[str],
    *,
    to: str,
    container: Container | None = None,
    force: bool = False,
    carry: bool = True,
    extract_images: bool = False,
    options: Mapping[str, str] | None = None,
    report: Report | None = None,
) -> Conversion:
    """Write many Storylines as `write` does, batch after batch: of *batches* one at a time is in memory.

    What belongs into one document has to be in one batch: a family of agents and sub-agents, attempts at one task.
    """
    from hub import conversion

    _check_choice("container", container, CONTAINERS)
    writer = formats[to]
    run = _Run(formats["storyline"], writer, None, report)
    run.write(
        _checked(batches, run),
        output,
        _write_options(conversion.check_options(writer, options or {}, "write"), carry=carry),
        container=container,
        force=force,
        extract_images=extract_images,
    )
    return run.result()


def validate(
    input: Input,
    *,
    format: str | None = None,
    strict: bool = False,
    assume_timezone: str | None = None,
    limits: Limits | None = None,
    options: Mapping[str, str] | None = None,
    report: Report | None = None,
) -> Validation:
    """Return every problem of *input*: of its bytes, of its records, and of its format's rules.

    *report* is called with each problem when it is found; as many as `Limits.problems` allows are returned at the end.
    An input of which no format is found has that problem.

    Raises:
        UsageError: there is no such input, format or option.
    """
    from hub.conversion import check_options, read_documents

    source = opened(
        input,
        assume_timezone=assume_timezone,
        on_error="skip",
        strict=strict,
        thorough=True,
        limits=limits,
    )
    try:
        reader = _reader(source, format)
    except InvalidDocument as error:
        return Validation("", 0, [*source.problems.listed(), *error.problems])
    source.options = check_options(reader, options or {}, "read")
    problems = _found(source, report)
    documents = 0
    try:
        for reading in read_documents(reader, source, strict=strict):
            documents += 1
            problems.extend(reading.problems)
    except InvalidDocument as error:
        problems.extend(error.problems)
    return Validation(reader.id, documents, problems.listed())


def _found(source: Source, report: Report | None) -> Problems:
    """Return what collects the problems of *source*, those that have been found and those that will be."""
    problems = Problems(source.limits.problems, report)
    problems.extend(source.problems)
    source.problems.report = problems.append
    return problems


class _Run:
    """One conversion under way: what is counted and reported while documents pass through."""

    def __init__(
        self,
        reader: Format,
        writer: Format,
        source: Source | None,
        report: Report | None,
        *,
        strict: bool = False,
        skip: bool = False,
    ) -> None:
        self.reader, self.writer, self.source = reader, writer, source
        self.strict, self.skip = strict, skip
        self.documents = self.storylines = self.skipped = self.homeless = 0
        self.problems = Problems(report=report) if source is None else _found(source, report)
        self.outputs: list[str] = []
        self._read_last: Json = MISSING
        """The document of the reading that was yielded last, if it is of the format that is written."""

    def result(self) -> Conversion:
        if self.source is not None:
            self.skipped += self.source.left_out
        return Conversion(
            self.reader.id,
            self.writer.id,
            self.documents,
            self.storylines,
            self.problems.listed(),
            self.skipped,
            self.outputs,
            self.homeless,
        )

    def readings(self) -> Iterator[Reading]:
        """Yield what is read of the source; a refused document ends everything, or is left out."""
        from hub.conversion import read_documents

        assert self.source is not None  # noqa: S101  # `convert` has one
        for reading in read_documents(self.reader, self.source, strict=self.strict):
            if reading.is_fatal and self.skip:
                self.skipped += 1
            else:
                _refuse(reading, self.source)
            self.problems.extend(reading.problems)
            self.storylines += len(reading.storylines)
            if self.reader.id == self.writer.id:
                self._read_last = reading.source
            yield reading
            if kept is not None:
                kept[:] = [reading]

    def write(
        self,
        batches: Iterable[list[Storyline]],
        output: str | os.PathLike[str] | Sink,
        options: Any,
        *,
        container: Container | None,
        force: bool,
        extract_images: bool,
    ) -> None:
        from hub.conversion import write_documents
        from hub.envelope import compact
        from hub.residuals import CARRIER
        from hub.sink import Sink

        if extract_images and not self.writer.can_attach:
            raise UsageError(
                f"{self.writer.id} has no files beside a document: no --extract-images"
            )
        if extract_images and not isinstance(output, Sink) and os.fspath(output) == "-":
            raise UsageError("--extract-images writes files beside the output; name one with -o")
        sink = (
            output
            if isinstance(output, Sink)
            else Sink.open(
                os.fspath(output),
                container=container,
                force=force,
                inputs=[self.source] if self.source is not None else [],
            )
        )
        options.container = sink.container
        with sink:
            for batch in batches:
                options.source = self._read_last
                written = write_documents(
                    self.writer, batch, options, extract_images=extract_images
                )
                sink.prefer(options.container)
                for document, files in written:
                    name = self._name(document, options) if sink.wants_names else None
                    if options.carry:
                        compact(document, self.writer.info)
                    sink.write(document, name=name, attachments=files)
                    self.documents += 1
                for _, problem in options.problems:
                    self.problems.append(problem)
                options.problems.clear()
                if self.writer.info.source not in (self.reader.info.source, CARRIER):
                    self.homeless += options.homeless
                options.homeless = 0
                options.unplaced_residuals.clear()
                if kept is not None:
                    kept.append((batch, written))
            if self.documents == 0:
                raise InvalidDocument(
                    [Problem("fatal", "input.no-documents", "", "nothing to write")]
                )
        self.outputs.extend(sink.outputs)

    def _name(self, document: Json | bytes, options: WriteOptions) -> str:
        """Return the name of the file of *document* in a directory: that of its format, else one with its number."""
        suffix = next(iter(self.writer.info.suffixes), ".json")
        default = f"document-{self.documents + 1}{suffix if suffix.startswith('.') else '.json'}"
        return self.writer.file_name(document, options) or default


def _checked(batches: Iterable[Iterable[Storyline]], run: _Run) -> Iterator[list[Storyline]]:
    """Yield *batches* as lists, counted, each Storyline looked at whether it can be written at all."""
    from hub.json import refuse_non_finite
    from hub.storyline.model import Storyline
    from hub.wire import to_wire

    for storylines in batches:
        batch = list(storylines)
        for storyline in batch:
            if type(storyline) is not Storyline:
                raise TypeError(f"expected a Storyline, found {type(storyline).__name__}")
            refuse_non_finite(to_wire(storyline))
        run.storylines += len(batch)
        if batch:
            yield batch


def _check_choice(name: str, value: object, choices: Sequence[str | None]) -> None:
    """Refuse a *value* of the parameter *name* that is none of *choices*.

    Raises:
        UsageError: it is none.
    """
    if value not in choices:
        takes = ", ".join(repr(one) for one in choices)
        raise UsageError(f"{name} takes one of {takes}, not {value!r}")


def _write_options(options: Mapping[str, str], *, carry: bool) -> Any:
    from hub.writing import WriteOptions

    return WriteOptions(options=options, carry=carry)


def _refuse(reading: Reading, source: Source | None) -> None:
    if reading.is_fatal:
        raise invalid(reading.problems, None if source is None else source.name)


@contextmanager
def _second_opinion(source: Source, format: str | None) -> Iterator[None]:
    """Add a line to the error when *source* could not be read as *format*, and detection is sure that it is another."""
    try:
        yield
    except InvalidDocument as error:
        if format is not None and source.path is not None:
            from hub import detection

            opinion = detection.second_opinion(
                Source.open(source.path), formats, formats[format].id
            )
            if opinion is not None:
                error.add_note(opinion)
        raise


def opened(input: Input, **settings: Json) -> Source:
    """Return the source of *input*, with those of the *settings* of a source that are given."""
    if isinstance(input, Source):
        return input
    if settings.get("assume_timezone") is not None:
        from hub.storyline.times import Zone

        settings["zone"] = Zone.named(settings.pop("assume_timezone"))
    given = {name: value for name, value in settings.items() if value is not None}
    return Source(input, **given) if isinstance(input, bytes) else Source.open(input, **given)


def _reader(source: Source, format: str | None) -> Format:
    if format is not None:
        return formats[format]
    from hub import detection

    return formats[detection.detect(source, formats, max_detect=source.limits.detect).format]


def expand(
    input: str | os.PathLike[str], refused: Callable[[HubError], object] | None = None
) -> list[Member]:
    """Return what there is to read of *input*: itself, or each file of a directory that no format claims as a whole.

    *refused* is called with the error of each folder in the directory that cannot be read; without it, that is raised.
    """
    from hub import detection

    source = opened(input)
    if not source.is_directory or detection.claim(source, formats) is not None:
        return [Member(os.fspath(input))]
    paths = source.paths(refused=refused)
    return [Member(os.path.join(input, path), os.fspath(input)) for path in paths]  # noqa: PTH118
