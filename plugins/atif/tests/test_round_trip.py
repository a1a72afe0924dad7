"""Round trips: nothing that a document says is lost, whatever is wrong with it, and what is written is accepted."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from hub_atif.tree import document_id
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import hub
from hub import Storyline, WriteOptions, compact
from hub.testing.strategies import storylines as any_storylines

from .builders import CONFORM, document, problems, read, write
from .owner import ATIF, HARBOR, assert_accepted, each_opinion, objection
from .strategies import trajectories, with_faults, with_unknown_keys

Json = Any

patient = settings(
    deadline=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
    ],
)
"""Documents are large, and some of those with faults cannot be read at all."""

TYPED = {
    "trajectory": (
        *("session_id", "trajectory_id", "notes", "final_metrics", "continued_trajectory_ref"),
        *("extra", "subagent_trajectories"),
    ),
    "agent": ("model_name", "tool_definitions", "extra"),
    "step": (
        *("timestamp", "model_name", "reasoning_effort", "reasoning_content", "tool_calls"),
        *("observation", "metrics", "extra", "llm_call_count", "is_copied_context"),
    ),
    "call": ("result", "extra"),
}
"""Keys that are optional, by the object that they are in: there null is as good as missing."""


def normal(value: Json) -> Json:
    """Return a document without the nulls of optional keys, and with the keys that are always written."""
    found = read(value)
    session = found[0].session_id
    root = _normal(copy.deepcopy(value), list(found))
    if _is_derived(session) and session != f"atif-{document_id(root)[:16]}":
        # The document would be given another one: it is written, here and where it is inherited.
        for node in _nodes(root):
            node.setdefault("session_id", session)
    return root


def _nodes(node: Json) -> Iterator[Json]:
    yield node
    children = node.get("subagent_trajectories")
    for child in children if isinstance(children, list) else ():
        yield from _nodes(child)


def _normal(node: Json, found: list[Storyline]) -> Json:
    storyline = found.pop(0)
    _strip(node, "trajectory")
    _strip(node["agent"], "agent")
    for index, (step, turn) in enumerate(zip(node["steps"], storyline.turns, strict=True)):
        _strip(step, "step")
        calls = step.get("tool_calls")
        if isinstance(calls, list) and all(isinstance(call, dict) for call in calls):
            for call, read_call in zip(calls, turn.tool_calls or (), strict=True):
                _strip(call, "call")
                call.setdefault("tool_call_id", read_call.tool_call_id)
                call.setdefault("function_name", "unknown")
                call.setdefault("arguments", None)
        step.setdefault("step_id", index + 1 if "step_id" not in step else None)
        step.setdefault("source", "unknown")
        step.setdefault("message", None)
    if node.get("session_id") in (None, ""):
        node["session_id"] = storyline.session_id
        if _is_derived(storyline.session_id):
            del node["session_id"]
    if storyline.parent is not None and "trajectory_id" not in node:
        node["trajectory_id"] = storyline.trajectory_id
    children = node.get("subagent_trajectories")
    if isinstance(children, list):
        node["subagent_trajectories"] = [_normal(child, found) for child in children]
    return node


def _strip(value: Json, kind: str) -> None:
    for key in TYPED[kind]:
        if key in value and value[key] is None:
            del value[key]


def _is_derived(session: str) -> bool:
    return session.startswith("atif-")


def spelled(value: Json) -> str:
    """Return *value* as text with its keys sorted: integers and floats stay apart, and `-0.0` from `0.0`."""
    return compact(_sorted(value))


def _sorted(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return list(map(_sorted, value)) if isinstance(value, list) else value


class TestSameFormat:
    @patient
    @given(trajectories())
    def test_sound(self, source: Json) -> None:
        """A sound document of any version comes back, to the letter, and nothing is carried."""
        before = copy.deepcopy(source)
        options = WriteOptions()
        found = read(source)

        (written,) = write(*found, options=options)

        assert before == source
        assert [] == [one for one in problems(source) if one[0] in ("fatal", "error")]
        assert spelled(source) == spelled(written)
        assert {} == options.unplaced_residuals
        assert [] == options.problems
        assert found == read(written)
        if any(one[1] == "child-id-unique" for one in problems(source)):
            return
        assert_accepted(written)

    @patient
    @given(trajectories().flatmap(with_unknown_keys))
    def test_unknown_keys(self, source: Json) -> None:
        """With unknown keys everywhere, and any values under them, it comes back as well."""
        assume(not document(source).is_fatal)
        options = WriteOptions()

        (written,) = write(*read(source), options=options)

        assert spelled(normal(source)) == spelled(written)
        assert {} == options.unplaced_residuals

    @patient
    @given(trajectories().flatmap(with_faults))
    def test_faults(self, source: Json) -> None:
        """Whatever is wrong with a document that can be read, it comes back as wrong as it was."""
        assume(not document(source).is_fatal)
        before = copy.deepcopy(source)
        options = WriteOptions()

        (written,) = write(*read(source), options=options)

        assert before == source
        assert spelled(normal(source)) == spelled(written)
        assert {} == options.unplaced_residuals


class TestConformed:
    @patient
    @given(trajectories().flatmap(with_faults))
    def test_faults(self, source: Json) -> None:
        """With `conform=yes` every document becomes one that is accepted, the same one each time."""
        assume(not document(source).is_fatal)
        before = copy.deepcopy(source)
        options = WriteOptions(options=CONFORM)

        (written,) = write(*read(source), options=options)

        assert before == source
        assert [] == [one for one in problems(written) if one[0] in ("fatal", "error")]
        assert_accepted(written)
        assert spelled(written) == spelled(write(*read(source), options=options)[0])

    @patient
    @given(trajectories())
    def test_sound(self, source: Json) -> None:
        """A sound document loses nothing by it but what is set aside, and its version."""
        (written,) = write(*read(source), options=WriteOptions(options=CONFORM))
        assert_accepted(written)
        assert [len(one.turns) for one in read(source)] == [len(one.turns) for one in read(written)]


class TestAnyOrigin:
    @patient
    @given(st.lists(any_storylines(), min_size=1, max_size=3), st.data())
    def test_accepted(self, found: list[Storyline], data: st.DataObject) -> None:
        """Any Storylines become documents that are accepted, and read again as as many."""
        names = [one.document_id for one in found]
        for one in found:
            one.child_ids = data.draw(st.lists(st.sampled_from(names), max_size=2))
        before = copy.deepcopy(found)

        written = write(*found)

        assert before == found
        assert written == write(*before)
        for one in written:
            assert [] == [each for each in problems(one) if each[0] in ("fatal", "error")]
            assert_accepted(one)
        assert len(found) == sum(len(read(one)) for one in written)

    @patient
    @given(any_storylines(exact=True))
    def test_exact_values(self, found: Storyline) -> None:
        """Numbers that no reader holds go where anything goes."""
        for one in write(found):
            assert [] == [each for each in problems(one) if each[0] in ("fatal", "error")]


class TestOpinions:
    """The rules say what the models say: validation.md 7."""

    @each_opinion
    def test_faults(self, opinion: Any) -> None:
        """A document without an error is accepted by both, and one with an error is not by the owner's models."""
        model = opinion()

        @patient
        @given(trajectories().flatmap(lambda one: with_faults(one, 1)))
        def check(source: Json) -> None:
            refused = objection(model, source) is not None
            found = [one for one in problems(source) if one[0] in ("fatal", "error")]
            if not found and not _is_newer(source):
                assert not refused, objection(model, source)
            if found and not refused and model is HARBOR:
                assert all(_is_coerced(source, one) for one in found), found

        check()

    def test_both_are_there(self) -> None:
        """Where they are asked for, the models are installed."""
        import os

        if os.environ.get("HUB_REQUIRE_OWNERS"):
            assert HARBOR is not None
            assert ATIF is not None


def _is_newer(source: Json) -> bool:
    return any(rule == "version-newer" for _, rule, _ in problems(source))


def _is_coerced(source: Json, problem: tuple[str, str, str]) -> bool:
    """Tell whether a model may accept the value at a problem because it takes it for one of another type."""
    _, rule, pointer = problem
    value = hub.pointer.get(source, hub.pointer.split(pointer))
    return rule in ("type", "value") and isinstance(value, (bool, int, float, str))
