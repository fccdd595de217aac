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
SLOWER, SMALL, OPEN, SAME = Decision.SLOWER, Decision.EQUIVALENT, Decision.INCONCLUSIVE, Decision.SAME
NO_GAIN = "inconclusive, a gain is ruled out"
Kind = Decision | str
ALL: tuple[Kind, ...] = (B, LIKELY, OTHER, FASTER, SLOWER, SMALL, NO_GAIN, OPEN)
GAINS = {B, LIKELY, OTHER, FASTER}
SOME = "Inconclusive at some loads"
ROOT = Path(__file__).parents[2]


def case_of(*kinds: Kind) -> Scenario:
    """One configuration: 1 in flight, then a row for each kind at 2, 4, 8, ... in flight."""
    decisions = [kind if isinstance(kind, Decision) else OPEN for kind in (SAME, *kinds)]
    rows = [
        Row("separate", closed(2**i), decision, None, None, None, None, None, repetitions=6, no_gain=kind == NO_GAIN)
        for i, (decision, kind) in enumerate(zip(decisions, (SAME, *kinds), strict=True))
    ]
    ranked = min(decisions[1:], key=list(Decision).index, default=OPEN)
    return Scenario(
        "unary", "connections", "shared", ("separate",), True, False, ranked, tuple(rows), (), 6
    )  # fmt: skip


def answered(*decisions: Kind) -> str:
    case = case_of(*decisions)
    return words.answer(case)


def asked(*decisions: Kind) -> str:
    """Yes or no, of one case."""
    case = case_of(*decisions)
    return overall([case], True).partition(".")[0]


def advised(*decisions: Kind) -> str:
    """Returns the advice if nothing gains."""
    series = Series(Setting(()))
    compared = Compared(
        "connections", "unary", Setting(()), Named("shared", series), (Named("separate", series),), True
    )
    (statement,) = advice.settings([Judged(compared, case_of(*decisions))], ())
    return statement.code


# Rows at 2 and at 4 in flight -> yes or no, and the sentence.
TABLE: list[tuple[tuple[Kind, ...], str, str]] = [
    ((), "Inconclusive", "Inconclusive"),
    ((B,), "Yes", "One connection is the bottleneck at 2 in flight"),
    ((LIKELY,), "Likely", "One connection is likely the bottleneck at 2 in flight"),
    ((OTHER,), "No", "separate is faster at 2 in flight, but not because of the connection"),
    ((FASTER,), "Inconclusive", "separate is faster at 2 in flight"),
    ((SLOWER,), "No", "A loss at 2 in flight, no gain"),
    ((SMALL,), "No", "Equivalent"),
    ((NO_GAIN,), "No", "No gain"),
    ((OPEN,), "Inconclusive", "Inconclusive"),
    ((B, LIKELY), "Yes", "One connection is the bottleneck at 2 in flight"),
    ((B, OTHER), "Yes", "One connection is the bottleneck at 2 in flight"),
    ((B, FASTER), "Yes", "One connection is the bottleneck at 2 in flight"),
    ((B, SLOWER), "Yes", "One connection is the bottleneck at 2 in flight"),
    ((B, SMALL), "Yes", "One connection is the bottleneck at 2 in flight"),
    ((B, NO_GAIN), "Yes", "One connection is the bottleneck at 2 in flight"),
    ((B, OPEN), "Yes", "One connection is the bottleneck at 2 in flight"),
    ((LIKELY, OTHER), "Likely", "One connection is likely the bottleneck at 2 in flight"),
    ((LIKELY, FASTER), "Likely", "One connection is likely the bottleneck at 2 in flight"),
    ((LIKELY, SLOWER), "Likely", "One connection is likely the bottleneck at 2 in flight"),
    ((LIKELY, SMALL), "Likely", "One connection is likely the bottleneck at 2 in flight"),
    ((LIKELY, NO_GAIN), "Likely", "One connection is likely the bottleneck at 2 in flight"),
    ((LIKELY, OPEN), "Likely", "One connection is likely the bottleneck at 2 in flight"),
    ((OTHER, FASTER), SOME, "separate is faster at 2 to 4 in flight, not because of the connection at 2"),
    ((OTHER, SLOWER), "No", "separate is faster at 2 in flight, but not because of the connection"),
    ((OTHER, SMALL), "No", "separate is faster at 2 in flight, but not because of the connection"),
    ((OTHER, NO_GAIN), "No", "separate is faster at 2 in flight, but not because of the connection"),
    ((OTHER, OPEN), SOME, "separate is faster at 2 in flight, but not because of the connection"),
    ((FASTER, SLOWER), SOME, "separate is faster at 2 in flight"),
    ((FASTER, SMALL), SOME, "separate is faster at 2 in flight"),
    ((FASTER, NO_GAIN), SOME, "separate is faster at 2 in flight"),
    ((FASTER, OPEN), "Inconclusive", "separate is faster at 2 in flight"),
    ((SLOWER, SMALL), "No", "A loss at 2 in flight, no gain"),
    ((SLOWER, NO_GAIN), "No", "A loss at 2 in flight, no gain"),
    ((SLOWER, OPEN), SOME, "A loss at 2 in flight"),
    ((SMALL, NO_GAIN), "No", "No gain; inconclusive at 4 in flight"),
    ((SMALL, OPEN), SOME, "Inconclusive at 4 in flight"),
    ((NO_GAIN, OPEN), "Inconclusive", "Inconclusive"),
]


