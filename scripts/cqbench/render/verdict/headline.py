"""The answer of a verdict: a word, and half a sentence that says where."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum

from cqbench.analysis.verdict import evidence
from cqbench.analysis.verdict.model import Decision, Row, Scenario
from cqbench.formats.offered import Load
from cqbench.render.verdict.words import count, listed, loads, percent, short

NOTHING_TO_COMPARE = "all results have the same setting, or none was measured"
FAULTS = "something was made to go wrong in every window; the table of faults has what it cost"
NO_LOAD = "no load could be compared"
MOST = 2  # scenarios of whose answer each has words of its own


class Word(str, Enum):
    """YES, LIKELY and NO answer the question about the shared connection; the others any question."""

    YES = "YES"
    LIKELY = "LIKELY"
    NO = "NO"
    FASTER = "FASTER"
    SLOWER = "SLOWER"
    BETTER = "BETTER"  # of open loops, by P99
    WORSE = "WORSE"
    MIXED = "MIXED"
    EQUIVALENT = "EQUIVALENT"
    INCONCLUSIVE = "INCONCLUSIVE"
    NOTHING = "NOTHING TO COMPARE"
    NOT_JUDGED = "NOT JUDGED"


def headline(every: Sequence[Scenario], asked: bool) -> tuple[Word, str]:
    """asked: whether one shared connection holds the client back."""
    if not every:
        return Word.NOTHING, NOTHING_TO_COMPARE
    word, line = _of_connection(every) if asked else _of_setting(every)
    return word, f"{line}{_price(every)}"


def _of_connection(every: Sequence[Scenario]) -> tuple[Word, str]:
    for word, which in ((Word.YES, _bottleneck), (Word.LIKELY, _likely)):
        mine = [one for one in every if any(map(which, one.rows))]
        if mine:
            return word, f"{_at(mine, which)}{_in(mine, every)}{_limit(mine)}{_losses(every)}"
    rows = [row for one in every for row in one.rows if row.decision is not Decision.SAME]
    if not rows:
        return Word.INCONCLUSIVE, NO_LOAD
    unknown = [row for row in rows if _unknown(row)]
    if len(unknown) == len(rows):
        faster = any(row.decision is Decision.FASTER for row in rows)
        return Word.INCONCLUSIVE, _gains(every) if faster else "at every load"
    if unknown:
        return Word.INCONCLUSIVE, f"at some loads; {_known(every)}"
    return Word.NO, _known(every)


def _losses(every: Sequence[Scenario]) -> str:
    """Where the cure costs throughput: who reads no further has to know."""
    mine = [one for one in every if any(map(_slower, one.rows))]
    return f"; more connections are slower {_at(mine, _slower)}{_in(mine, every)}" if mine else ""


def _unknown(row: Row) -> bool:
    """The question is open: the load allows a gain, or why it gains is not known."""
    return row.decision is Decision.FASTER or (row.decision is Decision.INCONCLUSIVE and not row.no_gain)


def _known(every: Sequence[Scenario]) -> str:
    """The known outcomes where the connection is not shown to be the limit."""
    decided = {row.decision for one in every for row in one.rows} - {Decision.SAME}
    if any(decision.gain for decision in decided):
        losses = f"; slower at {_loads(every, _slower)}" if Decision.SLOWER in decided else ""
        return f"{_gains(every)}{losses}"
    if decided == {Decision.EQUIVALENT}:
        return "equivalent at every load"
    if decided == {Decision.SLOWER}:
        return "slower at every load"
    if decided == {Decision.SLOWER, Decision.EQUIVALENT}:
        return f"equivalent or slower at every load, slower at {_loads(every, _slower)}"
    excluded = all(row.decision is not Decision.INCONCLUSIVE or row.no_gain for one in every for row in one.rows)
    said = "more connections are not shown to be faster at any load"
    if excluded:
        said = f"a gain above {percent(max(one.margin for one in every))} is excluded at every load"
    return f"{said}, slower at {_loads(every, _slower)}" if Decision.SLOWER in decided else said


def _gains(every: Sequence[Scenario]) -> str:
    """'separate is faster at 2–4 in flight, but not because of the connection'."""
    mine = [one for one in every if any(map(_gain, one.rows))]
    reasons = {row.decision for one in mine for row in one.rows if row.decision.gain}
    why = "but not because of the connection" if reasons == {Decision.OTHER} else "but why is not known"
    if len(reasons) > 1:
        why = f"not because of the connection at {_loads(mine, lambda row: row.decision is Decision.OTHER)}"
    better = "have the lower P99" if any(one.open_loop for one in mine) else "are faster"
    return f"more connections {better} {_at(mine, _gain)}{_in(mine, every)}, {why}"


def _of_setting(every: Sequence[Scenario]) -> tuple[Word, str]:
    gain, loss = (any(is_one(one) for one in every) for is_one in (_better, _worse))
    if not gain and not loss:
        rows = [row for one in every for row in one.rows if row.decision is not Decision.SAME]
        if not rows:
            return Word.INCONCLUSIVE, NO_LOAD
        if all(row.decision is Decision.EQUIVALENT for row in rows):
            return Word.EQUIVALENT, f"within {percent(every[0].margin)} at every load"
        excluded = all(row.no_gain or row.decision is Decision.EQUIVALENT for row in rows)
        some = any(row.decision is Decision.EQUIVALENT for row in rows)
        if excluded:
            return Word.INCONCLUSIVE, f"but a gain above {percent(every[0].margin)} is excluded at every load"
        return Word.INCONCLUSIVE, "at some loads, equivalent at the others" if some else "at every load"
    better, worse = (Word.BETTER, Word.WORSE) if every[0].open_loop else (Word.FASTER, Word.SLOWER)
    word = Word.MIXED if gain and loss else better if gain else worse
    groups: dict[str, list[Scenario]] = {}
    for one in every:
        groups.setdefault(_clause(one, word), []).append(one)
    groups.pop("", None)
    if len(groups) > MOST or (len(groups) > 1 and len(every) > MOST):
        return word, _counts(every)
    told = [f"{text}{_in(of, every)}" for text, of in groups.items()]
    return word, "; ".join(told)


def _clause(one: Scenario, word: Word) -> str:
    """'separate at 4–16 in flight'; '' where nothing is better or worse."""
    better, worse = ("lower P99 with", "higher P99 with") if one.open_loop else ("faster:", "slower:")
    told = []
    for title, which in ((better, _gain), (worse, _slower)):
        names = [c for c in one.configurations if any(which(r) for r in one.rows if r.configuration == c)]
        if names:
            prefix = f"{title} " if word is Word.MIXED or one.open_loop else ""
            why = _because([one]) if which is _gain else ""
            told.append(f"{prefix}{listed(names)} {_at([one], which)}{why}")
    together = [e.setting for e in one.effects if e.decision.gain or e.decision is Decision.SLOWER]
    if not told and together:
        told.append(f"{listed(together)} over all loads together")
    return "; ".join(told)


def _counts(every: Sequence[Scenario]) -> str:
    """'faster in 3 of 4 scenarios, slower in 1'."""
    gains, losses = sum(map(_better, every)), sum(map(_worse, every))
    parts = [f"{word} in {n}" for word, n in (("faster", gains), ("slower", losses)) if n]
    parts[0] += f" of {count(len(every), 'scenario')}"
    return ", ".join(parts)


def _better(one: Scenario) -> bool:
    return any(map(_gain, one.rows)) or any(effect.decision.gain for effect in one.effects)


def _worse(one: Scenario) -> bool:
    return any(map(_slower, one.rows)) or any(effect.decision is Decision.SLOWER for effect in one.effects)


def _gain(row: Row) -> bool:
    return row.decision.gain


def _bottleneck(row: Row) -> bool:
    return row.decision is Decision.BOTTLENECK


def _likely(row: Row) -> bool:
    return row.decision is Decision.LIKELY


def _slower(row: Row) -> bool:
    return row.decision is Decision.SLOWER


def _at(mine: Iterable[Scenario], which: Callable[[Row], bool]) -> str:
    return f"at {_loads(mine, which)}"


def _loads(mine: Iterable[Scenario], which: Callable[[Row], bool]) -> str:
    rows = [row for one in mine for row in one.rows]
    every: list[Load] = [row.load for row in rows]
    return loads((row.load for row in rows if which(row)), every)


def _in(mine: Sequence[Scenario], every: Sequence[Scenario]) -> str:
    """'' where it holds for all scenarios."""
    if len(mine) == len(every):
        return ""
    return f" ({mine[0].name})" if len(mine) == 1 else f" in {len(mine)} of {count(len(every), 'scenario')}"


def _limit(mine: Sequence[Scenario]) -> str:
    """The limit of streams, where it is the only reason why the connection holds calls back."""
    rows = [row for one in mine for row in one.rows if row.decision.of_connection]
    limits = {row.stream_limit for row in rows if row.codes == (evidence.STREAM_LIMIT,)}
    if not rows or not limits or not all(row.codes == (evidence.STREAM_LIMIT,) for row in rows):
        return ""
    return f": the server's limit of {count(min(filter(None, limits)), 'stream')} per connection"


def _because(mine: Sequence[Scenario]) -> str:
    """', because of ...', where a comparison of connections shows why; with the loads, where it does not for all."""
    gains = [row for one in mine for row in one.rows if row.decision.gain]
    reasons = {row.decision for row in gains}
    if reasons == {Decision.OTHER}:
        return ", but not because of the connection"
    sure = Decision.BOTTLENECK in reasons
    if not sure and Decision.LIKELY not in reasons:
        return ""
    limit = _limit(mine).removeprefix(": ")
    why = f"because of {limit}" if limit else "because one shared connection is the limit"
    some = f" {_at(mine, _bottleneck if sure else _likely)}" if len(reasons) > 1 else ""
    return f", {'' if sure else 'likely '}{why}{some}"


def _price(every: Sequence[Scenario]) -> str:
    """The worst P99 after correction, of what is not slower anyway; '' where there is none."""
    late = [
        (cost.ratio.value, one, row)
        for one in every
        for row in one.rows
        if row.decision is not Decision.SLOWER
        for cost in row.costs
        if cost.metric == "p99" and cost.ratio.value > 1
    ]
    if not late:
        return ""
    most, one, row = max(late, key=lambda found: found[0])
    name = f" of {row.configuration}" if len(one.configurations) > 1 else ""
    return f"; P99{name} ×{short(most)} at {row.load.words}{_in([one], every)}"
