"""Which plugins are installed: what `importlib.metadata` says, without importing it."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from hub import discovery
from hub.discovery import GROUP, EntryPoint, entry_points, normalised


class Site:
    """A folder on `sys.path` with distributions."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()

    def add(
        self,
        folder: str,
        points: str | None = "log = hub_log.plugin",
        *,
        header: str | None = "Name: hub-log\nVersion: 1.0\n",
    ) -> None:
        """Add a folder of metadata with *points* in the group; *header* of its METADATA file."""
        place = self.path / folder
        place.mkdir()
        if header is not None:
            name = "METADATA" if folder.endswith(".dist-info") else "PKG-INFO"
            (place / name).write_text(f"Metadata-Version: 2.1\n{header}\nName: wrong\n")
        if points is not None:
            text = f"[console_scripts]\nx = y:z\n\n[{GROUP}]\n{points}\n\n[other]\nlog = no\n"
            (place / "entry_points.txt").write_text(text)


LIBRARY = [path for path in sys.path if not path.endswith(("site-packages", "dist-packages"))]
"""Where the standard library is, which has no distributions."""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """The only folder on `sys.path` with distributions."""
    one = Site(tmp_path / "site")
    monkeypatch.setattr(sys, "path", [str(one.path), *LIBRARY])
    return one


def from_metadata() -> list[EntryPoint]:
    """Return what `importlib.metadata` says."""
    return sorted(
        EntryPoint(
            point.name,
            point.value.partition(" [")[0],
            point.dist.name,
            point.dist.version,
            str(point.dist.metadata.json.get("summary", "")),
        )
        for point in metadata.entry_points(group=GROUP)
        if point.dist is not None
    )


LOG = EntryPoint("log", "hub_log.plugin", "hub-log", "1.0")


