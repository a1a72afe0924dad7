"""Write the generated pages of the reference: `python docs/generate.py`. A test checks that they are current.

- `api.md` from the source of what `hub` exports,
- `cli.md` from the commands,
- `rules.md` from the rules of the hub and of every installed format.
"""

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import hub

REFERENCE = Path(__file__).with_name("reference")
NOTE = "<!-- Written by docs/generate.py; change the source it is made from. -->"


def pages() -> dict[str, str]:
    """Return each generated page, by its file name."""
    made = {"api.md": api(), "cli.md": cli(), "rules.md": rules()}
    return {name: "\n".join([NOTE, "", *lines]).rstrip() + "\n" for name, lines in made.items()}


def main() -> None:
    """Write the pages."""
    for name, text in pages().items():
        (REFERENCE / name).write_text(text, encoding="utf-8")


# Rules


def rules() -> Iterator[str]:
    """Yield the lines of the rule catalogue."""
    yield "# Rules"
    yield ""
    yield "Every problem names its rule, and the ids are stable."
    yield "[Severities](../use/validate.md#severities) says what each of them makes a command do."
    groups: dict[str, dict[str, hub.Rule]] = {}
    for rule in every_rule():
        groups.setdefault(rule.rule.partition(".")[0], {})[rule.rule] = rule
    for group in sorted(groups, key=lambda name: (name not in OF_THE_HUB, name)):
        yield from ["", f"## `{group}`", "", OF_THE_HUB.get(group, "Rules of the format."), ""]
        yield "| Rule | Severity | Expected | Conversion keeps |"
        yield "|---|---|---|---|"
        for rule in groups[group].values():
            yield f"| `{rule.rule}` | {rule.severity} | {cell(rule.expected)} | {cell(rule.keeps)} |"


OF_THE_HUB = {
    "carrier": "About what an envelope carries: the way back through another format.",
    "detect": "About finding out the format.",
    "envelope": "About the `_storyline` object itself.",
    "input": "About the bytes and their JSON, before a format is asked.",
    "residual": "About values that no Storyline field holds.",
}


def every_rule() -> Iterator[hub.Rule]:
    """Yield the rules that the hub's modules declare, then those of the installed formats."""
    for module in pkgutil.walk_packages(hub.__path__, "hub."):
        if not module.name.endswith("__main__") and ".testing" not in module.name:
            yield from rules_in(vars(importlib.import_module(module.name)).values())
    for one in hub.formats.values():
        yield from one.info.rules


def rules_in(values: Iterable[object]) -> Iterator[hub.Rule]:
    """Yield the rules among *values*, and those in tables among them."""
    for value in list(values):
        if isinstance(value, hub.Rule):
            yield value
        elif isinstance(value, dict):
            yield from rules_in(value.values())
        elif isinstance(value, (list, tuple)):
            yield from rules_in(value)


def cell(text: str) -> str:
    """Return *text* as it stands in a cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;") or "-"


# Command line


def cli() -> Iterator[str]:
    """Yield the lines of the command-line reference."""
    import typer.main

    from hub.cli.app import app

    program: Any = typer.main.get_command(app)
    yield "# Command line"
    yield ""
    yield "`hub`, `storyline-hub` and `python -m hub` are the same program."
    yield "Results go to standard output, everything else to standard error."
    yield "`hub --install-completion` sets up completion for your shell."
    yield ""
    yield "| Exit status | Means |"
    yield "|---|---|"
    yield "| 0 | done |"
    yield "| 1 | the input fell short |"
    yield "| 2 | misuse |"
    yield "| 3 | some of many inputs failed, the rest is complete |"
    yield from command_lines("hub", program)


def command_lines(name: str, command: Any) -> Iterator[str]:
    """Yield the section of *command*, then those of the commands below it."""
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and is_ours(one)]
    below = getattr(command, "commands", {})
    yield from ["", f"## `{name}`", "", inspect.cleandoc(command.help or ""), ""]
    usage = [name, "[OPTIONS]" if options else "", *map(usage_of, arguments)]
    usage.append(
        "[COMMAND]"
        if getattr(command, "invoke_without_command", False)
        else "COMMAND"
        if below
        else ""
    )
    yield from ["```text", " ".join(word for word in usage if word), "```"]
    if arguments or options:
        yield from ["", "| | |", "|---|---|"]
        for one in arguments:
            yield f"| `{one.metavar}` | {cell(one.help)} |"
        for one in options:
            yield f"| {names_of(one)} | {cell(one.help)}{remarks(one)} |"
    for key in below:
        yield from command_lines(f"{name} {key}", below[key])


def is_ours(option: Any) -> bool:
    """Tell whether *option* is declared by a command, and not added to the program by its framework."""
    return not any(name.endswith("-completion") or name == "--help" for name in option.opts)


def usage_of(argument: Any) -> str:
    """Return *argument* as it stands in the usage line."""
    return argument.metavar if argument.required else f"[{argument.metavar}]"


def names_of(option: Any) -> str:
    """Return the names of *option*, with what it takes."""
    choices = getattr(option.type, "choices", None)
    takes = "" if option.is_flag else option.metavar or "|".join(choices or ("TEXT",))
    names = ", ".join(f"`{name}`" for name in sorted(option.opts, key=len, reverse=True))
    return f"{names} `{takes}`".replace("|", "\\|") if takes else names


def remarks(option: Any) -> str:
    """Return what there is to say behind the help of *option*."""
    if option.required:
        return " Required."
    default = option.default
    shown = isinstance(default, str) and default and not option.is_flag
    return f" Default: `{default}`." if shown else ""


# Python


def api() -> Iterator[str]:
    """Yield the lines of the API reference."""
    yield "# Python"
    yield ""
    yield "All of these are names of `hub`; nothing else of it is public, but `hub.testing`."
    homes: dict[str, list[str]] = {}
    for name, home in hub._HOME_OF.items():  # noqa: SLF001  # where a public name lives is known nowhere else
        homes.setdefault(home, []).append(name)
    for home, names in sorted(homes.items(), key=lambda item: (item[0] != "hub.api", item[0])):
        source = inspect.getsource(importlib.import_module(home))
        first = (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]
        yield from ["", f"## {headline(first)}"]
        for name in names:
            yield from entry(name, source)


def headline(text: str) -> str:
    """Return the first line of a module's docstring as a heading."""
    return text.rstrip(".").replace("`", "")


