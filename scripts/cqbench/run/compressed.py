"""What an experiment with compression ends with: what is left on the wire, and what that takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cqbench.files.offered import Load
from cqbench.run.cells import Cell, Numbered, cells, firsts, micros, number, ratio

ENDS = ("client", "server")
WAYS = ("sent", "received")
LEFT = "client_bytes_{}_per_payload_byte"
CPU = "{}_cpu_per_rpc_ns"
LEGEND = (
    "On the wire: bytes of TCP by byte of payload, headers and frames included; us a call: CPU time. Medians over the\n"
    "repetitions; / first: this variant's repetitions to those of the first of its kind, with a 95 % interval."
)


def render(by_variant: Mapping[str, Sequence[Numbered]], loads: Sequence[Load]) -> str:
    """'' where nothing is compressed. Ends with a newline otherwise."""
    if not any("compression" in document.context for of in by_variant.values() for _, document in of):
        return ""
    every = cells(by_variant, loads)
    width = max(len("variant"), *(len(cell.variant) for cell in every)) if every else 0
    wire = "".join(f" {way:>8}" for way in WAYS)
    costs = "".join(f" {f'{end} us a call':>16} {'/ first (95 %)':>16}" for end in ENDS)
    lines = ["Compressed"]
    lines.append(
        f"{'variant':<{width}} | {'load':>12}{wire} {'calls/s':>8} {'/ first (95 %)':>16} {'P99 us':>8}{costs}"
    )
    for cell, first in zip(every, firsts(every), strict=True):
        lines.append(f"{cell.variant:<{width}} | {cell.load.words:>12}{_figures(cell, first)}".rstrip())
    return "\n".join([*lines, "", LEGEND]) + "\n"


def _figures(cell: Cell, first: Cell) -> str:
    text = "".join(f" {number(cell.middle(LEFT.format(way)), 3):>8}" for way in WAYS)
    text += f" {number(cell.middle('throughput_per_second'), 0):>8} {ratio(cell, first, 'throughput_per_second'):>16}"
    text += f" {micros(cell, 'latency_p99_ns', 0):>8}"
    for end in ENDS:
        text += f" {micros(cell, CPU.format(end), 1):>16} {ratio(cell, first, CPU.format(end)):>16}"
    return text
