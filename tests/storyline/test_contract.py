"""The contract that every format keeps, the hub's own among them."""

from __future__ import annotations

from hub.testing import FormatContract, Invalid
from hub.testing.documents import DATA


class TestContract(FormatContract):
    format = "storyline"
    samples = (DATA / "storyline.json",)
    invalid = (
        Invalid(
            {
                "schema_version": "storyline/v1",
                "session": "s",
                "agent": {"id": "a"},
                "turns": [{"id": 1, "src": "", "msg": "m"}, {"id": 1, "src": "user", "msg": "m"}],
            },
            (("/turns/0/src", "storyline.source"), ("/turns/1/id", "storyline.turn-id")),
        ),
    )
