"""The rules of rows, and those of the API and of fine-tuning for chats.

Source: validation.md 8; openai-messages.md 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from hub import MISSING, Json, Problem, Rule, pointer, show
from hub_openai_messages.calls import SourceCall
from hub_openai_messages.detection import ROLES
from hub_openai_messages.model import KNOWN_KEYS, PARTS
from hub_openai_messages.values import is_text

ROWS = Rule("openai.rows", "fatal", "an array of rows with at least one row")
ROW = Rule("openai.row", "fatal", "an object")
SESSION_ID = Rule("openai.session-id", "fatal", "a non-empty string")
STEP_ID = Rule(
    "openai.step-id",
    "error",
    "an integer above 0 that no other row of the session has",
    "renumbered",
)
TYPE = Rule("openai.type", "error", "a value of the right type", "residual")
OUTPUT = Rule(
    "openai.output", "error", "an assistant message with content, refusal or calls", "kept"
)
RUN = Rule("openai.run", "error", "the run of the session", "residual")
TIME = Rule("openai.time", "warning", "a date-time with an offset, or Unix seconds", "residual")
META = Rule("openai.meta", "warning", "a text that holds a JSON object", "residual")
CALL = Rule(
    "openai.call", "error", "a call with an id, a name and a known type", "kept or residual"
)
CALL_ID_UNIQUE = Rule(
    "openai.call-id-unique", "error", "an id that no other call of the conversation has", "renamed"
)
ARGUMENTS = Rule("openai.arguments", "warning", "JSON text", "kept")
RESULT_CALL = Rule(
    "openai.result-call", "error", "the id of a call of the nearest assistant message", "kept"
)
SESSION_REOPENED = Rule("openai.session-reopened", "fatal", "rows of a session side by side")
LAYOUT = Rule("openai.layout", "warning", "messages that say what the Storyline says", "the turns")
ROW_ORDER = Rule(
    "openai.row-order",
    "info",
    "rows in the order of their steps, a session at a time",
    "normalised",
)
MESSAGES = Rule("openai.messages", "fatal", "an array of messages, each an object")
MESSAGES_EMPTY = Rule("openai.messages-empty", "error", "at least one message", "kept")
ROLE = Rule("openai.role", "error", f"one of {', '.join(sorted(ROLES))}", "kept")
CONTENT = Rule("openai.content", "error", "what the role allows", "kept")
UNANSWERED = Rule("openai.unanswered", "error", "a tool message for the call", "kept")
UNKNOWN_KEY = Rule("openai.unknown-key", "warning", "a key that the API knows", "kept or residual")

RULES = tuple(value for value in globals().values() if isinstance(value, Rule))


def as_warning(rule: Rule) -> Rule:
    """Return *rule* as rows have it, where the id of a call may come back and its result may be missing."""
    return rule._replace(severity="warning")


# Chats: the API's rules and those of fine-tuning


def chat(
    messages: Sequence[dict[str, Json]], calls_of: Mapping[int, Sequence[SourceCall]]
) -> Iterator[Problem]:
    """Yield what breaks a rule in *messages*, message by message; some make calls, which are by their index."""
    if not messages:
        yield MESSAGES_EMPTY.at("/messages", messages)
    pairing = _Pairing()
    for index, message in enumerate(messages):
        if pairing.is_plain(message, calls_of.get(index), index):
            continue
        role, at = message.get("role", MISSING), f"/messages/{index}"
        known = KNOWN_KEYS.get(role) if type(role) is str else None
        if known is None:
            yield ROLE.at(f"{at}/role", role)
            known = KNOWN_KEYS["assistant"]
        elif type(message.get("content")) is not str:
            yield from content(message, at)
        if not message.keys() <= known:
            yield from unknown_keys(message, known, at)
        if "tool_calls" in message or "function_call" in message:
            yield from calls(message, at)
        yield from pairing.check(message, index)


def content(message: Mapping[str, Json], at: str) -> Iterator[Problem]:
    """The content is there where it has to be, and is of a type and of parts that the role allows."""
    role, value = message["role"], message.get("content", MISSING)
    at = f"{at}/content"
    if type(value) is list:
        for index, part in enumerate(value):
            if not is_part(part, PARTS[role]):
                expected = f"a part of type {' or '.join(PARTS[role]) or 'none'}"
                yield CONTENT.at(f"{at}/{index}", part, expected=expected)
    elif value is MISSING:
        if role != "assistant" or {"tool_calls", "function_call"}.isdisjoint(message):
            yield CONTENT.at(at)
    elif value is not None or role not in ("assistant", "function"):
        yield CONTENT.at(at, value)


def is_part(part: Json, kinds: Sequence[str]) -> bool:
    """Tell whether *part* is a content part of one of *kinds*, with its payload."""
    kind = part.get("type") if type(part) is dict else None
    return type(kind) is str and kind in kinds and _PAYLOADS[kind](part)


def _is_image(part: Mapping[str, Json]) -> bool:
    image = part.get("image_url")
    return type(image) is dict and type(image.get("url")) is str


def _is_audio(part: Mapping[str, Json]) -> bool:
    audio = part.get("input_audio")
    return (
        type(audio) is dict
        and type(audio.get("data")) is str
        and audio.get("format") in ("wav", "mp3")
    )


_PAYLOADS: Mapping[str, Callable[[Mapping[str, Json]], bool]] = {
    "text": lambda part: type(part.get("text")) is str,
    "refusal": lambda part: type(part.get("refusal")) is str,
    "file": lambda part: type(part.get("file")) is dict,
    "image_url": _is_image,
    "input_audio": _is_audio,
}


def unknown_keys(message: Mapping[str, Json], known: frozenset[str], at: str) -> Iterator[Problem]:
    """The API knows the keys of a message."""
    for key in message:
        if key not in known:
            yield UNKNOWN_KEY.at(f"{at}/{pointer.escape(key)}", key)


def calls(message: Mapping[str, Json], at: str) -> Iterator[Problem]:
    """A call has an id, a type that is known, and a name."""
    listed = message.get("tool_calls", [])
    if type(listed) is not list:
        yield CALL.at(f"{at}/tool_calls", listed, expected="an array of calls")
    else:
        for index, call in enumerate(listed):
            if not is_call(call):
                yield _broken_call(call, f"{at}/tool_calls/{index}")
    function = message.get("function_call")
    if function is not None and not _has_name(function):
        yield CALL.at(f"{at}/function_call", function, expected="a call with a name")


def _broken_call(call: Json, at: str) -> Problem:
    """Return the problem of what is no call, with what it lacks."""
    if type(call) is not dict:
        return CALL.at(at, call)
    kind = call.get("type")
    if not is_text(call.get("id")):
        lacking = "an id"
    elif kind not in ("function", "custom"):
        lacking = "a known type"
    else:
        lacking = "a name"
    return CALL.at(at, call, message=f"expected {CALL.expected}, found one without {lacking}")


def is_call(call: Json) -> bool:
    """Tell whether *call* is one as the API knows it."""
    if type(call) is not dict or not is_text(call.get("id")):
        return False
    kind = call.get("type")
    return kind in ("function", "custom") and _has_name(call.get(kind))


def _has_name(function: Json) -> bool:
    return type(function) is dict and is_text(function.get("name"))


class _Pairing:
    """Which calls are open, message by message."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        """Of all calls so far."""
        self.of_nearest: list[str] = []
        """Ids, and names of functions, that a result may answer: of the calls of the nearest assistant message."""
        self.open: dict[str, tuple[int, int]] = {}
        """Where each of those is that no message has answered yet: message, and position in it; -1 for a function."""

    def is_plain(
        self, message: Mapping[str, Json], own: Sequence[SourceCall] | None, index: int
    ) -> bool:
        """Tell whether a message with a text breaks no rule, as most do not; it is taken into account."""
        role, content, number = message.get("role"), message.get("content", MISSING), len(message)
        if type(content) is not str and (content is not None or role != "assistant"):
            return False
        if role == "tool":
            call_id = message.get("tool_call_id")
            if number == 3 and call_id in self.of_nearest:  # noqa: PLR2004  # role, content and this
                self.open.pop(call_id, None)
                return True
            return False
        if self.open:
            return False
        if role == "assistant":
            if number == 2:  # noqa: PLR2004  # role and content
                self.of_nearest = []
                return True
            return (
                own is not None
                and number == 3  # noqa: PLR2004  # and calls
                and self._have_plain_calls(message.get("tool_calls"), own, index)
            )
        return number == 2 and role in ("user", "system")  # noqa: PLR2004  # role and content

    def _have_plain_calls(self, listed: Json, own: Sequence[SourceCall], index: int) -> bool:
        """Tell whether the message at *index* makes calls that break no rule; then they are open."""
        ids = [call.source_id for call in own if call.is_usual and call.source_id is not None]
        if type(listed) is not list or len(ids) < len(listed):
            return False
        opened = {call_id: (index, position) for position, call_id in enumerate(ids)}
        if len(opened) < len(ids) or not self.ids.isdisjoint(ids):
            return False
        self.ids.update(ids)
        self.of_nearest, self.open = ids, opened
        return True

    def check(self, message: Mapping[str, Json], index: int) -> Iterator[Problem]:
        """Ids differ, calls are answered before anything else is said, and answers name a call."""
        role = message.get("role")
        if role == "tool":
            yield from self._result(message, "tool_call_id", index)
            return
        if role == "function":
            yield from self._result(message, "name", index)
            return
        if self.open:
            for call_id, (of, position) in self.open.items():
                place = "function_call" if position < 0 else f"tool_calls/{position}"
                yield UNANSWERED.at(
                    f"/messages/{of}/{place}",
                    message=f"expected a message that answers {show(call_id)}, found none",
                )
            self.open = {}
        if role == "assistant":
            yield from self._calls(message, index)

    def _calls(self, message: Mapping[str, Json], index: int) -> Iterator[Problem]:
        self.of_nearest = []
        listed = message.get("tool_calls")
        for position, call in enumerate(listed if type(listed) is list else ()):
            call_id = call.get("id") if type(call) is dict else None
            if not is_text(call_id):
                continue
            if call_id in self.ids:
                yield CALL_ID_UNIQUE.at(f"/messages/{index}/tool_calls/{position}/id", call_id)
            self.ids.add(call_id)
            self.of_nearest.append(call_id)
            self.open.setdefault(call_id, (index, position))
        function = message.get("function_call")
        if type(function) is dict and is_text(function.get("name")):
            self.of_nearest.append(function["name"])
            self.open.setdefault(function["name"], (index, -1))

    def _result(self, message: Mapping[str, Json], key: str, index: int) -> Iterator[Problem]:
        named = message.get(key, MISSING)
        if type(named) is str and named in self.of_nearest:
            self.open.pop(named, None)
            return
        shown = ", ".join(map(show, self.of_nearest[:SHOWN_IDS]))
        expected = f"one of {shown}" if shown else "no result, since no call is before it"
        yield RESULT_CALL.at(f"/messages/{index}/{key}", named, expected=expected)


SHOWN_IDS = 8
"""So many ids are listed in a message."""
