"""Archives as inputs: what is taken out, what is refused, and that nothing leaves the folder."""

from __future__ import annotations

import gzip
import io
import random
import tarfile
import tracemalloc
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from hub.batch.archives import SUFFIXES, stem_of, take_out
from hub.cli.many import ARCHIVES
from hub.errors import HubError, InvalidDocument
from hub.limits import Limits

zstandard = pytest.importorskip("zstandard", reason="in the standard library from 3.14 on")


PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


def tar(path: Path, *members: tuple[str, bytes], mode: str = "w") -> Path:
    """Write a tar archive of files."""
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]  # a mode of tarfile
        for name, data in members:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def tree(folder: Path) -> dict[str, bytes]:
    """Return the files below *folder*."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An empty folder, in a folder of its own."""
    folder = tmp_path / "somewhere" / "out"
    folder.mkdir(parents=True)
    return folder


class TestNames:
    def test_stem(self) -> None:
        """An archive is known by its suffix."""
        names = ("a/b.tar.gz", "b.TGZ", "b.zip", "b.json.gz", ".zip", "b.tar.zst")
        assert ["a/b", "b", "b", None, None, "b"] == [stem_of(name) for name in names]

    def test_one_list(self) -> None:
        """The command line, which imports little, knows the same suffixes."""
        assert SUFFIXES == ARCHIVES


class TestTakenOut:
    @pytest.mark.parametrize(
        ("suffix", "mode"), [("", "w"), (".gz", "w:gz"), (".bz2", "w:bz2"), (".xz", "w:xz")]
    )
    def test_tar(self, tmp_path: Path, out: Path, suffix: str, mode: str) -> None:
        """Files of a tar archive are taken out, however it is packed."""
        path = tar(tmp_path / f"a.tar{suffix}", ("x/1.json", b"1"), ("./2.json", b"2"), mode=mode)
        assert [] == take_out(str(path), str(out))
        assert {"x/1.json": b"1", "2.json": b"2"} == tree(out)

    def test_zstandard(self, tmp_path: Path, out: Path) -> None:
        """Zstandard too."""
        plain = tar(tmp_path / "a.tar", ("1.json", b"1" * 100_000)).read_bytes()
        packed = tmp_path / "a.tar.zst"
        packed.write_bytes(zstandard.compress(plain))
        assert [] == take_out(str(packed), str(out))
        assert {"1.json": b"1" * 100_000} == tree(out)

    def test_zip(self, tmp_path: Path, out: Path) -> None:
        """Files of a zip archive are taken out."""
        with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("x/1.json", "1")
            archive.mkdir("y") if hasattr(archive, "mkdir") else None
        assert [] == take_out(str(tmp_path / "a.zip"), str(out))
        assert {"x/1.json": b"1"} == tree(out)

    def test_one_name_twice(self, tmp_path: Path, out: Path) -> None:
        """Two files of one name are both taken out."""
        path = tar(tmp_path / "a.tar", ("x/1.json", b"1"), ("x/1.json", b"2"))
        take_out(str(path), str(out))
        assert {"x/1.json": b"1", "x/1-2.json": b"2"} == tree(out)


