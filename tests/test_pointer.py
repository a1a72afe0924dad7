"""RFC 6901 JSON Pointers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.errors import Json
from hub.pointer import escape, get, is_index, is_pointer, join, split, unescape

TOKENS = st.lists(st.text(st.sampled_from("ab~/01é"), max_size=5), max_size=4)

RFC: dict[str, Json] = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "e^f": 3,
    "g|h": 4,
    "i\\j": 5,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
}
"""The document of RFC 6901, section 5."""


class TestText:
    @pytest.mark.parametrize(
        ("token", "escaped"),
        [
            ("a", "a"),
            ("", ""),
            ("a/b", "a~1b"),
            ("m~n", "m~0n"),
            ("~1", "~01"),
            ("/~", "~1~0"),
            (3, "3"),
        ],
    )
    def test_escape(self, token: object, escaped: str) -> None:
        """`~` and `/` are escaped; an index is its digits."""
        assert escaped == escape(token)
        assert str(token) == unescape(escaped)

    @pytest.mark.parametrize(
        ("tokens", "pointer"),
        [
            ([], ""),
            ([""], "/"),
            (["steps", 0, "x/y"], "/steps/0/x~1y"),
            (["", ""], "//"),
        ],
    )
    def test_join_and_split(self, tokens: list[object], pointer: str) -> None:
        """A pointer is its escaped tokens, each behind a slash."""
        assert pointer == join(*tokens)
        assert list(map(str, tokens)) == split(pointer)

    @pytest.mark.parametrize("text", ["", "/", "/a", "//", "/~0", "/~1", "/~01", "/a~0b/~1"])
    def test_pointer(self, text: str) -> None:
        """A pointer is empty, or starts with a slash and escapes every `~`."""
        assert is_pointer(text)

    @pytest.mark.parametrize("text", ["a", "~", "a/", " /a", "/~", "/~2", "/a~/b", "#/a", "/~~0"])
    def test_no_pointer(self, text: str) -> None:
        """Anything else is none, and cannot be split."""
        assert not is_pointer(text)
        with pytest.raises(ValueError, match="not a JSON Pointer"):
            split(text)

    @given(TOKENS)
    def test_round_trip(self, tokens: list[str]) -> None:
        """Tokens come back out of the pointer that they make."""
        assert is_pointer(join(*tokens))
        assert tokens == split(join(*tokens))


class TestIndex:
    @pytest.mark.parametrize("token", ["0", "1", "10", "123456789"])
    def test_index(self, token: str) -> None:
        """An index is zero, or digits that do not start with one."""
        assert is_index(token)

    @pytest.mark.parametrize(
        "token", ["", "00", "01", "-1", "+1", "-", "1.0", " 1", "1 ", "\u0661", "²", "a"]
    )
    def test_no_index(self, token: str) -> None:
        """Everything else is a name."""
        assert not is_index(token)


class TestGet:
    @pytest.mark.parametrize(
        ("pointer", "value"),
        [
            ("", RFC),
            ("/foo", ["bar", "baz"]),
            ("/foo/0", "bar"),
            ("/", 0),
            ("/a~1b", 1),
            ("/c%d", 2),
            ("/e^f", 3),
            ("/g|h", 4),
            ("/i\\j", 5),
            ('/k"l', 6),
            ("/ ", 7),
            ("/m~0n", 8),
        ],
    )
    def test_found(self, pointer: str, value: Json) -> None:
        """The pointers of RFC 6901 name the values that it says."""
        assert value == get(RFC, split(pointer))

    def test_digits_as_names(self) -> None:
        """Digits name a member of an object, whatever their form."""
        assert "x" == get({"0": {"01": "x"}}, ["0", "01"])

    @pytest.mark.parametrize(
        "pointer",
        [
            "/bar",
            "/foo/2",
            "/foo/-",
            "/foo/01",
            "/foo/-1",
            "/foo/bar",
            "/a~1b/0",
            "/foo/0/0",
            f"/foo/{'9' * 5000}",
        ],
    )
    def test_nothing(self, pointer: str) -> None:
        """Where there is nothing, it is a `LookupError`."""
        with pytest.raises(LookupError):
            get(RFC, split(pointer))
