"""Decisions of rows -> answer, advice and reasons: every combination, and series that were judged wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from cqbench.analysis.verdict import advice, rules
from cqbench.analysis.verdict.model import Decision, Row, Scenario
from cqbench.analysis.verdict.scenarios import Compared, Judged, Named
from cqbench.formats.offered import closed
from cqbench.model import thresholds
from cqbench.model.series import Series
from cqbench.model.setting import Setting
from cqbench.render.verdict import words
from cqbench.render.verdict.statements import overall, say
from cqbench.stats.ratios import Ratio
from verdict_synthetic import SHARED, at, found, judged

B, LIKELY, OTHER, FASTER = Decision.BOTTLENECK, Decision.LIKELY, Decision.OTHER, Decision.FASTER
SLOWER, FULL, SMALL, NOT_FASTER, OPEN = (
    Decision.SLOWER, Decision.SATURATED, Decision.EQUIVALENT, Decision.NOT_FASTER, Decision.INCONCLUSIVE,
)  # fmt: skip
ALL = (B, LIKELY, OTHER, FASTER, SLOWER, FULL, SMALL, NOT_FASTER, OPEN)
GAINS, UNDECIDED = {B, LIKELY, OTHER, FASTER}, {FULL, OPEN}
SAME = Decision.SAME
SOME = "Inconclusive at some loads"
ROOT = Path(__file__).parents[2]


def case_of(*decisions: Decision) -> Scenario:
    """One configuration: 1 in flight, then a row for each decision at 2, 4, 8, ... in flight."""
    rows = [
        Row("separate", closed(2**i), decision, None, None, None, None, None, None, repetitions=6)
        for i, decision in enumerate((SAME, *decisions))
    ]
    ranked = min(decisions, key=list(Decision).index, default=OPEN)
    return Scenario(
        "unary", "connections", "shared", ("separate",), True, False, ranked, tuple(rows), (), 6
    )  # fmt: skip


def answered(*decisions: Decision) -> str:
    case = case_of(*decisions)
    return words.answer(case)


def asked(*decisions: Decision) -> str:
    """Yes or no, of one case."""
    case = case_of(*decisions)
    return overall([case], True).partition(".")[0]


def advised(*decisions: Decision) -> str:
    """Returns the advice if nothing gains."""
    series = Series(Setting(()))
    compared = Compared(
        "connections", "unary", Setting(()), Named("shared", series), (Named("separate", series),), True
    )
    (statement,) = advice.settings([Judged(compared, case_of(*decisions))], ())
    return statement.code


# Rows at 2 and at 4 in flight -> yes or no, and the sentence.
TABLE: list[tuple[tuple[Decision, ...], str, str]] = [
    ((), "Inconclusive", "Inconclusive"),
    ((B,), "Yes", "One connection is the bottleneck at 2 in flight"),
    ((LIKELY,), "Likely", "One connection is likely the bottleneck at 2 in flight"),
    ((OTHER,), "No", "separate is faster at 2 in flight, but not because of the connection"),
    ((FASTER,), "Inconclusive", "separate is faster at 2 in flight"),
    ((SLOWER,), "No", "A loss at 2 in flight, no gain"),
    ((FULL,), "Inconclusive", "Inconclusive"),
    ((SMALL,), "No", "Equivalent within ±10 %"),
    ((NOT_FASTER,), "No", "No gain that counts"),
    ((OPEN,), "Inconclusive", "Inconclusive"),
    ((B, LIKELY), "Yes", "One connection is the bottleneck at 2 in flight"),
    ((B, OTHER), "Yes", "One connection is the bottleneck at 2 in flight"),
    ((B, FASTER), "Yes", "One connection is the bottleneck at 2 in flight"),
    ((B, SLOWER), "Yes", "One connection is the bottleneck at 2 in flight"),
    ((B, FULL), "Yes", "One connection is the bottleneck at 2 in flight"),
    ((B, SMALL), "Yes", "One connection is the bottleneck at 2 in flight"),
    ((B, NOT_FASTER), "Yes", "One connection is the bottleneck at 2 in flight"),
    ((B, OPEN), "Yes", "One connection is the bottleneck at 2 in flight"),
    ((LIKELY, OTHER), "Likely", "One connection is likely the bottleneck at 2 in flight"),
    ((LIKELY, FASTER), "Likely", "One connection is likely the bottleneck at 2 in flight"),
    ((LIKELY, SLOWER), "Likely", "One connection is likely the bottleneck at 2 in flight"),
    ((LIKELY, FULL), "Likely", "One connection is likely the bottleneck at 2 in flight"),
    ((LIKELY, SMALL), "Likely", "One connection is likely the bottleneck at 2 in flight"),
    ((LIKELY, NOT_FASTER), "Likely", "One connection is likely the bottleneck at 2 in flight"),
    ((LIKELY, OPEN), "Likely", "One connection is likely the bottleneck at 2 in flight"),
    (
        (OTHER, FASTER),
        SOME,
        "separate is faster at 2 to 4 in flight, not because of the connection at 2",
    ),
    ((OTHER, SLOWER), "No", "separate is faster at 2 in flight, but not because of the connection"),
    (
        (OTHER, FULL),
        SOME,
        "separate is faster at 2 in flight, but not because of the connection",
    ),
    ((OTHER, SMALL), "No", "separate is faster at 2 in flight, but not because of the connection"),
    ((OTHER, NOT_FASTER), "No", "separate is faster at 2 in flight, but not because of the connection"),
    (
        (OTHER, OPEN),
        SOME,
        "separate is faster at 2 in flight, but not because of the connection",
    ),
    ((FASTER, SLOWER), SOME, "separate is faster at 2 in flight"),
    ((FASTER, FULL), "Inconclusive", "separate is faster at 2 in flight"),
    ((FASTER, SMALL), SOME, "separate is faster at 2 in flight"),
    ((FASTER, NOT_FASTER), SOME, "separate is faster at 2 in flight"),
    ((FASTER, OPEN), "Inconclusive", "separate is faster at 2 in flight"),
    ((SLOWER, FULL), SOME, "A loss at 2 in flight"),
    ((SLOWER, SMALL), "No", "A loss at 2 in flight, no gain"),
    ((SLOWER, NOT_FASTER), "No", "A loss at 2 in flight, no gain"),
    ((SLOWER, OPEN), SOME, "A loss at 2 in flight"),
    ((FULL, SMALL), SOME, "Inconclusive at 2 in flight"),
    ((FULL, NOT_FASTER), SOME, "Inconclusive at 2 in flight"),
    ((FULL, OPEN), "Inconclusive", "Inconclusive"),
    ((SMALL, NOT_FASTER), "No", "No gain that counts"),
    ((SMALL, OPEN), SOME, "Inconclusive at 4 in flight"),
    ((NOT_FASTER, OPEN), SOME, "Inconclusive at 4 in flight"),
]


def test_the_table_has_every_decision_and_every_two() -> None:
    wanted = {frozenset(some) for size in (0, 1, 2) for some in combinations(ALL, size)}
    assert {frozenset(decisions) for decisions, *_ in TABLE} == wanted and len(TABLE) == len(wanted)
    assert set(ALL) | {SAME} == set(Decision)


@pytest.mark.parametrize(("decisions", "yes_no", "sentence"), TABLE)
def test_what_is_answered(decisions: Sequence[Decision], yes_no: str, sentence: str) -> None:
    assert (asked(*decisions), answered(*decisions)) == (yes_no, f"{sentence}.")


@pytest.mark.parametrize("size", range(1, len(ALL) + 1))
def test_what_no_combination_may_answer(size: int) -> None:
    """The table's rules hold for any number of rows that are decided differently."""
    for decisions in combinations(ALL, size):
        there, said, word = set(decisions), answered(*decisions), asked(*decisions)
        denies = "no gain" in said.lower() or "Equivalent" in said
        assert denies == (not there & (GAINS | UNDECIDED)), (decisions, said)
        assert ("Equivalent" in said) == (there == {SMALL}), (decisions, said)
        assert (word == "Yes") == (B in there) and (word == "Likely") == (LIKELY in there and B not in there)
        assert (word == "No") == (not there & {B, LIKELY, FASTER, FULL, OPEN}), (decisions, word)
        assert ("not because of the connection" in said) == (OTHER in there and not there & {B, LIKELY})
        assert (", but not because" in said) == (OTHER in there and not there & {B, LIKELY, FASTER})


