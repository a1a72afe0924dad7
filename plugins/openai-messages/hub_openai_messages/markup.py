"""Markup: the call that an agent without structured calls wrote into its text.

Source: openai-messages.md A4.2.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hub import Json, value_of_text
from hub_openai_messages.values import is_text

CALL, CALL_END = "<tool_call>", "</tool_call>"
FUNCTION = "<function="
PARAMETER, PARAMETER_END = "<parameter=", "</parameter>"
_END_OF_NAME = re.compile(r"[>\n<]")


class MarkupCall(NamedTuple):
    """A call in a text."""

    name: str
    arguments: dict[str, Json]


def call_in_content(content: Json) -> MarkupCall | None:
    """Return the call that the *content* of a response holds; None if it holds none."""
    if type(content) is str and "<" not in content:
        return None
    text = text_of_content(content)
    start = text.find(CALL)
    if start >= 0:
        rest = text[start + len(CALL) :]
        found = _json_call(rest)
        if found is not None:
            return found
    else:
        start = text.find(FUNCTION)
        if start < 0:
            return None
        rest = text[start + len(FUNCTION) :]
    name = _END_OF_NAME.split(rest.strip(), maxsplit=1)[0].strip()
    return MarkupCall(name, _parameters(text)) if name else None


def text_of_content(content: Json) -> str:
    """Return the text of a content: the string; of an array its texts, a line each; of an object its `text`."""
    if type(content) is str:
        return content
    if type(content) is dict:
        content = [content]
    if type(content) is not list:
        return ""
    texts = (part.get("text") if type(part) is dict else part for part in content)
    return "\n".join(text for text in texts if type(text) is str)


def _json_call(rest: str) -> MarkupCall | None:
    """Return the call that stands as JSON behind the first marker."""
    value = value_of_text(rest.partition(CALL_END)[0].strip())
    if type(value) is not dict or not is_text(value.get("name")):
        return None
    for key in ("arguments", "parameters"):
        if key in value:
            return MarkupCall(value["name"], value[key])
    return MarkupCall(value["name"], {})


def _parameters(text: str) -> dict[str, Json]:
    """Return the parameters of the whole *text*; of two with one name the later one."""
    found: dict[str, Json] = {}
    at = text.find(PARAMETER)
    while at >= 0:
        at += len(PARAMETER)
        end = text.find(">", at)
        if end < 0:
            break
        key = text[at:end].strip()
        at = end + 1
        if key:
            end = text.find(PARAMETER_END, at)
            found[key] = (text[at:] if end < 0 else text[at:end]).strip()
            at = len(text) if end < 0 else end + len(PARAMETER_END)
        at = text.find(PARAMETER, at)
    return found
