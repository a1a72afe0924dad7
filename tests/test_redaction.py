"""`--redact`: secrets and personal data go from every format, whatever it is converted to."""

from __future__ import annotations

import copy
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import hub
from hub import redaction
from hub.cli.app import run
from hub.errors import FormatError, UnknownFormat, UsageError
from hub.redaction import redact
from hub.testing import call, result, storyline, to_wire, turn

pytest.importorskip("detect_secrets", reason="needs the extra `redact`")

Json = Any

# Put together here, so that no scanner of repositories takes them for real ones.
AWS = "AKIA" + "IOSFODNN7EXAMPLE"
GITHUB = "ghp_" + "a1B2" * 9
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIE" + "x" * 40 + "\n-----END RSA PRIVATE KEY-----"


def redacted(value: Json) -> tuple[Json, dict[str, int]]:
    """Return *value* redacted, and what was found."""
    counts: Counter[str] = Counter()
    return redact(value, counts), dict(counts)


class TestTexts:
    @pytest.mark.parametrize(
        ("text", "kind", "shown"),
        [
            (f"key {AWS} end", "AWS Access Key", "key [redacted: AWS Access Key] end"),
            (f"token={GITHUB}", "GitHub Token", "token=[redacted: GitHub Token]"),
            (f"a\n{KEY}\nb", "private key", "a\n[redacted: private key]\nb"),
            (KEY[:50], "private key", "[redacted: private key]"),
            (
                "https://me:s3cret-word@host/",
                "Basic Auth Credentials",
                "https://me:[redacted: Basic Auth Credentials]@host/",
            ),
            ("ask a.b+c@example.org!", "e-mail address", "ask [redacted: e-mail address]!"),
            ("call +49 30 1234 5678", "phone number", "call [redacted: phone number]"),
            ("4111 1111 1111 1111", "payment card", "[redacted: payment card]"),
            ("DE89 3704 0044 0532 0130 00", "bank account", "[redacted: bank account]"),
        ],
    )
    def test_found(self, text: str, kind: str, shown: str) -> None:
        """What is found gives way to a mark that says what it was."""
        assert (shown, {kind: 1}) == redacted(text)

    @pytest.mark.parametrize(
        "text",
        [
            *(
                "",
                "short",
                "2026-01-05T09:00:00Z",
                "a@b",
                "user@host:/srv",
                "1.2.3",
                "4111 1111 1111 1112",
            ),
            *("toolu_01A09q90qw90lq917835lq9", "3fa85f64-5717-4562-b3fc-2c963f66afa6", "+1"),
            "data:image/png;base64," + AWS * 60,
        ],
    )
    def test_left(self, text: str) -> None:
        """Times, ids, versions and images are left alone."""
        assert (text, {}) == redacted(text)

    def test_again(self) -> None:
        """What is redacted has nothing left to redact."""
        once, _ = redacted(f"{AWS} {GITHUB} {KEY} me@example.org")
        assert (once, {}) == redacted(once)


