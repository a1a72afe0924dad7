"""From a record to a document: what it holds, and everything that is wrong with it.

Source: ale.md 2, 3.2 and 4; validation.md 6.
"""

from collections.abc import Iterator

from hub import Document, InvalidDocument, Json, Problem, Record, Source
from hub_ale import rules
from hub_ale.completing import Node, complete
from hub_ale.model import IMAGE


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
        document.problems.extend(
            problem for problem in rules.problems(nodes) if not _has_wrong_type(problem, document)
        )
    return document


def parse_directory(source: Source, file_name: str) -> Iterator[Document[list[Node]]]:
    """Yield the trajectory of every file named *file_name* below a directory, in path order."""
    files = (file for file in source.files() if (file.name or "").split("/")[-1] == file_name)
    for index, file in enumerate(files):
        record = Record(
            None,
            place=file.name or "",
            index=index,
            zone=source.zone,
            options=source.options,
            name=file.name,
        )
        try:
            record.value = file.value()
        except InvalidDocument as refusal:
            yield Document([], record=record, problems=list(refusal.problems))
            continue
        if source.prepare is not None:
            source.prepare(record)
        yield parse_record(record)


def _has_wrong_type(problem: Problem, document: Document[list[Node]]) -> bool:
    """Tell whether a part breaks its rule only because a member of it was set aside."""
    return problem.rule == rules.PART.rule and any(
        f"{problem.pointer}/{member}" in document.residuals
        for member in ("text", "image", *(f"image/{key}" for key in IMAGE.defaults))
    )


def is_bare_step(value: dict[str, Json]) -> bool:
    """Tell whether an object is one step of a trajectory, as third parties log them: deviation D2."""
    return {"step_id", "source"} <= value.keys() and not value.keys() & {
        "episode_id",
        "agent",
        "task_path",
        "steps",
    }
