"""Commands that other distributions add to the program: the group `storyline_hub.commands`.

The name of an entry point is that of the command, and what it names is a typer application, which is imported when that
command is asked for. One that cannot be used costs only itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import NamedTuple

import typer

from hub.discovery import COMMANDS, EntryPoint, entry_points
from hub.errors import FormatError, HubError
from hub.registry import DISABLE, PluginState, described, is_disabled, resolved

SHOWN = 60
"""Characters of a summary that the help of the program shows."""


class Addition(NamedTuple):
    """A command that some distribution declares."""

    point: EntryPoint
    conflict: str = ""
    """Why nobody has a command of that name; empty: it can be asked for."""

    @property
    def short_help(self) -> str:
        """What the help of the program says of it: the summary of its distribution, cut."""
        text = self.point.summary or f"A command of {self.point.distribution}"
        return f"{text[: SHOWN - 1].rstrip()}…" if len(text) > SHOWN else f"{text.rstrip('.')}."

    def load(self) -> typer.Typer:
        """Return its application.

        Raises:
            FormatError: it cannot be used; the text says why.
        """
        try:
            if self.conflict:
                raise FormatError(self.conflict)
            found = resolved(self.point)
            if not isinstance(found, typer.Typer):
                raise FormatError(f"{self.point.module} is no typer.Typer")
        except (Exception, SystemExit) as error:
            raise FormatError(
                f"the command {self.point.id!r} of {self.point} cannot be used: {described(error)};"
                f" `hub plugins doctor {self.point.id}` shows more"
            ) from error
        return found

    def state(self) -> PluginState:
        """Return how it fares; loads it."""
        origin = str(self.point)
        if is_disabled(self.point):
            return PluginState(self.point.id, "disabled", origin, f"{DISABLE} names it", "command")
        if self.conflict:
            return PluginState(self.point.id, "conflict", origin, self.conflict, "command")
        error = self.failure()
        if error is None:
            return PluginState(self.point.id, "ok", origin, "", "command")
        return PluginState(self.point.id, "broken", origin, described(error), "command")

    def failure(self) -> BaseException | None:
        """Return the error that makes it unusable, for a full trace."""
        try:
            self.load()
        except HubError as error:
            return error.__cause__
        return None


def additions(taken: Collection[str]) -> Iterator[Addition]:
    """Yield what is declared, sorted; none gets a name that is *taken*, and none one that others want as well."""
    points = entry_points(COMMANDS)
    claims = Counter(one.id for one in points if not is_disabled(one))
    for point in points:
        rivals = [str(one) for one in points if one.id == point.id and not is_disabled(one)]
        if point.id in taken:
            yield Addition(point, f"the hub has a command {point.id!r} of its own")
        elif claims[point.id] > 1:
            yield Addition(point, f"{' and '.join(rivals)} claim {point.id!r}; uninstall one")
        else:
            yield Addition(point)


def usable(taken: Collection[str]) -> Iterator[Addition]:
    """Yield those that can be asked for, one a name, in the order of names."""
    seen: set[str] = set(taken)
    for one in additions(taken):
        if one.point.id not in seen and not is_disabled(one.point):
            seen.add(one.point.id)
            yield one
