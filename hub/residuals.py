"""Residuals: values of a source that no Storyline field holds; kept by pointer, and put back where they were.

Source: residuals.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial

from hub import pointer as pointers
from hub.errors import MISSING, InvalidDocument, Json, Rule, show
from hub.storyline.model import Residuals, Storyline

DOCUMENTS = Rule(
    "residual.documents", "fatal", "one source document for all Storylines of a document"
)
CONFLICT = Rule("residual.conflict", "fatal", "one value for one pointer")
UNPLACED = Rule("residual.unplaced", "warning", "a place for the residual")

Unplaced = dict[str, Json]
"""Residuals that found no place, by pointer."""


# Capture


def add_residuals(
    storyline: Storyline, source: str, document_id: str, fields: Mapping[str, Json]
) -> None:
    """Add *fields* to the residuals of *source* in *storyline*.

    Raises:
        ValueError: the source has another document id already.
    """
    if not fields:
        return
    known = storyline.unknown_fields.get(source)
    if known is None:
        storyline.unknown_fields[source] = Residuals(
            source_document_id=document_id, fields=dict(fields)
        )
        return
    if known.source_document_id != document_id:
        raise ValueError(f"residuals of {known.source_document_id!r}, not of {document_id!r}")
    known.fields.update(fields)


# Counts


def counts(unknown_fields: Mapping[str, Residuals]) -> dict[str, dict[str, int]]:
    """Return `unknown_key_counts`: how often each pointer occurs, with array indices as `*` (residuals.md 4)."""
    found: dict[str, dict[str, int]] = {}
    for source, residuals in unknown_fields.items():
        for pointer in residuals.fields:
            of_source = found.setdefault(source, {})
            key = normalise(source, pointer)
            of_source[key] = of_source.get(key, 0) + 1
    return found


_STEP = r"/attempts/[^/]*/trajectory/steps"
_ARRAYS = {
    # Everything up to an array, for each array of the source's schema: residuals.md 4.
    "actf": (
        rf"{_STEP}",
        rf"{_STEP}/\*/tools",
        rf"{_STEP}/\*/observation",
        rf"{_STEP}/\*/assistant_content/tool_calls",
    ),
    "atif": (
        r"(?:/subagent_trajectories/\*)*/subagent_trajectories",
        r"(?:/subagent_trajectories/\*)*/steps",
        r"(?:/subagent_trajectories/\*)*/steps/\*/tool_calls",
    ),
    "openai-msg": (
        r"/session_steps",
        r"/session_steps/\*/messages",
        r"/session_steps/\*/messages/\*/tool_calls",
        r"/session_steps/\*/response/tool_calls",
        r"/messages",
        r"/messages/\*/tool_calls",
    ),
    "ale": (r"[\s\S]*/(?:steps|tool_calls|results|content|message|subagent_trajectories)",),
}
_IS_ARRAY = {
    source: "|".join(f"(?:{array})" for array in arrays) for source, arrays in _ARRAYS.items()
}


@lru_cache(maxsize=4096)
def normalise(source: str, pointer: str) -> str:
    """Return *pointer* with array indices replaced by `*`, where the schema of *source* has an array."""
    is_array = _IS_ARRAY.get(source)
    if is_array is None:
        return pointer
    done = ""
    for token in pointer.split("/")[1:]:
        is_index = token.isascii() and token.isdecimal()
        done += "/*" if is_index and re.fullmatch(is_array, done) else f"/{token}"
    return done


# Merge


def merge(storylines: Iterable[Storyline], source: str) -> Residuals | None:
    """Return the residuals of *source* in all Storylines of one document, as one map (residuals.md 6).

    Raises:
        InvalidDocument: they are of several source documents, or one pointer has several values.
    """
    merged: Residuals | None = None
    problems = []
    for storyline in storylines:
        residuals = storyline.unknown_fields.get(source)
        if residuals is None or not residuals.fields:
            continue
        if merged is None:
            merged = Residuals(
                source_document_id=residuals.source_document_id, fields=dict(residuals.fields)
            )
            continue
        if residuals.source_document_id != merged.source_document_id:
            ids = show(merged.source_document_id), show(residuals.source_document_id)
            message = f"residuals of {ids[0]} and of {ids[1]} in one document"
            problems.append(DOCUMENTS.at("/unknown_fields", message=message))
            continue
        for pointer, value in residuals.fields.items():
            known = merged.fields.setdefault(pointer, value)
            if known is not value and not equal(known, value):
                place = pointers.join("unknown_fields", "sources", source, "fields", pointer)
                problems.append(CONFLICT.at(place, value))
    if problems:
        raise InvalidDocument(problems)
    return merged


def equal(one: Json, other: Json) -> bool:
    """Tell whether two JSON values are equal: same types all through, key order aside, `1` and `1.0` different.

    `0.0` and `-0.0` are equal (carrier.md 4.1). Values that are one object are equal without a look inside.
    """
    if one is other:
        return True
    kind = type(one)
    if kind is not type(other):
        return False
    if kind is not dict and kind is not list:
        return bool(one == other)
    if len(one) != len(other):
        return False
    # Loops, not generators: one frame for each of 512 levels.
    if kind is dict:
        for key, value in one.items():
            match = other.get(key, MISSING)
            if value is not match and not equal(value, match):
                return False
    else:
        for value, match in zip(one, other, strict=True):
            if value is not match and not equal(value, match):
                return False
    return True


# Restore

Replaceable = Callable[[Sequence[str], Json, Json], bool]
"""Asked with the tokens of a place, the value written there, and the residual: is the value a filler of the format?

