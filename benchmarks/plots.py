"""Tables and plots of what was measured: python benchmarks/run.py --json | python benchmarks/plots.py FOLDER.

Reads the lines of a run, writes `pairs.svg` and `peers.svg` to the folder, and prints the tables for the documentation.
Needs matplotlib: pip install matplotlib.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

PAIR = re.compile(r"(\S+) to (\S+?)(, --no-carry)?(, peak)?$")
FORMATS = ("storyline", "actf", "ale", "atif", "openai-messages")
Rows = list[dict[str, Any]]


def ratios(rows: Rows, mark: tuple[str | None, str | None]) -> dict[tuple[str, str], float]:
    """Return the ratio of each pair, without or with the carrier, or of its memory."""
    return {
        (found[1], found[2]): row["ratio"]
        for row in rows
        if (found := PAIR.match(row["what"])) and found.groups()[2:] == mark
    }


KINDS = {
    "time without the carrier": (", --no-carry", None),
    "time with the carrier": (None, None),
    "memory without the carrier": (", --no-carry", ", peak"),
}


def table(found: dict[tuple[str, str], float]) -> Iterable[str]:
    """Yield the lines of a table: from which format to which."""
    yield f"| from \\ to | {' | '.join(FORMATS)} |"
    yield "|---|" + "---|" * len(FORMATS)
    for source in FORMATS:
        cells = (f"{found[source, to]:.2f}" if (source, to) in found else "" for to in FORMATS)
        yield f"| {source} | {' | '.join(cells)} |"


def draw_pairs(rows: Rows, path: Path) -> None:
    """Draw a field for each pair, the darker the slower."""
    from matplotlib import pyplot as plt

    figure, places = plt.subplots(1, len(KINDS), figsize=(12, 4), layout="constrained")
    for place, (kind, mark) in zip(places, KINDS.items(), strict=True):
        found = ratios(rows, mark)
        values = [[found.get((source, to), 0.0) for to in FORMATS] for source in FORMATS]
        place.imshow(values, cmap="Blues", vmin=0, vmax=6)
        for y, line in enumerate(values):
            for x, value in enumerate(line):
                colour = "white" if value > 3.5 else "black"  # noqa: PLR2004  # legible
                place.text(x, y, f"{value:.1f}", ha="center", va="center", color=colour)
        place.set_title(f"{kind}, times the floor", fontsize=10)
        place.set_xticks(range(len(FORMATS)), FORMATS, rotation=30, ha="right", fontsize=8)
        place.set_yticks(range(len(FORMATS)), FORMATS if place is places[0] else [], fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def draw_peers(rows: Rows, path: Path) -> None:
    """Draw two bars for each comparison with others."""
    from matplotlib import pyplot as plt

    chosen = [row for row in rows if ", to " in row["what"] and row["unit"] == "s"]
    if not chosen:
        return
    figure, place = plt.subplots(figsize=(8, 0.5 + 0.5 * len(chosen)), layout="constrained")
    names = [row["what"].replace(", to ", " against ") for row in chosen]
    for offset, key, label in ((-0.2, "measured", "the hub"), (0.2, "floor", "the other")):
        positions = [index + offset for index in range(len(chosen))]
        place.barh(positions, [row[key] for row in chosen], height=0.38, label=label)
    place.set_yticks(range(len(chosen)), names, fontsize=8)
    place.invert_yaxis()
    place.set_xlabel("seconds, whole process; of 50 MB where nothing else is said")
    place.legend()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Read what was measured from standard input."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "storyline-hub"})
    folder = Path(sys.argv[1])
    rows = [json.loads(line) for line in sys.stdin if line.strip()]
    for kind, mark in KINDS.items():
        if found := ratios(rows, mark):
            print(f"\n{kind}, times the floor:\n", *table(found), sep="\n")
    if ratios(rows, KINDS["time with the carrier"]):
        draw_pairs(rows, folder / "pairs.svg")
    draw_peers(rows, folder / "peers.svg")


if __name__ == "__main__":
    main()
