"""The plugin in `examples/`, which is no part of the workspace: built, installed and tested as its author would."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from .outsiders import Plugin, installed

pytest.importorskip("hatchling", reason="builds a wheel")

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "examples" / "hub-claude-code"
SAMPLE = "tests/samples/cart.jsonl"


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Plugin:
    """The plugin, installed."""
    return installed(SOURCE, tmp_path_factory.mktemp("claude-code"))


class TestOutsider:
    def test_is_a_stranger(self) -> None:
        """It is no member of the workspace, and needs nothing but the hub."""
        members = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]["workspace"]
        assert ["plugins/*"] == members["members"]
        project = tomllib.loads((SOURCE / "pyproject.toml").read_text())["project"]
        assert ["storyline-hub>=0.1,<1"] == project["dependencies"]

    def test_tests_pass(self, plugin: Plugin) -> None:
        """Its tests pass, the contract among them."""
        done = plugin.test()
        assert 0 == done.returncode, done.stdout

    def test_detected(self, plugin: Plugin) -> None:
        """The hub detects a session."""
        assert "claude-code (90): " in plugin.hub("detect", SAMPLE)

    @pytest.mark.parametrize("format", ["actf", "ale", "atif", "openai-messages"])
    def test_converted(self, plugin: Plugin, format: str, tmp_path: Path) -> None:
        """A session converts to every other format, without an error in what is written."""
        pytest.importorskip(f"hub_{format.replace('-', '_')}")
        output = str(tmp_path / "out.json")
        plugin.hub("convert", SAMPLE, "--to", format, "--output", output, "--quiet")
        assert plugin.hub("detect", output).startswith(f"{output}: {format} ")
        plugin.hub("validate", output, "--from", format)
