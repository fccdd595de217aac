"""What an experiment with faults ends with: for each variant what the fault cost, and how long it was felt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from cqbench.files.offered import Load
from cqbench.samples.fault_words import COLUMNS, cells
from cqbench.samples.recovery import Outcome, outcome
from cqbench.samples.runs import Run

WIDTHS = (18, 18, 18, 22, 22)  # of COLUMNS
LEGEND = (
    "Times are from when the fault began. lost: calls that were due in the window and did not end well. first\n"
    "success: until a call ended well, at most. 95 % again: until the rate was back at 95 % of that before the fault\n"
    "and stayed for half a second; never: not within the window. P99, max: latency from due of the window's calls\n"
    "that ended well. Medians over the repetitions, in brackets their 95 % intervals, from six on; -: a repetition\n"
    "lacks it. Failed calls by status: medians, too; unfinished and unsent: under way, or waiting, when the client\n"
    "gave up."
)


def render(measured: Sequence[tuple[int, Run]], loads: Sequence[Load], variants: Sequence[str]) -> str:
    """'' where nothing was to go wrong. Ends with a newline otherwise."""
    found = {(load, name): of for load in loads for name in variants if (of := list(_outcomes(measured, name, load)))}
    if not found:
        return ""
    width = max(len("variant"), *(len(name) for _, name in found))
    several = len({load for load, _ in found}) > 1
    lines = ["Faults"]
    for (load, _), keys in groupby(found, key=lambda key: (key[0], _kind(key[1]))):
        lines += ["" if len(lines) > 1 else _head(width)] + [f"{load.words}"] * several
        lines += [_line(name, width, found[load, name]) for _, name in keys]
    whys = dict.fromkeys(f"{name}: {o.why}" for (_, name), of in found.items() for o in of if o.why)
    return "\n".join([*lines, "", LEGEND, *whys]) + "\n"


def _kind(variant: str) -> str:
    """All but the last axis: what is compared stands together."""
    return variant.rpartition(".")[0]


def _outcomes(measured: Iterable[tuple[int, Run]], name: str, load: Load) -> Iterable[Outcome]:
    """Of whole repetitions."""
    for _, run in measured:
        for point in run.points() if run.variant == name else ():
            if point.load == load and not point.partial and (found := outcome(run, point)) is not None:
                yield found


def _head(width: int) -> str:
    *figures, statuses = (column.title for column in COLUMNS)
    return f"{'variant':<{width}} |{_aligned(figures)}  {statuses}"


def _line(name: str, width: int, of: Sequence[Outcome]) -> str:
    *figures, statuses = cells(of)
    return f"{name:<{width}} |{_aligned(figures)}  {statuses}".rstrip()


def _aligned(texts: Sequence[str]) -> str:
    return "".join(f" {text:>{width}}" for text, width in zip(texts, WIDTHS, strict=True))
