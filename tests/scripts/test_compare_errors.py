"""How often cqbench compare is wrong: series of a known truth with the noise of a shared machine, as files through the
whole command. CQBENCH_FULL=1 simulates many more and prints the shares, which scripts/README.md has.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from made_results import put
from test_compare_synthetic import called, result

FULL = "CQBENCH_FULL" in os.environ
SERIES = 400 if FULL else 60
LOADS = (1, 4, 16, 48)
Floats = npt.NDArray[np.float64]


def most(share: float, count: int = SERIES) -> float:
    """Adds what chance may add to a share in this number of series: three standard deviations."""
    return float(share + 3 * (share * (1 - share) / count) ** 0.5)


def throughputs(random: np.random.Generator, count: int, noise: float, outliers: float) -> Floats:
    """About 10,000: `noise` from run to run, and a share of runs in which half of the machine was away."""
    values = 10_000 * np.exp(noise * random.standard_normal(count))
    values[random.random(count) < outliers] *= 0.5
    return values


def experiment(
    folder: Path, random: np.random.Generator, rounds: int, noise: float, change: float = 0, drift: float = 0.1
) -> Path:
    """Configurations a and b in turns. change: of b. drift: of the machine from round to round, which both have."""
    machine = np.exp(drift * random.standard_normal((rounds, len(LOADS))))
    for configuration, factor in (("a", 1.0), ("b", 1 + change)):
        for old in (folder / "raw" / configuration).glob("*.json"):
            old.unlink()
        for i in range(rounds):
            measured = throughputs(random, len(LOADS), noise, 0.05 if noise > 0.05 else 0) * machine[i] * factor
            data = result({load: [float(v)] for load, v in zip(LOADS, measured, strict=True)})
            put(folder / "raw" / configuration / f"{i:03}.json", data)
    return folder


def compared(capsys: pytest.CaptureFixture[str], folder: Path) -> dict[str, Any]:
    out = called(capsys, folder, "--configurations", "a", "b", "--format", "json")[1]
    (part,) = json.loads(out)["comparisons"]
    assert isinstance(part, dict)
    return part


def told(capsys: pytest.CaptureFixture[str], text: str) -> None:
    if FULL:
        with capsys.disabled():
            print(f"\n{text}")


@pytest.mark.parametrize(("rounds", "noise"), [(7, 0.15), (10, 0.10)])
def test_a_thing_compared_with_itself_is_seldom_called_different(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, rounds: int, noise: float
) -> None:
    """A/A: any of four points, and the total."""
    random = np.random.default_rng(20)
    points = totals = 0
    for _ in range(SERIES):
        part = compared(capsys, experiment(tmp_path, random, rounds, noise))
        figures = [point["metrics"]["throughput_per_second"] for point in part["points"]]
        assert all(figure["paired"] for figure in figures)
        points += any(figure["verdict"] in ("faster", "slower") for figure in figures)
        totals += part["total"]["throughput_per_second"]["verdict"] in ("faster", "slower")
    told(
        capsys, f"A/A, {rounds} rounds, noise {noise:.0%}: {points / SERIES:.1%} any point, {totals / SERIES:.1%} total"
    )
    assert points / SERIES <= most(0.05) and totals / SERIES <= most(0.05)


def test_three_percent_are_found_with_as_many_repetitions_as_it_says(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Comes from another experiment without a difference; so its noise is an estimate, too."""
    random = np.random.default_rng(21)
    tries = SERIES // (5 if FULL else 3)
    found: list[tuple[int, bool]] = []
    for _ in range(tries):
        pilot = compared(capsys, experiment(tmp_path, random, 12, 0.03))
        needed = pilot["total"]["throughput_per_second"]["repetitions_to_find"]
        after = compared(capsys, experiment(tmp_path, random, needed, 0.03, -0.03))
        found.append((needed, after["total"]["throughput_per_second"]["verdict"] == "slower"))
    share = sum(seen for _, seen in found) / tries
    told(capsys, f"A/B of 3 %: total found in {share:.1%} with {np.mean([n for n, _ in found]):.1f} repetitions")
    assert share >= 0.8 - 3 * (0.8 * 0.2 / tries) ** 0.5


def test_three_percent_are_found_at_a_point(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    random = np.random.default_rng(22)
    tries = SERIES // 10
    shares, counts = [], []
    for _ in range(tries):
        pilot = compared(capsys, experiment(tmp_path, random, 12, 0.03))
        figures = [point["metrics"]["throughput_per_second"] for point in pilot["points"]]
        needed = max(figure["repetitions_to_find"] for figure in figures)
        after = compared(capsys, experiment(tmp_path, random, needed, 0.03, -0.03))
        shares.append(np.mean([p["metrics"]["throughput_per_second"]["verdict"] == "slower" for p in after["points"]]))
        counts.append(needed)
    told(capsys, f"A/B of 3 %: {np.mean(shares):.1%} of points found with {np.mean(counts):.1f} repetitions")
    assert np.mean(shares) >= 0.8 - 3 * (0.8 * 0.2 / (tries * len(LOADS))) ** 0.5


def states(
    capsys: pytest.CaptureFixture[str], folder: Path, loss: float, count: int, noise: float, outliers: float
) -> Counter[int]:
    """Exit statuses of --fail-if-slower 5%, of two configurations of one experiment that are not compared in pairs.
    test_session_errors.py has sides of different sessions.
    """
    random = np.random.default_rng(2026)
    seen: Counter[int] = Counter()
    for _ in range(SERIES):
        before: Sequence[float] = throughputs(random, count, noise, outliers).tolist()
        after = (throughputs(random, count, noise, outliers) * (1 - loss)).tolist()
        both = ("a", before), ("b", after)
        files = [put(folder / "raw" / name / "1.json", result({4: values})) for name, values in both]
        seen[called(capsys, *files, "--metric", "throughput", "--fail-if-slower", "5%")[0]] += 1
    told(capsys, f"loss {loss:.1%}, {count} repetitions, noise {noise:.0%}, outliers {outliers:.0%}: {dict(seen)}")
    return seen


@pytest.mark.parametrize(("count", "noise", "outliers"), [(6, 0.15, 0.05), (10, 0.15, 0.05), (20, 0.1, 0.1)])
def test_a_loss_beyond_the_limit_seldom_passes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, count: int, noise: float, outliers: float
) -> None:
    """Just beyond it, where passing is likeliest."""
    assert states(capsys, tmp_path, 0.0501, count, noise, outliers)[0] / SERIES <= most(0.05)


@pytest.mark.parametrize(("count", "noise", "outliers"), [(6, 0.15, 0.05), (20, 0.1, 0.1)])
def test_the_gate_seldom_closes_without_a_loss(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, count: int, noise: float, outliers: float
) -> None:
    assert states(capsys, tmp_path, 0, count, noise, outliers)[1] / SERIES <= most(0.05)


def test_clear_cases_are_decided(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert states(capsys, tmp_path, 0, 10, 0.01, 0)[0] >= 0.95 * SERIES
    assert states(capsys, tmp_path, 0.2, 10, 0.05, 0)[1] >= 0.95 * SERIES
