"""The rules of input, the same for all formats: what the hub asks of bytes before a plugin sees anything.

Source: validation.md 2.
"""

from __future__ import annotations

from hub.errors import Rule
from hub.limits import DEPTH

EMPTY = Rule("input.empty", "fatal", "an input that is not empty")
ENCODING = Rule("input.encoding", "fatal", "UTF-8, or UTF-16 or UTF-32 with a byte-order mark")
UTF16 = Rule("input.utf16", "info", "UTF-8")
COMPRESSED = Rule("input.compressed", "fatal", "compressed data that is whole")
SIZE = Rule("input.size", "fatal", "an input within the limit")
LINE_SIZE = Rule("input.line-size", "fatal", "a line within the limit")
RECORDS = Rule("input.records", "fatal", "as many records as the limit allows")
MEMBERS = Rule("input.members", "fatal", "an archive of as many files as the limit allows")
JSON = Rule("input.json", "fatal", "JSON")
TOO_DEEP = Rule("input.depth", "fatal", f"at most {DEPTH} levels of arrays and objects")
DUPLICATE_KEY = Rule("input.duplicate-key", "error", "each key of an object once", "last value")
EXACT = Rule("input.exact", "info", "numbers and strings that every reader keeps", "kept exactly")
NO_DOCUMENTS = Rule("input.no-documents", "fatal", "at least one document")
RECORD = Rule("input.record", "fatal", "an object")
LINE = Rule("input.line", "fatal", "a line that is JSON")
LINE_CUT = Rule("input.line-cut", "fatal", "a last line that is whole")
MORE_PROBLEMS = Rule("input.problems", "fatal", "as many problems as the limit allows")
UNREAD = Rule("input.unread", "warning", "a file that the format of the directory reads")
TRAILING = Rule("input.trailing", "fatal", "one JSON value, or one a line")

INPUT_RULES = (
    EMPTY,
    ENCODING,
    UTF16,
    COMPRESSED,
    SIZE,
    LINE_SIZE,
    RECORDS,
    MEMBERS,
    JSON,
    TOO_DEEP,
    DUPLICATE_KEY,
    EXACT,
    NO_DOCUMENTS,
    RECORD,
    LINE,
    LINE_CUT,
    TRAILING,
    UNREAD,
    MORE_PROBLEMS,
)

REDACTED = Rule("redact.found", "info", "no secret and no personal data", "a mark in its place")
