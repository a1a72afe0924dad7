"""What happens when the world gets in the way: signals, closed streams, full disks, folders that nobody may write to.

In all cases the old output is whole or the new one is, no temporary file stays, and status and message say what
happened. Source: design.md, failure.
"""

from __future__ import annotations

import json
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from hub import HubError
from hub.sink import Sink
from hub.source import Source

STORY = {
    "schema_version": "storyline/v1",
    "session": "s",
    "agent": {"id": "a"},
    "turns": [{"id": 1, "src": "user", "msg": "hi"}],
}
HUB = (sys.executable, "-m", "hub")
OLD = b"what was there before\n"


class Outcome(NamedTuple):
    """What one run of the program did."""

    status: int
    out: bytes
    err: str


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def story(here: Path) -> str:
    """Name of a valid Storyline file."""
    (here / "run.json").write_text(json.dumps(STORY))
    return "run.json"


@pytest.fixture
def stories(here: Path) -> str:
    """Name of a file with so many Storylines that converting them takes seconds."""
    text = json.dumps({**STORY, "turns": STORY["turns"]})
    (here / "many.jsonl").write_text(f"{text}\n" * 200_000)
    return "many.jsonl"


def hub(*arguments: str, prepare: Callable[[], object] | None = None, streams: str = "") -> Outcome:
    """Run the program: in a process that *prepare* is called in, and with the redirections *streams*."""
    command = ["sh", "-c", f'"$@" {streams}', "sh", *HUB, *arguments]
    done = subprocess.run(command, capture_output=True, check=False, preexec_fn=prepare)  # noqa: S603  # our own; no threads
    return Outcome(done.returncode, done.stdout, done.stderr.decode())


