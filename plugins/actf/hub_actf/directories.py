"""Directories: a task that AgentCompass keeps in several files, put together to one record.

    details/<state>/<task>/task.json                        the task, and the directory of each attempt
    details/<state>/<task>/<attempt>/result.json            an attempt, and how often it was retried

Source: actf-records.md 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from hub import (
    Document,
    HubError,
    InvalidDocument,
    Json,
    Problem,
    Record,
    Source,
    is_integer,
    pointer,
)
from hub_actf import rules
from hub_actf.effective import ParsedTask
from hub_actf.model import RECORD
from hub_actf.parsing import parse_record

TASK = "task.json"
RESULT = "result.json"
RUNNING = "running"
"""State of a task that is not finished: the name of the folder that its folder is in."""

Files = Mapping[PurePosixPath, Source]


def parse_directory(source: Source, problems: list[Problem]) -> Iterator[Document[ParsedTask]]:
    """Yield a document for each finished task in the directory *source*, in path order; *problems* takes the others."""
    files = {PurePosixPath(file.name or ""): file for file in source.files()}
    outer = PurePosixPath((source.name or "").replace("\\", "/"))
    for index, folder in enumerate(task_folders(files)):
        place = "" if folder == PurePosixPath() else str(folder)
        if (outer / folder).parent.name == RUNNING:
            problem = rules.RECORD_RUNNING.at("", message="the task is still running: not read")
            problems.append(problem._replace(document=place or None))
            continue
        record = Record(None, place, index, source.zone, source.options, source.name)
        yield parse_task(files[folder / TASK], folder, files, record, source.prepare)


def task_folders(files: Files) -> list[PurePosixPath]:
    """Return the folders of tasks, in path order; what an attempt left behind in its own is none."""
    folders = {path.parent: None for path in files if path.name == TASK}
    return [folder for folder in folders if not any(one in folders for one in folder.parents)]


def parse_task(
    file: Source,
    folder: PurePosixPath,
    files: Files,
    record: Record,
    prepare: Callable[[Record], object] | None,
) -> Document[ParsedTask]:
    """Return the document of the task that *file* describes; *record* says where it is."""
    try:
        task = file.value()
    except InvalidDocument as error:
        return _unreadable(record, error.problems)
    if type(task) is not dict:
        return _unreadable(record, [rules.OBJECT.at("", task)])
    problems: list[Problem] = []
    record.value = record_from_task(task, folder, files, problems)
    if prepare is not None:
        prepare(record)
    document = parse_record(record)
    document.problems[:0] = problems
    return document


def _unreadable(record: Record, problems: Iterable[Problem]) -> Document[ParsedTask]:
    return Document(ParsedTask(None, RECORD, {}, {}), record=record, problems=list(problems))


def record_from_task(
    task: Mapping[str, Json], folder: PurePosixPath, files: Files, problems: list[Problem]
) -> dict[str, Json]:
    """Return the record of *task*, with the attempts that can be read; *problems* takes why others cannot."""
    directories = task.get("attempts")
    attempts, counts = {}, {}
    for key, directory in directories.items() if type(directories) is dict else ():
        try:
            result = dict(read_result(directory, folder, files, f"/attempts/{pointer.escape(key)}"))
        except InvalidDocument as error:
            problems.extend(error.problems)
            continue
        count = result.get("retry_count")
        if is_integer(count) and count >= 0:
            del result["retry_count"]
            if count:
                counts[key] = count
        if result:
            attempts[key] = result
    return {
        **{key: value for key, value in task.items() if key != "schema_version"},
        "retry_count": sum(counts.values()),
        "retry_counts": counts,
        "attempts": attempts,
    }


def read_result(directory: Json, folder: PurePosixPath, files: Files, at: str) -> dict[str, Json]:
    """Return what is in the `result.json` of an attempt's *directory*.

    Raises:
        InvalidDocument: the directory is not inside the task's, or there is no such file in it that can be read.
    """
    inner = PurePosixPath(directory) if type(directory) is str else PurePosixPath("/")
    is_inside = directory and not inner.is_absolute() and ".." not in inner.parts
    if not is_inside or "\\" in directory:
        raise InvalidDocument([rules.RECORD_PATH.at(at, directory)])
    file = files.get(folder / inner / RESULT)
    if file is None:
        raise InvalidDocument([rules.RECORD_MISSING.at(at, directory)])
    try:
        result = file.value()
    except HubError as error:
        message = f"{file.name} cannot be read: {error}"
        raise InvalidDocument([rules.RECORD_MISSING.at(at, directory, message=message)]) from error
    if type(result) is not dict:
        raise InvalidDocument([rules.RECORD_MISSING.at(at, result, expected="an object")])
    return result
