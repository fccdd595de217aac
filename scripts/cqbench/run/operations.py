"""What an experiment ends with that makes one call after the other and counts allocations: the columns of Go's tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cqbench.files.offered import Load, closed
from cqbench.model.ratio import ratio_of, values
from cqbench.run.cells import Cell, Numbered, cells, firsts, number
from cqbench.stats.medians import describe

THROUGHPUT = "throughput_per_second"
COUNTS = ("allocated_bytes_per_rpc", "allocations_per_rpc")
HEAD = f"{'ns/op':>8} {'':<17} {'/ first (95 %)':<18}"
PARTS = " | ".join(f"{'B/op':>7} {'allocs':>7}" for _ in range(2))
CPU = f"{'clt us':>7} {'srv us':>7}"
LEGEND = (
    "ns/op: one call after the other, in brackets the 95 % interval (six repetitions on); / first: to the first of\n"
    "its kind. B/op, allocs: what client and server together ask malloc for per call, and the server alone. clt us,\n"
    "srv us: CPU time per call. Medians; -: not measured (scripts/grpc-gateway/build.sh --bench counts in Go)."
)


def render(by_variant: Mapping[str, Sequence[Numbered]], loads: Sequence[Load]) -> str:
    """'' where there is any other load or nothing was counted. Ends with a newline otherwise."""
    every = cells(by_variant, loads) if list(loads) == [closed(1)] else []
    if not any(cell.has(f"client_{COUNTS[0]}") for cell in every):
        return ""
    width = max(len("variant"), *(len(_name(cell)) for cell in every), *(len(cell.kind) for cell in every))
    over = f"{'':<{width}} | {'':<{len(HEAD)}} | {'client + server':^15} | {'server alone':^15} |"
    lines, before = ["One call after the other", over], None
    for cell, first in zip(every, firsts(every), strict=True):
        if cell.kind != before:
            lines += [
                *([""] if before is not None else []),
                f"{cell.kind or 'variant':<{width}} | {HEAD} | {PARTS} | {CPU}",
            ]
            before = cell.kind
        lines.append(f"{_name(cell):<{width}} | {_figures(cell, first)}".rstrip())
    return "\n".join([*lines, "", LEGEND]) + "\n"


def _name(cell: Cell) -> str:
    return cell.variant.rpartition(".")[2]


def _figures(cell: Cell, first: Cell) -> str:
    each = describe([1e9 / rate for rate in values(cell.points, THROUGHPUT)])
    interval = "" if each.low is None or each.high is None else f"[{each.low:.0f}, {each.high:.0f}]"
    both, server = (" ".join(_count(cell, end + key) for key in COUNTS) for end in ("", "server_"))
    cpu = " ".join(f"{_micros(cell.middle(f'{end}_cpu_per_rpc_ns')):>7}" for end in ("client", "server"))
    return f"{each.value:>8.0f} {interval:<17} {_slower(cell, first):<18} | {both} | {server} | {cpu}"


def _count(cell: Cell, key: str) -> str:
    return f"{number(cell.middle(key), 1 if key.endswith('allocations_per_rpc') else 0):>7}"


def _micros(nanos: float | None) -> str:
    return number(None if nanos is None else nanos / 1000, 1)


def _slower(cell: Cell, first: Cell) -> str:
    """Of the time of a call: the inverse of calls per second."""
    if cell is first:
        return ""
    found = ratio_of(first.points, cell.points, THROUGHPUT)
    if found is None:
        return "-"
    return f"{found.value:.2f}" + (f" ({found.low:.2f}-{found.high:.2f})" if found.low and found.high else "")
