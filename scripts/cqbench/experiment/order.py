"""The runs of an experiment and their order: what is compared is measured one right after the other.

A run has a server and a client of its own, which costs 90 ms of the 590 that one of the headline takes; servers that
are kept would save 36 of them. But each would have met its clients in another order, with what they left in its pools
and threads, and one that spins would take the CPU of the one that is measured.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from cqbench.formats.offered import Load

MAX_SEED = 999_999_999


@dataclass(frozen=True)
class PlannedRun:
    """One configuration at one load in one repetition. repetition: from 1."""

    configuration: str
    repetition: int
    load: Load

    @property
    def stem(self) -> str:
        """The stem of its files' names."""
        return f"{self.configuration}/{self.repetition:02}-{self.load.file_key}"

    @property
    def place(self) -> tuple[str, int, Load]:
        """Sorts by configuration, then repetition, then load."""
        return self.configuration, self.repetition, self.load

    @property
    def file(self) -> str:
        """The path of the result, in the folder of results."""
        return f"raw/{self.stem}.json"

    @property
    def words(self) -> str:
        return f"{self.configuration}, {self.load.words}, repetition {self.repetition}"


def make_order(configurations: Sequence[str], loads: Sequence[Load], repetitions: int, seed: int) -> list[PlannedRun]:
    """As many repetitions of each_repetition()."""
    every = each_repetition(configurations, loads, seed)
    return [planned for _, of in zip(range(repetitions), every, strict=False) for planned in of]


def each_repetition(configurations: Sequence[str], loads: Sequence[Load], seed: int) -> Iterator[list[PlannedRun]]:
    """Yields one repetition after the other, without end, each with the loads in a new random order, and at each load
    all configurations in one.

    Configurations that differ in their last axis only stay together: a shared point and its separate twin are
    neighbours however many configurations there are. The same for the same seed.
    """
    generator = random.Random(seed)
    for repetition in count(1):
        yield [
            PlannedRun(name, repetition, load)
            for load in _shuffled(loads, generator)
            for name in _by_twins(configurations, generator)
        ]


def _by_twins(configurations: Sequence[str], generator: random.Random) -> list[str]:
    twins: dict[str, list[str]] = {}  # by what is before the last dot
    for name in configurations:
        twins.setdefault(name.rpartition(".")[0], []).append(name)
    return [name for group in _shuffled(list(twins.values()), generator) for name in _shuffled(group, generator)]


def _shuffled(items: Sequence[Any], generator: random.Random) -> list[Any]:
    return generator.sample(items, len(items))


def draw_seed() -> int:
    """For an experiment that names none; short enough to be typed."""
    return random.SystemRandom().randrange(1_000_000)
