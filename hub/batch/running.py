"""Runs over many inputs: convert or validate each of them, one bad file costing itself only.

Source: validation.md 2.4; detection.md 5.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from hub import remote
from hub.batch import journal as journals
from hub.batch.archives import stem_of
from hub.batch.counting import Counting
from hub.batch.outcome import Outcome
from hub.batch.places import COMMON, PACKED, Places
from hub.batch.planning import STATE, Item, Spool, plan
from hub.batch.pool import Events, Work, done
from hub.batch.work import Converting, Making, Reading, Validating
from hub.compression import compressor
from hub.errors import UsageError
from hub.limits import DEFAULTS, Limits
from hub.source import Source
from hub.staging import Area, Staging
from hub.streams import PIECE, is_remote

if TYPE_CHECKING:
    from hub.api import Container
    from hub.storyline.model import Storyline


Engine = Literal["local", "ray"]
ENGINES = ("local", "ray")
"""Who does the work: processes of this machine, or a Ray cluster."""


def convert_many(
    inputs: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    to: str,
    format: str | None = None,
    container: Container | None = None,
    split: bool = False,
    merge: Literal["lines"] | None = None,
    jobs: int = 1,
    resume: bool = False,
    force: bool = False,
    strict: bool = False,
    on_error: Literal["fail", "skip"] = "fail",
    fail_on: Sequence[str] = (),
    carry: bool = True,
    extensions: Sequence[str] = (),
    extract_images: bool = False,
    assume_timezone: str | None = None,
    limits: Limits | None = None,
    options: Mapping[str, str] | None = None,
    plugins: Sequence[str] = (),
    engine: Engine = "local",
) -> Iterator[Outcome]:
    """Convert each of *inputs* to a file below the folder *output*, and yield what became of each, in order.

    Inputs are files, directories, of which every file is converted, and patterns. The tree of the inputs is mirrored.
    *jobs* processes share the work; *plugins* are the paths of one-file plugins that they load. With the *engine* `ray`
    they are workers of a Ray cluster, and 0 jobs are as many as it has processors. With *resume* what an
    earlier run has done is not done again, unless the input has changed; with *split* each document becomes a file, and
    with *merge* all documents stand in one, *output*, in the order of the inputs.

    Raises:
        UsageError: the output cannot be, or holds an earlier run.
    """
    from hub.api import formats

    named = [os.fspath(one) for one in inputs]
    how = Reading(
        format,
        strict,
        on_error,
        assume_timezone,
        limits or DEFAULTS,
        dict(options or {}),
        tuple(plugins),
    )
    how.prepare()
    with formats.extended(extensions):
        pass  # or each input would fail for want of one
    run = _Run(
        named,
        how,
        {
            "to": formats[to].id,
            "container": "dir" if split else container,
            "carry": carry,
            "extensions": tuple(extensions),
            "extract_images": extract_images,
            "fail_on": tuple(fail_on),
        },
        jobs=jobs,
        resume=resume,
        force=force,
        engine=engine,
    )
    _check(named)
    target = os.fspath(output)
    if is_remote(target):
        remote.refuse_read_only(target)
    if merge is None:
        _check_folder(named, target)
        return run.outcomes(target, _places(to, format, folders=split))
    if split or extract_images or container not in {None, merge}:
        raise UsageError("--merge puts all documents into one file, and nothing beside it")
    return _merged(run, target)


class _Run(NamedTuple):
    """A run that converts many inputs."""

    inputs: Sequence[str]
    reading: Reading
    writing: Mapping[str, Any]
    jobs: int
    resume: bool
    force: bool
    engine: Engine

    def outcomes(self, folder: str, places: Places) -> Iterator[Outcome]:
        """Write what the inputs become to *places* below *folder*, and yield what became of each."""
        described = _described({**self.reading._asdict(), **self.writing})
        claimed = claims(self.reading.format)
        with journals.opened(folder, described, resume=self.resume, force=self.force) as journal:
            work = Converting(
                self.reading,
                output=folder,
                temporary=journal.temporary,
                force=self.force,
                **self.writing,
            )
            spool = Spool(journal.temporary, self.reading.limits)
            items = plan(self.inputs, claimed, places, without=folder, spool=spool)
            to_do = _to_do(items, journal)
            noted = _Noted(journal)
            for item, outcome in _done(self.engine, work, to_do, jobs=self.jobs, events=noted):
                journal.in_order(item)
                _forget(item)
                yield outcome
            journal.finish()


def _merged(run: _Run, target: str) -> Iterator[Outcome]:
    """Write all that the inputs become to one file of JSON Lines, and yield what became of each.

    The parts stand in a folder beside it until the file is whole, so that the run can be resumed.
    """
    run = run._replace(writing={**run.writing, "container": "lines"})
    folder, name = os.path.split(target)
    parts = journals.state_elsewhere(target) if is_remote(target) else None
    parts = parts or os.path.join(folder, f"{STATE}-{name}")
    places = Places((), None, plain=True)
    if target == "-":
        with tempfile.TemporaryDirectory(prefix="storyline-hub-") as parts:
            yield from _gathered(run.outcomes(parts, places), sys.stdout.buffer.write, [])
        return
    area = Area(folder, parts)
    staging = _staging(folder, run, area)
    staging.check(name)
    os.makedirs(parts, exist_ok=True)
    packer = compressor(name)
    try:
        with staging.create(name) as file:
            outcomes = run._replace(force=False).outcomes(parts, places)
            write = file.write
            if packer is not None:
                write = lambda data: file.write(packer.compress(data))  # noqa: E731  # short
            yield from _gathered(outcomes, write, [target])
            if packer is not None:
                file.write(packer.flush())
            is_empty = not file.tell()
            file.flush()
            os.fsync(file.fileno())
        if not is_empty:
            staging.commit()
            shutil.rmtree(parts)
    finally:
        staging.discard()
        with suppress(OSError):
            os.rmdir(parts)


def _staging(folder: str, run: _Run, area: Area) -> Staging:
    if is_remote(folder):
        from hub.uploading import Uploading

        return Uploading(folder, force=run.force, inputs=run.inputs, area=area)
    return Staging(folder, force=run.force, inputs=run.inputs, make=False, area=area)


def _gathered(
    outcomes: Iterator[Outcome], write: Callable[[bytes], object], outputs: Sequence[str]
) -> Iterator[Outcome]:
    """Pass on *outcomes*, and what was written; they name *outputs* instead of their parts."""
    for outcome in outcomes:
        for path in outcome.outputs:
            with open(path, "rb") as part:
                while piece := part.read(PIECE):
                    write(piece)
        yield outcome._replace(outputs=outputs if outcome.outputs else [])


def validate_many(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    format: str | None = None,
    jobs: int = 1,
    strict: bool = False,
    assume_timezone: str | None = None,
    limits: Limits | None = None,
    options: Mapping[str, str] | None = None,
    plugins: Sequence[str] = (),
) -> Iterator[Outcome]:
    """Find all problems of each of *inputs*, and yield what became of each, in order; see `convert_many`."""
    how = Reading(
        format,
        strict,
        "skip",
        assume_timezone,
        limits or DEFAULTS,
        dict(options or {}),
        tuple(plugins),
    )
    how.prepare()
    named = [os.fspath(one) for one in inputs]
    yield from _looked_at(named, Validating(how), jobs, format, how.limits)


def count_many(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    format: str | None = None,
    jobs: int = 1,
    strict: bool = False,
    assume_timezone: str | None = None,
    limits: Limits | None = None,
    options: Mapping[str, str] | None = None,
    plugins: Sequence[str] = (),
) -> Iterator[Outcome]:
    """Count what is in each of *inputs*: `measures` of an outcome has what was counted in each trajectory."""
    how = Reading(
        format,
        strict,
        "skip",
        assume_timezone,
        limits or DEFAULTS,
        dict(options or {}),
        tuple(plugins),
    )
    how.prepare()
    named = [os.fspath(one) for one in inputs]
    yield from _looked_at(named, Counting(how), jobs, format, how.limits)


def read_many(
    inputs: Sequence[str | os.PathLike[str]],
    make: Callable[[Iterator[Storyline]], Any],
    *,
    format: str | None = None,
    jobs: int = 1,
    strict: bool = False,
    on_error: Literal["fail", "skip"] = "fail",
    assume_timezone: str | None = None,
    limits: Limits | None = None,
    options: Mapping[str, str] | None = None,
    plugins: Sequence[str] = (),
    known: Callable[[str, str | None], Outcome | None] | None = None,
    without: str | os.PathLike[str] | None = None,
    engine: Engine = "local",
) -> Iterator[Outcome]:
    """Read each of *inputs*, and yield what became of it, in order: `made` of an outcome is what *make* returned.

    *make* gets the Storylines of an input, lazily. It is called where the input is read, so with more than one job in
    another process: it has to be a value that can be pickled, and so has what it returns. *known* is asked, with the
    name of each input and what changes when the input does, for an outcome that is known already; then the input is not
    read. What is below the folder *without* is no input.
    """
    how = Reading(
        format,
        strict,
        on_error,
        assume_timezone,
        limits or DEFAULTS,
        dict(options or {}),
        tuple(plugins),
    )
    how.prepare()
    named = [os.fspath(one) for one in inputs]
    _check(named)
    avoided = None if without is None else os.fspath(without)
    yield from _looked_at(
        named,
        Making(how, make),
        jobs,
        format,
        how.limits,
        known=known,
        without=avoided,
        engine=engine,
    )


def _looked_at(
    inputs: Sequence[str],
    work: Work[Item, Outcome],
    jobs: int,
    format: str | None,
    limits: Limits,
    *,
    known: Callable[[str, str | None], Outcome | None] | None = None,
    without: str | None = None,
    engine: Engine = "local",
) -> Iterator[Outcome]:
    """Yield what becomes of each of *inputs*, where nothing is written."""
    with tempfile.TemporaryDirectory(prefix="storyline-hub-") as folder:
        places = Places((), None)
        items = plan(inputs, claims(format), places, without=without, spool=Spool(folder, limits))
        to_do = ((one, known(one.name, one.stamp()) if known else None) for one in items)
        for item, outcome in _done(engine, work, to_do, jobs=jobs):
            _forget(item)
            yield outcome


def _done(
    engine: Engine,
    work: Work[Item, Outcome],
    items: Iterator[tuple[Item, Outcome | None]],
    *,
    jobs: int,
    events: Events[Item, Outcome] | None = None,
) -> Iterator[tuple[Item, Outcome]]:
    """Yield each of *items* with what became of it, in order, whoever does it."""
    if engine not in ENGINES:
        takes = " or ".join(map(repr, ENGINES))
        raise UsageError(f"engine takes {takes}, not {engine!r}")
    if engine == "ray":
        from hub.batch import on_ray

        return on_ray.done(work, items, jobs=jobs, events=events)
    return done(work, items, jobs=jobs, events=events)


def _forget(item: Item) -> None:
    """Remove what was taken out of an archive for *item*."""
    if item.container is None or item.error is not None:
        return
    if os.path.isdir(item.path):
        shutil.rmtree(item.path, ignore_errors=True)
    else:
        with suppress(OSError):
            os.unlink(item.path)


def is_whole(folder: str, format: str | None) -> bool:
    """Tell whether one format claims *folder* as a whole, with nothing in it that the format would leave unread."""
    claimed = claims(format)
    found = claimed(Source.open(folder))
    if found is None:
        return False
    return all(
        claimed(Source.open(item.path)) == found
        if os.path.isdir(item.path)
        else not item.path.endswith(COMMON)
        for item in plan([folder], claimed, Places((), None))
    )


def names_a_file(output: str) -> bool:
    """Tell whether *output* is standard output, or the name of a file of JSON, and no folder that is there."""
    stem, suffix = os.path.splitext(output.lower())
    name = stem if suffix in PACKED else output.lower()
    return output == "-" or (name.endswith(COMMON) and not os.path.isdir(output))


def count(inputs: Sequence[str], format: str | None, *, without: str | None = None) -> int | None:
    """Return how many inputs there are; None where that takes looking into archives, or elsewhere."""
    if any(map(is_remote, inputs)):
        return None
    number = 0
    for item in plan(inputs, claims(format), Places((), None), without=without):
        if stem_of(item.path) is not None:
            return None
        number += 1
    return number


def claims(format: str | None) -> Callable[[Source], str | None]:
    """Return what tells which format claims a directory as a whole: any, or only the one that is named."""
    from hub import detection
    from hub.api import formats

    asked = formats if format is None else {formats[format].id: formats[format]}

    def claim(source: Source) -> str | None:
        found = detection.claim(source, asked)
        return None if found is None else found.format

    return claim


class _Noted(Events[Item, Outcome]):
    """Notes in the journal what is begun and what has ended."""

    def __init__(self, journal: journals.Journal) -> None:
        self._journal = journal

    def again(self, thing: Item) -> Item:
        """Return *thing* as it is given a second time."""
        return self._journal.again(thing)

    def begun(self, thing: Item) -> None:
        """Note that *thing* is given to somebody."""
        self._journal.begun(thing)

    def ended(self, thing: Item, result: Outcome) -> Outcome:
        """Note what became of *thing*, once what it was earlier is gone."""
        told = self._journal.without_earlier(thing, result)
        self._journal.ended(thing, result)
        return told

    def settle(self) -> None:
        """Write what was noted."""
        self._journal.flush()


def _to_do(
    items: Iterator[Item], journal: journals.Journal
) -> Iterator[tuple[Item, Outcome | None]]:
    """Yield *items*, each with what became of it in an earlier run, if that still holds."""
    for item in items:
        stamped = item._replace(
            identity=item.stamp(), is_again=item.is_again or journal.may_be_there(item)
        )
        yield stamped, journal.known(stamped)


def _check(inputs: Sequence[str]) -> None:
    if "-" in inputs:
        raise UsageError("standard input is no part of several inputs")


def _check_folder(inputs: Sequence[str], output: str) -> None:
    is_one = len(inputs) == 1 and os.path.isdir(inputs[0])
    hint = "; --from FORMAT makes one input of a directory" if is_one else ""
    if output == "-":
        raise UsageError(f"several inputs need a folder to write to; name one with -o{hint}")
    if is_remote(output):
        if output.rstrip("/") in {one.rstrip("/") for one in inputs}:
            raise UsageError(f"{output}: the output is the input")
        return
    if names_a_file(output) or (os.path.lexists(output) and not os.path.isdir(output)):
        raise UsageError(f"{output}: not a folder; several inputs need one, or --merge lines{hint}")
    for one in inputs:
        if os.path.isdir(one) and os.path.realpath(one) == os.path.realpath(output):
            raise UsageError(f"{output}: the output is the input")


def _places(to: str, format: str | None, *, folders: bool) -> Places:
    """Return where outputs of the format *to* stand; without *format* inputs may be of any."""
    from hub.api import formats

    chosen = formats.values() if format is None else [formats[format], formats[to]]
    suffixes = {suffix for one in chosen for suffix in one.info.suffixes}
    return Places(suffixes, next(iter(formats[to].info.suffixes), None), folders=folders)


def _described(settings: dict[str, Any]) -> dict[str, Any]:
    """Return what makes a run the same run: its settings, and the versions of what does it."""
    from hub import __version__
    from hub.api import formats

    chosen = {settings["to"], settings["format"]} - {None} if settings["format"] else set(formats)
    return {
        "hub": __version__,
        "formats": sorted(formats[name].origin for name in chosen),
        **{name: _plain(value) for name, value in sorted(settings.items())},
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
