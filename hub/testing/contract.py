"""The contract of a format plugin, to subclass: what the hub promises its users of every format.

    class TestContract(FormatContract):
        format = "chat-log"
        samples = Path(__file__).parent / "samples"
        invalid = (Invalid({"format": "chat-log/v1"}, (("/steps", "chat-log.steps"),)),)

Every failure says what was found, and what to do. How many random examples there are is for the settings of hypothesis.
"""

from __future__ import annotations

from hub.testing.detecting import Detecting
from hub.testing.installing import Installing
from hub.testing.making import Making
from hub.testing.reporting import Reporting
from hub.testing.round_trips import RoundTrips


class FormatContract(Installing, Detecting, Reporting, RoundTrips, Making):
    """Every promise that a format plugin makes."""
