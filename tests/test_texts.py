"""Long texts of a node: stored once, or copied from where the document has them (decision 0010)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub import Json, Source, Storyline, WriteOptions
from hub.carrier import digest
from hub.conversion import read_documents, write_documents
from hub.registry import Format
from hub.sealing import entries
from hub.testing import from_wire, to_wire

SYSTEM = "You are a careful agent. " * 6
"""150 characters."""
ANSWER = "The answer is forty-two. " * 6
OTHER = "Something else entirely. " * 6


def storyline(*turns: Json, **members: Json) -> Storyline:
    """Return a Storyline with *turns*, numbered, each by its speaker, its text and what else it has."""
    numbered = [
        {"id": number, "src": source, "msg": text, **rest}
        for number, (source, text, rest) in enumerate(turns, start=1)
    ]
    wire = {"schema_version": "storyline/v1", "session": "s", "agent": {"id": "log"}}
    return from_wire({**wire, "origin": {"format": "log"}, "turns": numbered, **members})


def write(log: Format, intended: Storyline) -> Json:
    ((document, _),) = write_documents(log, [intended], WriteOptions())
    return document


def read(log: Format, document: Json) -> tuple[Storyline, list[tuple[str, str]]]:
    """Return the Storyline of *document*, and rule and message of each problem in it."""
    (reading,) = read_documents(log, Source.of(copy.deepcopy(document)))
    (found,) = reading.storylines
    return found, [(problem.rule, problem.message) for problem in reading.problems]


def fields(document: Json) -> dict[str, Any]:
    node = document["_storyline"]["unknown_fields"]["by_trajectory"][""]
    found: dict[str, Any] = node["sources"]["storyline"]["fields"]
    return found


def copied(number: int, path: str) -> Json:
    return {"op": "copy", "from": f"/$texts/{number}", "path": path}


PROMPTED = storyline(
    ("user", "hi", {"prompt": {"system": SYSTEM}}), ("agent", "ok", {"prompt": {"system": SYSTEM}})
)
ANSWERED = storyline(("user", "hi", {}), ("agent", ANSWER, {}), notes=ANSWER)


class TestWriting:
    def test_needed_twice(self, log: Format) -> None:
        """A text that two entries need is in the table, and both copy it."""
        carried = fields(write(log, PROMPTED))

        assert [{"text": SYSTEM}] == carried["/texts"]
        for key in ("/turns/0", "/turns/1"):
            assert [
                {"op": "add", "path": "/prompt", "value": {"system": ""}},
                copied(0, "/prompt/system"),
            ] == carried[key]["patch"]

    def test_needed_once(self, log: Format) -> None:
        """A text that one entry needs is in it, and there is no table."""
        carried = fields(write(log, storyline(("user", "hi", {"prompt": {"system": SYSTEM}}))))

        assert ["/turns/0"] == list(carried)
        assert [{"op": "add", "path": "/prompt", "value": {"system": SYSTEM}}] == carried[
            "/turns/0"
        ]["patch"]

    def test_in_a_turn(self, log: Format) -> None:
        """A text that a turn of the document has is not stored; the table says where it is."""
        carried = fields(write(log, ANSWERED))

        assert [{"from": "/turns/1/msg", "digest": digest(ANSWER)}] == carried["/texts"]
        assert [copied(0, "/notes")] == carried[""]["patch"]

    def test_in_the_root(self, log: Format) -> None:
        """A text that the root of the document has is not stored for a turn."""
        intended = storyline(("user", "hi", {"reason": SYSTEM}), session=SYSTEM)
        carried = fields(write(log, intended))

        assert [{"from": "/session", "digest": digest(SYSTEM)}] == carried["/texts"]
        assert [copied(0, "/reason")] == carried["/turns/0"]["patch"]

    def test_in_the_element(self, log: Format) -> None:
        """A text that the element itself has is copied from there, without a table (carrier.md 4.4)."""
        carried = fields(write(log, storyline(("agent", ANSWER, {"reason": ANSWER}))))

        assert ["/turns/0"] == list(carried)
        assert [{"op": "copy", "from": "/msg", "path": "/reason"}] == carried["/turns/0"]["patch"]

    def test_far_turns(self, log: Format) -> None:
        """A text is found in any turn."""
        turns: list[Json] = [("user", f"turn {number}", {}) for number in range(200)]
        intended = storyline(*turns, ("agent", ANSWER, {}), *turns, notes=ANSWER)

        assert [{"from": "/turns/200/msg", "digest": digest(ANSWER)}] == fields(
            write(log, intended)
        )["/texts"]

    @pytest.mark.parametrize(
        ("turn", "place"),
        [
            ({"kind": ANSWER}, "/kind"),
            ({"reason": ANSWER}, "/reason"),
            ({"model": ANSWER}, "/model"),
            ({"effort": [ANSWER]}, "/effort/0"),
            ({"extra": {"a/b": {"c": ANSWER}}}, "/extra/a~1b/c"),
            ({"metrics": {"x": ANSWER}}, "/metrics/x"),
            ({"observation": {"results": [{"content": ANSWER}]}}, "/observation/results/0/content"),
            ({"env": {"state": {"x": ANSWER}}}, "/env/state/x"),
            ({"env": {"name": ANSWER}}, "/env/name"),
            ({"prompt": {"user": ANSWER}}, "/prompt/user"),
            ({"tool_calls": [{"tcid": ANSWER, "fn": "f", "args": {}}]}, "/tool_calls/0/tcid"),
            (
                {"tool_calls": [{"tcid": "c", "fn": "f", "args": {"x": ANSWER}}]},
                "/tool_calls/0/args/x",
            ),
            (
                {
                    "tool_calls": [
                        {"tcid": "c", "fn": "f", "args": {}, "response": {"status": ANSWER}}
                    ]
                },
                "/tool_calls/0/response/status",
            ),
        ],
    )
    def test_anywhere_in_a_turn(self, turn: Json, place: str) -> None:
        """A text is found in every member of a turn."""
        plain = storyline(("agent", "hi", turn))
        carried = entries(plain, storyline(("agent", "hi", turn), notes=ANSWER))

        assert [{"from": f"/turns/0{place}", "digest": digest(ANSWER)}] == carried["/texts"]

    @given(st.lists(st.sampled_from([SYSTEM, ANSWER, OTHER, "short"]), min_size=8, max_size=8))
    def test_comes_back(self, log: Format, texts: list[str]) -> None:
        """Wherever texts stand, what was written is read."""
        one, two, three, four, five, six, seven, eight = texts
        intended = storyline(
            ("user", one, {"reason": two, "prompt": {"system": three}}),
            ("agent", four, {"reason": five, "extra": {"list": [six, {"k": six}]}}),
            session=seven,
            notes=eight,
        )
        assert (intended, []) == read(log, write(log, intended))


class TestEdited:
    def test_text(self, log: Format) -> None:
        """A text that was edited in the document is edited wherever it is copied to, with a warning."""
        document = write(log, ANSWERED)
        document["entries"][1]["says"] = OTHER
        found, problems = read(log, document)

        assert found.notes == OTHER
        assert [
            (
                "carrier.stale",
                "/texts: the text at /turns/1/msg was edited, and is used as it is now",
            )
        ] == problems

    @pytest.mark.parametrize(
        "edit",
        [
            lambda entries: entries.insert(0, {"who": "user", "says": "new"}),
            lambda entries: entries.reverse(),
            lambda entries: entries.pop(0),
        ],
    )
    def test_moved(self, log: Format, edit: Callable[[Json], object]) -> None:
        """A text is found where it is now."""
        document = write(log, ANSWERED)
        edit(document["entries"])
        found, problems = read(log, document)

        assert found.notes == ANSWER
        assert [] == problems

    def test_gone(self, log: Format) -> None:
        """An entry that needs a text which is gone is discarded; the others stay."""
        intended = storyline(
            ("user", "hi", {"reason": "short"}), ("agent", ANSWER, {}), notes=ANSWER
        )
        document = write(log, intended)
        document["entries"].pop()
        found, problems = read(log, document)

        assert found.notes is None
        assert found.turns[0].reasoning_content == "short"
        assert [("carrier.stale", "root: the text at /turns/1/msg is gone")] == problems


class TestTampering:
    @pytest.mark.parametrize(
        "table",
        [None, {}, "x", [5], [{"text": 5}], [{"from": "/msg"}], [{"text": "x", "digest": "y"}]],
    )
    def test_no_table(self, log: Format, table: Json) -> None:
        """What is no table is discarded, with the entries that need it."""
        document = write(log, PROMPTED)
        fields(document)["/texts"] = table
        found, problems = read(log, document)

        assert [turn.prompt for turn in found.turns] == [None, None]
        what = "expected an array of texts and of places with digests"
        assert ("carrier.malformed", f"/texts: {what}") == problems[0]
        assert 3 == len(problems)

    @pytest.mark.parametrize(
        "source", ["/$texts", "/$texts/", "/$texts/1", "/$texts/-1", "/$texts/00", "/$texts/0/x"]
    )
    def test_no_text(self, log: Format, source: str) -> None:
        """A copy from outside the table discards its entry."""
        document = write(log, PROMPTED)
        fields(document)["/turns/1"]["patch"][1]["from"] = source
        found, problems = read(log, document)

        assert [None, True] == [turn.prompt and bool(turn.prompt.system) for turn in found.turns][
            ::-1
        ]
        assert ["carrier.malformed"] == [rule for rule, _ in problems]

    @pytest.mark.parametrize("pointer", ["", "x", "/turns", "/turns/9/msg", "/turns/x", "/agent"])
    def test_no_place(self, log: Format, pointer: str) -> None:
        """A text that is not where the table says is found by its digest."""
        document = write(log, ANSWERED)
        fields(document)["/texts"][0]["from"] = pointer

        assert (ANSWERED, []) == read(log, document)

    def test_of_the_table_nothing_moves(self, log: Format) -> None:
        """A text of the table can be copied, not moved."""
        document = write(log, PROMPTED)
        fields(document)["/turns/1"]["patch"][1]["op"] = "move"
        _, problems = read(log, document)

        assert ["carrier.malformed"] == [rule for rule, _ in problems]

    def test_unused(self, log: Format) -> None:
        """A text that nothing needs does no harm."""
        document = write(log, PROMPTED)
        fields(document)["/texts"].append({"from": "/nowhere", "digest": "0"})

        assert to_wire(PROMPTED) == to_wire(read(log, document)[0])
