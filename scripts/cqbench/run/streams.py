"""What an experiment on streams of chunks ends with: Gbit/s, the CPUs that each costs, what the best way saves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from cqbench.files.offered import Load
from cqbench.model.thresholds import BYTES_REACHED
from cqbench.run.cells import Cell, Numbered, cells, firsts, number, ratio

RATE = "payload_bytes_per_second"
ASKED = "payload_bytes_asked_per_second"
COST = "{}_cores_per_gbit_per_second"
ENDS = ("client", "server")
LEGEND = (
    "Gbit/s: payload, 10^9 bits; cores: CPUs that the process kept busy, and the same per Gbit/s. Medians over the\n"
    "repetitions; / plain: this variant's repetitions to those of the first variant of its kind, with a 95 % interval."
)


def render(by_variant: Mapping[str, Sequence[Numbered]], loads: Sequence[Load]) -> str:
    """'' where nothing streams chunks. Ends with a newline otherwise."""
    every = [cell for cell in cells(by_variant, loads) if cell.has(RATE)]
    if not every:
        return ""
    width = max(len("variant"), *(len(cell.variant) for cell in every))
    columns = "".join(f" {f'{end} cores':>12} {'per Gbit/s':>10} {'/ plain (95 %)':>16}" for end in ENDS)
    lines = ["Streams of chunks", f"{'variant':<{width}} | {'load':>12} {'Gbit/s':>7}{columns}"]
    for cell, first in zip(every, firsts(every), strict=True):
        head = f"{cell.variant:<{width}} | {_load(cell):>12} {number(_gbits(cell), 2):>7}"
        lines.append((head + _costs(cell, first)).rstrip())
    return "\n".join([*lines, "", LEGEND, *_missed(every)]) + "\n"


def _load(cell: Cell) -> str:
    """Of an open loop the bits, not the streams."""
    asked = _gbits(cell, ASKED)
    return cell.load.words if asked is None else f"{asked:.4g} Gbit/s"


def _costs(cell: Cell, plain: Cell) -> str:
    text = ""
    for end in ENDS:
        cores, cost = cell.middle(f"{end}_cores_used"), cell.middle(COST.format(end))
        share = ratio(cell, plain, COST.format(end))
        text += f" {number(cores, 3):>12} {number(cost, 4):>10} {share:>16}"
    return text


def _gbits(cell: Cell, key: str = RATE) -> float | None:
    bytes_per_second = cell.middle(key)
    return None if bytes_per_second is None else bytes_per_second * 8e-9


def _missed(every: Iterable[Cell]) -> Iterable[str]:
    """A line for each byte rate that was asked for and not reached."""
    for cell in every:
        asked, reached = _gbits(cell, ASKED), _gbits(cell)
        if asked is not None and reached is not None and reached < BYTES_REACHED * asked - _one_stream(cell, asked):
            yield f"! {cell.variant}: {asked:.2f} Gbit/s were asked for, {reached:.2f} were reached"


def _one_stream(cell: Cell, asked: float) -> float:
    """By where the window cuts the schedule, a stream more or less is in it."""
    windows = [p.measured.window_ns for p in cell.points if p.measured.window_ns]
    return asked / cell.load.number / (median(windows) / 1e9) if windows and cell.load.open else 0.0
