"""The cattrs converters from wire JSON to Storylines: a fast one, and one that says what is wrong and where.

Both read by the rules of storyline.md 1: a value has exactly the type of its member, an undeclared key is refused,
`null` of an optional member is absent. Opaque values are passed on by reference. The fast converter reads
an object in one loop over the members that are there, for half of what the function costs that cattrs makes; the
detailed one reads on after a wrong value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial, reduce
from operator import or_
from types import NoneType
from typing import Any, get_args, get_origin

import attrs
import cattrs
from cattrs.cols import list_structure_factory
from cattrs.errors import ClassValidationError, ForbiddenExtraKeysError, IterableValidationError
from cattrs.gen import (
    make_dict_structure_fn,
    make_mapping_structure_fn,
    override,
)

from hub import pointer as pointers
from hub.errors import MISSING, Json, Problem, Rule
from hub.storyline import rules
from hub.storyline.calls import GREATEST, LEAST
from hub.storyline.model import Env, Llm, Residuals, Task, TaskResult, Timestamp
from hub.storyline.times import is_timestamp

Class = type[attrs.AttrsInstance]
Reader = Callable[[Json, Any], Any]


class Refused(Exception):
    """A value that breaks a structural rule."""

    def __init__(self, rule: Rule, found: Json, expected: str | None = None) -> None:
        self.rule, self.found, self.expected = rule, found, expected
        super().__init__(rule.rule)


@cache
def fast() -> cattrs.Converter:
    """Return the converter that stops at the first wrong value, with whatever error that gives."""
    return _converter(_fast_reader, _fast_list_reader, detailed=False)


@cache
def detailed() -> cattrs.Converter:
    """Return the converter that reads on after a wrong value; `problems` translates what it raises."""
    return _converter(_detailed_reader, _detailed_list_reader, detailed=True)


def _converter(
    read_object: Callable[[cattrs.Converter, Class], Reader],
    read_list: Callable[[cattrs.Converter, Any], Reader],
    *,
    detailed: bool,
) -> cattrs.Converter:
    converter = cattrs.Converter(detailed_validation=detailed)
    for kind in (str, bool):
        converter.register_structure_hook(kind, _exactly)
    converter.register_structure_hook(int, _integer)
    converter.register_structure_hook_func(lambda kind: kind is Any, lambda value, _: value)
    converter.register_structure_hook_func(lambda kind: kind == Timestamp, _time)
    converter.register_structure_hook_func(_is_a(dict), _object)
    converter.register_structure_hook_factory(_is_a(list), partial(read_list, converter))
    converter.register_structure_hook_factory(attrs.has, partial(read_object, converter))
    # A part comes before what it is in, here and below.
    for cls, wrap in ((TaskResult, _result_reader), (Task, _task_reader)):
        converter.register_structure_hook(cls, wrap(read_object(converter, cls)))
    converter.register_structure_hook_func(
        lambda kind: kind == dict[str, Residuals], _sources_reader(converter)
    )
    return converter


def _is_a(origin: Any) -> Callable[[Any], bool]:
    return lambda kind: get_origin(kind) is origin


# Members


def _members(cls: Class) -> dict[str, attrs.Attribute[Any]]:
    """Return the attributes of *cls* by their wire keys."""
    attrs.resolve_types(cls)
    names = {field: field.metadata.get("wire", field.name) for field in attrs.fields(cls)}
    return {name: field for field, name in names.items() if name is not None}


def _is_optional(field: attrs.Attribute[Any]) -> bool:
    """Tell whether `null` of a member means that it is absent: storyline.md 1, rules 5 and 6."""
    return field.default is not attrs.NOTHING


def _kind(field: attrs.Attribute[Any]) -> Any:
    """Return the type of a member that is there."""
    if NoneType not in get_args(field.type):
        return field.type
    return reduce(or_, (kind for kind in get_args(field.type) if kind is not NoneType))


# Reading objects and lists


def _fast_reader(converter: cattrs.Converter, cls: Class) -> Reader:
    """Return how an object becomes a *cls*; a missing member is the constructor's to find."""
    slots = {key: _slot(converter, field) for key, field in _members(cls).items()}
    optional = {key for key, field in _members(cls).items() if _is_optional(field)}

    def read(value: Json, _: Any) -> Any:
        members = {}
        for key, member in value.items():
            name, exact, kind, hook = slots[key]
            if type(member) is exact or hook is None:
                members[name] = member
            elif member is not None or key not in optional:
                members[name] = hook(member, kind)
        return cls(**members)

    return read


def _slot(
    converter: cattrs.Converter, field: attrs.Attribute[Any]
) -> tuple[str, type | None, Any, Reader | None]:
    """Return the name of an attribute, the type of values taken as they are, its own type, and what reads others.

    A reader of None takes every value as it is.
    """
    kind = _kind(field)
    exact = kind if kind in (str, bool) else None
    return field.name, exact, kind, None if kind is Any else converter.get_structure_hook(kind)


