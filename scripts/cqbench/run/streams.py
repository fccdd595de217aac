"""What an experiment on streams of chunks ends with: Gbit/s, the CPUs that each costs, what the best way saves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from cqbench.files.offered import Load
from cqbench.files.point import Measured
from cqbench.files.result import Document
from cqbench.stats import ratios

RATE = "payload_bytes_per_second"
ASKED = "payload_bytes_asked_per_second"
COST = "{}_cores_per_gbit_per_second"
ENDS = ("client", "server")
Numbered = tuple[int, Document]  # by the repetition
REACHED = 0.97  # of what was asked for
LEGEND = (
    "Gbit/s: payload, 10^9 bits; cores: CPUs that the process kept busy, and the same per Gbit/s. Medians over the "
    "repetitions; / plain: this variant's repetitions to those of the first variant of its kind, with a 95 % interval."
)


@dataclass(frozen=True)
class Cell:
    """A variant at one load: its repetitions with figures, by their number."""

    variant: str
    load: Load
    points: Mapping[int, Measured]

    def values(self, key: str) -> list[float]:
        return [p.figures[key] for p in self.points.values() if key in p.figures]

    def middle(self, key: str) -> float | None:
        found = self.values(key)
        return median(found) if found and len(found) == len(self.points) else None

    @property
    def kind(self) -> str:
        """All but the last axis: put last what is compared."""
        return self.variant.rpartition(".")[0]


def render(by_variant: Mapping[str, Sequence[Numbered]], loads: Sequence[Load]) -> str:
    """'' where nothing streams chunks. Ends with a newline otherwise."""
    cells = [
        cell
        for load in loads
        for name, documents in by_variant.items()
        if (cell := _cell(name, load, documents)).points
    ]
    if not cells:
        return ""
    width = max(len("variant"), *(len(cell.variant) for cell in cells))
    columns = "".join(f" {f'{end} cores':>12} {'per Gbit/s':>10} {'/ plain (95 %)':>22}" for end in ENDS)
    lines = ["", "Streams of chunks", f"{'variant':<{width}} | {'load':>12} {'Gbit/s':>8}{columns}"]
    plain: dict[tuple[str, Load], Cell] = {}
    for cell in cells:
        first = plain.setdefault((cell.kind, cell.load), cell)
        lines.append(
            f"{cell.variant:<{width}} | {cell.load.words:>12} {_number(_gbits(cell), 3):>8}{_costs(cell, first)}"
        )
    return "\n".join([*lines, "", LEGEND, *_missed(cells)]) + "\n"


def _cell(name: str, load: Load, documents: Sequence[Numbered]) -> Cell:
    points: dict[int, Measured] = {}
    for number, document in documents:
        for point in document.points:
            if point.load == load and not point.partial and RATE in point.figures:
                points[number] = point
    return Cell(name, load, points)


def _costs(cell: Cell, plain: Cell) -> str:
    text = ""
    for end in ENDS:
        ratio = "" if cell is plain else _ratio(cell, plain, COST.format(end))
        cores, cost = cell.middle(f"{end}_cores_used"), cell.middle(COST.format(end))
        text += f" {_number(cores, 3):>12} {_number(cost, 4):>10} {ratio:>22}"
    return text.rstrip()


def _ratio(cell: Cell, plain: Cell, key: str) -> str:
    both = [n for n in cell.points if n in plain.points]
    pairs = [(cell.points[n].figures.get(key, 0.0), plain.points[n].figures.get(key, 0.0)) for n in both]
    found = ratios.paired(pairs)
    if found is None:
        return "-"
    interval = f" ({found.low:.2f}-{found.high:.2f})" if found.low is not None and found.high is not None else ""
    return f"{found.value:.2f}{interval}"


def _gbits(cell: Cell, key: str = RATE) -> float | None:
    bytes_per_second = cell.middle(key)
    return None if bytes_per_second is None else bytes_per_second * 8e-9


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _missed(cells: Iterable[Cell]) -> Iterable[str]:
    """A line for each byte rate that was asked for and not reached."""
    for cell in cells:
        asked, reached = _gbits(cell, ASKED), _gbits(cell)
        if asked is not None and reached is not None and reached < REACHED * asked - _one_stream(cell, asked):
            yield f"! {cell.variant}: {asked:.2f} Gbit/s were asked for, {reached:.2f} were reached"


def _one_stream(cell: Cell, asked: float) -> float:
    """By where the window cuts the schedule, a stream more or less is in it."""
    windows = [p.window_ns for p in cell.points.values() if p.window_ns]
    return asked / cell.load.number / (median(windows) / 1e9) if windows and cell.load.open else 0.0
