"""Recommended settings in words: what each brings, what it costs elsewhere, and the C++ that applies it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cqbench.analysis.verdict.model import Cost, Decision, Row, Statement
from cqbench.formats.offered import Load
from cqbench.model.scaling import is_scaling
from cqbench.render.verdict import cpp
from cqbench.render.verdict.words import listed, loads, number, short, spans, times
from cqbench.stats.ratios import Ratio

MOST = 3  # loads: of more, only the lowest and the highest ratio are shown
METRICS = {"p99": "P99", "client-cpu": "client CPU per call", "server-cpu": "server CPU per call"}
NOT_MEASURED = "not measured here"
EVERYTHING = "on average over loads and other settings"
FLIPS = "flips"
Facts = Mapping[str, Any]


@dataclass(frozen=True)
class ToSet:
    """setting: what, and instead of what. brings: with its interval, of each kind of work. costs: at other loads, or in
    other figures. flags: of our programs; '' where it is no flag. cpp: lines of C++; empty where none are known. note:
    half a sentence, or ''. source: where cqbench does it, from the repository's folder on; ''.
    """

    setting: str
    brings: tuple[str, ...]
    costs: tuple[str, ...] = ()
    flags: str = ""
    cpp: tuple[str, ...] = ()
    note: str = ""
    source: str = ""


def to_set(statements: Iterable[Statement], named: bool) -> tuple[ToSet, ...]:
    """Returns an entry for each setting, in the order of the statements. Scenarios that gain from the same setting
    share an entry. named: there are several scenarios, so their names stand in front.
    """
    found: dict[tuple[object, ...], ToSet] = {}
    for one in statements:
        facts = {**one.facts, "name": f"{one.facts['scenario']}: " if named and "scenario" in one.facts else ""}
        for made in _MADE[one.code](facts) if one.code in _MADE else ():
            key = (made.setting, made.flags, made.cpp, made.note)
            before = found.get(key, ToSet(made.setting, ()))
            found[key] = replace(made, brings=before.brings + made.brings, costs=before.costs + made.costs)
    return tuple(found.values())


def to_keep(statements: Iterable[Statement]) -> tuple[str, ...]:
    """Sentences: what is not to be changed, and why. A setting that depends on the load has one for all scenarios."""
    kept = list(statements)
    flips = [one.facts for one in kept if one.code == FLIPS]
    pairs = dict.fromkeys((of["configuration"], of["instead_of"]) for of in flips)
    said = [_flips([of for of in flips if (of["configuration"], of["instead_of"]) == pair]) for pair in pairs]
    return (*said, *dict.fromkeys(_KEPT[one.code](one.facts) for one in kept if one.code in _KEPT))


def _set(of: Facts) -> Iterator[ToSet]:
    way, rows = of["connections"], of["rows"]
    if of["stream_limit"]:
        yield _raised(of)
    what = ways(way, of["policies"]) if way else f"{of['configuration']} instead of {of['instead_of']}"
    lines = cpp.connections(way, of["policies"]) if way else cpp.of_flags(of["flags"])
    notes = [f"as good as {of['as_good_as']}"] if of.get("as_good_as") else []
    notes += [f"fewer connections ({', '.join(of['fewer'])}) are not shown to be as good"] if of.get("fewer") else []
    brings = f"{of['name']}{_brings(of)}"
    costs = "; ".join(_costs(rows))
    flags = of["flags"] or (f"--channel-policy {of['policies'][0]}" if way and not is_scaling(way) else "")
    where = loads((row.load for row in rows if row.decision.gain), (row.load for row in rows))
    only = f"only at about {where}: " if any(map(_slower, rows)) else ""
    head = f"{only}{'or ' * bool(of['stream_limit'])}{what}"
    source = cpp.CHANNELS if way and not is_scaling(way) else cpp.source(of["flags"])
    paid = (f"{of['name']}{costs}",) if costs else ()
    yield ToSet(head, (brings,), paid, flags, lines, "; ".join(notes), source)


def _raised(of: Facts) -> ToSet:
    """The server's limit comes first: more connections only get around it."""
    most = max(int(row.load.number) for row in of["rows"] if row.decision.gain)
    setting = f"on the server, at least {most} concurrent streams per connection instead of {of['stream_limit']}"
    what = f"{of['name']}as many as there are calls in flight, so that none waits for a stream; {NOT_MEASURED}"
    flags = f"server: --max-concurrent-streams {most}"
    return ToSet(setting, (what,), (), flags, cpp.stream_limit(most), source=cpp.SERVER_LIMITS)


def ways(connections: str, policies: Sequence[str]) -> str:
    """How to get the connections that were measured."""
    size = connections.rpartition(":")[2]
    if is_scaling(connections):
        return f"one channel that grows to {size} connections (gRFC A105)"
    if connections.startswith("pool:"):
        return f"{size} channels in turn, each with a connection of its own"
    how = (
        "a channel argument of its own"
        if "distinct-args" in policies and "local-pool" not in policies
        else "a subchannel pool of its own"
    )
    return f"a channel for each call in flight, with {how}"


def connections_of(way: str) -> str:
    """'4 connections', of 'pool:4'."""
    size = way.rpartition(":")[2]
    return f"one connection, up to {size} when calls wait" if is_scaling(way) else f"{size} connections"


