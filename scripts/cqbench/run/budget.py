"""Measuring within a budget: after the first repetitions, only what the verdict leaves inconclusive is measured again.

A comparison leaves when it is decided, so the time goes where it is needed. Its interval holds at every look
(stats/ratios.py), and what is measured again is chosen by decisions only, so anyone can find out afterwards whether it
was chosen rightly: `cqbench check` does.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from contextlib import suppress
from itertools import islice
from operator import attrgetter

from cqbench.experiment.fields import MAX_REPETITIONS
from cqbench.experiment.order import PlannedRun, each_repetition
from cqbench.experiment.spec import Experiment
from cqbench.formats import runs
from cqbench.formats.offered import Load
from cqbench.formats.runs import Run
from cqbench.formats.source import BadDocument
from cqbench.formats.surroundings import Manifests
from cqbench.run.journal import Journal


def repetition(
    experiment: Experiment, seed: int, number: int, points: Collection[tuple[str, Load]]
) -> list[PlannedRun]:
    """Returns the runs of this repetition at these points, in the order that the seed draws."""
    names = [configuration.name for configuration in experiment.configurations]
    (drawn,) = islice(each_repetition(names, experiment.loads, seed), number - 1, number)
    return [planned for planned in drawn if (planned.configuration, planned.load) in points]


class Budget:
    """The time of one experiment. Results are read once. One thread."""

    def __init__(self, experiment: Experiment, journal: Journal) -> None:
        self.experiment = experiment
        self.journal = journal
        self._before_s = journal.seconds()
        self._begun = time.monotonic()
        self._read: dict[PlannedRun, Run] = {}

    def further(self) -> list[PlannedRun]:
        """Returns the runs of one more repetition; none if all is decided, or if they would take longer than what is
        left.
        """
        number = (self.journal.manifest.repetitions or 0) + 1
        if self.experiment.budget_s is None or self.journal.manifest.seed is None or number > MAX_REPETITIONS:
            return []
        if self._left_s() <= 0:
            return []
        found = repetition(self.experiment, self.journal.manifest.seed, number, self._undecided())
        return found if self._left_s() >= len(found) * self._run_s() else []

    def _left_s(self) -> float:
        return (self.experiment.budget_s or 0) - self._before_s - (time.monotonic() - self._begun)

    def _run_s(self) -> float:
        return self.journal.seconds() / max(1, len(self.journal.done()))

    def _undecided(self) -> set[tuple[str, Load]]:
        from cqbench.analysis.verdict.whole import undecided  # loads large libraries, as in end.py

        manifests = Manifests()
        for planned in self.journal.done():
            if planned not in self._read:
                file = self.journal.folder / planned.file
                with suppress(BadDocument):  # the end of the experiment puts it aside, and says so
                    self._read[planned] = runs.read(file, planned.configuration, manifests)
        return undecided([self._read[planned] for planned in sorted(self._read, key=attrgetter("place"))])
