"""The promises about problems: each has a rule that is declared, and a pointer that leads to its place.

Source: validation.md 1.
"""

from __future__ import annotations

from hub import pointer as pointers
from hub.errors import InvalidDocument, Json, Problem, show
from hub.json import dumps
from hub.testing.detecting import VALUES
from hub.testing.differences import changed, members
from hub.testing.failures import doing, expect
from hub.testing.subject import Subject

HUB_RULES = ("input.", "envelope.", "carrier.", "residual.")
"""Rules that the hub reports itself."""
PLACES = 100
"""At how many places of a record other values are put."""


class Reporting(Subject):
    """What is said of documents that are not as they should be."""

    def test_samples_are_clean(self) -> None:
        """No sample has an error."""
        for sample in self._files:
            problems = [
                problem
                for problem in self._problems(sample.data, sample.name)
                if problem.rule not in self.tolerated
            ]
            expect(
                not problems,
                f"{sample.name} has errors: {'; '.join(map(str, problems[:3]))}",
                "mend the sample, or the rule that complains of it; name rules that real files break in `tolerated`",
            )

    def test_invalid_documents(self) -> None:
        """Each invalid document gives exactly the problems that are expected of it."""
        expect(
            self.invalid or self.format == "storyline",
            "there is no invalid document to test the rules with",
            'give the class at least one: `invalid = (Invalid({...}, (("/pointer", "format.rule"),)),)`',
        )
        for document, expected in self.invalid:
            problems = self._problems(dumps(document), f"{document!r:.60}")
            found = [(one.pointer, one.rule) for one in problems]
            expect(
                found == [tuple(one) for one in expected],
                f"of {document!r:.200} the problems {list(expected)} are expected, and {found} reported",
                "report a problem at the pointer of the value that is wrong (of a missing one: where it should be), by"
                " the rule that it breaks: `document.report(RULE.at(pointer, value))`",
            )

    def test_problems_have_a_place_and_a_rule(self) -> None:
        """Whatever stands in a sample in place of a value, problems name declared rules and places that are there."""
        rules = {rule.rule for rule in self._format.rules}
        for sample in self._files:
            for index, record in enumerate(sample.records[:3]):
                for place in members(record, PLACES):
                    self._check_places(sample.records, index, place, rules)

    def _check_places(self, records: list[Json], index: int, place: str, rules: set[str]) -> None:
        for value in VALUES:
            document = changed(records[index], place, value)
            what = f"a sample with {show(value)} at {place}"
            try:
                readings = self._read(dumps(document), what)
            except InvalidDocument:
                continue
            for problem in (one for reading in readings for one in reading.problems):
                self._check_problem(problem, document, what, rules)

    def _check_problem(self, problem: Problem, document: Json, what: str, rules: set[str]) -> None:
        expect(
            problem.rule in rules or problem.rule.startswith(HUB_RULES),
            f"of {what} the rule {problem.rule!r} is reported, which the hook `rules` does not name",
            "return it from the hook `rules` as well",
        )
        expect(
            pointers.is_pointer(problem.pointer),
            f"of {what} a problem is reported at {problem.pointer!r}, which is no JSON Pointer",
            "make pointers with `pointer.join(...)`, which escapes `~` and `/`",
        )
        *parents, _ = pointers.split(problem.pointer) or [""]
        where = document if not self._spans_records(problem.pointer) else None
        if where is None:
            return
        try:
            pointers.get(document, parents)
        except LookupError:
            expect(
                self._is_there_without_last(document, parents),
                f"of {what} the problem [{problem.rule}] is reported at {problem.pointer!r}, where nothing is",
                "point to the value that is wrong; of a member that is missing to where it should be",
            )

    def _spans_records(self, pointer: str) -> bool:
        """Tell whether a pointer is one into a document that was put together of several records."""
        nodes = self._format.info.nodes
        return any(node.endswith("/*") and pointer.startswith(node[:-1]) for node in nodes)

    def _is_there_without_last(self, document: Json, parents: list[str]) -> bool:
        """Tell whether all but the last of *parents* is there: of a missing object a member is missing as well."""
        try:
            pointers.get(document, parents[:-1])
        except LookupError:
            return False
        return True

    def _problems(self, data: bytes, what: str) -> list[Problem]:
        """Return the errors and fatal problems of a file."""
        try:
            with doing(f"reading {what}"):
                readings = self._read(data, what)
        except InvalidDocument as error:
            return list(error.problems)
        found = [one for reading in readings for one in reading.problems]
        return [one._replace(document=None) for one in found if one.severity in ("error", "fatal")]
