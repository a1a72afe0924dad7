"""What these tests need where they stand alone, without the settings of the repository."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Name the mark of tests that need packages which no other test needs."""
    config.addinivalue_line("markers", "slow: needs packages that no other test needs")
