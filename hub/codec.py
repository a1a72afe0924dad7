"""Storylines and their wire JSON: cattrs converters, a fast one and, when that fails, a detailed one.

Reading never coerces (`"3"` is not 3, `True` is not 1), refuses undeclared keys, and takes `null` for absent where a member is
optional. The detailed converter runs only on a document that the fast one refused, to say what is wrong and where. Opaque
values are passed on by reference both ways.

Source: storyline.md 1 to 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from types import UnionType
from typing import Any, Union, get_args, get_origin

import attrs
import cattrs
from cattrs.errors import (
    ClassValidationError,
    ForbiddenExtraKeysError,
    IterableValidationError,
)
from cattrs.fns import identity
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from hub import pointer as pointers
from hub.errors import MISSING, InvalidDocument, Json, Problem, Rule
from hub.residuals import counts
from hub.storyline import rules
from hub.storyline.calls import INTEGERS
from hub.storyline.model import (
    SCHEMA_VERSION,
    Env,
    Parent,
    Prompt,
    Residuals,
    Storyline,
    Task,
    TaskResult,
    Timestamp,
    Turn,
)
from hub.storyline.times import is_timestamp


def from_wire(data: Json) -> Storyline:
    """Return the Storyline that wire JSON *data* spells.

    Raises:
        InvalidDocument: *data* breaks rules; holds all of them, structural ones alone where there are some.
    """
    if type(data) is not dict:
        raise InvalidDocument([rules.OBJECT.at("", data)])
    version = data.get("schema_version")
    if type(version) is str and version != SCHEMA_VERSION:
        raise InvalidDocument([rules.VERSION.at("/schema_version", version)])
    body = {key: value for key, value in data.items() if key not in _DERIVED}
    try:
        if type(version) is not str:
            raise _Refused(rules.REQUIRED, version)
        storyline: Storyline = _fast().structure(body, Storyline)
    except Exception:  # noqa: BLE001  # whatever it is, the detailed converter says it precisely
        raise InvalidDocument(list(_structural_problems(data, body))) from None
    problems = [*rules.check(storyline, data.get("unknown_key_counts"))]
    if problems:
        raise InvalidDocument(problems)
    return storyline


def to_wire(storyline: Storyline) -> dict[str, Json]:
    """Return the wire JSON of *storyline*: short names, nothing that is not set (storyline.md 2)."""
    wire: dict[str, Json] = {"schema_version": SCHEMA_VERSION}
    wire.update(_fast().unstructure(storyline))
    if storyline.unknown_fields:
        wire["unknown_key_counts"] = counts(storyline.unknown_fields)
    return wire


def turn_to_wire(turn: Turn) -> dict[str, Json]:
    """Return the wire JSON of one turn."""
    wire: dict[str, Json] = _fast().unstructure(turn)
    return wire


def root_to_wire(storyline: Storyline) -> dict[str, Json]:
    """Return the wire JSON of *storyline* without `turns` and residuals: the root element of carrier.md 1."""
    wire = to_wire(attrs.evolve(storyline, turns=[], unknown_fields={}))
    del wire["turns"]
    return wire


def root_from_wire(wire: dict[str, Json]) -> Storyline:
    """Return the Storyline without turns that a root element spells; raises as `from_wire`."""
    return from_wire({**wire, "turns": []})


def turn_from_wire(wire: Json) -> Turn:
    """Return the turn that *wire* spells.

    Raises:
        InvalidDocument: it is none; pointers are relative to the turn.
    """
    try:
        turn: Turn = _fast().structure(wire, Turn)
    except Exception:  # noqa: BLE001  # whatever it is, the detailed converter says it precisely
        raise InvalidDocument(list(_refusals(wire, Turn))) from None
    return turn


_DERIVED = frozenset({"schema_version", "unknown_key_counts"})
"""Root members that are no attributes: one value only, and derived."""


class _Refused(Exception):
    """A value that breaks a structural rule."""

    def __init__(self, rule: Rule, found: Json, expected: str | None = None) -> None:
        self.rule, self.found, self.expected = rule, found, expected
        super().__init__(rule.rule)


# Converters


@cache
def _fast() -> cattrs.Converter:
    return _converter(detailed=False)


@cache
def _detailed() -> cattrs.Converter:
    return _converter(detailed=True)


def _converter(*, detailed: bool) -> cattrs.Converter:
    converter = cattrs.Converter(detailed_validation=detailed)
    for primitive in (str, int, float, bool):
        converter.register_structure_hook(primitive, _exactly)
    converter.register_structure_hook_func(lambda kind: kind is Any, lambda value, _: value)
    converter.register_structure_hook_factory(_is_optional, partial(_optional_reader, converter))
    converter.register_structure_hook_func(
        lambda kind: kind == Timestamp | None, _structure_timestamp
    )
    converter.register_structure_hook_func(lambda kind: get_origin(kind) is dict, _exactly)
    converter.register_structure_hook_factory(
        lambda kind: get_origin(kind) is list, partial(_list_reader, converter)
    )
    converter.register_structure_hook_factory(attrs.has, partial(_reader, converter))
    converter.register_unstructure_hook_factory(attrs.has, partial(_writer, converter))
    converter.register_structure_hook(Parent, partial(_structure_parent, converter))
    converter.register_structure_hook(Task, partial(_structure_task, converter))
    converter.register_structure_hook(TaskResult, partial(_structure_result, converter))
    converter.register_structure_hook_func(
        lambda kind: kind == dict[str, Residuals], partial(_structure_unknown_fields, converter)
    )
    converter.register_unstructure_hook(TaskResult, _unstructure_result)
    converter.register_unstructure_hook(Prompt, _unstructure_prompt)
    return converter


def _wire_names(cls: type[attrs.AttrsInstance]) -> dict[str, str]:
    return {
        field.name: field.metadata.get("wire", field.name)
        for field in attrs.fields(cls)
        if field.eq is not False
    }


def _reader(
    converter: cattrs.Converter, cls: type[attrs.AttrsInstance]
) -> Callable[[Json, Any], Any]:
    attrs.resolve_types(cls)
    names = _wire_names(cls)
    overrides: dict[str, Any] = {
        field.name: override(rename=names[field.name])
        if field.name in names
        else override(omit=True)
        for field in attrs.fields(cls)
    }
    structure = make_dict_structure_fn(
        cls,
        converter,
        _cattrs_forbid_extra_keys=True,
        _cattrs_detailed_validation=converter.detailed_validation,
        **overrides,
    )

    def read(value: Json, kind: Any) -> Any:
        if type(value) is not dict:
            raise _Refused(rules.TYPE, value, "an object")
        return structure(value, kind)

    return read


def _list_reader(converter: cattrs.Converter, kind: Any) -> Callable[[Json, Any], Any]:
    sequence: Any = tuple.__class_getitem__((get_args(kind)[0], ...))
    structure = converter.get_structure_hook(sequence)

    def read(value: Json, _: Any) -> Any:
        if type(value) is not list:
            raise _Refused(rules.TYPE, value, "an array")
        return list(structure(value, sequence))

    return read


def _exactly(value: Json, kind: Any) -> Json:
    """Return *value* if its type is *kind*, without coercing."""
    kind = get_origin(kind) or kind
    if type(value) is not kind or (kind is int and value not in INTEGERS):
        raise _Refused(rules.TYPE, value, _TYPE_NAMES[kind])
    return value


_TYPE_NAMES = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "a boolean",
    dict: "an object",
}


def _is_optional(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType) and type(None) in get_args(kind)


def _optional_reader(converter: cattrs.Converter, kind: Any) -> Callable[[Json, Any], Any]:
    (inner,) = (one for one in get_args(kind) if one is not type(None))
    structure = converter.get_structure_hook(inner)
    return lambda value, _: None if value is None else structure(value, inner)


def _structure_timestamp(value: Json, _: Any) -> Json:
    if value is None or is_timestamp(value):
        return value
    raise _Refused(rules.TIME, value)


def _structure_parent(converter: cattrs.Converter, value: Json, kind: Any) -> Parent:
    if type(value) is dict and value.get("rel", MISSING) is None:
        value = {key: member for key, member in value.items() if key != "rel"}
    parent: Parent = _reader(converter, Parent)(value, kind)
    return parent


def _structure_task(converter: cattrs.Converter, value: Json, _: Any) -> Task:
    task: Task = _reader(converter, Task)(value, Task)
    # An object without a set member counts as absent: storyline.md 3.4.
    task.env = None if task.env == Env() else task.env
    task.llm = None if task.llm is not None and task.llm.k is None else task.llm
    task.result = None if task.result == TaskResult() else task.result
    return task


_RESULT_TYPES: dict[str, Any] = {
    name: Any for name in ("score", "max_score", "final_answer", "ground_truth", "artifacts")
} | {"correct": bool, "status": str, "error": str}


def _structure_result(converter: cattrs.Converter, value: Json, kind: Any) -> TaskResult:
    if type(value) is not dict:
        raise _Refused(rules.TYPE, value, "an object")
    body = {
        key: member
        for key, member in value.items()
        if key in _RESULT_TYPES and not _is_blank(member)
    }
    result: TaskResult = _reader(converter, TaskResult)(body, kind)
    result.extras = {
        key: member
        for key, member in value.items()
        if key not in _RESULT_TYPES and member is not None
    }
    return result


def _is_blank(value: Json) -> bool:
    """Tell whether a typed member of `task.result` means absent: `null`, `""`, `{}`."""
    return value is None or (type(value) in (str, dict) and not value)


def _structure_unknown_fields(
    converter: cattrs.Converter, value: Json, _: Any
) -> dict[str, Residuals]:
    if value is None:
        return {}
    if type(value) is not dict:
        raise _Refused(rules.TYPE, value, "an object")
    sources: _Sources = _reader(converter, _Sources)(value, _Sources)
    return {name: residuals for name, residuals in sources.sources.items() if residuals.fields}


@attrs.define(kw_only=True)
class _Sources:
    """`unknown_fields` as it stands on the wire."""

    sources: Mapping[str, Residuals]


def _writer(
    converter: cattrs.Converter, cls: type[attrs.AttrsInstance]
) -> Callable[[Any], dict[str, Json]]:
    attrs.resolve_types(cls)
    overrides: dict[str, Any] = {}
    for field in attrs.fields(cls):
        wire = field.metadata.get("wire", field.name)
        hook = _unstructurer(converter, field.type)
        overrides[field.name] = override(
            rename=wire,
            omit=field.eq is False or None,
            omit_if_default=field.default is not attrs.NOTHING,
            unstruct_hook=hook,
        )
    return make_dict_unstructure_fn(cls, converter, **overrides)


def _unstructurer(converter: cattrs.Converter, kind: Any) -> Callable[[Any], Any]:
    """Return how an attribute of type *kind* is written: everything but attrs classes by reference."""
    if kind == dict[str, Residuals]:
        return _unstructure_unknown_fields
    if _is_optional(kind):
        inner = [one for one in get_args(kind) if one is not type(None)]
        if len(inner) > 1 or _unstructurer(converter, inner[0]) is identity:
            return identity
        write = _unstructurer(converter, inner[0])
        return lambda value: None if value is None else write(value)
    if get_origin(kind) is list and attrs.has(get_args(kind)[0]):
        each = converter.get_unstructure_hook(get_args(kind)[0])
        return lambda values: [each(value) for value in values]
    return converter.get_unstructure_hook(kind) if attrs.has(kind) else identity


def _unstructure_unknown_fields(value: dict[str, Residuals]) -> Json:
    return {
        "sources": {
            name: {
                "source_document_id": residuals.source_document_id,
                "fields": residuals.fields,
            }
            for name, residuals in value.items()
        }
    }


def _unstructure_result(result: TaskResult) -> dict[str, Json]:
    members = {key: getattr(result, key) for key in _RESULT_TYPES}
    wire = {key: value for key, value in members.items() if not _is_blank(value)}
    wire.update((key, value) for key, value in result.extras.items() if value is not None)
    return wire


def _unstructure_prompt(prompt: Prompt) -> dict[str, str]:
    members = {"system": prompt.system, "user": prompt.user}
    if members == {"system": "", "user": ""}:
        return {"system": "", "user": ""}
    return {key: text for key, text in members.items() if text}


# Errors


def _structural_problems(data: dict[str, Json], body: dict[str, Json]) -> Iterator[Problem]:
    """Yield what the detailed converter finds wrong in *body*, the root object *data* without derived members."""
    if type(version := data.get("schema_version", MISSING)) is not str:
        rule = rules.REQUIRED if version in (MISSING, None) else rules.TYPE
        yield rule.at("/schema_version", version, expected=f'"{SCHEMA_VERSION}"')
    yield from _refusals(body, Storyline)


def _refusals(value: Json, kind: type[Any]) -> Iterator[Problem]:
    """Yield what the detailed converter finds wrong in *value*."""
    try:
        _detailed().structure(value, kind)
    except Exception as error:  # noqa: BLE001  # every kind is translated below
        yield from _problems(error, "", value, kind)


def _problems(error: BaseException, pointer: str, value: Json, kind: Any) -> Iterator[Problem]:
    """Translate what the detailed converter raised for *value* at *pointer* into problems."""
    if isinstance(error, _Refused):
        yield error.rule.at(pointer, error.found, expected=error.expected)
    elif isinstance(error, ForbiddenExtraKeysError):
        for key in sorted(error.extra_fields):
            member = value.get(key, MISSING) if isinstance(value, dict) else MISSING
            yield rules.UNKNOWN_KEY.at(f"{pointer}/{pointers.escape(key)}", member)
    elif isinstance(error, ClassValidationError):
        with_notes, without_notes = error.group_exceptions()
        for inner, attribute in with_notes:
            name = _wire_names(error.cl).get(attribute.name, attribute.name)
            at = f"{pointer}/{pointers.escape(name)}"
            if isinstance(inner, KeyError):
                yield rules.REQUIRED.at(at)
            else:
                member = value.get(name, MISSING) if isinstance(value, dict) else MISSING
                yield from _problems(inner, at, member, attribute.type)
        for inner in without_notes:
            yield from _problems(inner, pointer, value, kind)
    elif isinstance(error, IterableValidationError):
        with_index, without_index = error.group_exceptions()
        for inner, note in with_index:
            key: Any = note.index
            member = value[key] if isinstance(value, list | dict) else MISSING
            at = f"{pointer}/{pointers.escape(key)}"
            yield from _problems(inner, at, member, note.type)
        for inner in without_index:
            yield from _problems(inner, pointer, value, kind)
    else:
        yield rules.TYPE.at(pointer, value)
