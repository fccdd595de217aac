"""Decisions of rows -> answer, advice and reasons: every combination, and series that were judged wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
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
from cqbench.render.verdict import answer
from cqbench.render.verdict.headline import headline
from cqbench.stats.ratios import Ratio
from verdict_synthetic import SHARED, at, found, judged

B, LIKELY, OTHER, FASTER = Decision.BOTTLENECK, Decision.LIKELY, Decision.OTHER, Decision.FASTER
SLOWER, SMALL, OPEN, SAME = Decision.SLOWER, Decision.EQUIVALENT, Decision.INCONCLUSIVE, Decision.SAME
NO_GAIN = "inconclusive, a gain is ruled out"
Kind = Decision | str
ALL: tuple[Kind, ...] = (B, LIKELY, OTHER, FASTER, SLOWER, SMALL, NO_GAIN, OPEN)
GAINS = {B, LIKELY, OTHER, FASTER}
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


def advised(*decisions: Kind) -> str:
    """Returns the advice if nothing gains."""
    series = Series(Setting(()))
    compared = Compared(
        "connections", "unary", Setting(()), Named("shared", series), (Named("separate", series),), True
    )
    (statement,) = advice.settings([Judged(compared, case_of(*decisions))], (), {}, rules.Rule())
    return statement.code


LIMIT = "because one shared connection is the limit"
# Rows at 2 and at 4 in flight -> the answer to the question about the shared connection, and to any other.
TABLE: list[tuple[tuple[Kind, ...], str, str, str, str]] = [
    ((), "INCONCLUSIVE", "no load could be compared", "INCONCLUSIVE", "no load could be compared"),
    ((B,), "YES", "at 2 in flight", "FASTER", f"separate at 2 in flight, {LIMIT}"),
    (
        (LIKELY,),
        "LIKELY",
        "at 2 in flight",
        "FASTER",
        f"separate at 2 in flight, likely {LIMIT}",
    ),
    (
        (OTHER,),
        "NO",
        "more connections are faster at 2 in flight, but not because of the connection",
        "FASTER",
        "separate at 2 in flight, but not because of the connection",
    ),
    (
        (FASTER,),
        "INCONCLUSIVE",
        "more connections are faster at 2 in flight, but why is not known",
        "FASTER",
        "separate at 2 in flight",
    ),
    ((SLOWER,), "NO", "slower at every load", "SLOWER", "separate at 2 in flight"),
    ((SMALL,), "NO", "equivalent at every load", "EQUIVALENT", "within 10 % at every load"),
    (
        (NO_GAIN,),
        "NO",
        "a gain above 10 % is excluded at every load",
        "INCONCLUSIVE",
        "but a gain above 10 % is excluded at every load",
    ),
    ((OPEN,), "INCONCLUSIVE", "at every load", "INCONCLUSIVE", "at every load"),
    (
        (B, LIKELY),
        "YES",
        "at 2 in flight",
        "FASTER",
        f"separate at 2–4 in flight, {LIMIT} at 2 in flight",
    ),
    (
        (B, OTHER),
        "YES",
        "at 2 in flight",
        "FASTER",
        f"separate at 2–4 in flight, {LIMIT} at 2 in flight",
    ),
    (
        (B, FASTER),
        "YES",
        "at 2 in flight",
        "FASTER",
        f"separate at 2–4 in flight, {LIMIT} at 2 in flight",
    ),
    (
        (B, SLOWER),
        "YES",
        "at 2 in flight; more connections are slower at 4 in flight",
        "MIXED",
        f"faster: separate at 2 in flight, {LIMIT}; slower: separate at 4 in flight",
    ),
    (
        (B, SMALL),
        "YES",
        "at 2 in flight",
        "FASTER",
        f"separate at 2 in flight, {LIMIT}",
    ),
    (
        (B, NO_GAIN),
        "YES",
        "at 2 in flight",
        "FASTER",
        f"separate at 2 in flight, {LIMIT}",
    ),
    (
        (B, OPEN),
        "YES",
        "at 2 in flight",
        "FASTER",
        f"separate at 2 in flight, {LIMIT}",
    ),
    (
        (LIKELY, OTHER),
        "LIKELY",
        "at 2 in flight",
        "FASTER",
        f"separate at 2–4 in flight, likely {LIMIT} at 2 in flight",
    ),
    (
        (LIKELY, FASTER),
        "LIKELY",
        "at 2 in flight",
        "FASTER",
        f"separate at 2–4 in flight, likely {LIMIT} at 2 in flight",
    ),
    (
        (LIKELY, SLOWER),
        "LIKELY",
        "at 2 in flight; more connections are slower at 4 in flight",
        "MIXED",
        f"faster: separate at 2 in flight, likely {LIMIT}; slower: separate at 4 in flight",
    ),
    (
        (LIKELY, SMALL),
        "LIKELY",
        "at 2 in flight",
        "FASTER",
        f"separate at 2 in flight, likely {LIMIT}",
    ),
    (
        (LIKELY, NO_GAIN),
        "LIKELY",
        "at 2 in flight",
        "FASTER",
        f"separate at 2 in flight, likely {LIMIT}",
    ),
    (
        (LIKELY, OPEN),
        "LIKELY",
        "at 2 in flight",
        "FASTER",
        f"separate at 2 in flight, likely {LIMIT}",
    ),
    (
        (OTHER, FASTER),
        "INCONCLUSIVE",
        "at some loads; more connections are faster at 2–4 in flight, not because of the connection at 2 in flight",
        "FASTER",
        "separate at 2–4 in flight",
    ),
    (
        (OTHER, SLOWER),
        "NO",
        "more connections are faster at 2 in flight, but not because of the connection; slower at 4 in flight",
        "MIXED",
        "faster: separate at 2 in flight, but not because of the connection; slower: separate at 4 in flight",
    ),
    (
        (OTHER, SMALL),
        "NO",
        "more connections are faster at 2 in flight, but not because of the connection",
        "FASTER",
        "separate at 2 in flight, but not because of the connection",
    ),
    (
        (OTHER, NO_GAIN),
        "NO",
        "more connections are faster at 2 in flight, but not because of the connection",
        "FASTER",
        "separate at 2 in flight, but not because of the connection",
    ),
    (
        (OTHER, OPEN),
        "INCONCLUSIVE",
        "at some loads; more connections are faster at 2 in flight, but not because of the connection",
        "FASTER",
        "separate at 2 in flight, but not because of the connection",
    ),
    (
        (FASTER, SLOWER),
        "INCONCLUSIVE",
        "at some loads; more connections are faster at 2 in flight, but why is not known; slower at 4 in flight",
        "MIXED",
        "faster: separate at 2 in flight; slower: separate at 4 in flight",
    ),
    (
        (FASTER, SMALL),
        "INCONCLUSIVE",
        "at some loads; more connections are faster at 2 in flight, but why is not known",
        "FASTER",
        "separate at 2 in flight",
    ),
    (
        (FASTER, NO_GAIN),
        "INCONCLUSIVE",
        "at some loads; more connections are faster at 2 in flight, but why is not known",
        "FASTER",
        "separate at 2 in flight",
    ),
    (
        (FASTER, OPEN),
        "INCONCLUSIVE",
        "more connections are faster at 2 in flight, but why is not known",
        "FASTER",
        "separate at 2 in flight",
    ),
    (
        (SLOWER, SMALL),
        "NO",
        "equivalent or slower at every load, slower at 2 in flight",
        "SLOWER",
        "separate at 2 in flight",
    ),
    (
        (SLOWER, NO_GAIN),
        "NO",
        "a gain above 10 % is excluded at every load, slower at 2 in flight",
        "SLOWER",
        "separate at 2 in flight",
    ),
    (
        (SLOWER, OPEN),
        "INCONCLUSIVE",
        "at some loads; more connections are not shown to be faster at any load, slower at 2 in flight",
        "SLOWER",
        "separate at 2 in flight",
    ),
    (
        (SMALL, NO_GAIN),
        "NO",
        "a gain above 10 % is excluded at every load",
        "INCONCLUSIVE",
        "but a gain above 10 % is excluded at every load",
    ),
    (
        (SMALL, OPEN),
        "INCONCLUSIVE",
        "at some loads; more connections are not shown to be faster at any load",
        "INCONCLUSIVE",
        "at some loads, equivalent at the others",
    ),
    (
        (NO_GAIN, OPEN),
        "INCONCLUSIVE",
        "at some loads; more connections are not shown to be faster at any load",
        "INCONCLUSIVE",
        "at every load",
    ),
]


def test_the_table_has_every_decision_and_every_two() -> None:
    wanted = {frozenset(some) for size in (0, 1, 2) for some in combinations(ALL, size)}
    assert {frozenset(decisions) for decisions, *_ in TABLE} == wanted and len(TABLE) == len(wanted)
    assert set(ALL) | {SAME} == {*Decision, NO_GAIN}


@pytest.mark.parametrize(("decisions", "word", "line", "other_word", "other_line"), TABLE)
def test_what_is_answered(decisions: Sequence[Kind], word: str, line: str, other_word: str, other_line: str) -> None:
    case = case_of(*decisions)
    assert headline([case], True) == (word, line) and headline([case], False) == (other_word, other_line)


@pytest.mark.parametrize("size", range(1, len(ALL) + 1))
def test_what_no_combination_may_answer(size: int) -> None:
    """The table's rules hold for any number of rows that are decided differently."""
    for decisions in combinations(ALL, size):
        there = set(decisions)
        word, line = headline([case_of(*decisions)], True)
        other_word, other_line = headline([case_of(*decisions)], False)
        assert (word == "YES") == (B in there) and (word == "LIKELY") == (LIKELY in there and B not in there)
        assert (word == "NO") == (not there & {B, LIKELY, FASTER, OPEN}), (decisions, word)
        assert ("at every load" in line) == (there == {OPEN} or (word == "NO" and not there & GAINS)), (decisions, line)
        assert (", but not because" in line) == (OTHER in there and not there & {B, LIKELY, FASTER}), (decisions, line)
        assert (", but not because" in other_line) == (there & GAINS == {OTHER}), (decisions, other_line)
        assert ("because one shared connection" in other_line) == bool(there & {B, LIKELY}), (decisions, other_line)
        assert (other_word == "EQUIVALENT") == (there == {SMALL})
        assert (other_word in ("FASTER", "MIXED")) == bool(there & GAINS)
        assert (other_word in ("SLOWER", "MIXED")) == (SLOWER in there)


