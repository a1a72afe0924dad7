"""The formats that are there: discovery, loading on demand, isolation of what is broken, hooks addressed to one plugin.

A plugin that cannot be imported, registered or used costs only itself, and is named with its distribution. Two
distributions that claim one id are a conflict: neither is used. Source: design.md, the four hooks.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, ValuesView
from contextlib import ExitStack, contextmanager
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pluggy

from hub import hookspecs
from hub.discovery import EXTENSIONS, EntryPoint, entry_points, normalised
from hub.errors import FormatError, HubError, Json, PluginError, Rule, UnknownFormat
from hub.hookspecs import API_VERSION, PROJECT, Detection, FormatInfo, Sample

if TYPE_CHECKING:
    from hub.reading import Document
    from hub.source import Source
    from hub.storyline.model import Storyline
    from hub.writing import WriteOptions

DISABLE = "HUB_DISABLE_PLUGINS"
"""Environment variable: format ids or distributions, separated by commas, that are not to be used."""

OWN = EntryPoint("storyline", "hub.storyline.plugin", "storyline-hub", "")
"""The hub's own format, a plugin like the others, but for its id, which no other can claim."""

OWN_EXTENSION = EntryPoint("redact", "hub.redaction", "storyline-hub", "")
"""The hub's own extension, of which no other can have the name."""

PACKAGES = {
    "actf": "storyline-hub-actf",
    "ale": "storyline-hub-ale",
    "atif": "storyline-hub-atif",
    "openai-messages": "storyline-hub-openai-messages",
    "openai-msg": "storyline-hub-openai-messages",
}
"""Distributions that read well-known formats, to be named when they are not installed."""

REQUIRED_HOOKS = ("format_info", "detect", "parse", "to_storyline")

Status = Literal["ok", "failing", "broken", "conflict", "disabled"]
"""`failing`: the plugin is used, but its `detect` raises, so that its format must be named."""

PROBES: tuple[Json, ...] = (
    {},
    [],
    None,
    "text",
    5,
    dict.fromkeys(("schema_version", "format", "version", "type", "messages", "steps", "turns")),
)
"""Records that anybody may ask a plugin about, to see whether it answers."""


class PluginState(NamedTuple):
    """How a declared plugin fares."""

    id: str
    status: Status
    origin: str
    """Distribution and version, or the path of a one-file plugin."""
    reason: str = ""
    kind: Literal["format", "extension", "command"] = "format"
    """What it adds to the hub."""


class _Manager(pluggy.PluginManager):
    """A manager that knows when its plugins change: what calls a hook of one of them is made once until then."""

    generation = 0

    def register(self, plugin: object, name: str | None = None) -> str | None:
        self.generation += 1
        return super().register(plugin, name)

    def unregister(self, plugin: object | None = None, name: str | None = None) -> Any:
        self.generation += 1
        return super().unregister(plugin, name)


