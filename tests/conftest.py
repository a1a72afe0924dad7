"""Two formats that nobody installs: plugins as third parties write them; and how many examples hypothesis makes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from hub.registry import Format, Formats

settings.register_profile("default", max_examples=50, deadline=None)
settings.register_profile("quick", max_examples=5, deadline=None)
settings.register_profile("ci", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

TOYS = Path(__file__).parent / "toys"


@pytest.fixture(scope="session")
def log() -> Format:
    """A format that maps speakers and texts, one Storyline a document."""
    return Formats([]).add_file(str(TOYS / "log.py"))


@pytest.fixture(scope="session")
def memo() -> Format:
    """A format whose envelope stands in a map that it keeps."""
    return Formats([]).add_file(str(TOYS / "memo.py"))


@pytest.fixture(scope="session")
def tasks() -> Format:
    """A format with attempts, one Storyline each, which captures residuals."""
    return Formats([]).add_file(str(TOYS / "tasks.py"))


@pytest.fixture(scope="session")
def notes() -> Format:
    """A format that shows more than it reads."""
    return Formats([]).add_file(str(TOYS / "notes.py"))
