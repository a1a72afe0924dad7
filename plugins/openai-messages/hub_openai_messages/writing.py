"""Writing: which Storylines are written as rows and which as chats, and what forms one document.

Source: openai-messages.md, write options, A8 and B5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hub import Json, Storyline, WriteOptions
from hub_openai_messages.chat_writing import documents_from_chats
from hub_openai_messages.model import CHAT, SOURCE
from hub_openai_messages.row_writing import document_from_group


def documents_from_storylines(
    storylines: Iterable[Storyline], options: WriteOptions
) -> Iterator[Json]:
    """Yield the documents that *storylines* make."""
    found = list(storylines)
    variant = options.options.get("variant", "auto")
    if variant == "auto":
        variant = "auto-chat" if found and all(map(is_from_chat, found)) else "rows"
    if variant != "rows":
        yield from documents_from_chats(found, options, variant)
        return
    for group, restored in groups(found, conform=options.conform):
        yield document_from_group(group, options, restored=restored)


def is_from_chat(storyline: Storyline) -> bool:
    """Tell whether *storyline* was read from a chat."""
    origin = storyline.origin
    tag = None if origin is None else origin.schema_version
    return storyline.is_from(SOURCE) and tag is not None and tag.startswith(CHAT)


def groups(storylines: Sequence[Storyline], *, conform: bool) -> list[tuple[list[Storyline], bool]]:
    """Return the Storylines of each document of rows, and whether they are restored.

    Those that were read from one document are together again; all others are one more.
    """
    found: dict[str | None, list[Storyline]] = {}
    for storyline in storylines:
        found.setdefault(_document_id(storyline, conform=conform), []).append(storyline)
    return [(group, key is not None) for key, group in found.items()]


def _document_id(storyline: Storyline, *, conform: bool) -> str | None:
    """Return the document that *storyline* goes back to; None if it goes to a new one."""
    if conform or not storyline.is_from(SOURCE) or is_from_chat(storyline):
        return None
    residuals = storyline.unknown_fields.get(SOURCE)
    if residuals is not None and residuals.fields:
        return residuals.source_document_id
    origin = storyline.origin
    return (origin.document_id if origin is not None else None) or ""
