"""What surrounds the code: files, metadata and settings of every distribution agree."""

import os
import re
import shutil
import subprocess
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import hub

ROOT = Path(__file__).parent.parent
PLUGINS = sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))
each_plugin = pytest.mark.parametrize("plugin", PLUGINS, ids=lambda path: path.name)

BELONGS_ELSEWHERE = re.compile(
    r"(?<![\w.])/(?:work|root|farm)/"
    r"|\.\./shared|\.\./\.library"
    r"|pypi\.org|pythonhosted|registry\.npmjs|deb\.debian"
)
"""Paths of one machine, and hosts that only a lock file should name."""


@cache
def settings(folder: Path) -> dict[str, Any]:
    """Return the `pyproject.toml` of *folder*."""
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))


def is_format(plugin: Path) -> bool:
    """Tell whether *plugin* adds a format."""
    return "storyline_hub.formats" in settings(plugin)["project"]["entry-points"]


def package(plugin: Path) -> str:
    """Return the import package of *plugin*."""
    return f"hub_{plugin.name.replace('-', '_')}"


FORMATS = [plugin for plugin in PLUGINS if is_format(plugin)]
"""Plugins that add a format; the others add commands."""


class TestFiles:
    def test_every_file_belongs_here(self) -> None:
        """No file names a path of one machine, or the host of a package registry."""
        git = shutil.which("git") or "git"
        listed = subprocess.run(  # noqa: S603  # no input of anybody's
            [git, "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
        )
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
        found = [
            f"{path.relative_to(ROOT)}: {match[0]}"
            for path in paths
            if path.is_file() and path != Path(__file__)
            for match in BELONGS_ELSEWHERE.finditer(
                path.read_text(encoding="utf-8", errors="replace")
            )
        ]
        assert [] == found

    def test_lock_file_is_ignored(self) -> None:
        """The lock file of uv stays out of the repository: it names hosts."""
        assert "uv.lock" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()

    def test_tests_are_no_packages(self) -> None:
        """No folder of tests is a package: several are called `tests`, and one run collects them all."""
        folders = [ROOT / "tests", *(plugin / "tests" for plugin in PLUGINS)]
        assert [] == [found for folder in folders for found in folder.rglob("__init__.py")]

    def test_gate_is_a_program(self) -> None:
        """The gate can be run, and runs the commands that the README names."""
        gate = ROOT / ".ci" / "run"
        assert os.access(gate, os.X_OK)
        assert {"make demo", "make test"} <= set(
            re.findall(r'"(make \w+)"', gate.read_text("utf-8"))
        )

    def test_readme_names_two_commands(self) -> None:
        """A fresh machine needs two commands, and the README names no others of make."""
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        assert {"make demo", "make test"} == set(re.findall(r"^make \w+", text, re.MULTILINE))


class TestDistributions:
    def test_version_of_the_hub(self) -> None:
        """The program tells the version that the distribution has."""
        assert settings(ROOT)["project"]["version"] == hub.__version__

    @each_plugin
    def test_plugin_has_its_files(self, plugin: Path) -> None:
        """A plugin's folder holds all that its distribution needs."""
        needed = ["README.md", "CHANGELOG.md", "LICENSE", f"{package(plugin)}/py.typed", "tests"]
        assert [] == [name for name in needed if not (plugin / name).exists()]

    def test_hub_is_typed(self) -> None:
        """The hub's annotations count for those who use it."""
        assert (ROOT / "hub" / "py.typed").is_file()

    @each_plugin
    def test_licence_is_the_same(self, plugin: Path) -> None:
        """Every distribution comes with the licence of the hub."""
        assert (plugin / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()

    @pytest.mark.parametrize("plugin", FORMATS, ids=lambda path: path.name)
    def test_plugin_is_named_for_its_format(self, plugin: Path) -> None:
        """Distribution, package and entry point of a plugin bear the id of its format."""
        project = settings(plugin)["project"]
        assert project["name"] == f"storyline-hub-{plugin.name}"
        assert project["entry-points"] == {
            "storyline_hub.formats": {plugin.name: f"{package(plugin)}.plugin"}
        }

    def test_store_adds_commands(self) -> None:
        """The one plugin that is no format is the store, which adds a command."""
        others = [plugin.name for plugin in PLUGINS if plugin not in FORMATS]
        assert ["lance"] == others
        project = settings(ROOT / "plugins" / "lance")["project"]
        assert project["name"] == "storyline-hub-lance"
        assert project["entry-points"] == {
            "storyline_hub.commands": {"store": "hub_lance.commands:app"}
        }

    @each_plugin
    def test_plugin_needs_the_hub_only(self, plugin: Path) -> None:
        """A plugin asks for the hub, and no other package but those it declares."""
        needed = settings(plugin)["project"]["dependencies"]
        assert [f"storyline-hub>={minor(hub.__version__)},<1"] == [
            one for one in needed if one.startswith("storyline-hub")
        ]

    @each_plugin
    def test_plugin_runs_where_the_hub_runs(self, plugin: Path) -> None:
        """Hub and plugins support the same versions of Python."""
        keys = ("requires-python", "license", "license-files", "authors")
        ours, theirs = settings(ROOT)["project"], settings(plugin)["project"]
        assert {key: ours[key] for key in keys} == {key: theirs[key] for key in keys}
        assert pythons(ours) == pythons(theirs) == ["3.11", "3.12", "3.13", "3.14"]

    @pytest.mark.parametrize("folder", [ROOT, *PLUGINS], ids=lambda path: path.name)
    def test_changelog_is_open(self, folder: Path) -> None:
        """The changelog has a place for what is not released."""
        text = (folder / "CHANGELOG.md").read_text(encoding="utf-8")
        assert "## Unreleased" in text.splitlines()


def minor(version: str) -> str:
    """Return *version* without its last part."""
    return version.rpartition(".")[0]


def pythons(project: dict[str, Any]) -> list[str]:
    """Return the versions of Python that *project* declares."""
    prefix = "Programming Language :: Python :: 3."
    return [
        f"3.{one.removeprefix(prefix)}" for one in project["classifiers"] if one.startswith(prefix)
    ]


class TestChecks:
    def test_every_plugin_is_held_to_the_layers(self) -> None:
        """Every package of the repository is looked at by import-linter, and by its contracts about plugins."""
        packages = [package(plugin) for plugin in PLUGINS]
        linter = settings(ROOT)["tool"]["importlinter"]
        contracts = {one["id"]: one for one in linter["contracts"]}
        assert linter["root_packages"] == ["hub", *packages]
        assert contracts["hub-knows-no-plugin"]["forbidden_modules"] == packages
        assert contracts["plugins-are-strangers"]["modules"] == packages

    def test_every_package_is_covered(self) -> None:
        """Coverage counts the hub and every plugin."""
        run = settings(ROOT)["tool"]["coverage"]["run"]
        assert run["source_pkgs"] == ["hub", *map(package, PLUGINS)]
