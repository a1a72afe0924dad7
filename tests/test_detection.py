"""Which format an input is: detection.md 2, 4 and 5, the near misses of 6 and the worked examples of 7.

The formats here are stand-ins with the rules of detection.md 3: the hub is tested without any plugin installed.
"""

from __future__ import annotations

import bz2
import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hub import detection
from hub.detection import (
    STAGES,
    Answer,
    Candidate,
    Detected,
    claim,
    detect,
    second_opinion,
)
from hub.errors import MISSING, InvalidDocument, Json, Problem
from hub.hookspecs import Detection, FormatInfo, Sample
from hub.json import loads_at_once
from hub.limits import DEFAULTS, MAX_PATHS
from hub.source import Source

# Stand-ins for formats


class Stub:
    """A format whose plugin answers by a function of the sample."""

    def __init__(
        self, id: str, answer: Callable[[Sample], Any], info: FormatInfo | None = None
    ) -> None:
        self.id = id
        self.info = info or FormatInfo(id, id, suffixes=(f".{id}.json",))
        self.answer = answer
        self.samples: list[Sample] = []

    def detect(self, sample: Sample) -> Detection | None:
        """Answer, and remember what was asked."""
        self.samples.append(sample)
        found: Detection | None = self.answer(sample)
        return found


def by_record(
    rule: Callable[[dict[str, Json], Sample], Detection | None],
) -> Callable[[Sample], Any]:
    """Answer for all records of a sample by the least sure answer for one."""

    def answer(sample: Sample) -> Detection | None:
        if sample.container in ("text", "directory"):
            return None
        answers = [rule(one, sample) if isinstance(one, dict) else None for one in sample.records]
        known = [one for one in answers if one]
        return (
            min(known, key=lambda one: one.confidence)
            if known and len(known) == len(answers)
            else None
        )

    return answer


def _marker(record: dict[str, Json], supported: str, own: str) -> Detection | None:
    """Answer by the version marker: 100, 95, or nothing."""
    version = record.get("schema_version")
    if not isinstance(version, str) or not version.startswith(own):
        return None
    confidence = 100 if re.fullmatch(supported, version) else 95
    return Detection(confidence, f'schema_version "{version}" at /')


def _is_foreign(record: dict[str, Json]) -> bool:
    version = record.get("schema_version")
    return isinstance(version, str) and version.startswith(("storyline/", "ATIF", "ALE-v", "ACTF_"))


def _storyline(record: dict[str, Json], _: Sample) -> Detection | None:
    shape = isinstance(record.get("session"), str) and isinstance(record.get("turns"), list)
    if "schema_version" not in record and shape and isinstance(record.get("agent"), dict):
        return Detection(50, "session, agent and turns at /, but no schema_version")
    return _marker(record, "storyline/v1", "storyline/")


def _atif(record: dict[str, Json], _: Sample) -> Detection | None:
    agent, steps = record.get("agent"), record.get("steps")
    if "schema_version" in record or "episode_id" in record:
        return _marker(record, r"ATIF-v1\.\d+", "ATIF")
    if isinstance(agent, dict) and isinstance(agent.get("name"), str) and isinstance(steps, list):
        seen = any(
            isinstance(step, dict) and {"step_id", "source", "message"} <= step.keys()
            for step in steps
        )
        return Detection(65 if seen else 60, "agent and steps at /")
    return None


def _ale(record: dict[str, Json], sample: Sample) -> Detection | None:
    if "schema_version" in record:
        found = _marker(record, r"ALE-v1\.0", "ALE-v")
        whole = {"episode_id", "agent", "task_path"} & record.keys() or not sample.complete
        return None if found and found.confidence == 100 and not whole else found
    kinds: dict[str, Any] = {
        "episode_id": str,
        "task_path": str,
        "variant_index": (int, float),
        "agent": dict,
    }
    seen = sum(isinstance(record.get(key), kind) for key, kind in kinds.items())
    return Detection(90 if seen == 4 else 60, "episode_id at /") if seen >= 3 else None


def _actf(record: dict[str, Json], _: Sample) -> Detection | None:
    version, attempts = record.get("schema_version"), record.get("attempts")
    if isinstance(version, str) and version.startswith("ACTF_") and "steps" in record:
        return Detection(50, "a trajectory without its task")
    if "task_id" not in record or not isinstance(attempts, dict) or not attempts:
        return None
    seen = [one.get("trajectory") for one in attempts.values() if isinstance(one, dict)]
    if _is_foreign(record):
        return Detection(50, "task_id and attempts at /")
    if any(
        isinstance(one, dict) and str(one.get("schema_version")).startswith("ACTF_") for one in seen
    ):
        return Detection(100, 'schema_version "ACTF_v1.0" at /attempts/1/trajectory')
    return Detection(
        90 if any(one is not None for one in seen) else 70, "task_id and attempts at /"
    )


ROLES = ("system", "developer", "user", "assistant", "tool", "function")
KNOWN = {"messages", "tools", "model", "id", "max_tokens", "metadata", "temperature"}
STOP = {"system", "choices", "trajectory_format", "trajectory", "history", "samples", "eval"} | {
    "resourceSpans", "uuid", "sessionId", "payload", "preferred_output", "anthropic_version"
}  # fmt: skip
STOP_PARTS = ("tool_use", "tool_result", "thinking")


