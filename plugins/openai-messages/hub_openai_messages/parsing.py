"""Parsing: which records are rows, objects of rows, chats or messages, and what forms one document.

Nothing is changed or copied. Here is what is fatal; what else is wrong is found where it is read.

Source: openai-messages.md A1, A2, B1 and B2; validation.md 8.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hub import MISSING, Document, Json, Problem, Record, Source, is_integer
from hub_openai_messages import rules
from hub_openai_messages.calls import calls_of_chat
from hub_openai_messages.documents import Chat, Corpus, Parsed, Session
from hub_openai_messages.model import ARRAY, LINES, LIST, OBJECT
from hub_openai_messages.values import is_text

STANDARD_INPUT = "stdin.json"

Found = Document[Parsed]


def parse_source(source: Source) -> Iterator[Found]:
    """Yield the documents of *source*: rows together, each object with `session_steps` and each chat by itself.

    What is by itself is yielded as it comes; rows are when all are there, or with `contiguous` when their session is.
    """
    rows = _Sessions() if source.options.get("contiguous") == "yes" else _Rows()
    messages: list[Record] = []
    for record in source.records():
        kind = "message" if messages else _kind(record, are_rows=bool(rows.seen))
        if kind == "rows":
            yield corpus_of_object(record)
        elif kind == "chat":
            yield chat_of_object(record)
        elif kind == "message":
            messages.append(record)
        else:
            yield from rows.add(record)
    yield from rows.end()
    if messages:
        yield chat_of_array(messages)


def _kind(record: Record, *, are_rows: bool) -> str:
    """Return what *record* is: `rows`, `row`, `chat` or `message`; *are_rows*: those before it were rows."""
    value = record.value
    if type(value) is not dict:
        return "chat"
    if "session_steps" in value:
        return "rows"
    if are_rows or ("session_id" in value and "step_id" in value):
        return "row"
    if "messages" in value:
        return "chat" if type(value["messages"]) is list or "response" not in value else "row"
    if "response" in value or "step_id" in value or "session_id" in value:
        return "row"
    is_message = type(value.get("role")) is str and record.place.startswith("element")
    return "message" if is_message else "chat"


def document_id(record: Record) -> str:
    """Return the id of the document of *record*: the path, and for one of many its place: openai-messages.md B2."""
    path = path_of(record)
    unit, _, number = record.place.partition(" ")
    if unit == "element":
        return f"{path}#{int(number) - 1}"
    return f"{path}#{number}" if number else path


def path_of(record: Record) -> str:
    """Return the path of the input with `/`; of one that is not below the working directory, its name."""
    if record.name is None:
        return STANDARD_INPUT
    parts = [part for part in record.name.replace("\\", "/").split("/") if part not in ("", ".")]
    is_below = record.name[:1] not in ("/", "\\") and ".." not in parts and ":" not in parts[0]
    return "/".join(parts if is_below else parts[-1:]) or STANDARD_INPUT


# Chats: openai-messages.md B1


def chat_of_object(record: Record) -> Found:
    """Return the document of an object with `messages`."""
    value = record.value
    tag = LINES if record.place.startswith("line") else LIST if record.place else OBJECT
    document: Found = Document(Chat(document_id(record), tag, value), record=record)
    messages = value.get("messages") if type(value) is dict else None
    if type(messages) is not list:
        document.report(rules.MESSAGES.at("/messages", messages))
        return document
    return _checked(document)


def chat_of_array(records: Sequence[Record]) -> Found:
    """Return the document of an array of messages."""
    first = records[0]
    value = {"messages": [record.value for record in records]}
    whole = _combined(records, value, "/messages")
    return _checked(Document(Chat(path_of(first), ARRAY, value), record=whole))


def _checked(document: Found) -> Found:
    """Look at the messages of a chat, and read its calls."""
    chat = document.value
    assert isinstance(chat, Chat)  # noqa: S101  # what was just put there
    messages: Sequence[Json] = chat.messages
    strange = [index for index, one in enumerate(messages) if type(one) is not dict]
    for index in strange:
        place = f"/messages/{index}"
        document.report(rules.MESSAGES.at(place, messages[index], expected="an object"))
    if not strange:
        calls = calls_of_chat(messages)
        document.value = chat._replace(calls=calls)
        document.problems.extend(rules.chat(messages, calls))
    return document


def _combined(records: Sequence[Record], value: Json, at: str) -> Record:
    """Return the record of a document that is made of *records*, which are at *at* of it."""
    first = records[0]
    envelopes = [
        envelope._replace(
            holder=f"{at}/{index}{envelope.holder}", place=f"{at}/{index}{envelope.place}"
        )
        for index, record in enumerate(records)
        for envelope in record.envelopes
    ]
    return Record(value, "", first.index, first.zone, first.options, first.name, envelopes)


# Rows: openai-messages.md A1 and A2


def corpus_of_object(record: Record) -> Found:
    """Return the document of an object with `session_steps`."""
    value = record.value
    rows = value["session_steps"]
    document: Found = Document(Corpus(document_id(record), (), {}, ""), record=record)
    if type(rows) is not list or not rows:
        document.report(rules.ROWS.at("/session_steps", rows))
        return document
    for index, row in enumerate(rows):
        document.problems.extend(_row_problems(row, index))
    if not document.is_fatal:
        root = {key: member for key, member in value.items() if key != "session_steps"}
        found = sessions(document, list(enumerate(rows)))
        document.value = Corpus(document_id(record), found, root, "/session_steps")
    return document


def _row_problems(row: Json, index: int) -> Iterator[Problem]:
    at = f"/session_steps/{index}"
    if type(row) is not dict:
        yield rules.ROW.at(at, row)
    elif not is_text(row.get("session_id")):
        yield rules.SESSION_ID.at(f"{at}/session_id", row.get("session_id", MISSING))


class _Rows:
    """Rows of the input that are no part of an object: one document."""

    def __init__(self) -> None:
        self.seen = 0
        self._records: list[Record] = []

    def add(self, record: Record) -> Iterator[Found]:
        """Take one more row; yield what is complete, or cannot be read."""
        index = self.seen
        self.seen += 1
        problems = list(_row_problems(record.value, index))
        if problems:
            broken: Found = Document(
                Corpus(path_of(record), (), {}, ""), record=record, problems=problems
            )
            yield broken
        else:
            yield from self._take(record, index)

    def _take(self, record: Record, index: int) -> Iterator[Found]:
        del index  # places in the document are those among the rows that can be read
        self._records.append(record)
        yield from ()

    def end(self) -> Iterator[Found]:
        """Yield what is left."""
        if self._records:
            yield self._document()

    def _document(self) -> Found:
        records, self._records = self._records, []
        rows = [record.value for record in records]
        whole = _combined(records, {"session_steps": rows}, "")
        path = path_of(records[0])
        document: Found = Document(Corpus(path, (), {}, ""), record=whole)
        document.value = Corpus(path, sessions(document, list(enumerate(rows))), {}, "")
        return document


class _Sessions(_Rows):
    """Rows of which each session is a document, as soon as another one begins."""

    def __init__(self) -> None:
        super().__init__()
        self._closed: set[str] = set()
        self._session: str | None = None

    def _take(self, record: Record, index: int) -> Iterator[Found]:
        session = record.value["session_id"]
        if session in self._closed:
            message = "the session comes back after another one; read without contiguous=yes"
            place = f"/session_steps/{index}/session_id"
            problem = rules.SESSION_REOPENED.at(place, session, message=message)
            reopened: Found = Document(
                Corpus(path_of(record), (), {}, ""), record=record, problems=[problem]
            )
            yield reopened
            return
        if self._records and session != self._session:
            self._closed.add(self._session or "")
            yield self._document()
        self._session = session
        self._records.append(record)


def sessions(document: Found, rows: Sequence[tuple[int, dict[str, Json]]]) -> list[Session]:
    """Return *rows*, with their places in the input, by session and in step order."""
    groups: dict[str, list[tuple[int, dict[str, Json]]]] = {}
    interleaved: dict[str, int] = {}
    previous = None
    for index, row in rows:
        session_id = row["session_id"]
        group = groups.get(session_id)
        if group is None:
            group = groups[session_id] = []
        elif session_id != previous:
            interleaved.setdefault(session_id, index)
        group.append((index, row))
        previous = session_id
    return [
        _session(document, session_id, group, interleaved.get(session_id))
        for session_id, group in groups.items()
    ]


def _session(
    document: Found,
    session_id: str,
    group: Sequence[tuple[int, dict[str, Json]]],
    interleaved: int | None,
) -> Session:
    ids: list[Json] = [row.get("step_id", MISSING) for _, row in group]
    usable = [_is_step_id(one) for one in ids]
    if all(usable) and len(set(ids)) == len(ids):
        order = sorted(range(len(ids)), key=ids.__getitem__)
        numbers: list[int] = [ids[at] for at in order]
        replaced: list[int] = []
    else:
        order, numbers = list(range(len(ids))), list(range(1, len(ids) + 1))
        replaced = [
            at
            for at, one in enumerate(ids)
            if one is not MISSING and not (type(one) is int and one == at + 1)
        ]
        _report_step_ids(document, group, ids, usable)
    unsorted = next((at for at, rank in enumerate(order) if at != rank), None)
    if interleaved is not None or unsorted is not None:
        index = interleaved if unsorted is None else group[unsorted][0]
        message = (
            "rows are not in step order, or sessions are interleaved: sorted by session and step"
        )
        document.report(rules.ROW_ORDER.at(f"/session_steps/{index}", message=message))
    return Session(
        session_id,
        [group[at][1] for at in order],
        [group[at][0] for at in order],
        numbers,
        replaced,
    )


GREATEST_STEP_ID = 2**61
"""Twice that, and the turns before it, is still an integer of 64 bits: openai-messages.md A4."""


def _is_step_id(value: Json) -> bool:
    return is_integer(value) and 1 <= value <= GREATEST_STEP_ID


def _report_step_ids(
    document: Found,
    group: Sequence[tuple[int, Mapping[str, Json]]],
    ids: Sequence[Json],
    usable: Sequence[bool],
) -> None:
    seen: set[int] = set()
    for (index, _), step_id, is_usable in zip(group, ids, usable, strict=True):
        if not is_usable or step_id in seen:
            document.report(rules.STEP_ID.at(f"/session_steps/{index}/step_id", step_id))
        else:
            seen.add(step_id)