def _brings(of: Facts) -> str:
    rows = [row for row in of["rows"] if row.decision.gain]
    if of["effect"]:
        over = of["effect"]
        said = f"×{times(over.ratio)} over {loads(over.loads, [row.load for row in of['rows']])}"
        return f"{said}; {_range(over.by_load)}"
    metric = " P99" if rows and rows[0].load.open else ""
    ratios = [(row.load, _ratio(row)) for row in rows]
    if len(rows) <= MOST:
        return f"{', '.join(f'×{text} at {number(load)}' for load, text in ratios)}{metric}{_unit(rows)}"
    found = [(row.load, _deciding(row)) for row in rows]
    return f"{_range([(load, ratio.value) for load, ratio in found if ratio], _unit(rows))}{metric}"


def _deciding(row: Row) -> Ratio | None:
    return row.p99 if row.load.open else row.throughput


def _ratio(row: Row) -> str:
    return times(_deciding(row))


def _unit(rows: Sequence[Row]) -> str:
    return "" if rows and rows[0].load.open else " in flight"


def _range(found: Sequence[tuple[Load, float]], unit: str = "") -> str:
    """'lowest ×0.95 at 1, highest ×1.40 at 48', of the estimates. unit: of the loads, after them."""
    ends = [f(found, key=lambda one: one[1]) for f in (min, max)]
    if short(ends[0][1]) == short(ends[1][1]):
        return f"×{short(ends[0][1])} at each load"
    low, high = (f"×{short(value)} at {number(load)}" for load, value in ends)
    return f"lowest {low}, highest {high}{unit}"


def _costs(rows: Sequence[Row]) -> Iterator[str]:
    """Losses at other loads, figures that are worse where it is faster, and loads at which a loss is not excluded."""
    every = [row.load for row in rows]
    losses = [row for row in rows if row.decision is Decision.SLOWER]
    if losses:
        yield f"slower, {', '.join(f'×{_ratio(row)} at {number(row.load)}' for row in losses)}"
    for metric, title in METRICS.items():
        more = [(row.load, cost) for row in rows if row.decision.gain for cost in row.costs if _worse(cost, metric)]
        if more:
            load, cost = max(more, key=lambda one: one[1].ratio.value)
            yield f"{title} ×{times(cost.ratio)} at {number(load)}"
    unknown = [row for row in rows if row.decision is Decision.INCONCLUSIVE]
    lows = [row.judged.low for row in unknown if row.judged and row.judged.low is not None and not row.codes]
    if unknown:
        worst = f", down to ×{short(min(lows))}" if lows else ""
        yield f"inconclusive at {spans((row.load for row in unknown), every)}{worst}"


def _worse(cost: Cost, metric: str) -> bool:
    return cost.metric == metric and cost.ratio.value > 1


def _set_also(of: Facts) -> Iterator[ToSet]:
    over = EVERYTHING if len(of["loads"]) > 1 else f"at {loads(of['loads'], of['loads'])}"
    where = f"{of['where']}: " if of["where"] else ""
    by_load = f"; {_range(of['by_load'])}" if len(of["by_load"]) > 1 else ""
    what = f"{of['setting']} instead of {of['instead_of']}"
    brings = f"{where}×{times(of['ratio'])} {over}{by_load}"
    yield ToSet(what, (brings,), (), of["flags"], cpp.of_flags(of["flags"]), source=cpp.source(of["flags"]))


def _flips(scenarios: Sequence[Facts]) -> str:
    """One configuration in the scenarios in which it gains next to a load at which it loses."""
    first = scenarios[0]
    rows = [row for of in scenarios for row in of["rows"]]
    gains, losses = (_from_to([r for r in rows if is_one(r)], rows) for is_one in (_gain, _slower))
    where = "; ".join(of["scenario"] for of in scenarios)
    return (
        f"{first['configuration']} depends on the load ({where}): {gains}, but {losses}{_unit(rows)}. Measure at your "
        f"own load; until then keep {first['instead_of']}."
    )


def _from_to(found: Sequence[Row], every: Sequence[Row]) -> str:
    """'×1.94 (1.57–2.40) at 4', of several the lowest and the highest estimate: '×0.59 to ×0.82 at 16–48'."""
    at = spans((row.load for row in found), (row.load for row in every))
    ends = sorted(of.value for row in found if (of := _deciding(row)))
    said = times(_deciding(found[0])) if len(found) == 1 else f"{short(ends[0])} to ×{short(ends[-1])}"
    return f"×{said} at {at}"


def _gain(row: Row) -> bool:
    return row.decision.gain


def _slower(row: Row) -> bool:
    return row.decision is Decision.SLOWER


def _keep(text: str) -> Any:
    return lambda of: text.format(keep=listed([one or "one connection" for one in of["baselines"]]))


_MADE = {"set": _set, "set-also": _set_also}
_KEPT = {
    "keep-otherwise": _keep("Otherwise keep {keep}."),
    "keep-flips": _keep("Keep {keep}: what is faster at some loads is slower at the next."),
    "keep-until-measured": _keep("Nothing yet: keep {keep} until it has been measured well enough."),
    "keep-not-shown": _keep("Keep {keep}: no gain of anything else was found; at some loads it is inconclusive."),
    "keep": _keep("Keep {keep}: a gain above the margin is excluded for everything else that was measured."),
}
CODES = frozenset((*_MADE, *_KEPT, FLIPS))
