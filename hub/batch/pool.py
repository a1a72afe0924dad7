"""Who does it: this process, or several workers, of which each does one thing after another.

Results come in the order of the things, whoever was faster. Little is under way at a time: a worker has in hand what it
does in a moment, and nobody runs far ahead of the slowest one. A worker that dies costs the thing it was at.

Where it can be, a worker is a copy of this process, which has all plugins loaded: it starts in milliseconds.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Protocol, TypeVar

from hub.errors import Stopped
from hub.signals import raise_again

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

Thing = TypeVar("Thing")
Result = TypeVar("Result")
Given_contra = TypeVar("Given_contra", contravariant=True)
Made_co = TypeVar("Made_co", covariant=True)

IN_HAND = 3
"""Things that a worker has at a time at least, so that it need not wait for the next."""
MOST_IN_HAND = 8
"""Things that it has at most: behind small ones may be large ones, for which another worker is free."""
MOMENT = 0.01
"""Seconds; a worker has things in hand for two of them. For half of one nobody is woken to take what became of some."""
AHEAD = 64
"""Things, times the workers, by which the fastest worker may be ahead of the slowest."""
COLLECTED_AFTER = 256
"""Things after which garbage is collected: few cycles are made, and looking for them takes long."""


class Work(Protocol[Given_contra, Made_co]):
    """What is done with each thing; goes to the workers, so it is a value."""

    def prepare(self) -> None:
        """Get ready, once in each process."""

    def __call__(self, thing: Given_contra, /) -> Made_co:
        """Return what became of *thing*; raises nothing."""

    def lost(self, thing: Given_contra, reason: str) -> Made_co:
        """Return what is said of *thing*, at which a worker died."""


class Events(Generic[Thing, Result]):
    """What is to be noted while things are done, in whatever order that happens."""

    def again(self, thing: Thing) -> Thing:
        """Return *thing*, which is not begun yet, as it is given to somebody else if it is lost on the way."""
        return thing

    def begun(self, thing: Thing) -> None:
        """Note that *thing* is given to somebody."""

    def ended(self, thing: Thing, result: Result) -> Result:
        """Note what became of *thing*, and return it."""
        del thing
        return result

    def settle(self) -> None:
        """See to it that what was noted outlives this process; called before anybody begins with what is begun."""


def done(
    work: Work[Thing, Result],
    things: Iterator[tuple[Thing, Result | None]],
    *,
    jobs: int,
    events: Events[Thing, Result] | None = None,
) -> Iterator[tuple[Thing, Result]]:
    """Yield each of *things* with its result, in order; one that comes with a result is not done again."""
    noted = events or Events()
    if jobs > 1:
        return _Pool(work, jobs, noted).results(things)
    return _alone(work, things, noted)


def _alone(
    work: Work[Thing, Result],
    things: Iterator[tuple[Thing, Result | None]],
    events: Events[Thing, Result],
) -> Iterator[tuple[Thing, Result]]:
    work.prepare()
    collector = _Collector()
    for thing, known in things:
        if known is None:
            events.begun(thing)
            events.settle()
            result = events.ended(thing, work(thing))
            collector.count()
        else:
            result = known
        yield thing, result


class _Collector:
    """Collects garbage now and then, where the collector is off; what was loaded for the first thing is no garbage."""

    def __init__(self) -> None:
        self._count = 0

    def count(self) -> None:
        self._count += 1
        if gc.isenabled():
            return
        if self._count == 1:
            gc.freeze()
        elif self._count % COLLECTED_AFTER == 0:
            gc.collect()


class _Worker(Generic[Thing]):
    """A process, and the things that it was given, the first of which it is at."""

    def __init__(self, work: object) -> None:
        from multiprocessing import get_context

        method = start_method()
        context: Any = get_context(method)
        self.connection, other = context.Pipe()
        not_its_own = _descriptors() - {other.fileno()} if method == "fork" else None
        self.process: BaseProcess = context.Process(
            target=_serve, args=(other, work, not_its_own), name="hub-worker", daemon=True
        )
        with _signals_held_back():
            self.process.start()
        other.close()
        self.in_hand: deque[tuple[int, Thing]] = deque()
        self._to_send: list[Thing] = []
        self._began = time.monotonic()
        self._answers = 0

    @property
    def pace(self) -> float | None:
        """Seconds that a thing takes; None: that is not known yet."""
        return (time.monotonic() - self._began) / self._answers if self._answers else None

    def give(self, number: int, thing: Thing) -> None:
        self.in_hand.append((number, thing))
        self._to_send.append(thing)

    def send(self) -> None:
        """Send what was given."""
        if self._to_send:
            with suppress(OSError):  # that it is dead is seen when its answer is waited for
                self.connection.send(self._to_send)
            self._to_send = []

    def has_answered(self) -> bool:
        """Tell whether there is an answer, or none to come."""
        try:
            return bool(self.connection.poll())
        except OSError:
            return True

    def answer(self) -> Any:
        """Return what became of the first thing in hand.

        Raises:
            EOFError: the process is dead.
        """
        try:
            answer = self.connection.recv()
        except OSError as error:
            raise EOFError from error
        self._answers += 1
        return answer

    def how_it_died(self) -> str:
        self.process.join(5)
        code = self.process.exitcode
        if code is not None and code < 0:
            with suppress(ValueError):
                return f"the process that was at it was ended by {signal.Signals(-code).name}"
        return f"the process that was at it ended with status {code}"

    def end(self, *, at_once: bool) -> None:
        self.connection.close()
        if at_once:
            self.process.terminate()
        self.process.join(30)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.process.close()


class _Pool(Generic[Thing, Result]):
    """Workers, the things they have in hand, and results that wait for those before them."""

    def __init__(self, work: Work[Thing, Result], jobs: int, events: Events[Thing, Result]) -> None:
        self._work = work
        self._jobs = jobs
        self._events = events
        self._workers: list[_Worker[Thing]] = []
        self._again: deque[tuple[int, Thing]] = deque()
        """What a dead worker had in hand and was not at."""
        self._waiting: dict[int, tuple[Thing, Result]] = {}
        self._given = self._handed_out = 0

    def results(
        self, things: Iterator[tuple[Thing, Result | None]]
    ) -> Iterator[tuple[Thing, Result]]:
        self._work.prepare()  # for all workers that are copies of this process
        finished = False
        try:
            while self._fill(things) or self._waiting:
                self._take(wait=self._handed_out not in self._waiting)
                # So that nobody waits while results are looked at.
                until = time.monotonic() + MOMENT / 2
                while self._handed_out in self._waiting:
                    yield self._waiting.pop(self._handed_out)
                    self._handed_out += 1
                    if time.monotonic() > until:
                        break
            finished = True
        finally:
            for worker in self._workers:
                worker.end(at_once=not finished)

    def _fill(self, things: Iterator[tuple[Thing, Result | None]]) -> bool:
        """Give things to workers that have few; tell whether any worker has something in hand."""
        most = most_in_hand([worker.pace for worker in self._workers])
        while self._given - self._handed_out < AHEAD * self._jobs or self._again:
            worker = self._free_worker(most)
            if worker is None:
                break
            if self._again:
                worker.give(*self._again.popleft())
                continue
            thing, known = next(things, _END)
            if thing is None:
                break
            if known is None:
                self._events.begun(thing)
                worker.give(self._given, thing)
            else:
                self._waiting[self._given] = (thing, known)
            self._given += 1
        self._events.settle()
        for worker in self._workers:
            worker.send()
        return any(worker.in_hand for worker in self._workers)

    def _free_worker(self, most: int) -> _Worker[Thing] | None:
        """Return a worker with the fewest things in hand, a new one rather than one that has some."""
        least = min(self._workers, key=lambda worker: len(worker.in_hand), default=None)
        if (least is None or least.in_hand) and len(self._workers) < self._jobs:
            least = _Worker(self._work)
            self._workers.append(least)
        return least if least is not None and len(least.in_hand) < most else None

    def _take(self, *, wait: bool) -> None:
        """Take what workers have answered; *wait* until one has."""
        busy = [worker for worker in self._workers if worker.in_hand]
        if wait:
            _wait_for(busy)
        for worker in busy:
            while worker.in_hand and worker.has_answered():
                try:
                    result = worker.answer()
                except EOFError:
                    self._bury(worker)
                    break
                self._end(*worker.in_hand.popleft(), result)

    def _bury(self, worker: _Worker[Thing]) -> None:
        """Note that *worker* is dead, and what it was at lost."""
        number, thing = worker.in_hand.popleft()
        self._again.extend(worker.in_hand)
        self._workers.remove(worker)
        self._end(number, thing, self._work.lost(thing, worker.how_it_died()))
        worker.end(at_once=True)

    def _end(self, number: int, thing: Thing, result: Result) -> None:
        self._waiting[number] = (thing, self._events.ended(thing, result))


def most_in_hand(paces: Sequence[float | None]) -> int:
    """Return how many things each worker has at a time, given the seconds that one takes them."""
    known = [pace for pace in paces if pace]
    if len(known) < len(paces) or not known:
        return IN_HAND
    return min(max(int(2 * MOMENT / min(known)), IN_HAND), MOST_IN_HAND)


def _wait_for(workers: Sequence[_Worker[Any]]) -> None:
    """Wait until one of *workers* has answered; longer, so that there is more to take, if all have enough to do."""
    from multiprocessing.connection import wait

    if all((worker.pace or 0) * (len(worker.in_hand) - 1) > MOMENT / 2 for worker in workers):
        time.sleep(MOMENT / 2)
    wait([worker.connection for worker in workers])


_END: tuple[Any, Any] = (None, None)


def start_method() -> str:
    """Return how a worker starts: as a copy of this process if that has one thread, otherwise anew.

    A copy has no thread but the one that made it, so a lock that another one held would be held for ever. Elsewhere
    than on Linux, the system's own libraries may have threads.
    """
    if sys.platform != "linux" or not _NEVER_COPIED.isdisjoint(sys.modules):
        return "spawn"
    try:
        return "fork" if len(os.listdir("/proc/self/task")) == 1 else "spawn"
    except OSError:
        return "spawn"


_NEVER_COPIED = frozenset({"lance"})
"""Libraries that say of themselves that they do not work in a copy."""


def _descriptors() -> set[int]:
    """Return what this process has open, standard streams left out."""
    try:
        return {number for number in map(int, os.listdir("/proc/self/fd")) if number > _STANDARD}
    except OSError:
        return set()


_STANDARD = 2
"""The last of the descriptors of standard streams."""

_HELD_BACK = {
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
}


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """Hold back signals, also in a process that is started meanwhile: it takes them when it knows what to do."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD_BACK)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(
    connection: Connection, work: Callable[[Any], Any], not_its_own: set[int] | None
) -> None:
    """Do what comes through *connection*, until it is closed: the whole life of a worker.

    One that is a copy of another process has open what is *not its own*.
    """
    if not_its_own is not None:
        _become_another_process(not_its_own)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started the worker ends it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # until there is something to clean up
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HELD_BACK)
    gc.disable()
    collector = _Collector()
    work.prepare()  # type: ignore[attr-defined]  # `Work`
    try:
        sys.unraisablehook = raise_again
        signal.signal(signal.SIGTERM, _stop)
        with suppress(EOFError, OSError, KeyboardInterrupt):
            while True:
                for thing in connection.recv():
                    connection.send(work(thing))
                    collector.count()
    except Stopped as stopped:
        sys.exit(stopped.status)


def _become_another_process(not_its_own: set[int]) -> None:
    """Let go of all that was the process of which this is a copy, as a program that is started anew has none of it."""
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    # The locks that they hold, and the ends of pipes that they are, would outlive that process. Their numbers stay
    # taken, by a file that holds nothing: whatever thinks that it has one of them can close it without harm.
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in not_its_own:
        with suppress(OSError):  # the system keeps it for itself
            os.dup2(nothing, descriptor, inheritable=False)
    os.close(nothing)


def _stop(number: int, frame: object) -> NoReturn:
    """Make a signal an exception that no plugin is taken to have raised."""
    del frame
    raise Stopped(number)
