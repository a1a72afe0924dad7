"""Short builders of rows and chats, and what tests do with them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hub_openai_messages import plugin

from hub import Document, Json, Source, Storyline, WriteOptions
from hub.testing import from_wire, to_wire

NAME = "x.json"
Q = {"id": 1, "kind": "llm.request", "src": "user", "msg": "q"}


def u(content: Json) -> dict[str, Json]:
    """Return a message of a user."""
    return {"role": "user", "content": content}


def a(content: Json, **members: Json) -> dict[str, Json]:
    """Return a message of an assistant."""
    return {"role": "assistant", "content": content, **members}


def tc(id_: str, arguments: Json = "{}", name: str = "f") -> dict[str, Json]:
    """Return a call."""
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def tool(id_: str, content: Json, **members: Json) -> dict[str, Json]:
    """Return what came back to a call."""
    return {"role": "tool", "tool_call_id": id_, "content": content, **members}


def row(**members: Json) -> dict[str, Json]:
    """Return a row, some *members* replaced."""
    return {"session_id": "s", "step_id": 1, "messages": [u("q")], **members}


def answer(content: Json = None, **members: Json) -> dict[str, Json]:
    """Return an agent's turn."""
    return {"id": 2, "kind": "llm.response", "src": "agent", "msg": content, "nllm": 1, **members}


def call(id_: str, arguments: Json, name: str = "f", **members: Json) -> dict[str, Json]:
    """Return a call of a turn."""
    return {"tcid": id_, "fn": name, "args": arguments, **members}


def result(id_: str, content: Json) -> dict[str, Json]:
    """Return a result of a turn."""
    return {"source_call_id": id_, "content": content}


def lines(*records: Json) -> bytes:
    """Return JSON Lines."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def parse(
    *records: Json, text: bytes | None = None, name: str = NAME, **options: str
) -> list[Document[Any]]:
    """Return the documents of one value, of lines of several, or of a *text*; envelopes are left where they are."""
    data = text
    if data is None:
        data = json.dumps(records[0]).encode() if len(records) == 1 else lines(*records)
    return list(plugin.parse(Source(data, name=name, options=options)))


def parse_one(*records: Json, **settings: Any) -> Document[Any]:
    """Return the only document of an input."""
    (document,) = parse(*records, **settings)
    return document


def read(*records: Json, **settings: Any) -> list[Storyline]:
    """Return the Storylines of an input."""
    return [
        one for document in parse(*records, **settings) for one in plugin.to_storyline(document)
    ]


def read_one(*records: Json, **settings: Any) -> dict[str, Json]:
    """Return the only Storyline of an input as wire JSON, without what is derived."""
    (storyline,) = read(*records, **settings)
    wire = to_wire(storyline)
    wire.pop("unknown_key_counts", None)
    return wire


def turns(*records: Json, **settings: Any) -> Json:
    """Return the turns of the only Storyline."""
    return read_one(*records, **settings)["turns"]


def fields(*records: Json, **settings: Any) -> dict[str, Json]:
    """Return the residuals of the only Storyline."""
    unknown = read_one(*records, **settings).get("unknown_fields", {"sources": {}})
    found: dict[str, Json] = unknown["sources"].get("openai-msg", {"fields": {}})["fields"]
    return found


def problems(*records: Json, **settings: Any) -> list[tuple[str, str, str]]:
    """Return severity, rule and place of what is found in an input, by parsing and by mapping."""
    found: list[tuple[str, str, str]] = []
    for document in parse(*records, **settings):
        if not document.is_fatal:
            list(plugin.to_storyline(document))
        found += [(one.severity, one.rule, one.pointer) for one in document.problems]
    return found


def write(
    storylines: Sequence[Storyline], settings: WriteOptions | None = None, **options: str
) -> list[Json]:
    """Return the documents that *storylines* become."""
    given = {key.replace("_", "-"): value for key, value in options.items()}
    settings = settings or WriteOptions(options=given)
    return list(plugin.from_storyline(storylines, settings))


def written(*records: Json, **options: str) -> Json:
    """Return the only document that an input becomes when it is written again."""
    (document,) = write(read(*records), None, **options)
    return document


def rows_of(*records: Json, **options: str) -> Json:
    """Return the rows that an input becomes when it is written again."""
    return written(*records, **options)["session_steps"]


def storyline(*turns: Json, **members: Json) -> Storyline:
    """Return a Storyline of another format."""
    return from_wire(
        {
            "schema_version": "storyline/v1",
            "session": "s",
            "agent": {"id": "a"},
            "turns": list(turns),
            **members,
        }
    )
