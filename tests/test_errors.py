"""Problems, the rules they breach, and the errors that hold them (validation.md 1)."""

from __future__ import annotations

import copy
import pickle

import pytest

from hub.errors import (
    MISSING,
    FormatError,
    HubError,
    InvalidDocument,
    Json,
    PluginError,
    Problem,
    Rule,
    UnknownFormat,
    UnsupportedVersion,
    UsageError,
    invalid,
    show,
)
from hub.json import ExactNumber

ORDER = Rule("x.step-order", "error", "more than 4")
VERSION = Rule("x.version", "fatal", "1")


class TestProblem:
    @pytest.mark.parametrize(
        ("document", "pointer", "text"),
        [
            (None, "", "error: m [x.y]"),
            (None, "/a/0", "/a/0: error: m [x.y]"),
            ("line 7", "", "line 7: error: m [x.y]"),
            ("line 7", "/a/0", "line 7 /a/0: error: m [x.y]"),
        ],
    )
    def test_text(self, document: str | None, pointer: str, text: str) -> None:
        """A problem names its place, if it has one, its severity and its rule."""
        assert text == str(Problem("error", "x.y", pointer, "m", document))

    def test_values(self) -> None:
        """Problems are values: they are compared, put into sets and sent to other processes."""
        one, other = ORDER.at("/a", 4), ORDER.at("/a", 4)
        assert one == other
        assert 1 == len({one, other})
        assert one == pickle.loads(pickle.dumps(one))  # noqa: S301  # our own


class TestRule:
    def test_at(self) -> None:
        """A breach says what was expected and what was found."""
        assert (
            Problem(
                severity="error",
                rule="x.step-order",
                pointer="/steps/2/step_id",
                message="expected more than 4, found 4",
                expected="more than 4",
                found="4",
            )
            == ORDER.at("/steps/2/step_id", 4)
        )  # fmt: skip

    def test_missing(self) -> None:
        """Where there is no value, nothing is found."""
        problem = ORDER.at("/a")
        assert ("expected more than 4, found nothing", "nothing") == (
            problem.message,
            problem.found,
        )

    def test_expected(self) -> None:
        """A breach may say more closely what was expected."""
        problem = ORDER.at("/a", None, expected="more than 5")
        assert ("expected more than 5, found null", "more than 5") == (
            problem.message,
            problem.expected,
        )

    def test_message(self) -> None:
        """A message of its own replaces the wording; what was found is told only if it is given."""
        problem = ORDER.at("/a", message="gone")
        assert ("gone", "more than 4", None) == (problem.message, problem.expected, problem.found)
        assert "7" == ORDER.at("/a", 7, message="gone").found


class TestShow:
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (MISSING, "nothing"),
            (None, "null"),
            (True, "true"),
            (False, "false"),
            (0, "0"),
            (-1.5, "-1.5"),
            (1.0, "1.0"),
            (2**64, "18446744073709551616"),
            (2**256 - 1, str(2**256 - 1)),
            (2**256, "a huge integer"),
            (-(10**4000), "a huge integer"),
            (ExactNumber("1e400"), "1e400"),
            (ExactNumber("9" * 100), "9" * 79 + "…"),
            ({}, "an empty object"),
            ({"a": 1}, "an object"),
            ([], "an empty array"),
            ([1, 2], "an array of 2"),
            ("", '""'),
            ('a"b\\\n', '"a\\"b\\\\\\n"'),
            ("é", '"é"'),
            ("\udc88", '"\\udc88"'),
            ("\x1b[0m", '"\\u001b[0m"'),
            ("x" * 78, '"' + "x" * 78 + '"'),
            ("x" * 79, '"' + "x" * 78 + "…"),
            ("x" * 10**6, '"' + "x" * 78 + "…"),
        ],
    )
    def test_show(self, value: Json, text: str) -> None:
        """Scalars are shown as JSON, cut at 80 characters; arrays and objects by their size."""
        assert text == show(value)
        assert len(show(value)) <= 80

    def test_very_huge(self) -> None:
        """An integer that Python refuses to print is shown all the same."""
        assert "a huge integer" == show(10**5000)

    def test_missing(self) -> None:
        """What is not there is shown as nothing."""
        assert "nothing" == repr(MISSING)


class TestInvalidDocument:
    def test_text(self) -> None:
        """The text has every problem, and the name of the input in front."""
        problems = [ORDER.at("/a", 4), ORDER.at("/b", 3)]
        lines = (
            "/a: error: expected more than 4, found 4 [x.step-order]\n"
            "/b: error: expected more than 4, found 3 [x.step-order]"
        )
        assert lines == str(InvalidDocument(problems))
        assert f"run.json: {lines}" == str(InvalidDocument(problems, "run.json"))

    @pytest.mark.parametrize("kind", [InvalidDocument, UnsupportedVersion])
    def test_copied(self, kind: type[InvalidDocument]) -> None:
        """The error is the same in another process."""
        error = kind([ORDER.at("/a", 4)], "run.json")
        for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):  # noqa: S301  # our own
            assert kind is type(other)
            assert (error.problems, "run.json") == (other.problems, other.name)
            assert str(error) == str(other)

    @pytest.mark.parametrize(
        ("problems", "kind"),
        [
            ([ORDER.at("/a", 4)], InvalidDocument),
            ([ORDER.at("/a", 4), VERSION.at("/v", 2)], UnsupportedVersion),
            ([VERSION.at("/v", 2)._replace(severity="error")], InvalidDocument),
            ([VERSION.at("/v", 2)._replace(rule="x.version-newer")], InvalidDocument),
            ([], InvalidDocument),
        ],
    )
    def test_kind(self, problems: list[Problem], kind: type[InvalidDocument]) -> None:
        """A version that is not known is an error of a kind of its own."""
        error = invalid(iter(problems), "run.json")
        assert kind is type(error)
        assert (tuple(problems), "run.json") == (error.problems, error.name)


class TestKinds:
    @pytest.mark.parametrize(
        ("kind", "status"),
        [
            (InvalidDocument, 1),
            (UnsupportedVersion, 1),
            (FormatError, 1),
            (UnknownFormat, 2),
            (PluginError, 1),
            (UsageError, 2),
        ],
    )
    def test_exit_status(self, kind: type[HubError], status: int) -> None:
        """Each is a `HubError`; misuse has an exit status of its own."""
        assert issubclass(kind, HubError)
        assert status == kind.exit_status
