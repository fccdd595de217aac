"""The figures that are compared: where each is in a result, its unit for people, and which way is better."""

from __future__ import annotations

from dataclasses import dataclass

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
        """What a higher and what a lower figure is called."""
        if self.group == "throughput":
            return "faster", "slower"
        if self.group == "latency":
            return "slower", "faster"
        if self.group == CUSTOM:
            return "higher", "lower"
        return f"more {self.noun}", f"less {self.noun}"

    @property
    def noun(self) -> str:
        return {"cpu": "CPU"}.get(self.group, self.group)


def _latency(name: str, file: str, title: str, sent: bool = False) -> Metric:
    prefix = "latency_from_sent_" if sent else "latency_"
    shown = f"{title} from sent" if sent else title
    return Metric(f"{name}{'-sent' * sent}", f"{prefix}{file}_ns", shown, "us", 1e-3, -1, "latency", sent)


LATENCIES = (
    ("mean", "mean", "mean latency"),
    ("p50", "p50", "P50"),
    ("p90", "p90", "P90"),
    ("p99", "p99", "P99"),
    ("p99.9", "p99_9", "P99.9"),
)
METRICS = (
    Metric("throughput", "throughput_per_second", "throughput", "calls/s", 1, 1, "throughput"),
    *(_latency(*of) for of in LATENCIES),
    *(_latency(*of, sent=True) for of in LATENCIES),
    *(
        Metric(f"{end}-cpu", f"{end}_cpu_per_rpc_ns", f"{end} CPU per call", "us", 1e-3, -1, "cpu")
        for end in ("client", "server")
    ),
    *(
        Metric(f"{end}-{name}", f"{end}_{key}_per_rpc", f"{end} {title} per call", unit, 1, -1, "allocations")
        for end in ("client", "server")
        for name, key, title, unit in (
            ("allocations", "allocations", "allocations", ""),
            ("allocated", "allocated_bytes", "allocated", "bytes"),
        )
    ),
    Metric("both-allocations", "allocations_per_rpc", "allocations per call, both ends", "", 1, -1, "allocations"),
    Metric("both-allocated", "allocated_bytes_per_rpc", "allocated per call, both ends", "bytes", 1, -1, "allocations"),
    *(
        Metric(
            f"client-{way}", f"client_bytes_{way}_per_second", f"bytes {way} by the client", "MB/s", 1e-6, 0, "traffic"
        )
        for way in ("sent", "received")
    ),
    Metric("messages", "messages_per_second", "messages of streams", "1/s", 1, 0, "traffic"),
)
GROUPS = tuple(dict.fromkeys(metric.group for metric in METRICS))
BY_NAME = {metric.name: metric for metric in METRICS}
THROUGHPUT = BY_NAME["throughput"]
