"""Mutants: which changes of a module are made, and which are not."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from typing import Any

SPEC = importlib.util.spec_from_file_location("mutants", Path(__file__).parent / "mutants.py")
assert SPEC is not None
assert SPEC.loader is not None
MUTANTS: Any = importlib.util.module_from_spec(SPEC)
sys.modules.setdefault("mutants", MUTANTS)
SPEC.loader.exec_module(MUTANTS)

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


def place(mutant: str) -> tuple[int, int, str]:
    """Return where a mutant is, to sort by."""
    _, line, column, what = mutant.split(":", 3)
    return int(line), int(column), what
