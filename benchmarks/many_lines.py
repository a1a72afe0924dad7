"""Write JSON Lines of ALE trajectories to standard output, so many bytes: python benchmarks/many_lines.py BYTES."""

from __future__ import annotations

import json
import sys

STEP = {"step_id": 1, "source": "user", "message": "m" * 20_000}


def main(size: int) -> None:
    """Write them."""
    document = {
        "schema_version": "ALE-v1.0",
        "episode_id": "@",
        "agent": {"name": "a", "version": "1"},
        "task_path": "t",
        "variant_index": 0,
        "steps": [STEP],
    }
    line = json.dumps(document).encode() + b"\n"
    for number in range(size // len(line)):
        sys.stdout.buffer.write(line.replace(b'"@"', b'"%d"' % number))


if __name__ == "__main__":
    main(int(sys.argv[1]))
