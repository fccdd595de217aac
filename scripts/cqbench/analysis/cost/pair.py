"""`cqbench compare` of two cost profiles: reads them, prints what changed, and says what the gates say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cqbench.analysis.cost import gates
from cqbench.analysis.cost import profile as model
from cqbench.analysis.cost.changes import Change, Comparison, why_not
from cqbench.analysis.cost.counts import CPU, FUNCTION, LIBRARY, SYSCALL, THREAD, TOTAL
from cqbench.analysis.cost.gates import Judged
from cqbench.analysis.cost.profile import Profile
from cqbench.analysis.cost.text import LABEL, number
from cqbench.files.source import BadDocument, read_bytes
from cqbench.files.text import one_line
from cqbench.gate import exit_status
from cqbench.options import Refused
from cqbench.render import markdown, text
from cqbench.render.table import EMPTY, Block, Column, Line, Table

FORMATS = ("text", "markdown", "json")
SHOWN = {TOTAL: 100, CPU: 15, SYSCALL: 15, THREAD: 15, LIBRARY: 15, FUNCTION: 20}
TITLES = {
    TOTAL: "per call",
    CPU: "CPU by library, sampled, ns, where it changed",
    SYSCALL: "system calls that changed",
    THREAD: "system calls by thread, where they changed",
    LIBRARY: "instructions by library",
    FUNCTION: "functions that changed, without what they call",
}
MUCH = 900.0  # percent


@dataclass(frozen=True)
class Limits:
    """Gates; None: not asked for."""

    instructions: float | None = None
    syscalls: float | None = None
    allocations: float | None = None
    limit_percent: float | None = None

    @property
    def first(self) -> str:
        """A flag that only profiles know; '' for none."""
        flags = {"--max-instructions-per-rpc": self.instructions, "--max-syscalls-per-rpc": self.syscalls}
        flags["--fail-if-more-expensive"] = self.limit_percent
        return next((flag for flag, value in flags.items() if value is not None), "")


def are_profiles(paths: tuple[str, ...]) -> bool:
    """Raises Refused: one is a cost profile and the other is not."""
    claims = [_claims(Path(path)) for path in paths]
    if any(claims) and not all(claims):
        name = one_line(paths[claims.index(False)])
        raise Refused(
            f"argument {'AB'[claims.index(False)]}: {name}: not a cost profile of cqbench cost, as the other one is"
        )
    return bool(claims) and all(claims)


def _claims(path: Path) -> bool:
    """A pipe is not looked at: it could not be read again."""
    if not path.is_file():
        return False
    try:
        return model.is_profile(read_bytes(path))
    except BadDocument:
        return False


def compare(paths: tuple[str, str], form: str, limits: Limits, anyway: bool) -> tuple[str, list[str], int]:
    """Returns the text to write, error lines, and the exit status. Raises Refused."""
    if form not in FORMATS:
        raise Refused(f"argument --format: '{form}' is not for profiles: {', '.join(FORMATS)} are accepted")
    before, after = (_read(name, path) for name, path in zip("AB", paths, strict=True))
    refusal = [] if anyway else why_not(before, after)
    if refusal:
        return "", refusal, 2
    comparison = Comparison(before, after)
    judged = _judge(comparison, limits)
    shown = {"json": _json, "markdown": _markdown}.get(form, _text)(comparison, judged)
    complaints = [f"{one.title}: {one.state}: {line}" for one in judged for line in one.lines]
    states = {one.state for one in judged}
    return shown, complaints, exit_status(states)


def _read(name: str, path: str) -> Profile:
    try:
        return model.load(Path(path))
    except BadDocument as error:
        raise Refused(f"argument {name}: {error}") from None


def _judge(comparison: Comparison, limits: Limits) -> list[Judged]:
    after, found = comparison.after, []
    for flag, limit, names in (
        ("--max-instructions-per-rpc", limits.instructions, ("instructions",)),
        ("--max-syscalls-per-rpc", limits.syscalls, ("syscalls",)),
        ("--max-allocs-per-rpc", limits.allocations, ("allocations", "allocation-calls")),
    ):
        if limit is not None:
            found.append(gates.at_most(flag, limit, after, names))
    if limits.limit_percent is not None:
        found.append(gates.more_expensive(limits.limit_percent, comparison))
    return found


def _tables(comparison: Comparison) -> Iterator[Block]:
    for side in comparison.sides:
        for kind, most in SHOWN.items():
            every = comparison.of(side, kind)
            rows = every if kind in (TOTAL, LIBRARY) else [c for c in every if c.beyond]
            if not every:
                continue
            head = (Column("before", True, 13), Column("after", True, 11), Column("change", True, 11), Column())
            table = Table((Column(f"{side}: {TITLES[kind]}", width=LABEL, most=LABEL), *head), indent=2)
            for change in rows[:most]:
                table.add(change.title, *map(number, change.values), _changed(change), change.word)
            if not rows or len(rows) > most:
                table.say(f"and {len(rows) - most} more" if rows else "none")
            yield from (table, EMPTY)


def _changed(change: Change) -> str:
    """'+0.52 %', '12 x'; 'new' where there was as good as nothing."""
    before, after = change.values
    if change.percent is None or before < 0.0005:
        return "new" if after > before else ""
    return f"{change.percent:+.2f} %" if change.percent < MUCH else f"{after / before:,.0f} x"


def _remarks(comparison: Comparison) -> list[str]:
    before, after = comparison.before, comparison.after
    lines = [f"set otherwise: {line}" for line in comparison.differences()]
    lines += list(comparison.only_one())
    if any(f.repetitions < 2 for f in (*before.figures, *after.figures)):
        lines.append("note: counted once, which says nothing about the spread")
    lines += [f"note: {name} is partial" for name, profile in (("A", before), ("B", after)) if profile.partial]
    return [
        *lines,
        "real: outside the sum of both cost profiles' spreads (least to most repetition), and 0.2 % of a total or 0.05 "
        "% of what a part is part of; not judged: it follows the clock or the machine's other load",
    ]


def _text(comparison: Comparison, judged: list[Judged]) -> str:
    profiles = (("A", comparison.before), ("B", comparison.after))
    lines = [Line(f"{name}: {profile.title}, {profile.date}") for name, profile in profiles]
    said = [*(f"{one.title}: {one.state}" for one in judged), *_remarks(comparison)]
    return text.render([*lines, EMPTY, *_tables(comparison), *map(Line, said)])


def _markdown(comparison: Comparison, judged: list[Judged]) -> str:
    title = Line(f"What a call costs: {comparison.before.title} → {comparison.after.title}", first="### ")
    said = [*(f"{one.title}: {one.state}" for one in judged), *_remarks(comparison)]
    return markdown.render([title, EMPTY, *_tables(comparison)]) + markdown.bullets(said)


def _json(comparison: Comparison, judged: list[Judged]) -> str:
    changes = [
        {
            "side": c.side,
            **c.key._asdict(),
            "before": c.values[0],
            "after": c.values[1],
            "noise": c.noise,
            "real": c.real,
        }
        for c in comparison.changes
    ]
    gated = [{"gate": one.title, "state": one.state, "lines": list(one.lines)} for one in judged]
    data: dict[str, Any] = {"changes": changes, "gates": gated, "notes": _remarks(comparison)}
    return json.dumps(data, indent=2) + "\n"
