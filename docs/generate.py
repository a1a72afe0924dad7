"""Write the generated pages: `python docs/generate.py`. A test checks that they are current.

- `reference/api.md` from the source of what `hub` exports,
- `reference/cli.md` from the commands,
- `reference/limits.md` from the module of the limits,
- `reference/rules.md` from the rules of the hub and of every installed format,
- and in `design/layers.md` the layers from the settings of import-linter.
"""

import ast
import importlib
import inspect
import itertools
import pkgutil
import re
import tomllib
import typing
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import typer.models

import hub

DOCS = Path(__file__).parent
NOTE = "<!-- Written by docs/generate.py; change the source it is made from. -->"


def pages() -> dict[str, str]:
    """Return each page that is generated, wholly or in part, by its path below `docs/`."""
    return {
        "reference/api.md": whole(api()),
        "reference/cli.md": whole(cli()),
        "reference/limits.md": whole(limits()),
        "reference/rules.md": whole(rules()),
        "design/layers.md": layers(),
    }


def main() -> None:
    """Write the pages."""
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")


def whole(lines: Iterable[str]) -> str:
    """Return a page of which all is generated."""
    return "\n".join([NOTE, "", *lines]).rstrip() + "\n"


def layers() -> str:
    """Return the page on layers with those that import-linter holds."""
    settings = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    shown = "\n".join(re.sub(r"[()]", "", layer) for layer in contract["layers"])
    page = (DOCS / "design" / "layers.md").read_text(encoding="utf-8")
    return re.sub(r"(?<=```text\n).*?(?=\n```)", shown, page, count=1, flags=re.DOTALL)


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
            yield f"| `{rule.rule}` | {rule.severity} | {cell(rule.expected)} | {kept(rule)} |"


OF_THE_HUB = {
    "carrier": "About what an envelope carries: the way back through another format.",
    "detect": "About finding out the format.",
    "envelope": "About the `_storyline` object itself.",
    "input": "About the bytes and their JSON, before a format is asked.",
    "redact": "About what `--redact` found.",
    "residual": "About values that no Storyline field holds.",
}


def every_rule() -> Iterator[hub.Rule]:
    """Yield the rules that the hub's modules declare, then those of the installed formats."""
    for module in pkgutil.walk_packages(hub.__path__, "hub."):
        if not module.name.endswith("__main__") and ".testing" not in module.name:
            yield from rules_in(vars(importlib.import_module(module.name)).values())
    for one in hub.formats.values():
        yield from one.rules


def rules_in(values: Iterable[object]) -> Iterator[hub.Rule]:
    """Yield the rules among *values*, and those in tables among them."""
    for value in list(values):
        if isinstance(value, hub.Rule):
            yield value
        elif isinstance(value, dict):
            yield from rules_in(value.values())
        elif isinstance(value, (list, tuple)):
            yield from rules_in(value)


def kept(rule: hub.Rule) -> str:
    """Return what conversion keeps when *rule* is broken: of a fatal breach nothing."""
    return "-" if rule.severity == "fatal" else cell(rule.keeps)


def cell(text: str) -> str:
    """Return *text* as it stands in a cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;") or "-"


# Limits


def limits() -> Iterator[str]:
    """Yield the lines of the page on limits."""
    module = importlib.import_module("hub.limits")
    source = ast.parse(inspect.getsource(module))
    yield "# Limits"
    yield ""
    yield "What is beyond a limit is refused with an error that names its rule, what was expected, and what to do."
    yield "The command line takes `--limit NAME=NUMBER`, repeatable, with units such as `10MB` and `2GiB`."
    yield "Where that is not given, the variable `HUB_LIMITS` counts: `HUB_LIMITS='size=10GiB line=2GiB'`."
    yield "Python takes `limits=hub.Limits(size=10_000_000)`."
    yield ""
    yield "| Limit | Default | What, and the rule |"
    yield "|---|---|---|"
    [chosen] = (node for node in source.body if isinstance(node, ast.ClassDef))
    for name, text in documented(chosen.body):
        yield f"| `{name}` | {amount(getattr(module.DEFAULTS, name))} | {cell(text)} |"
    yield ""
    yield "These are the same for everybody, so that a document opens alike for everybody:"
    yield ""
    yield "| Limit | What |"
    yield "|---|---|"
    for name, text in documented(source.body):
        if name.isupper() and type(getattr(module, name)) is int and name != "LARGEST":
            yield f"| {amount(getattr(module, name))} | {cell(text)} |"


def documented(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Yield the name and the docstring of each assignment in *body* that has one."""
    for node, following in itertools.pairwise(body):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and (text := text_of(following)):
            yield targets(node)[0], text


def amount(number: int) -> str:
    """Return *number* as people read it: in binary units where it is one of them, else in groups of three digits."""
    for factor, unit in ((1 << 30, "GiB"), (1 << 20, "MiB")):
        if number % factor == 0:
            return f"{number // factor} {unit}"
    return f"{number:,}".replace(",", " ")


