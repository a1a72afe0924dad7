"""The contract that every format keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hub.testing import FormatContract, Invalid
from hub.testing.documents import DATA

from .builders import ROOT
from .strict import whole

Json = Any

SAMPLES = Path(__file__).parent / "samples"


class TestContract(FormatContract):
    format = "ale"
    samples = (SAMPLES / "sub-agents.json", DATA / "ale.json")
    invalid = (
        Invalid(
            {**ROOT, "variant_index": "0", "steps": [{"step_id": 1, "source": "nobody"}]},
            (("/variant_index", "ale.type"), ("/steps/0/source", "ale.source")),
        ),
    )

    def normal(self, document: Json) -> Json:
        """Return *document* with the defaults that the format gives."""
        return whole(document)
