"""A cursor over the tokens of JSON, and what passes over all that need not be built.

What is passed over is checked all the same: the patterns that go from one bracket to the next follow the grammar.

Source: detection.md 2, step 4.
"""

from __future__ import annotations

from typing import NoReturn

from hub import grammar
from hub.errors import InvalidDocument, Json, Rule, show
from hub.grammar import MAX_STRING
from hub.input_rules import ENCODING, JSON, TOO_DEEP
from hub.limits import DEPTH


class HeadEnds(Exception):
    """The head ends inside a value; what was read before stands."""


class Cursor:
    """A place in the text of one head."""

    __slots__ = ("at", "complete", "depth", "everything", "text")

    def __init__(self, text: bytes, at: int, *, everything: bool) -> None:
        self.text = text
        self.at = at
        self.everything = everything
        """Whether the head is all there is: its end is then an error inside a value."""
        self.complete = everything
        """Whether nothing has been cut."""
        self.depth = 0
        """How many containers are open at the cursor."""

    def peek(self) -> bytes:
        """Go to the next character that is no white space and return it, `b""` at the end."""
        self.at = grammar.white_space(self.text, self.at).end()
        return self.text[self.at : self.at + 1]

    def key(self) -> str:
        """Read a key and its colon."""
        if self.peek() != b'"':
            self.refuse("a key")
        key: str = self.value()
        if self.peek() != b":":
            self.refuse('":"')
        self.at += 1
        return key

    def value(self) -> Json:
        """Read a scalar, or the opening bracket of a container."""
        mark = self.peek()
        if mark in _EMPTY:
            self.at += 1
            return _EMPTY[mark]()
        if mark == b'"':
            return self._string()
        match = grammar.number_or_word(self.text, self.at)
        if match is None:
            self.refuse("a value")
        self.at = match.end()
        if mark in _WORDS:
            return _WORDS[mark]
        end = grammar.number_characters(self.text, self.at).end()
        if end == len(self.text) and not self.everything:
            raise HeadEnds
        return grammar.number(match.group())

    def _string(self) -> str:
        """Read a string; one that goes on behind the head is read if the head shows as much of it as is kept."""
        start = self.at + 1
        self.at = grammar.to_string_end(self.text, self.at).end()
        is_whole = self.text[self.at : self.at + 1] == b'"'
        if not is_whole and not self._head_ends():
            self.refuse("the rest of a string")
        text = grammar.string(self.text, start, self.at)
        if is_whole:
            self.at += 1
        elif len(text) > MAX_STRING:
            self.at = len(self.text)
        else:
            raise HeadEnds
        return self._kept(text)

    def _kept(self, text: str) -> str:
        if len(text) > MAX_STRING:
            self.complete = False
        return text[:MAX_STRING]

    def _head_ends(self) -> bool:
        """Tell whether the head ends inside the token at the cursor, or before it."""
        return not self.everything and grammar.may_go_on(self.text, self.at)

    def refuse(self, expected: str, rule: Rule = JSON) -> NoReturn:
        """Raise for what is at the cursor: the end of the head, or what is not JSON."""
        if self._head_ends():
            raise HeadEnds
        found = self.text[self.at : self.at + 4].decode("utf-8", "replace")[:1]
        if found == "\0":
            message = f"not text: a NUL byte at offset {self.at}"
            raise InvalidDocument([ENCODING.at("", message=message)])
        shown = show(found) if found else "the end"
        message = (
            f"not JSON: expected {expected}, found {shown} at {grammar.place(self.text, self.at)}"
        )
        raise InvalidDocument([rule.at("", message=message)])

    def skip(self, closer: int) -> None:
        """Pass over the rest of the innermost open container, which *closer* ends."""
        text, at = self.text, self.at
        closers = bytearray((closer,))
        room = DEPTH - self.depth + 1
        while closers:
            match = _TO_BRACKET[closers[-1]](text, at)
            if match is None:
                self.at = at
                self._refuse_inside(closers[-1])
            at = match.end()
            opened = _CLOSER_OF.get(text[at - 1])
            if opened is None:
                closers.pop()
            else:
                closers.append(opened)
                if len(closers) > room:
                    where = grammar.place(text, at - 1)
                    message = f"more than {DEPTH} levels of arrays and objects at {where}"
                    raise InvalidDocument([TOO_DEEP.at("", message=message)])
        self.at = at

    def _refuse_inside(self, closer: int) -> NoReturn:
        """Raise for what stands between the cursor and the next bracket of the container that *closer* ends."""
        more = f'"," or "{chr(closer)}"'
        if self.text[self.at - 1] not in _CLOSER_OF:
            if self.peek() != b",":
                self.refuse(more)
            self.at += 1
        if closer == END_OF_OBJECT:
            self.at = grammar.behind_members(self.text, self.at)
            self.key()
        else:
            self.at = grammar.behind_elements(self.text, self.at)
        self.value()
        self.peek()
        self.refuse(more)


def closer_of(container: list[Json] | dict[str, Json]) -> int:
    """Return the byte that ends *container*."""
    return END_OF_OBJECT if isinstance(container, dict) else END_OF_ARRAY


END_OF_OBJECT = ord("}")
END_OF_ARRAY = ord("]")
_CLOSER_OF = {ord("{"): END_OF_OBJECT, ord("["): END_OF_ARRAY}
_TO_BRACKET = {
    END_OF_OBJECT: grammar.to_bracket_in_object,
    END_OF_ARRAY: grammar.to_bracket_in_array,
}
_EMPTY: dict[bytes, type[list[Json] | dict[str, Json]]] = {b"{": dict, b"[": list}
_WORDS = {b"t": True, b"f": False, b"n": None}
