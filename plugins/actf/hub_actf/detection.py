"""Detection: how sure one may be that a sample is ACTF, and by which evidence.

Source: detection.md 3 and 5.
"""

from __future__ import annotations

from collections.abc import Sequence

from hub import Detection, Json, Sample, pointer

MARKER = "ACTF_"
TASK_MARKER = "agentcompass.task."
FOREIGN = ("storyline/", "ATIF", "ALE-v")
"""How the version markers of other formats begin."""
HINT = 50


def is_task(record: Json) -> bool:
    """Tell whether *record* is a `task.json`, which names the directories of its attempts: its folder is the source."""
    version = record.get("schema_version") if isinstance(record, dict) else None
    return isinstance(version, str) and version.startswith(TASK_MARKER)


def detect_sample(sample: Sample) -> Detection | None:
    """Answer for all records shown: as sure as of the least sure one."""
    if sample.container == "directory":
        return detect_directory(sample.records)
    answers = [detect_record(record, complete=sample.complete) for record in sample.records]
    sure = [answer for answer in answers if answer is not None]
    if not sure or len(sure) < len(answers):
        return None
    least = min(sure, key=lambda answer: answer.confidence)
    is_uniform = {answer.variant for answer in sure} == {least.variant}
    return least if is_uniform else least._replace(variant=None)


def detect_directory(paths: Sequence[str]) -> Detection | None:
    """Answer for a directory by the *paths* of its files: a task, and a result one folder deeper."""
    files = set(paths)
    for path in sorted(files):
        *outer, _, name = ["", *path.split("/")]
        task = "/".join([*outer[1:], "task.json"])
        if name == "result.json" and outer and task in files:
            return Detection(85, f"{task} with {path}", "directory")
    return None


def detect_record(record: Json, *, complete: bool) -> Detection | None:
    """Answer for one record; the version marker of another format leaves no more than a hint."""
    if not isinstance(record, dict):
        return None
    version = record.get("schema_version")
    version = version if isinstance(version, str) else ""
    answer = (
        _task_file(record, version)
        or _document(record, complete=complete)
        or _bare(record, version)
    )
    if answer is not None and version.startswith(FOREIGN):
        return answer._replace(confidence=min(answer.confidence, HINT))
    return answer


def _task_file(record: dict[str, Json], version: str) -> Detection | None:
    """AgentCompass's `task.json`, which names the directories of its attempts."""
    attempts = record.get("attempts")
    if not version.startswith(TASK_MARKER) or not isinstance(attempts, dict):
        return None
    if not all(isinstance(directory, str) for directory in attempts.values()):
        return None
    return Detection(100, f'schema_version "{version}" at /', "task")


def _document(record: dict[str, Json], *, complete: bool) -> Detection | None:
    """A task and its attempts, each with a trajectory as far as one can see."""
    attempts = record.get("attempts")
    if "task_id" not in record or not isinstance(attempts, dict) or not attempts:
        return None
    is_record = "attempt_plan" in record
    variant = "record" if is_record else None
    marked, seen = None, None
    for key, attempt in attempts.items():
        if not isinstance(attempt, dict):
            return None
        if "trajectory" not in attempt:
            continue
        seen = seen or key
        if not _is_trajectory(attempt["trajectory"], complete=complete):
            return None
        if marked is None and _marker(attempt["trajectory"]):
            marked = key
    if marked is not None:
        place = pointer.join("attempts", marked, "trajectory")
        marker = _marker(attempts[marked]["trajectory"])
        return Detection(100, f'schema_version "{marker}" at {place}', variant)
    if is_record:
        return Detection(90, "task_id, attempts and attempt_plan at /", variant)
    if seen is not None:
        place = pointer.join("attempts", seen, "trajectory")
        return Detection(90, f"task_id at / and a trajectory at {place}")
    return None if complete else Detection(70, "task_id and attempts at /")


def _is_trajectory(value: Json, *, complete: bool) -> bool:
    """Tell whether *value* can be a trajectory: an object with the marker, an event array, or empty."""
    if isinstance(value, list):
        return all(isinstance(event, dict) for event in value)
    if isinstance(value, dict) and value:
        return bool(_marker(value)) or (not complete and "schema_version" not in value)
    return value is None or value == {}


def _marker(trajectory: Json) -> str:
    """Return the version marker of *trajectory*; `""` if it has none."""
    version = trajectory.get("schema_version") if isinstance(trajectory, dict) else None
    return version if isinstance(version, str) and version.startswith(MARKER) else ""


def _bare(record: dict[str, Json], version: str) -> Detection | None:
    """A trajectory, or AgentCompass's `result.json`, without the task that it belongs to."""
    if version.startswith(MARKER) and isinstance(record.get("steps"), list):
        return Detection(HINT, "a trajectory without its task")
    if "task_id" not in record and {"metrics", "issues", "trajectory"} <= record.keys():
        return Detection(HINT, "a result without its task")
    return None