class TestFolders:
    def test_none(self, site: Site) -> None:
        """Without distributions there are no plugins."""
        site.add("other-1.0.dist-info", None)
        assert [] == entry_points() == from_metadata()

    @pytest.mark.parametrize(
        ("folder", "header", "expected"),
        [
            ("hub_log-1.0.dist-info", "Name: hub-log\nVersion: 1.0\n", LOG),
            ("hub_log-1.0.DIST-INFO", "Name: hub-log\nVersion: 1.0\n", LOG),
            (
                "hub_log-1.0.dist-info",
                "Summary: x\nName: Hub.Log\nVersion: 1.0+local.1\n",
                LOG._replace(distribution="Hub.Log", version="1.0+local.1", summary="x"),
            ),
            ("hub_log.egg-info", "Name: hub-log\nVersion: 1.0\n", LOG),
            ("hub_log-1.0-py3.11.egg-info", "Name: hub-log\nVersion: 1.0\n", LOG),
        ],
    )
    def test_distribution(self, site: Site, folder: str, header: str, expected: EntryPoint) -> None:
        """Name and version are those that the distribution declares."""
        if folder.endswith(".DIST-INFO"):
            site.add("hub_log-1.0.dist-info", header=header)
            (site.path / "hub_log-1.0.dist-info").rename(site.path / folder)
        else:
            site.add(folder, header=header)
        assert [expected] == entry_points() == from_metadata()

    @pytest.mark.parametrize("header", [None, "Summary: x\n"])
    def test_without_header(self, site: Site, header: str | None) -> None:
        """Of a distribution that does not say its name and version, the folder does."""
        site.add("hub_log-1.0.dist-info", header=header)
        (site.path / "hub_log-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\n\n")
        assert [LOG._replace(distribution="hub_log")] == entry_points()

    def test_several(self, site: Site) -> None:
        """A distribution may have several plugins, and an id several claimants; all are told, sorted."""
        site.add("b-1.dist-info", "z = b.z\na = b.a", header="Name: b\nVersion: 1\n")
        site.add("a-2.dist-info", "z = a.z", header="Name: a\nVersion: 2\n")
        assert [
            EntryPoint("a", "b.a", "b", "1"),
            EntryPoint("z", "a.z", "a", "2"),
            EntryPoint("z", "b.z", "b", "1"),
        ] == entry_points()
        assert entry_points() == from_metadata()

    @pytest.mark.parametrize(
        "points",
        [
            "log=hub_log.plugin",
            "  log  =  hub_log.plugin  ",
            "# other = x\n\nlog = hub_log.plugin",
            "log = hub_log.plugin [extra]",
            "log = hub_log.plugin [extra, more]",
        ],
    )
    def test_spellings(self, site: Site, points: str) -> None:
        """White space, comments and extras do not matter."""
        site.add("hub_log-1.0.dist-info", points)
        assert [LOG] == entry_points() == from_metadata()

    def test_object(self, site: Site) -> None:
        """An entry point may name an object in a module."""
        site.add("hub_log-1.0.dist-info", "log = hub_log:plugin.hooks")
        assert [LOG._replace(module="hub_log:plugin.hooks")] == entry_points() == from_metadata()

    def test_first_on_the_path(
        self, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Of a distribution that is found twice, the first on the path counts, also without plugins."""
        other = Site(tmp_path / "other")
        monkeypatch.setattr(sys, "path", [str(other.path), str(site.path), *LIBRARY])
        site.add("hub_log-1.0.dist-info")
        site.add("hub_ping-1.0.dist-info", "ping = p", header="Name: hub-ping\nVersion: 1.0\n")
        other.add("Hub.Log-2.0.dist-info", None, header="Name: Hub.Log\nVersion: 2.0\n")
        assert ["ping"] == [point.id for point in entry_points()]
        assert entry_points() == from_metadata()

    def test_unreadable(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        """Folders that are not there, files in the place of folders and broken text are passed over."""
        monkeypatch.setattr(sys, "path", [str(site.path / "gone"), str(site.path), *LIBRARY])
        (site.path / "file-1.0.dist-info").write_text("")
        site.add("hub_log-1.0.dist-info")
        site.add("broken-1.0.dist-info", None)
        (site.path / "broken-1.0.dist-info" / "entry_points.txt").write_bytes(b"\xff\xfe[x]\n")
        assert [LOG] == entry_points()

    def test_current_folder(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        """An empty entry of the path is the current folder."""
        site.add("hub_log-1.0.dist-info")
        monkeypatch.chdir(site.path)
        monkeypatch.setattr(sys, "path", ["", *LIBRARY])
        assert [LOG] == entry_points() == from_metadata()


class TestUnusual:
    def test_archive(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Distributions in an archive are found by `importlib.metadata`."""
        archive = tmp_path / "site.zip"
        with zipfile.ZipFile(archive, "w") as file:
            folder = "hub_log-1.0.dist-info"
            file.writestr(f"{folder}/METADATA", "Name: hub-log\nVersion: 1.0\n")
            file.writestr(f"{folder}/entry_points.txt", f"[{GROUP}]\nlog = hub_log.plugin [x]\n")
        monkeypatch.setattr(sys, "path", [str(archive), *LIBRARY])
        assert [LOG] == entry_points()

    def test_egg(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        """So are those in an egg."""
        egg = site.path / "hub_log-1.0.egg"
        egg.mkdir()
        (egg / "EGG-INFO").mkdir()
        (egg / "EGG-INFO" / "PKG-INFO").write_text("Name: hub-log\nVersion: 1.0\n")
        (egg / "EGG-INFO" / "entry_points.txt").write_text(f"[{GROUP}]\nlog = hub_log.plugin\n")
        monkeypatch.setattr(sys, "path", [str(egg), *LIBRARY])
        assert [LOG] == entry_points()

    def test_finder(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        """So are those that a finder of its own finds."""

        class Finder(metadata.DistributionFinder):
            def find_distributions(
                self,
                context: metadata.DistributionFinder.Context = metadata.DistributionFinder.Context(),  # noqa: B008  # as in the base class
            ) -> list[metadata.Distribution]:
                del context
                return [
                    metadata.PathDistribution(site.path / "elsewhere" / "hub_log-1.0.dist-info")
                ]

        (site.path / "elsewhere").mkdir()
        site.add("elsewhere/hub_log-1.0.dist-info")
        monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
        assert [LOG] == entry_points()


class TestInstalled:
    def test_agreement(self) -> None:
        """What is installed here is what `importlib.metadata` says, either way it is found."""
        assert from_metadata() == sorted(set(discovery._from_folders()))  # noqa: SLF001  # both ways
        assert from_metadata() == sorted(set(discovery._from_metadata()))  # noqa: SLF001

    def test_light(self) -> None:
        """Finding plugins imports neither them nor `importlib.metadata`."""
        code = (
            "import sys; from hub.discovery import entry_points; entry_points();"
            "print([name for name in sys.modules"
            " if name.startswith(('hub_', 'importlib.metadata'))])"
        )
        done = subprocess.run(  # noqa: S603  # our own interpreter
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        )
        assert "[]\n" == done.stdout


class TestName:
    @pytest.mark.parametrize("name", ["Hub-Log", "hub_log", "HUB.LOG", "hub-_-log"])
    def test_normalised(self, name: str) -> None:
        """All spellings of the name of a distribution are one."""
        assert "hub-log" == normalised(name)

    def test_text(self) -> None:
        """A plugin is named by its distribution and version."""
        assert "hub-log 1.0" == str(LOG)
        assert "x.py" == str(EntryPoint("log", "m", "x.py", ""))
