"""Which documents a store has: asked of its index for a few, of a table of digests for many."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hub_lance import tables
from hub_lance.current import Versions

if TYPE_CHECKING:
    import numpy as np

FEW = 64
"""Questions that go to the index; then all ids are read once, eight bytes of each kept."""


class KnownIds:
    """The document ids of a store at a version."""

    def __init__(self, root: Path, versions: Versions) -> None:
        self._runs = tables.opened(root, "runs", versions.runs)
        self._asked = 0
        self._digests: np.ndarray[Any, np.dtype[np.uint64]] | None = None
        self._count = self._runs.count_rows()

    def __contains__(self, document_id: str) -> bool:
        """Tell whether the store has the document."""
        if not self._count:
            return False
        if self._digests is None and self._asked < FEW:
            self._asked += 1
            return self._has(document_id)
        if self._digests is None:
            self._digests = self._read()
        digest = _digest(document_id)
        at = int(self._digests.searchsorted(digest))
        return at < len(self._digests) and self._digests[at] == digest and self._has(document_id)

    def next_ordinal(self) -> int:
        """Return the first place behind all that are taken."""
        import pyarrow.compute as pc

        last = -1
        for batch in self._runs.to_batches(columns=["storage_ordinal"]):
            if batch.num_rows:
                last = max(last, pc.max(batch.column(0)).as_py())
        return last + 1

    def _has(self, document_id: str) -> bool:
        condition = tables.one_of("document_id", [document_id])
        return bool(self._runs.count_rows(condition))

    def _read(self) -> np.ndarray[Any, np.dtype[np.uint64]]:
        import numpy as np

        found = np.empty(self._count, np.uint64)
        at = 0
        for batch in self._runs.to_batches(columns=["document_id"]):
            ids = batch.column(0).to_pylist()
            found[at : at + len(ids)] = np.fromiter(map(_digest, ids), np.uint64, len(ids))
            at += len(ids)
        found.sort()
        return found


def _digest(document_id: str) -> Any:
    import numpy as np

    return np.uint64(int.from_bytes(blake2b(document_id.encode(), digest_size=8).digest(), "big"))
