"""What is found in an input while it is read: told as it is found, counted, and kept up to a limit.

A file of a hundred million broken lines has as many problems; to keep them all would take more memory than the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hub.errors import Problem, Severity
from hub.input_rules import MORE_PROBLEMS
from hub.limits import DEFAULTS

GRAVEST: tuple[Severity, ...] = ("fatal", "error", "warning", "info")


class Problems(list[Problem]):
    """A list of problems, to which no more are added than its limit allows; those beyond are counted."""

    def __init__(
        self,
        limit: int = DEFAULTS.problems,
        report: Callable[[Problem], object] | None = None,
    ) -> None:
        """*report* is called with each problem that is added."""
        super().__init__()
        self.limit = limit
        self.report = report
        self.beyond: dict[str, int] = {}
        """How many problems of each severity are beyond the limit."""

    def append(self, problem: Problem, /) -> None:
        """Add *problem*, if there is room for it, and tell it."""
        if self.report is not None:
            self.report(problem)
        if len(self) < self.limit:
            super().append(problem)
        else:
            self.beyond[problem.severity] = self.beyond.get(problem.severity, 0) + 1

    def extend(self, problems: Iterable[Problem], /) -> None:
        """Add *problems*."""
        for problem in problems:
            self.append(problem)

    def take(self, others: Problems) -> None:
        """Add what *others* holds, and what is beyond its limit."""
        self.extend(others)
        for severity, number in others.beyond.items():
            self.beyond[severity] = self.beyond.get(severity, 0) + number

    def listed(self) -> list[Problem]:
        """Return the problems that are kept, and one, as grave as the gravest of the others, that counts those."""
        if not self.beyond:
            return list(self)
        severity = next(one for one in GRAVEST if one in self.beyond)
        counts = ", ".join(f"{self.beyond[one]} {one}" for one in GRAVEST if one in self.beyond)
        message = (
            f"{sum(self.beyond.values())} more problems ({counts}) are not listed"
            "; --limit problems=NUMBER lists more"
        )
        rest = MORE_PROBLEMS.at("", message=message)
        return [*self, rest._replace(severity=severity)]