@pytest.mark.parametrize("size", range(1, 6))
def test_the_advice_denies_a_gain_only_where_each_is_ruled_out(size: int) -> None:
    for decisions in combinations(set(ALL) - GAINS, size):
        text, undecided = advised(*decisions), set(decisions) & UNDECIDED
        if set(decisions) == undecided:
            assert text == "keep-until-measured"
        elif undecided:
            assert text == "keep-not-shown"
        else:
            assert text == "keep"


RULE: list[tuple[Ratio, float, Decision]] = [
    (Ratio(1.12, 1.03, 1.22), 0.01, FASTER),  # the estimate decides, not where the interval begins
    (Ratio(1.10, 1.03, 1.18), 0.01, OPEN),
    (Ratio(1.30, 0.99, 1.70), 0.06, OPEN),
    (Ratio(1.05, 1.02, 1.08), 0.01, SMALL),
    (Ratio(0.97, 0.88, 0.99), 0.01, SLOWER),
    (Ratio(0.97, 0.92, 0.99), 0.01, SMALL),
    (Ratio(0.97, 0.80, 1.05), 0.20, NOT_FASTER),
]


@pytest.mark.parametrize(
    ("low", "high", "expected"), [(0.90, 0.99, True), (0.89, 0.99, None), (0.80, 0.90, None), (0.80, 0.89, False)]
)
def test_a_threshold_is_decided_by_the_whole_interval(low: float, high: float, expected: bool | None) -> None:
    assert rules.ratio_above(Ratio(math.sqrt(low * high), low, high), 0.90) is expected
    assert rules.ratio_above(Ratio(0.95), 0.90) is None


