"""The formats that are there: loading on demand, what is broken costs only itself, conflicts, hooks of one plugin."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

import hub
from hub.discovery import GROUP
from hub.errors import FormatError, InvalidDocument, PluginError, Rule
from hub.hookspecs import Detection, FormatInfo, Sample, hookimpl, hookspec
from hub.reading import Document, Record
from hub.registry import DISABLE, Format, Formats, PluginState
from hub.source import Source
from hub.storyline.model import Agent, Storyline
from hub.writing import WriteOptions

SAMPLE = Sample(None, "object", [{}], complete=True, size=2)
OWN = f"storyline-hub {hub.__version__}"

IMPORTS = "from hub import Agent, Detection, Document, FormatInfo, Rule, Storyline, hookimpl\n"
HOOKS = {
    "format_info": ("", "return FormatInfo(id='ID', title='T')"),
    "detect": ("sample", "return Detection(100, 'ID')"),
    "parse": (
        "source",
        "for record in source.records():\n    yield Document(record.value, record=record)",
    ),
    "to_storyline": (
        "document",
        "yield Storyline(session_id=document.value, agent=Agent(agent_id='ID'), turns=[])",
    ),
    "from_storyline": (
        "storylines, options",
        "for one in storylines:\n    yield {'ID': one.session_id}",
    ),
}


def plugin(id_: str, *, rest: str = "", **bodies: str | None) -> str:
    """Return the text of a plugin; *bodies* stand for those of hooks, None leaves a hook out."""
    text = IMPORTS
    for name, (parameters, usual) in HOOKS.items():
        body = bodies.get(name, usual)
        if body is not None:
            text += f"\n@hookimpl\ndef {name}({parameters}):\n{indent(body, '    ')}\n"
    return (text + rest).replace("ID", id_)


class Site:
    """A folder on `sys.path` with distributions of one-module plugins."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.modules: dict[str, str] = {}
        """Name of the module that was last made for an id."""
        path.mkdir()

    def install(
        self,
        *ids: str,
        text: str | None = None,
        name: str = "hub-log",
        version: str = "1.0",
        behind: str = "",
    ) -> None:
        """Install a distribution with a plugin for each of *ids*; *behind* the module in the entry point."""
        folder = self.path / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
        lines = [f"[{GROUP}]"]
        for id_ in ids:
            module = f"site_{name}_{id_}".replace("-", "_")
            (self.path / f"{module}.py").write_text(plugin(id_) if text is None else text)
            self.modules[id_] = module
            lines.append(f"{id_} = {module}{behind}")
        (folder / "entry_points.txt").write_text("\n".join(lines))

    def file(self, text: str, name: str = "one.py") -> str:
        """Write a one-file plugin and return its path."""
        path = self.path.parent / name
        path.write_text(text)
        return str(path)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """The only folder on the path that has distributions; its modules are forgotten again."""
    importlib.import_module("orjson")  # before its folder is off the path
    one = Site(tmp_path / "site")
    paths = [path for path in sys.path if not path.endswith(("site-packages", "dist-packages"))]
    monkeypatch.setattr(sys, "path", [str(one.path), *paths])
    monkeypatch.delenv(DISABLE, raising=False)
    yield one
    for name in list(sys.modules):
        if name.startswith(("site_", "hub_plugin_")):
            del sys.modules[name]


def states(formats: Formats) -> list[PluginState]:
    """Return how all but the hub's own plugin fare."""
    return [state for state in formats.states() if state.origin != OWN]


def refusal(formats: Formats, name: str) -> str:
    """Return what is said of a format that is not to be had."""
    with pytest.raises(FormatError) as caught:
        formats[name]
    assert name not in formats
    assert None is formats.get(name)
    return str(caught.value)


