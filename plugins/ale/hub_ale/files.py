"""Where the benchmark puts the files of a run: `{task}/v{variant_index}/{episode}/trajectory.json`.

Source: ale.md 4.
"""

import re

from hub import Json

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


def run_file(document: Json) -> str:
    """Return the path of a written document below an output directory."""
    task, episode = folder(document["task_path"]), folder(document["episode_id"])
    return f"{task}/v{document['variant_index']}/{episode}/trajectory.json"


def folder(text: str) -> str:
    """Return *text* as the name of one folder: `/` is `__`, what is unsafe is `_`, nothing is `unnamed`."""
    name = _UNSAFE.sub("_", text.strip("/").replace("/", "__"))
    return "unnamed" if name in ("", ".", "..") else name
