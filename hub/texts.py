"""Long texts that the entries of a node share: none is stored twice, nor where the document has it.

What an entry needs, and another one needs too or another element of the plain Storyline has, is in the table of the
node, once: as a text, or as the place where the document has it. Entries copy from there. Source: decision 0010, which
goes beyond carrier.md 4.4 in this.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from hub import pointer as pointers
from hub.carrier import ROOT, digest, turn_key
from hub.difference import IN_TABLE, Change, homes, long_strings
from hub.errors import Json
from hub.patch import PatchError
from hub.storyline.model import Env, Prompt, Response, Storyline, ToolCall

KEY = "/texts"
"""Key of the table among the entries of a node."""

Wire = dict[str, Json]
ToWire = Callable[[str], Wire]
"""Gives the wire JSON of the plain element with a key: `""` is the root, `/turns/3` a turn."""

# Writing


class Sharing:
    """Where the long texts of the changes of one node come from: the element itself, the root, or the table."""

    def __init__(self, plain: Storyline, root: Wire) -> None:
        self.table: list[Json] = []
        """Each is `{"text": T}`, or `{"from": POINTER, "digest": D}` for one that the plain Storyline has."""
        self._plain = plain
        self._in_root = {text: pointer for text, pointer, _ in reversed(long_strings(root, ""))}
        self._own: dict[str, dict[str, str]] = {}
        self._needed: Counter[str] = Counter()
        """Texts that are not in the element that needs them, with the number of those elements."""
        self._shared: dict[str, str] = {}

    def add(self, key: str, change: Change, plain: Wire, spelling: bytes) -> dict[str, str] | None:
        """Add the *change* of the *plain* element with *key*; *spelling* is its canonical JSON.

        Return where each of its texts is copied from, or None if that is told by `homes` when all changes are there.
        """
        texts = change.places.keys()
        own: dict[str, str] = {}
        if key == ROOT or not texts <= self._in_root.keys():
            own = homes(plain, texts, spelling)
        for text in texts - own.keys() if own else texts:
            if text in self._in_root and text not in self._shared:
                self._share(text, self._in_root[text])
        missing = [text for text in texts if text not in own and text not in self._shared]
        if missing:
            self._own[key] = own
            self._needed.update(missing)
            return None
        return {text: own[text] if text in own else self._shared[text] for text in texts}

    def _share(self, text: str, pointer: str | None) -> None:
        entry = {"text": text} if pointer is None else {"from": pointer, "digest": digest(text)}
        self._shared[text] = f"{IN_TABLE}{len(self.table)}"
        self.table.append(entry)

    def settle(self, to_wire: ToWire) -> None:
        """Complete the table, after all changes were added; *to_wire* gives the plain elements."""
        if not self._needed:
            return
        in_turns = _find_in_turns(self._plain, self._needed.keys(), to_wire)
        for text, number in self._needed.items():
            if text in in_turns or number > 1:
                self._share(text, in_turns.get(text))

    def homes(self, key: str, change: Change) -> dict[str, str]:
        """Return where the texts of a *change* are copied from; of one that is the only place of a text, none."""
        own, shared = self._own[key], self._shared
        others = {text: shared[text] for text in change.places if text in shared}
        return others | own


_MANY = 64
"""So many turns are asked together whether they have a text."""


def _find_in_turns(plain: Storyline, texts: Collection[str], to_wire: ToWire) -> dict[str, str]:
    """Return the first place of each of *texts* that a turn has."""
    found: dict[str, str] = {}
    missing, lengths = set(texts), set(map(len, texts))
    for start in range(0, len(plain.turns), _MANY):
        some = plain.turns[start : start + _MANY]
        if missing.isdisjoint(_texts_in(some, lengths)):
            continue
        for index in range(start, start + len(some)):
            key = turn_key(index)
            for text, pointer, _ in long_strings(to_wire(key), key):
                if text in missing:
                    missing.remove(text)
                    found[text] = pointer
    return found


_HOLDERS = frozenset({dict, list, ToolCall, Response, Prompt, Env})


def _texts_in(values: Sequence[object], lengths: Collection[int]) -> set[str]:
    """Return every text in *values* that has one of *lengths*, keys among them; level by level, which is fast."""
    found: set[str] = set()
    level: Sequence[Any] = values
    while level:
        inner = []
        for one in gc.get_referents(*level):
            kind = type(one)
            if kind is str:
                if len(one) in lengths:
                    found.add(one)
            elif kind in _HOLDERS:
                inner.append(one)
        level = inner
    return found


# Reading


class StaleText(PatchError):
    """A text that an entry needs is no longer in the document."""


class Texts:
    """The table of a node, while its entries are applied."""

    def __init__(
        self, table: Json, to_wire: ToWire, number: int, warn: Callable[[str], object]
    ) -> None:
        """*number* is that of the plain turns; *warn* is told of a text that is not as it was.

        Raises:
            PatchError: *table* is none.
        """
        if not isinstance(table, list) or not all(map(_is_entry, table)):
            raise PatchError("expected an array of texts and of places with digests")
        self._table = table
        self._to_wire = to_wire
        self._number = number
        self._warn = warn
        self._known: dict[int, str] = {}
        self._by_digest: dict[str, str] | None = None

    def text(self, token: str) -> str:
        """Return the text whose index is *token*.

        Raises:
            LookupError: there is none.
            StaleText: it was in the document, and is no more.
        """
        index = pointers.index(token, len(self._table) - 1)
        if index not in self._known:
            entry = self._table[index]
            self._known[index] = entry["text"] if "text" in entry else self._found(entry)
        return self._known[index]

    def _found(self, entry: Mapping[str, str]) -> str:
        """Return the text that the document has: at its place, else anywhere; if it was edited, what is there now."""
        text = self._at(entry["from"])
        if text is not None and digest(text) == entry["digest"]:
            return text
        if self._by_digest is None:
            self._by_digest = {digest(one): one for one in self._all()}
        moved = self._by_digest.get(entry["digest"], text)
        if moved is None:
            raise StaleText(f"the text at {entry['from']} is gone")
        if moved is text:
            self._warn(f"the text at {entry['from']} was edited, and is used as it is now")
        return moved

    def _at(self, pointer: str) -> str | None:
        try:
            tokens = pointers.split(pointer)
            key = ROOT
            if tokens[:1] == ["turns"]:
                key = turn_key(pointers.index(tokens[1], self._number - 1))
                tokens = tokens[2:]
            text = pointers.get(self._to_wire(key), tokens)
        except (LookupError, ValueError):
            return None
        return text if isinstance(text, str) else None

    def _all(self) -> Iterator[str]:
        for key in (ROOT, *map(turn_key, range(self._number))):
            for text, _, _ in long_strings(self._to_wire(key), ""):
                yield text


def _is_entry(entry: Json) -> bool:
    return (
        isinstance(entry, dict)
        and entry.keys() in ({"text"}, {"from", "digest"})
        and all(isinstance(value, str) for value in entry.values())
    )