class TestMapping:
    def test_own(self, site: Site) -> None:
        """The hub's own format is always there."""
        del site
        formats = Formats()
        assert ["storyline"] == list(formats)
        assert 1 == len(formats)
        assert [PluginState("storyline", "ok", OWN)] == formats.states()
        assert f"<Format storyline of {OWN}>" == repr(formats["storyline"])

    def test_installed(self, site: Site) -> None:
        """Formats are a mapping by id, sorted."""
        site.install("zeta", "log")
        formats = Formats()
        assert ["log", "storyline", "zeta"] == list(formats) == formats.declared
        assert "log" in formats
        assert "gone" not in formats
        assert not Formats.__contains__(formats, 5)
        assert ["log", "storyline", "zeta"] == [one.id for one in formats.values()]
        assert "hub-log 1.0" == formats["log"].origin
        assert formats["log"] is formats.get("log")
        assert "default" == formats.get("gone", "default")

    def test_alias(self, site: Site) -> None:
        """A format answers to its aliases, and to its name in documents."""
        info = "return FormatInfo(id='log', title='T', aliases=('l', 'old'), source_name='log-doc')"
        site.install("log", text=plugin("log", format_info=info))
        formats = Formats()
        for name in ("log", "l", "old", "log-doc"):
            assert "log" == formats[name].id
            assert name in formats
        assert ["log", "storyline"] == list(formats)

    def test_alias_of_two(self, site: Site) -> None:
        """An alias that two formats share names neither."""
        for id_ in ("log", "trace"):
            info = "return FormatInfo(id='ID', title='T', aliases=('l',))"
            site.install(id_, text=plugin(id_, format_info=info), name=f"hub-{id_}")
        assert "'l' is an alias of log and of trace; use the id" == refusal(Formats(), "l")

    def test_id_before_alias(self, site: Site) -> None:
        """An id is never an alias of another format."""
        info = "return FormatInfo(id='log', title='T', aliases=('trace',))"
        site.install("log", text=plugin("log", format_info=info))
        site.install("trace", name="hub-trace")
        assert "trace" == Formats()["trace"].id

    def test_object(self, site: Site) -> None:
        """An entry point may name an object in a module."""
        text = plugin("log").replace("\n", "\n    ").replace("def ", "@staticmethod\n    def ")
        text = text.replace("@hookimpl\n    @staticmethod", "@staticmethod\n    @hookimpl")
        body = text.removeprefix(IMPORTS)
        site.install("log", text=f"{IMPORTS}class Hooks:{body}\n    pass\n", behind=":Hooks")
        assert "log" == Formats()["log"].id


class TestLaziness:
    def test_only_what_is_asked_for(self, site: Site) -> None:
        """Asking for one format loads its module and no other."""
        site.install("log", "trace")
        formats = Formats()
        assert ["log", "storyline", "trace"] == formats.declared
        assert not sys.modules.keys() & site.modules.values()
        assert "log" in formats
        assert {site.modules["log"]} == sys.modules.keys() & site.modules.values()

    def test_once(self, site: Site) -> None:
        """A plugin is loaded once, also when it is broken."""
        text = "import sys\nsys.loads = getattr(sys, 'loads', 0) + 1\n"
        site.install("log", text=plugin("log", rest=text))
        site.install("bad", text=f"{text}raise RuntimeError", name="hub-bad")
        formats = Formats()
        for _ in range(3):
            assert formats["log"] is formats["log"]
            assert "bad" not in formats
            formats.states()
        assert 2 == vars(sys).pop("loads")


