"""Which format an input is: every plugin is asked about samples of its head, until the answers decide.

A plugin that fails loses its own vote and nothing else. Source: detection.md 1, 2, 4 and 5.
"""

import sys
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Literal, NamedTuple, Protocol

from hub.errors import MISSING, HubError, InvalidDocument, Json, Problem, Rule, show
from hub.grammar import WHITE_SPACE
from hub.hookspecs import Detection, FormatInfo, Sample
from hub.input_rules import EMPTY, ENCODING
from hub.limits import DEFAULTS, MAX_PATHS
from hub.scanner import MAX_MEMBERS, Scan, scan
from hub.tail import last_members

STAGES = (64 * 1024, 1024 * 1024)
"""Bytes of the head, and then of the tail, that are looked at before the whole input is."""
GLANCED_AT = 2 << 20
"""Bytes of an input that is parsed rather than scanned, where JSON is read anyway, if it has not too many values."""

CLEAR = 85
"""Confidence that decides before the whole input has been seen."""
CANDIDATE = 60
"""Confidence that may be chosen; an answer below is a hint."""
CLOSE = 5
"""Points by which a candidate may fall short of the best answer."""
NAME_BONUS = 3

UNKNOWN = Rule("detect.unknown", "fatal", "an installed format")
AMBIGUOUS = Rule("detect.ambiguous", "fatal", "one format")
PLUGIN = Rule("detect.plugin", "warning", "a Detection or None")
NAME = Rule("detect.name", "warning", "the format that the name says")

Container = Literal["object", "array", "lines", "text", "directory"]


class Input(Protocol):
    """What detection needs of a `hub.source.Source`."""

    @property
    def name(self) -> str | None:
        """Name or path of the input; None when it has none."""

    @property
    def size(self) -> int | None:
        """Bytes of the input as it is stored; None when that is not known."""

    @property
    def is_directory(self) -> bool:
        """Whether the input is a directory."""

    def head(self, size: int) -> tuple[bytes, bool]:
        """Return the first *size* bytes of the text and whether that is everything, as often as it is asked."""

    def tail(self, size: int) -> bytes | None:
        """Return the last *size* bytes of the text; None when that takes reading all of it."""

    def small(self, limit: int) -> Json:
        """Return the one JSON value that an input of at most *limit* bytes is; `MISSING` for every other one."""

    def paths(self, limit: int) -> list[str]:
        """Return the relative paths of the first *limit* files below a directory, in path order."""


class Candidate(Protocol):
    """What detection needs of a `hub.registry.Format`."""

    @property
    def id(self) -> str:
        """The id of the format."""

    @property
    def info(self) -> FormatInfo:
        """The format, described by its plugin."""

    def detect(self, sample: Sample) -> Detection | None:
        """Return the plugin's answer, which may be anything; may raise anything."""


class Answer(NamedTuple):
    """What the plugin of one format answered, with the bonus for the name."""

    format: str
    """Id of the format."""
    confidence: int
    reason: str
    variant: str | None = None
    version: str | None = None
    """The version that the reason names, of those that the format reads."""

    def __str__(self) -> str:
        return f"{self.format} ({self.confidence}): {self.reason}"


class Detected(NamedTuple):
    """The format of an input, and what that was found from."""

    format: str
    """Id of the format."""
    confidence: int
    reason: str
    variant: str | None
    version: str | None
    """The version that the reason names, of those that the format reads."""
    container: Container
    others: tuple[Answer, ...]
    """What other plugins answered, the surest first, hints included."""
    warnings: tuple[Problem, ...]


