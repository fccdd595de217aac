"""The text of tune: ranked settings and their costs, the best set, settings without effect, controls."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scipy import special

from cqbench.analysis.tune import stages, workloads
from cqbench.analysis.tune.catalogue import RISKS, Candidate, Setting, candidates
from cqbench.analysis.tune.judge import COSTS, Finding
from cqbench.analysis.tune.library import Library
from cqbench.analysis.tune.objective import TITLES, Objective
from cqbench.analysis.tune.procedure import Outcome
from cqbench.analysis.tune.select import reader
from cqbench.render import text
from cqbench.render.table import EMPTY, Block, Column, Line, Table, columns
from cqbench.stats.medians import median
from cqbench.stats.ratios import LEVEL, POWER, Ratio

WIDTH = 112
SHOWN = 8  # of a list of what did not come out
BAD, BAD_ERRORS = 0.03, 3.0  # of the screening: a loss that is worth a word, and its standard errors


@dataclass(frozen=True)
class Heading:
    """workload: its flags; ends: which are tuned; more: lines about where it was measured."""

    objective: Objective
    workload: str
    grpc: str
    ends: str = "both"
    more: tuple[str, ...] = ()


def render(outcome: Outcome, heading: Heading) -> str:
    """Ends with a newline."""
    blocks: list[Block] = [Line(f"What to set for {_title(heading)}")]
    blocks += [_fill(said, "! ") for said in heading.more]
    blocks += [_fill(_how(outcome)), EMPTY]
    if outcome.partial:
        at = f"PARTIAL: stopped in '{outcome.partial}'; what follows is from what was measured before"
        blocks += [_fill(f"{at}; --resume goes on."), EMPTY]
    for part in (_worth(outcome, heading), _best(outcome, heading), _rest(outcome, heading), _controls(outcome)):
        found = list(part)
        blocks += [*found, EMPTY] if found else []
    return text.render(blocks[:-1])


def _title(heading: Heading) -> str:
    return f"{heading.objective.title}: {heading.workload}, gRPC {heading.grpc or 'unknown'}"


def _how(outcome: Outcome) -> str:
    gone_on = ", ".join(c.name for c in outcome.survivors) or "none"
    tried = f"{len(outcome.candidates)} settings were tried, {len(outcome.left_out)} left out after that"
    screened = f"{len(outcome.effects)} screened; measured again: {gone_on}" if outcome.effects else f"then: {gone_on}"
    rounds = ", ".join(f"{name} {number}" for name, number in outcome.repetitions.items())
    return f"{tried}; {screened}. Repetitions: {rounds}."


def _worth(outcome: Outcome, heading: Heading) -> Iterator[Block]:
    title = heading.objective.title
    if outcome.nothing and not outcome.partial:
        yield Line("NOTHING IS WORTH SETTING")
        yield _fill(f"No setting, and no set of them, brings a gain in {title} beyond chance here: keep the defaults.")
        if not outcome.findings:
            yield _fill("None looked like one in the screening, so there was nothing to confirm.")
        if (seen := detectable(outcome)) is not None:
            yield _fill(
                f"A gain of {_percent(seen, False)} by one setting would have been found four times of five. A longer "
                "--budget finds less."
            )
        if maybe := [f.name for f in outcome.findings if _looks_like_a_gain(f)]:
            yield _fill(f"A longer run, or a quieter machine, may show one of {', '.join(maybe)}: see below.")
        return
    if not outcome.confirmed:
        return
    yield _fill(
        f"WORTH SETTING, one by one ({title} against the defaults, 95 % interval; statistically significant after "
        "Holm's correction)"
    )
    for i, finding in enumerate(outcome.confirmed):
        yield _table([finding], numbered=i + 1)
        yield from _details(finding, heading)


def _looks_like_a_gain(finding: Finding) -> bool:
    """By itself, without the correction for all that was compared."""
    sure = finding.ratio is not None and finding.ratio.p is not None and finding.ratio.p < 1 - LEVEL
    return sure and finding.gain > 0 and not finding.control


def _details(finding: Finding, heading: Heading) -> Iterator[Line]:
    for candidate in finding.chosen:
        setting = candidate.setting
        name = f" of {candidate.name}" if len(finding.chosen) > 1 else ""
        if setting.risk != RISKS[0] or setting.costs:
            yield _fill(f"risk{name}: {setting.risk}: {setting.costs}", "    ")
    yield from (Line(line, first="    ") for line in workloads.paste(finding.chosen, heading.ends))


def _best(outcome: Outcome, heading: Heading) -> Iterator[Block]:
    best = outcome.best
    if best is None:
        if outcome.sets:
            yield Line("BEST SET: none was confirmed as a set:")
            yield from (_fill(f"{_names(f)}: {_figures(f)}", "    ") for f in outcome.sets)
        return
    yield _fill(f"BEST SET: {_names(best)}")
    yield Line(_figures(best), first="    ")
    shown = {f.name for f in outcome.confirmed}
    if alone := [c.name for c in best.chosen if c.name not in shown]:
        yield _fill(f"of these not shown by themselves, so some may do nothing: {', '.join(alone)}", "    ")
    yield from _details(best, heading)
    for other in (f for f in outcome.sets if f is not best):
        yield _fill(f"other set: {_names(other)}: {_figures(other)}", "    ")


def _names(finding: Finding) -> str:
    return " + ".join(c.name for c in finding.chosen)


def _rest(outcome: Outcome, heading: Heading) -> Iterator[Block]:
    worse = [f for f in outcome.findings if f.real and f.gain < 0 and not f.control]
    open_ones = [f for f in outcome.findings if not f.real and not f.control]
    together = [f for f in outcome.findings if f.confirmed and f.name == stages.TOGETHER]
    if together:
        yield Line("All that went on to be confirmed, together, of which some may do nothing:")
        yield Line(_figures(together[0]), first="    ")
    for title, found in (("NOT SHOWN, neither gain nor loss", open_ones), ("WORSE", worse)):
        if found:
            yield from (Line(title), _table(found))
    better = heading.objective.better
    bad = [e for e in outcome.effects if e.t * better < -BAD_ERRORS and e.value * better < -BAD]
    if bad:
        shown = ", ".join(f"{e.candidate.name} {_percent(math.exp(e.value))}" for e in reversed(bad[-SHOWN:]))
        yield _fill(f"Looked worse in the screening, on the average over the others: {shown}.")
    if outcome.left_out:
        said = [f"{name}: {why}" for name, why in outcome.left_out.items()]
        yield _fill("Left out after three runs: " + "; ".join(said[:SHOWN]) + ("; ..." if len(said) > SHOWN else "."))


def _controls(outcome: Outcome) -> Iterator[Block]:
    wrong, number = outcome.controls
    passed, of = outcome.screened_controls
    if number:
        yield _fill(
            f"CONTROLS: of {number} that nothing reads {wrong} came out as something: the run's own false alarms. 0 is "
            "right."
        )
        yield _table([f for f in outcome.findings if f.control])
    if of:
        yield _fill(
            f"In the screening {passed} of {of} controls looked as good as what went on; by chance one in 44 does."
        )


def _table(findings: Sequence[Finding], numbered: int = 0) -> Table:
    """numbered: the place of the first one; 0 for none."""
    table = Table((Column(width=36), Column(width=26), *(Column() for _ in COSTS)), indent=0 if numbered else 4)
    for i, finding in enumerate(findings, numbered):
        name = f"{i:>2}. {finding.name}" if numbered else finding.name
        table.add(name, change(finding.ratio), *_costs(finding))
    return table


def _figures(finding: Finding) -> str:
    return "  ".join((f"{change(finding.ratio):<26}", *_costs(finding))).rstrip()


def _costs(finding: Finding) -> Iterator[str]:
    for cost in COSTS:
        if cost in finding.costs:
            mark = {"worse": " (worse)", "better": " (better)"}.get(finding.cost(cost), "")
            word = "CPU/call" if cost != "p99" else TITLES[cost]
            yield f"{word} {_percent(finding.costs[cost].value)}{mark}"


def change(ratio: Ratio | None) -> str:
    """'+5.2 % (+3.1 to +7.3 %)'."""
    if ratio is None:
        return "not measured"
    if ratio.low is None or ratio.high is None:
        return f"{_percent(ratio.value)} (too few repetitions)"
    low, high = (f"{100 * (end - 1):+.1f}" for end in (ratio.low, ratio.high))
    return f"{_percent(ratio.value)} ({low} to {high} %)"


def _percent(ratio: float, sign: bool = True) -> str:
    return f"{100 * (ratio - 1):{'+' if sign else ''}.1f} %"


def detectable(outcome: Outcome) -> float | None:
    """The gain of one setting, as a ratio, that this run's confirmation would have found four times of five."""
    tested = [f.ratio for f in outcome.findings if f.ratio and f.ratio.spread > 0]
    if not tested:
        return None
    spread = median(r.spread for r in tested) or 0.0
    n = max(r.n for r in tested)
    critical = float(special.stdtrit(n - 1, 1 - (1 - LEVEL) / 2 / len(outcome.findings)))
    return math.exp((critical + float(special.ndtri(POWER))) * spread / math.sqrt(n))


