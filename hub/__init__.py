"""The format hub for AI-agent trajectories.

    import hub

    hub.detect("run.json").format                     # "actf", with confidence and reason
    for storyline in hub.read("run.json"):            # Storylines, whatever the format
        print(storyline.session_id, len(storyline.turns))
    hub.convert("run.json", "run.ale.json", to="ale")
    hub.write(storylines, "run.actf.json", to="actf")
    hub.convert_many(["runs/"], "out/", to="ale")     # of each file what became of it
    hub.validate("run.json").problems                 # each with pointer, rule, severity
    list(hub.formats)                                 # ["actf", "ale", "storyline"]

A format is a plugin: a module with the hooks of `hub.hookspecs`, marked with `hookimpl`. Plugins need no other module.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hub import commands as commands
    from hub import pointer as pointer
    from hub.api import Conversion as Conversion
    from hub.api import Validation as Validation
    from hub.api import compare as compare
    from hub.api import convert as convert
    from hub.api import detect as detect
    from hub.api import formats as formats
    from hub.api import measure as measure
    from hub.api import read as read
    from hub.api import validate as validate
    from hub.api import write as write
    from hub.api import write_batches as write_batches
    from hub.batch.counting import Measures as Measures
    from hub.batch.outcome import Outcome as Outcome
    from hub.batch.running import convert_many as convert_many
    from hub.batch.running import count_many as count_many
    from hub.batch.running import read_many as read_many
    from hub.batch.running import validate_many as validate_many
    from hub.codec import from_wire as from_wire
    from hub.errors import MISSING as MISSING
    from hub.errors import FormatError as FormatError
    from hub.errors import HubError as HubError
    from hub.errors import InvalidDocument as InvalidDocument
    from hub.errors import Json as Json
    from hub.errors import PluginError as PluginError
    from hub.errors import Problem as Problem
    from hub.errors import Rule as Rule
    from hub.errors import UnsupportedVersion as UnsupportedVersion
    from hub.errors import UsageError as UsageError
    from hub.errors import show as show
    from hub.hookspecs import Detection as Detection
    from hub.hookspecs import FormatInfo as FormatInfo
    from hub.hookspecs import Option as Option
    from hub.hookspecs import Sample as Sample
    from hub.hookspecs import hookimpl as hookimpl
    from hub.json import ExactNumber as ExactNumber
    from hub.json import are_compact as are_compact
    from hub.json import canonical as canonical
    from hub.json import canonical_pieces as canonical_pieces
    from hub.json import compact as compact
    from hub.json import dumps as dumps
    from hub.json import fingerprint as fingerprint
    from hub.json import loads as loads
    from hub.json import value_of_text as value_of_text
    from hub.json import values_of_texts as values_of_texts
    from hub.limits import Limits as Limits
    from hub.reading import Document as Document
    from hub.reading import Record as Record
    from hub.residuals import PLACEHOLDER as PLACEHOLDER
    from hub.residuals import add_residuals as add_residuals
    from hub.residuals import equal as equal
    from hub.residuals import is_derived as is_derived
    from hub.residuals import merge as merge
    from hub.residuals import restore as restore
    from hub.shapes import Deviation as Deviation
    from hub.shapes import Shape as Shape
    from hub.source import Source as Source
    from hub.storyline.calls import INTEGERS as INTEGERS
    from hub.storyline.calls import CallIndex as CallIndex
    from hub.storyline.calls import is_integer as is_integer
    from hub.storyline.calls import turn_ids as turn_ids
    from hub.storyline.calls import unique_call_ids as unique_call_ids
    from hub.storyline.content import Part as Part
    from hub.storyline.content import media_type_of as media_type_of
    from hub.storyline.content import part as part
    from hub.storyline.content import parts as parts
    from hub.storyline.content import text_of as text_of
    from hub.storyline.conversation import document_prompt_turns as document_prompt_turns
    from hub.storyline.conversation import effective_env as effective_env
    from hub.storyline.conversation import effective_kind as effective_kind
    from hub.storyline.conversation import effective_prompt as effective_prompt
    from hub.storyline.conversation import observed_results as observed_results
    from hub.storyline.conversation import turn_prompt_turns as turn_prompt_turns
    from hub.storyline.conversation import visible_results as visible_results
    from hub.storyline.families import Families as Families
    from hub.storyline.families import Member as Member
    from hub.storyline.families import families as families
    from hub.storyline.identity import with_unique_ids as with_unique_ids
    from hub.storyline.model import Agent as Agent
    from hub.storyline.model import Env as Env
    from hub.storyline.model import Llm as Llm
    from hub.storyline.model import Origin as Origin
    from hub.storyline.model import Parent as Parent
    from hub.storyline.model import Prompt as Prompt
    from hub.storyline.model import Residuals as Residuals
    from hub.storyline.model import Response as Response
    from hub.storyline.model import Storyline as Storyline
    from hub.storyline.model import Task as Task
    from hub.storyline.model import TaskResult as TaskResult
    from hub.storyline.model import ToolCall as ToolCall
    from hub.storyline.model import Turn as Turn
    from hub.storyline.times import are_timestamps as are_timestamps
    from hub.storyline.times import instant as instant
    from hub.storyline.times import is_timestamp as is_timestamp
    from hub.storyline.times import time_layouts as time_layouts
    from hub.storyline.times import utc_text as utc_text
    from hub.storyline.usage import cached_tokens as cached_tokens
    from hub.storyline.usage import completion_tokens as completion_tokens
    from hub.storyline.usage import cost_usd as cost_usd
    from hub.storyline.usage import duration_ms as duration_ms
    from hub.storyline.usage import prompt_tokens as prompt_tokens
    from hub.wire import to_wire as to_wire
    from hub.writing import WriteOptions as WriteOptions

_HOMES = {
    "hub.api": (
        "Conversion",
        "Validation",
        "convert",
        "measure",
        "compare",
        "detect",
        "formats",
        "read",
        "validate",
        "write",
        "write_batches",
    ),
    "hub.batch.counting": ("Measures",),
    "hub.batch.outcome": ("Outcome",),
    "hub.batch.running": ("convert_many", "count_many", "read_many", "validate_many"),
    "hub.codec": ("from_wire",),
    "hub.wire": ("to_wire",),
    "hub.errors": (
        "MISSING",
        "FormatError",
        "HubError",
        "InvalidDocument",
        "Json",
        "PluginError",
        "Problem",
        "Rule",
        "UnsupportedVersion",
        "UsageError",
        "show",
    ),
    "hub.hookspecs": ("Detection", "FormatInfo", "Option", "Sample", "hookimpl"),
    "hub.json": (
        "ExactNumber",
        "are_compact",
        "canonical",
        "canonical_pieces",
        "compact",
        "dumps",
        "fingerprint",
        "loads",
        "value_of_text",
        "values_of_texts",
    ),
    "hub.limits": ("Limits",),
    "hub.reading": ("Document", "Record"),
    "hub.residuals": (
        "PLACEHOLDER",
        "add_residuals",
        "equal",
        "is_derived",
        "merge",
        "restore",
    ),
    "hub.shapes": ("Deviation", "Shape"),
    "hub.source": ("Source",),
    "hub.storyline.calls": ("INTEGERS", "CallIndex", "is_integer", "turn_ids", "unique_call_ids"),
    "hub.storyline.content": ("Part", "media_type_of", "part", "parts", "text_of"),
    "hub.storyline.conversation": (
        "document_prompt_turns",
        "effective_env",
        "effective_kind",
        "effective_prompt",
        "observed_results",
        "turn_prompt_turns",
        "visible_results",
    ),
    "hub.storyline.families": ("Families", "Member", "families"),
    "hub.storyline.identity": ("with_unique_ids",),
    "hub.storyline.model": (
        "Agent",
        "Env",
        "Llm",
        "Origin",
        "Parent",
        "Prompt",
        "Residuals",
        "Response",
        "Storyline",
        "Task",
        "TaskResult",
        "ToolCall",
        "Turn",
    ),
    "hub.storyline.times": (
        "are_timestamps",
        "instant",
        "is_timestamp",
        "time_layouts",
        "utc_text",
    ),
    "hub.storyline.usage": (
        "cached_tokens",
        "completion_tokens",
        "cost_usd",
        "duration_ms",
        "prompt_tokens",
    ),
    "hub.writing": ("WriteOptions",),
}
"""Where each public name lives; a module is imported when one of its names is first used."""

_MODULES = {"commands": "hub.commands", "pointer": "hub.pointer"}
"""Public modules: `pointer.join(...)` says more than `join(...)`."""

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__version__ = "0.1.0"
__all__ = sorted({*_HOME_OF, *_MODULES})  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'hub' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