def _openai(record: dict[str, Json], sample: Sample) -> Detection | None:
    messages, steps = record.get("messages"), record.get("session_steps")
    if _is_foreign(record):
        return Detection(50, "session_steps beside a foreign marker") if steps is not None else None
    if isinstance(steps, list):
        first = steps[0] if steps else {"session_id", "step_id"}
        return (
            Detection(90, "session_steps at /", "rows")
            if {"session_id", "step_id"} <= set(first)
            else None
        )
    if {"session_id", "step_id"} <= record.keys() and {"messages", "response"} & record.keys():
        return Detection(90, "session_id and step_id at /", "rows")
    if STOP & record.keys() or ("epoch" in record and "target" in record):
        return Detection(40, "an API response, not a conversation") if "choices" in record else None
    if not isinstance(messages, list):
        return _lone_message(record) if sample.container == "array" else None
    if not all(
        isinstance(one, dict) and one.get("role") in ROLES and not _has_stop(one)
        for one in messages
    ):
        return None
    container = {"object": "chat/object", "array": "chat/list", "lines": "chat/jsonl"}[
        sample.container
    ]
    confidence = 60 if not messages else 85 if record.keys() <= KNOWN else 70
    return Detection(confidence, "messages with roles at /messages", container)


def _lone_message(record: dict[str, Json]) -> Detection | None:
    if record.get("role") not in ROLES or _has_stop(record):
        return None
    has_text = {"content", "tool_calls", "function_call", "refusal"} & record.keys()
    return Detection(85 if has_text else 50, "an array of messages", "chat/array")


def _has_stop(message: dict[str, Json]) -> bool:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return bool({"uuid", "agent", "parts"} & message.keys()) or any(
        part.get("type") in STOP_PARTS for part in parts
    )


STORYLINE = Stub("storyline", by_record(_storyline))
ATIF = Stub(
    "atif", by_record(_atif), FormatInfo("atif", "ATIF", ("ATIF-v1.1", "ATIF-v1.10", "ATIF-v1.7"))
)
ALE = Stub("ale", by_record(_ale))
ACTF = Stub("actf", by_record(_actf))
OPENAI_INFO = FormatInfo(
    "openai-messages", "OpenAI Messages", suffixes=(".openai.json", "session_steps.json", ".json")
)
OPENAI = Stub("openai-messages", by_record(_openai), OPENAI_INFO)
INSTALLED = (ACTF, ALE, ATIF, OPENAI, STORYLINE)


def sure(id: str, confidence: int, reason: str = "so it is", **info: Any) -> Stub:
    return Stub(id, lambda _: Detection(confidence, reason), FormatInfo(id, id, **info))


def raising(id: str, error: BaseException) -> Stub:
    def fail(_: Sample) -> None:
        raise error

    return Stub(id, fail)


def failing(id: str, answer: Any) -> Stub:
    return Stub(id, lambda _: answer)


def wrong(confidence: Any, reason: Any = "mine", variant: Any = None) -> Stub:
    """Return a format whose plugin answers a Detection of values that none may have."""
    return failing("x", Detection(confidence, reason, variant))


def formats(*stubs: Stub) -> dict[str, Candidate]:
    return {stub.id: stub for stub in stubs}


# Stand-ins for inputs


class Memory:
    """An input in memory, which remembers how much of it was looked at."""

    is_directory = False

    def __init__(self, text: bytes, name: str | None = None, *, has_tail: bool = True) -> None:
        self.text = text
        self.name = name
        self.size = len(text)
        self.has_tail = has_tail
        self.looks: list[tuple[str, int]] = []

    def head(self, size: int) -> tuple[bytes, bool]:
        """Return the first *size* bytes."""
        self.looks.append(("head", size))
        return self.text[:size], len(self.text) <= size

    def tail(self, size: int) -> bytes | None:
        """Return the last *size* bytes."""
        self.looks.append(("tail", size))
        return self.text[-size:] if self.has_tail else None

    def small(self, limit: int) -> Json:
        """Return the value of a small text."""
        if len(self.text) > limit:
            return MISSING
        self.looks.append(("small", limit))
        return loads_at_once(self.text)

    def paths(self, limit: int) -> list[str]:
        """Fail: this is no directory."""
        raise NotADirectoryError(limit)


class Directory:
    """A directory of which only the paths are known."""

    is_directory = True
    size = None

    def __init__(self, paths: list[str], name: str = "runs") -> None:
        self.name = name
        self.all = paths

    def head(self, size: int) -> tuple[bytes, bool]:
        """Fail: a directory has no text."""
        raise IsADirectoryError(size)

    def tail(self, size: int) -> bytes | None:
        """Fail: a directory has no text."""
        raise IsADirectoryError(size)

    def small(self, limit: int) -> Json:
        """Return nothing: a directory has no value."""
        del limit
        return MISSING

    def paths(self, limit: int) -> list[str]:
        """Return the first *limit* paths."""
        return self.all[:limit]


def source(*values: Json, name: str | None = None) -> Memory:
    """Return *values* as an input: one as it is, more as lines."""
    return Memory("\n".join(map(json.dumps, values)).encode(), name)


def found(input: Memory | Directory, *stubs: Stub, **settings: Any) -> Detected:
    return detect(input, formats(*(stubs or INSTALLED)), **settings)