def detect(
    source: Input, formats: Mapping[str, Candidate], *, max_detect: int = DEFAULTS.detect
) -> Detected:
    """Return the format of *source*: a file, or a directory that a format claims as a whole.

    Raises:
        InvalidDocument: no format answers, or several do (`detect.unknown`, `detect.ambiguous`), warnings behind it; or
            the input is not JSON inside the head that was looked at (`input.json` and the like).
    """
    for look in _looks(source, max_detect):
        votes = _votes(look.sample, formats)
        candidates = _candidates(votes.answers)
        if len(candidates) == 1 and (look.is_last or candidates[0].confidence >= CLEAR):
            return _detected(candidates[0], votes, look.sample)
    if not candidates:
        _refuse_other_encodings(look.begin, source.name)
    raise InvalidDocument(
        [_refusal(candidates, votes, look, formats), *_warnings(votes, candidates)], source.name
    )


def claim(source: Input, formats: Mapping[str, Candidate]) -> Detected | None:
    """Return the format that claims the directory *source* as a whole; None: its files are to be detected one by one.

    Raises:
        InvalidDocument: several formats claim it.
    """
    try:
        return detect(source, formats)
    except InvalidDocument as error:
        if error.problems[0].rule == UNKNOWN.rule:
            return None
        raise


def second_opinion(source: Input, formats: Mapping[str, Candidate], format: str) -> str | None:
    """Return one line when detection is sure that *source*, which could not be read as *format*, is another format."""
    try:
        found = detect(source, formats)
    except HubError:
        return None
    if found.format == format or found.confidence < CLEAR:
        return None
    return f"detection says {found.format} ({found.confidence}): {found.reason}"


# What is looked at


class _Look(NamedTuple):
    sample: Sample
    is_last: bool = False
    limit: int | None = None
    """The size limit, when it is what makes this look the last one."""
    begin: bytes = b""
    """The first bytes of the text."""


def _looks(source: Input, max_detect: int) -> Iterator[_Look]:
    """Yield samples of *source*, each of more than the one before; the last one is final: detection.md 2, step 2."""
    if source.is_directory:
        yield _Look(_directory_sample(source), is_last=True)
        return
    whole = _glance_at(source, max_detect)
    if whole is not None:
        yield _Look(_sample(source, whole), is_last=True)
        return
    for size in (*(stage for stage in STAGES if stage < max_detect), max_detect):
        found, everything, begin = _scan_head(source, size)
        is_whole = everything or found.is_settled
        is_limited = size == max_detect and not is_whole
        yield _Look(
            sample=_sample(source, found),
            is_last=is_whole or is_limited,
            limit=size if is_limited else None,
            begin=begin,
        )
        if is_whole:
            return
        if size in STAGES and found.container == "object" and not found.ends:
            yield from _look_at_tail(source, found, size)


def _reads_json() -> bool:
    """Tell whether JSON is read anyway in this process: reading all of a small input then takes less than a scan."""
    return "hub.json" in sys.modules


def _glance_at(source: Input, max_detect: int) -> Scan | None:
    """Return what a small *source* shows that is one object or array; reading it takes the value that was made here."""
    if not _reads_json():
        return None
    from hub.glance import glance_at

    value = source.small(min(GLANCED_AT, max_detect))
    return None if value is MISSING else glance_at(value)


def _glance(text: bytes) -> Scan | None:
    """Return what *text* shows, which is a whole input, if it is one value."""
    from hub.glance import glance

    return glance(text)


def _scan_head(source: Input, size: int) -> tuple[Scan, bool, bytes]:
    """Return what the first *size* bytes of *source* show, whether they are everything, and how they begin."""
    text, everything = source.head(size)
    begin = text[: STAGES[0]]
    if everything and not text.strip(WHITE_SPACE):
        raise InvalidDocument([EMPTY.at("", message="the input is empty")], source.name)
    whole = _glance(text) if everything and _reads_json() else None
    if whole is not None:
        return whole, everything, begin
    try:
        return scan(text, everything=everything), everything, begin
    except InvalidDocument as error:
        raise InvalidDocument(error.problems, source.name) from None


