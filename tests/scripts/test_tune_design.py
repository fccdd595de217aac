"""The screening's design: orthogonal, blind to what two settings do together, robust, and better than one at a time."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from cqbench.analysis.tune import design
from cqbench.analysis.tune.catalogue import Candidate, candidates
from tune_simulated import setting, some

RANDOM = np.random.default_rng


def two_levels(number: int) -> list[Candidate]:
    return [c for i in range(number) for c in candidates(setting(f"k{i}"))]


def differences(
    made: design.Design, value: design.Floats, noise: float = 0.0, times: int = 1
) -> list[tuple[int, float]]:
    random = RANDOM(1)
    exact = made.matrix @ value
    return [(i, float(d + random.normal(0, noise))) for _ in range(times) for i, d in enumerate(exact)]


@pytest.mark.parametrize("number", [3, 4, 5, 16, 17, 40])
def test_two_levels_are_orthogonal_and_each_pair_is_a_mirror_image(number: int) -> None:
    made = design.make(two_levels(number), 7)
    rows = len(made.rows)
    assert rows >= number and rows & (rows - 1) == 0
    assert np.array_equal(made.matrix.T @ made.matrix, rows * np.eye(number))
    for row in made.rows:
        names = [c.name for side in (row.plain, row.mirrored) for c in side]
        assert sorted(names) == sorted(c.name for c in made.candidates)


def test_values_of_one_factor_exclude_each_other_and_are_tried_equally_often() -> None:
    every = [*two_levels(5), *candidates(setting("many", values=["1", "2", "3"])),
             *candidates(setting("one", group="g")), *candidates(setting("two", group="g"))]  # fmt: skip
    made = design.make(every, 3)
    for name in ("many", "g"):
        places = [i for i, c in enumerate(made.candidates) if c.setting.factor == name]
        used = np.abs(made.matrix[:, places])
        assert np.array_equal(used.sum(axis=1), np.ones(len(made.rows)))
        assert np.ptp(used.sum(axis=0)) <= 2
    assert np.linalg.matrix_rank(made.matrix) == len(every)


def test_the_same_seed_draws_the_same() -> None:
    one, same, other = (design.make(some(), seed) for seed in (1, 1, 2))
    assert [r.configurations for r in one.rows] == [r.configurations for r in same.rows]
    assert [r.configurations for r in one.rows] != [r.configurations for r in other.rows]


def test_without_noise_effects_are_exact() -> None:
    made = design.make(some(), 5)
    truth = RANDOM(2).normal(0, 0.1, len(made.candidates))
    found = design.effects(made, differences(made, truth, times=2))
    assert [e.value for e in found] == pytest.approx(list(truth))


def test_what_two_settings_do_only_together_drops_out() -> None:
    """log y = 0.1 a - 0.05 b + 0.2 (a and b): the mean of 0 and 1 over the other is left of the last."""
    made = design.make(two_levels(8), 5)
    seen = []
    for i, row in enumerate(made.rows):
        sides = [{c.name for c in side} for side in (row.plain, row.mirrored)]
        logs = [0.1 * ("k0" in s) - 0.05 * ("k1" in s) + 0.2 * ({"k0", "k1"} <= s) for s in sides]
        seen += [(i, logs[0] - logs[1])] * 2
    values = [e.value for e in design.effects(made, seen)]
    assert values == pytest.approx([0.2, 0.05, 0, 0, 0, 0, 0, 0], abs=1e-6)


def test_the_speed_of_the_machine_and_runs_at_half_speed_do_not_matter() -> None:
    made = design.make(two_levels(20), 1)
    truth = np.zeros(20)
    truth[3] = 0.05
    seen = differences(made, truth, noise=0.03, times=4)
    slow = [(row, d + (-1) ** i * 0.69 if i % 15 == 0 else d) for i, (row, d) in enumerate(seen)]
    found = design.effects(made, slow)
    assert max(found, key=lambda e: e.t).candidate.name == "k3" and found[3].value == pytest.approx(0.05, abs=0.015)
    assert sum(abs(e.t) > 3 for e in found) == 1


def test_standard_errors_are_those_seen_and_far_below_one_at_a_time() -> None:
    made = design.make(two_levels(30), 1)
    drawn = []
    for seed in range(60):
        random = RANDOM(seed)
        found = design.effects(made, [(i, random.normal(0, 0.1)) for _ in range(3) for i in range(32)])
        drawn.append([(e.value, e.error) for e in found])
    values, errors = (np.array([[pair[i] for pair in run] for run in drawn]) for i in (0, 1))
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.1)
    one_at_a_time = 0.1 / np.sqrt(3 * 32 / 30)  # the same runs, in pairs of one candidate and the defaults
    assert np.std(values) < one_at_a_time / 4


def test_too_few_or_missing_pairs_are_no_estimate_or_do_without() -> None:
    made = design.make(two_levels(8), 5)
    seen = differences(made, np.full(8, 0.1), noise=0.001, times=3)
    assert design.effects(made, seen[:8]) == []
    found = design.effects(made, [d for i, d in enumerate(seen) if i % 5])
    assert [e.value for e in found] == pytest.approx([0.1] * 8, abs=0.005)


def test_columns_are_enough_for_every_number_of_factors() -> None:
    for number, several in itertools.product((1, 2, 7, 33), (0, 3)):
        more = [c for i in range(several) for c in candidates(setting(f"m{i}", values=["1", "2"]))]
        every = [*two_levels(number), *more]
        made = design.make(every, number)
        assert np.linalg.matrix_rank(made.matrix) == len(every)
