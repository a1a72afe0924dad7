"""Patches of a carrier: RFC 6902 operations on one element, their bounds, and their application.

A patch comes from outside. Its reach is small: five kinds of operations, inside the element, copying strings only.
Source: carrier.md 6 and 9.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from hub import pointer as pointers
from hub.errors import Json
from hub.limits import MAX_COPIED, MAX_OPERATIONS, MAX_TOKENS

Operation = dict[str, Json]

HOLDER = "$texts"
"""First token of a pointer into the table of texts; no element has such a member."""

Lookup = Callable[[str], str]
"""Gives the text with an index in that table, or raises LookupError."""


class PatchError(ValueError):
    """A patch that does not fit its element, or breaks a bound."""


class Budget:
    """What is left of the bound on copied text in one node."""

    def __init__(self, characters: int = MAX_COPIED) -> None:
        self.characters = characters

    def take(self, characters: int) -> bool:
        """Take *characters* from what is left; False, and nothing taken, if that is too much."""
        if characters > self.characters:
            return False
        self.characters -= characters
        return True


def apply(
    element: dict[str, Json],
    operations: Json,
    budget: Budget,
    *,
    closed: Collection[str] = frozenset(),
    texts: Lookup | None = None,
) -> dict[str, Json]:
    """Return *element* with *operations* applied; *element* and what it shares are not changed.

    *closed* are the members that no operation may touch; *texts* gives what is copied from below `/$texts`.

    Raises:
        PatchError: an operation fails or breaks a bound; nothing is applied then.
    """
    if not isinstance(operations, list) or len(operations) > MAX_OPERATIONS:
        raise PatchError(f"expected an array of at most {MAX_OPERATIONS} operations")
    target = _Target(element, budget, closed, texts)
    for number, operation in enumerate(operations):
        try:
            target.apply(operation)
        except LookupError:
            raise PatchError(f"nothing is where operation {number} goes") from None
    return target.element


_MEMBERS = {
    "add": {"path", "value"},
    "replace": {"path", "value"},
    "remove": {"path"},
    "copy": {"path", "from"},
    "move": {"path", "from"},
}


class _Target:
    """An element that is being patched."""

    def __init__(
        self,
        element: dict[str, Json],
        budget: Budget,
        closed: Collection[str],
        texts: Lookup | None,
    ) -> None:
        self.element = dict(element)
        self._parts = pointers.CopyOnWrite(self.element)
        self._budget = budget
        self._closed = closed
        self._texts = texts

    def apply(self, operation: Json) -> None:
        kind = operation.get("op") if isinstance(operation, dict) else None
        members = _MEMBERS.get(kind) if isinstance(kind, str) else None
        if members is None or not members <= operation.keys():
            raise PatchError("expected add, remove, replace, copy or move, with its members")
        tokens = self._tokens(operation["path"])
        if kind == "remove":
            self._remove(tokens)
        elif kind == "add":
            self._add(tokens, operation["value"])
        elif kind == "replace":
            self._replace(tokens, operation["value"])
        else:
            source = self._tokens(operation["from"])
            text = self._text(source)
            if not isinstance(text, str):
                raise PatchError(f"expected a string to {kind}")
            if kind == "move":
                self._remove(source)
            elif not self._budget.take(len(text)):
                raise PatchError(f"expected copies of at most {MAX_COPIED} characters")
            self._add(tokens, text)

    def _text(self, source: list[str]) -> Json:
        if self._texts is not None and source[0] == HOLDER and HOLDER not in self.element:
            return self._texts("/".join(source[1:]))
        return pointers.get(self.element, source)

    def _tokens(self, path: Json) -> list[str]:
        try:
            tokens = pointers.split(path) if isinstance(path, str) else []
        except ValueError:
            tokens = []
        if not tokens:
            raise PatchError("expected a pointer to something in the element")
        if len(tokens) > MAX_TOKENS:
            raise PatchError(f"expected pointers of at most {MAX_TOKENS} tokens")
        if tokens[0] in self._closed:
            raise PatchError(f"expected no operation on /{tokens[0]}")
        return tokens

    def _add(self, tokens: list[str], value: Json) -> None:
        holder = self._parts.container(tokens[:-1])
        if isinstance(holder, list):
            holder.insert(pointers.index(tokens[-1], len(holder)), value)
        else:
            holder[tokens[-1]] = value

    def _remove(self, tokens: list[str]) -> None:
        holder = self._parts.container(tokens[:-1])
        del holder[_key(holder, tokens[-1])]

    def _replace(self, tokens: list[str], value: Json) -> None:
        holder = self._parts.container(tokens[:-1])
        holder[_key(holder, tokens[-1])] = value


def _key(holder: Json, token: str) -> str | int:
    """Return the key or index of what is there at *token*."""
    if isinstance(holder, list):
        return pointers.index(token, len(holder) - 1)
    if token not in holder:
        raise LookupError(token)
    return token
