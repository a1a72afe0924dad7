"""What `make demo` runs: detect a trajectory, convert it, check the result, and show what is in it."""

import shlex
import subprocess
import sys
from pathlib import Path

import hub

SOURCE = "examples/slugify.actf.json"
TARGET = "build/demo/slugify.ale.json"
COMMANDS = (
    f"hub detect {SOURCE}",
    f"hub convert {SOURCE} --to ale --output {TARGET} --force",
    f"hub validate {TARGET}",
)
WIDTH = 100


def main() -> None:
    """Run the commands a user would type, then print the converted trajectories."""
    Path(TARGET).parent.mkdir(parents=True, exist_ok=True)
    for command in COMMANDS:
        print(f"$ {command}", flush=True)
        _, *arguments = shlex.split(command)
        subprocess.run([sys.executable, "-m", "hub", *arguments], check=True)  # noqa: S603  # as written above
        print(flush=True)
    for storyline in hub.read(TARGET):
        show(storyline)


def show(storyline: hub.Storyline) -> None:
    """Print a trajectory, a line or two a turn: who spoke, what was said, what was called, what came back."""
    outcome = storyline.task.result if storyline.task else None
    print(f"{storyline.session_id}: {len(storyline.turns)} turns, score {outcome and outcome.score}")
    for turn in storyline.turns:
        print(cut(f"  {turn.turn_id:>2} {turn.source:<7}{hub.text_of(turn.message, "\n")}"))
        for call in turn.tool_calls or ():
            print(cut(f"             calls {call.function_name} {call.arguments}"))
        for result in hub.visible_results(turn):
            print(cut(f"             gets  {hub.text_of(result.get("content"), "\n")}"))
    print()


def cut(text: str) -> str:
    """Return *text* on one line of the terminal."""
    line = " ".join(text.splitlines())
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"


if __name__ == "__main__":
    main()
