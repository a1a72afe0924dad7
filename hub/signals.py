"""A signal that comes where no exception is raised: in a callback of the interpreter, when an object is freed, say.

There the exception of the signal would be shown and forgotten, and the program would go on.
"""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

from hub.errors import Stopped

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

SOON = 0.01
"""Seconds after which the callback has ended, or else is asked once more."""


def raise_again(found: UnraisableHookArgs) -> None:
    """Raise what a signal has raised once more, soon; show everything else as usual: for `sys.unraisablehook`."""
    stopped = found.exc_value
    if not isinstance(stopped, Stopped):
        sys.__unraisablehook__(found)
        return
    if not hasattr(signal, "setitimer"):
        return

    def again(number: int, frame: object) -> None:
        del number, frame
        raise Stopped(stopped.signal)

    signal.signal(signal.SIGALRM, again)
    signal.setitimer(signal.ITIMER_REAL, SOON)
