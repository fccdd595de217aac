"""`cqbench compare` of two cost profiles: reads them, compares them, and applies the gates."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cqbench.analysis.cost import gates
from cqbench.analysis.cost import profile as model
from cqbench.analysis.cost.changes import Comparison, why_not
from cqbench.analysis.cost.gates import Judged
from cqbench.analysis.cost.profile import Profile
from cqbench.formats.source import BadDocument, read_bytes
from cqbench.formats.text import one_line
from cqbench.model.gate import exit_status
from cqbench.options import Refused
from cqbench.render.cost.pair import as_json, as_markdown, as_text

FORMATS = {"text": as_text, "markdown": as_markdown, "json": as_json}


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
    shown = FORMATS[form](comparison, judged)
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