class TestRefused:
    @pytest.mark.parametrize(
        "name", ["../x.json", "/x.json", "a/../../x.json", "..\\x.json", "C:x.json"]
    )
    def test_names_that_leave_the_folder(self, tmp_path: Path, out: Path, name: str) -> None:
        """A name that leaves the folder is refused; the other files are taken out."""
        path = tar(tmp_path / "a.tar", (name, b"1"), ("2.json", b"2"))
        (refused,) = take_out(str(path), str(out))
        assert name == refused.name
        assert "not a name for a file below the output" in str(refused.error)
        assert {"out/2.json": b"2"} == tree(out.parent)

    def test_zip_that_leaves_the_folder(self, tmp_path: Path, out: Path) -> None:
        """So is one in a zip archive."""
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            archive.writestr("../x.json", "1")
        assert ["../x.json"] == [one.name for one in take_out(str(tmp_path / "a.zip"), str(out))]
        assert {} == tree(out.parent)

    def test_links(self, tmp_path: Path, out: Path) -> None:
        """Links and devices are not made, and nothing is written through them."""
        path = tmp_path / "a.tar"
        with tarfile.open(path, "w") as archive:
            for kind, name, target in (
                (tarfile.SYMTYPE, "folder", "/tmp"),  # noqa: S108  # not followed
                (tarfile.LNKTYPE, "hard.json", "folder"),
                (tarfile.FIFOTYPE, "pipe", ""),
            ):
                member = tarfile.TarInfo(name)
                member.type, member.linkname = kind, target
                archive.addfile(member)
        assert ["hard.json"] == [one.name for one in take_out(str(path), str(out))]
        assert [] == list(out.iterdir())

    @pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.zip"])
    def test_no_archive(self, tmp_path: Path, out: Path, name: str) -> None:
        """What is no archive is refused as a whole."""
        (tmp_path / name).write_bytes(b"words" * 200)
        with pytest.raises(HubError, match="or a damaged one"):
            take_out(str(tmp_path / name), str(out))

    def test_cut(self, tmp_path: Path, out: Path) -> None:
        """So is an archive that is cut."""
        path = tar(tmp_path / "a.tar.gz", ("1.json", bytes(range(256)) * 400), mode="w:gz")
        path.write_bytes(path.read_bytes()[:-200])
        with pytest.raises(HubError):
            take_out(str(path), str(out))

    def test_too_large(self, tmp_path: Path, out: Path) -> None:
        """An archive that holds more than the limit is refused, before all of it is written."""
        path = tar(tmp_path / "a.tar.gz", ("1.json", bytes(10_000_000)), mode="w:gz")
        with pytest.raises(InvalidDocument, match="expected at most 1000000 bytes"):
            take_out(str(path), str(out), Limits(size=1_000_000))
        assert sum(len(data) for data in tree(out).values()) <= 1_000_000

    def test_long_header(self, tmp_path: Path, out: Path) -> None:
        """A header that says it is long is not read into memory."""
        header = tarfile.TarInfo("x")
        header.type, header.size = tarfile.XHDTYPE, 1 << 30
        path = tmp_path / "a.tar.gz"
        path.write_bytes(gzip.compress(header.tobuf() + bytes(100_000_000), 1))
        tracemalloc.start()
        try:
            with pytest.raises(HubError, match="a header of more than 16777216 bytes"):
                take_out(str(path), str(out))
            assert tracemalloc.get_traced_memory()[1] < 60_000_000
        finally:
            tracemalloc.stop()

    @pytest.mark.parametrize("packing", ["w:", "w:gz", "w:xz", "w:bz2", *PACKINGS])
    def test_changed_bytes(self, tmp_path: Path, packing: str | int) -> None:
        """Whatever bytes are changed: what can be is taken out, or there is an error of the hub, and nothing else."""
        data = io.BytesIO()
        if isinstance(packing, str):
            with tarfile.open(fileobj=data, mode=packing) as archive:  # type: ignore[call-overload]  # a mode
                for name in ("a/" + "x" * 120, "ü.json"):
                    member = tarfile.TarInfo(name)
                    member.size = 99
                    archive.addfile(member, io.BytesIO(bytes(99)))
        else:
            with zipfile.ZipFile(data, "w", packing) as zipped:
                for name in ("a/b.json", "ü.json"):
                    zipped.writestr(name, b'{"a":1}' * 50)
        chance = random.Random(1)  # noqa: S311  # for no secret
        path = tmp_path / ("a.tar" if isinstance(packing, str) else "a.zip")
        for number in range(150):
            changed = bytearray(data.getvalue())
            for _ in range(chance.choice((1, 1, 3))):
                changed[chance.randrange(len(changed))] = chance.randrange(256)
            path.write_bytes(changed)
            folder = tmp_path / str(number) / "out"
            folder.mkdir(parents=True)
            with suppress(HubError):
                take_out(str(path), str(folder), Limits(size=1 << 20))
            assert ["out"] == [one.name for one in folder.parent.iterdir()]

    @pytest.mark.parametrize("kind", ["tar", "zip"])
    def test_too_many(self, tmp_path: Path, out: Path, kind: str) -> None:
        """An archive of more files than the limit is refused."""
        path = tmp_path / f"a.{kind}"
        if kind == "tar":
            tar(path, *((f"{number}.json", b"{}") for number in range(4)))
        else:
            with zipfile.ZipFile(path, "w") as archive:
                for number in range(4):
                    archive.writestr(f"{number}.json", b"{}")
        message = (
            f"{path}: fatal: expected at most 3 files in an archive, found more; "
            "--limit members=NUMBER allows more [input.members]"
        )
        with pytest.raises(InvalidDocument) as error:
            take_out(str(path), str(out), Limits(members=3))
        assert message == str(error.value)
        assert [] == take_out(str(path), str(out), Limits(members=4))

    def test_file_that_is_a_folder(self, tmp_path: Path, out: Path) -> None:
        """A file below a file is refused."""
        path = tar(tmp_path / "a.tar", ("x", b"1"), ("x/y", b"2"))
        assert ["x/y"] == [one.name for one in take_out(str(path), str(out))]