class TestBroken:
    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("def x(:", "SyntaxError: invalid syntax (MODULE.py, line 1)"),
            ("raise SystemExit('bye')", "SystemExit: bye"),
            ("import sys\nsys.exit()", "SystemExit"),
            ("raise RuntimeError('boom')", "RuntimeError: boom"),
            ("import gone_dependency", "ModuleNotFoundError: No module named 'gone_dependency'"),
            (
                "from hub import gone",
                "ImportError: cannot import name 'gone' from 'hub' (HUB)",
            ),
            (
                plugin("log", format_info="return FormatInfo(id='ID', title='T', api_version=9)"),
                "made for version 9 of the hooks, this hub has 1; update storyline-hub",
            ),
            (plugin("trace"), "format_info names the id 'trace', the entry point 'log'"),
            ("", "no @hookimpl for format_info, detect, parse, to_storyline in MODULE"),
            (
                plugin("log", parse=None, detect=None),
                "no @hookimpl for detect, parse in MODULE",
            ),
            (
                plugin("log").replace("@hookimpl\ndef format_info", "def format_info"),
                "no @hookimpl for format_info in MODULE",
            ),
            (
                plugin("log", format_info="raise ValueError('no info')"),
                "ValueError: no info",
            ),
            (plugin("log", format_info="raise SystemExit(3)"), "SystemExit: 3"),
            (
                plugin("log", format_info="return {'id': 'log'}"),
                "format_info returned dict, not a FormatInfo",
            ),
            (
                plugin("log", format_info="return None"),
                "format_info returned NoneType, not a FormatInfo",
            ),
        ],
    )
    def test_costs_only_itself(self, site: Site, text: str, reason: str) -> None:
        """A plugin that cannot be loaded is named with its distribution and the reason; others go on."""
        site.install("log", text=text, version="2.1")
        site.install("trace", name="hub-trace")
        formats = Formats()
        module = site.modules["log"]
        reason = (
            reason.replace("MODULE", module)
            .replace("FILE", str(site.path / f"{module}.py"))
            .replace("HUB", str(hub.__file__))
        )
        assert [
            PluginState("log", "broken", "hub-log 2.1", reason),
            PluginState("trace", "ok", "hub-trace 1.0"),
        ] == states(formats)
        assert ["storyline", "trace"] == list(formats)
        assert f"the format 'log' of hub-log 2.1 cannot be used: {reason}" == refusal(
            formats, "log"
        )
        assert [{"trace": "s"}] == CALLS["from_storyline"](formats["trace"])

    @pytest.mark.parametrize(
        ("text", "word"),
        [
            (
                plugin("log", rest="\n@hookimpl\ndef to_storylines(document): ..."),
                "to_storylines",
            ),
            (plugin("log").replace("parse(source)", "parse(file)"), "'file'"),
        ],
    )
    def test_other_hooks(self, site: Site, text: str, word: str) -> None:
        """A hook of another name, or with another argument, is named in one line."""
        site.install("log", text=text)
        formats = Formats()
        (state,) = states(formats)
        assert ("broken", "hub-log 1.0") == (state.status, state.origin)
        assert state.reason.startswith("PluginValidationError: ")
        assert word in state.reason
        assert "\n" not in state.reason
        assert ["storyline"] == list(formats)

    def test_module_is_not_there(self, site: Site) -> None:
        """Neither module nor object need be where the entry point says."""
        site.install("log", behind=".gone")
        site.install("trace", behind=":gone.gone", name="hub-trace")
        log, trace = (site.modules[one] for one in ("log", "trace"))
        assert [
            f"ModuleNotFoundError: No module named '{log}.gone'; '{log}' is not a package",
            f"AttributeError: module '{trace}' has no attribute 'gone'",
        ] == [state.reason for state in states(Formats())]

    def test_no_plugin_of_its_own(self, site: Site) -> None:
        """A plugin is an object of its own, and not None."""
        site.install("log", text=plugin("log", rest="\nnothing = None"))
        module = site.modules["log"]
        other = site.path / "hub_trace-1.0.dist-info"
        other.mkdir()
        points = f"[{GROUP}]\nmain = {module}\ntrace = {module}:nothing\n"
        (other / "entry_points.txt").write_text(points)
        formats = Formats()
        assert "log" in formats
        reason = "it is the object of another plugin, or none"
        assert [
            PluginState("log", "ok", "hub-log 1.0"),
            PluginState("main", "broken", "hub_trace 1.0", reason),
            PluginState("trace", "broken", "hub_trace 1.0", reason),
        ] == states(formats)

    def test_failure(self, site: Site) -> None:
        """The error itself is kept, for a trace."""
        site.install("log", text="raise RuntimeError('boom')")
        site.install("trace", name="hub-trace")
        formats = Formats()
        error = formats.failure("log")
        assert isinstance(error, RuntimeError)
        assert None is not error.__traceback__
        assert None is formats.failure("trace")
        assert None is formats.failure("gone")

    def test_interrupt(self, site: Site) -> None:
        """An interrupt is the user's, and stops everything."""
        site.install("log", text="raise KeyboardInterrupt")
        with pytest.raises(KeyboardInterrupt):
            Formats().states()

    def test_left_alone(self, site: Site) -> None:
        """A refused plugin leaves no hooks behind."""
        site.install("log", text=plugin("log").replace("parse(source)", "parse(file)"))
        site.install("trace", name="hub-trace")
        formats = Formats()
        formats.states()
        assert ["x"] == [one.value for one in formats["trace"].parse(Source.of("x"))]