Also a positional id, where the residual is no usable id (missing, empty, not a string). Source: residuals.md 5, rule 2.
"""

_DERIVED_ID = r"#\d+"
_OFFSET = r"[Zz]|[+-]\d\d:\d\d"


def restore(
    document: Json,
    fields: Mapping[str, Json],
    replaceable: Replaceable,
    *,
    places: Iterable[str] = (),
) -> Unplaced:
    """Put native residuals back into *document*, in pointer order; return those without a place (residuals.md 5).

    A member that is not there is inserted. One that is there gives way when *replaceable* says so, or when it is
    derived from the residual: the placeholder, an id with `#n`, a time with an offset added. *places* are patterns of
    the pointers at which envelopes can be (`/attempts/*/_storyline`): no residual is put there. Without any, no
    residual named `_storyline` is put anywhere.

    Only the root of *document* is changed in place. What a residual goes into is copied, once: it may be an opaque
    value that the document shares with a Storyline.
    """
    unplaced: Unplaced = {}
    target = pointers.CopyOnWrite(document)
    reserved = [pointers.split(place) for place in places]
    for pointer in sorted(fields):
        value = fields[pointer]
        tokens = pointers.split(pointer)
        parent = None if _is_reserved(tokens, reserved) else _parent(document, tokens)
        if parent is None:
            unplaced[pointer] = value
            continue
        written = parent.get(tokens[-1], MISSING)
        if written is MISSING or is_derived(written, value) or replaceable(tokens, written, value):
            target.container(tokens[:-1])[tokens[-1]] = value
        else:
            unplaced[pointer] = value
    return unplaced


def _is_reserved(tokens: Sequence[str], places: Sequence[Sequence[str]]) -> bool:
    """Tell whether an envelope can be at *tokens*; without *places*, wherever a member has its name."""
    if not tokens or tokens[-1] != ENVELOPE:
        return False
    return not places or any(map(partial(_is_like, tokens), places))


def _is_like(tokens: Sequence[str], pattern: Sequence[str]) -> bool:
    return len(tokens) == len(pattern) and all(
        wanted in ("*", token) for token, wanted in zip(tokens, pattern, strict=True)
    )


def _parent(document: Json, tokens: Sequence[str]) -> dict[str, Json] | None:
    """Return the object that the last token names a member of; None if there is none."""
    if not tokens:
        return None
    try:
        parent = pointers.get(document, tokens[:-1])
    except LookupError:
        return None
    return parent if isinstance(parent, dict) else None


def is_derived(written: Json, residual: Json) -> bool:
    """Tell whether *written* is made from *residual*: `unknown`, an id with `#n`, a time with an offset added."""
    if not isinstance(written, str):
        return False
    if written == PLACEHOLDER:
        return True
    if not isinstance(residual, str) or not written.startswith(residual):
        return False
    rest = written[len(residual) :]
    added = rf"{_DERIVED_ID}|{_OFFSET}" if residual else _DERIVED_ID
    return re.fullmatch(added, rest, re.ASCII) is not None


PLACEHOLDER = "unknown"
"""Stands in a required Storyline field for which the source has no usable value: validation.md 1."""

CARRIER = "storyline"
"""Source name of the carrier, which is no format's residual: residuals.md 1."""

ENVELOPE = "_storyline"
"""Reserved key of the envelope: residuals.md 7."""
