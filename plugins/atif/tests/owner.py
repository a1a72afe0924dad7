"""The owner's models, and those of the `atif` distribution: do they accept a document?

Harbor is installed without what it needs to run (`owner.txt`); where it is not, tests that ask it are skipped.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable
from typing import Any

import pytest

from hub import compact

Json = Any

INSTALL = (
    "pip install --no-deps --ignore-requires-python --requirement plugins/atif/tests/owner.txt"
)


def _model(module: str) -> Any:
    try:
        return importlib.import_module(module).Trajectory
    except ImportError:
        return None


HARBOR = _model("harbor.models.trajectories")
ATIF = _model("atif")
IS_REQUIRED = bool(os.environ.get("HUB_REQUIRE_OWNERS"))
"""Set where they must be there: then their tests fail and are not skipped."""

needs_harbor = pytest.mark.skipif(
    HARBOR is None and not IS_REQUIRED, reason=f"no models of Harbor; {INSTALL}"
)
needs_atif = pytest.mark.skipif(
    ATIF is None and not IS_REQUIRED, reason="no second opinion; pip install 'atif>=1.8,<2'"
)

both: list[Any] = [
    pytest.param(lambda: HARBOR, id="harbor", marks=needs_harbor),
    pytest.param(lambda: ATIF, id="atif", marks=needs_atif),
]
Opinion = Callable[[], Any]
each_opinion = pytest.mark.parametrize("opinion", both)


def objection(model: Any, document: Json) -> str | None:
    """Return what *model* has against *document*, which goes through JSON text as a file does; None: nothing."""
    try:
        model.model_validate(json.loads(compact(document)))
    except ValueError as error:
        return str(error)
    return None


def assert_accepted(document: Json) -> None:
    """Fail if one of the models that are installed refuses *document*."""
    for model in (HARBOR, ATIF):
        if model is not None:
            assert objection(model, document) is None
