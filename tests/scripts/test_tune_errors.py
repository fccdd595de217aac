"""How often tune is wrong, and what it finds, through the whole procedure, with runs drawn from a known truth.

CQBENCH_FULL=1 draws ten times as many and prints what it measured (pytest -s); scripts/README.md has those figures.
"""

from __future__ import annotations

import pytest
from cqbench.analysis.tune.objective import Results
from cqbench.analysis.tune.procedure import NothingToTune, Procedure
from cqbench.analysis.tune.stages import Stage
from rates import FULL, at_most, draws
from simulated import Noise
from tune_simulated import OBJECTIVE, STEADY, Simulated, noise_of, some, tune

QUIET = noise_of(0.04)


@pytest.mark.parametrize(("noise", "minutes"), [(Noise(), 10), (QUIET, 10), *FULL * [(Noise(), 60), (QUIET, 60)]])
def test_where_nothing_does_anything_nothing_is_worth_setting(noise: Noise, minutes: float) -> None:
    found = [tune({}, seed, noise, minutes) for seed in draws(30)]
    what = f"runs of {minutes} minutes in which nothing helps, a gain, {noise}"
    at_most(sum(not o.nothing for o in found), len(found), 0.05, what)
    at_most(sum(len(o.left_out) for o in found), len(found) * len(some()), 0.01, "settings left out after three runs")
    alarms, controls = (sum(o.controls[i] for o in found) for i in (0, 1))
    assert controls == 2 * sum(bool(o.findings) for o in found)
    at_most(alarms, controls, 0.05, "controls that came out as something")


@pytest.mark.parametrize(
    ("noise", "gain", "least", "minutes"),
    [
        (Noise(), 1.10, 0.7, 10), (QUIET, 1.03, 0.8, 10), (QUIET, 1.05, 0.9, 10), *FULL * [(Noise(), 1.05, 0.2, 10)],
        (noise_of(0.01), 1.02, 0.85, 10), (noise_of(0.02), 1.02, 0.85, 10), (QUIET, 1.02, 0.4, 10),
        *FULL * [(noise_of(0.01), 1.02, 0.95, 30), (noise_of(0.02), 1.02, 0.95, 30), (QUIET, 1.02, 0.95, 30)],
    ],
)  # fmt: skip
def test_what_helps_is_found(noise: Noise, gain: float, least: float, minutes: float) -> None:
    """One of forty; and what only costs is not among what is worth setting."""
    truth = {"k3": gain, "k5": 0.9, "k9": 0.97}
    found = [tune(truth, seed, noise, minutes) for seed in draws(15)]
    what = f"a gain of {gain:.2f}, {minutes} minutes, {noise}"
    missed = sum("k3" not in [f.name for f in o.confirmed] for o in found)
    at_most(missed, len(found), 1 - least, f"{what}: not confirmed")
    wrong = sum(any(f.name != "k3" for f in o.confirmed) for o in found)
    at_most(wrong, len(found), 0.05, f"{what}: something else confirmed")


def test_several_gains_make_a_set_and_their_sum_is_measured() -> None:
    truth = {"k1": 1.06, "k2": 1.05, "alone0": 1.04, "k7": 0.9}
    outcome = tune(truth, 1, STEADY)
    assert outcome.best is not None and outcome.best.ratio is not None
    assert {c.name for c in outcome.best.chosen} == {"k1", "k2", "alone0"}
    assert outcome.best.ratio.value == pytest.approx(1.06 * 1.05 * 1.04, rel=0.02)
    assert [f.name for f in outcome.confirmed] == ["k1", "k2", "alone0"]
    assert outcome.controls == (0, 2)


def test_what_is_worse_is_left_out_of_the_screening() -> None:
    bench_truth = {"k4": 0.4}
    outcome = tune(bench_truth, 3, STEADY)
    assert [*outcome.left_out] == ["k4"] and "worse" in outcome.left_out["k4"]
    assert "k4" not in [e.candidate.name for e in outcome.effects]


def test_the_budget_is_kept() -> None:
    for minutes in (5, 10, 30):
        bench = Simulated({"k1": 1.2}, 5, QUIET)
        Procedure(some(), OBJECTIVE, minutes * 60, 5, bench).run()
        assert 0.7 * minutes * 60 < bench.used_s() <= minutes * 60


class Failing(Simulated):
    """One of whose stages fails."""

    fails = ""

    def measure(self, stage: Stage) -> Results:
        results = super().measure(stage)
        return {} if stage.name == self.fails else results


@pytest.mark.parametrize(
    ("stage", "said"), [("try", "no figure for throughput with the defaults"), ("screen", "says nothing")]
)
def test_what_cannot_be_measured_is_said_and_is_not_called_nothing(stage: str, said: str) -> None:
    bench = Failing({}, 1, STEADY)
    bench.fails = stage
    with pytest.raises(NothingToTune, match=said):
        Procedure(some(), OBJECTIVE, 600, 1, bench).run()
