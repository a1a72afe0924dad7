"""What others do with the same files: commands of packages from PyPI, each in an environment of its own.

Environments are made in the folder that BENCH_PEERS names, or in a temporary one. A package that cannot be installed is
left out, with a word. `harbor` needs Python 3.12, which BENCH_PEERS_PYTHON may name.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

Command = Callable[[str, str], list[str]]

MODELS = {
    "harbor": "harbor.models.trajectories.trajectory",
    "atif": "atif",
}
"""Packages with models of ATIF, and the module of the model."""
READ_AND_DUMP = """
import json
import sys
from {module} import Trajectory
with open(sys.argv[1], "rb") as source:
    value = json.loads(source.read())
values = value if isinstance(value, list) else [value]
with open(sys.argv[2], "w", encoding="utf-8") as target:
    for one in values:
        target.write(Trajectory.model_validate(one).model_dump_json(exclude_none=True))
"""


@cache
def _folder() -> Path:
    given = os.environ.get("BENCH_PEERS")
    return Path(given).resolve() if given else Path(tempfile.mkdtemp(prefix="bench-peers-"))


def environment(package: str) -> Path | None:
    """Return the folder of programs of an environment with *package*; None if it cannot be installed."""
    place = _folder() / package
    programs = place / "bin"
    if not (place / ".installed").exists():
        python = os.environ.get("BENCH_PEERS_PYTHON", sys.executable)
        try:
            _run(python, "-m", "venv", "--clear", str(place))
            _run(str(programs / "python"), "-m", "pip", "install", "--quiet", package)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"{package} is left out: {error}", file=sys.stderr)
            return None
        (place / ".installed").touch()
    return programs


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603  # pip


def atif_models() -> Iterator[tuple[str, Command]]:
    """Yield what reads an ATIF document into the models of a package, and writes it again."""
    for package, module in MODELS.items():
        programs = environment(package)
        if programs is not None:
            code = READ_AND_DUMP.format(module=module)
            yield (
                f"the models of {package}",
                partial(_read_and_dump, str(programs / "python"), code),
            )


def _read_and_dump(python: str, code: str, source: str, target: str) -> list[str]:
    return [python, "-c", code, source, target]


def exporter() -> Iterator[tuple[str, Callable[[str, str, str], list[str]]]]:
    """Yield what exports a file in another format: `pchronicle` of the package `persisting`."""
    programs = environment("persisting")
    if programs is None:
        return

    def command(source: str, target: str, to: str) -> list[str]:
        dataset = Path(source).with_suffix(".dataset")  # it exports folders
        if not dataset.exists():
            dataset.mkdir()
            shutil.copy(source, dataset)
        limits = ["--overwrite", "--max-output-bytes", "8GiB", "--timeout", "600s"]
        where = ["--from", str(dataset), "--to", target, "--output-format", to]
        return [str(programs / "pchronicle"), "export", *where, *limits]

    yield "pchronicle export", command
