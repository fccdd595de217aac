"""Client processes that measured together: what each says of itself in its own file, and what their merged file says.

All times are nanoseconds of rank 0's steady clock.
"""

from __future__ import annotations

from pydantic import Field, model_validator

from cqbench.formats.model import Amount, Count, Line, Model, Offset, Positive
from cqbench.formats.reasons import Reason, saturated


class Rank(Model):
    """Which of how many processes a file is of, and when its window really was: None where none was agreed on."""

    index: Count
    count: Positive
    host: Line
    pid: Count = 0
    offset_ns: Offset | None = None  # to be added to this one's clock
    offset_bound_ns: Amount | None = None
    drift_ns_per_s: Offset | None = None
    window_open_ns: Offset | None = None
    window_close_ns: Offset | None = None
    announced_open_ns: Offset | None = None
    announced_close_ns: Offset | None = None
    cpus_allowed: Line = ""

    @model_validator(mode="after")
    def _is_one_of_them(self) -> Rank:
        if self.index >= self.count:
            raise ValueError(f"index {self.index} of {self.count} ranks: the first has index 0")
        return self


class OneRank(Model):
    """A row of the merged file."""

    rank: Count
    host: Line
    throughput_per_second: Amount = 0.0
    p99_ns: Amount | None = None
    cores_used: Amount | None = None
    cpus_allowed: Line = ""
    connections: Count | None = None
    warnings: list[Reason] = []
    notes: list[Reason] = []

    @property
    def saturated(self) -> list[Reason]:
        return saturated(self.notes)


class Ranks(Model):
    """The ranks of a merged point."""

    count: Positive
    missing: list[Count] = []
    window_ns: Amount
    skew_open_ns: Amount = 0.0
    skew_close_ns: Amount = 0.0
    per_rank: list[OneRank] = Field(min_length=1)

    @property
    def hosts(self) -> list[str]:
        """Each once, in the order of the ranks."""
        return list(dict.fromkeys(one.host for one in self.per_rank))
