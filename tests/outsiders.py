"""Distributions as those get them who have no checkout: built into a wheel, and installed from that."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple


def run(
    *arguments: str, folder: Path, path: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Python with *arguments* in *folder*; with the distributions in *path*."""
    extra = {} if path is None else {"PYTHONPATH": str(path)}
    environment = {**os.environ, **extra, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(  # noqa: S603  # our own interpreter
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


class Plugin(NamedTuple):
    """A plugin that is installed, beside the hub of this checkout."""

    source: Path
    """Folder with its tests, and nothing else of what was made."""
    site: Path
    """Where it is installed."""

    def test(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run its tests."""
        words = ("-q", "-p", "no:cacheprovider", "--contract-examples", "10", *arguments)
        return run("-m", "pytest", *words, folder=self.source, path=self.site)

    def hub(self, *arguments: str) -> str:
        """Run a command that must work."""
        done = run("-m", "hub", *arguments, folder=self.source, path=self.site)
        assert (0, "") == (done.returncode, done.stderr)
        return done.stdout


def installed(source: Path, folder: Path) -> Plugin:
    """Build the distribution in *source*, install it below *folder*, and put its tests there."""
    built = run("-m", "hatchling", "build", "-t", "wheel", "-d", str(folder), folder=source)
    assert 0 == built.returncode, built.stderr
    (wheel,) = folder.glob("*.whl")
    site, checkout = folder / "site", folder / "checkout"
    words = ("--quiet", "--no-index", "--no-deps", "--target", str(site))
    done = run("-m", "pip", "install", *words, str(wheel), folder=folder)
    assert 0 == done.returncode, done.stderr
    shutil.copytree(source / "tests", checkout / "tests")
    shutil.copy(source / "pyproject.toml", checkout)
    return Plugin(checkout, site)