# Command line


class Parameter(NamedTuple):
    """An argument or option of a command, as its function declares it."""

    names: list[str]
    """What is typed: `--output` and `-o`; of an argument its place-holder."""
    takes: str
    """What stands behind an option; empty for a flag, and for an argument."""
    help: str
    is_required: bool
    default: object = None

    @property
    def is_option(self) -> bool:
        """Whether it is an option and no argument."""
        return self.names[0].startswith("-")

    @property
    def usage(self) -> str:
        """How an argument stands in the usage line."""
        return self.names[0] if self.is_required else f"[{self.names[0]}]"


class Command(NamedTuple):
    """A command of the program, with those below it."""

    name: str
    help: str
    parameters: list[Parameter]
    commands: "list[Command]"
    runs_alone: bool = True
    """Whether it does something without a command behind it."""

    def walk(self) -> "Iterator[Command]":
        """Yield this command and all below it."""
        yield self
        for one in self.commands:
            yield from one.walk()


def program() -> Command:
    """Return the whole program."""
    from hub.cli.app import program

    app: Any = program()
    return command_of("hub", app.registered_callback.callback, app, runs_alone=False)


def command_of(name: str, function: Any, app: Any = None, *, runs_alone: bool = True) -> Command:
    """Return the command that *function* is; *app* has those below it."""
    below = [
        command_of(f"{name} {one.name or one.callback.__name__}", one.callback)
        for one in (app.registered_commands if app else ())
    ]
    for one in app.registered_groups if app else ():
        inner = one.typer_instance
        runs = inner.info.invoke_without_command is True
        callback = inner.registered_callback.callback
        below.append(command_of(f"{name} {one.name}", callback, inner, runs_alone=runs))
    help_ = inspect.cleandoc(function.__doc__ or "")
    return Command(name, help_, list(parameters(function)), below, runs_alone)


def parameters(function: Any) -> Iterator[Parameter]:
    """Yield what *function* declares with `Annotated`."""
    hints = typing.get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        found = getattr(hints[name], "__metadata__", ())
        if not found:
            continue
        kind, declared = typing.get_args(hints[name])[0], found[0]
        is_required = parameter.default is parameter.empty
        if isinstance(declared, typer.models.ArgumentInfo):
            names, takes = [declared.metavar or name.upper()], ""
        else:
            # Inside `Annotated` the first name of an option stands where a default would.
            given = (declared.default, *(declared.param_decls or ()))
            names = [one for one in given if isinstance(one, str) and one.startswith("-")]
            names = names or [f"--{name.replace('_', '-')}"]
            takes = "" if kind is bool else declared.metavar or "|".join(choices(kind)) or "TEXT"
        yield Parameter(names, takes, declared.help or "", is_required, parameter.default)


def choices(kind: Any) -> list[str]:
    """Return the words that an annotation allows; empty: any."""
    if typing.get_origin(kind) is Literal:
        return list(typing.get_args(kind))
    return [word for one in typing.get_args(kind) for word in choices(one)]


def cli() -> Iterator[str]:
    """Yield the lines of the command-line reference."""
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
    for command in program().walk():
        yield from ["", f"## `{command.name}`", "", command.help, ""]
        yield from ["```text", usage(command), "```"]
        if command.parameters:
            yield from ["", "| | |", "|---|---|", *map(row, command.parameters)]


def usage(command: Command) -> str:
    """Return the usage line of *command*."""
    arguments = [one.usage for one in command.parameters if not one.is_option]
    words = [command.name, *(["[OPTIONS]"] if len(arguments) < len(command.parameters) else [])]
    below = ["[COMMAND]" if command.runs_alone else "COMMAND"] if command.commands else []
    return " ".join([*words, *arguments, *below])


def row(parameter: Parameter) -> str:
    """Return the row of *parameter* in the table of its command."""
    names = ", ".join(f"`{name}`" for name in parameter.names)
    takes = f" `{parameter.takes}`".replace("|", "\\|") if parameter.takes else ""
    remark = ""
    if parameter.is_option and parameter.is_required:
        remark = " Required."
    elif parameter.takes and isinstance(parameter.default, str):
        remark = f" Default: `{parameter.default}`."
    return f"| {names}{takes} | {cell(parameter.help)}{remark} |"


# Python


def api() -> Iterator[str]:
    """Yield the lines of the API reference."""
    yield "# Python"
    yield ""
    yield "All of these are names of `hub`; nothing else of it is public, but `hub.testing`."
    yield (
        "`storyline.md 4.1`, `carrier.md 2` and the like are clauses of the written specification, which is not in this"
        " repository; what you need of it is on the pages about [formats](../formats/storyline.md),"
        " [hooks](../plugins/hooks.md) and [severities](../use/validate.md#severities)."
    )
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