class Format:
    """One format: its plugin's hooks, each guarded."""

    def __init__(self, plugin: object, origin: str, manager: _Manager) -> None:
        self._manager = manager
        self._plugin = plugin
        self._callers: dict[str, Callable[..., Any]] = {}
        self._generation = -1
        """That of the manager, for which the callers were made."""
        self.origin = origin
        missing = [hook for hook in REQUIRED_HOOKS if not self._implements(hook)]
        if missing:
            name = getattr(plugin, "__name__", plugin)
            raise FormatError(f"no @hookimpl for {', '.join(missing)} in {name}")
        info = self._hook("format_info")()
        if not isinstance(info, FormatInfo):
            raise FormatError(f"format_info returned {type(info).__name__}, not a FormatInfo")
        if info.api_version != API_VERSION:
            raise FormatError(
                f"made for version {info.api_version} of the hooks, this hub has {API_VERSION};"
                f" update {'storyline-hub' if info.api_version > API_VERSION else 'the plugin'}"
            )
        self.info: FormatInfo = info
        self.id: str = info.id

    def __repr__(self) -> str:
        return f"<Format {self.id} of {self.origin}>"

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Every rule that the plugin reports: the `rules` hook."""
        return tuple(self._each("rules"))

    @cached_property
    def can_write(self) -> bool:
        """Whether the plugin writes the format as well."""
        return self._implements("from_storyline")

    @property
    def can_attach(self) -> bool:
        """Whether the plugin takes inline payloads out of a document into files beside it."""
        return self._implements("attachments")

    def failure_to_detect(self) -> Exception | None:
        """Return what the plugin raises when it is asked about anything; None: it answers."""
        try:
            for record in PROBES:
                self.detect(Sample(None, "object", [record], complete=True, size=None))
            self.detect(Sample(None, "directory", ["a.json"], complete=True, size=None))
        except Exception as error:  # noqa: BLE001  # whatever it is
            return error
        return None

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
        with _Guard(self, "file_name"):
            name: str | None = self._hook("file_name")(document=document, options=options)
        return name

    def attachments(self, document: Json, options: WriteOptions) -> Iterator[tuple[str, bytes]]:
        """Yield the files taken out of *document*, by relative path: the `attachments` hook."""
        return self._each("attachments", document=document, options=options)

    def _implements(self, hook: str) -> bool:
        implementations = getattr(self._manager.hook, hook).get_hookimpls()
        return any(one.plugin is self._plugin for one in implementations)

    def _hook(self, name: str) -> Callable[..., Any]:
        """Return the hook *name* of this plugin alone; wrappers of plugins that are no formats still apply."""
        if self._generation != self._manager.generation:
            self._callers.clear()
            self._generation = self._manager.generation
        caller = self._callers.get(name)
        if caller is None:
            caller = self._callers[name] = self._subset(name)
        return caller

    def _subset(self, name: str) -> Callable[..., Any]:
        others = [
            plugin
            for plugin in self._manager.get_plugins()
            if plugin is not self._plugin and hasattr(plugin, "format_info")
        ]
        caller = self._manager.subset_hook_caller(name, remove_plugins=others)
        implementations = caller.get_hookimpls()
        if len(implementations) == 1 and not _is_wrapper(implementations[0]):
            return _direct(implementations[0])
        return caller

    def _each(self, name: str, **arguments: Any) -> Iterator[Any]:
        """Yield what the hook *name* gives."""
        with _Guard(self, name):
            yield from self._hook(name)(**arguments) or ()


class _Guard:
    """Names the plugin of *format*, and the hook, in any other error than the hub's own."""

    __slots__ = ("_format", "_hook")

    def __init__(self, format: Format, hook: str) -> None:
        self._format = format
        self._hook = hook

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(error, Exception | SystemExit) and not isinstance(error, HubError):
            plugin = self._format
            raise PluginError(
                f"the plugin {plugin.id!r} ({plugin.origin}) failed in {self._hook}: {described(error)};"
                f" this is a bug of the plugin{place_in_plugin(error)}"
            ) from error


