"""What authors of plugins test with; needs `hypothesis` and `pytest`."""

from hub.codec import from_wire as from_wire
from hub.wire import to_wire as to_wire
