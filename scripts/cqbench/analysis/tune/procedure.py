"""The whole run, whoever measures: try, screen, confirm, set. What measures is a Bench, real or simulated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from cqbench.analysis.tune import judge, stages
from cqbench.analysis.tune.catalogue import Candidate
from cqbench.analysis.tune.design import Effect, rows_needed
from cqbench.analysis.tune.judge import Finding
from cqbench.analysis.tune.objective import RATE, Objective, Results
from cqbench.analysis.tune.stages import Budget, Stage

WHAT_IT_TAKES = "a percentile takes calls enough (--interval), an open loop a rate that is reached"
WHAT_A_SEARCH_TAKES = "an objective is met at a low rate and missed at a high one that the client can keep"


class NothingToTune(ValueError):
    """The workload itself cannot be measured; the text is one line."""


class Bench(Protocol):
    """Measures stages. One thread."""

    @property
    def stopped(self) -> bool:
        """Somebody wants it to end: what is there is all there will be."""
        ...

    def begun(self, name: str) -> int | None:
        """Repetitions of a stage that an earlier run began; None when none did."""
        ...

    def measure(self, stage: Stage) -> Results:
        """All of it, or what there is when it was stopped."""
        ...

    def used_s(self) -> float:
        """Seconds that all stages so far took."""
        ...

    def run_s(self) -> float:
        """Seconds that a run takes, as it was measured, or is expected."""
        ...


@dataclass
class Outcome:
    """The results so far. partial: the stage that was interrupted; '' if none. left_out: by candidate, the reason."""

    candidates: tuple[Candidate, ...]
    left_out: dict[str, str]
    effects: list[Effect] = field(default_factory=list)
    screened_controls: tuple[int, int] = (0, 0)
    survivors: list[Candidate] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    controls: tuple[int, int] = (0, 0)
    sets: list[Finding] = field(default_factory=list)
    best: Finding | None = None  # of the sets
    repetitions: dict[str, int] = field(default_factory=dict)  # by stage
    partial: str = ""

    @property
    def confirmed(self) -> list[Finding]:
        """Single settings whose gain is real, the best first."""
        return [f for f in self.findings if f.confirmed and f.name != stages.TOGETHER]

    @property
    def nothing(self) -> bool:
        """True if no setting is worth setting."""
        return not self.confirmed and self.best is None


class Procedure:
    """One run."""

    def __init__(
        self, candidates: Sequence[Candidate], objective: Objective, budget_s: float, seed: int, bench: Bench
    ) -> None:
        self.candidates = list(candidates)
        self.objective = objective
        self.budget_s = budget_s
        self.seed = seed
        self.bench = bench
        self.outcome = Outcome(tuple(candidates), {})

    def run(self) -> Outcome:
        """Raises NothingToTune, and what the bench raises."""
        usable = self._try()
        several, alone = stages.split(usable)
        if not self.bench.stopped:
            chosen = self._screen(several) if stages.needs_screening(several) else _without_controls(several)
            self.outcome.survivors = [*chosen, *alone]
        if not self.bench.stopped and self.outcome.survivors:
            self._confirm(usable)
        offered = judge.sets(self.outcome.findings, stages.TOGETHER)
        if not self.bench.stopped and offered:
            self._set(offered)
        return self.outcome

    def _measure(self, stage: Stage) -> Results:
        self.outcome.repetitions[stage.name] = stage.repetitions
        results = self.bench.measure(stage)
        if self.bench.stopped:
            self.outcome.partial = stage.name
        return results

    def _repetitions(self, name: str, configurations: int) -> int:
        """As many as were planned when it was begun, or as the time left allows."""
        begun = self.bench.begun(name)
        if begun is not None:
            return begun
        budget = Budget(self.budget_s, self.bench.run_s())
        return budget.repetitions(name, configurations, self.budget_s - self.bench.used_s(), stages.LEAST[name])

    def _try(self) -> list[Candidate]:
        stage = stages.try_each(self.candidates)
        results = self._measure(stage)
        if not self.bench.stopped:
            usual = [f for n, chosen in stage.configurations.items() if not chosen for f in results.get(n, {}).values()]
            if not any(self.objective.name in figures for figures in usual):
                takes = WHAT_A_SEARCH_TAKES if self.objective.name == RATE else WHAT_IT_TAKES
                raise NothingToTune(
                    f"the workload itself has no figure for {self.objective.title} with the defaults: see the logs of "
                    f"the stage '{stages.TRY}'; {takes}"
                )
            suspicious = stages.tried(stage, [results], self.objective)
            again = self._measure(stages.try_again(stage, suspicious)) if suspicious else {}
            self.outcome.left_out.update(stages.tried(stage, [results, again], self.objective))
        return [c for c in self.candidates if c.name not in self.outcome.left_out]

    def _screen(self, several: list[Candidate]) -> list[Candidate]:
        configurations = 2 * rows_needed(several)
        made, stage = stages.screen(several, self._repetitions(stages.SCREEN, configurations), self.seed)
        effects = stages.screened(made, self._measure(stage), self.objective)
        if not effects and not self.bench.stopped:
            raise NothingToTune(
                f"the screening says nothing: too many of its runs failed; see the logs of the stage '{stages.SCREEN}'"
            )
        self.outcome.effects = effects
        self.outcome.screened_controls = stages.passed_controls(effects, self.objective)
        return stages.survivors(effects, self.objective)

    def _confirm(self, usable: list[Candidate]) -> None:
        controls = stages.draw_controls(usable, self.seed)
        stage = stages.confirm(self.outcome.survivors, controls, 1)
        first = stages.confirm(
            self.outcome.survivors, controls, self._repetitions(stage.name, len(stage.configurations))
        )
        parts = [self._measure(first)]
        self._judge(first, parts)
        if self.bench.stopped:
            return
        again = stages.confirm_again(first, judge.promising(first, parts[0], self.objective), 1)
        if again is None:
            return
        again = replace(again, repetitions=self._repetitions(again.name, len(again.configurations)))
        parts.append(self._measure(again))
        self._judge(first, parts)

    def _judge(self, stage: Stage, parts: Sequence[Results]) -> None:
        self.outcome.findings = judge.findings(stage, parts, self.objective)
        self.outcome.controls = judge.alarms(self.outcome.findings)

    def _set(self, offered: Sequence[stages.Chosen]) -> None:
        number = self._repetitions(stages.SET, len(offered) + len(stages.DEFAULTS))
        stage = stages.best_set(offered, number)
        results = self._measure(stage)
        self.outcome.sets = judge.findings(stage, [results], self.objective)
        self.outcome.best = judge.best(self.outcome.sets, results, self.objective)


def _without_controls(candidates: Sequence[Candidate]) -> list[Candidate]:
    return [c for c in candidates if not c.setting.control]
