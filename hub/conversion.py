"""Reading, writing and converting: one short function a stage.

    bytes --source--> records --parse--> documents --to_storyline--> Storylines
          --from_storyline--> documents --sink--> bytes

Source: design.md; validation.md 1, 2.4 and 9; carrier.md 1 (batch).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from hub.envelope import bounded, take
from hub.errors import MISSING, Json, PluginError, Problem, UsageError
from hub.hookspecs import FormatInfo, Option
from hub.input_rules import UNREAD
from hub.pointer import unescape
from hub.reading import Document, Record
from hub.registry import Format
from hub.residuals import CARRIER, UNPLACED, equal
from hub.source import Source
from hub.storyline.model import Storyline
from hub.writing import WriteOptions

CONFORM = Option(
    "conform",
    "write what the format owner's validator accepts, also for Storylines of the format's own",
    "write",
    ("yes", "no"),
)
"""The write option that every format has: residuals.md 5."""


class Reading(NamedTuple):
    """One source document after reading: its Storylines, and every problem found in it."""

    storylines: list[Storyline]
    problems: list[Problem]
    document: Document[Any] | None = None
    """What it was read of."""

    @property
    def source(self) -> Json:
        """The JSON that was read, where nothing else had a part in it: no envelope, zone or option; else `MISSING`."""
        record = Record(MISSING) if self.document is None else self.document.record
        is_alone = not (record.envelopes or record.zone or record.options)
        return record.value if is_alone else MISSING

    @property
    def is_fatal(self) -> bool:
        """Whether the document was refused."""
        return any(problem.severity == "fatal" for problem in self.problems)


# Reading


def read_documents(format: Format, source: Source, *, strict: bool = False) -> Iterator[Reading]:
    """Yield what is read of each document of *source*, lazily, refused ones included.

    *strict* makes every error fatal.
    """
    for document in parsed_documents(format, source):
        yield read_document(format, document, strict=strict)
    if source.is_directory and (unread := source.unread()):
        more = ", ..." if len(unread) > _SHOWN else ""
        files = "1 file is" if len(unread) == 1 else f"{len(unread)} files are"
        message = f"{files} no part of what {format.id} reads in a directory: {', '.join(unread[:_SHOWN])}{more}"
        source.problems.append(UNREAD.at("", message=message))


_SHOWN = 3
"""So many files are named in a message."""


def parsed_documents(format: Format, source: Source) -> Iterator[Document[Any]]:
    """Yield the documents of *source*, lazily, the envelopes taken out of their records."""
    source.prepare = partial(_take_envelopes, info=format.info, limit=source.limits.envelope)
    return format.parse(source)


def _take_envelopes(record: Record, info: FormatInfo, limit: int) -> None:
    record.envelopes = take(record.value, info)
    # No envelope is longer than the text it stands in, but for numbers that are written longer than they were.
    if record.envelopes and (record.extent or 0) > limit:
        record.envelopes = [bounded(one, limit) for one in record.envelopes]


def read_document(format: Format, document: Document[Any], *, strict: bool = False) -> Reading:
    """Return the Storylines of one parsed *document*, with what its envelopes carried."""
    storylines: list[Storyline] = []
    if not document.is_fatal:
        storylines = list(format.to_storyline(document))
        _open_envelopes(format, document, storylines)
    problems = _in_order(document.problems, document.record.value)
    if strict:
        problems = [
            problem._replace(severity="fatal") if problem.severity == "error" else problem
            for problem in problems
        ]
    if place := document.record.place:
        problems = [problem._replace(document=place) for problem in problems]
    reading = Reading(storylines, problems, document)
    return reading._replace(storylines=[]) if reading.is_fatal else reading


def _open_envelopes(format: Format, document: Document[Any], storylines: list[Storyline]) -> None:
    """Give *storylines* what the envelopes of *document* hold, and what came as a residual though it is a carrier."""
    envelopes = document.record.envelopes
    if not envelopes and not any(CARRIER in one.unknown_fields for one in storylines):
        return
    from hub.envelope import open_all
    from hub.opening import open_into

    opened = open_all(envelopes, format.info, document.aliases)
    document.problems.extend(open_into(storylines, opened, format.info))


def _in_order(problems: Sequence[Problem], value: Json) -> list[Problem]:
    """Return *problems* in document order: that of the members and elements they point to."""
    if len(problems) < 2:  # noqa: PLR2004  # one is in order
        return list(problems)
    positions: dict[int, dict[str, int]] = {}

    def order(problem: Problem) -> list[int]:
        place, at = [], value
        for token in problem.pointer.split("/")[1:]:
            key = unescape(token)
            if isinstance(at, dict):
                known = positions.get(id(at))
                if known is None:
                    known = positions[id(at)] = {name: index for index, name in enumerate(at)}
                place.append(known.get(key, len(known)))
                at = at.get(key)
            elif isinstance(at, list) and key.isdecimal():
                place.append(int(key))
                at = at[int(key)] if int(key) < len(at) else None
            else:
                break
        return place

    return sorted(problems, key=order)


def batches(
    readings: Iterable[Reading], reader: FormatInfo, writer: FormatInfo
) -> Iterator[list[Storyline]]:
    """Yield the Storylines of *readings* as `from_storyline` gets them: a document's at a time, or all of the input's.

    All together when Storylines are gathered into the documents that are written. Documents come together as long as
    their Storylines name others, where families are spread over those that are read, and for a writer that nests.
    """
    is_other = reader.id != writer.id
    if writer.gathers and is_other:
        whole = [storyline for reading in readings for storyline in reading.storylines]
        if whole:
            yield whole
    elif reader.batch == "input" or (
        is_other and any(node.endswith("/**") for node in writer.nodes)
    ):
        yield from _whole_families(readings)
    else:
        yield from (reading.storylines for reading in readings if reading.storylines)


def _whole_families(readings: Iterable[Reading]) -> Iterator[list[Storyline]]:
    """Yield the Storylines of as few documents as have, with each Storyline, its parent and its children.

    A format that does not nest may have given a sub-agent a document of its own (actf.md 6.1). Behind a link to what is
    not in the input all the rest comes together.
    """
    batch: list[Storyline] = []
    links = _Links()
    for reading in readings:
        if not batch and not any(one.parent or one.child_ids for one in reading.storylines):
            if reading.storylines:
                yield reading.storylines
            continue
        batch.extend(reading.storylines)
        for storyline in reading.storylines:
            links.add(storyline)
        if batch and not links.loose:
            yield batch
            batch, links = [], _Links()
    if batch:
        yield batch


class _Links:
    """How the Storylines of a batch are linked: by document ids, which several may have."""

    def __init__(self) -> None:
        self.loose: set[str] = set()
        """Ids that parents list more often than there are Storylines, or less often than there are sub-agents."""
        self._present: Counter[str] = Counter()
        self._spawned: Counter[str] = Counter()
        self._listed: Counter[str] = Counter()

    def add(self, storyline: Storyline) -> None:
        own, children = storyline.document_id, storyline.child_ids or ()
        self._present[own] += 1
        self._spawned[own] += storyline.parent is not None
        self._listed.update(children)
        for id_ in (own, *children):
            if self._spawned[id_] <= self._listed[id_] <= self._present[id_]:
                self.loose.discard(id_)
            else:
                self.loose.add(id_)


# Writing


class Written(NamedTuple):
    """A document that was written, and the files to be put beside it."""

    document: Json | bytes
    files: Sequence[tuple[str, bytes]] = ()
    """Relative path and bytes of each file that was taken out of the document."""


def write_documents(
    format: Format,
    storylines: Sequence[Storyline],
    options: WriteOptions,
    *,
    extract_images: bool = False,
) -> list[Written]:
    """Return the documents that one batch becomes, with what they cannot hold in their envelopes.

    With *extract_images* the format takes inline images out first, so that no envelope carries them.
    """
    documents = list(format.from_storyline(storylines, options))
    files: list[Sequence[tuple[str, bytes]]] = [()] * len(documents)
    if extract_images:
        files = [tuple(format.attachments(document, options)) for document in documents]
    homeless = list(storylines)
    if options.carry and format.info.envelope and _is_as_read(documents, options):
        homeless = []
    elif options.carry and format.info.envelope:
        from hub.sealing import seal
        from hub.storyline.images import with_paths

        is_conformed = options.conform or not any(
            storyline.is_from(format.info.source) for storyline in storylines
        )
        read_back = partial(_read_back, format, is_conformed=is_conformed)
        paths = [{payload: path for path, payload in beside} for beside in files]
        homeless = seal(
            storylines,
            documents,
            format.info,
            options,
            read_back=read_back,
            meant=lambda storyline, document: with_paths(storyline, paths[document]),
        )
    options.homeless += len(homeless)
    _report_residuals(storylines, {id(storyline) for storyline in homeless}, format, options)
    return list(map(Written, documents, files))


def _is_as_read(documents: Sequence[Json | bytes], options: WriteOptions) -> bool:
    """Tell whether a batch became the very document that it was read from: reading that again brings nothing new."""
    return (
        options.source is not MISSING
        and len(documents) == 1
        and not options.unplaced_residuals
        and equal(documents[0], options.source)
    )


def _read_back(
    format: Format, documents: Sequence[Json | bytes], *, is_conformed: bool
) -> list[tuple[int, Storyline]]:
    """Read *documents*, which have just been written, in memory; each Storyline with the index of its document.

    Raises:
        PluginError: a document cannot be read, or breaks a rule though it is conformed (validation.md 9).
    """
    found: list[tuple[int, Storyline]] = []
    refused = ("error", "fatal") if is_conformed else ("fatal",)
    for index, document in enumerate(documents):
        is_array = isinstance(document, list)
        source = Source.of_array(document) if is_array else Source.of(document)
        for parsed in format.parse(source):
            reading = read_document(format, parsed)
            for problem in reading.problems:
                if problem.severity in refused:
                    raise PluginError(
                        f"the plugin {format.id!r} ({format.origin}) wrote what it finds wrong when it reads it: "
                        f"{problem}; this is a bug of the plugin"
                    )
            found.extend((index, storyline) for storyline in reading.storylines)
    return found


def _report_residuals(
    storylines: Sequence[Storyline], homeless: set[int], format: Format, options: WriteOptions
) -> None:
    """Warn of native residuals without a place, and of foreign ones in a format without a place for envelopes."""
    info = format.info
    for storyline in storylines:
        is_dropped = id(storyline) in homeless
        fate = "dropped" if is_dropped else "it travels in the envelope"
        for pointer, value in options.unplaced_residuals.get(id(storyline), {}).items():
            problem = UNPLACED.at(pointer, value, message=f"no place in the document; {fate}")
            options.warn(problem, storyline)
        if not is_dropped or not options.carry or info.source == CARRIER:
            continue
        for name, residuals in storyline.unknown_fields.items():
            for pointer, value in residuals.fields.items() if name != info.source else ():
                message = f"no place for a residual of {name}; dropped"
                options.warn(UNPLACED.at(pointer, value, message=message), storyline)


def options_of(format: Format) -> list[Option]:
    """Return the options of *format*, that which every format has among them."""
    return [*format.info.options, *([CONFORM] if format.can_write else [])]


def check_options(
    format: Format, options: Mapping[str, str], side: Literal["read", "write"]
) -> dict[str, str]:
    """Return *options*, all of which must be for *side* of *format*.

    Raises:
        UsageError: an option that it does not have, or a value that the option does not take.
    """
    chosen = _for_side(format, options, side)
    _refuse_unknown(options, chosen, [format])
    return chosen


def split_options(
    options: Mapping[str, str], reader: Format, writer: Format
) -> tuple[dict[str, str], dict[str, str]]:
    """Give each option to the side that declares it: those for reading, those for writing.

    Raises:
        UsageError: an option that neither side has, or a value that the option does not take.
    """
    reading = _for_side(reader, options, "read")
    writing = _for_side(writer, options, "write")
    _refuse_unknown(options, {**reading, **writing}, [reader, writer])
    return reading, writing


def _for_side(format: Format, options: Mapping[str, str], side: str) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for option in options_of(format) if options else ():
        value = options.get(option.name)
        if value is None or option.side != side:
            continue
        if not isinstance(value, str):
            raise UsageError(f"option {option.name!r} of {format.id} takes a text, not {value!r}")
        if option.choices and value not in option.choices:
            takes = " or ".join(option.choices)
            raise UsageError(f"option {option.name!r} of {format.id} takes {takes}, not {value!r}")
        chosen[option.name] = value
    return chosen


def _refuse_unknown(
    options: Mapping[str, str], known: Mapping[str, str], formats: Sequence[Format]
) -> None:
    unknown = [name for name in options if name not in known]
    if unknown:
        sides = " nor ".join(dict.fromkeys(one.id for one in formats))
        raise UsageError(
            f"no option {unknown[0]!r} for {sides}; `hub formats ID` lists those of a format"
        )