def test_of_several_scenarios_it_is_said_in_how_many() -> None:
    cases = [replace(case_of(kind), name=name) for name, kind in (("a", B), ("b", SLOWER), ("c", OPEN))]
    assert headline(cases, True) == ("YES", "at 2 in flight (a); more connections are slower at 2 in flight (b)")
    assert headline(cases, False) == ("MIXED", "faster in 1 of 3 scenarios, slower in 1")
    assert headline(cases[1:], False) == ("SLOWER", "separate at 2 in flight (b)")
    two = headline([cases[0], replace(cases[0], name="d"), cases[2]], True)
    assert two == ("YES", "at 2 in flight in 2 of 3 scenarios")
    limited = tuple(replace(r, codes=("stream-limit",), stream_limit=7) for r in cases[0].rows)
    answer = headline([replace(cases[0], rows=limited)], True)
    assert answer == ("YES", "at 2 in flight: the server's limit of 7 streams per connection")


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
    said = answer.make(judged(tmp_path))
    assert said.short == "INCONCLUSIVE at every load" and said.to_set == ()
    assert said.keep == ("Nothing yet: keep one connection until it has been measured well enough.",)


# Gains and losses by load -> whether the setting is recommended.
CLEAR: list[tuple[tuple[Kind, ...], bool]] = [
    ((B, SMALL), True),
    ((OPEN, B), True),
    ((SLOWER, OPEN, B), True),
    ((B, B, SMALL, SLOWER), True),
    ((B, SLOWER), False),
    ((OPEN, SLOWER, B), False),
    ((B, OPEN, SLOWER, OPEN, B), False),
    ((SLOWER, SLOWER), False),
]


@pytest.mark.parametrize(("kinds", "clear"), CLEAR)
def test_a_gain_next_to_a_loss_is_no_advice(kinds: Sequence[Kind], clear: bool) -> None:
    assert advice.clear(case_of(*kinds).rows) is clear
