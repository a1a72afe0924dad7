"""Who does it: this process, or several workers, of which each does one thing after another.

Results come in the order of the things, whoever was faster. Little is under way at a time: a worker has a few things in
hand, and nobody runs far ahead of the slowest one. A worker that dies costs the thing it was at.
"""

from __future__ import annotations

import gc
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Protocol, TypeVar

from hub.errors import Stopped

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

Thing = TypeVar("Thing")
Result = TypeVar("Result")
Given_contra = TypeVar("Given_contra", contravariant=True)
Made_co = TypeVar("Made_co", covariant=True)

IN_HAND = 3
"""Things that a worker has at a time, so that it need not wait for the next."""
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

        context = get_context("spawn")
        self.connection, other = context.Pipe()
        self.process: SpawnProcess = context.Process(
            target=_serve, args=(other, work), name="hub-worker", daemon=True
        )
        self.process.start()
        other.close()
        self.in_hand: deque[tuple[int, Thing]] = deque()

    def give(self, number: int, thing: Thing) -> None:
        self.in_hand.append((number, thing))
        with suppress(OSError):  # that it is dead is seen when its answer is waited for
            self.connection.send(thing)

    def answer(self) -> Any:
        """Return what became of the first thing in hand.

        Raises:
            EOFError: the process is dead.
        """
        try:
            return self.connection.recv()
        except OSError as error:
            raise EOFError from error

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
        finished = False
        try:
            while self._fill(things) or self._waiting:
                while self._handed_out in self._waiting:
                    yield self._waiting.pop(self._handed_out)
                    self._handed_out += 1
                    if len(self._waiting) < AHEAD:
                        break  # so that nobody waits while results are looked at
                else:
                    self._wait()
            finished = True
        finally:
            for worker in self._workers:
                worker.end(at_once=not finished)

    def _fill(self, things: Iterator[tuple[Thing, Result | None]]) -> bool:
        """Give things to workers that have few; tell whether any worker has something in hand."""
        while self._given - self._handed_out < AHEAD * self._jobs or self._again:
            worker = self._free_worker()
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
        return any(worker.in_hand for worker in self._workers)

    def _free_worker(self) -> _Worker[Thing] | None:
        """Return a worker with the fewest things in hand, a new one rather than one that has some."""
        least = min(self._workers, key=lambda worker: len(worker.in_hand), default=None)
        if (least is None or least.in_hand) and len(self._workers) < self._jobs:
            least = _Worker(self._work)
            self._workers.append(least)
        return least if least is not None and len(least.in_hand) < IN_HAND else None

    def _wait(self) -> None:
        """Wait for some worker, and take what it answers."""
        from multiprocessing.connection import wait

        busy = {id(worker.connection): worker for worker in self._workers if worker.in_hand}
        for connection in wait([worker.connection for worker in busy.values()]):
            worker = busy[id(connection)]
            try:
                result = worker.answer()
                number, thing = worker.in_hand.popleft()
            except EOFError:
                number, thing = worker.in_hand.popleft()
                result = self._work.lost(thing, worker.how_it_died())
                self._again.extend(worker.in_hand)
                self._workers.remove(worker)
                worker.end(at_once=True)
            self._waiting[number] = (thing, self._events.ended(thing, result))


_END: tuple[Any, Any] = (None, None)


def _serve(connection: Connection, work: Callable[[Any], Any]) -> None:
    """Do what comes through *connection*, until it is closed: the whole life of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started the worker ends it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # until there is something to clean up
    gc.disable()
    collector = _Collector()
    work.prepare()  # type: ignore[attr-defined]  # `Work`
    try:
        signal.signal(signal.SIGTERM, _stop)
        with suppress(EOFError, OSError, KeyboardInterrupt):
            while True:
                connection.send(work(connection.recv()))
                collector.count()
    except Stopped as stopped:
        sys.exit(stopped.status)


def _stop(number: int, frame: object) -> NoReturn:
    """Make a signal an exception that no plugin is taken to have raised."""
    del frame
    raise Stopped(number)
