"""Storyline to ATIF: families are nested, each Storyline is one node, restored or conformed.

Source: atif.md 6.1 and 6.2.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from hub import (
    PLACEHOLDER,
    Agent,
    Families,
    Json,
    Member,
    Storyline,
    WriteOptions,
    families,
)
from hub_atif.conforming import conformed_steps, steps_have_audio
from hub_atif.metrics import write_final_metrics
from hub_atif.model import (
    CHILDREN,
    ENVELOPE,
    SOURCE,
    WITH_AUDIO,
    WRITTEN,
    element_types,
    is_version,
)
from hub_atif.restoring import native_residuals, put_back, restored_steps
from hub_atif.rules import CHILD_MISSING, FAMILY
from hub_atif.tree import Keys, derived_session, document_id, is_derived_session

Node = dict[str, Any]


def write(storylines: Sequence[Storyline], options: WriteOptions) -> Iterator[Node]:
    """Yield one document for each root of the families that *storylines* are."""
    found = families(storylines)
    _warn(found, options)
    for root in found.roots:
        yield _write_family(root, options)


def _warn(found: Families, options: WriteOptions) -> None:
    """Say which links the nesting leaves to the carrier."""
    for storyline, index in found.missing:
        child = (storyline.child_ids or [])[index]
        options.warn(CHILD_MISSING.at(f"/children/{index}", child), storyline)
    for storyline in found.cyclic:
        options.warn(FAMILY.at("/children", storyline.child_ids), storyline)


def _write_family(root: Member, options: WriteOptions) -> Node:
    """Return the node of *root* with those of its descendants; nesting depth is not bounded by recursion."""
    tree: list[Node] = []
    keys = Keys()
    derived: list[tuple[Node, str]] = []
    todo: list[tuple[Member, list[Node]]] = [(root, tree)]
    while todo:
        member, siblings = todo.pop()
        storyline = member.storyline
        key = keys.take(storyline.document_id)
        is_nested = siblings is not tree
        children: list[Node] = []
        if is_restored(storyline, options):
            node = restored_node(storyline, children)
            if is_derived_session(storyline.session_id):
                del node["session_id"]
                derived.append((node, storyline.session_id))
            put_back(node, storyline, options)
        else:
            node = conformed_node(storyline, key if is_nested or storyline.trajectory_id else None)
            if member.children:
                node[CHILDREN] = children
            for place, value in native_residuals(storyline).items():
                options.unplaced(storyline, place, value)
        siblings.append(node)
        todo.extend((child, children) for child in reversed(member.children))
    if derived:
        _name_sessions(tree[0], derived)
    return tree[0]


def is_restored(storyline: Storyline, options: WriteOptions) -> bool:
    """Tell whether *storyline* is written as it was read: it came from ATIF, in a version that is read."""
    if options.conform or not storyline.is_from(SOURCE) or storyline.origin is None:
        return False
    version = storyline.origin.schema_version
    return version is None or bool(is_version(version))


def _name_sessions(root: Node, derived: Sequence[tuple[Node, str]]) -> None:
    """Write the sessions that look derived but are not: those that the document would not be given again."""
    own = root.get("session_id") or root.get("trajectory_id") or derived_session(document_id(root))
    for node, session in derived:
        if session != own:
            node.setdefault("session_id", session)


# Restored


def restored_node(storyline: Storyline, children: list[Node]) -> Node:
    """A Storyline as the node that it was; *children* are its own."""
    node: Node = {}
    if storyline.origin is not None and storyline.origin.schema_version is not None:
        node["schema_version"] = storyline.origin.schema_version
    node["session_id"] = storyline.session_id
    if storyline.trajectory_id is not None:
        node["trajectory_id"] = storyline.trajectory_id
    node["agent"] = _restored_agent(storyline.agent)
    node["steps"] = restored_steps(storyline)
    for key, value in (
        ("notes", storyline.notes),
        ("final_metrics", storyline.final_metrics),
        ("continued_trajectory_ref", storyline.continued_trajectory_ref),
        ("extra", _without_envelope(storyline.extra)),
    ):
        if value is not None:
            node[key] = value
    if storyline.child_ids is not None:
        node[CHILDREN] = children
    return node


def _restored_agent(agent: Agent) -> dict[str, Json]:
    members = {
        "name": agent.name,
        "version": agent.version,
        "model_name": agent.model_name,
        "tool_definitions": agent.tool_definitions,
        "extra": agent.extra,
    }
    return {key: value for key, value in members.items() if value is not None}


def _without_envelope(extra: Json) -> Json:
    """The value, without what stands at the place of the envelope."""
    if type(extra) is dict and ENVELOPE in extra:
        return {key: value for key, value in extra.items() if key != ENVELOPE}
    return extra


# Conformed


def conformed_node(storyline: Storyline, trajectory_id: str | None) -> Node:
    """A Storyline as Harbor wants it, without what is nested in it."""
    steps = conformed_steps(storyline)
    node: Node = {
        "schema_version": WITH_AUDIO if steps_have_audio(steps) else WRITTEN,
        "session_id": storyline.session_id,
    }
    if trajectory_id is not None:
        node["trajectory_id"] = trajectory_id
    node["agent"] = conformed_agent(storyline.agent)
    node["steps"] = steps
    # ALE's reference points backwards, to the part before: ale.md 5.10.
    goes_on = None if storyline.is_from("ale") else storyline.continued_trajectory_ref
    for key, value in (
        ("notes", storyline.notes),
        ("final_metrics", write_final_metrics(storyline.final_metrics)),
        ("continued_trajectory_ref", goes_on),
        ("extra", _object(_without_envelope(storyline.extra))),
    ):
        if value is not None:
            node[key] = value
    return node


def conformed_agent(agent: Agent) -> dict[str, Json]:
    """Who acted; a name and a version are demanded."""
    tools = agent.tool_definitions
    members = {
        "name": agent.name or agent.agent_id,
        "version": agent.version or PLACEHOLDER,
        "model_name": agent.model_name,
        "tool_definitions": tools
        if type(tools) is list and element_types(tools) <= {dict}
        else None,
        "extra": _object(agent.extra),
    }
    return {key: value for key, value in members.items() if value is not None}


def _object(value: Json) -> Json:
    return value if type(value) is dict else None
