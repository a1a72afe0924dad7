"""What commands of other distributions use, so that they look and behave as the hub's own.

Options are annotations of typer; `follow` shows a run on many inputs; the rest is how results and problems are told.
Only commands import this module: it imports typer.
"""

from hub.batch.running import count as count_inputs
from hub.cli.bulk import follow, tell
from hub.cli.options import (
    AsJson,
    Engine,
    From,
    Jobs,
    Limit,
    MaxSize,
    Options,
    Plugins,
    Strict,
    SummaryFile,
    Timezone,
    To,
    limits,
    load_plugins,
    pairs,
    processes,
)
from hub.cli.output import print_json, print_table, printable, say, say_problems
from hub.cli.usage import UsageCommand

__all__ = [
    "AsJson",
    "Engine",
    "From",
    "Jobs",
    "Limit",
    "MaxSize",
    "Options",
    "Plugins",
    "Strict",
    "SummaryFile",
    "Timezone",
    "To",
    "UsageCommand",
    "count_inputs",
    "follow",
    "limits",
    "load_plugins",
    "pairs",
    "print_json",
    "print_table",
    "printable",
    "processes",
    "say",
    "say_problems",
    "tell",
]
