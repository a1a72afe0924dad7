"""The promises of a distribution: it declares its format, and costs next to nothing to import."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import metadata
from typing import NamedTuple

from hub import pointer as pointers
from hub.discovery import GROUP, normalised
from hub.hookspecs import FormatInfo
from hub.testing.failures import doing, expect
from hub.testing.subject import Subject

HEAVY = (
    *("aiohttp", "asyncio", "attr", "attrs", "blake3", "boto3", "cattrs", "httpx", "hypothesis"),
    *("importlib.metadata", "jsonschema", "multiprocessing", "numpy", "orjson", "pandas", "PIL"),
    *("pyarrow", "pydantic", "pytest", "requests", "rich", "sqlite3", "torch", "typer", "yaml"),
)
"""Modules that are slow to import, and that no plugin needs to say which format a file is."""

RUNS = 3
"""How often the import is timed; the shortest counts."""

_PROBE = """
import json, sys, time
import hub
hub.FormatInfo, hub.Detection, hub.Sample, hub.hookimpl, hub.Rule, hub.Option
import collections.abc, typing, importlib
before, seen = set(sys.modules), []
def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], str):
        if not arguments[0].endswith((".py", ".pyc", ".so", ".pyd", ".dylib", ".zip")):
            seen.append("opens " + arguments[0])
    elif event.startswith(("socket.", "subprocess.", "urllib.", "http.")) or event in ("os.system", "os.exec"):
        seen.append(event)
sys.addaudithook(watch)
start = time.process_time()
module = importlib.import_module(sys.argv[1])
plugin = module
for name in filter(None, sys.argv[2].split(".")):
    plugin = getattr(plugin, name)
