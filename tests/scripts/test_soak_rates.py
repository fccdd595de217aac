"""How often the verdict of `cqbench soak` is wrong, through the real code, with rounds from a known truth.

CQBENCH_FULL=1 draws ten times as many and prints what it measured (pytest -s); scripts/README.md has those figures.
Rounds depend on those before (autoregressive of order one, with coefficient rho), or follow a sawtooth, as the memory
of an allocator does that collects and returns.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from cqbench.analysis.soak import FLAT, MIN_ROUNDS, judge
from rates import at_most, draws

Values = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
FIGURES = 25  # of a soak: five of each of five processes
DAY = 1300  # rounds of 24 hours
LENGTHS = (MIN_ROUNDS, 30, 60, 180, DAY)


def dependent(random: np.random.Generator, number: int, rounds: int, rho: float) -> Values:
    """Draws as many series with standard deviation 1."""
    found = random.normal(0, 1, (number, rounds))
    for i in range(1, rounds):
        found[:, i] = rho * found[:, i - 1] + math.sqrt(1 - rho * rho) * found[:, i]
    return found


def sawtooth(random: np.random.Generator, number: int, rounds: int, period: float) -> Values:
    """The same, with a phase of their own each; a tenth of it is noise of each round."""
    phases = random.random((number, 1)) + np.arange(rounds) / period
    return (phases % 1 - 0.5) * math.sqrt(12) + random.normal(0, 0.1, (number, rounds))


def leak(rounds: int, factor: float) -> Values:
    """Logarithms that rise steadily, so that the mean of the last third is that of the third before times factor."""
    return math.log(factor) * np.arange(rounds) / (rounds // 3)


def verdicts(logs: Values, figures: int = FIGURES) -> list[str]:
    return [judge(list(np.exp(one)), figures=figures).verdict for one in logs]


def soaks_with_growth(draw: Callable[[], Values], number: int) -> int:
    """Counts the soaks with a figure that "grows", of those whose figures draw() makes."""
    return sum("grows" in verdicts(draw()) for _ in range(number))


@pytest.mark.parametrize("rounds", LENGTHS)
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8, 0.9])
def test_of_what_does_not_grow_nothing_is_said_to_grow(rounds: int, rho: float) -> None:
    """Noise of 20 %, as latencies have: 1 % of growth, which is the limit, is nothing next to that."""
    random = np.random.default_rng(rounds)
    number = len(draws(6 if rounds == DAY else 20))
    wrong = soaks_with_growth(lambda: 0.2 * dependent(random, FIGURES, rounds, rho), number)
    at_most(wrong, number, 0.05, f"soaks of {rounds} rounds, rho {rho}, with any growth")


@pytest.mark.parametrize("rounds", LENGTHS)
@pytest.mark.parametrize("teeth", [2, 3, 7.5])
def test_a_sawtooth_does_not_grow(rounds: int, teeth: float) -> None:
    """teeth: how many fit into the rounds that are judged."""
    random = np.random.default_rng(rounds + 1)
    number = len(draws(6 if rounds == DAY else 20))
    period = 2 * (rounds // 3) / teeth
    wrong = soaks_with_growth(lambda: 0.1 * sawtooth(random, FIGURES, rounds, period), number)
    at_most(wrong, number, 0.05, f"soaks of {rounds} rounds, a sawtooth of {teeth} periods, with any growth")


@pytest.mark.parametrize("rounds", LENGTHS[:-1])
def test_wild_rounds_do_not_grow(rounds: int) -> None:
    random = np.random.default_rng(rounds + 2)

    def draw() -> Values:
        wild = (random.random((FIGURES, rounds)) < 0.05) * random.normal(0, 2, (FIGURES, rounds))
        return 0.02 * dependent(random, FIGURES, rounds, 0.5) + wild

    number = len(draws(30))
    wrong = soaks_with_growth(draw, number)
    at_most(wrong, number, 0.05, f"soaks of {rounds} rounds, a round in twenty far off, with any growth")


@pytest.mark.parametrize("rounds", [MIN_ROUNDS, 30, 180])
@pytest.mark.parametrize("rho", [0.0, 0.9])
def test_at_the_limit_neither_is_said(rounds: int, rho: float) -> None:
    """A steady growth of exactly 1 % is neither flat nor more than that. One figure, at 5 %."""
    random = np.random.default_rng(rounds + 3)
    number = len(draws(200))
    said = verdicts(0.01 * dependent(random, number, rounds, rho) + leak(rounds, FLAT), 1)
    for word in ("grows", "flat"):
        at_most(said.count(word), number, 0.05, f"1 % of growth in {rounds} rounds, rho {rho}, said to be {word}")


# Memory at rest varies by 0.15 % from round to round (scripts/README.md); 30 rounds are half an hour.
@pytest.mark.parametrize(("rounds", "rho", "factor"), [(30, 0.5, 1.05), (180, 0.5, 1.02), (DAY, 0.9, 1.02)])
def test_a_leak_is_found(rounds: int, rho: float, factor: float) -> None:
    random = np.random.default_rng(rounds + 4)
    number = len(draws(100))
    said = verdicts(0.0015 * dependent(random, number, rounds, rho) + leak(rounds, factor))
    what = f"{factor - 1:.0%} of growth in a third of {rounds} rounds, rho {rho}, not found"
    at_most(number - said.count("grows"), number, 0.2, what)


@pytest.mark.parametrize(("rounds", "rho"), [(60, 0.0), (180, 0.5), (DAY, 0.9)])
def test_what_does_not_grow_is_flat(rounds: int, rho: float) -> None:
    random = np.random.default_rng(rounds + 5)
    number = len(draws(50))
    said = verdicts(0.0015 * dependent(random, number, rounds, rho))
    at_most(number - said.count("flat"), number, 0.2, f"no growth in {rounds} rounds, rho {rho}, not said to be flat")


def test_a_step_is_found() -> None:
    random = np.random.default_rng(6)
    step = np.where(np.arange(60) < 40, 0.0, math.log(1.05))
    number = len(draws(50))
    said = verdicts(0.0015 * dependent(random, number, 60, 0.5) + step)
    at_most(number - said.count("grows"), number, 0.2, "5 % more from one round to the next, not found")
