"""A new plugin from a template: a whole distribution, whose tests pass before its author has written a line.

The template is `hub/template`; it is filled in by Jinja, which only this needs (the extra `kit`). What is filled in
stands as `[[name]]`: the files of other tools have their own `{{name}}`. The folder `{{package}}` gets its name here.
"""

from __future__ import annotations

import re
from pathlib import Path

from hub.errors import UsageError
from hub.registry import PACKAGES, Formats

TEMPLATE = Path(__file__).parent / "template"
SUFFIX = ".jinja"


def create(name: str, folder: str | Path = ".", *, title: str | None = None) -> list[Path]:
    """Make the plugin for a format *name* in a folder below *folder*, and return its files.

    Raises:
        UsageError: the name is none, or is taken; the folder is there already; Jinja is not installed.
    """
    _check_name(name)
    _check_title(title)
    target = Path(folder) / f"hub-{name}"
    if target.exists():
        raise UsageError(f"{target} is there already; choose another --dir")
    files = _rendered(_words(name, title))
    for path, text in files.items():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_text(text, encoding="utf-8")
    return [target / path for path in files]


def _check_name(name: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise UsageError(
            f"{name!r} is no name for a format: lower-case letters and digits, joined by hyphens, such as chat-log"
        )
    if name in PACKAGES or name in Formats().declared:
        raise UsageError(f"there is a format {name!r} already; choose another name")


def _check_title(title: str | None) -> None:
    """Refuse a *title* that would not be a text in the files of a plugin, but more than that."""
    if title is not None and (not title.isprintable() or set(title) & set('"\\[]|')):
        raise UsageError(
            f"{title!r} is no title: one line of text without quotation marks, backslashes, brackets and bars"
        )


def _words(name: str, title: str | None) -> dict[str, str]:
    from hub import __version__

    return {
        "id": name,
        "title": title or name.replace("-", " ").capitalize(),
        "distribution": f"storyline-hub-{name}",
        "package": f"hub_{name.replace('-', '_')}",
        "hub": __version__.rpartition(".")[0],
    }


def _rendered(words: dict[str, str]) -> dict[str, str]:
    """Return the text of each file, by its path below the folder."""
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise UsageError("new plugins need Jinja: pip install 'storyline-hub[kit]'") from error
    jinja = Environment(
        variable_start_string="[[",
        variable_end_string="]]",
        block_start_string="[%",
        block_end_string="%]",
        comment_start_string="[#",
        comment_end_string="#]",
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701  # no HTML is written
    )
    return {
        _path(source, words): jinja.from_string(source.read_text(encoding="utf-8")).render(words)
        for source in sorted(TEMPLATE.rglob(f"*{SUFFIX}"))
    }


def _path(source: Path, words: dict[str, str]) -> str:
    path = source.relative_to(TEMPLATE).as_posix().removesuffix(SUFFIX)
    return path.replace("{{package}}", words["package"])
