"""Mutants: which changes of a module are made, and which are not; and of which modules."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def module(name: str, path: Path) -> Any:
    """Return the module at *path*, imported as *name*."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(name, found)
    spec.loader.exec_module(found)
    return found


MUTANTS = module("mutants", HERE / "mutants.py")
DRIVER = module("mutation_driver", HERE / "__main__.py")

SOURCE = '''\
"""A docstring."""
from x import TYPE_CHECKING
if TYPE_CHECKING:
    import y
def f(a: "A", b: int = 1) -> "B":
    """Another."""
    if not a and g(b, key=True):
        raise ValueError
    return a[b:] == "x"
'''


class TestMutants:
    def test_all(self) -> None:
        """Operators, constants, conditions, statements and keywords are changed; what only people read is not."""
        assert [
            "m.py:5:24: 1 becomes 2",
            "m.py:7:5: the condition is negated",
            "m.py:7:8: And becomes Or",
            "m.py:7:8: not is left out",
            "m.py:7:18: without key=",
            "m.py:7:27: True becomes False",
            "m.py:8:9: left out: raise ValueError",
            "m.py:9:5: None is returned",
            "m.py:9:12: Eq becomes NotEq",
            "m.py:9:21: 'x' becomes 'XXxXX'",
        ] == sorted(map(str, MUTANTS.mutants("m.py", SOURCE)), key=place)

    def test_each_is_another_module(self) -> None:
        """Each mutant differs from the module, and from all others, and can be compiled."""
        texts = [
            ast.unparse(MUTANTS.mutated(one, SOURCE)) for one in MUTANTS.mutants("m.py", SOURCE)
        ]
        assert len(texts) == len({*texts, ast.unparse(ast.parse(SOURCE))}) - 1
        for text in texts:
            compile(text, "m.py", "exec")


NO_MAPPING = {
    "actf": {"detection", "directories", "model", "parsing", "plugin", "rules"},
    "ale": {"model", "parsing", "plugin", "rules"},
    "atif": {"model", "parsing", "plugin", "rules"},
    "openai": {"detection", "parsing", "plugin", "rules"},
}
"""Modules of each plugin that find, read, check or describe documents, and map nothing."""


class TestGroups:
    @pytest.mark.parametrize("name", DRIVER.GROUPS)
    def test_files(self, name: str) -> None:
        """Every module and every test of a group is there."""
        group = DRIVER.GROUPS[name]
        assert [] == [path for path in (*group.modules, *group.tests) if not (ROOT / path).exists()]

    @pytest.mark.parametrize("name", NO_MAPPING)
    def test_whole_mapping(self, name: str) -> None:
        """Of a plugin every module is in its group that maps something."""
        modules = {ROOT / path for path in DRIVER.GROUPS[name].modules}
        (package,) = {path.parent for path in modules}
        others = {path.stem for path in package.glob("*.py") if path not in modules}
        assert NO_MAPPING[name] | {"__init__"} == others


class TestFinder:
    def test_imports_the_mutant(self) -> None:
        """A module is imported as its mutant, others are as they are, and the driver knows that it was."""
        path = "hub/limits.py"
        source = (ROOT / path).read_text(encoding="utf-8")
        (mutant,) = (
            one for one in MUTANTS.mutants(path, source) if one.change == "512 becomes 513"
        )
        finder = DRIVER._Finder(mutant)  # noqa: SLF001  # a program, whose parts are its own

        assert finder.find_spec("hub.writing") is None
        spec = finder.find_spec("hub.limits")
        changed = importlib.util.module_from_spec(spec)
        assert not finder.is_imported
        spec.loader.exec_module(changed)
        assert finder.is_imported
        assert 513 == changed.DEPTH

    def test_name(self) -> None:
        """The name of a module is that by which tests import it."""
        name = DRIVER._module_name  # noqa: SLF001  # as above
        assert "hub.json" == name("hub/json.py")
        assert "hub_actf.steps" == name("plugins/actf/hub_actf/steps.py")


def place(mutant: str) -> tuple[int, int, str]:
    """Return where a mutant is, to sort by."""
    _, line, column, what = mutant.split(":", 3)
    return int(line), int(column), what
