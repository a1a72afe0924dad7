"""The kit for authors of plugins: what it says of broken promises, its builders, its documents, its pytest plugin."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import hub
from hub.codec import to_valid_wire
from hub.errors import MISSING, Json, PluginError
from hub.testing import (
    ContractBroken,
    agent,
    call,
    corpus,
    from_wire,
    result,
    samples,
    storyline,
    to_wire,
    turn,
)
from hub.testing.differences import Difference, changed, differences, members, objects, without
from hub.testing.documents import STRANGERS
from hub.testing.failures import doing, expect


class TestFailures:
    def test_says_both(self) -> None:
        """A broken promise says what was found, and what to do."""
        with pytest.raises(ContractBroken) as caught:
            expect(False, "it is late", "come earlier")  # noqa: FBT003  # the point
        assert "it is late\nWhat to do: come earlier" == str(caught.value)
        again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301  # our own
        assert str(caught.value) == str(again)

    def test_kept(self) -> None:
        """Of a promise that is kept nothing is said."""
        expect([0], "", "")

    def test_names_the_place(self) -> None:
        """What a plugin raises is told with the place in its own code."""

        def careless(document: Json) -> Json:
            return document["title"]

        told = pytest.raises(ContractBroken, match=r"reading x: KeyError: 'title' \(at .*test_kit")
        with told, doing("reading x"):
            careless({})

    def test_names_the_cause(self) -> None:
        """So it is when the hub has caught it first; without a cause the hub's own words are told."""
        error = PluginError("the plugin failed")
        error.__cause__ = TypeError("boom")
        with pytest.raises(ContractBroken, match="writing x: TypeError: boom"), doing("writing x"):
            raise error
        with pytest.raises(ContractBroken, match="writing x: wrote junk"), doing("writing x"):
            raise PluginError("wrote junk")

    def test_refusals_pass(self) -> None:
        """A document that is refused is no broken promise."""
        with pytest.raises(hub.InvalidDocument), doing("reading x"):
            raise hub.InvalidDocument([])


class TestDifferences:
    @pytest.mark.parametrize(
        ("before", "after", "said"),
        [
            (1, 1.0, "at the root 1 became 1.0"),
            (0.0, -0.0, "at the root 0.0 became -0.0"),
            ({"a": None}, {}, "at /a null became nothing"),
            ({"a~/": [1]}, {"a~/": [1, 2]}, "at /a~0~1/1 nothing became 2"),
            ([{"b": True}], [{"b": 1}], "at /0/b true became 1"),
        ],
    )
    def test_told(self, before: Json, after: Json, said: str) -> None:
        """Types and signs count, and each place is named."""
        (found,) = differences(before, after)
        assert said == str(found)

    def test_order(self) -> None:
        """The order of members does not count."""
        assert [] == list(differences({"a": 1, "b": 2}, {"b": 2, "a": 1}))

    def test_missing(self) -> None:
        """A value that is not there is told apart from null."""
        assert [Difference("/a", MISSING, None)] == list(differences({}, {"a": None}))


class TestPlaces:
    DOCUMENT: Json = {"a": {"/": [{"b": 1}, 2]}, "c": 3}  # noqa: RUF012  # never changed

    def test_objects(self) -> None:
        """Every object is found, the outer ones first."""
        assert ["", "/a", "/a/~1/0"] == [at for at, _ in objects(self.DOCUMENT)]

    def test_members(self) -> None:
        """Members are spread over the document when there are too many."""
        assert ["/a", "/c", "/a/~1", "/a/~1/0/b"] == members(self.DOCUMENT, 9)
        assert 2 >= len(members(self.DOCUMENT, 2))

    def test_changed(self) -> None:
        """What is changed is a copy, and the rest is shared."""
        found = changed(self.DOCUMENT, "/a/~1/0/b", None)
        assert {"a": {"/": [{"b": None}, 2]}, "c": 3} == found
        assert 1 == self.DOCUMENT["a"]["/"][0]["b"]

    def test_without(self) -> None:
        """Members are left out; what is not there is passed over."""
        found = without(self.DOCUMENT, ["/a/~1/0/b", "/c", "/x/y", "/a/~1/7/b"])
        assert {"a": {"/": [{}, 2]}} == found


