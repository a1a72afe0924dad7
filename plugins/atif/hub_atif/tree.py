"""The tree of a document: its nodes, parents before children, and who they are.

Source: atif.md 4 and 5.1; residuals.md 1 (document ids).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from hub import Json, fingerprint, pointer
from hub_atif.model import CHILDREN, Agent, Step, Trajectory

DERIVED = "atif-"
"""Begins the session of a tree that names none."""
DERIVED_DIGITS = 16


class Node(NamedTuple):
    """One trajectory of a tree. Typed members have their types: what had another one is not there."""

    pointer: str
    parent: int | None
    """Position of the parent in the tree."""
    place: int
    """Place among the children of the parent."""
    trajectory: Trajectory
    agent: Agent
    steps: Sequence[Step]
    has_unique_call_ids: bool
    """Whether every call has an id that no other one of the node has."""


class Identity(NamedTuple):
    """Who a node is."""

    session: str
    trajectory: str | None
    key: str
    """Trajectory, else session; unique in the tree."""
    is_renamed: bool
    """Whether the id that the file gives is taken."""


class Tree:
    """The nodes of a document."""

    def __init__(self, value: Json) -> None:
        self.value = value
        """The document as it was read, without envelopes."""
        self.nodes: list[Node] = []

    @cached_property
    def document_id(self) -> str:
        """Id of the source document."""
        return document_id(self.value)

    @cached_property
    def identities(self) -> list[Identity]:
        """Who each node is, in the order of the nodes."""
        found: list[Identity] = []
        keys = Keys()
        for node in self.nodes:
            parent = None if node.parent is None else found[node.parent]
            found.append(self._identity(node, parent, keys))
        return found

    def _identity(self, node: Node, parent: Identity | None, keys: Keys) -> Identity:
        given = node.trajectory.get("trajectory_id") or None
        session = node.trajectory.get("session_id") or None
        if session is None:
            session = given if parent is None else parent.session
        if session is None:
            session = derived_session(self.document_id)
        wanted = given
        if wanted is None and parent is not None:
            wanted = f"{parent.key}/{node.place}"
        if wanted is None:
            return Identity(session, None, keys.take(session), is_renamed=False)
        key = keys.take(wanted)
        return Identity(session, key, key, is_renamed=given is not None and key != given)


class Keys:
    """The keys that nodes of a tree have got so far, in pre-order."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """Return *wanted*, or *wanted* with the smallest number from 2 that is free; it is taken from now on."""
        key = wanted
        while key in self._taken:
            self._numbers[wanted] = self._numbers.get(wanted, 1) + 1
            key = f"{wanted}#{self._numbers[wanted]}"
        self._taken.add(key)
        return key


def derived_session(document_id: str) -> str:
    """Return the session of a tree that names none."""
    return DERIVED + document_id[:DERIVED_DIGITS]


def is_derived_session(session: str) -> bool:
    """Tell whether *session* has the form of one that was derived."""
    digits = session.removeprefix(DERIVED)
    return (
        len(digits) == DERIVED_DIGITS
        and len(session) == len(DERIVED) + DERIVED_DIGITS
        and set(digits) <= set("0123456789abcdef")
    )


def document_id(tree: Json) -> str:
    """Return the id of a tree: the digest of its content, whether or not there is a place for an envelope."""
    return fingerprint(_without_empty_extra(tree))


def _without_empty_extra(tree: Json) -> Json:
    """Return *tree* less the empty `extra` of its nodes, which go whenever an envelope is taken out of them."""
    empty = [at for at, node in _nodes(tree) if node.get("extra") == {}]
    if not empty:
        return tree
    root = dict(tree)
    copies = pointer.CopyOnWrite(root)
    for at in empty:
        del copies.container(at)["extra"]
    return root


def _nodes(tree: Json) -> list[tuple[list[str], dict[str, Json]]]:
    """Return the objects where a node can be, each with the tokens of its place."""
    found: list[tuple[list[str], dict[str, Json]]] = [([], tree)] if type(tree) is dict else []
    for at, node in found:  # grows on the way
        children = node.get(CHILDREN)
        if type(children) is list:
            found.extend(
                ([*at, CHILDREN, str(index)], child)
                for index, child in enumerate(children)
                if type(child) is dict
            )
    return found
