"""The worked example of the fidelity report, which needs a format that is installed: carrier.md 12, example 9."""

from __future__ import annotations

import pytest

import hub
from hub.fidelity import measure
from hub.registry import Format
from hub.source import Source


def test_tasks_to_ale(tasks: Format) -> None:
    """ALE shows calls and results; what it makes a reader believe beyond the source is named."""
    if "ale" not in hub.formats:
        pytest.skip("needs ale")
    document = {
        "task": "bug-7",
        "attempts": {
            "1": {
                "steps": [
                    {
                        "step_id": 1,
                        "text": "look",
                        "tools": [{"id": "c1", "name": "bash", "input": {"cmd": "ls"}}],
                        "observation": [
                            {"type": "tool_result", "tool_use_id": "c1", "content": "a.txt"}
                        ],
                    }
                ]
            }
        },
    }

    report = measure(tasks, hub.formats["ale"], Source.of(document))

    assert (
        "tasks -> ale: 7 kept, 2 carried, 0 normalised, 0 dropped, 3 synthesised\n"
        "carried      /attempts/*/steps/*/observation/*/tool_use_id\n"
        "carried      /attempts/*/steps/*/observation/*/type\n"
        "synthesised  /agent/name\n"
        "synthesised  /task/env/name\n"
        "synthesised  /task/env/state/variant_index\n"
    ) == report.to_text()
