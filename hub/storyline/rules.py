"""The rules of a Storyline: what the types cannot say. All are fatal: a Storyline is our own format and is never repaired.

Source: storyline.md 7; the order of the checks is that of its table.
"""

from __future__ import annotations

from collections.abc import Iterator

from hub import pointer as pointers
from hub.errors import Json, Problem, Rule
from hub.residuals import counts, equal
from hub.storyline.model import SCHEMA_VERSION, Env, Prompt, Storyline, Task, TaskResult, Turn

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


def check(storyline: Storyline, unknown_key_counts: Json = None) -> Iterator[Problem]:
    """Yield every rule that *storyline* breaks, in the order of storyline.md 7.

    *unknown_key_counts* is what the document says they are; None: it says nothing.
    """
    yield from _root(storyline)
    yield from _residuals(storyline, unknown_key_counts)
    yield from _turns(storyline)


def check_model(storyline: Storyline) -> Iterator[Problem]:
    """Yield every rule that a Storyline in memory breaks; the counts, which are derived, are right by definition."""
    yield from check(storyline, counts(storyline.unknown_fields))


def _root(storyline: Storyline) -> Iterator[Problem]:
    if storyline.session_id == "":
        yield SESSION.at("/session", "")
    if storyline.trajectory_id == "":
        yield TRAJECTORY.at("/trajectory", "")
    if storyline.agent.agent_id == "":
        yield AGENT_ID.at("/agent/id", "")
    task = storyline.task
    if task is not None:
        if _is_empty(task):
            yield TASK_EMPTY.at("/task", {})
        if task.llm is not None and task.llm.k is not None and task.llm.k <= 0:
            yield TASK_K.at("/task/llm/k", task.llm.k)
    if storyline.prompt is not None and not _has_text(storyline.prompt):
        yield PROMPT.at("/prompt", message="expected a non-empty system or user text, found none")
    origin = storyline.origin
    if origin is not None:
        for key in ("format", "schema_version", "document_id"):
            if getattr(origin, key) == "":
                yield ORIGIN.at(f"/origin/{key}", "")


def _is_empty(task: Task) -> bool:
    env, llm, result = task.env, task.llm, task.result
    return (
        (env is None or env in (Env(), Env(state={})))
        and (llm is None or llm.k is None)
        and (result is None or result == TaskResult())
    )


def _has_text(prompt: Prompt) -> bool:
    return bool(prompt.system or prompt.user)


def _residuals(storyline: Storyline, unknown_key_counts: Json) -> Iterator[Problem]:
    invalid = False
    for source, residuals in storyline.unknown_fields.items():
        for pointer in residuals.fields:
            if not pointers.is_pointer(pointer):
                invalid = True
                at = pointers.join("unknown_fields", "sources", source, "fields", pointer)
                yield RESIDUAL_POINTER.at(at, pointer)
    expected = counts(storyline.unknown_fields)
    if unknown_key_counts is not None and type(unknown_key_counts) is not dict:
        yield TYPE.at("/unknown_key_counts", unknown_key_counts, expected="an object")
    elif not invalid and not equal(unknown_key_counts or {}, expected):
        yield COUNTS.at("/unknown_key_counts", unknown_key_counts)


def _turns(storyline: Storyline) -> Iterator[Problem]:
    turn_ids: set[int] = set()
    call_ids: set[str] = set()
    for index, turn in enumerate(storyline.turns):
        yield from _turn(turn, index, turn_ids)
        if turn.tool_calls:
            yield from _calls(turn, index, call_ids)


def _turn(turn: Turn, index: int, turn_ids: set[int]) -> Iterator[Problem]:
    if turn.source == "":
        yield SOURCE.at(f"/turns/{index}/src", "")
    prompt = turn.prompt
    if prompt is not None:
        if turn.is_copied_context:
            yield COPIED_PROMPT.at(f"/turns/{index}/prompt", {"prompt": 1})
        if not _has_text(prompt) and not (prompt.system == "" and prompt.user == ""):
            message = "expected a non-empty system or user text, or both empty, found neither"
            yield PROMPT.at(f"/turns/{index}/prompt", message=message)
    if turn.turn_id in turn_ids:
        yield TURN_ID.at(f"/turns/{index}/id", turn.turn_id)
    turn_ids.add(turn.turn_id)


def _calls(turn: Turn, index: int, call_ids: set[str]) -> Iterator[Problem]:
    for position, call in enumerate(turn.tool_calls or ()):
        at = f"/turns/{index}/tool_calls/{position}"
        if call.tool_call_id == "":
            yield CALL_ID.at(f"{at}/tcid", "")
        if call.function_name == "":
            yield FUNCTION.at(f"{at}/fn", "")
        if (
            call.response is not None
            and call.response.status is None
            and call.response.exit_code is None
        ):
            yield RESPONSE.at(f"{at}/response", {})
        if call.tool_call_id in call_ids:
            yield CALL_ID_UNIQUE.at(f"{at}/tcid", call.tool_call_id)
        call_ids.add(call.tool_call_id)