def _look_at_tail(source: Input, head: Scan, size: int) -> Iterator[_Look]:
    """Yield a sample of a large object which shows its last members too, if they are seen in *size* bytes of the tail.

    They may decide where the head does not, and cost no pass over what is between (design.md, speed). That the tail is
    that of another line cannot always be seen; reading then says what is wrong with the first one.
    """
    if source.size is None or source.size <= STAGES[-1]:
        return
    tail = source.tail(size)
    last = None if tail is None else last_members(tail)
    first: dict[str, Json] = head.records[0]
    # A member that stands in both with two values is repeated, or that of another line: only the whole input tells.
    if last and all(first.get(key, value) == value for key, value in last.items()):
        members = dict(islice((first | last).items(), MAX_MEMBERS))
        yield _Look(_sample(source, head._replace(records=[members], complete=False)))


def _sample(source: Input, found: Scan) -> Sample:
    return Sample(source.name, found.container, found.records, found.complete, source.size)


def _directory_sample(source: Input) -> Sample:
    paths = source.paths(MAX_PATHS + 1)
    records: list[Json] = [*paths[:MAX_PATHS]]
    return Sample(source.name, "directory", records, len(paths) <= MAX_PATHS, None)


# What the plugins answer


class _Votes(NamedTuple):
    answers: list[Answer]
    """The surest first."""
    warnings: list[Problem]
    named: list[str]
    """Ids of the formats that the name of the input says."""


def _votes(sample: Sample, formats: Mapping[str, Candidate]) -> _Votes:
    """Ask each of *formats* about *sample*, each in its own guard."""
    votes = _Votes([], [], [])
    name = _base(sample.name)
    for one in formats.values():
        try:
            suffix = _suffix(name, one.info.suffixes)
            if suffix:
                votes.named.append(one.id)
            answer = _answer(one, one.detect(sample), suffix)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # a plugin may raise anything
            votes.warnings.append(PLUGIN.at("", message=_failure(one.id, error)))
            continue
        if answer is not None:
            votes.answers.append(answer)
    votes.answers.sort(key=lambda answer: (-answer.confidence, answer.format))
    return votes


def _answer(format: Candidate, found: Any, suffix: str | None) -> Answer | None:
    """Return *found*, which may be anything, as the answer of *format*."""
    if found is None:
        return None
    if not isinstance(found, Detection):
        raise TypeError(f"answered {type(found).__name__}, not {PLUGIN.expected}")
    confidence, reason, variant = found
    if type(confidence) is not int or not 1 <= confidence <= 100:  # noqa: PLR2004
        raise ValueError(f"answered the confidence {confidence!r}, not 1 to 100")
    if not isinstance(reason, str) or not isinstance(variant, str | None):
        raise TypeError("answered a reason or a variant that is no text")
    versions = [version for version in format.info.reads if version in reason]
    version = max(versions, key=len, default=None)
    if suffix and confidence >= CANDIDATE:
        confidence = min(100, confidence + NAME_BONUS)
        verb = "ends with" if suffix.startswith(".") else "is"
        reason = f"{reason}, and the name {verb} {suffix}"
    return Answer(format.id, confidence, reason, variant, version)


def _failure(format: str, error: BaseException) -> str:
    from traceback import format_exception_only

    return f"the plugin {format} failed in detect: {' '.join(format_exception_only(error)).strip()}"


_PACKED = (".gz", ".bz2", ".xz", ".zst")
_COMMON = (".json", ".jsonl", ".ndjson")
"""Suffixes that say nothing about a format."""


def _base(name: str | None) -> str:
    """Return the *name* of a file in lower case, without its folders and the suffix of a compression."""
    base = (name or "").replace("\\", "/").rpartition("/")[2].lower()
    for packed in _PACKED:
        base = base.removesuffix(packed)
    return base


def _suffix(base: str, suffixes: Iterable[str]) -> str | None:
    """Return the one of *suffixes* with which the file name *base* ends, or all of it when that is one of them."""
    for suffix in suffixes:
        fits = base.endswith(suffix) if suffix.startswith(".") else base == suffix
        if fits and suffix not in _COMMON:
            return suffix
    return None


