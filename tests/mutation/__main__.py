"""Change the code a little, again and again, and see whether a test notices: python tests/mutation GROUP SAMPLE SEED.

Of each group of modules a random sample of mutants is made. A mutant lives in a process of its own, whose tests are
those of its group, and which ends with the first that fails. These are tests with examples: round trips notice much,
but take so long that few mutants could be tried. Prints those that no test kills, and how many are killed.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import random
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, settings

sys.path.insert(0, str(Path(__file__).parent))
from mutants import Mutant, mutants, mutated

ROOT = Path(__file__).parents[2]
OPTIONS = [
    "-x",
    "-q",
    "-p",
    "no:cacheprovider",
    "--hypothesis-seed=1",
    "--hypothesis-profile=mutants",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
]
SECONDS = 60
"""After which a mutant counts as killed: it hangs."""
NOT_IMPORTED = 100
"""Exit status of a process whose tests have passed without importing the module that was changed."""


class Group(NamedTuple):
    """Modules, and the tests that are theirs."""

    modules: Sequence[str]
    """Patterns of paths."""
    tests: Sequence[str]


def _plugin(name: str, modules: str, *tests: str) -> Group:
    folder = f"plugins/{name}"
    package = f"hub_{name.replace('-', '_')}"
    return Group(
        [f"{folder}/{package}/{module}.py" for module in modules.split()],
        [f"{folder}/tests/test_{test}.py" for test in tests],
    )


GROUPS = {
    "carrier": Group(
        [
            f"hub/{name}.py"
            for name in ["carrier", "difference", "sealing", "texts", "opening", "patch"]
        ],
        [
            f"tests/test_{name}.py"
            for name in ["patch", "difference", "carrier", "made_by_writing", "envelope"]
        ],
    ),
    "residuals": Group(["hub/residuals.py"], ["tests/test_residuals.py", "tests/test_envelope.py"]),
    "json": Group(
        ["hub/json.py", "hub/json_text.py"],
        ["tests/test_json.py"],
    ),
    "actf": _plugin(
        "actf",
        "mapping trajectory prompts steps tools effective grouping metrics openclaw records restoring"
        " values",
        *["mapping", "rules", "records", "openclaw"],
    ),
    "ale": _plugin(
        "ale",
        "reading writing fold unfold marks residuals content metrics completing intact images files"
        " times",
        *[
            "reading",
            "writing",
            "fold",
            "content",
            "metrics",
            "images",
            "times",
            "examples",
            "parse",
            "intact",
            "rules",
        ],
    ),
    "atif": _plugin(
        "atif",
        "reading writing restoring conforming content metrics tree times sound",
        *["examples", "writing", "rules", "sound"],
    ),
    "openai": _plugin(
        "openai-messages",
        "chat_reading chat_residuals chat_writing row_reading row_turns row_facts row_restoring"
        " row_writing writing calls messages placing layout markup values documents model",
        *["examples", "reading", "writing", "rules"],
    ),
}


class _Finder(MetaPathFinder, Loader):
    """Imports one module as a mutant, and leaves the others alone."""

    def __init__(self, mutant: Mutant) -> None:
        self._path = ROOT / mutant.path
        self._name = _module_name(mutant.path)
        self._tree: ast.Module = mutated(mutant, self._path.read_text(encoding="utf-8"))
        self.is_imported = False

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        del path, target
        if fullname != self._name:
            return None
        return importlib.util.spec_from_file_location(fullname, self._path, loader=self)

    def create_module(self, spec: ModuleSpec) -> None:
        del spec

    def exec_module(self, module: ModuleType) -> None:
        self.is_imported = True
        exec(compile(self._tree, self._path, "exec"), vars(module))  # noqa: S102  # as an import does


def _module_name(path: str) -> str:
    parts = Path(path).with_suffix("").parts
    return ".".join(parts[2:] if parts[0] == "plugins" else parts)


def is_killed(mutant: Mutant | None, tests: Sequence[str]) -> bool:
    """Tell whether one of *tests* fails with *mutant*."""
    child = os.fork()
    if child == 0:
        _live(mutant, tests)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == NOT_IMPORTED:
        sys.exit(f"no test of the group imports the mutant {mutant}")
    return status != 0


def _live(mutant: Mutant | None, tests: Sequence[str]) -> None:
    """Run *tests* in this process, which ends with them."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(SECONDS)
    for number in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    status = 1
    try:
        finder = mutant and _Finder(mutant)
        if finder is not None:
            sys.meta_path.insert(0, finder)
        status = pytest.main([*OPTIONS, *tests])
        if finder is not None and status == 0 and not finder.is_imported:
            status = NOT_IMPORTED
    finally:
        os._exit(int(status))


def chosen(group: Group, sample: int, seed: int) -> list[Mutant]:
    """Return a random *sample* of the mutants of *group*, or all of them."""
    every = [
        mutant
        for path in group.modules
        for mutant in mutants(path, (ROOT / path).read_text(encoding="utf-8"))
    ]
    print(f"{len(every)} mutants of {len(group.modules)} modules")
    return sorted(random.Random(seed).sample(every, min(sample, len(every))))


def survivors(group: Group, sample: Sequence[Mutant]) -> Iterator[Mutant]:
    """Yield the mutants of *sample* that no test of *group* kills."""
    if is_killed(None, group.tests):
        sys.exit("the tests fail without any mutant")
    for mutant in sample:
        if not is_killed(mutant, group.tests):
            yield mutant


def main(name: str, size: int, seed: int) -> None:
    """Try a sample of the mutants of the group *name*."""
    os.chdir(ROOT)
    # What fails needs no smaller example; and no mutant may know those of another one.
    settings.register_profile(
        "mutants",
        max_examples=5,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    group = GROUPS[name]
    start = time.monotonic()
    sample = chosen(group, size, seed)
    count = 0
    for mutant in survivors(group, sample):
        count += 1
        print(mutant, flush=True)
    killed = len(sample) - count
    error = 1.96 * (killed * count / len(sample) ** 3) ** 0.5
    print(
        f"{name}: {killed} of {len(sample)} killed, {killed / len(sample):.1%} ± {error:.1%},"
        f" seed {seed}, {time.monotonic() - start:.0f} s"
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if sys.argv[3:] else 1)
