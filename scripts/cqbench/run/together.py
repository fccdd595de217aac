"""One point by several client processes: started together, waited for, their files merged into one result."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from cqbench.formats.source import BadDocument, decode, read_bytes
from cqbench.measure.group import Group
from cqbench.measure.processes import TICK_S, Finished, Interrupt
from cqbench.measure.ranks import launch, merge

# After a signal, to hand over what there is. Longer than mpirun's two waits, so that it is never killed before it has
# killed a rank that hangs; shorter than the 30 s after which Slurm kills a job whose time is over (KillWait).
GRACE_S = 3.0 * launch.STOP_S


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
    tick: Callable[[float], None] = lambda _elapsed_s: None,
    passed_on: int = signal.SIGINT,
) -> list[Finished]:
    """All at once, to their ends; what each printed is in logs/N.log. One that fails does not end the others.

    Signals as in processes.run(): the first is passed on to all, as passed_on, a second kills them.
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
        _wait(started, interrupt, patience_s, tick, passed_on)
        return [one.finished() for one in started]


def _wait(
    started: Sequence[Started],
    interrupt: Interrupt,
    patience_s: float,
    tick: Callable[[float], None],
    passed_on: int,
) -> None:
    begin = time.monotonic()
    give_up_at = begin + patience_s
    seen = 0
    while left := [one for one in started if one.process.poll() is None]:
        now = time.monotonic()
        if interrupt.count > seen:
            if seen == 0:
                for one in left:
                    one.process.send_signal(passed_on)
                give_up_at = min(give_up_at, now + GRACE_S)
            seen = interrupt.count
        if seen > 1 or now > give_up_at:
            for one in left:
                one.why = "killed: interrupted" if seen else f"killed: it had not ended after {patience_s:.0f} s"
                one.process.end()
            return
        tick(now - begin)
        with suppress(subprocess.TimeoutExpired):
            left[0].process.wait(TICK_S)


def complaint(of: launch.Launch, done: Sequence[Finished]) -> str:
    """Returns one line about the first process that failed; '' if none did."""
    bad = [(i, one) for i, one in enumerate(done) if one.returncode or one.why]
    if not bad:
        return ""
    first, one = bad[0]
    who = f"rank {first}" if of.launcher == launch.NONE else of.launcher
    more = f"; and {len(bad) - 1} more ranks" if len(bad) > 1 else ""
    return f"{who}: {one.complaint()}{more}"


def collect(client: Path, folder: Path, output: Path, cpus: Sequence[str]) -> str:
    """Merges what rank files there are into output. What is wrong with them, one line; '' for nothing. Raises OSError.

    client: the program that merges. cpus: as check_cpus() has them. A rank that was killed may have left half a file,
    or one without a point: it is missing.
    """
    usable, problems = [], []
    for path in sorted(folder.glob("rank-*.json")):
        try:
            found = decode(read_bytes(path), str(path))
        except BadDocument as error:
            problems.append(str(error))
            continue
        if isinstance(found, dict) and found.get("rank_reports"):
            usable.append(path)
        else:
            problems.append(f"{path}: there is no point in it")
    if usable:
        why = merge.merge(client, usable, output)
        problems += [why] if why else []
        if not why:
            merge.check_cpus(output, cpus)
    return problems[0] if problems else ("" if usable else "no rank left a result")
