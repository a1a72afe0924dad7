"""Which format an input is, asked of every plugin that is installed: no two claim one, and no near miss is claimed.

Examples of formats that are not installed are left out. Source: detection.md 3 to 7.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import hub
from hub import InvalidDocument, Source
from hub.detection import CANDIDATE, STAGES, Detected

Json = Any

ROOT = Path(__file__).parent.parent.parent
FORMATS = list(hub.formats)

ATIF: dict[str, Json] = {
    "schema_version": "ATIF-v1.7",
    "session_id": "s",
    "agent": {"name": "a", "version": "1"},
    "steps": [],
}
STORYLINE: dict[str, Json] = {
    "schema_version": "storyline/v1",
    "session": "s",
    "agent": {"id": "a"},
    "turns": [],
}
ALE: dict[str, Json] = {
    "schema_version": "ALE-v1.0",
    "episode_id": "e",
    "agent": {"name": "x"},
    "task_path": "t",
    "variant_index": 0,
    "steps": [],
}
TRAJECTORY: dict[str, Json] = {"schema_version": "ACTF_v1.0", "steps": []}
ACTF: dict[str, Json] = {"task_id": "t", "attempts": {"1": {"trajectory": TRAJECTORY}}}
ROW: dict[str, Json] = {
    "session_id": "s",
    "step_id": 1,
    "messages": [],
    "response": {"role": "assistant", "content": "x"},
}
CHAT: dict[str, Json] = {
    "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}],
}


def lines(*values: Json) -> bytes:
    """Return JSON Lines of *values*; of one value, an object."""
    return b"\n".join(json.dumps(value).encode() for value in values)


def without(document: dict[str, Json], *keys: str) -> dict[str, Json]:
    return {key: value for key, value in document.items() if key not in keys}


def detect(data: bytes, name: str | None = None) -> Detected:
    return hub.detect(Source(data, name=name))


def refusal(data: bytes) -> str:
    """Return why *data* has no format."""
    with pytest.raises(InvalidDocument) as caught:
        detect(data)
    (problem,) = caught.value.problems
    return f"{problem.message} [{problem.rule}]"


def claims(data: bytes) -> list[str]:
    """Return the formats that may be chosen for *data*; it is readable JSON."""
    try:
        found = detect(data)
    except InvalidDocument as error:
        (problem,) = error.problems
        return [] if problem.rule == "detect.unknown" else [str(problem)]
    return [found.format, *(one.format for one in found.others if one.confidence >= CANDIDATE)]


class Example(NamedTuple):
    """An input and what it is."""

    data: bytes
    format: str
    confidence: int
    reason: str
    variant: str | None = None


EXAMPLES = {
    "1 atif": Example(lines(ATIF), "atif", 100, 'schema_version "ATIF-v1.7" at /'),
    "2 storyline": Example(
        lines(STORYLINE), "storyline", 100, 'schema_version "storyline/v1" at /'
    ),
    "2 array of two": Example(
        lines([STORYLINE, STORYLINE]), "storyline", 100, 'schema_version "storyline/v1" at /'
    ),
    "3 unsupported storyline": Example(
        lines({"schema_version": "storyline/v9", "session": "s"}),
        "storyline",
        95,
        'schema_version "storyline/v9" at /',
    ),
    "4 ale": Example(lines(ALE), "ale", 100, 'schema_version "ALE-v1.0" at /'),
    "5 ale without steps": Example(
        lines(without(ALE, "steps")), "ale", 100, 'schema_version "ALE-v1.0" at /'
    ),
    "6 actf": Example(
        lines(ACTF), "actf", 100, 'schema_version "ACTF_v1.0" at /attempts/1/trajectory'
    ),
    "8 atif with members of others": Example(
        lines(
            {
                "schema_version": "ATIF-v1.7",
                "session_steps": [],
                "task_id": "t",
                "attempts": {"1": {"trajectory": []}},
            }
        ),
        "atif",
        100,
        'schema_version "ATIF-v1.7" at /',
    ),
    "12 byte-order mark": Example(
        b"\xef\xbb\xbf" + lines(ATIF), "atif", 100, 'schema_version "ATIF-v1.7" at /'
    ),
    "ale without marker": Example(
        lines(without(ALE, "schema_version")),
        "ale",
        90,
        "episode_id, task_path, variant_index, agent at /",
    ),
    "ale, three of four": Example(
        lines(without(ALE, "schema_version", "agent")),
        "ale",
        60,
        "episode_id, task_path, variant_index at /",
    ),
    "unsupported ale": Example(
        lines({**ALE, "schema_version": "ALE-v2.0"}), "ale", 95, 'schema_version "ALE-v2.0" at /'
    ),
    "actf of events": Example(
        lines({"task_id": "t", "attempts": {"1": {"trajectory": [{"type": "message"}]}}}),
        "actf",
        90,
        "task_id at / and a trajectory at /attempts/1/trajectory",
    ),
    "actf record": Example(
        lines({**ACTF, "attempt_plan": {"k": 1, "strategy": "avg"}}),
        "actf",
        100,
        'schema_version "ACTF_v1.0" at /attempts/1/trajectory',
        "record",
    ),
    "actf record that never ran": Example(
        lines({"task_id": "t", "attempt_plan": {"k": 1}, "attempts": {"1": {"trajectory": {}}}}),
        "actf",
        90,
        "task_id, attempts and attempt_plan at /",
        "record",
    ),
    "actf task": Example(
        lines({"schema_version": "agentcompass.task.v3", "task_id": "t", "attempts": {"1": "a-1"}}),
        "actf",
        100,
        'schema_version "agentcompass.task.v3" at /',
        "task",
    ),
}
"""The worked examples by their number, and a document for each rule of the built-in formats."""

UNKNOWN: dict[str, Json] = {
    "7 actf without attempts": {"task_id": "t", "attempts": {}},
    "15 steps and agent": {"steps": [], "agent": {}},
    "15 row of nothing": [{"session_id": "s", "step_id": 1, "agent_name": "x"}],
    "16 actf trajectory without its task": TRAJECTORY,
    "actf result without its task": {"metrics": {}, "issues": [], "trajectory": TRAJECTORY},
    "storyline without marker": without(STORYLINE, "schema_version"),
    "empty array": [],
    "empty object": {},
    "number": 5,
    "package.json": {"name": "x", "version": "1.0.0", "scripts": {}},
    "bare ale step": {
        "schema_version": "ALE-v1.0",
        "step_id": 1,
        "source": "user",
        "message": "x",
    },
    "claude code": {
        "type": "user",
        "uuid": "u",
        "sessionId": "s",
        "message": {"role": "user", "content": "hi"},
    },
    "swe-agent": {
        "trajectory": [{"action": "ls", "observation": "a"}],
        "history": [{"role": "user", "content": "hi", "agent": "main"}],
        "info": {},
    },
    "mini-swe-agent": {
        "info": {},
        "messages": [{"role": "system", "content": "S"}],
        "trajectory_format": "mini-swe-agent-1",
    },
    "openhands": [
        {
            "id": 0,
            "timestamp": "2026-01-01T00:00:00",
            "source": "user",
            "action": "message",
            "args": {"content": "hi"},
        }
    ],
    "anthropic": {
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
    "opentelemetry": {"resourceSpans": [{"scopeSpans": []}]},
    "inspect log": {
        "version": 2,
        "status": "success",
        "eval": {},
        "samples": [{"id": 1, "epoch": 1, "input": "i", "target": "t", "messages": []}],
    },
    "inspect sample": {"id": 1, "epoch": 1, "input": "i", "target": "t", "messages": []},
    "api response": {
        "id": "c",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "yo"}}],
    },
    "preference": {
        "input": {"messages": [{"role": "user", "content": "hi"}]},
        "preferred_output": [{"role": "assistant", "content": "yo"}],
        "non_preferred_output": [{"role": "assistant", "content": "no"}],
    },
}
"""Examples without a format, and near misses."""

UNKNOWN_LINES: dict[str, list[Json]] = {
    "14 a stranger before": [{"x": 1}, ATIF],
    "a stranger before ale": [{"x": 1}, ALE],
    "a stranger behind actf": [ACTF, {"x": 1}],
    "storyline and ale": [STORYLINE, ALE],
    "codex": [
        {"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "s"}},
        {"type": "response_item", "payload": {"type": "message", "role": "user"}},
    ],
    "ale steps": [
        {"schema_version": "ALE-v1.0", "step_id": number, "source": "user", "message": "x"}
        for number in (1, 2)
    ],
}

MARKERS = ("ATIF-v1.7", "ALE-v1.0", "ACTF_v1.0", "storyline/v1", "agentcompass.task.v3")


def needs(format: str) -> None:
    """Skip a test for a format that is not installed."""
    if format not in FORMATS:
        pytest.skip(f"{format} is not installed")


class TestExamples:
    @pytest.mark.parametrize("name", EXAMPLES)
    def test_claimed(self, name: str) -> None:
        """Each example is detected as the format it is, with its evidence, and no other format may be chosen."""
        expected = EXAMPLES[name]
        needs(expected.format)
        found = detect(expected.data)
        assert expected == Example(
            expected.data, found.format, found.confidence, found.reason, found.variant
        )
        assert [] == [one for one in found.others if one.confidence >= CANDIDATE]

    @pytest.mark.parametrize("name", EXAMPLES)
    def test_packed(self, name: str) -> None:
        """Compression and encoding make no difference, whatever the name says."""
        expected = EXAMPLES[name]
        needs(expected.format)
        text = expected.data.decode("utf-8-sig")
        for data in (
            gzip.compress(expected.data),
            bz2.compress(expected.data),
            lzma.compress(expected.data),
            text.encode("utf-16"),
            text.encode("utf-32"),
        ):
            assert expected.format == detect(data, "x.json").format

    @pytest.mark.parametrize("name", [*UNKNOWN, *UNKNOWN_LINES])
    def test_not_claimed(self, name: str) -> None:
        """What only looks like a format is claimed by none."""
        values = [UNKNOWN[name]] if name in UNKNOWN else UNKNOWN_LINES[name]
        assert [] == claims(lines(*values))

    def test_text(self) -> None:
        """A text is no format."""
        assert [] == claims(b"schema_version ALE-v1.0\n")

    def test_hints(self) -> None:
        """What looks like a part of a format is named in the message."""
        needs("actf")
        installed = ", ".join(FORMATS)
        assert (
            'unknown format: an object with "schema_version", "steps"; hints: actf (50): a trajectory without its task;'
            f" pass --from FORMAT; installed: {installed} [detect.unknown]"
        ) == refusal(lines(TRAJECTORY))

    def test_13_torn(self) -> None:
        """A torn file is broken JSON, with the place, and not an unknown format."""
        torn = b'{"schema_version":"ATIF-v1.7","session_id":"s", trunc'
        message = refusal(torn)
        assert message.endswith("[input.json]")
        assert "byte 48" in message


class TestMarkers:
    @pytest.mark.parametrize("marker", MARKERS)
    @pytest.mark.parametrize(
        "wrap",
        [
            lambda marker: {"messages": [{"role": "user", "content": f"schema_version {marker}"}]},
            lambda marker: {"note": f'"schema_version": "{marker}", "task_id": "t"'},
            lambda marker: {"extra": {"schema_version": marker, "episode_id": "e", "task_id": "t"}},
            lambda marker: {"steps": [{"schema_version": marker, "agent": {}}]},
            lambda marker: {"attempts": {"1": {"trajectory": {"schema_version": marker}}}},
        ],
        ids=["message", "text", "extra", "element", "no task"],
    )
    def test_nested(self, marker: str, wrap: Any) -> None:
        """A marker inside a text, or of a value that is nested, is no marker of the document."""
        assert [] == [one for one in claims(lines(wrap(marker))) if one != "openai-messages"]

    @pytest.mark.parametrize("marker", [5, None, True, ["ALE-v1.0"], {"ALE-v1.0": 1}])
    def test_no_string(self, marker: Json) -> None:
        """A marker that is no string is none."""
        assert [] == claims(lines({"schema_version": marker, "steps": []}))

    @pytest.mark.parametrize("format", ["ale", "actf", "storyline", "atif"])
    def test_texts_of_other_formats(self, format: str) -> None:
        """A document that quotes the markers and members of all others is still what it is."""
        needs(format)
        quoted = {"quoted": [ALE, ACTF, STORYLINE, ATIF, ROW, CHAT], "text": " ".join(MARKERS)}
        document = {"ale": ALE, "actf": ACTF, "storyline": STORYLINE, "atif": ATIF}[format]
        found = detect(lines({**document, "extra": quoted}))
        assert format == found.format
        assert [] == [one for one in found.others if one.confidence >= CANDIDATE]

    def test_hostile_keys(self) -> None:
        """Keys that mean something elsewhere mean nothing here."""
        assert [] == claims(lines({"__proto__": ALE, "constructor": ACTF, "\0": STORYLINE}))


STEP: dict[str, Json] = {"step_id": 1, "source": "user", "message": "x" * 1000}


class TestSize:
    """Documents of which the head shows no marker."""

    @pytest.mark.parametrize("size", STAGES)
    def test_marker_at_the_end(self, size: int) -> None:
        """The marker is found behind any number of steps."""
        needs("ale")
        steps = [STEP] * (size // 1000 + 10)
        found = detect(lines({"steps": steps, **without(ALE, "steps")}))
        assert ("ale", 100) == (found.format, found.confidence)

    @pytest.mark.parametrize("size", STAGES)
    def test_sorted_keys(self, size: int) -> None:
        """A writer that sorts keys puts the task behind all attempts."""
        needs("actf")
        trajectory = {**TRAJECTORY, "steps": [STEP] * (size // 1000 + 10)}
        document = {"attempts": {"1": {"trajectory": trajectory}}, "task_id": "t"}
        text = json.dumps(document, sort_keys=True).encode()
        assert ("actf", 100) == detect(text)[:2]


class TestNames:
    @pytest.mark.parametrize(
        "suffix", [suffix for one in hub.formats.values() for suffix in one.info.suffixes]
    )
    def test_name_decides_nothing(self, suffix: str) -> None:
        """A name with the suffix of a format makes nothing that format."""
        with pytest.raises(InvalidDocument) as caught:
            detect(lines({"x": 1}), f"run{suffix}")
        assert "detect.unknown" == caught.value.problems[0].rule

    def test_bonus(self) -> None:
        """A name that fits adds to the answer, and is named, compressed or not."""
        needs("ale")
        data = lines(without(ALE, "schema_version"))
        for name in ("run.ale.json", "RUN.ALE.JSON", "a/run.ale.json.gz", "run.ale.json.zst"):
            found = detect(data, name)
            assert (
                "ale",
                93,
                "episode_id, task_path, variant_index, agent at /, and the name ends with .ale.json",
            ) == found[:3]

    def test_20_content_wins(self) -> None:
        """What a document is wins over what its name says, and one warning says so."""
        needs("ale")
        needs("actf")
        found = detect(lines(ALE), "x.actf.json")
        assert ("ale", 100, 'schema_version "ALE-v1.0" at /') == found[:3]
        assert ["the name says actf, the content says ale"] == [
            problem.message for problem in found.warnings
        ]

    def test_other_suffixes(self) -> None:
        """A common suffix says nothing."""
        needs("ale")
        for name in ("x.json", "x.jsonl", "ale.json", "x.ale.json.txt"):
            assert 90 == detect(lines(without(ALE, "schema_version")), name).confidence


class TestDirectories:
    def test_ale_runs(self, tmp_path: Path) -> None:
        """A directory of runs is ALE as a whole."""
        needs("ale")
        run = tmp_path / "demo__note" / "v0" / "e"
        run.mkdir(parents=True)
        (run / "trajectory.json").write_bytes(lines(ALE))
        found = hub.detect(tmp_path)
        assert ("ale", 85, "a file trajectory.json below it", "directory") == found[:4]
        assert "directory" == found.container

    def test_actf_records(self, tmp_path: Path) -> None:
        """A directory of tasks is ACTF as a whole, and so is the folder of one task."""
        needs("actf")
        attempt = tmp_path / "details" / "normal" / "t--0" / "attempt-1"
        attempt.mkdir(parents=True)
        (attempt / "result.json").write_bytes(lines({"retry_count": 0}))
        (attempt.parent / "task.json").write_bytes(lines({"task_id": "t", "attempts": {}}))
        for folder, name in (
            (tmp_path, "details/normal/t--0/"),
            (tmp_path / "details", "normal/t--0/"),
            (attempt.parent, ""),
        ):
            found = hub.detect(folder)
            assert (
                "actf",
                85,
                f"{name}task.json with {name}attempt-1/result.json",
                "directory",
            ) == found[:4]

    def test_neither(self, tmp_path: Path) -> None:
        """A directory of documents is claimed by no format: its files are detected one by one."""
        (tmp_path / "a.json").write_bytes(lines(ALE))
        (tmp_path / "result.json").write_bytes(lines({"retry_count": 0}))
        with pytest.raises(InvalidDocument, match=r"detect\.unknown"):
            hub.detect(tmp_path)


SAMPLES = sorted([*ROOT.glob("examples/*.json*"), *ROOT.glob("plugins/*/tests/samples/*")])


class TestSamples:
    @pytest.mark.parametrize("path", SAMPLES, ids=lambda path: str(path.relative_to(ROOT)))
    def test_one_claim(self, path: Path) -> None:
        """No file of a format, as it is or a record of it alone, is claimed by another format."""
        owner = path.relative_to(ROOT).parts[1] if "plugins" in path.parts else path.suffixes[0][1:]
        needs(owner)
        found = hub.detect(path)
        assert owner == found.format
        assert [] == [one for one in found.others if one.confidence >= CANDIDATE]
        for record in Source.open(path).records():
            one = detect(lines(record.value))
            assert owner == one.format
            assert [] == [other for other in one.others if other.confidence >= CANDIDATE]
