"""Valid documents of every installed format, changed at random; and what must hold for any input.

Invariant: a result, or a `HubError` that is no bug of a plugin; never another exception, and never a hang.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import hub
from hub import HubError, PluginError, Source, WriteOptions
from hub.conversion import batches, read_documents, write_documents
from hub.json import dumps

Json = Any
Place = tuple[Any, Any]
"""A container, and the key or index in it."""

ROOT = Path(__file__).parent.parent.parent
OWN = "storyline"
FORMATS = [OWN, *sorted(one.id for one in hub.formats.values() if one.can_write and one.id != OWN)]
LARGEST = 60_000
"""Bytes of a document that is changed: small ones show the same, sooner."""
SECONDS = 10
"""Processor time for one input, of some ten kilobytes, through everything; what takes longer hangs."""


class Input(NamedTuple):
    """A document, and its format."""

    format: str
    value: Json


def convert(data: bytes, source: str, target: str) -> list[Json | bytes]:
    """Return the documents of format *target* that *data*, of format *source*, becomes."""
    reader, writer = hub.formats[source], hub.formats[target]
    readings = [
        one for one in read_documents(reader, Source(data, on_error="skip")) if not one.is_fatal
    ]
    return [
        document.document
        for batch in batches(readings, reader.info, writer.info)
        for document in write_documents(writer, batch, WriteOptions())
    ]


@cache
def inputs() -> list[Input]:
    """Return the samples of this checkout, and what each becomes in every other format."""
    found = []
    for path in sorted([*ROOT.glob("examples/*.json*"), *ROOT.glob("plugins/*/tests/samples/*")]):
        try:
            source = hub.detect(path).format
        except hub.InvalidDocument:
            continue  # of a format that is not installed
        data = path.read_bytes()
        values = [record.value for record in Source(data).records(objects=False)]
        found.append(Input(source, values if len(values) > 1 else values[0]))
        found.extend(
            Input(target, value)
            for target in FORMATS
            if target != source
            for value in convert(data, source, target)
        )
    return [one for one in found if len(dumps(one.value)) <= LARGEST]


@cache
def places_of_all() -> list[Place]:
    """Return every place of every input."""
    return [place for one in inputs() for place in places(one.value)]


def places(value: Json) -> list[Place]:
    """Return every place in *value*."""
    found: list[Place] = []
    todo = [value]
    while todo:
        holder = todo.pop()
        keys = holder if isinstance(holder, dict) else range(len(holder))
        for key in keys if isinstance(holder, dict | list) else ():
            found.append((holder, key))
            if isinstance(holder[key], dict | list):
                todo.append(holder[key])
    return found


def nested(levels: int) -> Json:
    """Return a value of so many levels."""
    value: Json = 1
    for level in range(levels):
        value = {"k": value} if level % 2 else [value]
    return value


VALUES: list[Json] = [
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        2**63,
        2**64,
        -(2**64),
        10**400,
        1.5,
        -0.0,
        1e308,
        5e-324,
        1e300,
    ),
    *("", "x", "0", "-1", "/", "~", "~2", "/a", "\0", "\ud800", "\U0001f600", "a" * 200),
    *([], {}, [[]], [{}], {"": 0}, {"a": None}, 1700000000, 1700000000000, 1e18),
    *("NaN", "1e400", "2026-01-01", "2026-01-01T10:00:00Z", "0001-01-01T00:00:00+23:59"),
    *("9999-12-31T23:59:59-23:59", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z"),
    *('{"a":1}', '{"a":1', "[1]", "null", '"x"', "[[[[", "{" * 300, "[" * 5000),
    *("../../x", "/x", "C:\\x", "file:///x", "http://localhost:1/x"),
    *("data:image/png;base64,AAAA", "data:image/png;base64,!!!!", "data:;base64,"),
    *("__class__", "$texts", "/$texts/0", "/turns/0", "/turns/-", "/texts", "storyline/v1"),
    *("<think>", "</think>", "<tool_call>", '<tool_call>{"name":"f","arguments":{}}</tool_call>'),
]
KEYS = ("", "x/y", "~", "_storyline", "0", "extra", "steps", "texts", "messages", "attempts")
LEVELS = (3, 90, 250, 400, 505, 520)
TORN = (b"", b'"', b"{", b"]", b",", b"\\", b"\0", b"\xff", b"1e9999", b"\\ud800", b"NaN", b"\n")


def changed(value: Json, chance: Random) -> Json:
    """Return a copy of *value* with a few changes."""
    root = [copy.deepcopy(value)]
    for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
        found = places(root)
        holder, key = chance.choice(found)
        kind = chance.randrange(8)
        if kind <= 2:  # this one is the likeliest
            holder[key] = copy.deepcopy(chance.choice(VALUES))
        elif kind == 3:
            if holder is not root:
                del holder[key]
        elif kind == 4:
            other, other_key = chance.choice(places_of_all())
            holder[key] = copy.deepcopy(other[other_key])
        elif kind == 5:
            _repeat(holder, key, chance)
        elif kind == 6:
            holder[key] = nested(chance.choice(LEVELS))
        else:
            other, other_key = chance.choice(found)
            holder[key], copied = copy.deepcopy(other[other_key]), copy.deepcopy(holder[key])
            if other_key in other if isinstance(other, dict) else other_key < len(other):
                other[other_key] = copied
    return root[0]


def _repeat(holder: Json, key: Any, chance: Random) -> None:
    """Put a value in once more, beside itself or under another key."""
    value = copy.deepcopy(holder[key])
    if isinstance(holder, list):
        holder.insert(key, value)
    else:
        holder[chance.choice(KEYS)] = value


def torn(data: bytes, chance: Random) -> bytes:
    """Return *data* with a few bytes replaced, which mostly is no JSON."""
    text = bytearray(data)
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(text) + 1)
        text[at : at + chance.randrange(3)] = chance.choice(TORN)
    return bytes(text)


def mutants(chance: Random) -> Iterator[tuple[str, bytes]]:
    """Yield changed documents as bytes, each with the format that it was of, for ever."""
    while True:
        source, value = chance.choice(inputs())
        try:
            data = dumps(changed(value, chance))
        except (HubError, RecursionError):
            continue  # too deep to be written
        yield source, torn(data, chance) if chance.random() < 0.1 else data


def check(data: bytes, format: str, target: str) -> None:
    """Check the invariant for *data*, read as *format* and written as *target*, and that what is written is read."""
    start = time.process_time()
    for look in (
        lambda: hub.detect(data),
        lambda: hub.validate(data, format=format),
        lambda: _there_and_back(data, format, target),
        lambda: hub.measure(data, to=target, format=format),
    ):
        try:
            look()
        except PluginError:
            raise
        except HubError as error:
            if not str(error):
                raise
    assert time.process_time() - start < SECONDS, "it hangs"


def _there_and_back(data: bytes, format: str, target: str) -> None:
    for document in convert(data, format, target):
        text = document if isinstance(document, bytes) else dumps(document)
        for reading in read_documents(hub.formats[target], Source(text)):
            assert not reading.is_fatal, reading.problems
