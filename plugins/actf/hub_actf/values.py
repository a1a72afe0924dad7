"""Values: what is empty, what counts as a text or a number, and what a Storyline says of its outcome.

Source: actf.md 1, 3 and 5.1; actf-records.md 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hub import ExactNumber, Json, Storyline, TaskResult


def text(value: Json) -> str:
    """Return a nullable string; another type counts as `""`, since it is a residual."""
    return value if type(value) is str else ""


def is_blank(value: str) -> bool:
    """Tell whether *value* is empty after white space is stripped: actf.md 3."""
    return not value or value.isspace()


def is_empty(value: Json) -> bool:
    """Tell whether *value* is absent, `null`, `""`, `{}` or `[]`; 0 and `false` are not empty (actf.md 5.1)."""
    return value is None or (not value and type(value) in CAN_BE_EMPTY)


CAN_BE_EMPTY = frozenset({str, dict, list})


def unless_empty(value: Json) -> Json:
    """Return *value*, or None where it is empty: the Storyline field is then not set."""
    return None if is_empty(value) else value


def of_type(kind: type, value: Json) -> Json:
    """Return *value* if it is of exactly that type; a boolean is no integer."""
    return value if type(value) is kind else None


def first_of_type(kind: type, *values: Json) -> Json:
    """Return the first of *values* that is of exactly that type; None if none is."""
    return next((value for value in values if type(value) is kind), None)


def is_number(value: Json) -> bool:
    """Tell whether *value* is a JSON number; a boolean is none."""
    return type(value) is int or type(value) is float or type(value) is ExactNumber


def attempt_numbers(keys: Iterable[str]) -> list[int]:
    """Return those of the attempt *keys* that are numbers, as numbers."""
    return [int(key) for key in keys if is_attempt_number(key)]


def is_attempt_number(key: str) -> bool:
    """Tell whether *key* is a positive integer without leading zeros."""
    return key.isascii() and key.isdecimal() and key[0] != "0" and len(key) < MAX_DIGITS


MAX_DIGITS = 20
"""No attempt has a number of more digits; Python refuses to convert thousands."""


def outcome(storyline: Storyline) -> TaskResult:
    """Return the outcome of *storyline*; one that says nothing, where there is none."""
    task = storyline.task
    return TaskResult() if task is None or task.result is None else task.result


def budget(storyline: Storyline) -> int | None:
    """Return how many attempts were allowed, if *storyline* says so."""
    task = storyline.task
    return None if task is None or task.llm is None else task.llm.k


def final_metrics(storyline: Storyline) -> Mapping[str, Json]:
    """Return the final metrics of *storyline*; none, if they are no object."""
    metrics = storyline.final_metrics
    return metrics if type(metrics) is dict else {}
