"""`hub new-plugin`: what it makes can be built, installed and used, and its tests find what is broken in it."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from hub.errors import UsageError
from hub.scaffold import create

from .outsiders import Plugin, installed, run

pytest.importorskip("jinja2", reason="needs the extra `kit`")

SAMPLE = "tests/samples/first.json"


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Plugin:
    """A plugin that was made, built into a wheel, and installed from that."""
    pytest.importorskip("hatchling", reason="builds a wheel")
    folder = tmp_path_factory.mktemp("made")
    create("chat-log", folder, title="Chat log of ours")
    return installed(folder / "hub-chat-log", folder)


class TestMade:
    def test_tests_pass(self, plugin: Plugin) -> None:
        """Its tests, the whole contract among them, pass before anybody has written a line."""
        done = plugin.test()
        assert 0 == done.returncode, done.stdout
        assert "skipped" not in done.stdout

    def test_is_installed(self, plugin: Plugin) -> None:
        """The hub finds it, and knows what it is called."""
        shown = json.loads(plugin.hub("formats", "chat-log", "--json"))
        assert ("chat-log", "Chat log of ours") == (shown["id"], shown["title"])
        assert "storyline-hub-chat-log 0.1.0" == shown["distribution"]

    def test_converts(self, plugin: Plugin, tmp_path: Path) -> None:
        """It converts to a Storyline and back, and nothing is lost."""
        there, back = str(tmp_path / "a.json"), str(tmp_path / "b.json")
        plugin.hub("convert", SAMPLE, "--to", "storyline", "--output", there, "--quiet")
        plugin.hub("convert", there, "--to", "chat-log", "--output", back, "--quiet")
        before, after = (
            json.loads(path.read_text()) for path in (plugin.source / SAMPLE, Path(back))
        )
        assert before == after

    def test_has_what_a_distribution_needs(self, tmp_path: Path) -> None:
        """It has a README, a changelog, a workflow for tests, and is typed; nothing is left to be filled in."""
        made = create("chat-log", tmp_path)
        names = (
            *("README.md", "CHANGELOG.md", "pyproject.toml", ".gitignore"),
            *(".github/workflows/tests.yml", "hub_chat_log/py.typed"),
        )
        assert [] == [name for name in names if tmp_path / "hub-chat-log" / name not in made]
        texts = [path.read_text(encoding="utf-8") for path in made]
        assert [] == [text for text in texts if re.search(r"\[\[\w+\]\]", text)]


class Mutation(NamedTuple):
    """A mistake, and the test of the contract that finds it."""

    name: str
    file: str
    before: str
    after: str
    test: str
    says: str


DETECTOR = "    marker = record.get"
GREEDY = '    if isinstance(record, dict):\n        return Detection(90, "an object")\n'

MUTATIONS = (
    Mutation(
        "a dropped field",
        "mapping",
        ', model_name=log.get("model")',
        "",
        "test_samples_come_back",
        'first.json does not come back: at /model "example-1" became nothing',
    ),
    Mutation(
        "dropped unknown members",
        "mapping",
        "    add_residuals(",
        "    (lambda *_: None)(",
        "test_unknown_members_come_back",
        "hand it over with `add_residuals`",
    ),
    Mutation(
        "a wrong pointer of a residual",
        "parsing",
        '_step(document, step, f"/steps/{index}")',
        '_step(document, step, f"/steps/{index + 1}")',
        "test_unknown_members_come_back",
        "does not come back",
    ),
    Mutation(
        "a wrong pointer of a problem",
        "parsing",
        'f"{at}/time", rules.TIME',
        '"/time", rules.TIME',
        "test_invalid_documents",
        "report a problem at the pointer of the value that is wrong",
    ),
    Mutation(
        "a pointer to nothing",
        "parsing",
        'f"{at}/time", rules.TIME',
        'f"{at}/calls/99/x/time", rules.TIME',
        "test_problems_have_a_place_and_a_rule",
        "where nothing is",
    ),
    Mutation(
        "a greedy detector",
        "plugin",
        DETECTOR,
        GREEDY + DETECTOR,
        "test_claims_no_others",
        "`detect` claims",
    ),
    Mutation(
        "a detector that trusts its input",
        "plugin",
        " if isinstance(record, dict) else None\n    if not isinstance(marker, str) or not",
        "\n    if not",
        "test_anything",
        "check the type of a value",
    ),
    Mutation(
        "a detector that finds nothing",
        "plugin",
        'startswith("chat-log/")',
        'startswith("chatlog/")',
        "test_claims_its_samples",
        "first.json",
    ),
    Mutation(
        "a heavy import",
        "plugin",
        "from hub import Detection",
        "import cattrs\nfrom hub import Detection",
        "test_light_import",
        "import it inside the hook that needs it",
    ),
    Mutation(
        "a slow import",
        "plugin",
        "from hub import Detection",
        "sum(range(9_000_000))\nfrom hub import Detection",
        "test_light_import",
        "-X importtime",
    ),
    Mutation(
        "output on import",
        "plugin",
        "from hub import Detection",
        "print('hello')\nfrom hub import Detection",
        "test_light_import",
        "prints 'hello'",
    ),
    Mutation(
        "a file that is read on import",
        "plugin",
        "from hub import Detection",
        "open('pyproject.toml').close()\nfrom hub import Detection",
        "test_light_import",
        "opens pyproject.toml",
    ),
    Mutation(
        "a rule that is not named",
        "rules",
        "TYPE, TIME, CALL_ID)",
        "TYPE, CALL_ID)",
        "test_problems_have_a_place_and_a_rule",
        "return it from the hook `rules` as well",
    ),
    Mutation(
        "a message that is trusted to be a text",
        "mapping",
        'text_of(turn.message, "\\n")',
        "turn.message",
        "test_writes_the_corpus",
        "mend the one or the other",
    ),
    Mutation(
        "a Storyline that is changed",
        "mapping",
        '    log["agent"] =',
        '    storyline.notes = "seen"\n    log["agent"] =',
        "test_writes_the_corpus",
        "writing the Storylines of the kit that show",
    ),
    Mutation(
        "a document that is changed",
        "parsing",
        "    log = _known(",
        '    value.pop("model", None)\n    log = _known(',
        "test_inputs_are_left_alone",
        "copy an object before you take something out of it",
    ),
    Mutation(
        "an order that depends on hashes",
        "mapping",
        '    log["steps"] =',
        '    log["agent"] = ",".join({"a", "b", "c", "d", "e", "f", "g"})\n    log["steps"] =',
        "test_same_everywhere",
        "do not go through a `set`",
    ),
    Mutation(
        "a made-up id",
        "mapping",
        '    log["agent"] =',
        '    import uuid\n\n    log["id"] = str(uuid.uuid4())\n    log["agent"] =',
        "test_writes_the_corpus",
        "no clock, no random numbers",
    ),
    Mutation(
        "no place for the envelope",
        "plugin",
        'nodes=("",)',
        'nodes=("/nowhere",)',
        "test_relay_of_others",
        "check `nodes` and `envelope`",
    ),
    Mutation(
        "a node that is not named",
        "plugin",
        "reads=(VERSION,)",
        "reads=()",
        "test_format_info",
        "`reads` names no version",
    ),
)


class TestMutations:
    @pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.name)
    def test_is_found(self, plugin: Plugin, mutation: Mutation, tmp_path: Path) -> None:
        """A mistake is found by the test that is there for it, which says what to do."""
        site = tmp_path / "site"
        shutil.copytree(plugin.site, site)
        path = site / "hub_chat_log" / f"{mutation.file}.py"
        text = path.read_text()
        assert mutation.before in text
        path.write_text(text.replace(mutation.before, mutation.after))

        done = plugin._replace(site=site).test("-k", mutation.test)

        assert 1 == done.returncode, done.stdout
        assert mutation.says in done.stdout
        assert "What to do: " in done.stdout
        assert "Traceback" not in done.stdout

    def test_not_installed(self, plugin: Plugin, tmp_path: Path) -> None:
        """A format that is not installed is told as such."""
        tmp_path.joinpath("empty").mkdir()

        done = plugin._replace(site=tmp_path / "empty").test(
            "tests/test_contract.py", "-k", "test_entry_point"
        )

        assert 1 == done.returncode
        assert "install the distribution into this environment" in done.stdout


class TestRefused:
    @pytest.mark.parametrize(
        "name", ["", "Chat", "chat_log", "-a", "a-", "a--b", "a/b", "..", "1a"]
    )
    def test_name(self, name: str, tmp_path: Path) -> None:
        """A name that is no id is refused, and nothing is made."""
        with pytest.raises(UsageError, match="lower-case"):
            create(name, tmp_path)
        assert [] == list(tmp_path.iterdir())

    @pytest.mark.parametrize("title", ['x"', "a\\", "a\nb", "[[id]]", "\u2028", "a|b"])
    def test_title(self, title: str, tmp_path: Path) -> None:
        """A title that would become more than a text in the files of the plugin is refused."""
        with pytest.raises(UsageError, match="is no title: one line of text without quotation"):
            create("chat-log", tmp_path, title=title)
        assert [] == list(tmp_path.iterdir())

    @pytest.mark.parametrize("name", ["storyline", "ale", "openai-msg"])
    def test_taken(self, name: str, tmp_path: Path) -> None:
        """So is the name of a format that is there, or well known."""
        with pytest.raises(UsageError, match="already"):
            create(name, tmp_path)

    def test_folder(self, tmp_path: Path) -> None:
        """Nothing is written over what is there."""
        create("chat-log", tmp_path)
        with pytest.raises(UsageError, match="is there already; choose another --dir"):
            create("chat-log", tmp_path)

    def test_without_jinja(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without the template engine the message names the extra."""
        monkeypatch.setitem(sys.modules, "jinja2", None)
        with pytest.raises(UsageError, match=r"storyline-hub\[kit\]"):
            create("chat-log", tmp_path)
        assert [] == list(tmp_path.iterdir())


class TestCommand:
    def test_tells_what_next(self, tmp_path: Path) -> None:
        """The command lists what it made, and says how to go on."""
        done = run("-m", "hub", "new-plugin", "chat-log", "--dir", "made", folder=tmp_path)
        assert 0 == done.returncode
        assert "made/hub-chat-log/hub_chat_log/plugin.py" in done.stdout.splitlines()
        assert done.stderr.startswith(
            "next: cd made/hub-chat-log; pip install --editable '.[test]'"
        )

    @pytest.mark.parametrize("command", [["--help"], ["formats"], ["new-plugin", "--help"]])
    def test_only_it_imports_the_engine(self, command: list[str], tmp_path: Path) -> None:
        """No other command imports the template engine."""
        script = (
            "import sys; from hub.cli.app import run; run(sys.argv[1:]);"
            "sys.exit('jinja2' in sys.modules)"
        )
        assert 0 == run("-c", script, *command, folder=tmp_path).returncode
