"""What authors of plugins test with; needs the extra `testing`.

    from hub.testing import FormatContract, Invalid

    class TestContract(FormatContract):
        format = "chat-log"
        samples = Path(__file__).parent / "samples"
        invalid = (Invalid({"format": "chat-log/v1"}, (("/steps", "chat-log.steps"),)),)

A name is imported when it is first used: the pytest plugin `hub.testing.pytest_plugin` is loaded before anything else,
and costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hub.codec import from_wire as from_wire
    from hub.testing.builders import agent as agent
    from hub.testing.builders import call as call
    from hub.testing.builders import result as result
    from hub.testing.builders import storyline as storyline
    from hub.testing.builders import turn as turn
    from hub.testing.contract import FormatContract as FormatContract
    from hub.testing.documents import FormatSample as FormatSample
    from hub.testing.documents import samples as samples
    from hub.testing.failures import ContractBroken as ContractBroken
    from hub.testing.storylines import corpus as corpus
    from hub.testing.subject import Invalid as Invalid
    from hub.wire import to_wire as to_wire

_HOMES = {
    "hub.codec": ("from_wire",),
    "hub.testing.builders": ("agent", "call", "result", "storyline", "turn"),
    "hub.testing.contract": ("FormatContract",),
    "hub.testing.documents": ("FormatSample", "samples"),
    "hub.testing.failures": ("ContractBroken",),
    "hub.testing.storylines": ("corpus",),
    "hub.testing.subject": ("Invalid",),
    "hub.wire": ("to_wire",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'hub.testing' has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)
