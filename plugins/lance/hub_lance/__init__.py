"""A store for trajectories: three Lance tables, losslessly, and SQL over them.

    import hub_lance

    store = hub_lance.open("trajectories", create=True)
    for outcome in store.add(["runs/"]):                  # any format that is installed
        print(outcome.input, outcome.result)
    store.get("episode-7")                                # the Storyline again, exactly
    store.query("SELECT source, count(*) FROM steps GROUP BY ALL")       # an Arrow table
    for batch in store.scan("steps", columns=["source", "message_json"]):  # Arrow batches, lazily
        ...

Nothing that is slow to import is imported before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hub_lance.store import Store as Store
    from hub_lance.store import open as open  # noqa: A004  # `hub_lance.open` reads as `open`

__all__ = ["Store", "open"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'hub_lance' has no attribute {name!r}")
    from hub_lance import store

    return getattr(store, name)
