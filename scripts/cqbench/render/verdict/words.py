"""Decisions in words: of rows with the same decision, and of a scenario. Clauses have no full stop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from cqbench.analysis.verdict import evidence
from cqbench.analysis.verdict.model import Decision, Effect, Row, Scenario
from cqbench.formats import reasons
from cqbench.formats.offered import Load, rate
from cqbench.stats.ratios import MIN_REPETITIONS, Ratio

CODES = {
    reasons.CLIENT_CPU: "the client's CPUs are saturated",
    evidence.SOME_CLIENTS_CPU: "the CPUs of one of the client machines are saturated, not of all",
    evidence.ALL_CLIENTS_CPU: "the CPUs of all client machines are saturated",
    reasons.SERVER_CPU: "the server's CPUs are saturated",
    evidence.SERVER_THREADS: "all of the server's threads are busy",
    evidence.CLIENT_THREADS: "all of the client's threads are busy",
    evidence.UNREAD: "requests lie unread while the server's threads sleep",
    evidence.NETWORK: "most of a call is the network's round trip",
    evidence.PROXY: "each connection has a queue of its own in the proxy, which may be what is saturated",
    evidence.KEEPS_UP: "one connection keeps up with its calls there",
    evidence.NO_FIGURES: "why is not known, as figures of the ends' CPUs are missing",
    evidence.NO_IDEAL: "why is not known, as 1 in flight was not measured",
    evidence.CPU_LIKELY: "likely because of the CPUs, which were nearly saturated",
    evidence.NO_REASON: "what held the shared one back is not known",
    evidence.WIRE_IDLE: "the connection is idle in between",
    evidence.CONTEXT_SWITCHES: "a call takes more voluntary context switches",
    evidence.BATCHING: "calls queue up and leave together",
    evidence.ROOM_INCONCLUSIVE: "whether the CPUs have room",
    evidence.LINEAR_INCONCLUSIVE: "whether one connection falls short of linear",
    evidence.NOT_INTERLEAVED: "whether the machine was the same for both",
    evidence.NO_SIGN: "that the connection is idle in between",
    "few-repetitions": "too few repetitions",
    "suspect": "too many repetitions with a warning",
    "connections-not-held": "there were other connections than the policy promises",
    "contradiction": "the configurations differ with 1 in flight already, where they are the same",
    "rate-not-reached": "the rate was not reached, so latency is that of the window's length",
    reasons.SHARED_CPUS: "client and server share CPUs",
    reasons.UNKNOWN_SURROUNDINGS: "environment and network are not known",
}


def times(ratio: Ratio | None) -> str:
    """'1.43 (1.21–1.94)', without the bracket when there is no interval, '-' when there is no ratio."""
    if ratio is None:
        return "-"
    if ratio.low is None or ratio.high is None:
        return short(ratio.value)
    return f"{short(ratio.value)} ({short(ratio.low)}–{short(ratio.high)})"


def short(value: float) -> str:
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def percent(ratio: float) -> str:
    """'3 %' of 1.03 or of 0.97; never 0 for a difference, of which a tenth is said."""
    off = abs(ratio - 1) * 100
    return f"{off:.0f} %" if off >= 1 else f"{off:.1f} %"


def loads(found: Iterable[Load], every: Iterable[Load]) -> str:
    """'2 to 8, 48 in flight', '1000/s to 4000/s': neighbours of every load measured are put together."""
    order = sorted(set(every))
    runs: list[list[Load]] = []
    for load in sorted(set(found)):
        if runs and order.index(load) == order.index(runs[-1][1]) + 1:
            runs[-1][1] = load
        else:
            runs.append([load, load])
    said = ", ".join(_number(a) if a == b else f"{_number(a)} to {_number(b)}" for a, b in runs)
    return said if not runs or runs[0][0].open else f"{said} in flight"


def _number(load: Load) -> str:
    return rate(load.number) if load.open else f"{load.number:.0f}"


def because(rows: Sequence[Row]) -> str:
    """Why rows of one configuration were decided alike. At least one."""
    said: dict[Decision, Callable[[Sequence[Row]], str]] = {
        Decision.BOTTLENECK: lambda r: (
            f"the connection: {_streams(r) or f'the CPUs have room, {_linear(r)}, {_codes(r)}'}"
        ),
        Decision.LIKELY: lambda r: f"likely the connection: {_linear(r)}; inconclusive: {_codes(r)}",
        Decision.OTHER: lambda r: f"but {_codes(r)}",
        Decision.FASTER: _codes,
        Decision.SLOWER: _slower,
        Decision.EQUIVALENT: lambda r: f"equivalent: {_allowed(r)}{_limits(r)}",
        Decision.INCONCLUSIVE: _open,
        Decision.SAME: lambda _: "",
    }
    return said[rows[0].decision](rows)


def _codes(rows: Sequence[Row]) -> str:
    found = dict.fromkeys(code for row in rows for code in row.codes)
    return ", ".join(CODES[code] for code in found if code in CODES)


def _streams(rows: Sequence[Row]) -> str:
    """Says that calls wait for a stream; '' where that is not the reason."""
    limits = {row.stream_limit for row in rows if evidence.STREAM_LIMIT in row.codes}
    if not limits:
        return ""
    number = min(limit for limit in limits if limit is not None)
    streams = f"{number} concurrent stream{'s' * (number != 1)}"
    return f"the server allows {streams} per connection, and calls wait for one"


def _linear(rows: Sequence[Row]) -> str:
    shares = [row.linear.value for row in rows if row.linear]
    least, most = (f"{100 * f(shares):.0f}" for f in (min, max))
    return f"one connection reaches {least if least == most else f'{least} to {most}'} % of linear"


def _slower(rows: Sequence[Row]) -> str:
    batches = all(evidence.BATCHING in row.codes for row in rows)
    shared = ": fewer calls share a segment, which takes more CPU time" if batches else ""
    return f"slower{shared}{_limits(rows)}"


def _limits(rows: Sequence[Row]) -> str:
    """Names the saturated resource of the configuration at all load levels."""
    held = {row.saturated for row in rows}
    return f"; {CODES[held.pop()]}" if len(held) == 1 and held != {""} else ""


def _allowed(rows: Sequence[Row]) -> str:
    """Says what the intervals allow: '3 % slower to 7 % faster'; of one side, both ends."""
    judged = [r.judged for r in rows if r.judged and r.judged.interval]
    low, high = min(j.low or 1.0 for j in judged), max(j.high or 1.0 for j in judged)
    ways = ("better", "worse") if rows[0].load.open else ("faster", "slower")
    if low > 1 or high < 1:
        near, far = sorted((low, high), key=lambda v: abs(v - 1))
        return f"{percent(near)} to {percent(far)} {ways[0] if low > 1 else ways[1]}"
    return f"{percent(low)} {ways[1]} to {percent(high)} {ways[0]}"


def _open(rows: Sequence[Row]) -> str:
    code = next((code for row in rows for code in row.codes if code in CODES), "")
    if code == "few-repetitions":
        fewest = min(row.repetitions for row in rows)
        return f"inconclusive: {fewest} repetition{'s' * (fewest != 1)}, {MIN_REPETITIONS} is the minimum"
    if code:
        return f"inconclusive: {CODES[code]}"
    known = any(row.judged and row.judged.interval for row in rows)
    return f"inconclusive: {_allowed(rows) if known else 'no figure on both sides'}"


def groups(scenario: Scenario, configuration: str) -> list[list[Row]]:
    """Its rows that are decided alike for the same reason, the most important first; the same calls left out."""
    found: dict[tuple[object, ...], list[Row]] = {}
    for row in scenario.rows:
        if row.configuration == configuration and row.decision is not Decision.SAME:
            warned = row.codes[:1] if row.decision is Decision.INCONCLUSIVE else ()
            reason = row.codes if row.decision.gain else warned
            found.setdefault((row.decision, reason), []).append(row)
    ranks = list(Decision)
    return sorted(found.values(), key=lambda rows: ranks.index(rows[0].decision))


def reasons_of(scenario: Scenario) -> list[str]:
    """A line for each configuration and decision."""
    every = [row.load for row in scenario.rows]
    said = []
    for configuration in scenario.configurations:
        for rows in groups(scenario, configuration):
            name = f"{configuration}, " if len(scenario.configurations) > 1 else ""
            where = f"at {loads((row.load for row in rows), every).removesuffix(' in flight')}"
            text = because(rows)
            word = _faster(rows, scenario) if rows[0].decision in (Decision.OTHER, Decision.FASTER) else ""
            said.append(f"{name}{where}: " + ", ".join(filter(None, (word, text))) + costs(rows))
        said += [
            _together(scenario, effect)
            for effect in scenario.effects
            if effect.setting == configuration and _adds(scenario, effect)
        ]
    return said


def _adds(scenario: Scenario, effect: Effect) -> bool:
    """All loads together say what one at a time does not."""
    mine = [r.decision for r in scenario.rows if r.configuration == effect.setting]
    if effect.decision is Decision.INCONCLUSIVE or len(effect.loads) < 2:
        return False
    known = any(d.gain for d in mine) or Decision.SLOWER in mine
    return not known and Decision.INCONCLUSIVE in mine


def _together(scenario: Scenario, effect: Effect) -> str:
    name = f"{effect.setting}, " if len(scenario.configurations) > 1 else ""
    words = {
        Decision.FASTER: f"faster, {times(effect.ratio)}",
        Decision.SLOWER: f"slower, {times(effect.ratio)}",
        Decision.EQUIVALENT: f"equivalent, {times(effect.ratio)}",
    }
    return f"{name}{loads(effect.loads, effect.loads)} together: {words.get(effect.decision, '')}"


def _faster(rows: Sequence[Row], scenario: Scenario) -> str:
    """'faster', or 'more than 10 % faster' where all intervals begin there."""
    much = all(r.judged and r.judged.low and r.judged.low > scenario.margin for r in rows)
    better = "better" if scenario.open_loop else "faster"
    return f"more than {percent(scenario.margin)} {better}" if much else better


METRICS = {"p99": "P99", "client-cpu": "client CPU a call", "server-cpu": "server CPU a call"}


def costs(rows: Sequence[Row]) -> str:
    """Names differences other than throughput, at the highest load level that has any; '' for none."""
    for row in reversed(rows):
        if row.costs:
            dear = [f"{short(c.ratio.value)} × {METRICS[c.metric]}" for c in row.costs]
            return f"; {' and '.join(dear)}" + (f" at {_number(row.load)}" if len(rows) > 1 else "")
    return ""


def answer(scenario: Scenario) -> str:
    """One sentence about the scenario, without its name, with what it costs."""
    return f"{_brief(scenario)}{_price(scenario)}."


def _price(scenario: Scenario) -> str:
    """Where P99 is worse after correction, the worst of it."""
    rows = [row for row in scenario.rows if row.decision is not Decision.SLOWER]  # of those it is no news
    late = [(c.ratio.value, row) for row in rows for c in row.costs if c.metric == "p99" and c.ratio.value > 1]
    if not late:
        return ""
    most, at = max(late, key=lambda of: of[0])
    name = f" of {at.configuration}" if len(scenario.configurations) > 1 else ""
    return f"; {short(most)} × the P99{name} with {at.load.words}"


def _brief(scenario: Scenario) -> str:
    every = [row.load for row in scenario.rows]

    def where(*decisions: Decision) -> str:
        return loads((r.load for r in scenario.rows if r.decision in decisions), every)

    inconclusive = loads((r.load for r in scenario.rows if r.decision is Decision.INCONCLUSIVE), every)
    some_gain = any(r.decision is Decision.INCONCLUSIVE and not r.no_gain for r in scenario.rows)
    if scenario.decision is Decision.BOTTLENECK:
        return f"One connection is the bottleneck at {where(Decision.BOTTLENECK)}"
    if scenario.decision is Decision.LIKELY:
        return f"One connection is likely the bottleneck at {where(Decision.LIKELY)}"
    if scenario.decision in (Decision.OTHER, Decision.FASTER):
        return _better(scenario, where(Decision.OTHER, Decision.FASTER)) + _elsewhere(scenario, where(Decision.OTHER))
    if scenario.decision is Decision.SLOWER:
        return _worse(scenario, where(Decision.SLOWER)) + ("" if some_gain else ", no gain")
    judged = {r.decision for r in scenario.rows} - {Decision.SAME}
    if not inconclusive and judged:
        return "Equivalent"
    if judged and not some_gain:
        return "No gain" if judged == {Decision.INCONCLUSIVE} else f"No gain; inconclusive at {inconclusive}"
    return "Inconclusive" if judged <= {Decision.INCONCLUSIVE} else f"Inconclusive at {inconclusive}"


def _better(scenario: Scenario, where: str) -> str:
    names = list(dict.fromkeys(r.configuration for r in scenario.rows if r.decision.gain))
    if not names:
        together = [e.setting for e in scenario.effects if e.decision.gain]
        return f"{' and '.join(together)}: faster, over all loads together"
    better = ("has the lower P99", "have the lower P99") if scenario.open_loop else ("is faster", "are faster")
    return f"{_listed(names)} {better[len(names) > 1]} at {where}"


def _elsewhere(scenario: Scenario, where: str) -> str:
    """Names the load levels of gains that have another reason than the connection; '' for none."""
    reasons = {r.decision for r in scenario.rows if r.decision.gain}
    if Decision.OTHER not in reasons:
        return ""
    if len(reasons) == 1:
        return ", but not because of the connection"
    return f", not because of the connection at {where.removesuffix(' in flight')}"


def _worse(scenario: Scenario, where: str) -> str:
    names = list(dict.fromkeys(r.configuration for r in scenario.rows if r.decision is Decision.SLOWER))
    if len(scenario.configurations) == 1 or not names:
        return f"A loss {f'at {where}' if where else 'over all loads together'}"
    worse = ("has a higher P99", "have a higher P99") if scenario.open_loop else ("is slower", "are slower")
    return f"{_listed(names)} {worse[len(names) > 1]} than {scenario.baseline} at {where}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
