"""The contract of each format finds mistakes that are put into its plugin, and says what to do."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import hub
from hub import Detection, Document, Sample, Source, Storyline, hookimpl
from hub.testing import ContractBroken, FormatContract

ROOT = Path(__file__).parent.parent.parent

FORMATS = [one for one in ("actf", "ale", "atif", "openai-messages") if one in hub.formats]


class Mutation(NamedTuple):
    """A mistake in a hook, the test of the contract that finds it, and what that says."""

    name: str
    hook: str
    mistaken: Callable[[Any], Any]
    """Makes of the hook one with the mistake."""
    test: str
    says: str


def dropping(hook: Any) -> Any:
    """Return the hook that forgets what is said."""

    def to_storyline(document: Document[Any]) -> Iterator[Storyline]:
        for storyline in hook(document):
            for turn in storyline.turns:
                turn.message = ""
            yield storyline

    return to_storyline


def misplacing(hook: Any) -> Any:
    """Return the hook that keeps what no field takes under other pointers."""

    def to_storyline(document: Document[Any]) -> Iterator[Storyline]:
        for storyline in hook(document):
            for residuals in storyline.unknown_fields.values():
                residuals.fields = {f"/elsewhere{at}": one for at, one in residuals.fields.items()}
            yield storyline

    return to_storyline


def mistelling(hook: Any) -> Any:
    """Return the hook that reports problems at other pointers."""

    def parse(source: Source) -> Iterator[Document[Any]]:
        for document in hook(source):
            document.problems[:] = [
                one._replace(pointer=f"{one.pointer}/elsewhere") for one in document.problems
            ]
            yield document

    return parse


def greedy(_: Any) -> Any:
    """Return the hook that claims every object."""

    def detect(sample: Sample) -> Detection | None:
        return Detection(90, "an object") if sample.records else None

    return detect


MUTATIONS = (
    Mutation(
        "a dropped field", "to_storyline", dropping, "test_samples_come_back", "does not come back"
    ),
    Mutation(
        "a wrong pointer of a residual",
        "to_storyline",
        misplacing,
        "test_unknown_members_come_back",
        "does not come back",
    ),
    Mutation(
        "a wrong pointer of a problem",
        "parse",
        mistelling,
        "test_invalid_documents",
        "report a problem at the pointer of the value that is wrong",
    ),
    Mutation("a greedy detector", "detect", greedy, "test_claims_no_others", "`detect` claims"),
)


@pytest.fixture(params=FORMATS)
def contract(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> FormatContract:
    """The contract of a format, as the tests of its plugin have it."""
    monkeypatch.syspath_prepend(str(ROOT))
    tests: Any = importlib.import_module(f"plugins.{request.param}.tests.test_contract")
    made: FormatContract = tests.TestContract()
    return made


class TestMutations:
    @pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.name)
    def test_is_found(
        self, contract: FormatContract, mutation: Mutation, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A mistake in a hook of a plugin is found by the test that is there for it, which says what to do."""
        plugin = importlib.import_module(f"hub_{contract.format.replace('-', '_')}.plugin")
        mistaken = hookimpl(mutation.mistaken(getattr(plugin, mutation.hook)))
        monkeypatch.setattr(plugin, mutation.hook, mistaken)
        with pytest.raises(ContractBroken, match=mutation.says) as caught:
            getattr(contract, mutation.test)()
        assert "What to do: " in str(caught.value)
