"""The command line: `hub`, `storyline-hub` and `python -m hub` are one program."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command line and exit with its status."""
    # One short-lived process: what cycles there are go with it. Collecting costs a tenth of a run.
    gc.disable()
    from hub.cli.app import run

    sys.exit(run())


if __name__ == "__main__":
    main()
