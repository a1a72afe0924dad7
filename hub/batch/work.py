"""What is done with one input of many: a value that goes to the workers, and is called there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from hub.batch.outcome import Outcome, failure
from hub.batch.places import joined
from hub.batch.planning import Item
from hub.errors import InvalidDocument, Problem
from hub.input_rules import REDACTED
from hub.limits import DEFAULTS, Limits

if TYPE_CHECKING:
    from hub.storyline.model import Storyline


class Reading(NamedTuple):
    """How inputs are read."""

    format: str | None = None
    strict: bool = False
    on_error: Literal["fail", "skip"] = "fail"
    assume_timezone: str | None = None
    limits: Limits = DEFAULTS
    options: Mapping[str, str] = {}
    plugins: Sequence[str] = ()
    """Paths of one-file plugins."""

    def prepare(self) -> None:
        """Load the one-file plugins, where that has not been done."""
        from hub.api import formats

        for path in self.plugins:
            formats.add_file(path)

    def source(self, item: Item, *, thorough: bool = False) -> Any:
        """Return the source of *item*, named as people know it."""
        from hub import api

        return api.opened(
            item.path,
            name=item.name,
            assume_timezone=self.assume_timezone,
            on_error=self.on_error,
            strict=self.strict,
            thorough=thorough or self.strict,
            limits=self.limits,
        )


class Converting(NamedTuple):
    """Convert each input to a file, or to a folder of files, below one folder."""

    reading: Reading
    to: str
    output: str
    """The folder."""
    temporary: str
    container: Literal["object", "array", "lines", "dir"] | None = None
    carry: bool = True
    extensions: Sequence[str] = ()
    extract_images: bool = False
    force: bool = False
    fail_on: Sequence[str] = ()

    def prepare(self) -> None:
        """Load what every conversion needs."""
        from hub import api, conversion  # noqa: F401  # loaded before anything is done

        self.reading.prepare()
        api.formats[self.to]

    def __call__(self, item: Item) -> Outcome:
        """Return what became of *item*."""
        try:
            if item.error is not None:
                raise item.error
            return self._converted(item)
        except Exception as error:  # noqa: BLE001  # one bad file costs itself only
            return failure(item.name, error, is_found=item.is_found)

    def lost(self, item: Item, reason: str) -> Outcome:
        """Return what is said of *item*, at which a worker died."""
        return Outcome(item.name, "failed", 1, message=reason)

    def _converted(self, item: Item) -> Outcome:
        from hub import api
        from hub.sink import Sink
        from hub.staging import Area

        fidelity = self._fidelity(item) if self.fail_on else None
        lossy = [kind for kind in self.fail_on if fidelity and fidelity[kind]]
        if fidelity is not None and lossy:
            counts = ", ".join(f"{fidelity[kind]} {kind}" for kind in lossy)
            message = f"{counts}; nothing is written"
            return Outcome(item.name, "failed", 1, message=message, fidelity=fidelity)
        source = self.reading.source(item)
        sink = Sink.open(
            joined(self.output, item.place),
            container=self.container,
            force=self.force or item.is_again,
            inputs=[source],
            area=Area(self.output, self.temporary),
        )
        redacted: dict[str, int] = {}

        def count(problem: Problem) -> None:
            if problem.rule == REDACTED.rule:
                kind = problem.found or ""
                redacted[kind] = redacted.get(kind, 0) + 1

        result = api.convert(
            source,
            sink,
            to=self.to,
            format=self.reading.format,
            strict=self.reading.strict,
            on_error=self.reading.on_error,
            carry=self.carry,
            extensions=self.extensions,
            extract_images=self.extract_images,
            options=self.reading.options,
            report=count if self.extensions else None,
        )
        return Outcome(
            item.name,
            "partial" if result.skipped else "done",
            3 if result.skipped else 0,
            result.reader,
            outputs=result.outputs,
            documents=result.documents,
            storylines=result.storylines,
            problems=result.problems,
            message=f"{result.skipped} records left out" if result.skipped else None,
            fidelity=fidelity,
            redacted=dict(sorted(redacted.items())),
        )

    def _fidelity(self, item: Item) -> dict[str, int]:
        from hub import api

        report = api.measure(
            self.reading.source(item),
            to=self.to,
            format=self.reading.format,
            carry=self.carry,
            extensions=self.extensions,
            options=self.reading.options,
        )
        return {str(kind): number for kind, number in report.counts.items()}


class Validating(NamedTuple):
    """Find all problems of each input."""

    reading: Reading

    def prepare(self) -> None:
        """Load what is needed."""
        self.reading.prepare()

    def __call__(self, item: Item) -> Outcome:
        """Return what became of *item*."""
        from hub import api

        try:
            if item.error is not None:
                raise item.error
            result = api.validate(
                self.reading.source(item, thorough=True),
                format=self.reading.format,
                strict=self.reading.strict,
                options=self.reading.options,
            )
            if not result.format:
                raise InvalidDocument(result.problems, item.name)
        except Exception as error:  # noqa: BLE001  # one bad file costs itself only
            return failure(item.name, error, is_found=item.is_found)
        return Outcome(
            item.name,
            "done" if result.is_valid else "failed",
            0 if result.is_valid else 1,
            result.format,
            documents=result.documents,
            problems=result.problems,
        )

    def lost(self, item: Item, reason: str) -> Outcome:
        """Return what is said of *item*, at which a worker died."""
        return Outcome(item.name, "failed", 1, message=reason)


class Making(NamedTuple):
    """Make something of the Storylines of each input."""

    reading: Reading
    make: Callable[[Iterator[Storyline]], Any]

    def prepare(self) -> None:
        """Load what is needed."""
        self.reading.prepare()

    def __call__(self, item: Item) -> Outcome:
        """Return what became of *item*, with what was made of it."""
        from hub import api

        try:
            if item.error is not None:
                raise item.error
            source = self.reading.source(item)
            reader = api.formats[self.reading.format or api.detect(source).format].id
            problems: list[Problem] = []
            storylines = _Counted(
                api.read(
                    source,
                    format=reader,
                    strict=self.reading.strict,
                    options=self.reading.options,
                    report=problems.append,
                    on_error=self.reading.on_error,
                )
            )
            made = self.make(storylines)
        except Exception as error:  # noqa: BLE001  # one bad file costs itself only
            return failure(item.name, error, is_found=item.is_found)
        found = [*source.problems, *problems]
        skipped = len({one.document for one in found if one.severity == "fatal"})
        records = "record" if skipped == 1 else "records"
        return Outcome(
            item.name,
            "partial" if skipped else "done",
            3 if skipped else 0,
            reader,
            storylines=storylines.count,
            problems=found,
            message=f"{skipped} {records} left out" if skipped else None,
            made=made,
        )

    def lost(self, item: Item, reason: str) -> Outcome:
        """Return what is said of *item*, at which a worker died."""
        return Outcome(item.name, "failed", 1, message=reason)


class _Counted:
    """Storylines, and how many there were."""

    def __init__(self, storylines: Iterator[Storyline]) -> None:
        self._storylines = storylines
        self.count = 0

    def __iter__(self) -> _Counted:
        return self

    def __next__(self) -> Storyline:
        found = next(self._storylines)
        self.count += 1
        return found
