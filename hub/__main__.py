"""The command line: `hub`, `storyline-hub` and `python -m hub` are one program."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import signal
import sys

from hub.errors import Stopped
from hub.signals import raise_again

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
"""Signals that end the program after it has cleaned up; not all systems have all of them."""


def main() -> None:
    """Run the command line and exit with its status."""
    for name in SIGNALS:
        _listen_to(name)
    sys.unraisablehook = raise_again
    # One short-lived process: what cycles there are go with it. Collecting costs a tenth of a run.
    gc.disable()
    try:
        from hub.cli import app

        app.exits_at_once = True
        status = app.run()
    except Stopped as stopped:
        # Before there is a program, or after it: nothing is under way.
        status = stopped.status
    _leave(status)


def _listen_to(name: str) -> None:
    """Make the signal *name* an exception, unless who started the program has it ignored."""
    number = getattr(signal, name, None)
    if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
        signal.signal(number, _stop)


def _stop(number: int, frame: object) -> None:
    """Raise the exception of a signal; the cleaning up that follows is not disturbed by a second one."""
    del frame
    for name in SIGNALS:
        if (other := getattr(signal, name, None)) is not None:
            signal.signal(other, signal.SIG_IGN)
    raise Stopped(number)


def _leave(status: int) -> None:
    """Exit without taking apart what is in memory, which costs as much as converting a megabyte."""
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        sys.exit(status)
    atexit._run_exitfuncs()  # noqa: SLF001  # as an interpreter that ends would
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):  # nobody reads it any more
            sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