# The decision


def _candidates(answers: list[Answer]) -> list[Answer]:
    """Return those of *answers* that may be chosen: detection.md 4, step 2."""
    least = max(CANDIDATE, answers[0].confidence - CLOSE) if answers else 0
    return [answer for answer in answers if answer.confidence >= least]


def _detected(chosen: Answer, votes: _Votes, sample: Sample) -> Detected:
    return Detected(
        format=chosen.format,
        confidence=chosen.confidence,
        reason=chosen.reason,
        variant=chosen.variant,
        version=chosen.version,
        container=sample.container,
        others=tuple(answer for answer in votes.answers if answer is not chosen),
        warnings=tuple(_warnings(votes, [chosen])),
    )


def _warnings(votes: _Votes, fitting: list[Answer]) -> Iterator[Problem]:
    """Yield what the plugins did wrong, and that the name says none of the *fitting* formats, if it says any."""
    yield from votes.warnings
    if votes.named and not any(answer.format in votes.named for answer in fitting):
        says = f"says {fitting[0].format}" if len(fitting) == 1 else "does not"
        message = f"the name says {' or '.join(votes.named)}, the content {says}"
        yield NAME.at("", message=message)


def _refusal(
    candidates: list[Answer], votes: _Votes, look: _Look, formats: Iterable[str]
) -> Problem:
    """Return why no format is chosen, with all that helps to choose one: detection.md 4, step 4."""
    if candidates:
        rule, message = AMBIGUOUS, f"ambiguous format: {'; '.join(map(str, candidates))}"
    else:
        rule, message = UNKNOWN, f"unknown format: {_describe(look)}"
        if votes.answers:
            message = f"{message}; hints: {'; '.join(map(str, votes.answers))}"
    if look.limit is not None:
        message = f"{message}; undecided within {_bytes(look.limit)} (--limit detect=NUMBER)"
    message = f"{message}; pass --from FORMAT; installed: {', '.join(formats) or 'none'}"
    return rule.at("", message=message)


def _refuse_other_encodings(begin: bytes, name: str | None) -> None:
    """Refuse an input whose beginning is no UTF-8: that says more than that no format is known.

    Raises:
        InvalidDocument: it is none (`input.encoding`).
    """
    try:
        # Its last character may be cut.
        getincrementaldecoder("utf-8")().decode(begin)
    except UnicodeDecodeError as error:
        message = f"not UTF-8: {error.reason} at offset {error.start}"
        raise InvalidDocument([ENCODING.at("", message=message)], name) from None


_CONTAINERS = {
    "object": "an object",
    "array": "an array",
    "lines": "JSON Lines",
    "text": "a text",
    "directory": "a directory",
}
_SHOWN = 10
"""Root members that a message names."""


def _describe(look: _Look) -> str:
    """Return what was looked at, with the first root members of its first record, or the first files."""
    sample = look.sample
    words = _CONTAINERS[sample.container]
    if sample.container == "text":
        return _scalar(look.begin) or words
    names: list[str] = []
    if sample.container == "directory":
        names = sample.records
    elif sample.records and isinstance(sample.records[0], dict):
        names = list(sample.records[0])
    if not names:
        return words
    more = ", …" if len(names) > _SHOWN else ""
    return f"{words} with {', '.join(map(show, names[:_SHOWN]))}{more}"


def _scalar(text: bytes) -> str | None:
    """Return the JSON value that *text* is, when it is one that holds no others."""
    from hub.json import loads

    try:
        return f"the JSON value {show(loads(text))}"
    except InvalidDocument:
        return None


def _bytes(size: int) -> str:
    mebibytes, rest = divmod(size, 1024 * 1024)
    return f"{size} bytes" if rest else f"{mebibytes} MiB"
