"""The stages of a run and who goes on: try each once, screen all at once, confirm, the best set. Starts nothing.

1. `try`, `try-again`: each candidate once with the defaults, and twice more where that went wrong. Out is what cannot
   be run, and what is worse even in its best run: it is no gain, and would only hide the others in the screening.
2. `screen`: design.py. On go those that look better than the defaults by two standard errors, the best first.
3. `confirm-1`, `confirm-2`: each of them alone, all of them together, and negative controls, next to the defaults, with
   new measurements. Half-way those that are not better more often than not are dropped (after Z. Karnin, T. Koren,
   O. Somekh: Almost optimal exploration in multi-armed bandits, ICML 2013, and K. Jamieson, A. Talwalkar:
   Non-stochastic best arm identification, AISTATS 2016, who halve). Dropping can only cost power: judge.py still counts
   them as comparisons.
4. `set`: what was confirmed, together, next to the defaults.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from cqbench.analysis.tune import design, workloads
from cqbench.analysis.tune.catalogue import Candidate
from cqbench.analysis.tune.design import Design, Effect
from cqbench.analysis.tune.objective import RATE, Objective, Results
from cqbench.stats.medians import median
from cqbench.stats.ratios import MIN_REPETITIONS

DEFAULT, AGAIN = "default", "default-again"  # the same twice: what all are compared with is measured better
DEFAULTS = (DEFAULT, AGAIN)
TOGETHER = "together"
TRY, TRY_AGAIN, SCREEN, CONFIRM, SET = "try", "try-again", "screen", ("confirm-1", "confirm-2"), "set"
TRIED_DEFAULTS = 4
WORSE = 0.9  # of a bad run of the defaults, in the best of three runs: what gains is not among them
MAX_SURVIVORS = 6
CONTROLS = 2  # that are confirmed like a survivor
SHARES = {SCREEN: 0.3, CONFIRM[0]: 0.15, CONFIRM[1]: 0.4, SET: 0.15}  # of the time behind `try`
MIN_SCREENINGS = 2
LEAST_AGAIN = 3  # of the second half of the confirmation
LEAST = {SCREEN: MIN_SCREENINGS, CONFIRM[0]: MIN_REPETITIONS, CONFIRM[1]: LEAST_AGAIN, SET: MIN_REPETITIONS}
PROMISING = 2.0  # standard errors; of what does nothing one in 44 looks like that
LEAST_SURVIVORS = 2  # minimum number: the confirmation then shows how small the gains are
Chosen = tuple[Candidate, ...]


@dataclass(frozen=True)
class Stage:
    """The configurations of an experiment and their settings."""

    name: str
    question: str
    configurations: dict[str, Chosen]
    repetitions: int

    @property
    def runs(self) -> int:
        return len(self.configurations) * self.repetitions


def try_each(candidates: Sequence[Candidate]) -> Stage:
    """The defaults several times: what is worse is told from one run that was."""
    names = [DEFAULT, *(f"{DEFAULT}-{i}" for i in range(2, TRIED_DEFAULTS + 1))]
    configurations: dict[str, Chosen] = dict.fromkeys(names, ())
    configurations |= {c.name: (c,) for c in candidates}
    return Stage(TRY, "What can be run here, and what is clearly worse?", configurations, 1)


def tried(stage: Stage, parts: Sequence[Results], objective: Objective) -> dict[str, str]:
    """By candidate, why it is left out: its best run is held against the defaults' second worst, so that
    nothing is left out because the machine was slow meanwhile."""
    usual = sorted(
        v * objective.better for v in _seen(parts, [n for n, c in stage.configurations.items() if not c], objective)
    )
    limit = abs(usual[min(1, len(usual) - 1)]) if usual else 0.0
    out = {}
    for name in (name for name, chosen in stage.configurations.items() if chosen):
        found = _seen(parts, [name], objective)
        if not found:
            searched = "no search in three found a rate" if objective.name == RATE else "it could not be measured"
            out[name] = f"{searched}: see the logs of the stage '{TRY}'"
            continue
        best = max(found, key=lambda value: value * objective.better)
        if limit and (best / limit) ** objective.better < WORSE:
            share = best / (median(abs(v) for v in usual) or limit)
            out[name] = f"worse: at best {share:.2f} x the defaults' {objective.title}"
    return out


def _seen(parts: Sequence[Results], names: Sequence[str], objective: Objective) -> list[float]:
    every = (figures for part in parts for name in names for figures in part.get(name, {}).values())
    return [figures[objective.name] for figures in every if objective.name in figures]


def try_again(stage: Stage, suspicious: Iterable[str]) -> Stage:
    """Returns a stage that tries suspicious candidates twice more."""
    defaults = [name for name, chosen in stage.configurations.items() if not chosen]
    configurations = {name: stage.configurations[name] for name in (*defaults, *suspicious)}
    return Stage(TRY_AGAIN, "Is it so again?", configurations, 2)


def split(candidates: Iterable[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
    """To be screened; and those that hide others, which are confirmed at once."""
    every = list(candidates)
    return [c for c in every if not c.setting.alone], [c for c in every if c.setting.alone]


def needs_screening(candidates: Sequence[Candidate]) -> bool:
    """Few are confirmed at once."""
    return sum(not c.setting.control for c in candidates) > MAX_SURVIVORS


def screen(candidates: Sequence[Candidate], repetitions: int, seed: int) -> tuple[Design, Stage]:
    """All at once."""
    made = design.make(candidates, seed)
    configurations = {name: chosen for row in made.rows for name, chosen in row.configurations.items()}
    return made, Stage(SCREEN, "Which of all settings are worth a closer look?", configurations, repetitions)


def screened(made: Design, results: Results, objective: Objective) -> list[Effect]:
    """Estimates, the best first; values are of the figure itself: below 0 is less."""
    differences = []
    for i, row in enumerate(made.rows):
        top, bottom = (results.get(name, {}) for name in row.configurations)
        for repetition in sorted(top.keys() & bottom.keys()):
            over, under = (side[repetition].get(objective.name) for side in (top, bottom))
            if over and under:
                differences.append((i, math.log(over / under)))
    return sorted(design.effects(made, differences), key=lambda e: -e.t * objective.better)


def survivors(effects: Sequence[Effect], objective: Objective, most: int = MAX_SURVIVORS) -> list[Candidate]:
    """The best of those that look better, without controls and what cannot be set together with a better one.

    Few: each that goes on takes time from the others, and the confirmation is what takes most of it.
    """
    found: list[Candidate] = []
    for effect in effects:
        mine, needed = effect.candidate, PROMISING if len(found) >= LEAST_SURVIVORS else 0.0
        promising = effect.t * objective.better > needed and not mine.setting.control
        if promising and len(found) < most and not any(workloads.clash(mine, other) for other in found):
            found.append(mine)
    return found


def passed_controls(effects: Sequence[Effect], objective: Objective) -> tuple[int, int]:
    """How many controls looked as good as a survivor, and of how many; one in 44 does by chance."""
    controls = [e for e in effects if e.candidate.setting.control]
    return sum(e.t * objective.better > PROMISING for e in controls), len(controls)


def confirm(chosen: Sequence[Candidate], controls: Sequence[Candidate], repetitions: int) -> Stage:
    """Each alone, and all that can be set together and were screened together."""
    configurations: dict[str, Chosen] = dict.fromkeys(DEFAULTS, ())
    configurations |= {c.name: (c,) for c in (*chosen, *controls)}
    together = combined(c for c in chosen if not c.setting.alone)
    if len(together) > 1:
        configurations[TOGETHER] = together
    question = "Which gain is confirmed, next to the defaults and in new measurements?"
    return Stage(CONFIRM[0], question, configurations, repetitions)


def combined(candidates: Iterable[Candidate]) -> Chosen:
    """Returns candidates that can be set together, each once; of those that exclude each other, the first."""
    found: list[Candidate] = []
    for candidate in candidates:
        if candidate not in found and not any(workloads.clash(candidate, other) for other in found):
            found.append(candidate)
    return tuple(found)


def draw_controls(candidates: Iterable[Candidate], seed: int) -> list[Candidate]:
    """Those that are confirmed. The same for the same seed."""
    every = [c for c in candidates if c.setting.control]
    return random.Random(seed + 1).sample(every, min(CONTROLS, len(every)))


def confirm_again(first: Stage, promising: set[str], repetitions: int) -> Stage | None:
    """The second half, without what does not look like a gain. None when nothing does."""
    left = {n: c for n, c in first.configurations.items() if n in promising and not any(k.setting.control for k in c)}
    if not left:
        return None
    kept = {n: c for n, c in first.configurations.items() if not c or n in left or any(k.setting.control for k in c)}
    return replace(first, name=CONFIRM[1], configurations=kept, repetitions=repetitions)


def best_set(sets: Sequence[Chosen], repetitions: int) -> Stage:
    """sets: each in its order, different ones."""
    configurations: dict[str, Chosen] = dict.fromkeys(DEFAULTS, ())
    configurations |= {f"set-{i + 1}": chosen for i, chosen in enumerate(sets)}
    return Stage(SET, "What do the settings that were confirmed bring together?", configurations, repetitions)


def sizes(candidates: Sequence[Candidate]) -> dict[str, int]:
    """Configurations of each stage behind `try`, if as many go on as may."""
    several, alone = split(candidates)
    going_on = min(MAX_SURVIVORS, sum(not c.setting.control for c in several)) + len(alone)
    screening = {SCREEN: 2 * design.rows_needed(several)} if needs_screening(several) else {}
    return {**screening, **dict.fromkeys(CONFIRM, len(DEFAULTS) + going_on + 1 + CONTROLS), SET: len(DEFAULTS) + 2}


@dataclass(frozen=True)
class Budget:
    """Seconds of the whole run, and what one run takes."""

    seconds: float
    run_s: float

    def needed(self, candidates: Sequence[Candidate]) -> float:
        """The least with which every stage has the repetitions that a claim takes."""
        runs = sum(LEAST[name] * configurations for name, configurations in sizes(candidates).items())
        return (len(candidates) + TRIED_DEFAULTS + runs) * self.run_s

    def fits(self, candidates: Sequence[Candidate]) -> dict[str, int]:
        """Repetitions by stage, if as many go on as may. They are more where fewer do."""
        left_s = self.seconds - (len(candidates) + TRIED_DEFAULTS) * self.run_s
        found = {}
        for name, configurations in sizes(candidates).items():
            found[name] = self.repetitions(name, configurations, left_s, LEAST[name])
            left_s -= found[name] * configurations * self.run_s
        return found

    def repetitions(self, stage: str, configurations: int, left_s: float, least: int) -> int:
        """Returns the repetitions of a stage, by its share of the time left for it and later stages."""
        names = [SCREEN, *CONFIRM, SET]
        behind = sum(SHARES[name] for name in names[names.index(stage) :])
        return max(least, int(left_s * SHARES[stage] / behind / (configurations * self.run_s)))
