"""What reading finds in a document that its Storyline does not say: residuals of the writer's own, and the place."""

from __future__ import annotations

import copy
from typing import Any

from hub.carrier import placeless, residual_path, residual_pointer
from hub.codec import from_wire
from hub.conversion import Reading, read_documents, write_documents
from hub.envelope import nodes
from hub.errors import Json
from hub.json import dumps
from hub.registry import Format
from hub.source import Source
from hub.storyline.model import Storyline
from hub.wire import to_wire
from hub.writing import WriteOptions

WEATHER = {"id": 2, "src": "weather", "msg": "rain"}


def storyline(origin: Json) -> Storyline:
    """Return a Storyline of some *origin*, with a turn that notes do not read."""
    return from_wire(
        {
            "schema_version": "storyline/v1",
            "session": "s",
            "agent": {"id": "notes"},
            "origin": origin,
            "turns": [{"id": 1, "src": "user", "msg": "hi"}, WEATHER],
        }
    )


def write(format: Format, one: Storyline) -> Json:
    """Return the document of *one*."""
    (written,) = write_documents(format, [one], WriteOptions())
    return written.document


def read(format: Format, document: Json, name: str | None = None) -> Reading:
    """Return what is read of *document* in a file called *name*."""
    (reading,) = read_documents(format, Source(dumps(document), name=name))
    return reading


class TestResiduals:
    def test_foreign_storyline(self, notes: Format) -> None:
        """What a Storyline of another format is shown with is no residual when it is read again."""
        one = storyline({"format": "other"})
        reading = read(notes, write(notes, one))
        assert reading.problems == []
        assert to_wire(reading.storylines[0]) == to_wire(one)

    def test_edited(self, notes: Format) -> None:
        """What was edited stays a residual: it is what somebody said."""
        document = write(notes, storyline({"format": "other"}))
        document["notes"][1]["says"] = "snow"
        (found,) = read(notes, document).storylines
        kept = found.unknown_fields["notes"].fields
        assert kept == {"/notes/1": {"who": "weather", "says": "snow"}}

    def test_another_one(self, notes: Format) -> None:
        """A residual that was added is left alone, and one that is gone is no matter."""
        document = write(notes, storyline({"format": "other"}))
        added = copy.deepcopy(document)
        added["notes"].append({"who": "clock", "says": "noon"})
        (found,) = read(notes, added).storylines
        assert found.unknown_fields["notes"].fields.keys() == {"/notes/2"}
        del document["notes"][1]
        (found,) = read(notes, document).storylines
        assert found.unknown_fields == {}

    def test_own_storyline(self, notes: Format) -> None:
        """Residuals of a Storyline of the format itself are its own."""
        (one,) = read(notes, {"notes": [{"who": "weather", "says": "rain"}]}).storylines
        assert one.unknown_fields["notes"].fields == {
            "/notes/0": {"who": "weather", "says": "rain"}
        }

    def test_paths(self) -> None:
        """The path of a residual is one token behind its source, escaped twice."""
        path = residual_path("a/b", "/c~1d")
        assert path == "/unknown_fields/sources/a~1b/fields/~1c~01d"
        assert residual_pointer("a/b", path) == "/c~1d"
        assert residual_pointer("a", path) is None
        assert residual_pointer("a/b", f"{path}/e") is None
        assert residual_pointer("a/b", 5) is None


class TestPlace:
    def test_another_name(self, notes: Format) -> None:
        """A document says the same whatever its file is called."""
        one = storyline({"format": "other", "document_id": "its own"})
        reading = read(notes, write(notes, one), name="elsewhere.json")
        assert reading.problems == []
        assert to_wire(reading.storylines[0]) == to_wire(one)

    def test_own_format(self, notes: Format) -> None:
        """A Storyline of the format itself needs no envelope for its place, and gets that of the new file."""
        (one,) = read(notes, {"notes": [{"who": "user", "says": "hi"}]}, name="a.json").storylines
        document = write(notes, one)
        assert "_storyline" not in document
        (again,) = read(notes, document, name="b.json").storylines
        assert again.origin is not None
        assert again.origin.document_id == "b.json"

    def test_patched_root(self, notes: Format) -> None:
        """The place is that of the file also where something else of the root is carried."""
        one = storyline({"format": "notes", "document_id": "a.json"})
        one.notes = "carried"
        (again,) = read(notes, write(notes, one), name="b.json").storylines
        assert again.notes == "carried"
        assert again.origin is not None
        assert again.origin.document_id == "b.json"

    def test_placeless(self) -> None:
        """Only the place is left out."""
        root: Any = {"session": "s", "origin": {"format": "f", "document_id": "d"}}
        assert placeless(root) == {"session": "s", "origin": {"format": "f"}}
        assert placeless({"session": "s"}) == {"session": "s"}
        assert root["origin"] == {"format": "f", "document_id": "d"}


class TestRecords:
    def test_of_an_array(self) -> None:
        """`/*` are the records of an array."""
        assert list(nodes([{"a": {}}, 1, {}], ["/*"])) == [("/0", {"a": {}}), ("/2", {})]

    def test_of_an_object(self) -> None:
        """The members of an object are no records."""
        assert list(nodes({"a": {}}, ["/*"])) == []
