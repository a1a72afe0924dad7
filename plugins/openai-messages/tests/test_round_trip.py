"""Round trips: nothing that rows and chats can say is lost, and whatever is written is what the API takes."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from hub_openai_messages import plugin
from hub_openai_messages.calls import calls_of_chat
from hub_openai_messages.chat_reading import ChatTurns
from hub_openai_messages.chat_residuals import compared_fields
from hub_openai_messages.messages import READ_ROWS, restored_message
from hub_openai_messages.row_reading import said_as_written
from hub_openai_messages.row_turns import Conversation
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hub import Document, Origin, Source, Storyline, WriteOptions, equal
from hub.testing import from_wire, to_wire
from hub.testing.strategies import storylines

from . import strict
from .builders import write
from .strategies import CHATS, CORPORA, ROLES

Json = Any

relaxed = settings(
    deadline=None,
    max_examples=max(5, settings().max_examples // 3),
    suppress_health_check=[HealthCheck.too_slow],
)
"""Whole documents take their time on a busy machine."""


def documents(value: Json) -> list[Document[Any]]:
    """Return what is parsed of a value in memory, with numbers as they are."""
    source = Source.of_array(value) if isinstance(value, list) else Source.of(value)
    return list(plugin.parse(source))


def read(value: Json) -> list[Storyline]:
    """Return the Storylines of *value*; none where something is fatal."""
    found = documents(value)
    if any(one.is_fatal for one in found):
        return []
    return [one for document in found for one in plugin.to_storyline(document)]


def errors(value: Json) -> list[str]:
    """Return the errors that are found in *value*."""
    found = documents(value)
    for document in found:
        if not document.is_fatal:
            list(plugin.to_storyline(document))
    return [
        str(problem)
        for document in found
        for problem in document.problems
        if problem.severity in ("error", "fatal")
    ]


def leaves(value: Json) -> Iterator[tuple[str, str]]:
    """Yield every scalar of *value* that says something, with its type."""
    todo = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, dict):
            todo.extend(one.values())
        elif isinstance(one, list):
            todo.extend(one)
        elif one is not None and one != "":
            yield type(one).__name__, repr(one)


class TestChats:
    @relaxed
    @given(CHATS)
    def test_comes_back(self, chat: Json) -> None:
        """A chat comes back exactly, whatever is in it, and is not changed."""
        before = copy.deepcopy(chat)
        (again,) = write(read(chat))

        assert equal(again, before)
        assert equal(chat, before)

    @relaxed
    @given(st.lists(ROLES, min_size=1, max_size=6))
    def test_array_comes_back(self, messages: Json) -> None:
        """So does one that is an array."""
        (again,) = write(read(messages))

        assert equal(again, messages)

    @relaxed
    @given(st.lists(ROLES, min_size=1, max_size=6))
    def test_usual(self, messages: Json) -> None:
        """What a turn does not hold of messages with the usual members is what a comparison gives."""
        for one in ChatTurns(messages, calls_of_chat(messages)).turns:
            if one.fields is not None:
                assert equal(compared_fields(one, messages), one.fields)

    @relaxed
    @given(CHATS)
    def test_valid(self, chat: Json) -> None:
        """Whatever is in a chat, its Storyline is valid."""
        for one in read(chat):
            assert from_wire(to_wire(one)) == one

    @relaxed
    @given(CHATS)
    def test_conformed(self, chat: Json) -> None:
        """Conformed, it is what fine-tuning takes."""
        (again,) = write(read(chat), conform="yes")

        assert strict.errors(again) == []
        assert errors(again) == []

    @relaxed
    @given(CHATS, st.sampled_from(["", "t", None]))
    def test_edited(self, chat: Json, said: Json) -> None:
        """What was edited is what is written."""
        for one in read(chat):
            for turn in one.turns:
                turn.message = said
            one.turns = one.turns[1:]
            (again,) = write([one])
            texts = [message.get("content") for message in again["messages"]]

            assert texts.count(said) >= sum(turn.source == "user" for turn in one.turns)


class TestRows:
    @relaxed
    @given(CORPORA)
    def test_said_as_written(self, corpus: Json) -> None:
        """Of a response that is certainly written as it was read, that is what writing its turn gives."""
        for document in documents(corpus):
            parsed: Any = document.value
            for session in () if document.is_fatal else parsed.sessions:
                conversation = Conversation(session.rows, session.numbers)
                known = said_as_written(session.rows, conversation)
                for turns in conversation.rows:
                    response = known.get(id(turns.response))
                    if response is not None:
                        assert equal(restored_message(turns.response, READ_ROWS), response)

    @relaxed
    @given(CORPORA)
    def test_valid(self, corpus: Json) -> None:
        """Whatever is in rows, their Storylines are valid, and the rows are not changed."""
        before = copy.deepcopy(corpus)
        for one in read(corpus):
            assert from_wire(to_wire(one)) == one
        assert equal(corpus, before)

    @relaxed
    @given(CORPORA)
    def test_reading_again(self, corpus: Json) -> None:
        """What is written is read as what was meant, residuals included."""
        meant = read(corpus)
        before = list(map(to_wire, meant))
        options = WriteOptions()
        documents_ = write(meant, options)
        found = [one for document in documents_ for one in read(document)]

        assert options.unplaced_residuals == {}
        assert options.problems == []
        assert equal(list(map(to_wire, meant)), before)
        for one, other in zip(meant, found, strict=True):
            assert equal(_said(one), _said(other))

    @relaxed
    @given(CORPORA)
    def test_writing_again(self, corpus: Json) -> None:
        """What was written once is written so ever after."""
        for document in write(read(corpus)):
            assert equal(write(read(document)), [document])

    @relaxed
    @given(CORPORA)
    def test_nothing_is_lost(self, corpus: Json) -> None:
        """Every value of the messages is in what is written."""
        for document in write(read(corpus)):
            for key in ("messages", "response"):
                before = [row[key] for row in corpus["session_steps"] if key in row]
                after = [row[key] for row in document["session_steps"] if key in row]
                lost = set(leaves(before)) - set(leaves(after))
                # Arguments that were no text are one; a role of a response is always that of an assistant.
                texts = repr(after)
                assert [
                    one for one in lost if one[1].strip("'\"") not in texts and key == "messages"
                ] == []

    @relaxed
    @given(CORPORA)
    def test_conformed(self, corpus: Json) -> None:
        """Conformed, rows break no rule."""
        for document in write(read(corpus), conform="yes"):
            assert errors(document) == []

    @relaxed
    @given(CORPORA, st.sampled_from(["", "t", None]), st.booleans())
    def test_edited(self, corpus: Json, said: Json, shorter: bool) -> None:  # noqa: FBT001
        """Whatever becomes of a Storyline, it is written, and what was edited is read."""
        batch = read(corpus)
        for one in batch:
            for turn in one.turns:
                turn.message = said
            if shorter:
                one.turns = one.turns[1:]
        again = [one for document in write(batch) for one in read(document)]

        assert len(again) == len(batch)
        for meant, found in zip(batch, again, strict=True):
            asked = [turn for turn in meant.turns if turn.source == "user"]
            assert not asked or said in [turn.message for turn in found.turns]


def _said(storyline: Storyline) -> Json:
    wire = to_wire(storyline)
    del wire["origin"]
    return wire


class TestStorylines:
    @relaxed
    @given(st.lists(storylines(), min_size=1, max_size=3))
    def test_rows(self, batch: list[Storyline]) -> None:
        """Any Storylines are written as sound rows, a session each, and are not changed."""
        before = copy.deepcopy(batch)
        (document,) = write(batch)

        assert batch == before
        assert errors(document) == []
        assert len(read(document)) == len(batch)

    @relaxed
    @given(st.lists(storylines(), min_size=1, max_size=3), st.sampled_from(["full", "new"]))
    def test_histories(self, batch: list[Storyline], history: str) -> None:
        """Each row has one response, and rows that hold the whole conversation begin with that of the row before."""
        (document,) = write(batch, history=history)
        previous: dict[str, Json] = {}
        for row in document["session_steps"]:
            before = previous.get(row["session_id"], [])
            assert row["response"]["role"] == "assistant"
            assert history == "new" or row["messages"][: len(before)] == before
            previous[row["session_id"]] = row["messages"]

    @relaxed
    @given(st.lists(storylines(), min_size=1, max_size=3))
    def test_chats(self, batch: list[Storyline]) -> None:
        """Any Storylines are written as chats that fine-tuning takes."""
        for document in write(batch, variant="chat"):
            assert strict.errors(document) == []
            assert errors(document) == []

    @relaxed
    @given(storylines(), st.sampled_from([None, "rows/new", "chat/object", "chat/array"]))
    def test_of_this_origin(self, one: Storyline, tag: str | None) -> None:
        """Storylines that say that they were read from this format are written, whatever they hold."""
        one.origin = Origin(format="openai-msg", schema_version=tag)
        (document,) = write([one])

        assert len(read(document)) == 1
