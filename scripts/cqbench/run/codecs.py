"""What an experiment with --breakdown ends with: the codec's share of either end's CPU, what another one changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cqbench.files.offered import Load
from cqbench.run.cells import Cell, Numbered, cells, firsts, number, ratio

ENDS = ("client", "server")
SHARE = "breakdown_{}_codec_in_process_cpu_share"
STEPS = (
    "breakdown_request_serialize_in_process_ns",
    "breakdown_request_parse_in_process_ns",
    "breakdown_response_serialize_in_process_ns",
    "breakdown_response_parse_in_process_ns",
)
THROUGHPUT = "throughput_per_second"
LEGEND = (
    "ns a call: making bytes and messages of request and answer, at both ends together, timed by itself after the\n"
    "window; % of CPU: that as a share of each end's CPU per call (a lower bound: caches are warm). Medians over the\n"
    "repetitions; / first: this variant's repetitions to those of the first, with a 95 % interval; CPU: per call;\n"
    "-: none is timed there."
)


def render(by_variant: Mapping[str, Sequence[Numbered]], loads: Sequence[Load]) -> str:
    """'' where no codec was timed. Ends with a newline otherwise."""
    every = cells(by_variant, loads)
    if not any(cell.has(SHARE.format("client")) for cell in every):
        return ""
    width = max(len("variant"), *(len(cell.variant) for cell in every))
    shares = "".join(f" {f'% of {end} CPU':>15}" for end in ENDS)
    against = "".join(f" {what:>18}" for what in ("calls/s / first", "client CPU / first", "server CPU / first"))
    lines = ["Codecs", f"{'variant':<{width}} | {'load':>12} {'ns a call':>9}{shares}{against}"]
    for cell, first in zip(every, firsts(every), strict=True):
        lines.append(f"{cell.variant:<{width}} | {cell.load.words:>12} {_figures(cell, first)}".rstrip())
    return "\n".join([*lines, "", LEGEND]) + "\n"


def _figures(cell: Cell, first: Cell) -> str:
    steps = [cell.middle(step) for step in STEPS]
    there = [step for step in steps if step is not None]
    whole = sum(there) if len(there) == len(steps) else None
    text = f"{number(whole, 0):>9}"
    for end in ENDS:
        share = cell.middle(SHARE.format(end))
        text += f" {number(None if share is None else 100 * share, 1):>15}"
    for key in (THROUGHPUT, *(f"{end}_cpu_per_rpc_ns" for end in ENDS)):
        text += f" {ratio(cell, first, key):>18}"
    return text
