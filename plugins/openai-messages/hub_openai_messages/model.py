"""The data model: rows of a training corpus, messages, calls; and which members mean what.

A document stays the JSON that was read. Rows and messages are open: an unknown member is kept.

Source: openai-messages.md 0, A1 and A6.
"""

from typing import Any, Required, TypedDict

from hub import Shape

SOURCE = "openai-msg"
"""Name of the format in `origin.format` and `unknown_fields`."""
DEFAULT_AGENT = "openai-import"

CHAT = "chat/"
OBJECT, ARRAY, LIST, LINES = "chat/object", "chat/array", "chat/list", "chat/jsonl"
"""Tags of chats in `origin.schema_version`, by their container."""
NEW_ROWS = "rows/new"
"""Tag of rows that hold what is new since the row before; others have none."""


# Messages: openai-messages.md 0


class Function(TypedDict, total=False):
    """The function that a call names."""

    name: Required[str]
    arguments: Any
    """A JSON text, which need not be valid; trainers also store the value itself."""


class ToolCall(TypedDict, total=False):
    """A call inside an assistant message."""

    id: Required[str]
    type: str
    """`function`, or `custom` with a member `custom` of `name` and `input`."""
    function: Function
    custom: dict[str, Any]


class Message(TypedDict, total=False):
    """One message of a conversation."""

    role: Required[str]
    content: Any
    """A text, an array of parts, or `null`."""
    name: str
    refusal: str | None
    tool_calls: list[ToolCall]
    function_call: Function
    """Deprecated."""
    tool_call_id: str
    reasoning_content: str | None
    """Of other vendors."""


# Rows: openai-messages.md A1


class Row(TypedDict, total=False):
    """What a gateway logs of one model call: the messages that went in, and the one that came out."""

    session_id: Required[str]
    step_id: Required[int]
    messages: list[Any] | None
    response: dict[str, Any] | None
    created_at: str | float | None
    """A date-time, or Unix seconds."""
    agent_id: str | None
    agent_model: str | None
    llm_model: str | None
    run_id: str | None
    run_bucket: str | None
    job_id: str | None
    meta_json: Any
    """An object, or a text that holds one."""


ROW = Shape.of(Row)

RUN_KEYS = ("run_id", "run_bucket", "job_id")
MODEL_KEYS = ("agent_model", "llm_model")

ROW_METRICS = (
    "reward", "step_reward", "is_terminal", "is_truncated", "is_session_completed", "is_trainable",
)  # fmt: skip
STATE_METRICS = (
    "prompt_tokens", "completion_tokens", "total_tokens", "request_bytes", "response_bytes", "output_bytes",
    "output_chunk_count", "finish_reason", "status_code", "retry_count", "upstream_latency_ms",
    "gateway_overhead_ms", "total_latency_ms", "ttft_ms", "truncate_reason", "error_type", "error_text",
    "client_cancelled", "upstream_cancelled", "synthetic_stop", "is_truncated", "is_session_completed",
    "max_steps", "is_stream", "payload_sampled", "created_at", "completed_at",
)  # fmt: skip
"""Metrics in `meta_json.env_state`."""

ROW_STATE = ("dataset_type", "dt")
ENV_STATE = ("redaction_policy", "upstream_base_url", "weight_version")
"""Members of the environment's state: of the row, and of `meta_json.env_state`."""

KNOWN_EMPTY = frozenset({
    "blob_manifest", "chosen_response", "rejected_response", "ground_truth_answer", "reference_answer",
})  # fmt: skip
"""Row members that say nothing when they are empty."""
EMPTY_IN_MESSAGE = frozenset({"name", "refusal", "tool_call_id", "tool_calls"})

SOURCE_OF_ROLE = {"system": "system", "user": "user", "assistant": "agent"}
ROLE_OF_SOURCE = {"system": "system", "user": "user", "agent": "assistant"}
ENVIRONMENT = "environment"
"""Source of a turn that nobody said, and `name` of the message that shows it."""
NO_RESPONSE = "[no response]"
"""Text of a response that a row has to have, and the Storyline has not."""

_SAID = frozenset({"role", "content", "name"})
KNOWN_KEYS = {
    "developer": _SAID,
    "system": _SAID,
    "user": _SAID,
    "assistant": _SAID
    | {"refusal", "audio", "tool_calls", "function_call", "annotations", "weight"},
    "tool": frozenset({"role", "content", "tool_call_id"}),
    "function": _SAID,
}
"""What the API and fine-tuning know of a message, by role."""

PARTS = {
    "developer": ("text",),
    "system": ("text",),
    "user": ("text", "image_url", "input_audio", "file"),
    "assistant": ("text", "refusal"),
    "tool": ("text",),
    "function": (),
}
"""Content parts that a message may have, by role."""
