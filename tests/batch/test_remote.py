"""Places elsewhere: a real S3 server and a real HTTP server, both on this machine."""

from __future__ import annotations

import gzip
import io
import json
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hub import api, remote
from hub.batch.places import relative_to
from hub.cli.app import run
from hub.errors import HubError, UsageError
from hub.registry import Formats
from hub.streams import is_remote


def story(session: str, **members: object) -> dict[str, Any]:
    """Return a Storyline."""
    return {
        "schema_version": "storyline/v1",
        "session": session,
        "agent": {"id": "a"},
        "turns": [{"id": 1, "src": "user", "msg": "hi"}],
        **members,
    }


def text(*sessions: str) -> bytes:
    """Return a Storyline of each session, a line each."""
    return b"".join(json.dumps(story(one)).encode() + b"\n" for one in sessions)


class Ended(NamedTuple):
    """What one run of the program did."""

    status: int
    out: str
    err: str


class Hub:
    """The program, run in this process."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self.capfd = capfd

    def __call__(self, *arguments: str) -> Ended:
        status = run(list(arguments))
        captured = self.capfd.readouterr()
        assert "Traceback" not in captured.err
        assert "internal error" not in captured.err
        return Ended(status, captured.out, captured.err)


@pytest.fixture
def hub(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Hub:
    """Run the program in this process, in an empty folder, with the hub's own format."""
    monkeypatch.setattr(api, "formats", Formats([]))
    monkeypatch.setenv("HUB_DISABLE_PLUGINS", "actf,ale,atif,openai-messages")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return Hub(capfd)


