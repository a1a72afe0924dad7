"""ACTF documents of any size, the same bytes on every machine.

    python benchmarks/corpus.py PATH MEGABYTES [--dense] [--sorted]

Ordinary documents hold what an agent's tools print: logs and code of some kilobytes, in several scripts. Dense ones
hold sentences of fifty characters, so that there are as many objects a byte as it gets: the worst case for work per
object.
"""

import argparse
import json
import random
from pathlib import Path
from typing import Any

MEGABYTE = 1 << 20
STEP_OVERHEAD = 1_100
"""About the bytes that an indented step takes beside its texts."""

WORDS = (
    *("the", "retry", "budget", "was", "spent", "because", "a", "worker", "kept", "its", "lease"),
    *("so", "move", "the", "lock", "below", "validation", "and", "add", "a", "test", "for"),
    *("cache", "index", "query", "plan", "buffer", "request", "response", "field", "default"),
)
OTHER_SCRIPTS = (
    "检查部署状态,容量不足。",
    "Проверяю очередь: 3 задачи зависли.",
    "テストは合格しましたが、警告が残っています。",
    "Prüfe die Größe der Übertragung: 12 µs über Budget.",
    "pushed a fix 🚀 — done ✅",
)
SYSTEM = "You are a coding agent. Work in small steps and check each of them."


class Writer:
    """Makes texts; `random()` is all that is used of the generator, its sequence is the same everywhere."""

    def __init__(self, seed: str, *, dense: bool) -> None:
        self._random = random.Random(seed)  # noqa: S311  # no secret
        self.dense = dense
        self._blocks = [self._log() if index % 2 else self._code() for index in range(64)]

    def number(self, low: int, high: int) -> int:
        """Return a number from *low* to *high*."""
        return low + int(self._random.random() * (high - low + 1))

    def sentence(self) -> str:
        """Return some ten words."""
        words = (WORDS[self.number(0, len(WORDS) - 1)] for _ in range(self.number(6, 14)))
        return " ".join(words).capitalize() + "."

    def short(self) -> str:
        """Return what an agent says beside a call."""
        if self.dense:
            return self.sentence()[:50]
        return " ".join([self.sentence(), self.sentence(), OTHER_SCRIPTS[self.number(0, 4)]])

    def output(self) -> str:
        """Return what a tool prints: 50 characters, or some kilobytes."""
        if self.dense:
            return self.sentence()[:50]
        blocks = (self._blocks[self.number(0, 63)] for _ in range(self.number(1, 4)))
        return "\n".join([f"[{self.number(0, 1 << 30):08x}]", *blocks])

    def _log(self) -> str:
        lines = []
        for _ in range(self.number(6, 16)):
            time = f"10:{self.number(10, 59)}:00.{self.number(100, 999)}Z"
            lines.append(f"2026-03-02T{time} INFO [worker:{self.number(1, 99)}] {self.sentence()}")
        return "\n".join(lines)

    def _code(self) -> str:
        lines = (
            f'\tif value[{index}] != "{self.sentence()[:40]}\\n":\n\t\traise ValueError({self.number(1, 999)})'
            for index in range(self.number(5, 12))
        )
        return "def check(value):\n" + "\n".join(lines)


def document(megabytes: float, *, dense: bool = False, seed: str = "storyline") -> dict[str, Any]:
    """Return an ACTF document with three attempts that takes about *megabytes* as indented JSON."""
    writer = Writer(f"{seed}/{megabytes}/{dense}", dense=dense)
    budget = int(megabytes * MEGABYTE) // 3
    attempts = {str(number): _attempt(writer, number, budget) for number in (1, 2, 3)}
    return {
        "task_id": f"benchmark-{megabytes}",
        "category": "software-engineering",
        "k": 3,
        "correct": True,
        "attempts_tried": 3,
        "solved_at": "2026-03-02T12:00:00Z",
        "attempts": attempts,
    }


def _attempt(writer: Writer, number: int, budget: int) -> dict[str, Any]:
    steps: list[dict[str, Any]] = []
    while budget > 0:
        step = _step(writer, f"{number}-{len(steps) + 1}", len(steps) + 1)
        steps.append(step)
        budget -= STEP_OVERHEAD + len(json.dumps(step, ensure_ascii=False).encode())
    return {
        "correct": number == 3,  # noqa: PLR2004  # the last one
        "final_answer": writer.short(),
        "ground_truth": "exit 0",
        "status": "completed",
        "score": number / 3,
        "error": "",
        "artifacts": {},
        "extra": {},
        "analysis_result": {},
        "meta": {"harness": "benchmark"},
        "trajectory": {
            "schema_version": "ACTF_v1.0",
            "started_at": steps[0]["started_at"],
            "finished_at": steps[-1]["finished_at"],
            "steps": steps,
        },
    }


def _step(writer: Writer, label: str, number: int) -> dict[str, Any]:
    names = [f"call-{label}-{index}" for index in range(writer.number(1, 2))]
    arguments = {"path": "src/loader.py", "line": writer.number(1, 900), "note": writer.short()}
    tools = [{"type": "tool_use", "id": name, "name": "bash", "input": arguments} for name in names]
    begin, end = number * 20, number * 20 + writer.number(1, 19)
    return {
        "step_id": number,
        "system_prompt": SYSTEM,
        "user_content": "Find out why the retry test fails, and mend it.",
        "assistant_content": {
            "content": writer.short(),
            "reasoning_content": writer.short(),
            "tool_calls": tools,
        },
        "tools": tools,
        "observation": [
            {
                "type": "tool_result",
                "tool_use_id": name,
                "content": writer.output(),
                "is_error": False,
            }
            for name in names
        ],
        "metric": {
            "prompt_tokens_len": writer.number(500, 60_000),
            "completion_tokens_len": writer.number(5, 1_900),
            "llm_infer_ms": writer.number(3_000, 400_000) / 10,
            "env_action_ms": writer.number(50, 20_000) + 0.5,
            "stop_reason": "tool_use",
        },
        "started_at": _time(begin),
        "finished_at": _time(end),
    }


def _time(seconds: int) -> str:
    day, second = divmod(seconds, 86_400)
    month, day = divmod(day, 28)
    return (
        f"2026-{month % 12 + 1:02}-{day + 1:02} "
        f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.500000+00:00"
    )


def main() -> None:
    """Write one document, indented as ACTF's producers do."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("megabytes", type=float)
    parser.add_argument("--dense", action="store_true", help="short texts")
    parser.add_argument(
        "--sorted", action="store_true", help="sorted keys: task_id behind all attempts"
    )
    chosen = parser.parse_args()
    value = document(chosen.megabytes, dense=chosen.dense)
    with chosen.path.open("w", encoding="utf-8", newline="") as file:
        json.dump(value, file, ensure_ascii=False, indent=2, sort_keys=chosen.sorted)
        file.write("\n")


if __name__ == "__main__":
    main()
