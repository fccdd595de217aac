"""What a point offers to the server: calls in flight in a closed loop, a rate in an open one. The two never mix."""

from __future__ import annotations

from typing import NamedTuple


class Load(NamedTuple):
    """number: calls in flight, or in an open loop calls per second. Ascending: closed loops first."""

    open: bool
    number: float

    @property
    def label(self) -> str:
        """As the client names a point."""
        return f"rate {rate(self.number)}" if self.open else f"in-flight {self.number:.0f}"

    @property
    def words(self) -> str:
        return f"{rate(self.number)} asked" if self.open else f"{self.number:.0f} in flight"

    @property
    def file_key(self) -> str:
        """'8', 'rate-2000'."""
        return f"rate-{self.number:.12g}".replace(".", "-") if self.open else f"{self.number:.0f}"


def closed(inflight: int) -> Load:
    return Load(False, inflight)


def open_loop(per_second: float) -> Load:
    return Load(True, per_second)


def rate(per_second: float) -> str:
    """'2000/s'."""
    return f"{per_second:.12g}/s"
