"""Stores for tests."""

from __future__ import annotations

from pathlib import Path

import hub_lance
import pytest


@pytest.fixture
def store(tmp_path: Path) -> hub_lance.Store:
    """An empty store."""
    return hub_lance.open(tmp_path / "store", create=True)
