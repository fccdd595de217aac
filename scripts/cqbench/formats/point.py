"""A point of a result: one load of one repetition."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from cqbench.formats import offered
from cqbench.formats.figures import CATALOGUE
from cqbench.formats.model import FIGURES, Amount, Count, Line, Model, Offset, Positive, without_nulls
from cqbench.formats.offered import Load
from cqbench.formats.ranks import Ranks
from cqbench.formats.reasons import Reason, saturated
from cqbench.formats.text import one_line

# Other numbers that are kept by their names in the file.
COUNTS = (
    *(f"calls_{what}" for what in ("due", "sent", "dropped", "unsent", "ok")),
    *("unfinished", "latency_censored_min_age_ns"),
)
BUCKETS = ("bucket_failed", *(f"bucket_latency_{what}_ns" for what in ("p50", "p99", "max")))  # 0 where no call ended


class CallError(Model):
    """Failed calls of one status code."""

    code: Line
    count: Count
    first_message: Line

    def __str__(self) -> str:
        """'UNAVAILABLE x 3 (first message)'."""
        said = f" ({self.first_message})" if self.first_message else ""
        return one_line(f"{self.code} x {self.count}{said}")


def _not_below_zero(figures: dict[str, float]) -> dict[str, float]:
    for key, value in figures.items():
        if value < 0 and not (key in CATALOGUE and CATALOGUE[key].signed):
            raise ValueError(f"'{key}' is below 0")
    return figures


def _latency(key: str, prefix: str = "latency_") -> Any:
    return Field(default=None, alias=f"{prefix}{key}_ns")


class CpuUse(Model):
    """The use of one CPU of an end."""

    steal_share: Amount = 0.0  # taken by the hypervisor


class LowerBound(Model):
    """Measured once in each repetition: a call at 1 in flight with less of gRPC."""

    name: Line
    p50_ns: Amount | None = Field(default=None, alias="latency_p50_ns")  # None where nothing was measured


class Measured(Model):
    """One load of one repetition. Figures are None where nothing was measured. Latency counts from when a call was due;
    in a closed loop it was sent then.
    """

    inflight: Positive  # calls in flight; in an open loop the most that may be outstanding
    target_rate: Annotated[float, Field(gt=0, lt=2**63)] | None = Field(default=None, alias="target_rate_per_second")
    run_type: Literal["iteration"]  # Google Benchmark's word for a repetition
    repetition: Count = Field(alias="repetition_index")
    throughput_per_second: Amount
    window_ns: Amount | None = None
    p50_ns: Amount | None = _latency("p50")
    p90_ns: Amount | None = _latency("p90")
    p99_ns: Amount | None = _latency("p99")
    p999_ns: Amount | None = _latency("p99_9")
    max_ns: Amount | None = _latency("max")
    sent_p50_ns: Amount | None = _latency("p50", "latency_from_sent_")  # from when a call was sent; open loop only
    sent_p99_ns: Amount | None = _latency("p99", "latency_from_sent_")
    connections: Count | None = None
    expected_connections: Count
    completed: Count
    failed: Count
    partial: bool
    failure: Line = Field(default="", alias="error_message")  # why there is nothing; empty when there is
    failed_calls: list[CallError] = Field(alias="errors")
    warnings: list[Reason]  # why it is unreliable
    notes: list[Reason] = []  # what explains it
    schedule_hash: Line = ""  # of the due times; open loop only
    start_time: Line = ""
    bucket_ns: Annotated[float, Field(gt=0, lt=2**63)] | None = None
    bucket_completed: list[Amount] = []  # by slice of time; the others are as long or empty
    bucket_failed: list[Amount] = []
    bucket_failed_by_code: dict[Line, list[Amount]] = {}  # of codes that occurred
    bucket_latency_p50_ns: list[Amount] = []
    bucket_latency_p99_ns: list[Amount] = []
    bucket_latency_max_ns: list[Amount] = []
    completed_per_slot: list[Amount] = []
    client_cpus: list[CpuUse] = []
    server_cpus: list[CpuUse] = []
    ranks: Ranks | None = None  # of which client processes it was merged
    latency_samples: Count | None = None
    latency_histogram: str | None = None
    # Figures of the catalogue and counts, by their names in the file.
    figures: Annotated[dict[str, Offset], AfterValidator(_not_below_zero)] = {}

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        told = without_nulls(data)
        if told.get("completed") == 0 and not told.get("error_message"):
            told["error_message"] = "no call succeeded"
        # A value that should be a number stays as it is, so that the model refuses it.
        return {**told, FIGURES: {key: value for key, value in told.items() if key in CATALOGUE or key in COUNTS}}

    @model_validator(mode="after")
    def _buckets_are_as_long_as_each_other(self) -> Measured:
        number = len(self.bucket_completed)
        lists = {key: getattr(self, key) for key in BUCKETS} | self.bucket_failed_by_code
        for key, values in lists.items():
            if len(values) not in ((0, number) if key in BUCKETS else (number,)):
                raise ValueError(f"'{key}' is not as long as 'bucket_completed'")
        if number and self.bucket_ns is None:
            raise ValueError("'bucket_ns' is missing")
        return self

    @property
    def load(self) -> Load:
        return offered.closed(self.inflight) if self.target_rate is None else offered.open_loop(self.target_rate)

    @property
    def throughput(self) -> float | None:
        """Per second."""
        return self.throughput_per_second if self.completed and not self.failure else None

    @property
    def whole(self) -> bool:
        """Neither cut short nor without figures. Failed calls are counted in `failed`."""
        return not self.partial and self.throughput is not None

    @property
    def saturated(self) -> list[Reason]:
        return saturated(self.notes)

    @property
    def errors(self) -> list[str]:
        return [str(error) for error in self.failed_calls]

    @property
    def error_codes(self) -> list[str]:
        return [error.code for error in self.failed_calls]
