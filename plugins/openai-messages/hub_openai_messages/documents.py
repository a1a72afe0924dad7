"""Documents: what parsing hands to the mapping, rows by session or a chat.

Source: openai-messages.md A1, A2, B1 and B2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hub import Json
from hub_openai_messages.calls import SourceCall


class Session(NamedTuple):
    """The rows of one session, in the order of their steps."""

    session_id: str
    rows: Sequence[dict[str, Json]]
    indices: Sequence[int]
    """Where each row stands in the input."""
    numbers: Sequence[int]
    """The step number of each row."""
    replaced: Sequence[int]
    """Ranks of the rows whose `step_id` is there and is not that number."""


class Corpus(NamedTuple):
    """Rows that form one document."""

    document_id: str
    sessions: Sequence[Session]
    root: Mapping[str, Json]
    """Members beside `session_steps`."""
    nodes: str
    """Pointer of the array of rows, as envelopes name it."""


class Chat(NamedTuple):
    """One conversation."""

    document_id: str
    tag: str
    """Its container: `chat/object` and the like."""
    value: dict[str, Json]
    """The conversation object; of an array, one with its messages."""
    calls: Mapping[int, Sequence[SourceCall]] = {}
    """The calls of each message that makes some, by its index."""

    @property
    def messages(self) -> list[dict[str, Json]]:
        """The messages."""
        messages: list[dict[str, Json]] = self.value["messages"]
        return messages


Parsed = Corpus | Chat
