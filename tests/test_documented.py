"""Every hook, command, option and rule is documented, and the generated pages are current."""

import importlib.util
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer.main

import hub
import hub.testing
from hub import hookspecs
from hub.cli.app import program as whole_program
from hub.testing import FormatContract

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
CODE = [*ROOT.glob("hub/**/*.py"), *ROOT.glob("plugins/*/hub_*/**/*.py")]
MARK = f"{hookspecs.PROJECT}_spec"
"""Attribute by which pluggy knows a specification."""
RULE = re.compile(
    r'"((?:input|redact|detect|carrier|envelope|residual|storyline|actf|ale|atif|openai)\.[a-z][a-z-]*)"'
)


@cache
def generator() -> ModuleType:
    """Return the script that writes the reference."""
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def page(name: str) -> str:
    """Return the text of a page."""
    return (DOCS / name).read_text(encoding="utf-8")


class TestGenerated:
    @pytest.mark.parametrize(
        "name",
        [
            "reference/api.md",
            "reference/cli.md",
            "reference/limits.md",
            "reference/rules.md",
            "design/layers.md",
        ],
    )
    def test_page_is_current(self, name: str) -> None:
        """A generated page is what its script would write: if not, run `make docs`."""
        assert page(name) == generator().pages()[name]


class TestHooks:
    def test_every_hook_has_a_section(self) -> None:
        """The page on hooks has a section for each hook, in their order."""
        assert hooks() == re.findall(r"^## `(\w+)`", page("plugins/hooks.md"), re.MULTILINE)

    def test_every_hook_shows_an_implementation(self) -> None:
        """The docstring of each hook shows a whole implementation."""
        shown = {name: inspect.getdoc(getattr(hookspecs, name)) or "" for name in hooks()}
        assert [] == [name for name, text in shown.items() if "@hookimpl\n" not in text]


def hooks() -> list[str]:
    """Return the names of the hooks, in the order in which they are specified."""
    return [name for name, value in vars(hookspecs).items() if hasattr(value, MARK)]


class TestPlugins:
    def test_every_promise_is_in_the_contract(self) -> None:
        """The page on the contract lists each test, with its first line."""
        listed = re.findall(
            r"^\| `(test_\w+)` \| (.*) \|$", page("plugins/contract.md"), re.MULTILINE
        )
        promised = {
            name: (inspect.getdoc(value) or "").splitlines()[0]
            for name, value in inspect.getmembers(FormatContract, inspect.isfunction)
            if name.startswith("test_")
        }
        assert promised == dict(listed)

    def test_every_name_of_the_kit_is_in_the_contract(self) -> None:
        """So is every public name of the kit."""
        text = page("plugins/contract.md")
        assert [] == [name for name in hub.testing.__all__ if name not in text]

    def test_every_name_of_commands_is_in_the_hooks(self) -> None:
        """What commands of others use is on the page on hooks."""
        text = page("plugins/hooks.md")
        assert [] == [name for name in hub.commands.__all__ if f"`{name}`" not in text]

    def test_versions_are_in_the_table(self) -> None:
        """The table of compatibility has a row for this version of the hub and of its hooks."""
        version = hub.__version__.rpartition(".")[0]
        assert f"| {version} | {hookspecs.API_VERSION} |" in page("plugins/stability.md")


class TestCommands:
    def test_every_command_and_option_is_explained(self) -> None:
        """Each command, argument and option has a help text."""
        assert [] == [name for name, text in explained() if not text]

    def test_every_option_is_in_the_reference(self) -> None:
        """The reference names each command and each option."""
        text = page("reference/cli.md")
        assert [] == [name for name, _ in explained() if f"`{name}`" not in text]

    def test_every_command_of_the_program_is_looked_at(self) -> None:
        """The commands that are looked at are those that the program has, with their options."""
        program: Any = typer.main.get_command(whole_program())
        listed = {name for name, _ in explained()}
        assert set(commands_and_options("hub", program)) - GIVEN == listed - arguments()


GIVEN = {"--help", "-h", "--install-completion", "--show-completion"}
"""Options that every program of the framework has."""


def explained() -> list[tuple[str, str]]:
    """Return each name on the command line, with its help."""
    found = []
    for command in generator().program().walk():
        found.append((command.name, command.help))
        found += [(name, one.help) for one in command.parameters for name in one.names]
    return found


def arguments() -> set[str]:
    """Return the place-holders of arguments."""
    return {
        one.names[0]
        for command in generator().program().walk()
        for one in command.parameters
        if not one.is_option
    }


def commands_and_options(name: str, command: Any) -> Iterator[str]:
    """Yield the names of *command*, of its options, and of all below it, as the framework knows them."""
    yield name
    for one in command.params:
        yield from (option for option in one.opts if option.startswith("-"))
    for key, below in getattr(command, "commands", {}).items():
        yield from commands_and_options(f"{name} {key}", below)


class TestRules:
    def test_every_rule_in_the_code_is_in_the_catalogue(self) -> None:
        """Each rule id that the code names has its row."""
        named = {rule for path in CODE for rule in RULE.findall(path.read_text(encoding="utf-8"))}
        listed = set(re.findall(r"^\| `([^`]+)`", page("reference/rules.md"), re.MULTILINE))
        assert set() == named - listed

    def test_ids_are_declared_once(self) -> None:
        """One id has one severity and asks for one thing."""
        declared: dict[str, hub.Rule] = {}
        for rule in generator().every_rule():
            assert declared.setdefault(rule.rule, rule) == rule
