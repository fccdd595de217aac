"""What an experiment's manifest.json adds to a report: what was asked, what is missing, notes, failures, commands.

A manifest that cannot be read costs these and not the report, which says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cqbench import documents
from cqbench.documents import BadDocument, one_line
from cqbench.experiment_manifest import FAILED, INTERRUPTED, PENDING, VERSION
from cqbench.runs import MANIFEST

MAX_TEXT = 1000
MAX_COMMAND = 20_000


@dataclass(frozen=True)
class Manifest:
    """One experiment's. Every text is one printable line. problem: why nothing of it is known; '' when it is."""

    folder: Path
    problem: str = ""
    title: str = ""
    question: str = ""
    started: str = ""
    ended: str = ""
    partial: bool = False
    seed: str = ""
    git_revision: str = ""
    host: str = ""
    governors: str = ""
    environment: str = ""
    placements: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    units: tuple[dict[str, Any], ...] = field(default=(), repr=False)

    def missing(self) -> str:
        """What was not run or was cut short, in words; '' when nothing is."""
        if self.problem:
            return f"whether anything is missing is not known: {self.problem}"
        left = sum(unit.get("status") in (PENDING, INTERRUPTED) for unit in self.units)
        if left:
            return f"{left} of {len(self.units)} runs are missing"
        return "the experiment has not ended" if self.partial else ""

    def failures(self) -> list[str]:
        """'VARIANT, repetition 3: why'."""
        return [
            line(f"{unit.get('variant')}, repetition {unit.get('repetition')}: {unit.get('reason') or 'no reason'}")
            for unit in self.units
            if unit.get("status") == FAILED
        ]

    def commands(self, variant: str) -> tuple[str, str]:
        """Of client and server, from the first repetition that has both, or the client's; '' where there is none."""
        mine = [unit for unit in self.units if unit.get("variant") == variant and unit.get("client_command")]
        mine.sort(key=lambda unit: (not unit.get("server_command"), str(unit.get("repetition")).zfill(9)))
        if not mine:
            return "", ""
        return line(mine[0]["client_command"], MAX_COMMAND), line(mine[0].get("server_command"), MAX_COMMAND)


def line(value: Any, limit: int = MAX_TEXT) -> str:
    """One printable line of whatever it is; '' for nothing."""
    return "" if value is None else one_line(str(value), limit)


def find(folders: Iterable[Path]) -> list[Manifest]:
    """Of those of the folders that have one."""
    return [load(folder) for folder in folders if (folder / MANIFEST).is_file()]


def load(folder: Path) -> Manifest:
    """Never fails: see Manifest.problem."""
    path = folder / MANIFEST
    name = one_line(str(path))
    try:
        data = documents.decode(documents.read_bytes(path), name)
    except BadDocument as error:
        return Manifest(folder, problem=str(error))
    if not isinstance(data, dict) or data.get("manifest_version") != VERSION:
        return Manifest(folder, problem=f"{name}: not a manifest of experiment.sh, version {VERSION}")
    return _manifest(folder, data)


def _manifest(folder: Path, data: dict[str, Any]) -> Manifest:
    experiment, machine = _table(_table(data.get("experiment")).get("experiment")), _table(data.get("machine"))
    return Manifest(
        folder,
        title=line(experiment.get("title") or data.get("name")),
        question=line(experiment.get("question")),
        started=line(data.get("started")),
        ended=line(data.get("ended")),
        partial=data.get("partial") is not False,
        seed=line(data.get("seed")),
        git_revision=line(data.get("git_revision")),
        host=line(machine.get("host_name")),
        governors=line(", ".join(map(str, _list(machine.get("governors"))))),
        environment=line(" ".join(f"{k}={v}" for k, v in _table(data.get("environment")).items())),
        placements=_lines(_table(data.get("placements")).values()),
        order=_lines(_list(data.get("order"))),
        notes=(*_lines(_list(data.get("notes"))), *_resumed(_list(data.get("resumed")))),
        units=tuple(unit for unit in _list(data.get("units")) if isinstance(unit, dict)),
    )


def _resumed(entries: Sequence[Any]) -> Iterable[str]:
    """What was no longer as it had been."""
    for entry in map(_table, entries):
        changed = ", ".join(map(str, _list(entry.get("changed"))))
        if changed:
            yield line(f"resumed {entry.get('started')}; not as it was when this began: {changed}")


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _lines(values: Iterable[Any]) -> tuple[str, ...]:
    """Each once."""
    return tuple(dict.fromkeys(filter(None, map(line, values))))
