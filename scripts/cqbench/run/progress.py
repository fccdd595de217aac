"""How far an experiment is: a bar with the time left on a terminal, else a line now and then. On standard error."""

from __future__ import annotations

import sys
import time
from typing import Any

from cqbench.measure import layout

LINE_EVERY_S = 10.0


class Progress:
    """Counts in the seconds that the runs should take. One thread."""

    def __init__(self, runs: int, run_seconds: float) -> None:
        self.runs = runs
        self.run_seconds = run_seconds
        self.begun = 0
        self.name = ""
        self.said = time.monotonic()
        self.bar: Any = _bar(runs * run_seconds) if sys.stderr.isatty() and runs else None

    def add(self, runs: int) -> None:
        """There are more than was known."""
        self.runs += runs
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], total=self.runs * self.run_seconds)

    def begin(self, name: str) -> None:
        """The next run starts."""
        self.begun += 1
        self.name = name
        self.tick(0.0)

    def tick(self, elapsed_s: float) -> None:
        """A run has taken this long so far."""
        if self.bar is not None:
            done = (self.begun - 1) * self.run_seconds + min(elapsed_s, self.run_seconds)
            left = layout.duration(self.runs * self.run_seconds - done)
            self.bar.update(self.bar.task_ids[0], completed=done, description=self._head(), left=left)
            self.bar.refresh()

    def end(self, outcome: str, remarkable: bool) -> None:
        """The run has ended. Prints its outcome at once if it is remarkable."""
        if self.bar is not None:
            self.tick(self.run_seconds)
            if remarkable:
                self.say(f"{self._head()}: {outcome}")
        elif remarkable or self.begun == self.runs or time.monotonic() - self.said >= LINE_EVERY_S:
            self.said = time.monotonic()
            left = layout.duration((self.runs - self.begun) * self.run_seconds)
            self.say(f"{self._head()}: {outcome}; {left} left")

    def say(self, text: str) -> None:
        """A line above the bar."""
        if self.bar is not None:
            self.bar.console.print(f"== {text}", markup=False, highlight=False, soft_wrap=True)
        else:
            print(f"== {text}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Leaves no bar behind."""
        if self.bar is not None:
            self.bar.stop()

    def _head(self) -> str:
        return f"[{self.begun}/{self.runs}] {self.name}"


def _bar(total_seconds: float) -> Any:
    """Draws only on request: needs no thread next to the programs. None: it cannot draw."""
    from rich import progress
    from rich.console import Console
    from rich.table import Column

    console = Console(stderr=True)
    if console.is_dumb_terminal:
        return None
    columns = (
        progress.TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True)),
        progress.BarColumn(bar_width=None, table_column=Column(ratio=1)),
        progress.TextColumn("{task.percentage:3.0f} %, {task.fields[left]} left", table_column=Column(no_wrap=True)),
    )
    bar = progress.Progress(*columns, console=console, auto_refresh=False, transient=True, expand=True)
    bar.add_task("", total=total_seconds, left="")
    bar.start()
    return bar
