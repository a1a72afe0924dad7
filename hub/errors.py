"""What can go wrong: problems of a document, and the errors that the hub raises on purpose.

A `Problem` names one place where a document breaks a rule. A rule is declared once, as a `Rule`, with the severity that
every breach of it has. Errors raised on purpose are `HubError`s; anything else that reaches a caller is a bug.

Source: validation.md 1.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

Json = Any
"""A JSON value: None, bool, int, float, str, list, dict with string keys, or `hub.json.ExactNumber`."""

Severity = Literal["fatal", "error", "warning", "info"]

MISSING: Json = type("Missing", (), {"__repr__": lambda _: "nothing", "__slots__": ()})()
"""Stands for a value that is not there, where `None` would mean JSON `null`."""


class Problem(NamedTuple):
    """One breach of one rule, at one place of a document.

    Names only immutable facts, so problems can be compared, sorted into sets and sent between processes.
    """

    severity: Severity
    rule: str
    """Public, stable id, such as `actf.step-order`."""
    pointer: str
    """RFC 6901 pointer into the source document; `""` is the document itself."""
    message: str
    """A fragment for people: what was expected and what was found, and what helps next."""
    document: str | None = None
    """Place in the container, `line 7` or `element 3`; None for a single object."""
    expected: str | None = None
    found: str | None = None

    def __str__(self) -> str:
        place = " ".join(part for part in (self.document, self.pointer) if part)
        return f"{place}{': ' if place else ''}{self.severity}: {self.message} [{self.rule}]"


class Rule(NamedTuple):
    """A rule of a format: its id, how grave a breach is, what it asks for, and what is kept."""

    rule: str
    severity: Severity
    expected: str
    """What the rule asks for, as it stands behind `expected` in a message."""
    keeps: str = "kept"
    """What conversion does with the offending value: validation.md 1, keep words."""

    def at(
        self,
        pointer: str,
        found: Json = MISSING,
        *,
        expected: str | None = None,
        message: str | None = None,
    ) -> Problem:
        """Return the problem of a value *found* at *pointer*; *message* replaces the usual wording."""
        wanted = self.expected if expected is None else expected
        is_told = message is not None and found is MISSING
        shown = None if is_told else show(found)
        return Problem(
            severity=self.severity,
            rule=self.rule,
            pointer=pointer,
            message=f"expected {wanted}, found {shown}" if message is None else message,
            expected=wanted,
            found=shown,
        )


SHOWN_CHARACTERS = 80
"""Values in messages are cut there: validation.md 1."""


def show(value: Json) -> str:
    """Return *value* as it stands in a message: short scalars as JSON, the rest by type and size."""
    if value is MISSING:
        return "nothing"
    if isinstance(value, dict):
        return "an object" if value else "an empty object"
    if isinstance(value, list):
        return f"an array of {len(value)}" if value else "an empty array"
    if isinstance(value, str):
        return _shown_text(value[: SHOWN_CHARACTERS + 1])
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and value.bit_length() > LARGE_BITS:
        return "a huge integer"
    return _cut(str(value))


@lru_cache(maxsize=256)
def _shown_text(text: str) -> str:
    from json.encoder import encode_basestring

    return _cut(encode_basestring(text).encode("utf-8", "backslashreplace").decode())


LARGE_BITS = 256
"""Of the integers that are shown; Python is slow to print large ones, and refuses very large ones."""


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


class HubError(Exception):
    """Base of every error that the hub raises on purpose; its text is for people."""

    exit_status = 1


class Stopped(BaseException):
    """A signal asked the program to end; what is under way is cleaned up on the way out."""

    def __init__(self, signal: int) -> None:
        super().__init__(signal)
        self.signal = signal

    @property
    def status(self) -> int:
        """The exit status, as shells count it."""
        return 128 + self.signal


class InvalidDocument(HubError):
    """A document, or a whole input, of which no Storyline can be made; holds every problem found."""

    def __init__(self, problems: Iterable[Problem], name: str | None = None) -> None:
        self.problems: Sequence[Problem] = tuple(problems)
        self.name = name
        lines = "\n".join(str(problem) for problem in self.problems)
        super().__init__(f"{name}: {lines}" if name else lines)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problems, self.name)


class UnsupportedVersion(InvalidDocument):
    """A document of a version that its format's plugin does not know: validation.md 1, class *unsupported*."""


def invalid(problems: Iterable[Problem], name: str | None = None) -> InvalidDocument:
    """Return the error of a document with fatal *problems*: of class *unsupported* where its version is one of them."""
    found = tuple(problems)
    is_unsupported = any(
        problem.severity == "fatal" and problem.rule.endswith(".version") for problem in found
    )
    return (UnsupportedVersion if is_unsupported else InvalidDocument)(found, name)


class UsageError(HubError):
    """The caller asked for something that cannot be: an unknown option, an output that is the input."""

    exit_status = 2


class FormatError(HubError):
    """No format, because its plugin is broken, or in conflict with another."""


class UnknownFormat(FormatError):
    """No format of that name can be used here: it is unknown, not installed, or disabled."""

    exit_status = 2


class PluginError(HubError):
    """A plugin failed inside a hook; names the plugin, its distribution and the hook."""
