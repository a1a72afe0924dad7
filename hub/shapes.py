"""Shapes: the members that an object of a format has, declared once for the type checker and for reading.

A format's data model is a set of `TypedDict`s, which read like the specification's field tables. `Shape.of` derives
from one which keys are known, which are required, and which JSON types each takes. Nothing is built and nothing
coerced: a document stays the JSON that was read, and mappings get the static types.

    class Step(TypedDict, total=False):
        step_id: Required[int]
        message: str | None

    STEP = Shape.of(Step)
    STEP.deviations({"step_id": "1", "extra": 2})

Modules that declare models should not postpone annotations (`from __future__ import annotations`): it takes longer.
"""

import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from hub.errors import MISSING, Json
from hub.storyline.calls import GREATEST, LEAST, is_integer

NULL = type(None)

_NAMES = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "a boolean",
    list: "an array",
    dict: "an object",
    NULL: "null",
}


DeviationKind = Literal["unknown", "type", "null", "missing"]


class Deviation(NamedTuple):
    """A member that is not as the shape says."""

    kind: DeviationKind
    """Undeclared key; wrong JSON type; `null` where the shape has none; required and not there."""
    key: str
    value: Json
    expected: str
    """`an integer or null`."""


class Shape:
    """The members of one kind of object: known keys, their JSON types, and which are required."""

    __slots__ = ("name", "required", "types")

    def __init__(
        self, name: str, types_: Mapping[str, frozenset[type] | None], required: frozenset[str]
    ) -> None:
        self.name = name
        self.types = dict(types_)
        """Allowed Python types by key; None: any JSON value. A number may be any integer, an integer has 64 bits."""
        self.required = required

    @classmethod
    def of(cls, model: Any) -> "Shape":
        """Derive the shape of a `TypedDict`."""
        hints = model.__annotations__
        if any(isinstance(hint, str | typing.ForwardRef) for hint in hints.values()):
            hints = typing.get_type_hints(model)  # a model that refers to itself; this takes longer
        return cls(
            model.__name__,
            {key: _json_types(hint) for key, hint in hints.items()},
            model.__required_keys__,
        )

    def fits(self, value: Mapping[str, Json]) -> bool:
        """Tell whether *value* has no deviation; the fast question, asked of every object."""
        known = self.types
        for key, member in value.items():
            allowed = known.get(key, _NOTHING)
            if allowed is None:
                continue
            kind = type(member)
            if kind not in allowed:
                return False
            if kind is int and not LEAST <= member <= GREATEST and float not in allowed:
                return False
        return self.required <= value.keys()

    def all_fit(self, values: Sequence[Mapping[str, Json]]) -> bool:
        """Tell whether none of *values* has a deviation; key by key over all, which costs a fraction of one by one."""
        if len(values) <= _FEW:
            return all(map(self.fits, values))
        keys: set[str] = set().union(*values)
        if not self.required <= keys <= self.types.keys():
            return False
        return all(self._fits_in_all(key, values) for key in keys)

    def _fits_in_all(self, key: str, values: Sequence[Mapping[str, Json]]) -> bool:
        allowed = self.types[key]
        if allowed is None and key not in self.required:
            return True
        try:
            kinds = set(map(type, map(itemgetter(key), values)))
        except KeyError:
            if key in self.required:
                return False
            kinds = {type(value[key]) for value in values if key in value}
        if allowed is None:
            return True
        if int not in kinds or float in allowed:
            return kinds <= allowed
        integers = [one for value in values if type(one := value.get(key)) is int]
        return kinds <= allowed and min(integers) >= LEAST and max(integers) <= GREATEST

    def deviations(self, value: Mapping[str, Json]) -> Iterator[Deviation]:
        """Yield what is not as the shape says: members in their order, then required ones that are missing."""
        for key, member in value.items():
            if key not in self.types:
                yield Deviation("unknown", key, member, "a known key")
                continue
            allowed = self.types[key]
            if allowed is None:
                continue
            if type(member) not in allowed or not (float in allowed or _is_in_range(member)):
                kind: DeviationKind = "null" if member is None else "type"
                yield Deviation(kind, key, member, self.expected(key))
        for key in self.types:
            if key in self.required and key not in value:
                yield Deviation("missing", key, MISSING, self.expected(key))

    def expected(self, key: str) -> str:
        """Return what *key* takes, in words."""
        allowed = self.types[key]
        if allowed is None:
            return "a value"
        if allowed >= {int, float}:
            allowed -= {int}
        return " or ".join(name for kind, name in _NAMES.items() if kind in allowed)


_NOTHING: frozenset[type] = frozenset()
_FEW = 6
"""So many objects are asked one by one: key by key would take longer."""


def _is_in_range(value: Json) -> bool:
    """Tell whether *value*, if it is an integer, is one that an integer slot takes."""
    return type(value) is not int or is_integer(value)


def _json_types(hint: Any) -> frozenset[type] | None:
    """Return the Python types that a JSON value of type *hint* may have; None: any."""
    origin = typing.get_origin(hint)
    if hint is Any:
        return None
    if origin in (typing.Required, typing.NotRequired):
        return _json_types(*typing.get_args(hint))
    if origin in (typing.Union, types.UnionType):
        members = [_json_types(one) for one in typing.get_args(hint)]
        known = [one for one in members if one is not None]
        return frozenset().union(*known) if len(known) == len(members) else None
    if origin is Literal:
        return frozenset(type(one) for one in typing.get_args(hint))
    if origin is not None:
        hint = origin
    if typing.is_typeddict(hint) or hint in (dict, Mapping):
        return frozenset({dict})
    if hint is float:
        return frozenset({int, float})
    return frozenset({hint})
