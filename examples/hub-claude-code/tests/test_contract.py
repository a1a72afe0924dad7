"""What the hub promises of every format."""

from pathlib import Path
from typing import Any

from hub.testing import FormatContract, Invalid

Json = Any


def line(**members: Json) -> dict[str, Json]:
    """Return a line of a user."""
    said = {"role": "user", "content": "Hello."}
    usual = {"type": "user", "sessionId": "s", "uuid": "u", "parentUuid": None, "message": said}
    return {**usual, **members}


class TestContract(FormatContract):
    format = "claude-code"
    samples = Path(__file__).parent / "samples"
    invalid = (
        Invalid([{"type": "queue-operation"}], (("", "claude-code.spoken"),)),
        Invalid([line(), {"type": 7}], (("/1/type", "claude-code.type"),)),
        Invalid([line(sessionId=7)], (("/0/sessionId", "claude-code.session"),)),
        Invalid([line(), line(message="Hello.")], (("/1/message", "claude-code.message"),)),
        Invalid(
            [line(), line(message={"content": [1]})],
            (("/1/message/content", "claude-code.content"),),
        ),
        Invalid([line(timestamp="today")], (("/0/timestamp", "claude-code.time"),)),
        Invalid(
            [line(type="assistant", message={"content": [{"type": "tool_use", "id": ""}]})],
            (("/0/message/content/0", "claude-code.call"),),
        ),
        Invalid(
            [line(message={"content": [{"type": "tool_result", "tool_use_id": "gone"}]})],
            (("/0/message/content/0/tool_use_id", "claude-code.result-call"),),
        ),
    )