class TestBuilders:
    def test_storyline(self) -> None:
        """What is not named is left out, and turns are numbered by their place."""
        one = storyline(
            turn("user", "q"),
            turn("agent", "", call("c", "f"), results=[result("c", 1), result(None)], turn_id=9),
            agent=agent("me", name="Me"),
        )
        assert to_wire(one) == {
            "schema_version": "storyline/v1",
            "session": "session",
            "agent": {"id": "me", "name": "Me"},
            "turns": [
                {"id": 1, "src": "user", "msg": "q"},
                {
                    "id": 9,
                    "src": "agent",
                    "msg": "",
                    "tool_calls": [{"tcid": "c", "fn": "f", "args": {}}],
                    "observation": {
                        "results": [{"source_call_id": "c", "content": 1}, {"content": "done"}]
                    },
                },
            ],
        }


class TestDocuments:
    @pytest.mark.parametrize("name", sorted(corpus()))
    def test_corpus(self, name: str) -> None:
        """Every Storyline of the kit is valid, comes back from its JSON, and is made anew each time."""
        batch = corpus()[name]
        assert batch == [from_wire(to_valid_wire(one)) for one in batch]
        assert batch[0] is not corpus()[name][0]

    @pytest.mark.parametrize("sample", samples(), ids=lambda one: one.name)
    def test_samples(self, sample: hub.testing.FormatSample) -> None:
        """Every sample is of the format that it is said to be, and free of errors."""
        if sample.format not in hub.formats:
            pytest.skip(f"{sample.format} is not installed")
        assert sample.format == hub.detect(hub.Source(sample.data)).format
        assert hub.validate(hub.Source(sample.data)).is_valid

    @pytest.mark.parametrize("name", STRANGERS)
    def test_strangers(self, name: str) -> None:
        """What is no trajectory is of no format."""
        with pytest.raises(hub.InvalidDocument):
            hub.detect(hub.Source(json.dumps(STRANGERS[name]).encode()))


class TestNames:
    def test_unknown(self) -> None:
        """A name that there is not is an attribute error."""
        with pytest.raises(AttributeError, match=r"module 'hub.testing' has no attribute 'gone'"):
            hub.testing.gone  # noqa: B018  # the point

    def test_light(self) -> None:
        """Importing the kit imports neither hypothesis nor pytest."""
        script = (
            "import sys, hub.testing; sys.exit(bool({'hypothesis', 'pytest'} & set(sys.modules)))"
        )
        done = subprocess.run([sys.executable, "-c", script], check=False)  # noqa: S603  # our own
        assert 0 == done.returncode


class TestPytestPlugin:
    @staticmethod
    def run(folder: Path, *arguments: str) -> str:
        """Run a test of a promise that is broken, and return what is printed."""
        (folder / "test_x.py").write_text(
            "from hypothesis import settings\n"
            "from hub.testing.failures import broken\n"
            "def test_x():\n"
            "    broken(f'{settings().max_examples} examples', 'nothing')\n"
        )
        words = ["-m", "pytest", "-p", "hub.testing.pytest_plugin", "-p", "no:cacheprovider"]
        done = subprocess.run(  # noqa: S603  # our own interpreter
            [sys.executable, *words, *arguments],
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert 1 == done.returncode, done.stdout + done.stderr
        return done.stdout

    def test_words_without_a_trace(self, tmp_path: Path) -> None:
        """A broken promise is told in words, under a head that names the hub and its formats."""
        said = self.run(tmp_path)
        assert f"storyline-hub {hub.__version__}, formats: " in said
        assert "examples\nWhat to do: nothing\n" in said
        assert "failures.py" not in said

    def test_examples(self, tmp_path: Path) -> None:
        """The number of examples is set on the command line."""
        assert "7 examples\n" in self.run(tmp_path, "--contract-examples", "7")
