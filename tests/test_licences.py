"""The licences of what users get with the hub, its plugins and extras: SECURITY.md, dependencies."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
ALLOWED = {
    "MIT",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "Apache-2.0",
    "ISC",
    "0BSD",
    "Zlib",
    "PSF-2.0",
    "MPL-2.0",
    "CC0-1.0",
}
NAMES = {
    "MIT License": "MIT",
    "BSD License": "BSD-3-Clause",
    "Apache Software License": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "ISC License (ISCL)": "ISC",
}
"""SPDX ids of licences that are named in other words."""


def needed() -> list[str]:
    """Return the names of the installed distributions that the hub, its plugins and extras need."""
    todo = []
    for path in (ROOT / "pyproject.toml", *sorted(ROOT.glob("plugins/*/pyproject.toml"))):
        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        extras = project.get("optional-dependencies", {}).values()
        todo += [*project["dependencies"], *(one for extra in extras for one in extra)]
    found: set[str] = set()
    for requirement in todo:  # grows on the way
        match = re.match(r"[A-Za-z0-9._-]+", requirement)
        name = re.sub(r"[-_.]+", "-", match[0]).lower() if match else ""
        if name in found or name.startswith("storyline-hub"):
            continue
        try:
            needs = distribution(name).requires or []
        except PackageNotFoundError:
            continue  # of another Python or system, or of an extra that is not installed
        found.add(name)
        todo += [one for one in needs if "extra ==" not in one]
    return sorted(found)


def licences(name: str) -> set[str]:
    """Return the licences of a distribution, by their SPDX ids where they have one."""
    about = distribution(name).metadata
    classifiers = about.get_all("Classifier") or []
    named = about.get_all("License-Expression") or [
        one.rpartition(" :: ")[2] for one in classifiers if one.startswith("License :: OSI")
    ]
    named = named or about.get_all("License") or ["none"]
    return {
        licence
        for one in named
        for licence in ([NAMES[one]] if one in NAMES else re.findall(r"[\w.+-]+", one))
    } - {"AND", "OR"}


class TestLicences:
    def test_policy(self) -> None:
        """The security policy names those that are allowed."""
        line = next(one for one in SECURITY.splitlines() if one.startswith("- Licences:"))
        assert set(re.findall(r"[\w.-]+-[\d.]+\d|MIT|0BSD|BSD|ISC|Zlib", line)) == {
            "MIT",
            "BSD",
            "Apache-2.0",
            "ISC",
            "0BSD",
            "Zlib",
            "PSF-2.0",
            "MPL-2.0",
            "CC0-1.0",
        }

    @pytest.mark.parametrize("name", needed())
    def test_allowed(self, name: str) -> None:
        """What comes with the hub has a licence that the policy allows."""
        assert licences(name) <= ALLOWED

    def test_direct_ones(self) -> None:
        """The packages that the hub itself depends on are among those looked at."""
        assert {"attrs", "blake3", "cattrs", "orjson", "pluggy", "typer"} <= set(needed())
