"""What to think of a point that several client processes measured: ranks that are missing, windows that do not lie over
each other, one that is far off the others, and what each rank says of itself.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from cqbench.files import reasons
from cqbench.files.ranks import Rank

Json = dict[str, Any]

MISSING, SKEW, STRAGGLER, CPUS = "missing-ranks", "window-skew", "straggler", "rank-cpus"
OPENED, CLOSED = "opened", "closed"
SKEW_SHARE = 0.01  # of the window
SKEW_NS = 10_000_000  # what a rank that a scheduler's tick held up stays below
# Windows that end with a number of calls, or begin after one, do so in each rank at its own pace. What they lie apart
# is missing in the throughput at most: half of what a verdict acts on.
COUNTED_SHARE = 0.05
CHANCE = 0.01  # of a point, that one of its ranks is doubted for when its calls happened to come
STRAGGLER_SHARE = 0.20  # off the median of throughput for each slot, or for each call asked for
OTHER_RPCS = 0.25  # as in src/observe/checks/thresholds.h
NAMED = 8  # ranks in a sentence


def names(ranks: Sequence[int]) -> str:
    """'rank 3', 'ranks 0, 2 and 5', 'ranks 0, 1, 2, 3, 4, 5, 6, 7 and 92 more'."""
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    shown = [str(r) for r in ranks[:NAMED]]
    last = f"{len(ranks) - NAMED} more" if len(ranks) > NAMED else shown.pop()
    return f"ranks {', '.join(shown)} and {last}"


def opened(windows: Sequence[Rank]) -> dict[int, float]:
    """By rank, of those that agreed on a window."""
    return {w.index: w.window_open_ns for w in windows if w.window_open_ns is not None}


def closed(windows: Sequence[Rank]) -> dict[int, float]:
    """The same of its end."""
    return {w.index: w.window_close_ns for w in windows if w.window_close_ns is not None}


def skew(edges: Mapping[int, float]) -> float:
    return max(edges.values()) - min(edges.values()) if edges else 0.0


def of_point(
    count: int,
    missing: Sequence[int],
    windows: Sequence[Rank],
    points: Sequence[Json],
    window_ns: int,
    counted: Collection[str] = (),
) -> Iterator[Json]:
    """Of the ranks together. points: of the windows' ranks. counted: edges that a number of calls decided."""
    if missing:
        what = "neither what they did nor their share of the load is in these figures"
        text = f"{names(missing)} of {count} measured nothing: {what}"
        yield {"code": MISSING, "text": text}
    for what, edges in ((OPENED, opened(windows)), (CLOSED, closed(windows))):
        apart = skew(edges)
        sure = skew(_surely(edges, windows, points, what))
        limit = COUNTED_SHARE * window_ns if what in counted else min(SKEW_NS, SKEW_SHARE * window_ns)
        if sure > limit:
            late = [rank for rank, value in edges.items() if value == max(edges.values())]
            share = f", {apart / window_ns:.1%} of it" if window_ns else ""
            yield {
                "code": SKEW,
                "text": f"the ranks' windows {what} up to {apart / 1e6:.3g} ms apart{share}: {names(late)} last",
            }


def _surely(edges: Mapping[int, float], windows: Sequence[Rank], points: Sequence[Json], what: str) -> dict[int, float]:
    """A rank knows that it is awake when a call ends: with few calls that is later than the edge, however punctual it
    was. Of calls that end by chance none has ended after g mean gaps exp(-g) times, at one of two edges of one rank.
    """
    found = {}
    gaps = math.log(2 * len(windows) / CHANCE)
    for window, point in zip(windows, points, strict=True):
        announced = window.announced_open_ns if what == OPENED else window.announced_close_ns
        if window.index in edges:
            edge, rate = edges[window.index], point["throughput_per_second"]
            found[window.index] = edge if announced is None or not rate else max(announced, edge - gaps * 1e9 / rate)
    return found