@pytest.mark.parametrize(("ratio", "p", "decision"), RULE)
def test_the_rule_is_the_one_in_the_handbook(ratio: Ratio, p: float, decision: Decision) -> None:
    assert rules.decide(ratio, p, FASTER, full=False) is decision
    assert rules.decide(ratio, p, FASTER, full=True) is (FULL if decision is OPEN else decision)
    words = [" ".join((ROOT / name).read_text().split()) for name in ("README.md", "scripts/README.md")]
    assert "by more than 10 % as measured (the interval may begin below that)" in words[0]
    assert (
        f"its estimate is above {thresholds.GAIN:.2f}. The interval may begin below {thresholds.GAIN:.2f}." in words[1]
    )
    assert (
        f"p of at most {thresholds.ALPHA:g} after" in words[1]
        and f"p of at most {thresholds.COST_ALPHA:g})" in words[1]
    )


def noisy_at_full_cpus(folder: Path) -> Scenario:
    """One client CPU, full on both sides, and 1.12 times the throughput with an interval on both sides of 1."""
    left: dict[int, list[float]] = {n: [-0.17, -0.1, -0.03, 0.03, 0.1, 0.17] for n in SHARED}

    def full(n: int, point: dict[str, Any]) -> None:
        point.update(client_cpus_allowed=1, client_cores_used=1.0)

    def noisy(n: int, point: dict[str, Any]) -> None:
        full(n, point)
        if n > 1:
            point["throughput_per_second"] *= math.exp(left[n].pop())

    rates = {n: rate * (1.12 if n > 1 else 1) for n, rate in SHARED.items()}
    return found(folder, {"change": full}, {"rates": rates, "change": noisy})


def test_full_cpus_do_not_turn_noise_into_no(tmp_path: Path) -> None:
    case = noisy_at_full_cpus(tmp_path)
    row = at(case, 8)
    assert row.judged is not None and row.judged.low is not None and row.judged.high is not None
    assert row.judged.low < 1 < 1.1 < row.judged.value < 1.15 < 1.25 < row.judged.high
    assert {r.decision for r in case.rows} == {SAME, FULL}
    judgement = judged(tmp_path)
    said = say(judgement)
    assert said.answer == "Inconclusive."
    assert said.settings == ("Nothing yet: keep one connection until it has been measured well enough.",)
