"""The causes behind a verdict, each said once for all rows that have it: the WHY of an answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from cqbench.analysis.verdict import evidence
from cqbench.analysis.verdict.model import Decision, Effect, Row, Scenario
from cqbench.model.thresholds import CPU_SATURATED
from cqbench.render.verdict.words import CODES, count, listed, loads, spans, times
from cqbench.stats.ratios import MIN_REPETITIONS

MOST = 60  # characters: scenarios' names that are longer together are replaced by their number
NOT_KNOWN = (evidence.NO_FIGURES, evidence.NO_IDEAL, evidence.NO_REASON)
BATCHING = "fewer calls share a TCP segment, so a call takes more CPU time"  # with more connections
FEW, NO_FIGURE = "few-repetitions", "no-figure"


class Found(NamedTuple):
    scenario: Scenario
    row: Row


class Cause(NamedTuple):
    """decision: of its rows. codes: those that say why; the same decision and codes are one cause."""

    decision: Decision
    codes: tuple[str, ...]


def causes(scenarios: Sequence[Scenario]) -> tuple[str, ...]:
    """A sentence for each cause, the most important first. What explains losses is not said again of equivalence."""
    every = [Found(scenario, row) for scenario in scenarios for row in scenario.rows]
    rows: dict[Cause, list[Found]] = {}
    for found in every:
        for cause in _of(found.row):
            rows.setdefault(cause, []).append(found)
    rows = _merged(rows)
    lost = {code for cause in rows if cause.decision is Decision.SLOWER for code in cause.codes}
    told = [cause for cause in rows if cause.decision is not Decision.EQUIVALENT or not lost.issuperset(cause.codes)]
    order = sorted(told, key=lambda cause: list(Decision).index(cause.decision))
    said = [
        _sentence(cause, rows[cause], [f for f in every if f.row.decision is cause.decision], len(scenarios))
        for cause in order
    ]
    return (*said, *(_together(scenario, effect) for scenario in scenarios for effect in _adding(scenario)))


def _merged(rows: dict[Cause, list[Found]]) -> dict[Cause, list[Found]]:
    """Causes of losses, and of equivalence, that hold for the same rows are one."""
    merged: dict[Cause, list[Found]] = {}
    for cause, found in rows.items():
        mergeable = cause.decision in (Decision.SLOWER, Decision.EQUIVALENT)
        same = (c for c in merged if mergeable and c.decision is cause.decision and merged[c] == found)
        before = next(same, None)
        codes = before.codes if before else ()
        if before:
            del merged[before]
        merged[Cause(cause.decision, codes + cause.codes)] = found
    return merged


def _of(row: Row) -> Iterator[Cause]:
    if row.decision.gain:
        known = tuple(code for code in row.codes if code in CODES or code == evidence.STREAM_LIMIT)
        yield from [Cause(row.decision, known)] if known else []
    elif row.decision is Decision.INCONCLUSIVE:
        codes = row.codes[:1] or (() if row.judged and row.judged.interval else (NO_FIGURE,))
        yield from (Cause(row.decision, (code,)) for code in codes if code in CODES or code == NO_FIGURE)
    elif row.decision in (Decision.SLOWER, Decision.EQUIVALENT):
        codes = (row.saturated, *(code for code in row.codes if code == evidence.BATCHING))
        yield from (Cause(row.decision, (code,)) for code in codes if code in CODES)


def _sentence(cause: Cause, found: Sequence[Found], alike: Sequence[Found], scenarios: int) -> str:
    """alike: all rows with the same decision. scenarios: how many there are."""
    decision, codes = cause
    if decision in (Decision.SLOWER, Decision.EQUIVALENT):
        texts = [BATCHING if code == evidence.BATCHING else CODES[code] for code in codes]
        return f"Where {_outcome(found[0])}{_share(found, alike)}: {listed(texts)}."
    where = _where(found, scenarios)
    if decision is Decision.INCONCLUSIVE:
        return f"Inconclusive {where}: {_inconclusive(codes[0], found)}."
    if codes == (evidence.STREAM_LIMIT,):
        limit = min(f.row.stream_limit for f in found if f.row.stream_limit)
        return (
            f"The server allows {count(limit, 'concurrent stream')} per connection; more calls wait for one, {where}."
        )
    reasons = listed([CODES[code] for code in codes])
    if decision is Decision.BOTTLENECK:
        room = f"both ends use less than {100 * CPU_SATURATED:.0f} % of their CPUs"
        return f"The shared connection is the limit {where}: {room}; {_linear(found)}; {reasons}."
    if decision is Decision.LIKELY:
        return f"The shared connection is likely the limit {where}: {_linear(found)}. Not shown: {reasons}."
    if decision is Decision.OTHER:
        return f"Faster {where}, but not because of the connection: {reasons}."
    not_known = "the cause is not known: " * (codes[0] in NOT_KNOWN)
    return f"Faster {where}; {not_known}{reasons}."


def _outcome(found: Found) -> str:
    return ("worse" if found.row.load.open else "slower") if found.row.decision is Decision.SLOWER else "equivalent"


def _inconclusive(code: str, found: Sequence[Found]) -> str:
    if code == NO_FIGURE:
        return f"{'P99' if found[0].row.load.open else 'throughput'} is missing on a side, as of too few calls"
    if code != FEW:
        return CODES[code]
    fewest = min(f.row.repetitions for f in found)
    return f"{count(fewest, 'repetition')}, {MIN_REPETITIONS} is the minimum"


def _share(found: Sequence[Found], alike: Sequence[Found]) -> str:
    """'' where all of them have the cause."""
    return f" ({len(found)} of {len(alike)} comparisons)" if len(found) < len(alike) else ""


def _where(found: Iterable[Found], scenarios: int) -> str:
    """'at 4–16 in flight', 'at 4–16 in flight (unary, cq)'."""
    by_name: dict[str, list[Found]] = {}
    for one in found:
        by_name.setdefault(one.scenario.name, []).append(one)
    every = [row.load for of in by_name.values() for row in of[0].scenario.rows]
    said = f"at {loads((one.row.load for of in by_name.values() for one in of), every)}"
    if len(by_name) == scenarios:
        return said
    names = "; ".join(by_name)
    return f"{said} ({names if len(names) <= MOST else count(len(by_name), 'scenario')})"


def _linear(found: Sequence[Found]) -> str:
    """How far one connection falls short at the highest load level: of several scenarios, from and to."""
    last = max((f.row.load for f in found if f.row.linear), default=None)
    if last is None:
        return "growth was not measured"
    shares = sorted({round(100 * f.row.linear.value) for f in found if f.row.linear and f.row.load == last})
    share = f"{shares[0]} %" if len(shares) == 1 else f"{shares[0]} to {shares[-1]} %"
    return f"it reaches {share} of linear growth ({last.number:.0f} × the calls/s of 1 in flight)"


def _adding(scenario: Scenario) -> Iterator[Effect]:
    """Effects over all loads that say what no load by itself does."""
    for effect in scenario.effects:
        mine = [r.decision for r in scenario.rows if r.configuration == effect.setting]
        known = any(d.gain for d in mine) or Decision.SLOWER in mine
        decided = effect.decision is not Decision.INCONCLUSIVE and len(effect.loads) > 1
        if decided and not known and Decision.INCONCLUSIVE in mine:
            yield effect


def _together(scenario: Scenario, effect: Effect) -> str:
    word = "equivalent" if effect.decision is Decision.EQUIVALENT else "faster" if effect.decision.gain else "slower"
    at = spans(effect.loads, scenario.loads)
    return f"{scenario.name}, {effect.setting}: {word} over {at} in flight taken together, {times(effect.ratio)}."
