"""One variant at one load, its repetitions in their order, for the tables that end an experiment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cqbench.files.offered import Load
from cqbench.files.result import Document
from cqbench.model.ratio import Round, ratio_of, values
from cqbench.model.series import Repetition
from cqbench.model.usable import unusable
from cqbench.stats.medians import median

Numbered = tuple[int, Document]  # by the repetition


@dataclass(frozen=True)
class Cell:
    """points: those that count, not empty."""

    variant: str
    load: Load
    points: Sequence[Repetition]

    def has(self, key: str) -> bool:
        return self.middle(key) is not None

    def middle(self, key: str) -> float | None:
        """The median; None as well where a repetition has no figure: the others are then not typical."""
        return median(values(self.points, key))

    @property
    def kind(self) -> str:
        """All but the last axis: put last what is compared."""
        return self.variant.rpartition(".")[0]


def cells(by_variant: Mapping[str, Sequence[Numbered]], loads: Sequence[Load]) -> list[Cell]:
    """Load after load."""
    every = (
        Cell(name, load, list(_points(load, documents))) for load in loads for name, documents in by_variant.items()
    )
    return [cell for cell in every if cell.points]


def _points(load: Load, documents: Sequence[Numbered]) -> Iterable[Repetition]:
    for repetition, document in documents:
        for point in document.points:
            if point.load == load and not unusable(point):
                yield Repetition(point, Round("", repetition))


def firsts(every: Sequence[Cell]) -> list[Cell]:
    """For each cell the first of its kind at its load: what it is held against."""
    found: dict[tuple[str, Load], Cell] = {}
    return [found.setdefault((cell.kind, cell.load), cell) for cell in every]


def ratio(cell: Cell, first: Cell, key: str) -> str:
    """'0.54 (0.35-0.85)', over the repetitions that both have; '' for the first itself."""
    if cell is first:
        return ""
    found = ratio_of(cell.points, first.points, key)
    if found is None:
        return "-"
    return f"{found.value:.2f}" + (f" ({found.low:.2f}-{found.high:.2f})" if found.low and found.high else "")


def number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def micros(cell: Cell, key: str, digits: int) -> str:
    """The median of a time in nanoseconds, in microseconds."""
    nanoseconds = cell.middle(key)
    return number(None if nanoseconds is None else nanoseconds / 1000, digits)