class TestValues:
    def test_anywhere(self) -> None:
        """In names and values, at every depth; the value itself is not changed."""
        value = {"a": [{"me@example.org": f"{AWS} and {AWS}"}, 1, None]}
        before = copy.deepcopy(value)
        found, counts = redacted(value)
        mark = "[redacted: AWS Access Key]"
        assert {"a": [{"[redacted: e-mail address]": f"{mark} and {mark}"}, 1, None]} == found
        assert {"AWS Access Key": 2, "e-mail address": 1} == counts
        assert before == value

    def test_shared(self) -> None:
        """A value in which nothing is found is the same object, not a copy."""
        value = {"a": [{"b": "nothing to be found here"}]}
        assert value is redacted(value)[0]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A Storyline with secrets in every kind of place."""
    one = storyline(
        turn("user", f"My key is {AWS}.", reasoning_content=f"of me@example.org, {AWS}"),
        turn(
            "agent",
            [{"type": "text", "text": GITHUB}],
            call("c1", "login", {"token": GITHUB}),
            results=[result("c1", {"out": KEY})],
            metrics={"tokens": 1},
        ),
        notes=AWS,
        extra={AWS: AWS},
    )
    path = tmp_path / "run.json"
    path.write_text(json.dumps(to_wire(one)))
    return path


SECRETS = (AWS, GITHUB, "MIIExx", "me@example.org")


class TestConversions:
    @pytest.mark.parametrize(
        "target", sorted(one.id for one in hub.formats.values() if one.can_write)
    )
    def test_every_format(self, file: Path, target: str, tmp_path: Path) -> None:
        """No secret is in any format that is written, nor in its envelope; read back, the rest is there."""
        output = tmp_path / "out.json"
        done = hub.convert(file, output, to=target, extensions=["redact"])
        text = output.read_text()
        assert [] == [one for one in SECRETS if one in text]
        assert {"redact.found"} >= {one.rule for one in done.problems if one.severity == "info"}
        (back,) = hub.read(output, format=target)
        assert [1, 2] == [one.turn_id for one in back.turns]

    @pytest.mark.parametrize(
        "source",
        sorted(one.id for one in hub.formats.values() if one.can_write and one.info.envelope),
    )
    def test_envelopes(self, file: Path, source: str, tmp_path: Path) -> None:
        """Nor does what an envelope carries bring one back."""
        between, output = tmp_path / "between.json", tmp_path / "out.json"
        hub.convert(file, between, to=source)
        assert AWS in between.read_text()
        hub.convert(between, output, to="storyline", format=source, extensions=["redact"])
        assert [] == [one for one in SECRETS if one in output.read_text()]

    def test_only_when_asked_for(self, file: Path, tmp_path: Path) -> None:
        """The next conversion is as if there had been no extension."""
        hub.convert(file, tmp_path / "a.json", to="storyline", extensions=["redact"])
        hub.convert(file, tmp_path / "b.json", to="storyline")
        assert json.loads(file.read_text()) == json.loads((tmp_path / "b.json").read_text())

    def test_report(self, file: Path) -> None:
        """The report counts what was redacted, by kind."""
        report = hub.measure(file, to="storyline", extensions=["redact"])
        expected = {
            "AWS Access Key": 5,
            "GitHub Token": 2,
            "e-mail address": 1,
            "private key": 1,
        }
        assert expected == report.redacted == report.to_json()["redacted"]
        assert "redacted     GitHub Token  (2)\n" in report.to_text()


class TestCommand:
    def test_tells(self, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """The command says how much was redacted."""
        output = str(tmp_path / "out.json")
        assert 0 == run(["convert", str(file), "--to", "storyline", "-o", output, "--redact"])
        said = capsys.readouterr().err.splitlines()[-1]
        assert said == "redacted: 5 AWS Access Key, 2 GitHub Token, 1 e-mail address, 1 private key"

    def test_many(self, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """Of many inputs, converted by several processes, each is redacted."""
        folder, output = tmp_path / "runs", tmp_path / "clean"
        folder.mkdir()
        for name in ("a.json", "b.json"):
            (folder / name).write_bytes(file.read_bytes())
        words = ["convert", str(folder), "--to", "storyline", "-o", str(output), "--redact"]
        assert 0 == run([*words, "--jobs", "2"]), capsys.readouterr().err
        texts = [path.read_text() for path in output.rglob("*.json")]
        assert [True, True] == ["[redacted: AWS Access Key]" in text for text in texts]
        assert [] == [one for one in SECRETS for text in texts if one in text]

    def test_unknown(self, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """An extension that there is not is misuse, and the message names those that are there."""
        assert 2 == run(["convert", str(file), "--to", "storyline", "--extension", "gone"])
        assert "hub: no extension is called 'gone'; installed: redact\n" == capsys.readouterr().err


class TestRefused:
    def test_without_the_library(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without its library nothing is converted: it must not seem redacted."""
        monkeypatch.setitem(sys.modules, "detect_secrets.plugins.base", None)
        redaction._detectors.cache_clear()  # noqa: SLF001  # as in a new process
        with pytest.raises(UsageError, match=r"storyline-hub\[redact\]"):
            hub.convert(file, "-", to="storyline", extensions=["redact"])

    def test_third_party(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """An extension of a third party is found by its entry point; a broken one is told of, and used nowhere."""
        folder = tmp_path / "shout-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Name: shout\nVersion: 1.0\n")
        points = "[storyline_hub.extensions]\nshout = ext_shout\nbad = ext_bad\n"
        (folder / "entry_points.txt").write_text(points)
        (tmp_path / "ext_shout.py").write_text(
            "from hub import hookimpl\n"
            "@hookimpl(wrapper=True)\n"
            "def to_storyline(document):\n"
            "    found = list((yield))\n"
            "    for one in found:\n"
            "        one.notes = 'SHOUT'\n"
            "    return found\n"
        )
        (tmp_path / "ext_bad.py").write_text("import no_such_module\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        source = hub.Source.of(to_wire(storyline()))
        with hub.formats.extended(["shout"]):
            assert ["SHOUT"] == [one.notes for one in hub.read(source, format="storyline")]
        assert [None] == [one.notes for one in hub.read(source, format="storyline")]
        with pytest.raises(FormatError, match=r"'bad' of shout 1.0 cannot be used: ModuleNotFound"):
            hub.formats.extended(["bad"]).__enter__()
        with pytest.raises(UnknownFormat, match="installed: bad, redact, shout"):
            hub.formats.extended(["gone"]).__enter__()
