"""Files that are made on this machine, and put elsewhere when all of them are complete."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence

from hub import remote
from hub.errors import UsageError
from hub.staging import Area, Staging


class Uploading(Staging):
    """The files below the folder at a URL: each appears as a whole, one after another."""

    def __init__(
        self, url: str, *, force: bool, inputs: Sequence[str], area: Area | None = None
    ) -> None:
        """Plan files below the folder at *url*; see `Staging`."""
        remote.refuse_read_only(url)
        super().__init__("", force=force, inputs=inputs, make=False, area=area or Area(url, ""))
        self._url = url.rstrip("/")
        self._spool: str | None = None
        """A folder of this machine, in which the files are made."""

    @property
    def paths(self) -> list[str]:
        """URLs that the files get, in the order they were written."""
        return [f"{self._url}/{name}" for name in self._staged]

    def check(self, name: str) -> str:
        """Return the URL that the file *name* gets.

        Raises:
            UsageError: it is an input, or it is there already and is not to be replaced.
            HubError: that cannot be found out.
        """
        url = f"{self._url}/{name}"
        self._checked = name
        if url in self._inputs:
            raise UsageError(f"{url}: the output is the input {url}")
        if not self._force and remote.exists(url):
            raise UsageError(f"{url}: exists; --force replaces it")
        return url

    def commit(self) -> None:
        """Put every file where it belongs.

        Raises:
            UsageError: as `check`.
            HubError: it cannot be put there; those that were put before it stay.
        """
        for name, temporary in self._staged.items():
            url = self.check(name)
            remote.put(temporary, url)
        self.discard()

    def discard(self) -> None:
        """Remove what is on this machine."""
        if self._spool is not None:
            shutil.rmtree(self._spool, ignore_errors=True)
            self._spool = None

    def _temporary(self) -> str:
        if self._spool is None:
            place = self._area.temporary if self._area is not None else None
            self._spool = tempfile.mkdtemp(prefix="storyline-hub-", dir=place or None)
        return os.path.join(self._spool, str(len(self._staged)))
