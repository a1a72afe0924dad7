"""Commands of other distributions: the group `storyline_hub.commands`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

GREETING = """\
import typer
from hub import commands

app = typer.Typer(help="Greet.")

@app.callback()
def greet() -> None:
    "Greet people."

@app.command()
def say(name: str, from_: commands.From = None, as_json: commands.AsJson = False) -> None:
    "Say hello."
    from hub import UsageError

    if name == "nobody":
        raise UsageError("nobody is there")
    if as_json:
        commands.print_json({"hello": name, "from": from_})
    else:
        commands.say(f"hello {name}")
"""


def install(site: Path, name: str, text: str, *, command: str = "greet", made: str = "") -> None:
    """Put a distribution with a command into *site*."""
    folder = site / f"{name}-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Name: {name}\nVersion: 1.0\nSummary: Greets people\n")
    points = f"[storyline_hub.commands]\n{command} = plugin_{name}:{made or 'app'}\n"
    (folder / "entry_points.txt").write_text(points)
    (site / f"plugin_{name}.py").write_text(text)


def hub(site: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command, with the distributions in *site*."""
    return subprocess.run(  # noqa: S603  # our own interpreter
        [sys.executable, "-m", "hub", *arguments],
        cwd=site,
        env={**os.environ, "PYTHONPATH": str(site), **settings},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def states(site: Path, **settings: str) -> list[tuple[str, str]]:
    """Return status and reason of each command that is added."""
    found = json.loads(hub(site, "plugins", "--json", **settings).stdout)
    return [(one["status"], one["reason"]) for one in found if one["id"] == "greet"]


class TestCommand:
    def test_runs(self, tmp_path: Path) -> None:
        """A command runs as those of the hub do, with its options and its results."""
        install(tmp_path, "one", GREETING)
        done = hub(tmp_path, "greet", "say", "you", "--from", "me", "--json")
        assert (0, '{"hello": "you", "from": "me"}\n', "") == (
            done.returncode,
            done.stdout,
            done.stderr,
        )
        assert "hello you\n" == hub(tmp_path, "greet", "say", "you").stderr

    def test_errors_are_told(self, tmp_path: Path) -> None:
        """An error of the hub is told in a line, and has its exit status."""
        install(tmp_path, "one", GREETING)
        done = hub(tmp_path, "greet", "say", "nobody")
        assert (2, "", "hub: nobody is there\n") == (done.returncode, done.stdout, done.stderr)

    def test_is_listed_and_not_imported(self, tmp_path: Path) -> None:
        """The help of the program lists it with the summary of its distribution, and does not import it."""
        install(tmp_path, "one", "raise SystemExit('imported')")
        done = hub(tmp_path, "--help")
        assert (0, "") == (done.returncode, done.stderr)
        assert ["greet", "Greets", "people."] in [line.split() for line in done.stdout.splitlines()]

    def test_other_commands_do_not_look(self, tmp_path: Path) -> None:
        """A command of the hub does not look for added ones."""
        script = (
            "import sys; from hub.cli.app import program; program('detect');"
            "print('hub.cli.additions' in sys.modules)"
        )
        done = subprocess.run(  # noqa: S603  # our own interpreter
            [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert "False\n" == done.stdout

    def test_is_ok(self, tmp_path: Path) -> None:
        """`hub plugins` shows that it is well, and `doctor` agrees."""
        install(tmp_path, "one", GREETING)
        assert [("ok", "")] == states(tmp_path)
        assert 0 == hub(tmp_path, "plugins", "doctor", "greet").returncode


class TestBroken:
    @pytest.mark.parametrize(
        ("text", "made", "reason"),
        [
            ("import no_such", "app", "ModuleNotFoundError: No module named 'no_such'"),
            ("app = 5", "app", "plugin_one:app is no typer.Typer"),
            ("", "app", "AttributeError: module 'plugin_one' has no attribute 'app'"),
            ("import sys; sys.exit(3)", "app", "SystemExit: 3"),
        ],
    )
    def test_costs_only_itself(self, tmp_path: Path, text: str, made: str, reason: str) -> None:
        """What cannot be used says why when it is asked for, and shows in `hub plugins`; the rest works."""
        install(tmp_path, "one", text, made=made)
        done = hub(tmp_path, "greet", "say", "you")
        told = f"hub: the command 'greet' of one 1.0 cannot be used: {reason}; `hub plugins doctor greet` shows more\n"
        assert (1, "", told) == (done.returncode, done.stdout, done.stderr)
        assert [("broken", reason)] == states(tmp_path)
        doctor = hub(tmp_path, "plugins", "doctor", "greet")
        assert 1 == doctor.returncode
        assert reason in doctor.stdout
        assert 0 == hub(tmp_path, "formats").returncode
        assert 0 == hub(tmp_path, "--help").returncode

    def test_conflict(self, tmp_path: Path) -> None:
        """Of two that have one name, neither is used."""
        install(tmp_path, "one", GREETING)
        install(tmp_path, "two", GREETING)
        reason = "one 1.0 and two 1.0 claim 'greet'; uninstall one"
        assert [("conflict", reason)] * 2 == states(tmp_path)
        done = hub(tmp_path, "greet", "say", "you")
        assert 1 == done.returncode
        assert reason in done.stderr
        assert 1 == hub(tmp_path, "--help").stdout.count("greet")
        assert "ok" == states(tmp_path, HUB_DISABLE_PLUGINS="two")[0][0]

    def test_name_of_the_hub(self, tmp_path: Path) -> None:
        """A name that a command of the hub has is not to be had."""
        install(tmp_path, "one", GREETING, command="detect")
        found = json.loads(hub(tmp_path, "plugins", "--json").stdout)
        reason = "the hub has a command 'detect' of its own"
        assert [("conflict", reason)] == [
            (one["status"], one["reason"]) for one in found if one["id"] == "detect"
        ]
        assert "Say which format" in hub(tmp_path, "--help").stdout

    def test_disabled(self, tmp_path: Path) -> None:
        """One that is disabled is not there."""
        install(tmp_path, "one", GREETING)
        reason = "HUB_DISABLE_PLUGINS names it"
        assert [("disabled", reason)] == states(tmp_path, HUB_DISABLE_PLUGINS="one")
        assert "greet" not in hub(tmp_path, "--help", HUB_DISABLE_PLUGINS="one").stdout
        assert 2 == hub(tmp_path, "greet", HUB_DISABLE_PLUGINS="one").returncode