def entry(name: str, source: str) -> Iterator[str]:
    """Yield the description of *name*, which the module with the text *source* defines."""
    yield from ["", f"### `{name}`", ""]
    body = ast.parse(source).body
    for position, node in enumerate(body):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            yield from function_lines(node, source)
        elif isinstance(node, ast.ClassDef) and node.name == name:
            yield from class_lines(node, source)
        elif name in targets(node):
            following = body[position + 1] if position + 1 < len(body) else None
            yield from paragraphs(text_of(following))


def function_lines(node: ast.FunctionDef, source: str) -> Iterator[str]:
    """Yield signature and description of a function, the signature as it stands in *source*."""
    lines = source.splitlines()[node.lineno - 1 : node.body[0].lineno - 1]
    header = inspect.cleandoc("\n".join(COMMENT.sub("", line) for line in lines))
    yield from ["```text", header.removeprefix("def ").removesuffix(":"), "```", ""]
    yield from paragraphs(ast.get_docstring(node))


COMMENT = re.compile(r"\s+#.*")


def class_lines(node: ast.ClassDef, source: str) -> Iterator[str]:
    """Yield description, attributes and public methods of a class."""
    yield from paragraphs(ast.get_docstring(node))
    attributes = list(attribute_rows(node))
    if attributes:
        yield from ["| Attribute | Type | |", "|---|---|---|", *attributes, ""]
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and is_public(part) and not is_property(part):
            yield from function_lines(part, source)


def is_public(node: ast.FunctionDef) -> bool:
    """Tell whether a method is for users."""
    return not node.name.startswith("_") and ast.get_docstring(node) is not None


def is_property(node: ast.FunctionDef) -> bool:
    """Tell whether a method reads like an attribute."""
    return any(ast.unparse(one) == "property" for one in node.decorator_list)


def attribute_rows(node: ast.ClassDef) -> Iterator[str]:
    """Yield a row for each attribute and property of a class."""
    for position, part in enumerate(node.body):
        if isinstance(part, ast.AnnAssign) and not ast.unparse(part.target).startswith("_"):
            following = node.body[position + 1] if position + 1 < len(node.body) else None
            kind = ast.unparse(part.annotation)
            yield f"| `{ast.unparse(part.target)}` | `{cell(kind)}` | {in_cell(text_of(following))} |"
        elif isinstance(part, ast.FunctionDef) and is_public(part) and is_property(part):
            kind = ast.unparse(part.returns) if part.returns else ""
            yield f"| `{part.name}` | `{cell(kind)}` | {in_cell(ast.get_docstring(part) or '')} |"


def in_cell(text: str) -> str:
    """Return *text*, or nothing, as it stands in a cell."""
    return cell(" ".join(text.split())) if text else ""


def targets(node: ast.stmt) -> list[str]:
    """Return the names that an assignment binds."""
    if isinstance(node, ast.Assign):
        return [ast.unparse(target) for target in node.targets]
    return [ast.unparse(node.target)] if isinstance(node, ast.AnnAssign) else []


def text_of(node: ast.stmt | None) -> str:
    """Return the text of a statement that is a docstring."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return inspect.cleandoc(str(node.value.value))
    return ""


def paragraphs(docstring: str | None) -> Iterator[str]:
    """Yield a docstring as Markdown: its sections as lists, the rest as it is."""
    in_section = False
    for line in (docstring or "").splitlines():
        if line in ("Raises:", "Args:", "Returns:", "Yields:"):
            in_section = True
            yield from [f"{line[:-1]}:", ""]
        elif in_section and line.startswith("    "):
            continued = line.startswith("     ")
            yield f"  {line.strip()}" if continued else f"- {line.strip()}"
        else:
            in_section = False
            yield line
    yield ""


if __name__ == "__main__":
    main()
