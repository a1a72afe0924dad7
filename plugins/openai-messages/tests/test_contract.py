"""The contract that every format keeps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hub.testing import FormatContract, Invalid
from hub.testing.documents import DATA

Json = Any

SAMPLES = Path(__file__).parent / "samples"


class TestContract(FormatContract):
    format = "openai-messages"
    samples = (SAMPLES / "fine-tuning.jsonl", DATA / "openai-messages.json")
    invalid = (
        Invalid(
            {
                "messages": [
                    {"role": "nobody", "content": "m"},
                    {"role": "tool", "tool_call_id": "gone", "content": "x"},
                ]
            },
            (
                ("/messages/0/role", "openai.role"),
                ("/messages/1/tool_call_id", "openai.result-call"),
            ),
        ),
        Invalid(
            {"session_steps": [{"session_id": "s", "step_id": "1", "messages": []}]},
            (
                ("/session_steps/0/step_id", "openai.step-id"),
                ("/session_steps/0/response", "openai.output"),
            ),
        ),
    )

    def records(self, documents: Sequence[Json]) -> list[Json]:
        """Return the rows of *documents*, which are written as one object whatever they were read from."""
        return [row for one in documents for row in one.get("session_steps", [one])]
