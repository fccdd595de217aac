"""The answer to an experiment's question, as one object: the text, the JSON and the first screen of the report are all
made of it, and of nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from cqbench.analysis.verdict.model import Decision, Judgement, Row, Scenario, Statement
from cqbench.formats.offered import Load
from cqbench.render.verdict import statements
from cqbench.render.verdict.causes import causes
from cqbench.render.verdict.headline import FAULTS, Word, headline
from cqbench.render.verdict.recommend import ToSet, connections_of, to_keep, to_set
from cqbench.render.verdict.words import spans
from cqbench.stats.ratios import Ratio

QUESTION = "Is one shared connection holding this client back?"
WAYS = {"shared": "one connection", "pool:1": "one connection", "separate": "a connection for each call in flight"}
MOST_SIDES = 4
OTHER_QUESTION = "Which of these settings is the best?"
Both = tuple[float | None, float | None]  # baseline, configuration


@dataclass(frozen=True)
class Figures:
    """One configuration against the baseline at one load. Ratios are configuration / baseline; one has no interval
    where nothing follows from it. outcome: a word. rates: calls per second. p99s: nanoseconds.
    """

    load: Load
    decision: Decision
    outcome: str
    throughput: Ratio | None
    p99: Ratio | None
    client_cpu: Ratio | None  # CPU time per call
    server_cpu: Ratio | None
    rates: Both
    p99s: Both


@dataclass(frozen=True)
class TableRow:
    """A configuration in a scenario. The figures of the highest load, and in which loads it is what: texts such as
    '2–8, 48', '' for none. each: all loads, ascending; empty where no load could be compared.
    """

    scenario: str
    configuration: str
    baseline: str
    decision: Decision  # the most important one
    better: str
    worse: str
    equivalent: str
    inconclusive: str
    each: tuple[Figures, ...]

    @property
    def highest(self) -> Figures | None:
        return self.each[-1] if self.each else None


@dataclass(frozen=True)
class Answer:
    """word, line: the answer and where it holds. why: sentences, the first one counts most. sides: the meaning of the
    names of ways to connect, 'shared: one connection'; ''. open_loop: loads are rates, and P99 decides. compares:
    'separate ÷ shared', '÷ shared' of several. to_set: may be empty. keep: sentences. measure, cannot_show: each goes
    on from its title.
    """

    question: str
    word: Word
    line: str
    why: tuple[str, ...]
    sides: str
    machine: str
    notes: tuple[str, ...]
    open_loop: bool
    compares: str
    table: tuple[TableRow, ...]
    to_set: tuple[ToSet, ...]
    keep: tuple[str, ...]
    measure: tuple[str, ...]
    cannot_show: tuple[str, ...]

    @property
    def short(self) -> str:
        """'YES at 4–16 in flight', as one line."""
        joint = " " if self.line.startswith("at ") else ", " if self.line.startswith("but ") else ": "
        return f"{self.word.value}{joint}{self.line}" if self.line else self.word.value


def make(judgement: Judgement) -> Answer:
    every = judgement.scenarios
    asked = judgement.question in ("", QUESTION) and all(one.connections for one in every)
    word, line = (Word.NOT_JUDGED, FAULTS) if judgement.faults else headline(every, asked)
    return Answer(
        question=judgement.question or (QUESTION if asked or judgement.faults else OTHER_QUESTION),
        word=word,
        line=line,
        why=causes(every),
        sides=_sides(every),
        machine=statements.machine(judgement),
        notes=tuple(dict.fromkeys([*judgement.notes, *statements.notes(judgement)])),
        open_loop=any(one.open_loop for one in every),
        compares=_compares(every),
        table=tuple(row for one in every for row in _rows(one)),
        to_set=to_set(judgement.settings, named=len(every) > 1),
        keep=to_keep(judgement.settings),
        measure=_sentences(judgement.measure),
        cannot_show=_sentences(judgement.cannot_show),
    )


def _sentences(found: Iterable[Statement]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(statements.sentence, found)))


def _sides(every: Sequence[Scenario]) -> str:
    """Names that say it themselves are left out."""
    ways = dict.fromkeys((name, way) for one in every for name, way in one.ways if name != way or way in WAYS)
    said = [f"{name}: {WAYS.get(way) or connections_of(way)}" for name, way in ways]
    return "; ".join(said) if len(said) <= MOST_SIDES else ""


def _compares(every: Sequence[Scenario]) -> str:
    """Names what is divided by what, as far as it is the same in all scenarios; '' where nothing is."""
    baselines = {one.baseline for one in every}
    tops = {one.configurations for one in every}
    if len(baselines) != 1:
        return ""
    top = tops.pop() if len(tops) == 1 else ()
    return f"{top[0] if len(top) == 1 else ''} ÷ {baselines.pop()}".strip()


def _rows(scenario: Scenario) -> Iterator[TableRow]:
    for configuration in scenario.configurations:
        mine = [row for row in scenario.rows if row.configuration == configuration]
        every = [row.load for row in mine]
        at = {kind: spans((row.load for row in mine if kind == _kind(row)), every) for kind in _KINDS}
        decisions = [row.decision for row in mine] or [Decision.INCONCLUSIVE]
        yield TableRow(
            scenario=scenario.name,
            configuration=configuration,
            baseline=scenario.baseline,
            decision=min(decisions, key=list(Decision).index),
            each=tuple(map(_figures, mine)),
            **at,
        )


_KINDS = ("better", "worse", "equivalent", "inconclusive")


def _kind(row: Row) -> str:
    """One of _KINDS; '' for 1 in flight of connections, where both sides are the same."""
    if row.decision.gain:
        return "better"
    kinds = {Decision.SLOWER: "worse", Decision.EQUIVALENT: "equivalent", Decision.INCONCLUSIVE: "inconclusive"}
    return kinds.get(row.decision, "")


def _figures(row: Row) -> Figures:
    void = row.decision is Decision.INCONCLUSIVE and bool(row.codes)
    ratios = [_value(r) if void and r else r for r in (row.throughput, row.p99)]
    return Figures(
        load=row.load,
        decision=row.decision,
        outcome=outcome(row),
        throughput=ratios[0],
        p99=ratios[1],
        client_cpu=row.client_cpu,
        server_cpu=row.server_cpu,
        rates=row.rates,
        p99s=row.p99s,
    )


def _value(ratio: Ratio) -> Ratio:
    """Without its interval."""
    return replace(ratio, low=None, high=None, p=None)


def outcome(row: Row) -> str:
    """'faster', in an open loop 'better'; 'same set-up' of 1 in flight, where all configurations are one connection."""
    words = {"better": "better", "worse": "worse"} if row.load.open else {"better": "faster", "worse": "slower"}
    kind = _kind(row)
    return words.get(kind, kind) or "same set-up"
