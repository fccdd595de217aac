"""All rules, in the order in which they are reported: first that everything is there, then how it was measured."""

from __future__ import annotations

from collections.abc import Iterable

from cqbench.analysis.check import figures, folder, follows, trust
from cqbench.analysis.check.model import Finding, Rule, State, Subject

RULES: tuple[Rule, ...] = (
    *(folder.schema, folder.hashes, folder.complete, folder.blocks, folder.origin),
    *(figures.counts, figures.latencies, figures.medians, figures.littles_law),
    *(follows.table, follows.verdict),
    *(trust.versions, trust.repetitions, trust.connections, trust.cpus, trust.client, trust.steady, trust.quiet),
    *(trust.clock, trust.frequency, trust.calls, trust.warnings, trust.division),
)


def check(subject: Subject) -> list[Finding]:
    """The findings of the rules that are about anything here."""
    return [found for rule in RULES if (found := rule(subject))]


def failed(findings: Iterable[Finding]) -> bool:
    return any(one.state is State.FAILED for one in findings)
