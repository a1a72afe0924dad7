"""The command line: `hub`, `storyline-hub` and `python -m hub` are one program."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import sys


def main() -> None:
    """Run the command line and exit with its status."""
    # One short-lived process: what cycles there are go with it. Collecting costs a tenth of a run.
    gc.disable()
    from hub.cli import app

    app.exits_at_once = True
    _leave(app.run())


def _leave(status: int) -> None:
    """Exit without taking apart what is in memory, which costs as much as converting a megabyte."""
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        sys.exit(status)
    atexit._run_exitfuncs()  # noqa: SLF001  # as an interpreter that ends would
    with contextlib.suppress(OSError, ValueError):  # nobody reads it any more
        sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
