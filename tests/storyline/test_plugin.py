"""The hub's own format through the hooks of every format (storyline.md 9; detection.md 3)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given

import hub
from hub.codec import from_wire
from hub.errors import InvalidDocument, Json
from hub.hookspecs import Detection, Sample
from hub.registry import Format, Formats
from hub.source import Source
from hub.storyline import plugin
from hub.storyline.model import Agent, Storyline
from hub.storyline.rules import RULES, SCHEMA_VERSION
from hub.testing.strategies import storylines
from hub.wire import to_wire
from hub.writing import WriteOptions

B: dict[str, Json] = {
    "schema_version": "storyline/v1",
    "session": "s",
    "agent": {"id": "a"},
    "turns": [],
}
SHAPE = {key: member for key, member in B.items() if key != "schema_version"}


@pytest.fixture(name="format", scope="module")
def own_format() -> Format:
    return Formats([])["storyline"]


def sample(*records: Json) -> Sample:
    return Sample(None, "array", list(records), complete=True, size=None)


MARKED = Detection(100, 'schema_version "storyline/v1" at /')
NEWER = Detection(95, 'schema_version "storyline/v9" at /')
SHAPED = Detection(50, "session, agent and turns at /, but no schema_version")


class TestInfo:
    def test_info(self, format: Format) -> None:
        """The format describes itself; its rules are those of the specification."""
        assert "storyline" == format.id == format.info.source
        assert (SCHEMA_VERSION,) == format.info.reads == format.info.writes
        assert plugin.SCHEMA_VERSION == SCHEMA_VERSION
        assert RULES == format.rules
        assert () == format.info.envelope


class TestDetect:
    @pytest.mark.parametrize(
        ("record", "expected"),
        [
            (B, MARKED),
            ({"schema_version": "storyline/v1"}, MARKED),
            ({"schema_version": "storyline/v9", "session": "s"}, NEWER),
            (SHAPE, SHAPED),
            ({**SHAPE, "schema_version": None}, None),
            ({**SHAPE, "schema_version": 1}, None),
            ({**SHAPE, "schema_version": "ATIF-v1.7"}, None),
            ({**SHAPE, "schema_version": "my storyline/v1"}, None),
            ({**SHAPE, "session": 1}, None),
            ({**SHAPE, "turns": {}}, None),
            ({**SHAPE, "agent": "a"}, None),
            ({}, None),
            ([], None),
            ("storyline/v1", None),
        ],
    )
    def test_record(self, format: Format, record: Json, expected: Detection | None) -> None:
        """The marker decides; without one the shape is a hint."""
        assert expected == format.detect(sample(record))

    @pytest.mark.parametrize(
        ("records", "expected"),
        [
            ([], None),
            ([B, B], MARKED),
            ([B, {"schema_version": "storyline/v9"}], NEWER),
            ([SHAPE, B], SHAPED),
            ([B, 5], None),
            ([B, {}], None),
        ],
    )
    def test_records(self, format: Format, records: list[Json], expected: Detection | None) -> None:
        """The answer is for all records: that of the least sure one."""
        assert expected == format.detect(sample(*records))


class TestReading:
    def test_documents(self, format: Format) -> None:
        """Each record is a document, and each document one Storyline."""
        other = {**B, "session": "t"}
        documents = list(format.parse(Source.of(B, other)))
        assert [[from_wire(B)], [from_wire(other)]] == [
            list(format.to_storyline(document)) for document in documents
        ]

    def test_broken_record(self, format: Format) -> None:
        """A record that is no Storyline has its problems, and the next one is still read."""
        documents = list(format.parse(Source.of({**B, "session": "", "run": 1}, B)))
        assert [["storyline.type", "storyline.session"], []] == [
            [problem.rule for problem in document.problems] for document in documents
        ]
        assert [True, False] == [document.is_fatal for document in documents]

    @pytest.mark.parametrize(
        ("text", "sessions"),
        [
            (b'{"session":"1"}', ["1"]),
            (b'[{"session":"1"},{"session":"2"}]', ["1", "2"]),
            (b'{"session":"1"}\n\n{"session":"2"}\n', ["1", "2"]),
        ],
    )
    def test_containers(self, format: Format, text: bytes, sessions: list[str]) -> None:
        """One object, an array and JSON Lines are containers alike."""
        head = b'{"schema_version":"storyline/v1","agent":{"id":"a"},"turns":[],'
        source = Source(text.replace(b"{", head))
        assert sessions == [document.value.session_id for document in format.parse(source)]


class TestWriting:
    @given(storylines())
    def test_wire(self, storyline: Storyline) -> None:
        """What is written is the wire JSON of each Storyline, and reads as the same."""
        own = Formats([])["storyline"]
        (written,) = own.from_storyline([storyline], WriteOptions())
        assert json.dumps(to_wire(storyline)) == json.dumps(written)
        (document,) = own.parse(Source.of(written))
        assert [storyline] == list(own.to_storyline(document))

    def test_lazily(self, format: Format) -> None:
        """Storylines are written one by one."""
        broken = Storyline(session_id="", agent=Agent(agent_id="a"), turns=[])
        written = format.from_storyline(iter([from_wire(B), broken]), WriteOptions())
        assert B == next(written)
        with pytest.raises(InvalidDocument) as caught:
            next(written)
        assert ["storyline.session"] == [problem.rule for problem in caught.value.problems]

    @pytest.mark.parametrize(
        ("session", "name"),
        [
            ("s", "s.storyline.json"),
            ("a.b_c-d#1", "a.b_c-d#1.storyline.json"),
            ("a/b", "a%2Fb.storyline.json"),
            ("..", "...storyline.json"),
            ("~ é", "%7E%20%C3%A9.storyline.json"),
            ("\udc88", "%5Cudc88.storyline.json"),
        ],
    )
    def test_file_name(self, format: Format, session: str, name: str) -> None:
        """A file is named after its session, unsafe characters percent-encoded."""
        assert name == format.file_name({**B, "session": session}, WriteOptions())


class TestKeys:
    @given(storylines(max_turns=3))
    def test_own_keys_are_sorted(self, storyline: Storyline) -> None:
        """The keys that the model names stand in byte order, at every level."""
        wire = to_wire(storyline)
        calls = [call for turn in wire["turns"] for call in turn.get("tool_calls", ())]
        parts = ("task", "prompt", "origin", "parent")
        objects = [
            *(wire, wire["agent"], *wire["turns"], *calls),
            *(wire[name] for name in parts if name in wire),
        ]

        assert [list(one) for one in objects] == [sorted(one) for one in objects]

    def test_other_keys_keep_their_order(self, tmp_path: Path) -> None:
        """Those of opaque values stand as they stood."""
        turn = {
            "extra": {"b": {"d": 1, "c": 2}, "a": 3},
            "id": 1,
            "msg": [{"type": "text", "text": "t", "a": 1}],
            "observation": {"results": [{"source_call_id": "c", "content": "x"}]},
            "src": "agent",
            "tool_calls": [{"args": {"path": "p", "mode": "w"}, "fn": "f", "tcid": "c"}],
        }
        hub.write([from_wire({**B, "turns": [turn]})], tmp_path / "out.json", to="storyline")

        (found,) = json.loads((tmp_path / "out.json").read_text())["turns"]
        assert json.dumps(turn) == json.dumps(found)
