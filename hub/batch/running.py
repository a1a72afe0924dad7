"""Runs over many inputs: convert or validate each of them, one bad file costing itself only.

Source: validation.md 2.4; detection.md 5.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from hub.batch import journal as journals
from hub.batch.outcome import Outcome
from hub.batch.places import COMMON, Places
from hub.batch.planning import Item, plan
from hub.batch.pool import Events, done
from hub.batch.work import Converting, Reading, Validating
from hub.errors import UsageError
from hub.source import Source

if TYPE_CHECKING:
    from hub.api import Container


def convert_many(
    inputs: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    to: str,
    format: str | None = None,
    container: Container | None = None,
    split: bool = False,
    jobs: int = 1,
    resume: bool = False,
    force: bool = False,
    strict: bool = False,
    on_error: Literal["fail", "skip"] = "fail",
    fail_on: Sequence[str] = (),
    carry: bool = True,
    extract_images: bool = False,
    assume_timezone: str | None = None,
    max_size: int | None = None,
    options: Mapping[str, str] | None = None,
    plugins: Sequence[str] = (),
    extensions: Sequence[str] = (),
) -> Iterator[Outcome]:
    """Convert each of *inputs* to a file below the folder *output*, and yield what became of each, in order.

    Inputs are files, directories, of which every file is converted, and patterns. The tree of the inputs is mirrored.
    *jobs* processes share the work; *plugins* are the paths of one-file plugins that they load. With *resume* what an
    earlier run has done is not done again, unless the input has changed; with *split* each document becomes a file.

    Raises:
        UsageError: the output cannot be, or holds an earlier run.
    """
    from hub.api import formats

    named = [os.fspath(one) for one in inputs]
    folder = os.fspath(output)
    how = Reading(
        format, strict, on_error, assume_timezone, max_size, dict(options or {}), tuple(plugins)
    )
    how.prepare()
    writing: dict[str, Any] = {
        "to": formats[to].id,
        "container": "dir" if split else container,
        "carry": carry,
        "extract_images": extract_images,
        "fail_on": tuple(fail_on),
        "extensions": tuple(extensions),
    }
    with formats.extended(extensions):
        pass  # or each input would fail for want of one
    _check(named, folder)
    items = plan(named, claims(format), _places(to, format, folders=split), without=folder)
    run = _described({**how._asdict(), **writing})
    with journals.opened(folder, run, resume=resume, force=force) as journal:
        work = Converting(how, output=folder, temporary=journal.temporary, force=force, **writing)
        for item, outcome in done(work, _to_do(items, journal), jobs=jobs, events=_Noted(journal)):
            journal.in_order(item)
            yield outcome
        journal.finish()


def validate_many(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    format: str | None = None,
    jobs: int = 1,
    strict: bool = False,
    assume_timezone: str | None = None,
    max_size: int | None = None,
    options: Mapping[str, str] | None = None,
    plugins: Sequence[str] = (),
) -> Iterator[Outcome]:
    """Find all problems of each of *inputs*, and yield what became of each, in order; see `convert_many`."""
    how = Reading(
        format, strict, "skip", assume_timezone, max_size, dict(options or {}), tuple(plugins)
    )
    how.prepare()
    items = plan([os.fspath(one) for one in inputs], claims(format), Places((), None))
    for _, outcome in done(Validating(how), ((item, None) for item in items), jobs=jobs):
        yield outcome


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


def count(inputs: Sequence[str], format: str | None, *, without: str | None = None) -> int:
    """Return how many inputs there are."""
    return sum(1 for _ in plan(inputs, claims(format), Places((), None), without=without))


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

    def begun(self, thing: Item) -> None:
        """Note that *thing* is given to somebody."""
        self._journal.begun(thing)

    def ended(self, thing: Item, result: Outcome) -> None:
        """Note what became of *thing*."""
        self._journal.ended(thing, result)


def _to_do(
    items: Iterator[Item], journal: journals.Journal
) -> Iterator[tuple[Item, Outcome | None]]:
    """Yield *items*, each with what became of it in an earlier run, if that still holds."""
    for item in items:
        stamped = item._replace(identity=item.stamp())
        known = journal.known(stamped)
        is_again = known is None and journal.may_be_there(item)
        yield (stamped._replace(is_again=True) if is_again else stamped), known


def _check(inputs: Sequence[str], output: str) -> None:
    if output == "-":
        raise UsageError("several inputs need a folder to write to; name one with -o")
    if os.path.lexists(output) and not os.path.isdir(output):
        raise UsageError(f"{output}: not a folder; several inputs need one")
    for one in inputs:
        if one == "-":
            raise UsageError("standard input is no part of several inputs")
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
        "plugins": sorted(formats[name].origin for name in chosen),
        **{name: _plain(value) for name, value in sorted(settings.items())},
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