def refused(input: Memory | Directory, *stubs: Stub, **settings: Any) -> list[Problem]:
    with pytest.raises(InvalidDocument) as caught:
        found(input, *stubs, **settings)
    assert caught.value.name == input.name
    return list(caught.value.problems)


def message(input: Memory | Directory, *stubs: Stub, **settings: Any) -> str:
    """Return the rule and the message of the one problem by which an input is refused."""
    (problem,) = refused(input, *stubs, **settings)
    assert ("fatal", "") == (problem.severity, problem.pointer)
    return f"{problem.rule}: {problem.message}"


T: dict[str, Json] = {
    "schema_version": "ATIF-v1.7",
    "session_id": "s",
    "agent": {"name": "a", "version": "1"},
    "steps": [],
}
S = {"schema_version": "storyline/v1", "session": "s", "agent": {"id": "a"}, "turns": []}
E = {
    "schema_version": "ALE-v1.0",
    "episode_id": "e",
    "agent": {"name": "x"},
    "task_path": "t",
    "variant_index": 0,
}
HELP = "pass --from FORMAT; installed: actf, ale, atif, openai-messages, storyline"


class Example(NamedTuple):
    """A worked example of detection.md 7 that is decided."""

    number: str
    input: Memory
    format: str
    confidence: int
    variant: str | None = None


ROW = {
    "session_id": "s",
    "step_id": 1,
    "messages": [],
    "response": {"role": "assistant", "content": "x"},
}
CHAT = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]}
EXAMPLES = [
    Example("1", source(T), "atif", 100),
    Example("2", source(S), "storyline", 100),
    Example("2, array", source([S, S]), "storyline", 100),
    Example("3", source({"schema_version": "storyline/v9", "session": "s"}), "storyline", 95),
    Example("4", source({**E, "steps": []}), "ale", 100),
    Example("5", source(E), "ale", 100),
    Example(
        "6",
        source(
            {
                "task_id": "t",
                "attempts": {"1": {"trajectory": {"schema_version": "ACTF_v1.0", "steps": []}}},
            }
        ),
        "actf",
        100,
    ),
    Example(
        "8",
        source(
            {
                "schema_version": "ATIF-v1.7",
                "session_steps": [],
                "task_id": "t",
                "attempts": {"1": {"trajectory": []}},
            }
        ),
        "atif",
        100,
    ),
    Example("9", source([ROW]), "openai-messages", 90, "rows"),
    Example("9, lines", source(ROW, ROW), "openai-messages", 90, "rows"),
    Example("10", source({"session_steps": []}), "openai-messages", 90, "rows"),
    Example("11", source(CHAT), "openai-messages", 85, "chat/object"),
    Example("11, array", source(CHAT["messages"]), "openai-messages", 85, "chat/array"),
    Example("11, lines", source(CHAT, CHAT), "openai-messages", 85, "chat/jsonl"),
    Example("20", source(T, name="x.actf.json"), "atif", 100),
]
UNKNOWN = [
    ("7", source({"task_id": "t", "attempts": {}}), 'an object with "task_id", "attempts"'),
    ("14", source({"x": 1}, T), 'JSON Lines with "x"'),
    (
        "14, array",
        source([T, 5]),
        'an array with "schema_version", "session_id", "agent", "steps"',
    ),
    ("15", source({"steps": [], "agent": {}}), 'an object with "steps", "agent"'),
    (
        "15, array",
        source([{"session_id": "s", "step_id": 1, "agent_name": "x"}]),
        'an array with "session_id", "step_id", "agent_name"',
    ),
    (
        "16",
        source({"schema_version": "ACTF_v1.0", "steps": []}),
        'an object with "schema_version", "steps"; hints: actf (50): a trajectory without its task',
    ),
]


