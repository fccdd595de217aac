"""A Bench for the tests of tune: runs drawn from a known truth with the noise of a shared machine, in no time."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from cqbench.analysis.tune.catalogue import Candidate, Setting, candidates
from cqbench.analysis.tune.objective import Figures, Objective, Results
from cqbench.analysis.tune.procedure import Outcome, Procedure
from cqbench.analysis.tune.stages import Stage
from cqbench.experiment.order import make_order
from cqbench.formats.offered import closed
from simulated import Noise

RUN_S = 0.6
OBJECTIVE = Objective("throughput")
STEADY = Noise(start=0.0, drift=0.0, run=0.0, point=0.01, outliers=0.0)


def noise_of(deviation: float) -> Noise:
    """Returns the noise of a quiet machine. deviation: standard deviation of one run relative to its block."""
    return Noise(start=0.05, drift=deviation / 2, run=0.55 * deviation, point=0.835 * deviation, outliers=0.02)


def setting(name: str, **more: object) -> Setting:
    data = {
        "name": name, "kind": "channel-arg", "key": f"test.{name}", "values": ["1"], "default": "0", "end": "client",
        "effect": "", "risk": "none", "source": "", "readers": ["1.51"], **more,
    }  # fmt: skip
    return Setting.model_validate(data)


def some(number: int = 40, controls: int = 6, alone: int = 1) -> list[Candidate]:
    """As many as are tried on the shipped workload, a few with several values."""
    settings = [setting(f"k{i}", values=["1", "2"] if i % 8 == 0 else ["1"]) for i in range(number)]
    settings += [setting(f"alone{i}", alone=True) for i in range(alone)]
    settings += [setting(f"control{i}", readers=[]) for i in range(controls)]
    return [c for k in settings for c in candidates(k)]


class Simulated:
    """truth: by candidate, the factor that it multiplies throughput with."""

    stopped = False

    def __init__(self, truth: Mapping[str, float], seed: int, noise: Noise = Noise()) -> None:  # noqa: B008
        self.truth = truth
        self.random = np.random.default_rng(seed)
        self.noise = noise
        self.planned = 0
        self.speed = float(self.random.normal(0, noise.start))
        self.stages: list[Stage] = []

    def begun(self, name: str) -> int | None:
        return None

    def run_s(self) -> float:
        return RUN_S

    def used_s(self) -> float:
        return self.planned * RUN_S

    def measure(self, stage: Stage) -> Results:
        self.stages.append(stage)
        found: Results = {}
        order = make_order([*stage.configurations], [closed(48)], stage.repetitions, self.planned)
        for planned in order:
            self.speed += float(self.random.normal(0, self.noise.drift)) / 4
            found.setdefault(planned.configuration, {})[planned.repetition] = self._run(
                stage.configurations[planned.configuration]
            )
        self.planned += len(order)
        return found

    def _run(self, chosen: tuple[Candidate, ...]) -> Figures:
        true = sum(math.log(self.truth.get(c.name, 1.0)) for c in chosen)
        own = self.random.normal(0, math.hypot(self.noise.run, self.noise.point))
        slow = math.log(0.5) if self.random.random() < self.noise.outliers else 0.0
        rate = 5e4 * math.exp(true + self.speed + own + slow)
        return {"throughput": rate, "p99": 48 / rate * 3e9, "cpu": 2e4 * math.exp(float(self.random.normal(0, 0.06)))}


def tune(truth: Mapping[str, float], seed: int, noise: Noise = Noise(), minutes: float = 10) -> Outcome:  # noqa: B008
    return Procedure(some(), OBJECTIVE, minutes * 60, seed, Simulated(truth, seed, noise)).run()