class TestUrls:
    @pytest.mark.parametrize(
        ("path", "expected"),
        [
            ("s3://bucket/a.json", True),
            ("https://host/a.json?x=1", True),
            ("simplecache::s3://bucket/a", False),
            ("a.json", False),
            ("C://a.json", False),
            ("dir/s3://x", False),
            ("://x", False),
        ],
    )
    def test_what_is_one(self, path: str, expected: bool) -> None:  # noqa: FBT001  # a table
        """What begins with a protocol is a URL; the letter of a drive is none."""
        assert expected is is_remote(path)

    def test_without_the_extra(self, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without fsspec the extra to install is named."""
        monkeypatch.setitem(sys.modules, "fsspec", None)
        monkeypatch.setitem(sys.modules, "fsspec.core", None)
        ended = hub("convert", "s3://bucket/a.json", "--to", "storyline")
        assert (
            2,
            "hub: s3://bucket/a.json: needs an extra: pip install 'storyline-hub[remote]'\n",
        ) == (
            ended.status,
            ended.err,
        )

    def test_imported_when_it_is_asked_for(self, tmp_path: Path) -> None:
        """Nobody who stays on this machine loads fsspec."""
        (tmp_path / "in").mkdir()
        (tmp_path / "in/a.json").write_bytes(text("a"))
        code = (
            "import sys; from hub.cli.app import run; status = run(sys.argv[1:]);"
            "sys.exit(status or 'fsspec' in sys.modules)"
        )
        command = ["convert", str(tmp_path / "in"), "--to", "storyline", "-o", str(tmp_path / "o")]
        subprocess.run([sys.executable, "-c", code, *command], check=True)  # noqa: S603


@pytest.fixture(scope="module")
def s3() -> Iterator[Any]:
    """Run an S3 server, and give a client of it."""
    pytest.importorskip("moto.server")
    s3fs = pytest.importorskip("s3fs")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    settings = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "NO_PROXY": "127.0.0.1",
    }
    with (
        pytest.MonkeyPatch.context() as patched,
        subprocess.Popen(server, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process,  # noqa: S603
    ):
        try:
            for name, value in settings.items():
                patched.setenv(name, value)
            _wait_for(port)
            yield s3fs.S3FileSystem(use_listings_cache=False)
        finally:
            process.kill()


def _wait_for(port: int) -> None:
    for _ in range(300):
        with socket.socket() as one:
            if not one.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.1)
    pytest.fail("the server does not answer")


@pytest.fixture
def bucket(s3: Any, request: pytest.FixtureRequest) -> str:
    """Make an empty bucket, and return its URL."""
    name = "b" + str(abs(hash(request.node.name)) % 10**12)
    s3.mkdir(name)
    return f"s3://{name}"


def put(s3: Any, url: str, data: bytes) -> None:
    """Write *data* to *url*."""
    s3.pipe_file(url, data)


def objects(s3: Any, url: str) -> dict[str, str]:
    """Return the session of each object below *url*."""
    start = len(url.removeprefix("s3://")) + 1
    return {path[start:]: json.loads(s3.cat_file(path))["session"] for path in s3.find(url)}


class TestObjects:
    def test_one_file(self, hub: Hub, s3: Any, bucket: str) -> None:
        """An object is converted to an object, packed if its name says so."""
        put(s3, f"{bucket}/in/a.json", text("a"))
        ended = hub(
            "convert", f"{bucket}/in/a.json", "--to", "storyline", "-o", f"{bucket}/b.json.gz"
        )
        assert 0 == ended.status
        assert ended.err.endswith(f"in {bucket}/b.json.gz\n")
        assert "a" == json.loads(gzip.decompress(s3.cat_file(f"{bucket}/b.json.gz")))["session"]

    def test_to_this_machine(self, hub: Hub, s3: Any, bucket: str) -> None:
        """An object becomes a file here, and a file here an object."""
        put(s3, f"{bucket}/a.json", text("a"))
        assert 0 == hub("convert", f"{bucket}/a.json", "--to", "storyline", "-o", "a.json").status
        assert (
            0 == hub("convert", "a.json", "--to", "storyline", "-o", f"{bucket}/new/b.json").status
        )
        assert {"a.json": "a", "new/b.json": "a"} == objects(s3, bucket)

    def test_existing(self, hub: Hub, s3: Any, bucket: str) -> None:
        """An object that is there is replaced with `--force` only, and the input never."""
        put(s3, f"{bucket}/a.json", text("a"))
        put(s3, f"{bucket}/b.json", text("b"))
        convert = ("convert", f"{bucket}/a.json", "--to", "storyline", "-o")
        refused = hub(*convert, f"{bucket}/b.json")
        assert (2, f"hub: {bucket}/b.json: exists; --force replaces it\n") == refused[::2]
        refused = hub(*convert, f"{bucket}/a.json", "--force")
        assert 2 == refused.status
        assert "the output is the input" in refused.err
        assert {"a.json": "a", "b.json": "b"} == objects(s3, bucket)
        assert 0 == hub(*convert, f"{bucket}/b.json", "--force").status
        assert {"a.json": "a", "b.json": "a"} == objects(s3, bucket)

    def test_broken(self, hub: Hub, s3: Any, bucket: str) -> None:
        """Of a broken input nothing appears."""
        put(s3, f"{bucket}/a.json", text("a") + b'{"session')
        ended = hub("convert", f"{bucket}/a.json", "--to", "storyline", "-o", f"{bucket}/b.json")
        assert 1 == ended.status
        assert f"{bucket}/a.json: line 2: fatal: the last line is cut" in ended.err
        assert ["a.json"] == [path.rpartition("/")[2] for path in s3.find(bucket)]

    def test_folder(self, hub: Hub, s3: Any, bucket: str) -> None:
        """With a slash at its end the output is a folder, with an object for each document."""
        put(s3, f"{bucket}/a.jsonl", text("a", "b"))
        assert (
            0
            == hub("convert", f"{bucket}/a.jsonl", "--to", "storyline", "-o", f"{bucket}/o/").status
        )
        assert {"a.storyline.json": "a", "b.storyline.json": "b"} == objects(s3, f"{bucket}/o")

    def test_detected_and_validated(self, hub: Hub, s3: Any, bucket: str) -> None:
        """Other commands read it too."""
        put(s3, f"{bucket}/a.json", text("a"))
        assert f"{bucket}/a.json: storyline" in hub("detect", f"{bucket}/a.json").out
        assert "valid storyline" in hub("validate", f"{bucket}/a.json").out
        assert "folder elsewhere" in hub("detect", bucket).err

    @pytest.mark.parametrize("name", ["nothing.json", "nothing/"])
    def test_nothing_there(self, hub: Hub, bucket: str, name: str) -> None:
        """What is not there is said."""
        ended = hub("convert", f"{bucket}/{name}", "--to", "storyline", "-o", "a.json")
        assert (2, f"hub: {bucket}/{name}: no such file or directory\n") == ended[::2]

    def test_unreachable(self, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
        """So is that a place cannot be reached."""
        s3fs = pytest.importorskip("s3fs")
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "other")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
        s3fs.S3FileSystem.clear_instance_cache()
        ended = hub("convert", "s3://bucket/a.json", "--to", "storyline")
        s3fs.S3FileSystem.clear_instance_cache()
        assert 1 == ended.status
        assert ended.err.startswith("hub: s3://bucket/a.json: cannot be reached: ")

    def test_unknown_protocol(self, hub: Hub) -> None:
        """A protocol that nobody knows is misuse."""
        pytest.importorskip("fsspec")
        ended = hub("convert", "nowhere://a.json", "--to", "storyline")
        assert (2, "hub: nowhere://a.json: Protocol not known: nowhere\n") == ended[::2]


class TestMany:
    def lay(self, s3: Any, bucket: str) -> None:
        """Write a folder with good objects, a broken one, and one that is none of ours."""
        put(s3, f"{bucket}/in/a.json", text("a"))
        put(s3, f"{bucket}/in/b/c.storyline.json", text("c"))
        put(s3, f"{bucket}/in/b/torn.json", b'{"schema_version": "storyline/v1", "ses')
        put(s3, f"{bucket}/in/README.md", b"Read me.\n")

    @pytest.mark.parametrize("jobs", ["1", "2"])
    def test_folder(self, hub: Hub, s3: Any, bucket: str, jobs: str) -> None:
        """The objects of a folder become those of another one, below which they stand as they did."""
        self.lay(s3, bucket)
        convert = ("convert", f"{bucket}/in", "--to", "storyline", "-o", f"{bucket}/out/")
        ended = hub(*convert, "--jobs", jobs, "--summary", "s.json")
        assert 3 == ended.status
        assert f"{bucket}/in/b/torn.json: fatal: not JSON: " in ended.err
        assert f"{bucket}/in/README.md: skipped: unknown format" in ended.err
        assert {"a.json": "a", "b/c.storyline.json": "c"} == objects(s3, f"{bucket}/out")
        inputs = json.loads(Path("s.json").read_text())["inputs"]
        assert [f"{bucket}/out/b/c.storyline.json"] == inputs[2]["outputs"]

    def test_output_among_the_inputs(self, hub: Hub, s3: Any, bucket: str) -> None:
        """An output folder that lies among the inputs is not read."""
        put(s3, f"{bucket}/a.json", text("a"))
        for _ in range(2):
            ended = hub("convert", bucket, "--to", "storyline", "-o", f"{bucket}/out/", "--resume")
            assert 0 == ended.status
        assert {"a.json": "a", "out/a.json": "a"} == objects(s3, bucket)

    def test_pattern(self, hub: Hub, s3: Any, bucket: str) -> None:
        """A pattern finds objects; one that matches nothing fails."""
        self.lay(s3, bucket)
        ended = hub("convert", f"{bucket}/in/**/*.storyline.json", "--to", "storyline", "-o", "out")
        assert 0 == ended.status
        assert Path("out/b/c.storyline.json").exists()
        assert "no file matches" in hub("validate", f"{bucket}/x/*.json").err

    def test_resumed(self, hub: Hub, s3: Any, bucket: str) -> None:
        """The journal stands on this machine: what is done, and has not changed, is left as it is."""
        self.lay(s3, bucket)
        convert = ("convert", f"{bucket}/in", "--to", "storyline", "-o", f"{bucket}/out")
        hub(*convert)
        again = hub(*convert)
        assert 2 == again.status
        assert "holds an earlier run" in again.err
        before = s3.info(f"{bucket}/out/a.json")["LastModified"]
        s3.rm_file(f"{bucket}/out/b/c.storyline.json")
        put(s3, f"{bucket}/in/b/torn.json", text("mended"))
        assert 0 == hub(*convert, "--resume").status
        assert before == s3.info(f"{bucket}/out/a.json")["LastModified"]
        assert {"a.json": "a", "b/c.storyline.json": "c", "b/torn.json": "mended"} == objects(
            s3, f"{bucket}/out"
        )
        put(s3, f"{bucket}/in/b/torn.json", b"{")
        assert "b/torn.json, of an earlier run, is removed" in hub(*convert, "--resume").err
        assert {"a.json", "b/c.storyline.json"} == set(objects(s3, f"{bucket}/out"))

    def test_archive(self, hub: Hub, s3: Any, bucket: str) -> None:
        """An archive elsewhere is a folder of inputs."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("x/a.json", text("a"))
        put(s3, f"{bucket}/runs.zip", packed.getvalue())
        assert (
            0
            == hub("convert", f"{bucket}/runs.zip", "--to", "storyline", "-o", f"{bucket}/o").status
        )
        assert {"x/a.json": "a"} == objects(s3, f"{bucket}/o")

    def test_merged(self, hub: Hub, s3: Any, bucket: str) -> None:
        """All documents can be put into one object."""
        self.lay(s3, bucket)
        merge = ("convert", f"{bucket}/in", "--to", "storyline", "--merge", "lines")
        assert 3 == hub(*merge, "-o", f"{bucket}/all.jsonl").status
        lines = s3.cat_file(f"{bucket}/all.jsonl").splitlines()
        assert ["a", "c"] == [json.loads(line)["session"] for line in lines]

    def test_names_that_lead_out(self) -> None:
        """An object whose name leads out of the output folder gets no place."""
        assert "x/a.json" == relative_to("s3://bucket/in", "s3://bucket/in/x/a.json")
        with pytest.raises(HubError, match="not a name for a file below the output"):
            relative_to("s3://bucket/in", "s3://bucket/in/../../x.json")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    """Serve the folder `site` by HTTP, and return its URL."""
    pytest.importorskip("aiohttp")
    pytest.importorskip("fsspec")
    (tmp_path / "site/runs").mkdir(parents=True)
    handler = partial(_Quiet, directory=str(tmp_path / "site"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


class TestWeb:
    def test_file(self, hub: Hub, web: str) -> None:
        """A file of a web server is an input."""
        Path("site/a.json.gz").write_bytes(gzip.compress(text("a")))
        ended = hub("convert", f"{web}/a.json.gz?x=1", "--to", "storyline", "-o", "a.json")
        assert 0 == ended.status
        assert "a" == json.loads(Path("a.json").read_text())["session"]

    def test_folder(self, hub: Hub, web: str) -> None:
        """A listing of a web server is a folder."""
        Path("site/runs/a.json").write_bytes(text("a"))
        Path("site/runs/b.json").write_bytes(text("b"))
        assert 0 == hub("convert", f"{web}/runs/", "--to", "storyline", "-o", "out").status
        assert Path("out/a.json").exists()
        assert Path("out/b.json").exists()

    def test_several(self, hub: Hub, web: str) -> None:
        """Files from everywhere go into one folder, each as it stands below its own input."""
        Path("site/a.json").write_bytes(text("a"))
        Path("x").mkdir()
        Path("x/a.json").write_bytes(text("x"))
        assert 0 == hub("convert", "x", f"{web}/a.json", "--to", "storyline", "-o", "out").status
        assert {"a.json": "x", "a-2.json": "a"} == {
            path.name: json.loads(path.read_text())["session"]
            for path in Path("out").glob("*.json")
        }

    def test_only_read(self, hub: Hub, web: str) -> None:
        """Nothing is written to a web server."""
        Path("a.json").write_bytes(text("a"))
        ended = hub("convert", "a.json", "--to", "storyline", "-o", f"{web}/b.json")
        assert 2 == ended.status
        assert "http is only read" in ended.err

    def test_missing(self, web: str) -> None:
        """What is not there is said."""
        with pytest.raises(UsageError, match=r"nothing\.json: no such file or directory"):
            remote.find(f"{web}/nothing.json")

    def test_unreachable(self) -> None:
        """So is that a place cannot be reached."""
        pytest.importorskip("aiohttp")
        with pytest.raises((HubError, UsageError), match=r"http://127\.0\.0\.1:9/a\.json: "):
            remote.RemoteFile(remote.find("http://127.0.0.1:9/a.json")).open(again=True).read(1)
