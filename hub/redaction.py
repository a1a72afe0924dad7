"""An extension that hides secrets and personal data in whatever is read: `hub convert --redact`.

It is no format: its hook wrapper applies to `to_storyline` of every format, so that no format and no target needs to
know of it. Secrets are found by the detectors of detect-secrets (the extra `redact`), personal data by patterns here.
What was carried in an envelope is gone through as well; where that no longer fits, it is discarded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from hub.errors import Json, UsageError
from hub.hookspecs import hookimpl
from hub.input_rules import REDACTED

if TYPE_CHECKING:
    from hub.reading import Document
    from hub.storyline.model import Storyline

Find = Callable[[str], Iterable[str]]
"""Returns the pieces of a text that must not stand there."""


@hookimpl(wrapper=True)
def to_storyline(document: Document[Any]) -> Generator[None, Iterable[Storyline], Any]:
    """Redact what is read of a document."""
    _detectors()  # or nothing is read: an extra that is missing must not let anything through
    found = yield
    return _redacted(document, found)


def _redacted(document: Document[Any], found: Iterable[Storyline]) -> Iterator[Storyline]:
    counts: Counter[str] = Counter()
    envelopes = document.record.envelopes
    envelopes[:] = [one._replace(value=redact(one.value, counts)) for one in envelopes]
    _report(document, "", counts)
    for storyline in found:
        counts = Counter()
        _redact_model(storyline, counts)
        _report(document, storyline.node, counts)
        yield storyline


def _report(document: Document[Any], pointer: str, counts: Counter[str]) -> None:
    for kind, number in sorted(counts.items()):
        problem = REDACTED.at(pointer, message=f"{kind}, redacted")._replace(found=kind)
        document.problems.extend([problem] * number)


def _redact_model(model: Any, counts: Counter[str]) -> None:
    """Redact an object of the Storyline model in place; JSON values, which are shared, are replaced."""
    import attrs

    for field in attrs.fields(type(model)):
        value = getattr(model, field.name)
        members = value if isinstance(value, list) else [value]
        if field.name == "unknown_fields":
            members = list(value.values())
        if members and all(attrs.has(type(one)) for one in members):
            for one in members:
                _redact_model(one, counts)
            continue
        kept = redact(value, counts)
        if kept is not value:
            setattr(model, field.name, kept)


def redact(value: Json, counts: Counter[str]) -> Json:
    """Return *value* without secrets and personal data, itself when there are none; *counts* says what was found."""
    if isinstance(value, str):
        return _redact_text(value, counts)
    if isinstance(value, list):
        elements = [redact(one, counts) for one in value]
        is_same = all(one is other for one, other in zip(elements, value, strict=True))
        return value if is_same else elements
    if isinstance(value, dict):
        members = {_redact_text(key, counts): redact(one, counts) for key, one in value.items()}
        is_same = members.keys() == value.keys() and all(
            members[key] is one for key, one in value.items()
        )
        return value if is_same else members
    return value


SHORTEST = 8
"""Characters of the shortest text that is looked at."""

PAYLOAD = re.compile(r"(?:data:[^,]*;base64,)?[A-Za-z0-9+/=\s]{512,}")
"""Base64 of some length: an image, in which any pattern may stand by chance."""


def _redact_text(text: str, counts: Counter[str]) -> str:
    if len(text) < SHORTEST or PAYLOAD.fullmatch(text):
        return text
    for kind, find in _detectors():
        for piece in sorted(set(find(text)), key=len, reverse=True):
            number = text.count(piece)
            if piece and number:
                counts[kind] += number
                text = text.replace(piece, f"[redacted: {kind}]")
    return text


# What is found


@cache
def _detectors() -> tuple[tuple[str, Find], ...]:
    """Return what is looked for, by what it is called; keys first, whose text other patterns may match in part."""
    try:
        from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
        from detect_secrets.plugins.base import RegexBasedDetector
    except ImportError as error:
        raise UsageError(
            "to redact takes detect-secrets: pip install 'storyline-hub[redact]'"
        ) from error
    known: list[tuple[str, Any]] = sorted(get_mapping_from_secret_type_to_class().items())
    secrets = [
        (
            kind,
            partial(_secrets, one().denylist)
            if one.analyze_string is RegexBasedDetector.analyze_string
            else one().analyze_string,
        )
        for kind, one in known
        if issubclass(one, RegexBasedDetector)
    ]
    return (("private key", _PRIVATE_KEY.findall), *secrets, *_PERSONAL)


def _secrets(patterns: Iterable[re.Pattern[str]], text: str) -> Iterator[str]:
    """Yield what *patterns* find: a group that is long enough to be the secret, else all of it.

    Some have a group for what surrounds a secret, some for the secret, and some for the prefix by which it is known.
    """
    for pattern in patterns:
        for found in pattern.finditer(text):
            longest = max((one for one in found.groups() if one), key=len, default="")
            yield longest if len(longest) >= SHORTEST else found[0]


_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\Z)"
)
"""The whole of it, or what is left of one that was cut."""


def _cards(text: str) -> Iterator[str]:
    """Yield what may be the number of a payment card: its digits add up (ISO/IEC 7812, the Luhn check)."""
    for piece in re.findall(r"(?<![\w.])[3-6]\d{3}(?:[ -]?\d{4}){2}[ -]?\d{1,4}(?![\w.])", text):
        digits = [int(one) for one in piece if one.isdecimal()]
        doubled = [2 * one - 9 * (one > 4) for one in digits[-2::-2]]  # noqa: PLR2004  # of two digits
        if (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0:
            yield piece


def _accounts(text: str) -> Iterator[str]:
    """Yield what may be the number of a bank account: its checksum is right (ISO 13616)."""
    for piece in re.findall(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b", text):
        bare = piece.replace(" ", "")
        if int("".join(str(int(one, 36)) for one in bare[4:] + bare[:4])) % 97 == 1:
            yield piece


_PERSONAL: tuple[tuple[str, Find], ...] = (
    (
        "e-mail address",
        re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,24}\b").findall,
    ),
    ("payment card", _cards),
    ("bank account", _accounts),
    (
        "phone number",
        re.compile(r"(?<![\w+])\+\d{1,3}[ .-]?\(?\d{1,4}\)?(?:[ .-]?\d{2,4}){2,4}\b").findall,
    ),
)
