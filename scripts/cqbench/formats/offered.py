"""The load on the server: calls in flight in a closed loop, a rate in an open one, or, in a search for the highest
rate, many rates one after the other. These kinds never mix.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Load(NamedTuple):
    """number: calls in flight, or in an open loop calls per second. Ascending: closed loops first.

    search: what the highest rate has to meet, 'p99<2ms'; number is 0 then, and no point has this load.
    """

    open: bool
    number: float
    search: str = ""

    @property
    def label(self) -> str:
        """As the client names a point."""
        if self.search:
            return "find-rate"
        return f"rate {rate(self.number)}" if self.open else f"in-flight {self.number:.0f}"

    @property
    def words(self) -> str:
        if self.search:
            return f"highest rate with {self.search}"
        return f"{rate(self.number)} asked" if self.open else f"{self.number:.0f} in flight"

    @property
    def file_key(self) -> str:
        """'8', 'rate-2000', 'find-rate'."""
        if self.search:
            return "find-rate"
        return f"rate-{self.number:.12g}".replace(".", "-") if self.open else f"{self.number:.0f}"


def closed(inflight: int) -> Load:
    return Load(False, inflight)


def open_loop(per_second: float) -> Load:
    return Load(True, per_second)


def searched(objective: str) -> Load:
    return Load(True, 0.0, objective)


def rate(per_second: float) -> str:
    """'2000/s'."""
    return f"{per_second:.12g}/s"


def load_to_json(load: Load) -> dict[str, Any]:
    """{'inflight': 8}, of an open loop {'rate': 2000.0}, of a search {'find_rate': 'p99<2ms'}."""
    if load.search:
        return {"find_rate": load.search}
    return {"rate": float(load.number)} if load.open else {"inflight": int(load.number)}


def load_from_json(data: Any) -> Load | None:
    """None for what is not a load."""
    if not isinstance(data, dict) or len(data) != 1:
        return None
    ((key, number),) = data.items()
    if key == "find_rate":
        return searched(number) if isinstance(number, str) else None
    if isinstance(number, bool) or not isinstance(number, (int, float)) or key not in ("inflight", "rate"):
        return None
    return closed(int(number)) if key == "inflight" else open_loop(float(number))
