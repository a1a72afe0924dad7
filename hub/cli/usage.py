"""How the usage line of a command reads."""

from typing import Any

from typer.core import TyperCommand


class UsageCommand(TyperCommand):
    """A command whose usage line names an argument that is needed as it is: `INPUT...`, without braces around it."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return what stands behind the name of the command."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]
