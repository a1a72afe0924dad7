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
        done = subprocess.run([sys.executable, "-m", "hub", *arguments], check=False)  # noqa: S603  # from above
        if done.returncode:
            sys.exit(done.returncode)
        print(flush=True)
    for storyline in hub.read(TARGET):
        show(storyline)


def show(storyline: hub.Storyline) -> None:
    """Print a trajectory: who spoke and what was said, what was called, what came back."""
    result = storyline.task.result if storyline.task else None
    score = result.score if result else None
    print(f"{storyline.session_id}: {len(storyline.turns)} turns, score {score}")
    for turn in storyline.turns:
        say(f"{turn.turn_id:>2} {turn.source:<7}", turn.message or turn.reasoning_content)
        for call in turn.tool_calls or ():
            say("           calls", f"{call.function_name} {call.arguments}")
        for found in hub.visible_results(turn):
            say("           gets ", found.get("content"))
    print()


def say(label: str, content: object) -> None:
    """Print the text of *content* behind *label*, cut to one line of the terminal."""
    line = " ".join(f"  {label} {hub.text_of(content, ' ')}".splitlines())
    print(line if len(line) <= WIDTH else line[: WIDTH - 1] + "…")


if __name__ == "__main__":
    main()