def _detailed_reader(converter: cattrs.Converter, cls: Class) -> Reader:
    members = _members(cls)
    overrides: dict[str, Any] = {field.name: override(omit=True) for field in attrs.fields(cls)}
    for key, field in members.items():
        hook = converter.get_structure_hook(_kind(field))
        overrides[field.name] = override(rename=key, struct_hook=_of_kind(hook, _kind(field)))
    structure = make_dict_structure_fn(
        cls,
        converter,
        _cattrs_forbid_extra_keys=True,
        _cattrs_detailed_validation=True,
        **overrides,
    )
    optional = {key for key, field in members.items() if _is_optional(field)}

    def read(value: Json, kind: Any) -> Any:
        body = {
            key: member
            for key, member in _object(value, dict).items()
            if member is not None or key not in optional
        }
        return structure(body, kind)

    return read


def _of_kind(hook: Reader, kind: Any) -> Reader:
    """Return *hook*, called with the type of a member that is there."""
    return lambda value, _: hook(value, kind)


def _fast_list_reader(converter: cattrs.Converter, kind: Any) -> Reader:
    (element,) = get_args(kind)
    read = converter.get_structure_hook(element)
    return lambda value, _: [read(one, element) for one in _array(value)]


def _detailed_list_reader(converter: cattrs.Converter, kind: Any) -> Reader:
    structure = list_structure_factory(kind, converter)
    return lambda value, _: structure(_array(value), kind)


# Reading values


def _exactly(value: Json, kind: type) -> Json:
    """Return *value* if its type is *kind*, without coercing."""
    if type(value) is not kind:
        raise Refused(rules.TYPE, value, "a string" if kind is str else "a boolean")
    return value


def _integer(value: Json, _: Any) -> int:
    if type(value) is int and LEAST <= value <= GREATEST:
        return value
    raise Refused(rules.TYPE, value, "an integer")


def _object(value: Json, _: Any) -> dict[str, Json]:
    if type(value) is dict:
        return value
    raise Refused(rules.TYPE, value, "an object")


def _array(value: Json) -> list[Json]:
    if type(value) is list:
        return value
    raise Refused(rules.TYPE, value, "an array")


def _time(value: Json, _: Any) -> Json:
    if is_timestamp(value):
        return value
    raise Refused(rules.TIME, value)


# Objects with a form of their own


def _task_reader(read: Reader) -> Reader:
    """Leave out what has no set member: storyline.md 3.4."""

    def read_task(value: Json, kind: Any) -> Task:
        task: Task = read(value, kind)
        task.env = None if task.env == Env() else task.env
        task.llm = None if task.llm == Llm() else task.llm
        task.result = None if task.result == TaskResult() else task.result
        return task

    return read_task


def _result_reader(read: Reader) -> Reader:
    """Leave out typed members that mean absent, whatever their type; keep the others: storyline.md 3.4."""

    def read_result(value: Json, kind: Any) -> TaskResult:
        members = _object(value, kind).items()
        typed = {
            key: member
            for key, member in members
            if key in rules.RESULT_MEMBERS and member not in ("", {})
        }
        result: TaskResult = read(typed, kind)
        result.extras = {
            key: member
            for key, member in members
            if key not in rules.RESULT_MEMBERS and member is not None
        }
        return result

    return read_result


@attrs.define(kw_only=True)
class _Sources:
    """`unknown_fields` as it stands on the wire."""

    sources: Mapping[str, Residuals]


def _sources_reader(converter: cattrs.Converter) -> Reader:
    """Leave out sources without a field: residuals.md 2, rule 4."""
    of_sources = make_mapping_structure_fn(
        dict[str, Residuals], converter, detailed_validation=converter.detailed_validation
    )
    converter.register_structure_hook_func(
        lambda kind: kind == Mapping[str, Residuals],
        lambda value, _: of_sources(_object(value, dict), dict[str, Residuals]),
    )

    def read(value: Json, _: Any) -> dict[str, Residuals]:
        found = converter.structure(value, _Sources).sources
        return {name: residuals for name, residuals in found.items() if residuals.fields}

    return read


# What is wrong


def problems(value: Json, kind: Class) -> Iterator[Problem]:
    """Yield what makes *value* no *kind*, each with its pointer into *value*."""
    try:
        detailed().structure(value, kind)
    except Exception as error:  # noqa: BLE001  # every kind is translated
        yield from _problems(error, "", value)


def _problems(error: BaseException, pointer: str, value: Json) -> Iterator[Problem]:
    """Translate what the detailed converter raised for *value* at *pointer*."""
    if isinstance(error, Refused):
        yield error.rule.at(pointer, error.found, expected=error.expected)
    elif isinstance(error, KeyError):
        yield rules.REQUIRED.at(pointer)
    elif isinstance(error, ForbiddenExtraKeysError):
        for key in sorted(error.extra_fields):
            yield rules.UNKNOWN_KEY.at(f"{pointer}/{pointers.escape(key)}", value[key])
    elif isinstance(error, ClassValidationError):
        members, others = error.group_exceptions()
        keys = {field.name: key for key, field in _members(error.cl).items()}
        for inner, note in members:
            key = keys[note.name]
            yield from _problems(inner, f"{pointer}/{key}", value.get(key, MISSING))
        for inner in others:
            yield from _problems(inner, pointer, value)
    elif isinstance(error, IterableValidationError):
        for inner, place in error.group_exceptions()[0]:
            at = f"{pointer}/{pointers.escape(place.index)}"
            yield from _problems(inner, at, value[place.index])
    else:
        raise error
