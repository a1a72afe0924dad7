"""The hook implementations of OpenAI Messages; what they need is imported when they are called.

Source: openai-messages.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from hub import Detection, FormatInfo, Json, Option, Rule, Sample, hookimpl

if TYPE_CHECKING:
    from hub import Document, Source, Storyline, WriteOptions
    from hub_openai_messages.documents import Parsed


@hookimpl
def format_info() -> FormatInfo:
    """Describe the format."""
    return FormatInfo(
        id="openai-messages",
        title="OpenAI Messages: training rows, chats, fine-tuning lines",
        reads=("rows", "chat"),
        writes=("rows", "chat"),
        aliases=("openai-msg",),
        source_name="openai-msg",
        suffixes=(".openai.json", "session_steps.json"),
        nodes=("/session_steps/*", "/*"),
        envelope=("/_storyline",),
        gathers=True,
        options=(
            Option(
                "contiguous",
                "a session ends where another one begins, so that JSON Lines of any size are read in bounded memory",
                "read",
                ("no", "yes"),
            ),
            Option(
                "variant",
                "auto: what was read from chats as chats, anything else as rows; chat-jsonl: a line each",
                choices=("auto", "rows", "chat", "chat-jsonl"),
            ),
            Option(
                "history",
                "rows: messages hold the whole conversation so far, or what is new; auto: as it was read, else new",
                choices=("auto", "full", "new"),
            ),
            Option(
                "arguments",
                "of calls: the API's JSON text, or an object",
                choices=("string", "object"),
            ),
            Option(
                "null-content",
                "an assistant message without text has null, or an empty text",
                choices=("keep", "empty"),
            ),
            Option("tools", "tool definitions at the root of a chat", choices=("yes", "no")),
            Option(
                "reasoning",
                "reasoning_content, which the API does not know; auto: as it was read, and in rows",
                choices=("auto", "yes", "no"),
            ),
        ),
    )


@hookimpl
def rules() -> Iterable[Rule]:
    """Name every rule of the format."""
    from hub_openai_messages.rules import RULES

    return RULES


@hookimpl
def detect(sample: Sample) -> Detection | None:
    """Answer by the members of rows, or by messages with roles."""
    from hub_openai_messages.detection import detect_sample

    return detect_sample(sample)


@hookimpl
def parse(source: Source) -> Iterator[Document[Parsed]]:
    """Yield the rows of the input as one document, each object with `session_steps` and each chat as another."""
    from hub_openai_messages.parsing import parse_source

    return parse_source(source)


@hookimpl
def to_storyline(document: Document[Parsed]) -> Iterator[Storyline]:
    """Yield one Storyline a session, or that of a chat."""
    from hub_openai_messages.documents import Chat

    if isinstance(document.value, Chat):
        from hub_openai_messages.chat_reading import storyline_from_chat

        yield storyline_from_chat(document, document.value)
    else:
        from hub_openai_messages.row_reading import storylines_from_rows

        yield from storylines_from_rows(document, document.value)


@hookimpl
def from_storyline(storylines: Iterable[Storyline], options: WriteOptions) -> Iterator[Json]:
    """Yield the documents that *storylines* make: rows by document, chats one by one."""
    from hub_openai_messages.writing import documents_from_storylines

    return documents_from_storylines(storylines, options)
