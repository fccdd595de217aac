"""The figures that are compared: where each is in a result, its unit for people, and which way is better."""

from __future__ import annotations

from dataclasses import dataclass

from cqbench.formats.figures import THROUGHPUT as THROUGHPUT_KEY
from cqbench.model.figures import ENDS, FIGURES

CUSTOM = "custom"  # the group of other programs' own figures


@dataclass(frozen=True)
class Metric:
    """name: as flags take it. key: in the file. scale: from the file's unit to the one shown. better: 1 when more is
    better, -1 when less is, 0 when neither is.
    """

    name: str
    key: str
    title: str
    unit: str
    scale: float
    better: int
    group: str
    open_only: bool = False  # a closed loop has no such figure

    @property
    def words(self) -> tuple[str, str]:
        """The words for a higher and for a lower figure."""
        if self.group == "throughput":
            return "faster", "slower"
        if self.group == "latency":
            return "slower", "faster"
        if self.group == CUSTOM:
            return "higher", "lower"
        return f"more {self.noun}", f"less {self.noun}"

    @property
    def counted(self) -> bool:
        """Counts of a call do not follow the machine's speed, so they are comparable between sessions."""
        return self.group == "allocations"

    @property
    def noun(self) -> str:
        return {"cpu": "CPU"}.get(self.group, self.group)


def _of(name: str, key: str, group: str, open_only: bool = False) -> Metric:
    """Units are ASCII: they are in CSV, too."""
    figure = FIGURES[key]
    unit = figure.shown_unit.replace("µ", "u")
    return Metric(name, key, figure.title, unit, figure.scale, figure.better, group, open_only)


LATENCIES = {"mean": "mean", "p50": "p50", "p90": "p90", "p99": "p99", "p99.9": "p99_9"}
METRICS = (
    _of("throughput", THROUGHPUT_KEY, "throughput"),
    *(_of(name, f"latency_{file}_ns", "latency") for name, file in LATENCIES.items()),
    *(_of(f"{name}-sent", f"latency_from_sent_{file}_ns", "latency", True) for name, file in LATENCIES.items()),
    *(_of(f"{end}-cpu", f"{end}_cpu_per_rpc_ns", "cpu") for end in ENDS),
    *(
        _of(f"{end}-{name}", f"{end}_{key}_per_rpc", "allocations")
        for end in ENDS
        for name, key in (("allocations", "allocations"), ("allocated", "allocated_bytes"))
    ),
    _of("both-allocations", "allocations_per_rpc", "allocations"),
    _of("both-allocated", "allocated_bytes_per_rpc", "allocations"),
    *(_of(f"client-{way}", f"client_bytes_{way}_per_second", "traffic") for way in ("sent", "received")),
    _of("messages", "messages_per_second", "traffic"),
)
GROUPS = tuple(dict.fromkeys(metric.group for metric in METRICS))
BY_NAME = {metric.name: metric for metric in METRICS}
THROUGHPUT = BY_NAME["throughput"]
