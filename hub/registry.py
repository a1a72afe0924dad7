"""The formats that are there: discovery, loading on demand, isolation of what is broken, and a plugin's hooks addressed.

A plugin that cannot be imported, registered or used costs only itself, and is named with its distribution. Two distributions
that claim one id are a conflict: neither is used. Source: design.md, the four hooks.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pluggy

from hub import hookspecs
from hub.discovery import EntryPoint, entry_points
from hub.errors import FormatError, HubError, Json, PluginError
from hub.hookspecs import API_VERSION, PROJECT, Detection, FormatInfo, Sample

if TYPE_CHECKING:
    from hub.reading import Document
    from hub.source import Source
    from hub.storyline.model import Storyline
    from hub.writing import WriteOptions

DISABLE = "HUB_DISABLE_PLUGINS"
"""Environment variable: format ids or distributions, separated by commas, that are not to be used."""

OWN = EntryPoint("storyline", "hub.storyline.plugin", "storyline-hub", "")
"""The hub's own format, a plugin like the others."""

PACKAGES = {
    "actf": "storyline-hub-actf",
    "ale": "storyline-hub-ale",
    "atif": "storyline-hub-atif",
    "openai-messages": "storyline-hub-openai-messages",
    "openai-msg": "storyline-hub-openai-messages",
}
"""Distributions that read well-known formats, to be named when they are not installed."""

REQUIRED_HOOKS = ("format_info", "detect", "parse", "to_storyline")

Status = Literal["ok", "broken", "conflict", "disabled"]


class PluginState(NamedTuple):
    """How a declared plugin fares."""

    id: str
    status: Status
    origin: str
    """Distribution and version, or the path of a one-file plugin."""
    reason: str = ""


class Format:
    """One format: its plugin's hooks, each guarded."""

    def __init__(self, plugin: object, origin: str, manager: pluggy.PluginManager) -> None:
        self._manager = manager
        self._plugin = plugin
        self.origin = origin
        info = self._hook("format_info")()
        if not isinstance(info, FormatInfo):
            raise FormatError(f"format_info returned {type(info).__name__}, not a FormatInfo")
        self.info: FormatInfo = info
        self.id: str = info.id

    def __repr__(self) -> str:
        return f"<Format {self.id} of {self.origin}>"

    @property
    def can_write(self) -> bool:
        """Whether the plugin writes the format as well."""
        return self._implements("from_storyline")

    def detect(self, sample: Sample) -> Detection | None:
        """Ask the plugin whether *sample* is its format; raises whatever the plugin raises."""
        answer: Detection | None = self._hook("detect")(sample=sample)
        return answer

    def parse(self, source: Source) -> Iterator[Document[Any]]:
        """Yield the documents of *source*: the `parse` hook."""
        return self._each("parse", source=source)

    def to_storyline(self, document: Document[Any]) -> Iterator[Storyline]:
        """Yield the Storylines of *document*: the `to_storyline` hook."""
        return self._each("to_storyline", document=document)

    def from_storyline(
        self, storylines: Iterable[Storyline], options: WriteOptions
    ) -> Iterator[Json | bytes]:
        """Yield the documents made of *storylines*: the `from_storyline` hook."""
        if not self.can_write:
            raise FormatError(f"the format {self.id!r} is only read, not written")
        return self._each("from_storyline", storylines=storylines, options=options)

    def file_name(self, document: Json, options: WriteOptions) -> str | None:
        """Return the relative path that the plugin gives *document* in a directory: the `file_name` hook."""
        name: str | None = self._hook("file_name")(document=document, options=options)
        return name

    def attachments(self, document: Json, options: WriteOptions) -> Iterator[tuple[str, bytes]]:
        """Yield the files taken out of *document*, by relative path: the `attachments` hook."""
        return self._each("attachments", document=document, options=options)

    def _implements(self, hook: str) -> bool:
        return any(
            implementation.plugin is self._plugin
            for implementation in getattr(self._manager.hook, hook).get_hookimpls()
        )

    def _hook(self, name: str) -> Callable[..., Any]:
        """Return the hook *name* of this plugin alone; wrappers of plugins that are no formats still apply."""
        others = [
            plugin
            for plugin in self._manager.get_plugins()
            if plugin is not self._plugin and hasattr(plugin, "format_info")
        ]
        return self._manager.subset_hook_caller(name, remove_plugins=others)

    def _each(self, name: str, **arguments: Any) -> Iterator[Any]:
        """Yield what the hook *name* gives; any other error than the hub's own names the plugin."""
        try:
            yield from self._hook(name)(**arguments) or ()
        except (HubError, GeneratorExit, KeyboardInterrupt):
            raise
        except Exception as error:
            what = f"{type(error).__name__}: {error}".rstrip(": ")
            raise PluginError(
                f"the plugin {self.id!r} ({self.origin}) failed in {name}: {what}; this is a bug of the plugin"
            ) from error