class Formats(Mapping[str, Format]):
    """The formats by id (or alias), loaded when they are asked for."""

    def __init__(self, points: Iterable[EntryPoint] | None = None) -> None:
        self._manager = _Manager(PROJECT)
        self._manager.add_hookspecs(hookspecs)
        found = entry_points() if points is None else points
        self._plugins = [_Plugin(point, self._manager) for point in (OWN, *found)]
        self._loaded: dict[str, Format] = {}
        """Formats that were asked for and are usable, by id; usable they stay."""
        self._all: dict[str, Format] = {}
        """All that are usable, by id, once somebody has asked for all; sorted."""
        _refuse_disabled(self._plugins)
        _refuse_conflicts(self._plugins)

    def __iter__(self) -> Iterator[str]:
        """Yield the ids of the usable formats, sorted."""
        return (id_ for id_ in self.declared if self._named(id_))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def values(self) -> ValuesView[Format]:
        """Return the usable formats, sorted by id."""
        if not self._all:
            self._all = {id_: self[id_] for id_ in self}
        return self._all.values()

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and len(self._named(name)) == 1

    def __getitem__(self, name: str) -> Format:
        """Return the format *name*, an id or an alias.

        Raises:
            UnknownFormat: there is none of that name; the text says what comes near.
            FormatError: its plugin is broken or in conflict; the text says what to do.
        """
        found = self._named(name)
        if len(found) == 1:
            return found[0]
        is_unknown = not any(one.status != "disabled" for one in self._claimants(name))
        raise (UnknownFormat if is_unknown else FormatError)(self._why_not(name, found))

    def get(self, name: str, default: Any = None) -> Any:
        """Return the format *name*, an id or an alias; *default* where no usable one has that name."""
        found = self._named(name)
        return found[0] if len(found) == 1 else default

    @property
    def declared(self) -> list[str]:
        """Ids that some plugin declares, usable or not, but for disabled ones; sorted. Loads nothing."""
        return sorted({one.point.id for one in self._plugins if one.status != "disabled"})

    def states(self) -> list[PluginState]:
        """Return how each declared plugin fares; loads all of them."""
        return sorted(plugin.state() for plugin in self._plugins)

    def examined(self) -> list[PluginState]:
        """Return how each declared plugin fares when it is asked about something; loads all of them."""
        return [self._examined(state) for state in self.states()]

    def _examined(self, state: PluginState) -> PluginState:
        error = self[state.id].failure_to_detect() if state.status == "ok" else None
        if error is None:
            return state
        reason = (
            f"detect raises {described(error)}; the format is not detected, and has to be named"
        )
        return state._replace(status="failing", reason=reason)

    def refused(self) -> list[PluginState]:
        """Return the plugins that are broken or in conflict, as far as that is known; loads none."""
        refused = [one for one in self._plugins if one.status in ("broken", "conflict")]
        return sorted(plugin.state() for plugin in refused)

    def failure(self, id_: str) -> BaseException | None:
        """Return the error that made the plugin of *id_* unusable, for a full trace."""
        found = self._usable(id_)
        if found is not None:
            return found.failure_to_detect()
        return next((one.error for one in self._claimants(id_) if one.error is not None), None)

    def register(self, plugin: object) -> None:
        """Add *plugin*, which is no format: its hook wrappers apply to every format.

        Raises:
            FormatError: it is none, say, for a hook that the hub does not have.
        """
        try:
            _register(self._manager, plugin)
        except (FormatError, pluggy.PluginValidationError, TypeError) as error:
            raise FormatError(described(error)) from error

    @contextmanager
    def extended(self, names: Iterable[str]) -> Iterator[None]:
        """Use extensions (group `storyline_hub.extensions`) for a while: their hook wrappers apply to every format.

        Raises:
            UnknownFormat: none is called so.
            FormatError: it cannot be used; the text says why.
        """
        with ExitStack() as stack:
            for name in dict.fromkeys(names):
                stack.callback(self._manager.unregister, self._extension(name))
            yield

    def extensions(self) -> list[PluginState]:
        """Return how each extension fares that is installed; loads all of them."""
        return [self._state_of_extension(point) for point in _extension_points()]

    def _state_of_extension(self, point: EntryPoint) -> PluginState:
        from hub import __version__

        origin = f"{point.distribution} {__version__}" if point is OWN_EXTENSION else str(point)
        error = self.failure_of_extension(point.id)
        if error is None:
            return PluginState(point.id, "ok", origin, "", "extension")
        status: Status = "conflict" if isinstance(error, UnknownFormat) else "broken"
        return PluginState(point.id, status, origin, described(error), "extension")

    def failure_of_extension(self, name: str) -> HubError | None:
        """Return the error that keeps the extension *name* from being used; None: nothing does."""
        try:
            with self.extended([name]):
                return None
        except HubError as error:
            return error

    def _extension(self, name: str) -> object:
        """Register the extension *name*, and return it."""
        points = _extension_points()
        found = [one for one in points if one.id == name]
        if len(found) != 1:
            installed = ", ".join(sorted({one.id for one in points}))
            claims = " and ".join(map(str, found))
            what = f"{claims} claim" if found else "no extension is called"
            raise UnknownFormat(f"{what} {name!r}; installed: {installed}")
        try:
            plugin = resolved(found[0])
            if hasattr(plugin, "format_info"):
                raise FormatError("it is a format, and no extension")
            _register(self._manager, plugin)
        except (Exception, SystemExit) as error:
            raise FormatError(
                f"the extension {name!r} of {found[0]} cannot be used: {described(error)}"
            ) from error
        return plugin

    def add_file(self, path: str) -> Format:
        """Load the one-file plugin at *path* (`--plugin path.py`), once, and return its format.

        Raises:
            FormatError: the file cannot be loaded, or its id is taken.
        """
        known = next((one for one in self._plugins if one.point.distribution == path), None)
        if known is not None and known.format is not None:
            return known.format
        name = f"hub_plugin_{len(self._plugins)}"
        try:
            module = _module_of_file(path, name)
            found = _registered(self._manager, module, path, self._check_free)
        except (Exception, SystemExit) as error:
            sys.modules.pop(name, None)
            raise FormatError(f"the plugin {path} cannot be used: {described(error)}") from error
        plugin = _Plugin(EntryPoint(found.id, name, path, ""), self._manager)
        plugin.format = found
        self._plugins.append(plugin)
        self._all = {}
        return found

    def _check_free(self, found: Format) -> None:
        """Refuse the format of a one-file plugin whose id is taken."""
        taken = next((one for one in self._claimants(found.id) if one.status != "disabled"), None)
        if taken is None:
            return
        is_installed = taken.point is not OWN and taken.point.version
        way_out = f"; set {DISABLE}={taken.point.distribution}" if is_installed else ""
        raise FormatError(f"its id {found.id!r} is that of {taken.origin}{way_out}")

    def _claimants(self, id_: str) -> list[_Plugin]:
        return [plugin for plugin in self._plugins if plugin.point.id == id_]

    def _usable(self, id_: str) -> Format | None:
        """Return the format *id_*, loading it once; None when it is not usable."""
        loaded = (plugin.load() for plugin in self._claimants(id_))
        return next((found for found in loaded if found is not None), None)

    def _named(self, name: str) -> list[Format]:
        """Return the format with the id *name*, or those that it is an alias of, if they are usable."""
        loaded = self._loaded.get(name)
        if loaded is not None:
            return [loaded]
        if name in self.declared:
            found = self._usable(name)
            if found is not None:
                self._loaded[name] = found
            return [] if found is None else [found]
        return [one for one in self.values() if name in (*one.info.aliases, one.info.source)]

    def _why_not(self, name: str, found: list[Format]) -> str:
        if found:
            return f"{name!r} is an alias of {' and of '.join(one.id for one in found)}; use the id"
        claimants = self._claimants(name)
        refused = [one for one in claimants if one.status != "disabled"]
        if refused:
            origin = f" of {refused[0].origin}" if len(refused) == 1 else ""
            return f"the format {name!r}{origin} cannot be used: {refused[0].reason}"
        installed = f"installed: {', '.join(self) or 'none'}"
        if claimants:
            return f"the format {name!r} is disabled by {DISABLE}; {installed}"
        if name in PACKAGES:
            return f"the format {name!r} is not installed; pip install {PACKAGES[name]} adds it; {installed}"
        return f"no format named {name!r}{self._hint(name)}; {installed}"

    def _hint(self, name: str) -> str:
        from difflib import get_close_matches

        names = {alias for one in self.values() for alias in (one.id, *one.info.aliases)}
        nearest = get_close_matches(name.lower(), sorted(names | PACKAGES.keys()), n=3, cutoff=0.5)
        return f" (did you mean {' or '.join(nearest)}?)" if nearest else ""


