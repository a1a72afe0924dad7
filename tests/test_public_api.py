"""The public API: its names are sorted, documented and complete, and importing it costs nothing that is not used."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import hub

ROOT = Path(hub.__file__).parent
SLOW = (
    *("attrs", "attr", "cattrs", "orjson", "rich", "typer", "importlib.metadata", "blake3"),
    *("fsspec", "hub.remote"),
)
"""What is slow to import and not needed to find or to detect a format."""


@cache
def source() -> ast.Module:
    return ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8"))


def type_checked() -> list[tuple[str, str]]:
    """Return module and name of each import that only the type checker sees."""
    block = next(node for node in source().body if isinstance(node, ast.If))
    return [
        (str(node.module), alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]


def is_documented(name: str) -> bool:
    """Tell whether *name* has a docstring of its own; of a constant, one below it in its module."""
    value = getattr(hub, name)
    if isinstance(value, ModuleType) or inspect.isclass(value) or inspect.isfunction(value):
        return bool(inspect.getdoc(value))
    home = importlib.import_module(hub._HOME_OF[name])  # noqa: SLF001  # where the name lives
    text = inspect.getsource(home)
    return re.search(rf'^{name}\b[^\n]*= [^\n]*(\n[^\n]+)*?\n"""', text, re.MULTILINE) is not None


def imported_by(code: str) -> list[str]:
    """Return which of the slow modules a fresh interpreter has imported after *code*."""
    script = f"import sys\n{code}\nprint(*sorted(sys.modules.keys() & set({SLOW!r})))"
    done = subprocess.run(  # noqa: S603  # our own interpreter
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    return done.stdout.split()


class TestNames:
    def test_sorted(self) -> None:
        """`__all__` is sorted and names nothing twice."""
        assert sorted(set(hub.__all__)) == hub.__all__

    @pytest.mark.parametrize("name", hub.__all__)
    def test_importable(self, name: str) -> None:
        """Every public name can be imported."""
        assert None is not getattr(hub, name)

    @pytest.mark.parametrize("name", hub.__all__)
    def test_documented(self, name: str) -> None:
        """Every public name is documented."""
        assert is_documented(name)

    @pytest.mark.parametrize("name", hub.__all__)
    def test_members_are_documented(self, name: str) -> None:
        """So is every public function of a public class."""
        value = getattr(hub, name)
        own = vars(value).items() if inspect.isclass(value) else ()
        assert [] == [
            member
            for member, function in own
            if not member.startswith("_")
            and (inspect.isfunction(function) or isinstance(function, property | classmethod))
            and not inspect.getdoc(function)
        ]

    def test_type_checker_sees_the_same(self) -> None:
        """What the type checker sees is what is imported when a name is used."""
        lazily = {(home, name) for home, names in hub._HOMES.items() for name in names}  # noqa: SLF001
        seen = type_checked()
        assert hub.__all__ == sorted(name for _, name in seen)
        assert {("hub", "commands"), ("hub", "pointer")} == set(seen) ^ lazily

    def test_modules_are_whole(self) -> None:
        """Each name lives where it is said to live."""
        for home, names in hub._HOMES.items():  # noqa: SLF001  # where the names live
            module = importlib.import_module(home)
            assert [] == [name for name in names if not hasattr(module, name)]

    def test_unknown(self) -> None:
        """A name that there is not is an attribute error, and an import error."""
        with pytest.raises(AttributeError, match="module 'hub' has no attribute 'gone'"):
            hub.gone  # noqa: B018  # the point
        with pytest.raises(ImportError):
            from hub import gone  # noqa: F401  # the point

    def test_module(self) -> None:
        """A public module is the module itself."""
        assert importlib.import_module("hub.pointer") is hub.__getattr__("pointer")

    def test_dir(self) -> None:
        """`dir` shows every public name, used already or not."""
        assert set(hub.__all__) <= set(dir(hub))

    def test_star(self) -> None:
        """A star imports every public name."""
        names: dict[str, object] = {}
        exec("from hub import *", names)  # noqa: S102  # the point
        assert set(hub.__all__) <= names.keys()

    def test_version(self) -> None:
        """The version is a release number."""
        assert re.fullmatch(r"\d+\.\d+\.\d+", hub.__version__)


class TestImports:
    @pytest.mark.parametrize(
        "code",
        [
            "import hub",
            "import hub; hub.FormatInfo, hub.Detection, hub.Sample, hub.hookimpl, hub.Rule, hub.HubError",
            "from hub.registry import Formats; Formats().declared",
            "from hub.registry import Formats; list(Formats())",
            "import hub; list(hub.formats)",
        ],
    )
    def test_light(self, code: str) -> None:
        """Importing the hub, and finding and loading every plugin, imports nothing that is slow."""
        assert [] == imported_by(code)

    @pytest.mark.parametrize(
        "text",
        [
            '{"schema_version": "storyline/v1"}',
            '[{"schema_version": "storyline/v1"}, {"schema_version": "storyline/v1"}]',
            '{"schema_version": "storyline/v1", "turns": [' + "1," * 40_000 + "1]}",
        ],
    )
    def test_detection_is_light(self, tmp_path: Path, text: str) -> None:
        """Nor does detecting a format, of whatever container and size."""
        path = tmp_path / "run.json"
        path.write_text(text)
        code = f"import hub; assert hub.detect({str(path)!r}).format == 'storyline'"
        assert [] == imported_by(code)

    def test_no_plugin(self) -> None:
        """Importing the hub imports no plugin, and finding them none either."""
        script = (
            "import sys, hub; from hub.registry import Formats; Formats().declared;"
            "print(*(name for name in sys.modules if name.startswith('hub_')))"
        )
        done = subprocess.run(  # noqa: S603  # our own interpreter
            [sys.executable, "-c", script], check=True, capture_output=True, text=True
        )
        assert "\n" == done.stdout
