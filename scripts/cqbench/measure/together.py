"""Several programs that are started together and waited for, such as the client processes of one run."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from cqbench.measure.group import Group
from cqbench.measure.processes import TICK_S, Finished, Interrupt, Patience


@dataclass
class Started:
    """A process, where it writes to, and why it was killed; '' where it was not."""

    process: Group
    log: Path
    why: str = ""

    def finished(self) -> Finished:
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return Finished(self.process.returncode, "", text, self.why)


def run_all(
    commands: Sequence[list[str]],
    logs: Path,
    interrupt: Interrupt,
    patience_s: float,
    grace_s: float,
    tick: Callable[[float], None] = lambda _elapsed_s: None,
    passed_on: int = signal.SIGINT,
) -> list[Finished]:
    """All at once, to their ends; what each printed is in logs/N.log. One that fails does not end the others.

    Signals as in processes.Patience: the first is passed on to all, as passed_on.
    """
    with ExitStack() as stack:
        started = []
        for i, command in enumerate(commands):
            log = logs / f"{i}.log"
            with log.open("w", encoding="utf-8") as file:
                try:
                    process = Group(command, file, subprocess.STDOUT)
                except OSError as error:
                    return [Finished(127, "", "", f"cannot run {command[0]}: {error.strerror}")]
            started.append(Started(process, log))
            stack.callback(process.end)
        patience = Patience(interrupt, patience_s, grace_s, lambda: _signal(started, passed_on))
        _wait(started, patience, tick)
        return [one.finished() for one in started]


def _wait(started: Sequence[Started], patience: Patience, tick: Callable[[float], None]) -> None:
    while left := _alive(started):
        if why := patience.ended():
            for one in left:
                one.why = why
                one.process.end()
            return
        tick(patience.elapsed_s())
        with suppress(subprocess.TimeoutExpired):
            left[0].process.wait(TICK_S)


def _alive(started: Sequence[Started]) -> list[Started]:
    return [one for one in started if one.process.poll() is None]


def _signal(started: Sequence[Started], number: int) -> None:
    for one in _alive(started):
        one.process.send_signal(number)
