"""Families, and document ids that are unique (storyline.md 8)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.errors import Problem
from hub.storyline.families import Families, Member, families
from hub.storyline.identity import with_unique_ids
from hub.storyline.model import Agent, Origin, Storyline

Tree = tuple[str, list[Any]]


def story(name: str, *children: str, label: str | None = None) -> Storyline:
    """Return a Storyline with the document id *name*; *label* tells it from others of that id."""
    return Storyline(
        session_id=name,
        agent=Agent(agent_id=label or name),
        turns=[],
        child_ids=list(children) or None,
    )


def tree(member: Member) -> Tree:
    """Return a member by its label, with its children."""
    return member.storyline.agent.agent_id, [tree(child) for child in member.children]


def trees(found: Families) -> list[Tree]:
    return [tree(root) for root in found.roots]


def missing(found: Families) -> list[tuple[str, int]]:
    return [(parent.agent.agent_id, index) for parent, index in found.missing]


def cyclic(found: Families) -> list[str]:
    return [storyline.agent.agent_id for storyline in found.cyclic]


class TestFamilies:
    @pytest.mark.parametrize(
        ("storylines", "expected"),
        [
            ([], []),
            ([story("a"), story("b")], [("a", []), ("b", [])]),
            ([story("a", "b"), story("b")], [("a", [("b", [])])]),
            ([story("b"), story("a", "b")], [("a", [("b", [])])]),
            (
                [story("a", "c", "b"), story("b", "d"), story("c"), story("d"), story("e")],
                [("a", [("c", []), ("b", [("d", [])])]), ("e", [])],
            ),
        ],
    )
    def test_trees(self, storylines: list[Storyline], expected: list[Tree]) -> None:
        """Stories nest where they are listed, in the order of the lists; others are roots in their order."""
        found = families(storylines)
        assert expected == trees(found)
        assert ([], []) == (found.missing, found.cyclic)

    def test_missing(self) -> None:
        """A child that is not in the batch is skipped, and named by its parent and index."""
        found = families([story("a", "x", "b", "y"), story("b", "z")])
        assert [("a", [("b", [])])] == trees(found)
        assert [("a", 0), ("b", 0), ("a", 2)] == missing(found)

    def test_two_parents(self) -> None:
        """The first parent gets the child; for the second it is missing."""
        found = families([story("a", "c"), story("b", "c"), story("c")])
        assert [("a", [("c", [])]), ("b", [])] == trees(found)
        assert [("b", 0)] == missing(found)

    def test_listed_twice(self) -> None:
        """A child that is listed twice has one place."""
        found = families([story("a", "b", "b"), story("b")])
        assert [("a", [("b", [])])] == trees(found)
        assert [("a", 1)] == missing(found)

    def test_one_id_twice(self) -> None:
        """Each listing takes the next story of that id."""
        found = families([story("a", "b", "b"), story("b", label="b1"), story("b", label="b2")])
        assert [("a", [("b1", []), ("b2", [])])] == trees(found)

    def test_behind_the_parent_first(self) -> None:
        """Of several stories of one id, those behind the parent come first, then those before it."""
        stories = [
            story("c", label="c1"),
            story("a", "c", label="a1"),
            story("c", label="c2"),
            story("b", "c", label="b1"),
        ]
        assert [("a1", [("c2", [])]), ("b1", [("c1", [])])] == trees(families(stories))

    def test_trajectory_is_the_identity(self) -> None:
        """Children are listed by document id: the trajectory, where there is one."""
        child = story("s", label="child")
        child.trajectory_id = "t"
        assert [("a", [("child", [])])] == trees(families([story("a", "t"), child]))
        assert 2 == len(families([story("a", "s"), child]).roots)

    def test_parent_is_not_asked(self) -> None:
        """An empty list of children, and links from below, make no family."""
        one = story("a")
        one.child_ids = []
        assert [("a", []), ("b", [])] == trees(families([one, story("b")]))

    @pytest.mark.parametrize(
        ("storylines", "expected", "left"),
        [
            ([story("a", "a")], [("a", [])], ["a"]),
            ([story("a", "b"), story("b", "a")], [("a", [("b", [])])], ["a"]),
            (
                [story("x"), story("b", "c"), story("c", "b", "d"), story("d")],
                [("x", []), ("b", [("c", [("d", [])])])],
                ["b"],
            ),
            (
                [story("a", "b"), story("b", "a"), story("c", "d"), story("d", "c")],
                [("a", [("b", [])]), ("c", [("d", [])])],
                ["a", "c"],
            ),
        ],
    )
    def test_cycles(
        self, storylines: list[Storyline], expected: list[Tree], left: list[str]
    ) -> None:
        """Of stories that are each other's children, the first becomes a root."""
        found = families(storylines)
        assert expected == trees(found)
        assert left == cyclic(found)

    def test_cycle_closes_with_a_missing_child(self) -> None:
        """The listing that closes a cycle finds its story placed already."""
        assert [("b", 0)] == missing(families([story("a", "b"), story("b", "a")]))

    @given(
        st.lists(
            st.tuples(st.sampled_from("abcde"), st.lists(st.sampled_from("abcdex"), max_size=3)),
            max_size=8,
        )
    )
    def test_each_has_one_place(self, stories: list[tuple[str, list[str]]]) -> None:
        """Every story has exactly one place, and every listing is placed or missing."""
        storylines = [story(name, *children) for name, children in stories]
        found = families(storylines)
        placed: list[Storyline] = []
        todo = list(found.roots)
        while todo:
            member = todo.pop()
            placed.append(member.storyline)
            todo.extend(member.children)
        assert sorted(map(id, storylines)) == sorted(map(id, placed))
        listings = sum(len(children) for _, children in stories)
        assert listings == len(found.missing) + len(storylines) - len(found.roots)

    def test_deep(self) -> None:
        """A chain of any length nests without recursion."""
        count = 5000
        chain = [story(str(index), str(index + 1)) for index in range(count)]
        found = families([*chain, story(str(count))])
        depth, member = 0, found.roots[0]
        while member.children:
            (member,) = member.children
            depth += 1
        assert (1, count) == (len(found.roots), depth)

    def test_many_of_one_id(self) -> None:
        """Thousands of stories of one id take no time to speak of."""
        count = 20_000
        found = families([story("a", *["b"] * count), *(story("b") for _ in range(count))])
        assert count == len(found.roots[0].children)