def _extension_points() -> list[EntryPoint]:
    return list(dict.fromkeys([OWN_EXTENSION, *entry_points(EXTENSIONS)]))


class _Plugin:
    """A declared plugin, and how it fares: ok until it is refused."""

    def __init__(self, point: EntryPoint, manager: _Manager) -> None:
        self.point = point
        self.format: Format | None = None
        self.status: Status = "ok"
        self.reason = ""
        self.error: BaseException | None = None
        self._manager = manager

    @property
    def origin(self) -> str:
        """Distribution and version, or the path of a one-file plugin."""
        if self.point is OWN:
            from hub import __version__

            return f"{OWN.distribution} {__version__}"
        return str(self.point)

    def refuse(self, status: Status, reason: str, error: BaseException | None = None) -> None:
        self.status, self.reason, self.error = status, reason, error

    def load(self) -> Format | None:
        """Return the format, loading it once; a plugin that is refused, or broken, has none."""
        if self.format is None and self.status == "ok":
            try:
                plugin = resolved(self.point)
                self.format = _registered(self._manager, plugin, self.origin, self._check_id)
            except (Exception, SystemExit) as error:  # noqa: BLE001  # a broken plugin costs only itself
                self.refuse("broken", described(error), error)
        return self.format

    def state(self) -> PluginState:
        self.load()
        return PluginState(self.point.id, self.status, self.origin, self.reason)

    def _check_id(self, found: Format) -> None:
        if found.id != self.point.id:
            raise FormatError(
                f"format_info names the id {found.id!r}, the entry point {self.point.id!r}"
            )


