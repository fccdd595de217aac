"""Compares what several runs of one experiment decided: how many comparisons each decided, and which contradict.

python tests/scripts/decisions.py RESULTS...

Two runs contradict each other at a comparison where one is faster and the other slower, or one is equivalent and the
other's whole interval is outside the margin. Exit status: 0 without contradictions, 1 with, 2 usage.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path

from cqbench.analysis.verdict.model import Decision, Row
from cqbench.analysis.verdict.whole import judge_runs
from cqbench.formats.runs import read_all

Rows = dict[tuple[str, str, float], Row]  # by scenario, configuration and load
CONTRADICTORY = 1


def rows(folder: Path, margins: set[float]) -> Rows:
    """The comparisons of an experiment: one call in flight, where both sides are the same, is none."""
    found = {}
    for scenario in judge_runs(read_all([folder])).scenarios:
        margins.add(scenario.margin)
        for row in scenario.rows:
            if row.decision is not Decision.SAME:
                found[scenario.name, row.configuration, row.load.number] = row
    return found


def contradictions(one: Rows, other: Rows, margin: float) -> Iterator[str]:
    for at in sorted(set(one) & set(other)):
        pair = (one[at], other[at])
        kinds = {kind(row) for row in pair}
        if kinds == {"faster", "slower"} or ("equivalent" in kinds and any(outside(row, margin) for row in pair)):
            name, configuration, load = at
            yield f"{name}, {configuration} at {load:g}: " + " against ".join(map(shown, pair))


def kind(row: Row) -> str:
    return "faster" if row.decision.gain else row.decision.value


def outside(row: Row, margin: float) -> bool:
    low, high = (row.judged and row.judged.interval) or (1.0, 1.0)
    return low > margin or high < 1 / margin


def shown(row: Row) -> str:
    of = row.judged
    low, high = (of and of.interval) or (float("nan"), float("nan"))
    return f"{kind(row)} {of.value if of else float('nan'):.2f} ({low:.2f}-{high:.2f})"


def half_width(row: Row) -> float:
    """Returns half the interval's width as a share: 0.1 of 1.00 (0.91-1.10)."""
    low, high = (row.judged and row.judged.interval) or (0.0, float("inf"))
    return (high / low) ** 0.5 - 1 if low > 0 else float("inf")


def summary(name: str, found: Mapping[tuple[str, str, float], Row]) -> str:
    left = [row for row in found.values() if row.decision is Decision.INCONCLUSIVE]
    widths = ", ".join(f"{100 * half_width(row):.0f} %" for row in left)
    repetitions = [row.repetitions for row in found.values()]
    others = f"; half-widths of the others: {widths}" if left else ""
    decided = f"{len(found) - len(left)} of {len(found)} decided"
    return f"{name}: {decided}, {min(repetitions)} to {max(repetitions)} repetitions{others}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares what several runs of one experiment decided.")
    parser.add_argument("results", nargs="+", type=Path, metavar="RESULTS", help="folders of results")
    folders: list[Path] = parser.parse_args().results
    margins: set[float] = set()
    every = {folder: rows(folder, margins) for folder in folders}
    for folder, found in every.items():
        print(summary(folder.name, found))
    pairs = list(combinations(folders, 2))
    said = [
        f"{a.name}, {b.name}: {line}" for a, b in pairs for line in contradictions(every[a], every[b], max(margins))
    ]
    print("\n".join(said) or f"no contradictions in {len(pairs)} pairs of runs")
    return CONTRADICTORY if said else 0


if __name__ == "__main__":
    sys.exit(main())
