"""One configuration at one load level, its repetitions in their order, for the tables that end an experiment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cqbench.formats.figures import THROUGHPUT
from cqbench.formats.offered import Load
from cqbench.formats.result import Document
from cqbench.model.ratio import Round, ratio_of, values
from cqbench.model.series import Repetition
from cqbench.model.usable import unusable
from cqbench.stats.medians import median
from cqbench.stats.ratios import Ratio

Numbered = tuple[int, Document]  # by the repetition


@dataclass(frozen=True)
class Cell:
    """points: those that count. contexts: of all results."""

    configuration: str
    load: Load
    points: Sequence[Repetition]
    contexts: Sequence[Mapping[str, Any]] = ()

    def has(self, key: str) -> bool:
        return self.middle(key) is not None

    def middle(self, key: str) -> float | None:
        """The median; None as well where a repetition has no figure: the others are then not typical."""
        return median(values(self.points, key))

    @property
    def kind(self) -> str:
        """All but the last axis: put last what is compared."""
        return self.configuration.rpartition(".")[0]


@dataclass(frozen=True)
class Row:
    """A cell, the first of its kind at its load level, and the highest throughput of the table."""

    cell: Cell
    first: Cell
    best: float

    def ratio(self, key: str, inverse: bool = False) -> str:
        """'0.54 (0.35-0.85)' to the first, over the repetitions that both have; '' for the first itself."""
        if self.cell is self.first:
            return ""
        found = ratio_of(self.cell.points, self.first.points, key)
        return words(found.inverse() if found and inverse else found)


def words(ratio: Ratio | None) -> str:
    """'0.54 (0.35-0.85)', without an interval where there is none; '-' for no ratio."""
    if ratio is None:
        return "-"
    return f"{ratio.value:.2f}" + (f" ({ratio.low:.2f}-{ratio.high:.2f})" if ratio.low and ratio.high else "")


def cells(by_configuration: Mapping[str, Sequence[Numbered]], loads: Sequence[Load]) -> list[Cell]:
    """Load after load; a configuration without points is there, too."""
    return [
        Cell(name, load, list(_points(load, documents)), [document.context for _, document in documents])
        for load in loads
        for name, documents in by_configuration.items()
    ]


def _points(load: Load, documents: Sequence[Numbered]) -> Iterable[Repetition]:
    for repetition, document in documents:
        for point in document.points:
            if point.load == load and not unusable(point):
                yield Repetition(point, Round("", repetition))


def rows(every: Sequence[Cell]) -> list[Row]:
    firsts: dict[tuple[str, Load], Cell] = {}
    best = max((cell.middle(THROUGHPUT) or 0.0 for cell in every), default=0.0)
    return [Row(cell, firsts.setdefault((cell.kind, cell.load), cell), best) for cell in every]


def number(value: float | None, digits: int, scale: float = 1.0) -> str:
    return "-" if value is None else f"{value * scale:.{digits}f}"
