"""The rules of a Storyline: what the types of its members cannot say.

All are fatal: a Storyline is our own format and is never repaired. The checks read wire JSON, and pass over what has
the wrong type: that is reported with the structure (`hub.codec`).

Source: storyline.md 7; the order of the checks is that of its table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from hub import pointer as pointers
from hub.errors import MISSING, Json, Problem, Rule

if TYPE_CHECKING:
    from hub.storyline.model import Turn

SCHEMA_VERSION = "storyline/v1"

RESULT_MEMBERS = frozenset(
    {
        "correct",
        "score",
        "max_score",
        "status",
        "error",
        "final_answer",
        "ground_truth",
        "artifacts",
    }
)
"""Typed members of `task.result`, of which `null`, `""` and `{}` mean absent: storyline.md 3.4."""

OBJECT = Rule("storyline.object", "fatal", "an object")
REQUIRED = Rule("storyline.required", "fatal", "a value")
TYPE = Rule("storyline.type", "fatal", "a value of the right type")
UNKNOWN_KEY = Rule("storyline.unknown-key", "fatal", "a declared key")
TIME = Rule("storyline.time", "fatal", "a date-time with an offset, or Unix seconds")
VERSION = Rule("storyline.version", "fatal", f'"{SCHEMA_VERSION}"')
SESSION = Rule("storyline.session", "fatal", "a non-empty string")
TRAJECTORY = Rule("storyline.trajectory", "fatal", "a non-empty string")
AGENT_ID = Rule("storyline.agent-id", "fatal", "a non-empty string")
TASK_EMPTY = Rule("storyline.task-empty", "fatal", "a task with a set member")
TASK_K = Rule("storyline.task-k", "fatal", "an integer above 0")
PROMPT = Rule("storyline.prompt", "fatal", "a non-empty system or user text")
ORIGIN = Rule("storyline.origin", "fatal", "a non-empty string")
RESIDUAL_POINTER = Rule("storyline.residual-pointer", "fatal", "an RFC 6901 pointer")
COUNTS = Rule("storyline.counts", "fatal", "the counts of unknown_fields")
SOURCE = Rule("storyline.source", "fatal", "a non-empty string")
COPIED_PROMPT = Rule("storyline.copied-prompt", "fatal", "no prompt on a copied turn")
TURN_ID = Rule("storyline.turn-id", "fatal", "an id that no earlier turn has")
CALL_ID = Rule("storyline.call-id", "fatal", "a non-empty string")
FUNCTION = Rule("storyline.function", "fatal", "a non-empty string")
RESPONSE = Rule("storyline.response", "fatal", "a status or an exit code")
CALL_ID_UNIQUE = Rule("storyline.call-id-unique", "fatal", "an id that no earlier call has")
DOCUMENT_ID = Rule("storyline.document-id", "warning", "a document id that is not taken", "renamed")

RULES = tuple(value for value in globals().values() if isinstance(value, Rule))


def check(data: Mapping[str, Json], *, counts: bool = True) -> Iterator[Problem]:
    """Yield every rule that the wire JSON *data* of a Storyline breaks, in the order of storyline.md 7.

    *counts*: False when they were just computed from the residuals.
    """
    yield from _root(data)
    yield from _residuals(data, counts=counts)
    yield from _turns(data)


def are_sound(turns: Iterable[Turn]) -> bool:
    """Tell whether *turns* certainly keep the rules; False says nothing. The quick question, asked first."""
    turn_ids: set[int] = set()
    call_ids: set[str] = set()
    all_turns = all_calls = 0
    for turn in turns:
        all_turns += 1
        prompt = turn.prompt
        if not turn.source or (
            prompt is not None
            and (turn.is_copied_context is True or not (prompt.system or prompt.user))
        ):
            return False
        turn_ids.add(turn.turn_id)
        for call in turn.tool_calls or ():
            response = call.response
            if (
                not call.tool_call_id
                or not call.function_name
                or (response is not None and response.status is None and response.exit_code is None)
            ):
                return False
            call_ids.add(call.tool_call_id)
            all_calls += 1
    return len(turn_ids) == all_turns and len(call_ids) == all_calls


def _root(data: Mapping[str, Json]) -> Iterator[Problem]:
    version = data.get("schema_version")
    if type(version) is str and version != SCHEMA_VERSION:
        yield VERSION.at("/schema_version", version)
    if data.get("session") == "":
        yield SESSION.at("/session", "")
    if data.get("trajectory") == "":
        yield TRAJECTORY.at("/trajectory", "")
    if _object(data, "agent").get("id") == "":
        yield AGENT_ID.at("/agent/id", "")
    yield from _task(data)
    prompt = data.get("prompt")
    if type(prompt) is dict and not _has_text(prompt):
        yield PROMPT.at("/prompt", message=f"expected {PROMPT.expected}, found none")
    origin = _object(data, "origin")
    for key in ("format", "schema_version", "document_id"):
        if origin.get(key) == "":
            yield ORIGIN.at(f"/origin/{key}", "")


def _object(data: Mapping[str, Json], key: str) -> dict[str, Json]:
    """Return the object at *key*; an empty one where there is none."""
    value = data.get(key)
    return value if type(value) is dict else {}


def _has_text(prompt: dict[str, Json]) -> bool:
    return bool(prompt.get("system") or prompt.get("user"))


def _task(data: Mapping[str, Json]) -> Iterator[Problem]:
    task = data.get("task")
    if type(task) is not dict:
        return
    if not any(_is_set(name, part) for name, part in task.items()):
        yield TASK_EMPTY.at("/task", message=f"expected {TASK_EMPTY.expected}, found none")
    k = _object(task, "llm").get("k")
    if type(k) is int and k <= 0:
        yield TASK_K.at("/task/llm/k", k)


def _is_set(name: str, part: Json) -> bool:
    """Tell whether the member *name* of a task has a set member itself."""
    if type(part) is not dict:
        return part is not None
    return any(
        member is not None
        and not (member == {} and (name, key) == ("env", "state"))
        and not (member in ("", {}) and name == "result" and key in RESULT_MEMBERS)
        for key, member in part.items()
    )


def _residuals(data: Mapping[str, Json], *, counts: bool) -> Iterator[Problem]:
    sources = _object(_object(data, "unknown_fields"), "sources")
    invalid = [
        (name, pointer)
        for name in sources
        for pointer in _object(_object(sources, name), "fields")
        if not pointers.is_pointer(pointer)
    ]
    for name, pointer in invalid:
        at = pointers.join("unknown_fields", "sources", name, "fields", pointer)
        yield RESIDUAL_POINTER.at(at, pointer)
    if counts and not invalid and _has_residual_shape(data):
        yield from _counts(data, sources)


def _has_residual_shape(data: Mapping[str, Json]) -> bool:
    """Tell whether the counts of *data* can be compared: whether its residuals and its counts are well-formed."""
    unknown, found = data.get("unknown_fields"), data.get("unknown_key_counts")
    if unknown is not None:
        sources = unknown.get("sources") if type(unknown) is dict else None
        if type(sources) is not dict:
            return False
        if any(type(_object(sources, name).get("fields")) is not dict for name in sources):
            return False
    return found is None or type(found) is dict


def _counts(data: Mapping[str, Json], sources: dict[str, Json]) -> Iterator[Problem]:
    found = data.get("unknown_key_counts")
    if not sources and not found:
        return
    from hub.json import compact
    from hub.residuals import counts, equal
    from hub.storyline.model import Residuals

    expected = counts(
        {
            name: Residuals(source_document_id="", fields=source["fields"])
            for name, source in sources.items()
        }
    )
    if not equal(found or {}, expected):
        yield COUNTS.at(
            "/unknown_key_counts",
            MISSING if found is None else found,
            expected=f"{COUNTS.expected}, {compact(expected)}",
        )


def _turns(data: Mapping[str, Json]) -> Iterator[Problem]:
    turns = data.get("turns")
    if type(turns) is not list:
        return
    turn_ids: set[int] = set()
    call_ids: set[str] = set()
    for index, turn in enumerate(turns):
        if type(turn) is not dict:
            continue
        if turn.get("src") == "":
            yield SOURCE.at(f"/turns/{index}/src", "")
        if type(turn.get("prompt")) is dict:
            yield from _turn_prompt(turn, index)
        turn_id = turn.get("id")
        if type(turn_id) is int:
            if turn_id in turn_ids:
                yield TURN_ID.at(f"/turns/{index}/id", turn_id)
            turn_ids.add(turn_id)
        calls = turn.get("tool_calls")
        if type(calls) is list:
            yield from _calls(calls, index, call_ids)


def _turn_prompt(turn: dict[str, Json], index: int) -> Iterator[Problem]:
    prompt = turn["prompt"]
    if turn.get("copied") is True:
        yield COPIED_PROMPT.at(f"/turns/{index}/prompt", prompt)
    is_clear = prompt.get("system") == prompt.get("user") == ""
    if not is_clear and not _has_text(prompt):
        message = f"expected {PROMPT.expected}, or both empty, found neither"
        yield PROMPT.at(f"/turns/{index}/prompt", message=message)


def _calls(calls: list[Json], index: int, call_ids: set[str]) -> Iterator[Problem]:
    for position, call in enumerate(calls):
        if type(call) is not dict:
            continue
        if call.get("tcid") == "":
            yield CALL_ID.at(f"/turns/{index}/tool_calls/{position}/tcid", "")
        if call.get("fn") == "":
            yield FUNCTION.at(f"/turns/{index}/tool_calls/{position}/fn", "")
        response = call.get("response")
        if type(response) is dict and all(member is None for member in response.values()):
            yield RESPONSE.at(f"/turns/{index}/tool_calls/{position}/response", response)
        call_id = call.get("tcid")
        if type(call_id) is str:
            if call_id in call_ids:
                yield CALL_ID_UNIQUE.at(f"/turns/{index}/tool_calls/{position}/tcid", call_id)
            call_ids.add(call_id)
