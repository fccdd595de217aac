"""How often a point of several ranks is doubted that should not be, and is not that should be, from a known truth.

CQBENCH_FULL=1 draws twenty times as many and prints what it measured (pytest -s); scripts/README.md has that table.

The noise is that of two CPUs with other work, seen with 2 to 64 ranks on them: throughput for each slot 3 to 5 % apart
(standard deviation; beside it there were points in which one rank really had much more of the CPUs than the others),
Poisson's rates as chance has it, and a rank's thread awake 0.1 ms late for each rank there is, on average.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from cqbench.files.ranks import Rank
from cqbench.ranks import doubts

FULL = bool(os.environ.get("CQBENCH_FULL"))
DRAWS = 2000 if FULL else 100
COUNTS = (2, 4, 8, 16, 32, 64) if FULL else (2, 64)
WINDOW_NS = 1_000_000_000
MS = 1e6
Doubted = Callable[[np.random.Generator, int], bool]


def share(wrong: int, what: str, ranks: int, at_most: float) -> None:
    """Fails where chance (one in a thousand) does not explain that there are more."""
    if FULL:
        print(f"{what}, {ranks} ranks: {wrong / DRAWS:.1%}")
    assert wrong <= at_most * DRAWS + 3.1 * math.sqrt(at_most * (1 - at_most) * DRAWS), f"{what}: {wrong} of {DRAWS}"


def straggles(throughputs: list[float], load: str, asked: float) -> list[bool]:
    """Of each rank."""
    points = [{"throughput_per_second": t, load: asked, "window_ns": WINDOW_NS} for t in throughputs]
    return [bool(text) for text in doubts.stragglers(points)]


def closed(speed: float, random: np.random.Generator, ranks: int) -> list[bool]:
    """Four slots each, the last rank at another speed."""
    rates = 1000 * np.exp(random.normal(0, 0.04, ranks)) * np.append(np.ones(ranks - 1), speed)
    return straggles(rates.tolist(), "inflight", 4)


def poisson(speed: float, calls: float, random: np.random.Generator, ranks: int) -> list[bool]:
    """So many calls expected of each."""
    due = random.poisson(np.append(np.full(ranks - 1, calls), calls * speed))
    return straggles(due.astype(float).tolist(), "rate_asked_per_second", calls)


def skewed(late_ms: npt.NDArray[np.float64], rate: float) -> bool:
    """late_ms: of each rank, when it was known to be awake after the opening; it closes when it should."""
    edges: dict[str, Any] = {"announced_open_ns": 0, "announced_close_ns": WINDOW_NS, "window_close_ns": WINDOW_NS}
    count = len(late_ms)
    windows = [
        Rank(index=i, count=count, host="a", window_open_ns=late * MS, **edges)
        for i, late in enumerate(late_ms.tolist())
    ]
    points = [{"throughput_per_second": rate}] * count
    return any(r["code"] == doubts.SKEW for r in doubts.of_point(count, [], windows, points, WINDOW_NS))


def punctual(rate: float, random: np.random.Generator, ranks: int) -> bool:
    """All of them, though only the ends of calls tell."""
    return skewed(random.exponential(1e3 / rate, ranks), rate)


def crowded(calls: float, random: np.random.Generator, ranks: int) -> bool:
    """On two CPUs, with so many calls in a second of all of them."""
    return skewed(random.exponential(0.1 * ranks, ranks), calls / ranks)


def stopped(for_ms: float, rate: float, random: np.random.Generator, ranks: int) -> bool:
    """The last rank, across the opening."""
    late = random.exponential(0.1, ranks)
    late[-1] += for_ms
    return skewed(late, rate)


def anyone(of: Callable[[np.random.Generator, int], list[bool]]) -> Doubted:
    return lambda random, ranks: any(of(random, ranks))


def last(of: Callable[[np.random.Generator, int], list[bool]]) -> Doubted:
    return lambda random, ranks: of(random, ranks)[-1]


# What is drawn, and how often it may be doubted.
ALIKE: dict[str, tuple[Doubted, float]] = {
    "straggler: alike, closed loop": (anyone(partial(closed, 1.0)), 0.01),
    "straggler: alike, Poisson, 1000 calls each": (anyone(partial(poisson, 1.0, 1000)), 0.01),
    "straggler: alike, Poisson, 30 calls each": (anyone(partial(poisson, 1.0, 30)), 0.01),
    "straggler: alike, Poisson, 5 calls each": (anyone(partial(poisson, 1.0, 5)), 0.03),
    "window-skew: punctual, 1000 calls/s each": (partial(punctual, 1000), 0.01),
    "window-skew: punctual, 10 calls/s each": (partial(punctual, 10), 0.01),
}
# What is drawn, and how often it may not be doubted: True is a miss.
OTHERS: dict[str, tuple[Doubted, float]] = {
    "straggler: 30 % slower, closed loop": (last(partial(closed, 0.7)), 0.02),
    "straggler: half the speed, Poisson, 1000 calls each": (last(partial(poisson, 0.5, 1000)), 0.01),
    "straggler: half the speed, Poisson, 300 calls each": (last(partial(poisson, 0.5, 300)), 0.05),
    "window-skew: stopped for 25 ms, 1000 calls/s each": (partial(stopped, 25, 1000), 0.02),
    "window-skew: stopped for 150 ms, 100 calls/s each": (partial(stopped, 150, 100), 0.02),
}


@pytest.mark.parametrize("what", ALIKE)
def test_ranks_that_are_alike_are_not_doubted(what: str) -> None:
    doubted, at_most = ALIKE[what]
    for ranks in COUNTS:
        random = np.random.default_rng(ranks)
        share(sum(doubted(random, ranks) for _ in range(DRAWS)), what, ranks, at_most)


@pytest.mark.parametrize("what", OTHERS)
def test_a_rank_that_is_not_like_the_others_is_found(what: str) -> None:
    doubted, at_most = OTHERS[what]
    for ranks in COUNTS:
        random = np.random.default_rng(ranks)
        share(sum(not doubted(random, ranks) for _ in range(DRAWS)), f"{what}, not found", ranks, at_most)


@pytest.mark.skipif(not FULL, reason="figures for the handbook; what they say depends on the machine")
def test_ranks_on_too_few_cpus() -> None:
    for ranks in COUNTS:
        random = np.random.default_rng(ranks)
        what = "window-skew: on two CPUs, 10,000 calls/s of all"
        share(sum(crowded(10_000, random, ranks) for _ in range(DRAWS)), what, ranks, 1.0)
        what = "straggler: a quarter slower, closed loop, not found"
        share(sum(not closed(0.75, random, ranks)[-1] for _ in range(DRAWS)), what, ranks, 1.0)
