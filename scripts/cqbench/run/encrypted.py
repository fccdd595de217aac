"""What an experiment with TLS ends with: what it takes from throughput, and costs either end, beside plaintext."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from cqbench.files.offered import Load
from cqbench.model.series import Repetition
from cqbench.run.cells import Cell, Numbered, cells, firsts, micros, number, ratio
from cqbench.stats.medians import median

ENDS = ("client", "server")
CPU = "{}_cpu_per_rpc_ns"
CONNECTING = "client_connect_ns"
BYTES = ("client_bytes_sent_per_second", "client_bytes_received_per_second")
LEGEND = (
    "us a call: CPU time; ns a byte: of both ends together, by the bytes on the wire; connections/s: connected by one\n"
    "client before the point begins, handshakes of TLS included, all at once. Medians over the repetitions; / first:\n"
    "this variant's repetitions to those of the first of its kind, with a 95 % interval."
)


def render(by_variant: Mapping[str, Sequence[Numbered]], loads: Sequence[Load]) -> str:
    """'' where nothing is encrypted. Ends with a newline otherwise."""
    if not any("security" in document.context for of in by_variant.values() for _, document in of):
        return ""
    every = cells(by_variant, loads)
    width = max(len("variant"), *(len(cell.variant) for cell in every)) if every else 0
    costs = "".join(f" {f'{end} us a call':>16} {'/ first (95 %)':>16}" for end in ENDS)
    columns = f"{'calls/s':>8} {'/ first (95 %)':>16} {'P99 us':>8}{costs} {'ns a byte':>9} {'connections/s':>13}"
    lines = ["Encrypted", f"{'variant':<{width}} | {'load':>12} {columns}"]
    for cell, first in zip(every, firsts(every), strict=True):
        lines.append(f"{cell.variant:<{width}} | {cell.load.words:>12} {_figures(cell, first)}".rstrip())
    return "\n".join([*lines, "", LEGEND]) + "\n"


def _figures(cell: Cell, first: Cell) -> str:
    text = f"{number(cell.middle('throughput_per_second'), 0):>8}"
    text += f" {ratio(cell, first, 'throughput_per_second'):>16}"
    text += f" {micros(cell, 'latency_p99_ns', 0):>8}"
    for end in ENDS:
        text += f" {micros(cell, CPU.format(end), 1):>16} {ratio(cell, first, CPU.format(end)):>16}"
    return text + f" {number(_over(cell, _per_byte), 3):>9} {number(_over(cell, _per_second), 0):>13}"


def _over(cell: Cell, figure: Callable[[Repetition], float | None]) -> float | None:
    """The median of what every repetition has."""
    found = [figure(point) for point in cell.points]
    there = [value for value in found if value is not None]
    return median(there) if len(there) == len(found) else None


def _per_byte(point: Repetition) -> float | None:
    """CPU time of both ends by byte."""
    costs = [point.value(CPU.format(end)) for end in ENDS]
    moved = [point.value(key) for key in BYTES]
    calls = point.value("throughput_per_second")
    if None in (*costs, *moved, calls) or not any(moved):
        return None
    return sum(c or 0 for c in costs) * (calls or 0) / sum(b or 0 for b in moved)


def _per_second(point: Repetition) -> float | None:
    """Of several at a time: one by itself has a latency."""
    took, there = point.value(CONNECTING), point.measured.connections
    return there * 1e9 / took if took and there and there > 1 else None