def stragglers(points: Sequence[Json]) -> list[str]:
    """Of each rank why it is one; '' where it is not. A rank's share of the load is its own.

    Chance alone moves a rank that expects c calls by 1/sqrt(c), as Poisson's arrivals do, and the median with the
    others. How many such deviations are too many grows with the ranks: one of n is beyond z in at most
    n exp(-z^2 / 2) of points.
    """
    loads = [p.get("rate_asked_per_second") or p["inflight"] for p in points]
    shares = [p["throughput_per_second"] / load for p, load in zip(points, loads, strict=True)]
    middle = statistics.median_high(shares)  # of two the faster one: their mean moves with the slower one
    number = len(points)
    chance = math.sqrt(2 * math.log(number / CHANCE) * number / max(number - 1, 1))
    texts = []
    for point, load, share in zip(points, loads, shares, strict=True):
        expected = middle * load * point["window_ns"] / 1e9
        limit = max(STRAGGLER_SHARE, chance / math.sqrt(expected)) if expected > 0 else math.inf
        off = share / middle - 1 if middle > 0 else 0.0
        side = "below" if off < 0 else "above"
        per = "call asked for" if points[0].get("rate_asked_per_second") else "slot"
        said = f"its throughput for each {per} is {abs(off):.0%} {side} the ranks' median"
        texts.append(said if abs(off) > limit else "")
    return texts


def collected(points: Sequence[Json], ranks: Sequence[int], key: str) -> list[Json]:
    """Each kind of reason once, with the ranks that have it. That another client uses the server is not for a rank to
    say: it saw its partners.
    """
    kinds: dict[str, tuple[Json, list[int]]] = {}
    for rank, point in zip(ranks, points, strict=True):
        for reason in own(point, key):
            kind = f"{reason['code']}: {reasons.alike(reason['text'])}"
            kinds.setdefault(kind, (reason, []))[1].append(rank)
    found = []
    for reason, of in kinds.values():
        which = f"all {len(ranks)} ranks" if len(of) == len(ranks) > 1 else names(of)
        found.append({"code": reason["code"], "text": f"{reason['text']} ({which})"})
    return found


def own(point: Json, key: str) -> list[Json]:
    """What a rank says of itself alone."""
    return [reason for reason in point.get(key, []) if reason["code"] != reasons.OTHER_CLIENT]


def other_client(merged: Json) -> Iterator[Json]:
    """The client's own check, with the calls and connections of all ranks."""
    theirs, ours = merged.get("server_connections"), merged.get("client_connections")
    if theirs is not None and ours is not None and theirs > ours:
        text = f"another client uses the server: it has {theirs - ours:.0f} connections more than all ranks"
        yield {"code": reasons.OTHER_CLIENT, "text": text}
        return
    served = merged.get("server_rpcs")
    most = merged["completed"] + merged["failed"] + merged["unfinished"]
    if (
        served is not None
        and most
        and served > most * (1 + OTHER_RPCS) + 4 * math.sqrt(most) + 2.0 * merged["inflight"]
    ):
        text = f"another client uses the server: it answered {served / most:.2f} times as many calls"
        yield {"code": reasons.OTHER_CLIENT, "text": text}


def elsewhere(windows: Sequence[Rank], cpus: Sequence[str]) -> Iterator[Json]:
    """Ranks that ran on other CPUs than they were pinned to. cpus: by rank; '' is not pinned."""
    asked = [(w, cpus[w.index]) for w in windows if w.index < len(cpus) and cpus[w.index]]
    wrong = [w for w, text in asked if _set(text) != _set(w.cpus_allowed)]
    if wrong:
        first = wrong[0]
        said = f"rank {first.index} to {first.cpus_allowed or 'unknown ones'}, not to {cpus[first.index]}"
        yield {"code": CPUS, "text": f"{names([w.index for w in wrong])} had other CPUs than asked for: {said}"}


def _set(text: str) -> set[str]:
    """'0-2,8' -> 0, 1, 2, 8. What is no list is its own."""
    found: set[str] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        whole = first.isdigit() and (last or first).isdigit() and len(part) < 12
        found |= {str(n) for n in range(int(first), int(last or first) + 1)} if whole else {part}
    return found


def of_stragglers(ranks: Sequence[int], texts: Sequence[str]) -> Iterator[Json]:
    """One for all of them. texts: of stragglers()."""
    late = [rank for rank, text in zip(ranks, texts, strict=True) if text]
    if late:
        first = next(text for text in texts if text)
        more = f", of rank {late[0]}: {first}" if len(late) > 1 else f": {first}"
        yield {"code": STRAGGLER, "text": f"{names(late)} far off the others{more}"}
