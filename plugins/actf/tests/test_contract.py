"""The contract that every format keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hub.testing import FormatContract, Invalid
from hub.testing.documents import DATA

from .normal import normal as as_written

Json = Any

SAMPLES = Path(__file__).parent / "samples"


class TestContract(FormatContract):
    format = "actf"
    samples = (SAMPLES / "attempts.json", DATA / "actf.json")
    tolerated = ("actf.result-call",)
    invalid = (
        Invalid(
            {
                "task_id": 7,
                "category": "c",
                "k": 1,
                "correct": False,
                "attempts_tried": 1,
                "attempts": {"1": {"correct": "no", "trajectory": {"schema_version": "ACTF_v1.0"}}},
            },
            (
                ("/task_id", "actf.task-id"),
                ("/attempts/1/correct", "actf.type"),
                ("/attempts/1/trajectory/started_at", "actf.required"),
                ("/attempts/1/trajectory/finished_at", "actf.required"),
                ("/attempts/1/trajectory/steps", "actf.required"),
            ),
        ),
    )

    def normal(self, document: Json) -> Json:
        """Return *document* in the one spelling that is written."""
        return as_written(document)
