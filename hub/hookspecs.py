"""The four hooks that a format plugin implements, and the plain values that they exchange.

A plugin is a module, registered under the entry-point group `storyline_hub.formats`; the entry point's name is the
format id. It implements `format_info`, `detect`, `parse`, `to_storyline`, and, unless the format is only read,
`from_storyline`.

The values here are named tuples, not attrs classes: `hub detect` loads every plugin and nothing that is slow to import.

Source: design.md, the four hooks; detection.md 1; carrier.md 2.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pluggy

from hub.errors import Json, Rule

if TYPE_CHECKING:
    from hub.reading import Document
    from hub.source import Source
    from hub.storyline.model import Storyline
    from hub.writing import WriteOptions

PROJECT = "storyline_hub"
API_VERSION = 1
"""Version of the hooks; a plugin that names another one is not loaded."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a function of a plugin as the hook of its name."""


class Option(NamedTuple):
    """A `--option name=value` that a format understands, when it is read or when it is written."""

    name: str
    help: str
    side: Literal["read", "write"] = "write"
    choices: tuple[str, ...] = ()
    """The only values allowed; empty: any text."""


class FormatInfo(NamedTuple):
    """What the hub must know of a format before any file is seen: pure data."""

    id: str
    title: str
    reads: tuple[str, ...] = ()
    """Versions of the format that are read, for people: `("ACTF_v1.0",)`."""
    writes: tuple[str, ...] = ()
    """Versions that are written; empty for a format that is only read."""
    aliases: tuple[str, ...] = ()
    source_name: str = ""
    """Name in `origin.format` and in `unknown_fields`; the id when empty (storyline.md, names)."""
    suffixes: tuple[str, ...] = ()
    """Compound suffixes that hint at the format, such as `.actf.json`; the first is used for new files."""
    nodes: tuple[str, ...] = ()
    """Pointer patterns of the objects that hold one Storyline each: carrier.md 2.

    `/*` are the records of a document that is an array, never the members of one that is an object."""
    envelope: tuple[str, ...] = ()
    """Places of the envelope relative to the node, in order of preference; empty: no place."""
    batch: Literal["document", "input"] = "document"
    """What one call of `from_storyline` gets when *this* format is read: carrier.md 1, batch.

    With `input`, families may be spread over its documents: those come together that name each other, and all the rest
    behind a Storyline that names one that is not there.
    """
    gathers: bool = False
    """Whether one written document may hold Storylines of several source documents, such as the attempts of one task:
    the writer then gets those of the whole input at once, unless they were read from its own format."""
    options: tuple[Option, ...] = ()
    api_version: int = API_VERSION

    @property
    def source(self) -> str:
        """Name of the format inside documents."""
        return self.source_name or self.id


class Sample(NamedTuple):
    """The bounded head of an input that `detect` decides from: detection.md 1."""

    name: str | None
    container: Literal["object", "array", "lines", "text", "directory"]
    records: list[Json]
    """Up to 8 records, cut; for a directory the relative paths of its files."""
    complete: bool
    """True when nothing was cut; otherwise a missing member proves nothing."""
    size: int | None


class Detection(NamedTuple):
    """A plugin's answer: how sure it is (1 to 100, see detection.md 1), and the decisive evidence."""

    confidence: int
    reason: str
    variant: str | None = None


@hookspec(firstresult=True)
def format_info() -> FormatInfo:
    """Describe the format.

    @hookimpl
    def format_info() -> FormatInfo:
        return FormatInfo(id="log", title="Chat log", reads=("1",), nodes=("",), envelope=("/_storyline",))
    """
    raise NotImplementedError


@hookspec(firstresult=True)
def rules() -> Iterable[Rule]:
    """Name every rule that the plugin reports, for `hub formats ID` and for rule catalogues; optional.

    Apart from `format_info`, because detection asks that of every plugin and should not have to load rules.

        @hookimpl
        def rules() -> Iterable[Rule]:
            return (Rule("log.entry", "error", "an object with who and says"),)
    """
    raise NotImplementedError