def test_the_table_has_every_decision_and_every_two() -> None:
    wanted = {frozenset(some) for size in (0, 1, 2) for some in combinations(ALL, size)}
    assert {frozenset(decisions) for decisions, *_ in TABLE} == wanted and len(TABLE) == len(wanted)
    assert set(ALL) | {SAME} == {*Decision, NO_GAIN}


@pytest.mark.parametrize(("decisions", "yes_no", "sentence"), TABLE)
def test_what_is_answered(decisions: Sequence[Kind], yes_no: str, sentence: str) -> None:
    assert (asked(*decisions), answered(*decisions)) == (yes_no, f"{sentence}.")


@pytest.mark.parametrize("size", range(1, len(ALL) + 1))
def test_what_no_combination_may_answer(size: int) -> None:
    """The table's rules hold for any number of rows that are decided differently."""
    for decisions in combinations(ALL, size):
        there, said, word = set(decisions), answered(*decisions), asked(*decisions)
        denies = "no gain" in said.lower() or "Equivalent" in said
        assert denies == (not there & (GAINS | {OPEN})), (decisions, said)
        assert ("Equivalent" in said) == (there == {SMALL}), (decisions, said)
        assert (word == "Yes") == (B in there) and (word == "Likely") == (LIKELY in there and B not in there)
        assert (word == "No") == (not there & {B, LIKELY, FASTER, OPEN}), (decisions, word)
        assert ("not because of the connection" in said) == (OTHER in there and not there & {B, LIKELY})
        assert (", but not because" in said) == (OTHER in there and not there & {B, LIKELY, FASTER})


@pytest.mark.parametrize("size", range(1, 5))
def test_the_advice_denies_a_gain_only_where_each_is_ruled_out(size: int) -> None:
    for decisions in combinations(set(ALL) - GAINS, size):
        expected = "keep-until-measured" if set(decisions) == {OPEN} else "keep-not-shown"
        assert advised(*decisions) == (expected if OPEN in decisions else "keep")


RULE: list[tuple[Ratio, Decision, bool]] = [
    (Ratio(1.12, 1.03, 1.22), FASTER, False),
    (Ratio(1.30, 0.99, 1.70), OPEN, False),
    (Ratio(1.05, 1.02, 1.08), SMALL, True),
    (Ratio(1.05, 1.02, 1.11), FASTER, False),
    (Ratio(0.97, 0.88, 0.99), SLOWER, True),
    (Ratio(0.97, 0.92, 0.99), SMALL, True),
    (Ratio(0.97, 0.80, 1.05), OPEN, True),
    (Ratio(1.50), OPEN, False),
]


@pytest.mark.parametrize(
    ("low", "high", "expected"), [(0.90, 0.99, True), (0.89, 0.99, None), (0.80, 0.90, None), (0.80, 0.89, False)]
)
def test_a_threshold_is_decided_by_the_whole_interval(low: float, high: float, expected: bool | None) -> None:
    assert rules.ratio_above(Ratio(math.sqrt(low * high), low, high), 0.90) is expected
    assert rules.ratio_above(Ratio(0.95), 0.90) is None


@pytest.mark.parametrize(("ratio", "decision", "no_gain"), RULE)
def test_the_rule_is_the_one_in_the_handbook(ratio: Ratio, decision: Decision, no_gain: bool) -> None:
    rule = rules.Rule()
    assert rule.decide(ratio, FASTER) is decision and rule.no_gain(ratio) is no_gain
    assert rules.Rule(margin=1.25).decide(Ratio(1.05, 0.9, 1.2), FASTER) is SMALL
    text = " ".join((ROOT / "scripts/README.md").read_text().split())
    assert f"The margin is {thresholds.GAIN - 1:.0%}".replace("%", " %") in text


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
    assert {r.decision for r in case.rows} == {SAME, OPEN}
    judgement = judged(tmp_path)
    said = say(judgement)
    assert said.answer == "Inconclusive."
    assert said.settings == ("Nothing yet: keep one connection until it has been measured well enough.",)