def catalogue(settings: Sequence[Setting], library: Library | None) -> str:
    """--list. library: None where no program is built that would say which it is. Ends with a newline."""
    table = Table(columns("name", "kind", "end", "risk", "here", left=5, widths=(33, 11, 6, 6)))
    for setting in settings:
        why = reader(setting, library) if library else "not known before the programs are built"
        here = "nobody reads it: a control" if setting.control and not why else why or "yes"
        names = ", ".join(c.name for c in candidates(setting))
        table.add(setting.name, setting.kind, setting.end, setting.risk, here)
        also = f" ({names})" if len(setting.values) > 1 else ""
        table.rows.append(
            _fill(f"{_pairs(candidates(setting)[0])}{also}; default {setting.default}: {setting.effect}", "    ")
        )
        if setting.costs:
            table.rows.append(_fill(f"risk: {setting.costs}", "    "))
    return text.render([table])


def _pairs(candidate: Candidate) -> str:
    return ", ".join(f"{key}={value}" for key, value in candidate.pairs)


def plan(chosen: Sequence[Candidate], left_out: dict[str, str], heading: Heading, timing: Sequence[str]) -> str:
    """--plan. Ends with a newline."""
    table = Table(columns("", "", "", left=3, widths=(36, 6)), indent=2)
    for candidate in chosen:
        table.add(candidate.name, candidate.setting.end, _pairs(candidate))
    controls = sum(c.setting.control for c in chosen)
    lines = [_title(heading), *heading.more, "", f"{len(chosen)} settings to try, {controls} of them controls"]
    out = (Line(f"{len(left_out)} left out"), *(_fill(f"{n}: {why}", "  ") for n, why in left_out.items()))
    return text.render([*map(Line, lines), table, EMPTY, *out, EMPTY, *map(Line, timing)])


def _fill(said: str, indent: str = "") -> Line:
    return Line(said, "", WIDTH, indent, " " * max(2, len(indent)))
