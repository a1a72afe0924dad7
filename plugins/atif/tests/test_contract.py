"""The contract that every format keeps."""

from __future__ import annotations

from pathlib import Path

from hub.testing import FormatContract, Invalid
from hub.testing.documents import DATA

SAMPLES = Path(__file__).parent / "samples"


class TestContract(FormatContract):
    format = "atif"
    samples = (SAMPLES / "sub-agents.json", DATA / "atif.json")
    invalid = (
        Invalid(
            {
                "schema_version": "ATIF-v1.7",
                "session_id": "s",
                "agent": {"name": "a", "version": "1"},
                "steps": [
                    {"step_id": 1, "source": "nobody", "message": 5},
                    {"step_id": 3, "source": "user", "message": "m"},
                ],
            },
            (
                ("/steps/0/source", "atif.source"),
                ("/steps/0/message", "atif.value"),
                ("/steps/1/step_id", "atif.step-sequence"),
            ),
        ),
    )
