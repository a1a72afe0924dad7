"""Documents: what was found while reading, and times that are kept, completed or set aside (storyline.md 6.4)."""

from __future__ import annotations

import pytest

from hub.errors import Json, Problem, Rule, UsageError
from hub.reading import Document, Record
from hub.storyline.times import Zone

TIME = Rule("x.time", "warning", "a date-time with an offset")
HINT = "; --assume-timezone ZONE reads it"


def problem(message: str, found: str) -> Problem:
    return Problem("warning", "x.time", "/t", message, expected=TIME.expected, found=found)


def document(zone: str | None = None) -> Document[None]:
    return Document(None, record=Record({}, zone=None if zone is None else Zone(zone)))


class TestReadTime:
    @pytest.mark.parametrize(
        "value",
        [None, "2026-01-01T00:00:00Z", "2026-01-01 00:00:00.5+08:00", "2016-12-31T23:59:60z"],
    )
    @pytest.mark.parametrize("zone", [None, "Asia/Tokyo"])
    def test_kept(self, value: Json, zone: str | None) -> None:
        """A time with an offset is kept as it is spelled; a missing one stays missing."""
        one = document(zone)
        assert value == one.read_time(value, "/t", TIME)
        assert ({}, []) == (one.residuals, one.problems)

    @pytest.mark.parametrize("value", [0, 1785578400.25])
    def test_numbers(self, value: Json) -> None:
        """Unix seconds are times where the format defines them, and only there."""
        one = document()
        assert value == one.read_time(value, "/t", TIME, numbers=True)
        assert {} == one.residuals
        assert None is one.read_time(value, "/t", TIME)
        assert {"/t": value} == one.residuals
        said = f"expected a date-time with an offset, found {value}"
        assert [problem(said, str(value))] == one.problems

    @pytest.mark.parametrize(
        ("value", "found", "hint"),
        [
            ("2026-01-01T00:00:00", '"2026-01-01T00:00:00"', HINT),
            ("2026-01-01 00:00:00.5", '"2026-01-01 00:00:00.5"', HINT),
            ("2026-01-01", '"2026-01-01"', ""),
            ("2026-01-01T00:00:00+0800", '"2026-01-01T00:00:00+0800"', ""),
            ("2026-02-30T00:00:00", '"2026-02-30T00:00:00"', ""),
            ("", '""', ""),
            (1767261600000, "1767261600000", ""),
            ([], "an empty array", ""),
        ],
    )
    def test_set_aside(self, value: Json, found: str, hint: str) -> None:
        """Anything else is a residual with a warning, which names the option where that would help."""
        one = document()
        assert None is one.read_time(value, "/t", TIME)
        assert {"/t": value} == one.residuals
        said = f"expected a date-time with an offset, found {found}{hint}"
        assert [problem(said, found)] == one.problems

    def test_zone(self) -> None:
        """With a zone the offset is added; the source text is a residual, and the warning names the zone."""
        one = document("Asia/Tokyo")
        value = "2026-01-01T00:00:00"
        assert "2026-01-01T00:00:00+09:00" == one.read_time(value, "/t", TIME)
        assert {"/t": value} == one.residuals
        said = 'no offset in "2026-01-01T00:00:00", assumed Asia/Tokyo'
        assert [problem(said, f'"{value}"')] == one.problems

    @pytest.mark.parametrize("value", ["2026-01-01", "now", 5])
    def test_zone_does_not_help(self, value: Json) -> None:
        """A zone makes no time of what lacks more than an offset."""
        one = document("+09:00")
        assert None is one.read_time(value, "/t", TIME)
        assert {"/t": value} == one.residuals
        assert "--assume-timezone" not in one.problems[0].message

    def test_unknown_zone(self) -> None:
        """A zone that is not known is the user's mistake."""
        with pytest.raises(UsageError, match="no time zone named 'Mars'"):
            document("Mars").read_time("2026-01-01T00:00:00", "/t", TIME)


class TestDocument:
    def test_report(self) -> None:
        """Problems add up; a fatal one makes the document fatal."""
        one = document()
        one.report(TIME.at("/t"))
        assert not one.is_fatal
        one.report(TIME.at("/t")._replace(severity="fatal"))
        assert one.is_fatal
        assert 2 == len(one.problems)

    def test_set_aside(self) -> None:
        """A value is set aside under its pointer, with or without a problem."""
        one = document()
        one.set_aside("/a", 1)
        one.set_aside("/b", None, TIME.at("/b"))
        assert {"/a": 1, "/b": None} == one.residuals
        assert [TIME.at("/b")] == one.problems

    def test_compared_by_identity(self) -> None:
        """Two documents are never equal, and each has lists of its own."""
        one, other = document(), document()
        assert one != other
        one.report(TIME.at("/t"))
        assert [] == other.problems