def is_disabled(point: EntryPoint) -> bool:
    """Tell whether the environment says that what *point* declares is not to be used."""
    names = {normalised(name.strip()) for name in os.environ.get(DISABLE, "").split(",")} - {""}
    return bool(names & {normalised(point.id), normalised(point.distribution)})


def _refuse_disabled(plugins: Iterable[_Plugin]) -> None:
    for plugin in plugins:
        if plugin.point is not OWN and is_disabled(plugin.point):
            plugin.refuse("disabled", f"{DISABLE} names it")


def _refuse_conflicts(plugins: Iterable[_Plugin]) -> None:
    """Refuse all claimants of an id that several have; the hub's own id is not to be had."""
    claims: dict[str, list[_Plugin]] = {}
    for plugin in plugins:
        if plugin.status == "ok":
            claims.setdefault(plugin.point.id, []).append(plugin)
    for id_, claimants in claims.items():
        if len(claimants) < 2:  # noqa: PLR2004  # no conflict
            continue
        rivals = [one for one in claimants if one.point is not OWN]
        origins = " and ".join(one.origin for one in claimants)
        names = " or ".join(one.point.distribution for one in rivals)
        for rival in rivals:
            reason = f"{origins} claim {id_!r}; uninstall one, or set {DISABLE} to {names}"
            rival.refuse("conflict", reason)


def resolved(point: EntryPoint) -> object:
    """Return the object that an entry point names: a module, or with a colon something in it."""
    module, _, path = point.module.partition(":")
    found: object = importlib.import_module(module.strip())
    for name in filter(None, path.strip().split(".")):
        found = getattr(found, name)
    return found


def _module_of_file(path: str, name: str) -> object:
    """Return the module that the file at *path* makes, as *name*."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not os.path.isfile(path):  # noqa: PTH113  # lighter
        raise FormatError(f"no Python file at {path!r}")
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _registered(
    manager: _Manager,
    plugin: object,
    origin: str,
    check: Callable[[Format], None],
) -> Format:
    """Return the format of *plugin*, registered; one that is refused is not left in *manager*."""
    _register(manager, plugin)
    try:
        found = Format(plugin, origin, manager)
        check(found)
    except BaseException:
        manager.unregister(plugin)
        raise
    return found


def _is_wrapper(implementation: pluggy.HookImpl) -> bool:
    return implementation.wrapper or implementation.hookwrapper


def _direct(implementation: pluggy.HookImpl) -> Callable[..., Any]:
    """Return what calls the only *implementation* of a hook of which the first result counts, with what it takes."""
    function, names = implementation.function, implementation.argnames

    def call(**arguments: Any) -> Any:
        return function(*[arguments[name] for name in names])

    return call


def _register(manager: _Manager, plugin: object) -> None:
    """Add *plugin* to *manager*, unless it has hooks of another name or with other arguments."""
    hash(
        plugin
    )  # a TypeError: pluggy takes it now, and fails with every plugin that is called later
    if plugin is None or manager.is_registered(plugin):
        raise FormatError("it is the object of another plugin, or none")
    try:
        manager.register(plugin)
        manager.check_pending()
    except pluggy.PluginValidationError:
        if manager.is_registered(plugin):
            manager.unregister(plugin)
        raise


def described(error: BaseException) -> str:
    """Return *error* in one line."""
    text = str(error) if isinstance(error, HubError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split()).rstrip(": ")


def place_in_plugin(error: BaseException) -> str:
    """Return where *error* arose, in the deepest code that is neither the hub's nor pluggy's."""
    import traceback
    from pathlib import Path

    own = str(Path(__file__).parent)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith((own, "<")) and "pluggy" not in frame.filename:
            return f" (at {frame.filename}:{frame.lineno}, {frame.name})"
    return ""