class Future:
    """Hooks of a later hub, which has given one up."""

    @staticmethod
    @hookspec(warn_on_impl=DeprecationWarning("`old` goes with 2.0; write `rules`"))
    def old() -> None:
        """Do what was done before."""


class TestDeprecated:
    def test_warns(self, site: Site) -> None:
        """A plugin with a hook that is to go still works; pluggy's own warning says what to use."""
        site.install("log", text=plugin("log", rest="@hookimpl\ndef old(): pass\n"))
        formats = Formats()
        formats._manager.add_hookspecs(Future)  # noqa: SLF001  # a later version of the hub
        with pytest.warns(DeprecationWarning, match="`old` goes with 2.0; write `rules`"):
            assert "log" in formats
        assert Detection(100, "log") == formats["log"].detect(SAMPLE)


class TestConflict:
    def test_two_distributions(self, site: Site) -> None:
        """Of two distributions that claim one id both are named, and neither is used or loaded."""
        site.install("log", name="hub-log")
        site.install("log", "trace", name="other-log", version="2.0")
        formats = Formats()
        reason = (
            "hub-log 1.0 and other-log 2.0 claim 'log'; uninstall one,"
            f" or set {DISABLE} to hub-log or other-log"
        )
        assert f"the format 'log' cannot be used: {reason}" == refusal(formats, "log")
        assert [
            PluginState("log", "conflict", "hub-log 1.0", reason),
            PluginState("log", "conflict", "other-log 2.0", reason),
            PluginState("trace", "ok", "other-log 2.0"),
        ] == states(formats)
        assert ["storyline", "trace"] == list(formats)
        assert ["log", "storyline", "trace"] == formats.declared
        assert site.modules["log"] not in sys.modules
        assert None is formats.failure("log")

    def test_way_out(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        """With one of them disabled, the other is used."""
        site.install("log", name="hub-log")
        site.install("log", name="other-log", version="2.0")
        monkeypatch.setenv(DISABLE, "hub-log")
        formats = Formats()
        assert "other-log 2.0" == formats["log"].origin
        assert [
            PluginState("log", "disabled", "hub-log 1.0", f"{DISABLE} names it"),
            PluginState("log", "ok", "other-log 2.0"),
        ] == states(formats)

    def test_own_id(self, site: Site) -> None:
        """The hub's own id is not to be had."""
        site.install("storyline")
        formats = Formats()
        reason = (
            f"{OWN} and hub-log 1.0 claim 'storyline'; uninstall one, or set {DISABLE} to hub-log"
        )
        assert [PluginState("storyline", "conflict", "hub-log 1.0", reason)] == states(formats)
        assert OWN == formats["storyline"].origin
        assert ["storyline"] == list(formats)
        assert PluginState("storyline", "ok", OWN) in formats.states()


class TestDisabled:
    @pytest.mark.parametrize(
        "names", ["log", "hub-log", " LOG ", "Hub_Log", "x,log", "hub.log,,", "storyline,log"]
    )
    def test_by_id_or_distribution(
        self, site: Site, monkeypatch: pytest.MonkeyPatch, names: str
    ) -> None:
        """A plugin is disabled by its id or its distribution, however that is spelled; the hub's own never."""
        site.install("log")
        monkeypatch.setenv(DISABLE, names)
        formats = Formats()
        disabled = PluginState("log", "disabled", "hub-log 1.0", f"{DISABLE} names it")
        assert [disabled] == states(formats)
        assert ["storyline"] == list(formats) == formats.declared
        said = f"the format 'log' is disabled by {DISABLE}; installed: storyline"
        assert said == refusal(formats, "log")
        assert site.modules["log"] not in sys.modules

    @pytest.mark.parametrize("names", ["", ",", "lo", "log 1.0", "trace"])
    def test_others(self, site: Site, monkeypatch: pytest.MonkeyPatch, names: str) -> None:
        """A plugin that is not named is not disabled."""
        site.install("log")
        monkeypatch.setenv(DISABLE, names)
        assert "log" in Formats()


class TestUnknown:
    def test_nearest(self, site: Site) -> None:
        """An unknown id is answered with the nearest ones, aliases and known formats among them."""
        info = "return FormatInfo(id='log', title='T', aliases=('chatlog',))"
        site.install("log", text=plugin("log", format_info=info))
        formats = Formats()
        installed = "installed: log, storyline"
        assert {
            "lgo": f"no format named 'lgo' (did you mean log?); {installed}",
            "Chat-Log": f"no format named 'Chat-Log' (did you mean chatlog or log?); {installed}",
            "atf": f"no format named 'atf' (did you mean atif or actf?); {installed}",
            "storylines": f"no format named 'storylines' (did you mean storyline?); {installed}",
            "xyz": f"no format named 'xyz'; {installed}",
            "": f"no format named ''; {installed}",
        } == {
            name: refusal(formats, name)
            for name in ("lgo", "Chat-Log", "atf", "storylines", "xyz", "")
        }

    @pytest.mark.parametrize(
        ("name", "package"),
        [
            ("actf", "storyline-hub-actf"),
            ("ale", "storyline-hub-ale"),
            ("atif", "storyline-hub-atif"),
            ("openai-messages", "storyline-hub-openai-messages"),
            ("openai-msg", "storyline-hub-openai-messages"),
        ],
    )
    def test_known(self, site: Site, name: str, package: str) -> None:
        """A known format that is not installed is answered with the package that reads it."""
        del site
        said = f"the format {name!r} is not installed; pip install {package} adds it; installed: storyline"
        assert said == refusal(Formats(), name)


class TestFile:
    def test_good(self, site: Site) -> None:
        """A plugin of one file is a format like any other, named by its path."""
        path = site.file(plugin("one"))
        formats = Formats()
        one = formats.add_file(path)
        assert ("one", path) == (one.id, one.origin)
        assert one is formats["one"]
        assert ["one", "storyline"] == list(formats) == formats.declared
        assert [PluginState("one", "ok", path)] == states(formats)
        assert [Detection(100, "one")] == [one.detect(SAMPLE)]

    def test_once(self, site: Site) -> None:
        """A file that is there already is not loaded again."""
        path = site.file(plugin("one"))
        formats = Formats()
        assert formats.add_file(path) is formats.add_file(path)

    def test_several(self, site: Site) -> None:
        """Several files may be added, also of one name in several folders."""
        (site.path.parent / "other").mkdir()
        formats = Formats()
        formats.add_file(site.file(plugin("one"), "plugin.py"))
        formats.add_file(site.file(plugin("two"), "other/plugin.py"))
        assert ["one", "storyline", "two"] == list(formats)

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("def x(:", "SyntaxError: invalid syntax (one.py, line 1)"),
            ("raise SystemExit(1)", "SystemExit: 1"),
            ("import gone", "ModuleNotFoundError: No module named 'gone'"),
            ("", "no @hookimpl for format_info, detect, parse, to_storyline in hub_plugin_1"),
            (plugin("one", format_info="return 5"), "format_info returned int, not a FormatInfo"),
            (plugin("storyline"), f"its id 'storyline' is that of {OWN}"),
        ],
    )
    def test_broken(self, site: Site, text: str, reason: str) -> None:
        """A file that cannot be used says why, and leaves nothing behind."""
        path = site.file(text)
        formats = Formats()
        with pytest.raises(FormatError) as caught:
            formats.add_file(path)
        assert f"the plugin {path} cannot be used: {reason}" == str(caught.value)
        assert ["storyline"] == list(formats) == formats.declared
        assert "hub_plugin_1" not in sys.modules
        path = site.file(plugin("one"))
        assert "one" == formats.add_file(path).id

    @pytest.mark.parametrize("name", ["gone.py", "", ".", "one.txt"])
    def test_no_file(self, site: Site, name: str) -> None:
        """What is no Python file is none."""
        site.file(plugin("one"), "one.txt")
        path = str(site.path.parent / name) if name else ""
        with pytest.raises(FormatError) as caught:
            Formats().add_file(path)
        assert f"the plugin {path} cannot be used: no Python file at {path!r}" == str(caught.value)

    def test_taken(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        """An id that an installed plugin declares is taken, unless that is disabled."""
        site.install("log", text="raise RuntimeError")
        path = site.file(plugin("log"))
        with pytest.raises(FormatError) as caught:
            Formats().add_file(path)
        reason = f"its id 'log' is that of hub-log 1.0; set {DISABLE}=hub-log"
        assert f"the plugin {path} cannot be used: {reason}" == str(caught.value)
        monkeypatch.setenv(DISABLE, "hub-log")
        formats = Formats()
        assert formats.add_file(path) is formats["log"]

    def test_taken_by_a_file(self, site: Site) -> None:
        """So is the id of another file."""
        first, second = site.file(plugin("one")), site.file(plugin("one"), "two.py")
        formats = Formats()
        one = formats.add_file(first)
        with pytest.raises(FormatError) as caught:
            formats.add_file(second)
        reason = f"its id 'one' is that of {first}"
        assert f"the plugin {second} cannot be used: {reason}" == str(caught.value)
        assert one is formats["one"]
        assert ["x"] == [document.value for document in one.parse(Source.of("x"))]


STORIES = [Storyline(session_id="s", agent=Agent(agent_id="a"), turns=[])]
CALLS: dict[str, Callable[[Format], Any]] = {
    "parse": lambda one: list(one.parse(Source.of("x", "y"))),
    "to_storyline": lambda one: list(one.to_storyline(Document("x"))),
    "from_storyline": lambda one: list(one.from_storyline(STORIES, WriteOptions())),
    "file_name": lambda one: one.file_name({}, WriteOptions()),
    "attachments": lambda one: list(one.attachments({}, WriteOptions())),
    "rules": lambda one: one.rules,
}
"""Each hook that is asked of one plugin."""

OPTIONAL = {"file_name": "document, options", "attachments": "document, options", "rules": ""}


def with_hook(name: str, body: str) -> str:
    """Return a plugin whose hook *name* has *body*."""
    if name not in OPTIONAL:
        return plugin("log", **{name: body})
    return plugin("log", rest=f"\n@hookimpl\ndef {name}({OPTIONAL[name]}):\n    {body}\n")


class TestHooks:
    def test_one_plugin(self, site: Site) -> None:
        """A hook is asked of one plugin, whatever others there are."""
        site.install("log", "trace")
        formats = Formats()
        formats.states()
        for id_ in ("log", "trace"):
            one = formats[id_]
            assert Detection(100, id_) == one.detect(SAMPLE)
            (document,) = one.parse(Source.of("x"))
            assert "x" == document.value
            (storyline,) = one.to_storyline(document)
            assert (id_, "x") == (storyline.agent.agent_id, storyline.session_id)
            assert [{id_: "x"}] == list(one.from_storyline([storyline], WriteOptions()))

    def test_optional_hooks(self, site: Site) -> None:
        """Hooks that a plugin does not have answer nothing."""
        site.install("log")
        one = Formats()["log"]
        assert None is one.file_name({}, WriteOptions())
        assert [] == list(one.attachments({}, WriteOptions()))
        assert () == one.rules
        assert (True, False) == (one.can_write, one.can_attach)

    @pytest.mark.parametrize(
        ("name", "body", "answer"),
        [
            ("file_name", "return 'x.log'", "x.log"),
            ("attachments", "yield ('a', b'x')", [("a", b"x")]),
            ("rules", "return [Rule('log.x', 'error', 'x')]", (Rule("log.x", "error", "x"),)),
            ("parse", "return None", []),
            ("to_storyline", "return ()", []),
            ("from_storyline", "return [b'x']", [b"x"]),
        ],
    )
    def test_answers(self, site: Site, name: str, body: str, answer: Any) -> None:
        """A hook may return any iterable, or None for nothing."""
        site.install("log", text=with_hook(name, body))
        assert answer == CALLS[name](Formats()["log"])

    def test_read_only(self, site: Site) -> None:
        """A format that is only read says so when it is to be written."""
        site.install("log", text=plugin("log", from_storyline=None))
        one = Formats()["log"]
        assert not one.can_write
        with pytest.raises(FormatError) as caught:
            one.from_storyline(STORIES, WriteOptions())
        assert "the format 'log' is only read, not written" == str(caught.value)

    @pytest.mark.parametrize("name", CALLS)
    @pytest.mark.parametrize(
        ("body", "what"),
        [
            ("raise ValueError('boom')", "ValueError: boom"),
            ("raise RuntimeError", "RuntimeError"),
            ("raise SystemExit('bye')", "SystemExit: bye"),
            ("[][0]", "IndexError: list index out of range"),
            ("raise StopIteration", "StopIteration"),
        ],
    )
    def test_raises(self, site: Site, name: str, body: str, what: str) -> None:
        """A plugin that raises in a hook is named, with its distribution, the hook and the error."""
        site.install("log", text=with_hook(name, body))
        with pytest.raises(PluginError) as caught:
            CALLS[name](Formats()["log"])
        said = f"the plugin 'log' (hub-log 1.0) failed in {name}: {what}; this is a bug of the plugin (at "
        assert str(caught.value).startswith(said)
        place = str(caught.value).removeprefix(said)
        assert re.fullmatch(rf".*\.py:\d+, {name}\)", place)
        assert None is not caught.value.__cause__

    @pytest.mark.parametrize("name", ["parse", "to_storyline", "from_storyline", "attachments"])
    def test_raises_in_the_middle(self, site: Site, name: str) -> None:
        """A generator that raises in the middle is named too, after what it yielded."""
        site.install("log", text=with_hook(name, "yield 1; raise ValueError('boom')"))
        one = Formats()["log"]
        calls: dict[str, Callable[[], Iterator[Any]]] = {
            "parse": lambda: one.parse(Source.of("x")),
            "to_storyline": lambda: one.to_storyline(Document("x")),
            "from_storyline": lambda: one.from_storyline(STORIES, WriteOptions()),
            "attachments": lambda: one.attachments({}, WriteOptions()),
        }
        answers = calls[name]()
        assert 1 == next(answers)
        with pytest.raises(PluginError, match=f"failed in {name}: ValueError: boom"):
            next(answers)

    def test_returns_junk(self, site: Site) -> None:
        """A hook that returns what is no iterable is a bug of the plugin, too."""
        site.install("log", text=plugin("log", parse="return 5"))
        with pytest.raises(PluginError, match="failed in parse: TypeError: 'int' object is not"):
            CALLS["parse"](Formats()["log"])

    def test_errors_of_the_hub(self, site: Site) -> None:
        """Errors that the hub raises on purpose pass through a plugin as they are."""
        site.install("log")
        with pytest.raises(InvalidDocument):
            list(Formats()["log"].parse(Source(b"{")))

    def test_errors_of_detect(self, site: Site) -> None:
        """What `detect` raises is for detection to tell."""
        site.install("log", text=plugin("log", detect="raise ValueError('boom')"))
        with pytest.raises(ValueError, match="boom"):
            Formats()["log"].detect(SAMPLE)

    def test_closed(self, site: Site) -> None:
        """A reader that stops early closes the plugin's generator."""
        body = "try:\n    yield 1\n    yield 2\nfinally:\n    source.options['closed'] = True"
        site.install("log", text=plugin("log", parse=body))
        options: dict[str, Any] = {"closed": False}
        answers = Formats()["log"].parse(Source.of("x", options=options))
        next(answers)
        answers.close()  # type: ignore[attr-defined]  # a generator
        assert {"closed": True} == options


class Redaction:
    """A plugin that is no format: it hides names in whatever format is read."""

    @hookimpl(wrapper=True)
    def to_storyline(self, document: Document[Any]) -> Generator[None, Any, Any]:
        del document
        found = yield
        return (self.redacted(one) for one in found)

    @hookimpl(wrapper=True)
    def detect(self, sample: Sample) -> Generator[None, Any, Any]:
        del sample
        found = yield
        return found and found._replace(reason="redacted")

    @staticmethod
    def redacted(storyline: Storyline) -> Storyline:
        storyline.session_id = "***"
        return storyline


class TestWrapper:
    def test_applies_to_every_format(self, site: Site) -> None:
        """Hook wrappers of a plugin that is no format apply to all formats."""
        site.install("log", "trace")
        formats = Formats()
        formats.register(Redaction())
        for id_ in ("log", "trace"):
            one = formats[id_]
            assert Detection(100, "redacted") == one.detect(SAMPLE)
            assert ["***"] == [story.session_id for story in one.to_storyline(Document("x"))]
        assert ["log", "storyline", "trace"] == list(formats)

    def test_errors_pass(self, site: Site) -> None:
        """A plugin that raises below a wrapper is still named."""
        site.install("log", text=plugin("log", to_storyline="yield 1; raise ValueError('boom')"))
        formats = Formats()
        formats.register(Redaction())
        with pytest.raises(PluginError, match="failed in to_storyline: AttributeError"):
            list(formats["log"].to_storyline(Document("x")))

    def test_unknown_hook(self, site: Site) -> None:
        """A hook that there is not is refused, and harms no format."""

        class Wrapper:
            @hookimpl(wrapper=True)
            def to_storylines(self) -> Generator[None, Any, Any]:
                return (yield)

        site.install("log")
        formats = Formats()
        with pytest.raises(FormatError, match="unknown hook 'to_storylines'"):
            formats.register(Wrapper())
        with pytest.raises(FormatError, match="unhashable"):
            formats.register([])
        assert "log" in formats


class TestHere:
    def test_record(self) -> None:
        """Documents have a record of their own where none is given."""
        one, other = Document(1), Document(1)
        assert Record is type(one.record)
        assert one.record is not other.record

    def test_info(self) -> None:
        """A format's name inside documents is its id, where no other is given."""
        assert "log" == FormatInfo(id="log", title="T").source
        assert "doc" == FormatInfo(id="log", title="T", source_name="doc").source
