"""From a record to a document: what it holds, and everything that is wrong with it.

Source: ale.md 2, 3.2 and 4; validation.md 6.
"""

from hub import Document, Json, Record
from hub_ale import rules
from hub_ale.completing import Node, complete


def parse_record(record: Record) -> Document[list[Node]]:
    """Return the trajectories of *record*; a fatal problem says why there is nothing to map."""
    document: Document[list[Node]] = Document([], record=record)
    value = record.value
    if type(value) is not dict:
        document.report(rules.OBJECT.at("", value))
    elif is_bare_step(value):
        document.report(rules.BARE_STEPS.at("", value, message="a step, not a trajectory"))
    else:
        document.value = complete(document, value)
        nodes = [(node.pointer, node.trajectory) for node in document.value]
        document.problems.extend(rules.problems(nodes))
    return document


def is_bare_step(value: dict[str, Json]) -> bool:
    """Tell whether an object is one step of a trajectory, as third parties log them: deviation D2."""
    return {"step_id", "source"} <= value.keys() and not value.keys() & {
        "episode_id",
        "agent",
        "task_path",
        "steps",
    }