spent = time.process_time() - start
info = plugin.format_info()
plugin.detect(hub.Sample(None, "object", [{}], True, 2))
done = list(seen)
print("\\n", json.dumps({"seconds": spent, "seen": done, "modules": sorted(set(sys.modules) - before)}))
"""


class Installing(Subject):
    """Entry point, metadata, and what importing the plugin does."""

    def test_entry_point(self) -> None:
        """One distribution declares the format, and says that it needs the hub."""
        points = [one for one in metadata.entry_points(group=GROUP) if one.name == self._format.id]
        if self._format.origin.startswith("storyline-hub "):
            return  # the hub's own format has no entry point
        names = sorted({one.dist.name for one in points if one.dist is not None})
        expect(
            len(names) == 1,
            f"{len(names)} distributions declare the format {self.format!r}: {', '.join(names) or 'none'}",
            f'keep one line `{self.format} = "package.plugin"` under [project.entry-points."{GROUP}"] in'
            " pyproject.toml, and install anew: `pip install -e .`",
        )
        needed = metadata.requires(names[0]) or []
        expect(
            any(normalised(re.split(r"[^\w.-]", one)[0]) == "storyline-hub" for one in needed),
            f"the distribution {names[0]} does not say that it needs the hub",
            'add "storyline-hub>=0.1,<1" to `dependencies` in pyproject.toml, and install anew',
        )

    def test_format_info(self) -> None:
        """The format describes itself fully, and its pointers are pointers."""
        info = self._format.info
        advice = "see `FormatInfo` in the docs on hooks; mend what `format_info` returns"
        expect(
            re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", info.id),
            f"the id {info.id!r} is no lower-case name with hyphens",
            "call the format by one, in `format_info` and in the entry point",
        )
        expect(info.title.strip(), "the format has no title", advice)
        expect(info.reads, "`reads` names no version that is read", advice)
        expect(
            bool(info.writes) == self._format.can_write,
            f"`writes` is {info.writes!r}, and `from_storyline` is {'' if self._format.can_write else 'not '}there",
            "name the versions that `from_storyline` writes; leave both out for a format that is only read",
        )
        for name in ("nodes", "envelope", "suffixes", "aliases", "reads", "writes"):
            value = getattr(info, name)
            expect(
                isinstance(value, tuple) and all(isinstance(one, str) for one in value),
                f"`{name}` is {value!r}",
                f"write a tuple of strings, with a comma behind a single one: `{name}=(...,)`",
            )
        for pattern in (*info.nodes, *info.envelope):
            expect(
                pointers.is_pointer(pattern),
                f"{pattern!r} in `nodes` or `envelope` is no JSON Pointer",
                'begin it with "/", and write "" for the document itself',
            )
        self._check_names(info)

    def _check_names(self, info: FormatInfo) -> None:
        others = [one for one in self._formats.values() if one.id != info.id]
        taken = {name for one in others for name in (one.id, one.info.source, *one.info.aliases)}
        found = sorted({info.source, *info.aliases} & taken)
        expect(
            not found,
            f"another installed format is called {' or '.join(found)} as well",
            "choose other `aliases` and another `source_name`",
        )

    def test_rules(self) -> None:
        """Every rule is declared once, with a known severity, under the name of the format."""
        rules = self._format.rules
        expect(
            rules or self.format == "storyline",
            "the hook `rules` names no rule",
            "declare what can be wrong in a document as `Rule`s, and return all of them from the hook `rules`",
        )
        names = [rule.rule for rule in rules]
        twice = sorted({name for name in names if names.count(name) > 1})
        expect(not twice, f"declared twice: {', '.join(twice)}", "give each rule an id of its own")
        for rule in rules:
            expect(
                re.fullmatch(r"[a-z0-9-]+\.[a-z0-9-]+", rule.rule)
                and rule.severity in ("fatal", "error", "warning", "info"),
                f"the rule {rule.rule!r} of severity {rule.severity!r} is none",
                f'call it "{self.format}.<what-it-asks-for>", with the severity fatal, error, warning or info',
            )

    def test_light_import(self) -> None:
        """Importing the plugin loads nothing heavy, takes no time, prints nothing, and touches no file or network."""
        if self._format.origin.startswith("storyline-hub "):
            module, path = "hub.storyline.plugin", ""
        else:
            (point,) = {
                one.value for one in metadata.entry_points(group=GROUP) if one.name == self.format
            }
            module, _, path = point.partition(":")
        runs = [_probe(module, path) for _ in range(RUNS)]
        found = runs[-1]
        expect(
            not found.output,
            f"importing {module} prints {found.output[:80]!r}",
            "take the print out: nothing may be printed on import, nor in `detect`",
        )
        heavy = sorted(set(HEAVY) & set(found.modules))
        expect(
            not heavy,
            f"importing {module}, or asking it, imports {', '.join(heavy)}",
            "import it inside the hook that needs it: every plugin is imported for every `hub detect`",
        )
        expect(
            not found.seen,
            f"importing {module}, or asking it, {'; '.join(found.seen[:3])}",
            "touch no file, program or network on import, nor in `format_info` and `detect`; do it in `parse`",
        )
        spent = min(one.seconds for one in runs) * 1000
        expect(
            spent < self.import_milliseconds,
            f"importing {module} takes {spent:.0f} ms, more than {self.import_milliseconds}",
            f"find out why with `python -X importtime -c 'import {module}'`, and import that inside the hooks",
        )


class _Probe(NamedTuple):
    """What importing a plugin did."""

    output: str
    seconds: float
    seen: list[str]
    """Files that were opened, and other things that touch the world."""
    modules: list[str]
    """What was imported."""


def _probe(module: str, path: str) -> _Probe:
    """Import a plugin in a process of its own."""
    with doing(f"importing {module}"):
        done = subprocess.run(  # noqa: S603  # our own interpreter
            [sys.executable, "-c", _PROBE, module, path],
            capture_output=True,
            text=True,
            check=False,
        )
    output, _, last = done.stdout.rstrip().rpartition("\n")
    expect(
        done.returncode == 0,
        f"importing {module} fails: {done.stderr.strip().splitlines()[-1:]}",
        f"run `python -c 'import {module}'` and mend what it shows",
    )
    return _Probe(output.strip() + done.stderr.strip(), **json.loads(last))
