"""Parts of a report that come from an experiment's manifest.json: the question, missing runs, notes, failures,
commands.

If a manifest cannot be read, the report lacks these parts and says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cqbench.formats import manifest as files
from cqbench.formats.manifest import FAILED, FILE, INTERRUPTED, PENDING
from cqbench.formats.source import BadDocument
from cqbench.formats.text import one_line

MAX_TEXT = 1000
MAX_COMMAND = 20_000
NOTHING = files.Manifest.model_construct(units=[], partial=False)


@dataclass(frozen=True)
class Manifest:
    """One experiment's. problem: why nothing of it is known; '' when it is."""

    folder: Path
    told: files.Manifest = NOTHING
    problem: str = ""

    @property
    def title(self) -> str:
        return self.told.head.title or self.told.name

    @property
    def notes(self) -> list[str]:
        changed = ((resumed.started, ", ".join(resumed.changed)) for resumed in self.told.resumed)
        resumed = (f"resumed {when}; not as it was when this began: {what}" for when, what in changed if what)
        return [*self.told.notes, *resumed]

    def missing(self) -> str:
        """Returns the runs that were skipped or cut short, in words; '' if none were."""
        if self.problem:
            return f"whether anything is missing is not known: {self.problem}"
        left = sum(unit.status in (PENDING, INTERRUPTED) for unit in self.told.units)
        if left:
            return f"{left} of {len(self.told.units)} runs are missing"
        return "the experiment has not ended" if self.told.partial else ""

    def failures(self) -> list[str]:
        """'VARIANT, 8 in flight, repetition 3: why'."""
        failed = (unit for unit in self.told.units if unit.status == FAILED)
        return [f"{unit.variant}{unit.load.words}, repetition {unit.repetition}: {unit.reason}" for unit in failed]

    def commands(self, variant: str) -> tuple[str, str]:
        """Returns the commands of client and server, from the first repetition that has both, or the client's; '' if
        there are none.
        """
        mine = [unit for unit in self.told.units if unit.variant == variant and unit.client_command]
        first = min(mine, key=lambda unit: (not unit.server_command, unit.repetition), default=None)
        return (line(first.client_command, MAX_COMMAND), line(first.server_command, MAX_COMMAND)) if first else ("", "")


def line(value: Any, limit: int = MAX_TEXT) -> str:
    """One printable line of whatever it is; '' for nothing."""
    return "" if value is None else one_line(str(value), limit)


def find(folders: Iterable[Path]) -> list[Manifest]:
    """Returns the manifests of those folders that have one."""
    return [load(folder) for folder in folders if (folder / FILE).is_file()]


def load(folder: Path) -> Manifest:
    """Never fails: see Manifest.problem."""
    try:
        return Manifest(folder, files.load(folder / FILE))
    except BadDocument as error:
        return Manifest(folder, problem=str(error))