class TestWorkedExamples:
    @pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.number)
    def test_decided(self, example: Example) -> None:
        """The example is decided as detection.md 7 says."""
        answer = found(example.input)

        assert example[2:] == (answer.format, answer.confidence, answer.variant)

    @pytest.mark.parametrize(("number", "input", "shown"), UNKNOWN)
    def test_unknown(self, number: str, input: Memory, shown: str) -> None:
        """The example is an unknown format, and the message shows what there is."""
        assert f"detect.unknown: unknown format: {shown}; {HELP}" == message(input), number

    def test_reason(self) -> None:
        """Example 1: the reason names the marker and its place; the version is the one that it names."""
        assert Detected(
            format="atif",
            confidence=100,
            reason='schema_version "ATIF-v1.7" at /',
            variant=None,
            version="ATIF-v1.7",
            container="object",
            others=(),
            warnings=(),
        ) == found(source(T))

    def test_trunc(self) -> None:
        """Example 13: a whole file that is not JSON is so at byte 48, whichever format it is."""
        text = b'{"schema_version":"ATIF-v1.7","session_id":"s", trunc'
        expected = 'input.json: not JSON: expected a key, found "t" at line 1 column 49 (byte 48)'

        assert expected == message(Memory(text, "x.json"))

    def test_two_at_100(self) -> None:
        """Example 17: two plugins that are both sure are ambiguous, whatever the name says."""
        other = sure("other", 100, "it is mine", suffixes=(".mine.json",))

        assert (
            'detect.ambiguous: ambiguous format: atif (100): schema_version "ATIF-v1.7" at /; '
            "other (100): it is mine; pass --from FORMAT; installed: other, atif"
        ) == message(source(T), other, ATIF)
        assert (
            'detect.ambiguous: ambiguous format: atif (100): schema_version "ATIF-v1.7" at /; '
            "other (100): it is mine, and the name ends with .mine.json; pass --from FORMAT; installed: other, atif"
        ) == message(source(T, name="dir/x.mine.json"), other, ATIF)

    @pytest.mark.usefixtures("scanned")
    def test_marker_first(self) -> None:
        """Example 18: a large file whose marker comes first is decided from 64 KiB."""
        large = Memory(b'{"schema_version":"ATIF-v1.7","steps":["' + b"x" * 2_000_000)

        assert "atif" == found(large).format
        assert [("head", 64 * 1024)] == large.looks

    @pytest.mark.usefixtures("scanned")
    def test_marker_last(self) -> None:
        """Example 19: a large file whose marker comes last is decided, from its tail where there is one."""
        text = b'{"steps":["' + b"x" * 2_000_000 + b'"],"schema_version":"ATIF-v1.7"}'
        seekable, stream = Memory(text), Memory(text, has_tail=False)
        assert ("atif", 100) == found(seekable)[:2]
        assert [("head", 64 * 1024), ("tail", 64 * 1024)] == seekable.looks
        assert ("atif", 100) == found(stream)[:2]
        assert ("head", DEFAULTS.detect) == stream.looks[-1]

    def test_name_of_another_format(self) -> None:
        """Example 20: the content wins over the name, and one warning says so."""
        warning = Problem(
            "warning",
            "detect.name",
            "",
            "the name says actf, the content says atif",
            expected="the format that the name says",
        )

        assert (warning,) == found(source(T, name="x.actf.json")).warnings


NEAR_MISSES = {
    "Claude Code session": (
        {
            "type": "user",
            "uuid": "u",
            "sessionId": "s",
            "message": {"role": "user", "content": "hi"},
        },
    )
    * 2,
    "Codex session": (
        {"timestamp": "t", "type": "session_meta", "payload": {}},
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": []}},
    ),
    "SWE-agent": (
        {
            "trajectory": [{"action": "ls", "observation": "…"}],
            "history": [{"role": "user", "content": "…", "agent": "main"}],
            "info": {},
        },
    ),
    "mini SWE-agent": (
        {
            "info": {},
            "messages": [{"role": "system", "content": "…"}],
            "trajectory_format": "mini-swe-agent-1",
        },
    ),
    "OpenHands events": (
        [
            {
                "id": 0,
                "timestamp": "t",
                "source": "user",
                "action": "message",
                "args": {"content": "hi"},
            }
        ],
    ),
    "Anthropic request": (
        {
            "model": "claude",
            "max_tokens": 9,
            "system": "S",
            "messages": [
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}],
                }
            ],
        },
    ),
    "Anthropic request without system": (
        {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}]},
    ),
    "OpenTelemetry": ({"resourceSpans": [{"scopeSpans": []}]},),
    "Inspect log": (
        {
            "version": 2,
            "status": "success",
            "eval": {},
            "samples": [{"id": 1, "epoch": 1, "input": "…", "target": "…", "messages": []}],
        },
    ),
    "Inspect sample": ({"id": 1, "epoch": 1, "input": "…", "target": "…", "messages": []},),
    "API response": (
        {
            "id": "c",
            "object": "chat.completion",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "yo"}}],
        },
    ),
    "preference line": (
        {"input": {"messages": []}, "preferred_output": [], "non_preferred_output": []},
    )
    * 2,
    "package.json": ({"name": "x", "version": "1.0.0", "scripts": {}},),
    "empty array": ([],),
    "empty object": ({},),
    "number": (5,),
    "bare ALE step": (
        {"schema_version": "ALE-v1.0", "step_id": 1, "source": "user", "message": "x"},
    ),
}


class TestNearMisses:
    @pytest.mark.parametrize("name", NEAR_MISSES)
    def test_not_claimed(self, name: str) -> None:
        """What looks like a format and is none is unknown."""
        (problem,) = refused(source(*NEAR_MISSES[name]))

        assert "detect.unknown" == problem.rule

    def test_text(self) -> None:
        """A text is unknown, and the message says no more than that."""
        assert f"detect.unknown: unknown format: a text; {HELP}" == message(Memory(b"Dear all,\n"))

    def test_hint(self) -> None:
        """An API response is unknown, with the hint that it is no conversation."""
        assert (
            'detect.unknown: unknown format: an object with "id", "object", "choices"; '
            f"hints: openai-messages (40): an API response, not a conversation; {HELP}"
        ) == message(source(*NEAR_MISSES["API response"]))

    def test_marker_inside(self) -> None:
        """A marker inside a text, or one that is no string, is none."""
        chat = {"messages": [{"role": "user", "content": "schema_version ATIF-v1.7"}]}

        assert ("openai-messages", 85) == found(source(chat))[:2]
        assert "detect.unknown" == refused(source({"schema_version": ["ATIF-v1.7"]}))[0].rule


