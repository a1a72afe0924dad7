"""The format hub for AI-agent trajectories.

    import hub

    hub.detect("run.json")                       # Detection: format, confidence, reason
    for storyline in hub.read("run.json"):       # Storylines, whatever the format
        print(storyline.session_id, len(storyline.turns))
    hub.convert("run.json", to="ale", output="run.ale.json")
    hub.write(storylines, "run.actf.json", to="actf")
    hub.validate("run.json")                     # every problem, each with pointer and rule
    hub.formats()                                # what is installed

A format is a plugin: a module with the hooks of `hub.hookspecs`, marked with `hookimpl`. Everything a plugin needs is here.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hub.errors import MISSING as MISSING
    from hub.errors import FormatError as FormatError
    from hub.errors import HubError as HubError
    from hub.errors import InvalidDocument as InvalidDocument
    from hub.errors import Json as Json
    from hub.errors import PluginError as PluginError
    from hub.errors import Problem as Problem
    from hub.errors import Rule as Rule
    from hub.errors import UsageError as UsageError
    from hub.hookspecs import Detection as Detection
    from hub.hookspecs import FormatInfo as FormatInfo
    from hub.hookspecs import Option as Option
    from hub.hookspecs import Sample as Sample
    from hub.hookspecs import hookimpl as hookimpl
    from hub.reading import Document as Document
    from hub.reading import Record as Record
    from hub.shapes import Shape as Shape
    from hub.source import Source as Source
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
    from hub.writing import WriteOptions as WriteOptions

_HOMES = {
    "hub.errors": (
        "MISSING",
        "FormatError",
        "HubError",
        "InvalidDocument",
        "Json",
        "PluginError",
        "Problem",
        "Rule",
        "UsageError",
    ),
    "hub.hookspecs": ("Detection", "FormatInfo", "Option", "Sample", "hookimpl"),
    "hub.reading": ("Document", "Record"),
    "hub.shapes": ("Shape",),
    "hub.source": ("Source",),
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
    "hub.writing": ("WriteOptions",),
}
"""Where each public name lives; a module is imported when one of its names is first used."""

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__version__ = "0.1.0"
__all__ = sorted(_HOME_OF)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'hub' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})
