"""Mutants: small changes of a module, each of which some test should notice."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

Change: TypeAlias = tuple[str, Callable[[], ast.AST]]
"""What a change does, in words, and the node it puts in the place of another."""

OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.Break: ast.Continue,
    ast.Continue: ast.Break,
}
"""What becomes of each operator, and of the two statements that leave a loop's body."""


class Mutant(NamedTuple):
    """One change at one place of a module."""

    path: str
    line: int
    column: int
    change: str
    number: int
    """Position among the changes of the module."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column + 1}: {self.change}"


def mutants(path: str, source: str) -> list[Mutant]:
    """Return every mutant of the module with the text *source*."""
    found = []
    for number, (place, change, _) in enumerate(_changes(ast.parse(source))):
        line, column = getattr(place, "lineno", 0), getattr(place, "col_offset", 0)
        found.append(Mutant(path, line, column, change, number))
    return found


def mutated(mutant: Mutant, source: str) -> ast.Module:
    """Return the module with the text *source* as *mutant* changes it."""
    tree = ast.parse(source)
    for number, (_, _, apply) in enumerate(_changes(tree)):
        if number == mutant.number:
            apply()
            return ast.fix_missing_locations(tree)
    raise LookupError(str(mutant))


def _changes(tree: ast.Module) -> Iterator[tuple[ast.AST, str, Callable[[], None]]]:
    """Yield the place of each change, what it is, and what makes it in *tree*."""
    for node, field, index in list(_slots(tree)):
        old = _get(node, field, index)
        place = old if hasattr(old, "lineno") else node
        for change, new in _replacements(old):

            def apply(
                node: ast.AST = node,
                field: str = field,
                index: int | None = index,
                new: Callable[[], ast.AST] = new,
            ) -> None:
                if index is None:
                    setattr(node, field, new())
                else:
                    getattr(node, field)[index] = new()

            yield place, change, apply


def _get(node: ast.AST, field: str, index: int | None) -> ast.AST:
    value = getattr(node, field)
    found: ast.AST = value if index is None else value[index]
    return found


UNSEEN = {"annotation", "returns", "decorator_list", "type_params"}
"""What says nothing that a test could see."""


def _slots(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Yield where each node below *node* stands; not those of annotations, docstrings and imports."""
    for field, value in ast.iter_fields(node):
        if field in UNSEEN:
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST) or _is_silent(child):
                continue
            yield node, field, index
            yield from _slots(child)


def _is_silent(node: ast.AST) -> bool:
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    is_typing = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    is_assertion = isinstance(node, ast.Assert | ast.Import | ast.ImportFrom)
    return is_text or is_typing or is_assertion


def _replacements(node: ast.AST) -> Iterator[Change]:
    """Yield what may stand in the place of *node*."""
    other = OPERATORS.get(type(node))
    if other is not None:
        yield f"{type(node).__name__} becomes {other.__name__}", other
    elif isinstance(node, ast.Constant):
        yield from _constants(node.value)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not is left out", lambda: node.operand
    elif isinstance(node, ast.Return) and node.value is not None:
        if ast.unparse(node.value) != "None":
            yield "None is returned", lambda: ast.Return(ast.Constant(None))
    elif isinstance(node, ast.Expr | ast.Raise):
        yield f"left out: {ast.unparse(node).splitlines()[0][:60]}", ast.Pass
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield from _conditions(node)
    elif isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg is not None:
                yield f"without {keyword.arg}=", lambda one=keyword: _without(node, one)  # type: ignore[misc]  # one


def _constants(value: object) -> Iterator[Change]:
    changed: object = None
    if isinstance(value, bool):
        changed = not value
    elif isinstance(value, int | float):
        changed = value + 1
    elif isinstance(value, str):
        changed = f"XX{value}XX"
    elif isinstance(value, bytes):
        changed = b"XX" + value + b"XX"
    if changed is not None:
        yield f"{value!r:.40} becomes {changed!r:.40}", lambda: ast.Constant(changed)  # type: ignore[arg-type]  # one


def _conditions(node: ast.If | ast.IfExp | ast.While) -> Iterator[Change]:
    if isinstance(node.test, ast.Compare | ast.UnaryOp):
        return  # these are changed themselves

    def negated() -> ast.AST:
        changed = copy.copy(node)
        changed.test = ast.UnaryOp(ast.Not(), node.test)
        return changed

    yield "the condition is negated", negated


def _without(call: ast.Call, keyword: ast.keyword) -> ast.AST:
    return ast.Call(call.func, call.args, [one for one in call.keywords if one is not keyword])
