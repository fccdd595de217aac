"""How far an experiment is: a bar with the time left on a terminal, else a line per unit. On standard error."""

from __future__ import annotations

import os
import sys
from typing import Any

from cqbench import plan

BAR = "{desc} |{bar}| {percentage:3.0f} %, {elapsed} gone, {remaining} left"
DEFAULT_COLUMNS = 100


class Progress:
    """Counts in the seconds that the units should take. One thread."""

    def __init__(self, units: int, unit_seconds: float) -> None:
        self.units = units
        self.unit_seconds = unit_seconds
        self.begun = 0
        self.name = ""
        self.bar: Any = _bar(units * unit_seconds) if sys.stderr.isatty() and units else None

    def begin(self, name: str) -> None:
        """The next unit starts."""
        self.begun += 1
        self.name = name
        if self.bar is not None:
            self.bar.set_description_str(self._head(), refresh=False)
        self.tick(0.0)

    def tick(self, elapsed_s: float) -> None:
        """The unit has run for that long."""
        if self.bar is not None:
            self.bar.n = (self.begun - 1) * self.unit_seconds + min(elapsed_s, self.unit_seconds)
            self.bar.refresh()

    def end(self, outcome: str, remarkable: bool) -> None:
        """The unit has ended. A bar is interrupted for what is remarkable only."""
        if self.bar is None:
            left = plan.duration((self.units - self.begun) * self.unit_seconds)
            self.say(f"{self._head()}: {outcome}; {left} left")
            return
        self.tick(self.unit_seconds)
        if remarkable:
            self.say(f"{self._head()}: {outcome}")

    def say(self, text: str) -> None:
        """A line above the bar."""
        if self.bar is not None:
            self.bar.clear()
        print(f"== {text}", file=sys.stderr, flush=True)
        if self.bar is not None:
            self.bar.refresh()

    def close(self) -> None:
        """Leaves no bar behind."""
        if self.bar is not None:
            self.bar.leave = False
            self.bar.close()

    def _head(self) -> str:
        return f"[{self.begun}/{self.units}] {self.name}"


def _bar(total_seconds: float) -> Any:
    from tqdm import tqdm

    tqdm.monitor_interval = 0  # no thread of its own beside the processes that are started
    width: dict[str, Any] = {"dynamic_ncols": True} if _columns() else {"ncols": DEFAULT_COLUMNS, "nrows": 24}
    return tqdm(total=total_seconds, bar_format=BAR, file=sys.stderr, smoothing=0, **width)


def _columns() -> int:
    """0 where the terminal does not say; tqdm would draw nothing then."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except OSError:
        return 0
