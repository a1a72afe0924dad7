"""The carrier: what a document cannot hold of a Storyline travels in its envelope. Source: carrier.md."""

from __future__ import annotations

from collections.abc import Sequence

from hub.envelope import Opened, attach
from hub.errors import Json, Problem
from hub.hookspecs import FormatInfo
from hub.registry import Format
from hub.storyline.model import Storyline
from hub.writing import WriteOptions


def open_into(storylines: Sequence[Storyline], opened: Opened, info: FormatInfo) -> list[Problem]:
    return attach(opened, storylines, info)


def seal(format: Format, storylines: Sequence[Storyline], documents: list[Json | bytes], options: WriteOptions) -> None:
    pass
