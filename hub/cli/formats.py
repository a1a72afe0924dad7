"""`hub formats`: what is there to convert from and to."""

from collections.abc import Sequence
from typing import Annotated

import typer

from hub.cli.options import AsJson, Plugins, load_plugins
from hub.cli.output import print_json, print_table, printable


def formats(
    id: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="Show this format with its options and rules."),
    ] = None,
    as_json: AsJson = False,
    plugin: Plugins = None,
) -> None:
    """List the formats that are installed, or show one with its options and rules."""
    from hub import api

    load_plugins(plugin)
    chosen = list(api.formats.values()) if id is None else [api.formats[id]]
    if as_json:
        print_json([_as_json(one) for one in chosen] if id is None else _as_json(chosen[0]))
    elif id is None:
        rows = [
            (
                one.id,
                "read, write" if one.can_write else "read",
                _versions(one.info.reads),
                one.origin,
                one.info.title,
            )
            for one in chosen
        ]
        print_table(("id", "can", "versions", "distribution", "title"), rows)
    else:
        for line in _lines(chosen[0]):
            typer.echo(printable(line))


def _versions(reads: Sequence[str]) -> str:
    """Return the versions that are read; of more than two the first and the last."""
    return ", ".join(reads) if len(reads) <= 2 else f"{reads[0]} to {reads[-1]}"  # noqa: PLR2004  # as it says


def _as_json(one: object) -> dict[str, object]:
    from hub.conversion import options_of
    from hub.registry import Format

    assert isinstance(one, Format)  # noqa: S101  # for the type checker
    info = one.info
    return {
        "id": one.id,
        "title": info.title,
        "aliases": list(info.aliases),
        "reads": list(info.reads),
        "writes": list(info.writes) if one.can_write else [],
        "suffixes": list(info.suffixes),
        "distribution": one.origin,
        "options": [option._asdict() for option in options_of(one)],
        "rules": [rule._asdict() for rule in one.rules],
    }


def _lines(one: object) -> list[str]:
    shown = _as_json(one)
    lines = [
        f"{shown['id']}: {shown['title']}",
        f"  distribution  {shown['distribution']}",
        f"  reads         {_list(shown['reads'])}",
        f"  writes        {_list(shown['writes'])}",
        f"  aliases       {_list(shown['aliases'])}",
        f"  file names    {_list(['*' + str(suffix) for suffix in _strings(shown['suffixes'])])}",
        "  options",
    ]
    from hub.conversion import options_of
    from hub.registry import Format

    assert isinstance(one, Format)  # noqa: S101  # for the type checker
    for option in options_of(one):
        choices = f" ({'|'.join(option.choices)})" if option.choices else ""
        lines.append(f"    {option.name}{choices}  [{option.side}]  {option.help}")
    lines.append("  rules")
    lines.extend(
        f"    {rule.rule}  [{rule.severity}]  expected {rule.expected}" for rule in one.rules
    )
    return lines


def _strings(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []


def _list(value: object) -> str:
    return ", ".join(_strings(value)) or "-"
