"""How a broken promise is told: what was found, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from hub.errors import InvalidDocument, PluginError
from hub.registry import place_in_plugin


class ContractBroken(AssertionError):
    """A plugin does not keep a promise of the contract; says what was found, and what to do."""

    def __init__(self, found: str, advice: str) -> None:
        self.found, self.advice = found, advice
        super().__init__(f"{found}\nWhat to do: {advice}")

    def __reduce__(self) -> tuple[type[ContractBroken], tuple[str, str]]:
        return type(self), (self.found, self.advice)


def broken(found: str, advice: str) -> NoReturn:
    """Say that a promise is broken."""
    raise ContractBroken(found, advice)


def expect(is_kept: object, found: str, advice: str) -> None:
    """Say that a promise is broken, unless it *is kept*."""
    if not is_kept:
        broken(found, advice)


@contextmanager
def doing(what: str) -> Iterator[None]:
    """Tell of any error that a plugin raises while it is *doing what*, with the place in the plugin's own code."""
    try:
        yield
    except (ContractBroken, InvalidDocument):
        raise
    except PluginError as error:
        cause = error.__cause__
        if cause is None:
            broken(
                f"{what}: {error}",
                "what `from_storyline` writes must have no error by the rules of `parse`: mend the one or the other",
            )
        _told(what, cause)
    except Exception as error:  # noqa: BLE001  # whatever a plugin raises is told
        _told(what, error)


def _told(what: str, error: BaseException) -> NoReturn:
    broken(
        f"{what}: {type(error).__name__}: {error}{place_in_plugin(error)}",
        "check the type of a value before it is used; what is wrong in a document is a Problem"
        " (`document.report(RULE.at(pointer, value))`), not an exception",
    )
