"""The result of a confirmation: per configuration the ratio to the defaults, in pairs, with correction for many
comparisons.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cqbench.analysis.tune.catalogue import Candidate
from cqbench.analysis.tune.objective import CPU, P99, Objective, Results
from cqbench.analysis.tune.stages import DEFAULTS, Chosen, Stage, combined
from cqbench.stats import ratios
from cqbench.stats.medians import median
from cqbench.stats.ratios import Ratio

ALPHA = 1 - ratios.LEVEL
COSTS = (P99, CPU)


@dataclass(frozen=True)
class Finding:
    """One configuration against the defaults. ratio: of the objective's figure. adjusted: p after Holm's correction
    over the whole stage, None where nothing can be claimed. costs: by name of the figure.
    """

    name: str
    chosen: Chosen
    ratio: Ratio | None
    adjusted: float | None
    costs: Mapping[str, Ratio]
    better: int

    @property
    def gain(self) -> float:
        """As a logarithm; above 0 is better."""
        return self.better * math.log(self.ratio.value) if self.ratio else 0.0

    @property
    def real(self) -> bool:
        """Different from the defaults, beyond chance."""
        return self.adjusted is not None and self.adjusted < ALPHA

    @property
    def confirmed(self) -> bool:
        return self.real and self.gain > 0 and not self.control

    @property
    def control(self) -> bool:
        return any(c.setting.control for c in self.chosen)

    def cost(self, name: str) -> str:
        """'worse' or 'better' where its interval excludes 1; less is better for all of them. '' where it does not."""
        found = self.costs.get(name)
        if not found or found.low is None or found.high is None:
            return ""
        if found.low <= 1 + ratios.NOTHING and found.high >= 1 - ratios.NOTHING:
            return ""
        return "worse" if found.low > 1 else "better"


def findings(stage: Stage, results: Sequence[Results], objective: Objective) -> list[Finding]:
    """Returns findings for every configuration of the stage except the defaults, the best first. results: of the
    stage's parts.
    """
    found = {n: _ratio(n, results, objective.name) for n, chosen in stage.configurations.items() if chosen}
    adjusted = dict(zip(found, ratios.holm([_p(r) for r in found.values()]), strict=True))
    every = [
        Finding(
            name, stage.configurations[name], ratio, adjusted[name], _costs(name, results, objective), objective.better
        )
        for name, ratio in found.items()
    ]
    return sorted(every, key=lambda f: (-f.confirmed, -f.gain))


def _p(ratio: Ratio | None) -> float:
    """A configuration with too few repetitions still counts as a comparison."""
    return 1.0 if ratio is None or ratio.p is None else ratio.p


def _costs(name: str, results: Sequence[Results], objective: Objective) -> dict[str, Ratio]:
    found = {cost: _ratio(name, results, cost) for cost in COSTS if cost != objective.name}
    return {cost: ratio for cost, ratio in found.items() if ratio}


def _ratio(configuration: str, results: Sequence[Results], figure: str) -> Ratio | None:
    return ratios.paired_with_several(_rounds(configuration, results, figure))


def _rounds(configuration: str, results: Sequence[Results], figure: str) -> list[tuple[float, list[float]]]:
    """Pairs each run with the defaults of the same round. A round without one of them does not count."""
    rounds = []
    for part in results:
        for repetition, figures in part.get(configuration, {}).items():
            defaults = [part.get(name, {}).get(repetition, {}).get(figure) for name in DEFAULTS]
            there = [value for value in defaults if value]
            if len(there) == len(defaults) and figures.get(figure):
                rounds.append((figures[figure], there))
    return rounds


def promising(stage: Stage, results: Results, objective: Objective) -> set[str]:
    """Those that are better than the defaults more often than not: two runs at half speed among a dozen, which nobody
    trims away, must not cost a real gain its second half."""
    found = set()
    for name, chosen in stage.configurations.items():
        rounds = _rounds(name, [results], objective.name) if chosen else []
        logs = [math.log(top / bottom) for top, bottoms in rounds for bottom in bottoms]
        if (median(logs) or 0.0) * objective.better > 0:
            found.add(name)
    return found


def sets(found: Sequence[Finding], together: str) -> list[Chosen]:
    """Returns the sets to confirm: all confirmed settings, and all survivors if they were confirmed together."""
    confirmed = [f for f in found if f.confirmed]
    singles: list[Candidate] = [f.chosen[0] for f in confirmed if f.name != together]
    offered = [combined(singles)] if singles else []
    if whole := next((f for f in confirmed if f.name == together), None):
        offered.append(combined([*singles, *whole.chosen]))
    unique = {frozenset(c.name for c in chosen): chosen for chosen in offered}
    return list(unique.values())


def best(found: Sequence[Finding], results: Results, objective: Objective) -> Finding | None:
    """Returns the smallest confirmed set; a larger one only if it is better with statistical significance."""
    chosen: Finding | None = None
    for finding in sorted((f for f in found if f.confirmed), key=lambda f: len(f.chosen)):
        if chosen is None:
            chosen = finding
            continue
        over, under = (results.get(f.name, {}) for f in (finding, chosen))
        pairs = [(over[r], under[r]) for r in over.keys() & under.keys()]
        name = objective.name
        ratio = ratios.paired((a[name], b[name]) for a, b in pairs if name in a and name in b)
        if ratio and ratio.p is not None and ratio.p < ALPHA and ratio.value**objective.better > 1:
            chosen = finding
    return chosen


def alarms(found: Sequence[Finding]) -> tuple[int, int]:
    """How many controls came out as something, of how many."""
    controls = [f for f in found if f.control]
    return sum(f.real for f in controls), len(controls)
