"""What an experiment with faults ends with: for each variant what the fault cost, and how long it was felt."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from statistics import median

from cqbench.files.offered import Load
from cqbench.samples.recovery import Outcome, outcome
from cqbench.samples.runs import Run

COLUMNS: tuple[tuple[str, int, Callable[[Outcome], float | None], float, int], ...] = (
    # title, width, figure, scale, digits
    ("lost %", 18, lambda o: o.lost, 100, 2),
    ("first success s", 18, lambda o: o.first_success_s, 1, 2),
    ("95 % again s", 18, lambda o: o.recovery_s, 1, 2),
    ("P99 ms", 22, lambda o: o.p99_ns, 1e-6, 1),
    ("max ms", 22, lambda o: o.max_ns, 1e-6, 1),
)
LEGEND = (
    "Times are from when the fault began. lost: calls that were due in the window and did not end well. first\n"
    "success: until a call ended well, at most. 95 % again: until the rate was back at 95 % of that before the fault\n"
    "and stayed for half a second; never: not within the window. P99, max: latency from due of the window's calls\n"
    "that ended well. Medians over the repetitions, in brackets the least and the greatest; -: a repetition lacks it.\n"
    "Failed calls by status: medians, too; unfinished and unsent: under way, or waiting, when the client gave up."
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
    return f"{'variant':<{width}} |" + "".join(f" {title:>{w}}" for title, w, *_ in COLUMNS) + "  failed by status"


def _line(name: str, width: int, of: Sequence[Outcome]) -> str:
    texts = (f" {_figure([figure(o) for o in of], scale, digits):>{w}}" for _, w, figure, scale, digits in COLUMNS)
    return f"{name:<{width}} |{''.join(texts)}  {_statuses(of)}".rstrip()


def _figure(values: Sequence[float | None], scale: float, digits: int) -> str:
    """'0.31 (0.30-0.33)'; '-' where a repetition has none."""
    there = [value * scale for value in values if value is not None]
    if len(there) < len(values):
        return "-"

    def text(value: float) -> str:
        return "never" if math.isinf(value) else f"{value:.{digits}f}"

    ends = f" ({text(min(there))}-{text(max(there))})" if min(there) < max(there) else ""
    return text(median(there)) + ends


def _statuses(of: Sequence[Outcome]) -> str:
    """'UNAVAILABLE 31, DEADLINE_EXCEEDED 2', the most frequent first; one that did not occur in a repetition counts as
    0 there."""
    codes = dict.fromkeys(code for o in of for code in o.failed)
    counts = {code: median(o.failed.get(code, 0.0) for o in of) for code in codes}
    return ", ".join(f"{code} {n:g}" for code, n in sorted(counts.items(), key=lambda pair: -pair[1]))
