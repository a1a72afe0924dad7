"""Values: what has a value, what is empty, and which JSON a text spells.

Source: openai-messages.md A3 and A6.
"""

from __future__ import annotations

from typing import TypeGuard

from hub import MISSING, Json, value_of_text


def has_value(value: Json) -> bool:
    """Tell whether *value* says something: the value test of openai-messages.md A3."""
    todo = [value]
    while todo:
        one = todo.pop()
        kind = type(one)
        if kind is list:
            todo.extend(one)
        elif kind is dict and "text" in one:
            todo.append(one["text"])
        elif kind is str or kind is dict:
            if one:
                return True
        elif one is not None:
            return True
    return False


def is_empty(value: Json) -> bool:
    """Tell whether *value* is `null`, `[]` or `{}`."""
    return value is None or value in ([], {})


def is_text(value: Json) -> TypeGuard[str]:
    """Tell whether *value* is a string that is not empty."""
    return type(value) is str and value != ""


def object_of(value: Json) -> dict[str, Json] | None:
    """Return the object that *value* is, or that it spells as a text; None if it is neither."""
    if type(value) is str:
        value = value_of_text(value)
    return value if type(value) is dict else None


def value_of_arguments(arguments: Json) -> Json:
    """Return the JSON that the *arguments* of a call spell; a text that is no JSON, and any other value, as it is."""
    if type(arguments) is not str:
        return arguments
    value = value_of_text(arguments)
    return arguments if value is MISSING else value