def below(folder: Path) -> dict[str, bytes]:
    """Return the files below *folder*, hidden and temporary ones as well."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


class TestSignals:
    @pytest.fixture
    def under_way(self, here: Path, stories: str) -> Iterator[subprocess.Popen[bytes]]:
        """A conversion that has begun to write."""
        (here / "out").mkdir()
        command = [*HUB, "convert", stories, "--to", "storyline", "-o", "out/x.jsonl"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE)  # noqa: S603  # our own
        while not below(here / "out"):
            assert process.poll() is None
            time.sleep(0.01)
        yield process
        assert process.stderr is not None
        process.stderr.close()

    @pytest.mark.parametrize(
        ("number", "says"),
        [
            (signal.SIGINT, "interrupted"),
            (signal.SIGTERM, "stopped by SIGTERM"),
            (signal.SIGHUP, "stopped by SIGHUP"),
        ],
    )
    def test_cleans_up(
        self, here: Path, under_way: subprocess.Popen[bytes], number: int, says: str
    ) -> None:
        """A signal that asks to end leaves no file behind, and is told."""
        under_way.send_signal(number)
        under_way.send_signal(number)
        _, errors = under_way.communicate()

        assert {} == below(here / "out")
        assert 128 + number == under_way.returncode
        assert f"hub: {says}; nothing half-written was left behind\n" == errors.decode()

    @pytest.mark.parametrize(
        ("jobs", "status", "says"),
        [
            ("1", 143, ["hub: stopped by SIGTERM; nothing half-written was left behind"]),
            (
                "2",
                1,
                [
                    "hub: in/a.json: the process that was at it ended with status 143",
                    "hub: in/b.json: the process that was at it ended with status 143",
                ],
            ),
        ],
    )
    def test_while_an_object_is_freed(
        self, here: Path, jobs: str, status: int, says: list[str]
    ) -> None:
        """A signal that comes in a callback, where nothing can be raised, ends the program or the worker."""
        (here / "in").mkdir()
        for name in ("a", "b"):
            (here / "in" / f"{name}.json").write_text(json.dumps(STORY))
        plugin = [
            "--plugin",
            str(Path(__file__).parent / "toys" / "freeing.py"),
            "--from",
            "freeing",
        ]
        begin = time.monotonic()

        done = hub("convert", "in", *plugin, "--to", "storyline", "-o", "out/", "--jobs", jobs)

        assert time.monotonic() - begin < 30  # seconds; the plugin goes on for a minute
        assert status == done.status
        assert says == [line for line in done.err.splitlines() if line.startswith("hub: ")]
        assert "Traceback" not in done.err

    def test_ignored(self, story: str) -> None:
        """A signal that is ignored when the program starts, as by nohup, stays so."""
        program = (
            "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
            "import sys; sys.argv[1:] = ['detect', 'run.json']\n"
            "from hub import __main__ as program\n"
            "leave = program._leave\n"
            "def check(status): print(signal.getsignal(signal.SIGHUP).name, flush=True); leave(status)\n"
            "program._leave = check\n"
            "program.main()\n"
        )
        done = subprocess.run(  # noqa: S603  # our own
            [sys.executable, "-c", program], capture_output=True, check=True
        )

        assert b"SIG_IGN" == done.stdout.splitlines()[-1]
        assert story.encode() == done.stdout.split(b":")[0]


class TestStreams:
    def test_closed_output(self, story: str) -> None:
        """With standard output closed, no traceback; what is to go there is an error."""
        assert Outcome(0, b"", "") == hub("detect", story, streams=">&-")
        assert Outcome(1, b"", "hub: standard output is closed\n") == hub(
            "convert", story, "--to", "storyline", streams=">&-"
        )

    def test_closed_errors(self, story: str) -> None:
        """With standard error closed or full, what was asked for is done, and the status is the same."""
        for streams in ("2>&-", "2>/dev/full"):
            assert 0 == hub("convert", story, "--to", "storyline", streams=streams).status
            assert 2 == hub("detect", "nothing", streams=streams).status

    def test_closed_input(self, here: Path) -> None:
        """Standard input that is closed is told."""
        assert (
            "hub: standard input is closed\n"
            == hub("convert", "-", "--to", "storyline", streams="<&-").err
        )
        assert {} == below(here)

    @pytest.mark.parametrize(
        "command", [("detect",), ("validate",), ("convert", "--to", "storyline")]
    )
    def test_full(self, story: str, command: tuple[str, ...]) -> None:
        """Output that does not fit on the disk is an error that says so."""
        outcome = hub(command[0], story, *command[1:], streams=">/dev/full")

        assert 1 == outcome.status
        assert "no space left on device" in outcome.err.lower()
        assert "Traceback" not in outcome.err


# Another test may have imported Lance, which warns whoever forks.
@pytest.mark.filterwarnings("ignore:lance is not fork-safe")
class TestDisk:
    @pytest.mark.parametrize("target", ["out.jsonl", "out/", "out.jsonl.gz"])
    @pytest.mark.parametrize("limit", [0, 100_000])
    def test_full(self, here: Path, target: str, limit: int) -> None:
        """When the disk is full the old output stays, and nothing else."""
        text = "x".join(str(number) for number in range(100_000))
        long = {**STORY, "turns": [{"id": 1, "src": "user", "msg": text}]}
        (here / "in.json").write_text(json.dumps(long))
        (here / "out").mkdir()
        (here / target if target != "out/" else here / "out/in.json").write_bytes(OLD)
        before = below(here)

        def fill() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        outcome = hub(
            "convert", "in.json", "--to", "storyline", "-o", target, "--force", prepare=fill
        )

        assert (1, b"") == outcome[:2]
        assert "file too large" in outcome.err
        assert before == below(here)

    def test_read_only(self, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A folder that nobody may write to is an error, and stays as it was."""
        (here / "out").mkdir()
        (here / "out").chmod(0o500)
        monkeypatch.setattr("os.open", _refused)
        monkeypatch.setattr("os.mkdir", _refused)

        for target in ("out/x.json", "out/", "out/new/"):
            with pytest.raises(HubError, match=r"permission denied$"), Sink.open(target) as sink:
                sink.write({})
        assert {} == below(here)

    def test_folder_vanishes(self, here: Path) -> None:
        """When the folder of the output is removed meanwhile, that is an error."""
        (here / "out").mkdir()

        with (  # noqa: PT012  # it fails when it ends
            pytest.raises(HubError, match=r"x\.json: no such file or directory"),
            Sink.open("out/x.json") as sink,
        ):
            sink.write({})
            shutil.rmtree("out")
        assert {} == below(here)


def _refused(path: str, *_: object) -> int:
    raise PermissionError(13, "Permission denied", path)


class TestInputs:
    def test_cut_while_read(self, here: Path, story: str) -> None:
        """A file that gets shorter after it was opened is an input that is cut, or empty."""
        source = Source.open(story)
        assert source.head(100)[0]
        (here / story).write_bytes(b"")

        with pytest.raises(HubError, match=r"the input is empty"):
            list(source.records())

    def test_gone_while_read(self, here: Path, story: str) -> None:
        """A file that is gone after it was looked at is told."""
        source = Source.open(story)
        (here / story).unlink()

        with pytest.raises(HubError, match=r"no such file or directory"):
            list(source.records())

    @pytest.mark.parametrize("path", ["a\0b", "\ud800"])
    def test_no_path(self, path: str) -> None:
        """A name that no file can have is refused, for reading and for writing."""
        for open_it in (Source.open, Sink.open):
            with pytest.raises(HubError, match="no name of a file"):
                open_it(path)
