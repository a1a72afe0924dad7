"""The rules of the format. Their ids are public: they do not change."""

from hub import Rule

SPOKEN = Rule("claude-code.spoken", "fatal", "a line that somebody says: user, assistant or system")
TYPE = Rule("claude-code.type", "error", "a type, which is a text")
SESSION = Rule("claude-code.session", "error", "the id of a session, which is a text")
MESSAGE = Rule("claude-code.message", "error", "a message, which is an object")
CONTENT = Rule("claude-code.content", "error", "a text, or an array of objects")
TIME = Rule("claude-code.time", "error", "a date and time with an offset")
CALL = Rule(
    "claude-code.call", "error", "a call with an id and a name that are not empty", "a part"
)
CALL_ID = Rule("claude-code.call-id", "error", "an id that no other call has", "a number added")
RESULT_CALL = Rule("claude-code.result-call", "error", "the id of a call that was made before")

RULES = (SPOKEN, TYPE, SESSION, MESSAGE, CONTENT, TIME, CALL, CALL_ID, RESULT_CALL)
