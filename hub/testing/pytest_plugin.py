"""A pytest plugin for authors of formats: `-p hub.testing.pytest_plugin`.

- A promise of the contract that is broken is told in words, without a trace of the kit's own code.
- The head of a run names the hub and the formats that are there: what a failure somewhere else needs first.
- `--contract-examples N` sets how many random examples each test of the contract has.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the kit."""
    group = parser.getgroup("storyline-hub")
    group.addoption(
        "--contract-examples",
        type=int,
        metavar="N",
        help="random examples that each test of the format contract has",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Set how many examples hypothesis makes."""
    examples = config.getoption("--contract-examples")
    if examples is not None:
        from hypothesis import settings

        settings.register_profile("format-contract", max_examples=examples, deadline=None)
        settings.load_profile("format-contract")


def pytest_report_header() -> str:
    """Name the hub, and how each plugin fares."""
    import hub

    states = hub.formats.states()
    shown = ", ".join(
        one.id if one.status == "ok" else f"{one.id} ({one.status}: {one.reason})" for one in states
    )
    return f"storyline-hub {hub.__version__}, formats: {shown}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell of a broken promise in words."""
    report: Any = yield
    from hub.testing.failures import ContractBroken

    error = None if call.excinfo is None else call.excinfo.value
    if isinstance(error, ContractBroken):
        report.longrepr = "\n".join([str(error), *getattr(error, "__notes__", ())])
    kept: pytest.TestReport = report
    return kept
