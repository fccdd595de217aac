"""How often `cqbench compare` of two cost profiles is wrong, through the real code, with profiles from a known truth.

CQBENCH_FULL=1 draws ten times as many and prints what it measured (pytest -s); scripts/README.md has those figures.
The noise is that of callgrind's and strace's counts: bell-shaped, of two values, with outliers, or of measured
repetitions (`data/cost/repetitions.json`: ping, sync client and server, with and without two loops next to it).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from cqbench.analysis.cost.changes import INCONCLUSIVE, LESS, MARGIN, MORE, SAME, Comparison
from cqbench.analysis.cost.counts import LIBRARY, SYSCALL, Key, total
from cqbench.analysis.cost.profile import Profile, figures
from rates import at_most, draws

Values = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Noise = Callable[[np.random.Generator, tuple[int, int]], Values]
LIBRARIES, SYSCALLS, INSTRUCTIONS = 12, 8, 1e5
MEASURED = json.loads((Path(__file__).parent / "data/cost/repetitions.json").read_text())


def bell(random: np.random.Generator, shape: tuple[int, int]) -> Values:
    return random.normal(0, 1, shape)


def two_values(random: np.random.Generator, shape: tuple[int, int]) -> Values:
    return random.choice([-1.0, 1.0], shape)


def outliers(random: np.random.Generator, shape: tuple[int, int]) -> Values:
    return random.normal(0, 1, shape) + 20 * (random.random(shape) < 0.05)


def skewed(random: np.random.Generator, shape: tuple[int, int]) -> Values:
    return random.exponential(1, shape)


NOISES: dict[str, Noise] = {f.__name__: f for f in (bell, two_values, outliers, skewed)}


def keys() -> list[Key]:
    libraries = [Key(LIBRARY, f"library {i}") for i in range(LIBRARIES)]
    return [total("loads"), total("socket-bytes-read"), *libraries, *(Key(SYSCALL, f"c{i}") for i in range(SYSCALLS))]


def profile(of: list[dict[Key, float]]) -> Profile:
    """A profile of a client; of: what each repetition counted."""
    found = figures("client", of)
    return Profile(cqbench_cost_profile=1, date="today", title="drawn", calls={"instructions": 1}, figures=found)


def drawn(random: np.random.Generator, noise: Noise, deviation: float, repetitions: int, factor: float = 1) -> Profile:
    """deviation: as a share of each figure, a library's of all instructions. factor: of each total and library."""
    every = keys()
    errors = noise(random, (repetitions, len(every)))
    rows = []
    for error in errors:
        row = {total("instructions"): INSTRUCTIONS, total("syscalls"): 10.0}
        for key, off in zip(every, error, strict=True):
            typical = INSTRUCTIONS if key.kind != SYSCALL else 10.0
            row[key] = typical * (factor + deviation * float(off))
        rows.append(row)
    return profile(rows)


def words(before: Profile, after: Profile) -> Counter[str]:
    return Counter(c.word for c in Comparison(before, after).changes if c.key in keys())


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("deviation", [0.005, 0.1])
def test_of_equal_profiles_nothing_is_called_a_change(noise: str, deviation: float) -> None:
    random = np.random.default_rng(7)
    wrong, number = 0, len(draws(60))
    for _ in range(number):
        said = words(*(drawn(random, NOISES[noise], deviation, 6) for _ in range(2)))
        wrong += said[MORE] + said[LESS] > 0
    at_most(wrong, number, 0.05, f"equal profiles of 6 repetitions, noise {noise} {deviation:.1%}, with any change")


@pytest.mark.parametrize("repetitions", [1, 2, 5])
def test_of_few_repetitions_nothing_is_said(repetitions: int) -> None:
    """The sum of the spreads, which decided before, called 13 % of the figures of two repetitions real."""
    random = np.random.default_rng(8)
    for _ in draws(5):
        said = words(*(drawn(random, bell, 0.1, repetitions, factor) for factor in (1.0, 2.0)))
        assert set(said) == {INCONCLUSIVE}


@pytest.mark.parametrize("side", ["client", "server"])
@pytest.mark.parametrize("regime", ["busy", "quieter"])
def test_of_measured_repetitions_nothing_is_called_a_change(side: str, regime: str) -> None:
    """Drawn with replacement, and therefore from the same truth; both loads apart."""
    random = np.random.default_rng(9)
    wrong, number = 0, len(draws(60))
    for _ in range(number):
        wrong += _changes(*(profile(_resampled(random, side, regime)) for _ in range(2))) > 0
    at_most(wrong, number, 0.05, f"equal profiles of measured repetitions, {side}, {regime}, with any change")


@pytest.mark.parametrize("side", ["client", "server"])
def test_a_busy_machine_is_no_change(side: str) -> None:
    """Repetitions agree within a profile, and may differ from those at another load, which the margin is for."""
    random = np.random.default_rng(10)
    wrong, number = 0, len(draws(60))
    for _ in range(number):
        wrong += _changes(*(profile(_resampled(random, side, regime)) for regime in ("busy", "quieter"))) > 0
    at_most(wrong, number, 0.05, f"a busy machine and one less busy, {side}, with any change")


def _resampled(random: np.random.Generator, side: str, regime: str) -> list[dict[Key, float]]:
    known = MEASURED[regime][side]
    places = {part: random.integers(0, len(next(iter(rows.values()))), 6) for part, rows in known.items()}
    found: list[dict[Key, float]] = [{} for _ in range(6)]
    for part, rows in known.items():
        for name, values in rows.items():
            for one, place in zip(found, places[part], strict=True):
                one[Key(*name.split("|"))] = values[place]
    return found


def _changes(before: Profile, after: Profile) -> int:
    return sum(c.word in (MORE, LESS) for c in Comparison(before, after).changes)


@pytest.mark.parametrize("factor", [1 + MARGIN, 1 - MARGIN])
def test_at_the_margin_neither_is_said(factor: float) -> None:
    """Where it is hardest: a change of exactly the margin is neither more (less) nor none."""
    random = np.random.default_rng(11)
    number, changed, none = len(draws(60)), 0, 0
    for _ in range(number):
        # The margin is that of the greater of both totals: of 1 + MARGIN after, a little more than the change.
        said = words(drawn(random, bell, 0.001, 6), drawn(random, bell, 0.001, 6, factor))
        changed += said[MORE] + said[LESS] > 0
        none += said[SAME] > len(keys()) // 2
    at_most(changed, number, 0.05, f"profiles that differ by the margin ({factor}), with any change")
    at_most(none, number, 0.05, f"profiles that differ by the margin ({factor}), with most figures unchanged")


@pytest.mark.parametrize(("deviation", "factor"), [(0.0005, 1.01), (0.002, 1.02)])
def test_a_change_is_found(deviation: float, factor: float) -> None:
    random = np.random.default_rng(12)
    missed = number = 0
    for _ in draws(20):
        said = words(drawn(random, bell, deviation, 6), drawn(random, bell, deviation, 6, factor))
        missed += len(keys()) - said[MORE]
        number += len(keys())
    at_most(missed, number, 0.2, f"changes of {factor - 1:.0%} with noise of {deviation:.2%}, not found")


def test_equal_profiles_are_said_to_be_the_same() -> None:
    random = np.random.default_rng(13)
    missed = number = 0
    for _ in draws(20):
        said = words(*(drawn(random, bell, 0.0005, 6) for _ in range(2)))
        missed += len(keys()) - said[SAME]
        number += len(keys())
    at_most(missed, number, 0.2, "figures that did not change with noise of 0.05 %, not said to be the same")
