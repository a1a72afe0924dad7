"""Who does it where work outgrows one machine: the workers of a Ray cluster, through Ray Data.

The same work is done with the same things as by `hub.batch.pool`, and the results come in the same order. Windows of
things become datasets, so that neither the plan nor the results need be held. What a worker that dies had in hand is
done again by processes of this machine, so that such a thing costs itself only.
"""

from __future__ import annotations

import gc
import logging
import os
import pickle
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, Generic, TypeVar

from hub.batch import pool
from hub.batch.pool import Events, Work
from hub.errors import UsageError

Thing = TypeVar("Thing")
Result = TypeVar("Result")

WINDOW = 16384
"""Things of which one dataset is made."""
AT_ONCE = 32
"""Things that a worker gets at a time."""


def done(
    work: Work[Thing, Result],
    things: Iterator[tuple[Thing, Result | None]],
    *,
    jobs: int,
    events: Events[Thing, Result] | None = None,
) -> Iterator[tuple[Thing, Result]]:
    """Yield each of *things* with its result, in order; one that comes with a result is not done again.

    *jobs* workers share the work; 0 is one for each processor of the cluster.

    Raises:
        UsageError: Ray is not installed.
    """
    noted = events or Events()
    with _cluster(jobs) as processors:
        ray = _Ray(work, jobs or processors, noted)
        while window := list(islice(things, WINDOW)):
            yield from ray.results(window)


class _Ray(Generic[Thing, Result]):
    """A cluster, and what it does."""

    def __init__(self, work: Work[Thing, Result], jobs: int, events: Events[Thing, Result]) -> None:
        self._work = work
        self._jobs = jobs
        self._events = events

    def results(self, window: list[tuple[Thing, Result | None]]) -> Iterator[tuple[Thing, Result]]:
        to_do = [thing for thing, known in window if known is None]
        again = list(map(self._events.again, to_do))
        for thing in to_do:
            self._events.begun(thing)
        self._events.settle()
        fresh = self._fresh(to_do, again)
        for thing, known in window:
            if known is not None:
                yield thing, known
                continue
            result = next(fresh)
            self._events.ended(thing, result)
            yield thing, result

    def _fresh(self, things: list[Thing], again: list[Thing]) -> Iterator[Result]:
        """Yield what becomes of *things*, in order; *again* are the same as they are given a second time."""
        finished = 0
        with suppress(_Died):
            for result in self._by_ray(things) if things else ():
                finished += 1
                yield result
        # One of them ends the process that does it: here it costs itself only.
        rest = ((thing, None) for thing in again[finished:])
        for _, result in pool.done(self._work, rest, jobs=2) if finished < len(things) else ():
            yield result

    def _by_ray(self, things: list[Thing]) -> Iterator[Result]:
        import ray
        import ray.data

        # What becomes of a worker is told as an outcome, not by its stack.
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)
        context = ray.data.DataContext.get_current()
        context.execution_options.preserve_order = True
        context.enable_progress_bars = False
        blocks = -(-len(things) // AT_ONCE)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what Ray will do in versions to come
            found = ray.data.from_items(
                [{"thing": pickle.dumps(thing)} for thing in things], override_num_blocks=blocks
            ).map_batches(
                _Doing,
                fn_constructor_args=(pickle.dumps(self._work), os.getcwd()),
                batch_size=AT_ONCE,
                batch_format="numpy",
                compute=ray.data.ActorPoolStrategy(size=min(self._jobs, blocks)),
                max_restarts=0,
            )
        try:
            for row in found.iter_rows():
                yield pickle.loads(row["result"])  # noqa: S301  # our own
        except ray.exceptions.RayError as error:
            raise _Died from error


class _Died(Exception):
    """A worker died."""


class _Doing:
    """A worker: made once in its process, called with a few things at a time."""

    def __init__(self, work: bytes, folder: str) -> None:
        # Inputs are named as they were where the run was started.
        with suppress(OSError):
            os.chdir(folder)
        self._work: Work[Any, Any] = pickle.loads(work)  # noqa: S301  # our own
        gc.disable()
        self._work.prepare()
        gc.freeze()
        self._count = 0

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[bytes]]:
        results = [
            pickle.dumps(self._work(pickle.loads(thing)))  # noqa: S301  # our own
            for thing in batch["thing"]
        ]
        self._count += len(results)
        if self._count >= pool.COLLECTED_AFTER:
            self._count = 0
            gc.collect()
        return {"result": results}


@contextmanager
def _cluster(jobs: int) -> Iterator[int]:
    """Join the cluster that RAY_ADDRESS names, or make one of this machine; give how many processors it has."""
    try:
        import ray
    except ImportError as error:
        raise UsageError(
            f"--engine ray needs Ray: pip install 'storyline-hub[ray]' ({error})"
        ) from None
    is_ours = not ray.is_initialized()
    if is_ours:
        settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if "RAY_ADDRESS" not in os.environ:
            settings |= {"include_dashboard": False, "num_cpus": jobs or None}
        ray.init(**settings)
    try:
        yield max(1, int(ray.cluster_resources().get("CPU", 1)))
    finally:
        if is_ours:
            ray.shutdown()