class TestUniqueIds:
    @staticmethod
    def ids(*storylines: Storyline) -> list[str]:
        return [storyline.document_id for storyline, _ in with_unique_ids(storylines)]

    def test_different(self) -> None:
        """Stories with ids of their own are passed on as they are."""
        one, other = story("a"), story("b")
        assert [(one, None), (other, None)] == list(with_unique_ids([one, other]))

    def test_renamed(self) -> None:
        """The second and later story of an id gets the first free number."""
        assert ["a", "a#1", "a#2", "b"] == self.ids(*map(story, ("a", "a", "a", "b")))

    def test_numbers_that_are_taken(self) -> None:
        """A name that is taken is passed over."""
        assert ["a#1", "a", "a#2", "a#1#1"] == self.ids(*map(story, ("a#1", "a", "a", "a#1")))

    def test_where_it_is_written(self) -> None:
        """The new id stands in the trajectory, if there is one, else in the session; a copy has it."""
        first, second = story("a"), story("x")
        second.trajectory_id = "a"
        third = story("a")
        renamed = [storyline for storyline, _ in with_unique_ids([first, second, third])]
        assert [("a", None), ("x", "a#1"), ("a#2", None)] == [
            (storyline.session_id, storyline.trajectory_id) for storyline in renamed
        ]
        assert ("a", "a") == (second.trajectory_id, third.session_id)

    def test_warning(self) -> None:
        """Each renaming is told at the member that changed."""
        first, second, third = story("a"), story("a"), story("x")
        third.trajectory_id = "a"
        warnings = [warning for _, warning in with_unique_ids([first, second, third])]
        message = 'expected a document id that is not taken, found "a"'
        assert [
            None,
            *(
                Problem(
                    "warning",
                    "storyline.document-id",
                    pointer,
                    message,
                    document="a",
                    expected="a document id that is not taken",
                    found='"a"',
                )
                for pointer in ("/session", "/trajectory")
            ),
        ] == warnings


class TestIdentity:
    def test_document_id(self) -> None:
        """A story is its trajectory, when that is set and not empty, else its session."""
        one = story("s")
        assert "s" == one.document_id
        one.trajectory_id = ""
        assert "s" == one.document_id
        one.trajectory_id = "t"
        assert "t" == one.document_id

    def test_is_from(self) -> None:
        """A story is from the format that its origin names; without an origin from none."""
        one = story("s")
        assert not one.is_from("actf")
        one.origin = Origin(format="actf")
        assert one.is_from("actf")
        assert not one.is_from("ale")
