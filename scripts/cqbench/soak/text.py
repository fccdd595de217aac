"""What a soak ends with: a table of what grew."""

from __future__ import annotations

from collections.abc import Callable

from cqbench.soak.judge import Drift, judge
from cqbench.soak.session import SERVERS, Record, Round

MIB = 2**20
# What is judged, in which unit, and whether growing is a failure: latency of a machine with other work on it is not.
FIGURES: tuple[tuple[str, float, Callable[[Round], float | None], bool], ...] = (
    ("server MiB", MIB, lambda r: r.vitals["rss_bytes"], True),
    ("server descriptors", 1, lambda r: r.vitals["descriptors"], True),
    ("server threads", 1, lambda r: r.vitals["threads"], True),
    ("client MiB", MIB, lambda r: r.reference["client_rss_bytes"], True),
    ("P50 us", 1000, lambda r: r.reference["latency_p50_ns"], False),
    ("P99 us", 1000, lambda r: r.reference["latency_p99_ns"], False),
)


def drifts(record: Record) -> list[tuple[str, str, float, Drift, bool]]:
    """Server, figure, unit, drift, whether growing is a failure; without what nothing was recorded of."""
    found = []
    for server in SERVERS:
        for name, unit, pick, fails in FIGURES:
            if values := record.series(server, pick):
                found.append((server, name, unit, judge(values), fails))
    return found


def grown(record: Record) -> list[str]:
    return [
        f"{name} of {server}" for server, name, _, drift, fails in drifts(record) if fails and drift.verdict == "grows"
    ]


def render(record: Record) -> str:
    """Ends with a newline."""
    lines = [f"{'server':<9} {'figure':<19} {'median':>9} {'last / middle (95 %)':>24}  verdict"]
    for server, name, unit, drift, _ in drifts(record):
        ratio = drift.ratio
        rise = f"{ratio.value:.4f} ({ratio.low:.4f}-{ratio.high:.4f})" if ratio and ratio.low and ratio.high else "-"
        lines.append(f"{server:<9} {name:<19} {drift.median / unit:>9.1f} {rise:>24}  {drift.verdict}")
    rounds = max((one.number for one in record.rounds), default=0)
    lines += [
        "",
        "last / middle: the last third of the rounds to the one before; the first is warm-up.",
        "flat: growth above 1 % is ruled out.",
        f"{rounds} rounds, {record.cases} cases, {record.calls} calls, {record.restarts} restarts",
    ]
    lines += [f"FAILED: {failure}" for failure in record.failures]
    return "\n".join(lines) + "\n"
