"""A check as data: the results that it looks at, and its findings. No file is read here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from cqbench.formats.manifest import Manifest, RunRecord
from cqbench.formats.offered import Load
from cqbench.formats.point import Measured
from cqbench.formats.runs import Run
from cqbench.formats.sums import Compared
from cqbench.formats.text import one_line

EXAMPLES = 3  # named in a sentence; JSON has all of them
MAX_NAME = 160


class State(str, Enum):
    """The outcome of a rule. A remark bounds what the figures mean; it does not make them wrong."""

    PASSED = "passed"
    REMARK = "remark"
    NOT_KNOWN = "not known"
    FAILED = "failed"


@dataclass(frozen=True)
class Finding:
    """rule: a code for programs. text: what was looked at and what was found. examples: the places, all of them."""

    rule: str
    state: State
    text: str
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Result:
    """A result file. name: from the folder on. raw: its JSON, for keys that no model has. record: the manifest's."""

    name: str
    run: Run
    raw: Mapping[str, Any]
    record: RunRecord | None = None

    @property
    def faulty(self) -> bool:
        """Something was made to go wrong while it was measured."""
        return self.run.surroundings.fault is not None

    @property
    def entries(self) -> list[Mapping[str, Any]]:
        """The points' JSON, in the order of the document's points. Google Benchmark's aggregates are none."""
        every = (*self.raw.get("benchmarks", ()), *self.raw.get("not_measured", ()))
        return [entry for entry in every if entry.get("run_type") != "aggregate"]


@dataclass(frozen=True)
class At:
    """A point and where it is from."""

    result: Result
    measured: Measured
    raw: Mapping[str, Any]

    @property
    def where(self) -> str:
        name = self.result.name
        alone = len(self.result.run.document.points) == 1
        return name if alone else f"{name} ({self.measured.load.label}, repetition {self.measured.repetition})"

    @property
    def place(self) -> tuple[str, str]:
        """The same for all repetitions of one configuration at one load."""
        return self.result.run.configuration or str(self.raw.get("run_name")), self.measured.load.label


class Planned(NamedTuple):
    """A run that the experiment asks for. repetition: from 1."""

    configuration: str
    load: Load
    repetition: int

    @property
    def words(self) -> str:
        return f"repetition {self.repetition} of {self.configuration}, {self.load.words}"


@dataclass(frozen=True)
class Made:
    """Everything that follows from manifest and results, made again; None without a manifest. planned: the runs in the
    order that the seed draws; None for the reason that no_plan says.
    """

    planned: tuple[Planned, ...] | None = None
    no_plan: str = ""
    csv: str | None = None
    verdict: Any = None


@dataclass(frozen=True)
class Subject:
    """A folder of an experiment, or files without one. unreadable: a line for each result that cannot be read.
    unplanned: result files that no run of the manifest has. csv, verdict: the folder's own, None where there is none.
    """

    path: Path
    results: tuple[Result, ...]
    manifest: Manifest | None = None
    unreadable: tuple[str, ...] = ()
    unplanned: tuple[str, ...] = ()
    sums: Compared | str | None = None  # a text: why SHA256SUMS cannot be used
    csv: str | None = None
    verdict: Any = None
    made: Made = Made()

    @cached_property
    def points(self) -> list[At]:
        return [At(r, m, raw) for r in self.results for m, raw in zip(r.run.document.points, r.entries, strict=True)]

    @cached_property
    def measured(self) -> list[At]:
        """Points with figures, in whose window nothing was made to go wrong."""
        return [at for at in self.points if at.measured.whole and not at.result.faulty]

    def end_facts(self, key: str) -> dict[str, set[Any]]:
        """The values of a key of the context, by end. An end that never says it has none."""
        found: dict[str, set[Any]] = {"client": set(), "server": set()}
        for result in self.results:
            context = result.run.context
            for end, facts in (("client", [context]), ("server", context.get("servers") or [])):
                found[end] |= {of[key] for of in facts if of.get(key) is not None}
        return found


Rule = Callable[[Subject], "Finding | None"]  # None: there is nothing that the rule is about


def named(names: Sequence[str]) -> str:
    """'a; b; c and 4 more'."""
    shown = "; ".join(one_line(name, MAX_NAME) for name in names[:EXAMPLES])
    return shown + (f" and {len(names) - EXAMPLES} more" if len(names) > EXAMPLES else "")


def count(number: int, what: str, several: str = "") -> str:
    """'1 point', '2 points'."""
    return f"{number:,} {what if number == 1 else several or f'{what}s'}"


def judged(rule: str, looked_at: str, problems: Iterable[str], fine: str) -> Finding:
    """Passed with what is fine, failed where there are problems: a line each."""
    found = tuple(problems)
    if not found:
        return Finding(rule, State.PASSED, f"{looked_at}: {fine}")
    return Finding(rule, State.FAILED, f"{looked_at}: {named(found)}", found)


def by_place(points: Iterable[At]) -> dict[tuple[str, str], list[At]]:
    found: dict[tuple[str, str], list[At]] = {}
    for at in points:
        found.setdefault(at.place, []).append(at)
    return found


def each(points: Iterable[At], problem: Callable[[At], str]) -> Iterator[str]:
    """Yields 'where: problem' of those that have one."""
    for at in points:
        if text := problem(at):
            yield f"{at.where}: {text}"