class Formats(Mapping[str, Format]):
    """The formats by id (or alias), loaded when they are asked for."""

    def __init__(self, points: Iterable[EntryPoint] | None = None) -> None:
        self._points = [OWN, *(entry_points() if points is None else points)]
        self._manager = pluggy.PluginManager(PROJECT)
        self._manager.add_hookspecs(hookspecs)
        self._loaded: dict[str, Format] = {}
        self._failures: dict[str, tuple[str, BaseException | None]] = {}
        self._claims: dict[str, list[EntryPoint]] = {}
        self._disabled: list[EntryPoint] = []
        disabled = {name.strip().lower() for name in os.environ.get(DISABLE, "").split(",")}
        for point in self._points:
            if point is not OWN and {point.id, point.distribution} & disabled:
                self._disabled.append(point)
            else:
                self._claims.setdefault(point.id, []).append(point)

    def __iter__(self) -> Iterator[str]:
        """Yield the ids of the usable formats, sorted."""
        return (id_ for id_ in sorted(self._claims) if self._try(id_) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def __getitem__(self, name: str) -> Format:
        """Return the format *name*, an id or an alias.

        Raises:
            FormatError: there is none, or its plugin is broken or in conflict; the text says what to do.
        """
        found = self._find(name)
        if found is not None:
            return found
        raise FormatError(self._why_not(name))

    @property
    def declared(self) -> list[str]:
        """Ids that some plugin declares, usable or not, sorted; loads nothing."""
        return sorted(self._claims)

    def states(self) -> list[PluginState]:
        """Return how each declared plugin fares; loads all of them."""
        states = [
            PluginState(point.id, "disabled", str(point), f"{DISABLE} names it")
            for point in self._disabled
        ]
        for id_, points in self._claims.items():
            usable = self._try(id_) is not None
            for point in points:
                reason = (
                    ""
                    if usable and point is points[0]
                    else self._failures[self._key(point, id_)][0]
                )
                status: Status = (
                    "ok"
                    if not reason
                    else "conflict"
                    if len(points) > 1 and id_ != OWN.id
                    else "broken"
                )
                states.append(PluginState(id_, status, _origin(point), reason))
        return sorted(states)

    def failure(self, id_: str) -> BaseException | None:
        """Return the error that made the plugin of *id_* unusable, for a full trace."""
        self._try(id_)
        found = [
            error for key, (_, error) in self._failures.items() if key.partition(" ")[0] == id_
        ]
        return next((error for error in found if error is not None), None)

    def add_file(self, path: str) -> Format:
        """Load the one-file plugin at *path* (`--plugin path.py`), once, and return its format.

        Raises:
            FormatError: the file cannot be loaded, or its id is taken.
        """
        from importlib.util import module_from_spec, spec_from_file_location

        known = next((point for point in self._points if point.distribution == path), None)
        if known is not None:
            return self[known.id]
        name = f"hub_plugin_{len(self._points)}_{os.path.basename(path).partition('.')[0]}"  # noqa: PTH119
        spec = spec_from_file_location(name, path)
        if spec is None or spec.loader is None or not os.path.isfile(path):  # noqa: PTH113
            raise FormatError(f"no Python file at {path!r}")
        module = module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
            info = module.format_info()
            point = EntryPoint(info.id, name, path, "")
            taken = self._claims.get(point.id)
            if taken:
                raise FormatError(
                    f"its id {point.id!r} is that of {_origin(taken[0])}; {_ways_out(taken[0])}"
                )
            self._points.append(point)
            self._claims[point.id] = [point]
            return self._load(point)
        except (Exception, SystemExit) as error:
            raise FormatError(f"the plugin {path} cannot be used: {_describe(error)}") from error

    def _find(self, name: str) -> Format | None:
        if name in self._claims:
            return self._try(name)
        named = [
            one for one in self.values() if name in one.info.aliases or name == one.info.source
        ]
        if len(named) > 1:
            raise FormatError(
                f"{name!r} is an alias of {' and of '.join(one.id for one in named)}; use the id"
            )
        return named[0] if named else None

    def _try(self, id_: str) -> Format | None:
        """Return the format *id_*, loading it once; None when it is not usable, with the reason kept."""
        if id_ in self._loaded:
            return self._loaded[id_]
        points = self._claims.get(id_, [])
        if not points or any(self._key(point, id_) in self._failures for point in points[:1]):
            return None
        if len(points) > 1:
            self._refuse(id_, points)
            if id_ != OWN.id:
                return None
        try:
            return self._load(points[0])
        except (Exception, SystemExit) as error:  # noqa: BLE001  # a broken plugin costs only itself
            self._failures[self._key(points[0], id_)] = (_describe(error), error)
            return None

    def _refuse(self, id_: str, points: list[EntryPoint]) -> None:
        """Keep the conflict of *points*, which claim one id; the hub's own id is not to be had."""
        names = " and ".join(_origin(point) for point in points)
        for point in points:
            if point is not OWN:
                reason = f"{names} both claim {id_!r}; {_ways_out(point)}"
                self._failures[self._key(point, id_)] = (reason, None)

    @staticmethod
    def _key(point: EntryPoint, id_: str) -> str:
        return f"{id_} {_origin(point)}"

    def _load(self, point: EntryPoint) -> Format:
        module = importlib.import_module(point.module.replace(":", "."))
        self._manager.register(module, name=f"{point.id} {point.module}")
        try:
            self._manager.check_pending()
            found = Format(module, _origin(point), self._manager)
            _check(found, point, module)
        except BaseException:
            self._manager.unregister(module)
            raise
        self._loaded[point.id] = found
        return found

    def _why_not(self, name: str) -> str:
        points = self._claims.get(name)
        if points:
            reasons = [
                self._failures[key][0]
                for point in points
                if (key := self._key(point, name)) in self._failures
            ]
            return f"the format {name!r} of {' and '.join(map(_origin, points))} cannot be used: {'; '.join(reasons)}"
        installed = ", ".join(self) or "none"
        if any(name == point.id for point in self._disabled):
            return f"the format {name!r} is disabled by {DISABLE}; installed: {installed}"
        if name in PACKAGES:
            return f"the format {name!r} is not installed; pip install {PACKAGES[name]} adds it; installed: {installed}"
        from difflib import get_close_matches

        names = {
            alias for one in self.values() for alias in (one.id, *one.info.aliases)
        } | PACKAGES.keys()
        nearest = get_close_matches(name.lower(), sorted(names), n=3, cutoff=0.5)
        hint = f" (did you mean {' or '.join(nearest)}?)" if nearest else ""
        return f"no format named {name!r}{hint}; installed: {installed}"


def _check(found: Format, point: EntryPoint, module: object) -> None:
    """Refuse a plugin that is not what its entry point promises."""
    info = found.info
    if info.api_version != API_VERSION:
        raise FormatError(
            f"made for version {info.api_version} of the hooks, this hub has {API_VERSION}"
        )
    if info.id != point.id:
        raise FormatError(f"format_info names the id {info.id!r}, the entry point {point.id!r}")
    missing = [hook for hook in REQUIRED_HOOKS if not found._implements(hook)]  # noqa: SLF001
    if missing:
        raise FormatError(
            f"no @hookimpl for {', '.join(missing)} in {getattr(module, '__name__', module)}"
        )


def _origin(point: EntryPoint) -> str:
    if point is OWN:
        from hub import __version__

        return f"{point.distribution} {__version__}"
    return f"{point.distribution} {point.version}".strip()


def _ways_out(point: EntryPoint) -> str:
    return f"uninstall one, or set {DISABLE}={point.distribution}"


def _describe(error: BaseException) -> str:
    if isinstance(error, HubError):
        return str(error)
    return f"{type(error).__name__}: {error}".rstrip(": ")