@hookspec(firstresult=True)
def detect(sample: Sample) -> Detection | None:
    """Say how sure the plugin is that *sample* is its format, and why; None if it is not.

    Called with a bounded head of the input. Must not open files. For arrays and lines the answer is for all
    records shown.

        @hookimpl
        def detect(sample: Sample) -> Detection | None:
            if all(isinstance(record, dict) and record.get("log_version") == 1 for record in sample.records):
                return Detection(100, "log_version 1 at /")
            return None
    """
    raise NotImplementedError


@hookspec(firstresult=True)
def parse(source: "Source") -> "Iterable[Document[Any]]":
    """Turn the records of *source* into documents of the format, lazily, in order.

    A document holds the format's own model of one source document, and every problem found in it. One whose
    problems are fatal is yielded all the same (its value is not used), so that the next record is still read.

        @hookimpl
        def parse(source: Source) -> Iterator[Document]:
            for record in source.records():
                yield Document(record.value, record=record)
    """
    raise NotImplementedError


@hookspec(firstresult=True)
def to_storyline(document: "Document[Any]") -> "Iterable[Storyline]":
    """Map one parsed document to the Storylines it holds, in document order.

    The document is what this plugin's `parse` yielded; it has no fatal problem. Problems that only the mapping
    finds are added to it. Values that no Storyline field takes become residuals under their pointer in the
    source document; nothing is left out. Each Storyline's `node` is the pointer of its node in the document.

        @hookimpl
        def to_storyline(document: Document) -> Iterator[Storyline]:
            log = document.value
            yield Storyline(
                session_id=log["title"],
                agent=Agent(agent_id="log"),
                origin=Origin(format="log"),
                turns=[
                    Turn(turn_id=position, source=entry["who"], message=entry["says"])
                    for position, entry in enumerate(log["entries"], start=1)
                ],
            )
    """
    raise NotImplementedError


@hookspec(firstresult=True)
def from_storyline(
    storylines: "Iterable[Storyline]", options: "WriteOptions"
) -> Iterable[Json | bytes]:
    """Map the Storylines of one batch to documents of the format, in order.

    What is yielded is JSON (or bytes, for a format that is none) which passes the format owner's strict
    validator. Warnings go to `options.warn`, native residuals that found no place to `options.unplaced`. The
    Storylines are not changed.

        @hookimpl
        def from_storyline(storylines: Iterable[Storyline], options: WriteOptions) -> Iterator[Json]:
            for storyline in storylines:
                yield {
                    "log_version": 1,
                    "title": storyline.session_id,
                    "entries": [{"who": turn.source, "says": turn.message} for turn in storyline.turns],
                }
    """
    raise NotImplementedError


@hookspec(firstresult=True)
def file_name(document: Json, options: "WriteOptions") -> str | None:
    """Name the file of a written document below an output directory; optional.

    The path is relative, with `/` between its parts. Documents of one output whose paths are equal get `-2`,
    `-3`, ... behind the folder that holds the file (behind the stem of a file without a folder): the hub
    numbers them, for every format. Without this hook, or with None, the hub makes a name from the document's
    place in the input.

        @hookimpl
        def file_name(document: Json, options: WriteOptions) -> str:
            return f"{document['title']}/log.json"
    """
    raise NotImplementedError


@hookspec(firstresult=True)
def attachments(document: Json, options: "WriteOptions") -> Iterable[tuple[str, bytes]] | None:
    """Take inline payloads out of a written document, and return the files to be put beside it; optional.

    Each payload is replaced, in *document* itself, by a relative path; the files are pairs of that path and the
    bytes. A path never leaves the folder of the document, and no part of it comes from the document's text.
    Called before the document is read back, and only when asked for (`--extract-images`). What cannot be taken
    out stays, with a warning to `options.warn`.

        @hookimpl
        def attachments(document: Json, options: WriteOptions) -> Iterator[tuple[str, bytes]]:
            for entry in document["entries"]:
                if picture := entry.pop("picture", None):
                    options.attached += 1
                    entry["picture_path"] = f"pictures/{options.attached:04}.png"
                    yield entry["picture_path"], base64.b64decode(picture)
    """
    raise NotImplementedError