@pytest.fixture
def scanned(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process in which no JSON is read but by detection: inputs are scanned, however small."""
    monkeypatch.setattr(detection, "_reads_json", lambda: False)


class TestGlanced:
    def test_small_input(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where JSON is read anyway, a small input is looked at once, as a whole, and gives the same answer."""
        text = json.dumps({"schema_version": "ATIF-v1.5", "steps": ["x" * 500] * 300}).encode()
        looks = []
        for reads in (False, True):
            monkeypatch.setattr(detection, "_reads_json", lambda reads=reads: reads)
            memory = Memory(text)
            looks.append((found(memory).format, memory.looks))
        assert [
            ("atif", [("head", 64 * 1024)]),
            ("atif", [("small", detection.GLANCED_AT)]),
        ] == looks


@pytest.mark.usefixtures("scanned")
class TestStages:
    def test_undecided_head(self) -> None:
        """A head that does not decide is followed by the tail, then by more of both, then by everything."""
        text = b'{"x":"' + b"x" * 3_000_000 + b'"}'
        memory, stub = Memory(text), Stub("stub", lambda _: None)

        assert "unknown format: an object with" in message(memory, stub)
        assert [
            ("head", 64 * 1024),
            ("tail", 64 * 1024),
            ("head", 1024 * 1024),
            ("tail", 1024 * 1024),
            ("head", DEFAULTS.detect),
        ] == memory.looks
        assert [False] * 3 == [sample.complete for sample in stub.samples]
        assert [len(text)] * 3 == [sample.size for sample in stub.samples]

    def test_small_input(self) -> None:
        """A small input is looked at once, and is complete."""
        memory, stub = (
            source({"a": 1}, name="dir/x.json"),
            Stub("stub", lambda _: Detection(60, "may be")),
        )

        assert ("stub", 60, "may be") == found(memory, stub)[:3]
        assert [("head", 64 * 1024)] == memory.looks
        assert [Sample("dir/x.json", "object", [{"a": 1}], complete=True, size=8)] == stub.samples

    def test_clear_before_the_end(self) -> None:
        """85 decides from a head, 84 does not until everything was seen."""
        text = b'{"x":"' + b"x" * 100_000 + b'"}'
        clear, unclear = Memory(text), Memory(text)

        assert "a" == found(clear, sure("a", 85)).format
        assert "a" == found(unclear, sure("a", 84)).format
        assert 1 == len(clear.looks)
        assert ("head", 1024 * 1024) == unclear.looks[-1]

    def test_two_that_are_clear(self) -> None:
        """Two candidates that are sure do not decide from a head, and may when more is seen."""
        text = b'{"x":"' + b"x" * 100_000 + b'","y":1}'
        second = Stub("b", lambda sample: Detection(10 if "y" in sample.records[0] else 88, "y"))

        answer = found(Memory(text), sure("a", 90), second)

        assert ("a", (Answer("b", 10, "y"),)) == (answer.format, answer.others)

    def test_size_limit(self) -> None:
        """An input that is undecided within the limit says so; the limit counts for small ones as well."""
        text = b'{"x":"' + b"x" * 3_000_000 + b'"}'
        help_ = "(--limit detect=NUMBER); pass --from FORMAT; installed: a"
        stub = Stub("a", lambda _: None)
        limited = Memory(text)

        assert (
            f'detect.unknown: unknown format: an object with "x"; undecided within 2 MiB {help_}'
        ) == message(Memory(text), stub, max_detect=2 * 1024 * 1024)
        assert (
            f'detect.unknown: unknown format: an object with "x"; undecided within 5000 bytes {help_}'
        ) == message(limited, stub, max_detect=5000)
        assert [("head", 5000)] == limited.looks
        assert "a" == found(Memory(text), sure("a", 60), max_detect=5000).format

    def test_ambiguous_within_the_limit(self) -> None:
        """An input that is ambiguous within the limit says so too."""
        text = b'{"x":"' + b"x" * 100_000 + b'"}'

        assert message(Memory(text), sure("a", 90), sure("b", 90), max_detect=1024).endswith(
            "; undecided within 1024 bytes (--limit detect=NUMBER); pass --from FORMAT; installed: a, b"
        )

    def test_settled_lines(self) -> None:
        """Eight lines are all that is ever shown, so a large file of lines that nobody knows is looked at once."""
        memory = Memory(b'{"x":1}\n' * 100_000)

        assert f'detect.unknown: unknown format: JSON Lines with "x"; {HELP}' == message(memory)
        assert [("head", 64 * 1024)] == memory.looks

    def test_lines_behind_the_head(self) -> None:
        """An object whose end lies behind the head is taken for one until a larger head shows more lines."""
        line = json.dumps({"x": "x" * 70_000}).encode()
        stub = Stub("stub", lambda _: None)

        assert message(Memory(line + b"\n" + line), stub)
        assert ["object", "lines"] == [sample.container for sample in stub.samples]

    def test_malformed_behind_the_first_head(self) -> None:
        """What is not JSON is reported where it is looked at, and not where the head has decided."""
        text = b'"x":"' + b"x" * 100_000 + b'",nope}'

        assert message(Memory(b"{" + text)).startswith(
            'input.json: not JSON: expected a key, found "n"'
        )
        assert "atif" == found(Memory(b'{"schema_version":"ATIF-v1.7",' + text)).format

    def test_empty(self) -> None:
        """An input of nothing, or of white space, is empty."""
        assert "input.empty: the input is empty" == message(Memory(b"", "x.json"))
        assert "input.empty: the input is empty" == message(Memory(b" \r\n" * 50_000))

    def test_hostile(self) -> None:
        """A million brackets are nested too deep, and a cut object is not JSON."""
        assert message(Memory(b"[" * 1_000_000)).startswith("input.depth: more than 512 levels")
        assert message(Memory(b'{"a":1')).startswith("input.json: ")
        assert message(Memory(b'{"a":NaN}')).startswith("input.json: ")

    def test_broken_lines(self) -> None:
        """Lines are detected though one of them is cut: reading says so, and may skip it."""
        assert "atif" == found(Memory(json.dumps(T).encode() + b'\n{"schema_version":"AT')).format


BIG = "x" * 1_500_000


@pytest.mark.usefixtures("scanned")
class TestTail:
    def test_task_id_behind_the_attempts(self) -> None:
        """A document whose keys are sorted is decided by its tail."""
        value = {
            "attempts": {"1": {"trajectory": {"steps": [BIG, BIG]}}},
            "category": "c",
            "task_id": "t",
        }
        memory = source(value)

        assert ("actf", 90) == found(memory)[:2]
        assert ("tail", 64 * 1024) == memory.looks[-1]

    def test_sample(self) -> None:
        """The sample holds the members of the head and those of the tail, and is not complete."""
        stub = Stub("stub", lambda sample: Detection(85, "z") if "z" in sample.records[0] else None)

        found(source({"a": 1, "b": [BIG, BIG], "y": [{"c": 1}], "z": 2}), stub)

        assert {"a": 1, "b": [BIG[:1024]], "y": [{"c": 1}], "z": 2} == stub.samples[-1].records[0]
        assert ("object", False) == (stub.samples[-1].container, stub.samples[-1].complete)

    def test_longer_tail(self) -> None:
        """A tail that shows no member is followed by a larger one."""
        memory = source({"a": [BIG, BIG], "schema_version": "ATIF-v1.7", "z": "z" * 100_000})

        assert "atif" == found(memory).format
        assert ("tail", 1024 * 1024) == memory.looks[-1]

    def test_text_that_looks_like_members(self) -> None:
        """A text at the end that looks like members decides nothing."""
        forged = '","schema_version":"ATIF-v1.7","x":"' * 2000
        memory = source({"a": [BIG, BIG], "z": forged})

        assert "detect.unknown" == refused(memory)[0].rule
        assert ("head", DEFAULTS.detect) == memory.looks[-1]

    def test_repeated_member(self) -> None:
        """A member that the tail shows with another value than the head leaves the decision to the whole input."""
        text = (
            json.dumps({"schema_version": 1, "a": [BIG, BIG]})[:-1]
            + ',"schema_version":"ATIF-v1.7"}'
        )
        memory = Memory(text.encode())

        assert "atif" == found(memory).format
        assert ("head", DEFAULTS.detect) == memory.looks[-1]

    def test_lines(self) -> None:
        """The tail of another line is not taken for that of the first."""
        memory = source({"a": [BIG, BIG]}, T)

        assert 'unknown format: JSON Lines with "a"' in refused(memory)[0].message

    def test_small_file(self) -> None:
        """A file that the second head holds is looked at as a whole rather than from its end."""
        memory = source({"a": ["x" * 100_000], "schema_version": "ATIF-v1.7"})

        assert "atif" == found(memory).format
        assert [("head", 64 * 1024), ("head", 1024 * 1024)] == memory.looks

    def test_no_object(self) -> None:
        """An array has no tail to look at."""
        memory = source([{"a": [BIG, BIG], "schema_version": "ATIF-v1.7"}])

        assert "atif" == found(memory).format
        assert [("head", size) for size in (*STAGES, DEFAULTS.detect)] == memory.looks

    def test_cut_file(self) -> None:
        """A file that is cut has no tail to trust, and is not JSON."""
        memory = Memory(source({"a": [BIG, BIG], "schema_version": "ATIF-v1.7"}).text[:-1])

        assert message(memory).startswith("input.json: ")


class TestDecision:
    def test_ranking(self) -> None:
        """All answers are given, the surest first, then by name."""
        answer = found(source({}), sure("c", 40), sure("b", 90), sure("d", 70), sure("a", 40))

        assert "b" == answer.format
        assert (
            Answer("d", 70, "so it is"),
            Answer("a", 40, "so it is"),
            Answer("c", 40, "so it is"),
        ) == answer.others

    def test_five_points(self) -> None:
        """Answers within five points of the best one are candidates, others are not."""
        assert "a" == found(source({}), sure("a", 90), sure("b", 84)).format
        assert (
            "detect.ambiguous: ambiguous format: a (90): so it is; b (85): so it is; "
            "pass --from FORMAT; installed: b, a"
        ) == message(source({}), sure("b", 85), sure("a", 90))

    def test_sixty(self) -> None:
        """60 is chosen at the end, 59 is a hint however lonely."""
        assert "a" == found(source({}), sure("a", 60), sure("b", 59)).format
        assert (
            "detect.unknown: unknown format: an object; hints: b (59): so it is; a (58): so it is; "
            "pass --from FORMAT; installed: a, b"
        ) == message(source({}), sure("a", 58), sure("b", 59))

    def test_nothing_installed(self) -> None:
        """Without any format the message says that none is installed."""
        with pytest.raises(InvalidDocument, match="installed: none"):
            detect(source({}), {})

    def test_ten_members(self) -> None:
        """The message names ten root members at most."""
        members = {f"key{number}": 0 for number in range(11)}
        named = ", ".join(f'"key{number}"' for number in range(10))

        assert f"detect.unknown: unknown format: an object with {named}, …; {HELP}" == message(
            source(members)
        )

    def test_strange_members(self) -> None:
        """Member names are shown as JSON, cut, and never as control characters."""
        assert 'an object with "\\u001b[31m", "' + "x" * 78 + "…;" in message(
            source({"\x1b[31m": 1, "x" * 200: 2})
        )

    def test_variant(self) -> None:
        """The variant is that of the chosen answer."""
        stub = Stub("a", lambda _: Detection(90, "rows", "rows"))

        assert "rows" == found(source({}), stub).variant

    def test_version(self) -> None:
        """The version is the longest that the reason names, or none."""
        assert "ATIF-v1.10" == found(source({**T, "schema_version": "ATIF-v1.10"})).version
        assert found(source({**T, "schema_version": "ATIF-v9"})).version is None


class TestName:
    @pytest.mark.parametrize(
        ("name", "reason"),
        [
            ("x.a.json", "so it is, and the name ends with .a.json"),
            ("dir.x\\X.A.JSON", "so it is, and the name ends with .a.json"),
            ("dir/x.a.json.gz", "so it is, and the name ends with .a.json"),
            ("x.a.json.zst", "so it is, and the name ends with .a.json"),
            ("dir/rows.json", "so it is, and the name is rows.json"),
            ("my-rows.json", "so it is"),
            ("x.json", "so it is"),
            ("a.json", "so it is"),
            ("x.a.jsonl", "so it is"),
            (None, "so it is"),
        ],
    )
    def test_bonus(self, name: str | None, reason: str) -> None:
        """A name that says the format adds three points and is named in the reason."""
        stub = sure("a", 70, suffixes=(".json", ".a.json", "rows.json"))
        bonus = 3 if reason != "so it is" else 0

        assert ("a", 70 + bonus, reason) == found(source({}, name=name), stub)[:3]

    def test_at_most_100(self) -> None:
        """The bonus ends at 100."""
        assert (
            100
            == found(source({}, name="x.a.json"), sure("a", 98, suffixes=(".a.json",))).confidence
        )

    def test_never_alone(self) -> None:
        """A name makes no candidate out of a hint, and the warning comes with the refusal."""
        fatal, warning = refused(source({}, name="x.a.json"), sure("a", 59, suffixes=(".a.json",)))

        assert "hints: a (59): so it is; pass" in fatal.message
        assert ("detect.name", "the name says a, the content does not") == (
            warning.rule,
            warning.message,
        )

    def test_no_tie_break(self) -> None:
        """A name does not choose between two candidates that are close."""
        assert "a (90): so it is; b (88): so it is, and the name ends with .b.json" in message(
            source({}, name="x.b.json"), sure("a", 90), sure("b", 85, suffixes=(".b.json",))
        )

    def test_no_warning(self) -> None:
        """A name that says what the content says, or nothing, is no reason for a warning."""
        assert () == found(source(T, name="x.json")).warnings
        assert () == found(source(E, name="x.ale.json")).warnings

    def test_less_sure(self) -> None:
        """A name that says a format which is less sure than the chosen one is warned of too."""
        answer = found(
            source({}, name="x.b.json"), sure("a", 100), sure("b", 70, suffixes=(".b.json",))
        )

        assert ["the name says b, the content says a"] == [one.message for one in answer.warnings]


class TestGuard:
    @pytest.mark.parametrize(
        ("broken", "why"),
        [
            (raising("x", RuntimeError("boom")), "RuntimeError: boom"),
            (raising("x", SystemExit(3)), "SystemExit: 3"),
            (raising("x", RecursionError()), "RecursionError"),
            (failing("x", (100, "mine")), "TypeError: answered tuple, not a Detection or None"),
            (failing("x", "mine"), "TypeError: answered str, not a Detection or None"),
            (wrong(0), "ValueError: answered the confidence 0, not 1 to 100"),
            (wrong(101), "ValueError: answered the confidence 101, not 1 to 100"),
            (wrong(confidence=True), "ValueError: answered the confidence True, not 1 to 100"),
            (wrong(99.5), "ValueError: answered the confidence 99.5, not 1 to 100"),
            (wrong(90, None), "TypeError: answered a reason or a variant that is no text"),
            (wrong(90, "", 3), "TypeError: answered a reason or a variant that is no text"),
        ],
    )
    def test_loses_its_vote(self, broken: Stub, why: str) -> None:
        """A plugin that fails, or answers something else, is named in a warning and has no vote."""
        warning = Problem(
            "warning",
            "detect.plugin",
            "",
            f"the plugin x failed in detect: {why}",
            expected="a Detection or None",
        )

        answer = found(source(T), broken, ATIF)

        assert ("atif", (), (warning,)) == (answer.format, answer.others, answer.warnings)

    def test_unprintable_error(self) -> None:
        """An error that cannot even be printed is named all the same."""

        class BadError(Exception):
            def __str__(self) -> str:
                raise RuntimeError

        (warning,) = found(source(T), raising("x", BadError()), ATIF).warnings

        assert "BadError: <exception str() failed>" in warning.message

    def test_comes_with_the_refusal(self) -> None:
        """When no format is found, the plugin that failed is named: it may have known the input."""
        fatal, warning = refused(source({}), raising("x", ValueError("boom")))

        assert ("detect.unknown", "detect.plugin") == (fatal.rule, warning.rule)

    def test_interrupt(self) -> None:
        """An interrupt is the user's, and ends everything."""
        with pytest.raises(KeyboardInterrupt):
            found(source(T), raising("x", KeyboardInterrupt()))


def _claims(id: str) -> Stub:
    def answer(sample: Sample) -> Detection | None:
        if sample.container == "directory" and any(
            path.endswith("trajectory.json") for path in sample.records
        ):
            return Detection(85, "trajectory.json below it", "directory")
        return None

    return Stub(id, answer)


class TestDirectory:
    def test_claimed(self) -> None:
        """A directory is claimed by a plugin that is shown its paths."""
        stub = _claims("ale")
        paths = ["a/trajectory.json", "b.txt"]

        answer = claim(Directory(paths), formats(stub, ACTF))

        assert answer is not None
        assert ("ale", 85, "directory", "directory") == (
            answer.format,
            answer.confidence,
            answer.variant,
            answer.container,
        )
        assert [Sample("runs", "directory", paths, complete=True, size=None)] == stub.samples

    def test_not_claimed(self) -> None:
        """Files of a directory that nobody claims are detected one by one; asked for itself, it is unknown."""
        directory = Directory(["a.json", "b.json"])

        assert claim(directory, formats(_claims("ale"))) is None
        assert (
            'detect.unknown: unknown format: a directory with "a.json", "b.json"; '
            "pass --from FORMAT; installed: ale"
        ) == message(directory, _claims("ale"))

    def test_claimed_twice(self) -> None:
        """A directory that two plugins claim is ambiguous."""
        with pytest.raises(InvalidDocument, match=r"ambiguous format: ale .*; other "):
            claim(Directory(["trajectory.json"]), formats(_claims("ale"), _claims("other")))

    def test_many_files(self) -> None:
        """256 paths are shown; with more files the sample is not complete."""
        paths = [f"{number}.json" for number in range(MAX_PATHS + 1)]
        stub = _claims("ale")

        claim(Directory(paths[:-1]), formats(stub))
        claim(Directory(paths), formats(stub))

        assert [(256, True), (256, False)] == [
            (len(one.records), one.complete) for one in stub.samples
        ]


class TestSource:
    """Inputs as `hub.source` opens them: detection.md 2, step 1."""

    TEXT = json.dumps(T).encode()

    @pytest.mark.parametrize(
        "data",
        [
            TEXT,
            b"\xef\xbb\xbf" + TEXT,
            gzip.compress(TEXT),
            TEXT.decode().encode("utf-16"),
            TEXT.decode().encode("utf-32"),
            bz2.compress(b"\xef\xbb\xbf" + TEXT),
        ],
    )
    def test_encodings(self, tmp_path: Path, data: bytes) -> None:
        """Example 12: compression and byte-order marks are opened first, whatever the name says."""
        path = tmp_path / "x.json"
        path.write_bytes(data)

        assert ("atif", 100) == detect(Source.open(path), formats(*INSTALLED))[:2]

    def test_tail_of_a_file(self, tmp_path: Path) -> None:
        """A large file is decided by its end; its compressed form by all of it."""
        text = b'{"steps":["' + b"x" * 2_000_000 + b'"],"schema_version":"ATIF-v1.7"}'
        plain, packed = tmp_path / "plain.json", tmp_path / "packed.json"
        plain.write_bytes(text)
        packed.write_bytes(gzip.compress(text))

        assert "atif" == detect(Source.open(plain), formats(ATIF), max_detect=1_500_000).format
        assert "atif" == detect(Source.open(packed), formats(ATIF)).format
        with pytest.raises(InvalidDocument, match="undecided within 1500000 bytes"):
            detect(Source.open(packed), formats(ATIF), max_detect=1_500_000)

    def test_directory(self, tmp_path: Path) -> None:
        """A directory is asked for by the paths of its files."""
        (tmp_path / "a").mkdir()
        (tmp_path / "a" / "trajectory.json").write_bytes(b"{}")
        stub = _claims("ale")

        assert claim(Source.open(tmp_path), formats(stub)) is not None
        assert ["a/trajectory.json"] == stub.samples[0].records


class TestSecondOpinion:
    def test_another_format(self) -> None:
        """An input that could not be read as the format asked for, and is surely another one, is said to be that."""
        assert 'detection says atif (100): schema_version "ATIF-v1.7" at /' == second_opinion(
            source(T), formats(*INSTALLED), "actf"
        )

    def test_nothing_to_say(self) -> None:
        """The same format, a guess, or no answer is not worth a line."""
        assert second_opinion(source(T), formats(*INSTALLED), "atif") is None
        assert second_opinion(source({}), formats(sure("a", 84)), "b") is None
        assert second_opinion(source({}), formats(ATIF), "b") is None
        assert second_opinion(Memory(b"{"), formats(ATIF), "b") is None
