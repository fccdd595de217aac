"""Runs the programs of a bill, one end under a tool at a time, and reads what was counted."""

from __future__ import annotations

import re
import resource
import time
from collections import Counter
from pathlib import Path

from cqbench.cost import callgrind, perf, plan, strace
from cqbench.cost.counts import Counts, Run, added, total
from cqbench.cost.model import CLIENT, INSTRUCTIONS, PROGRAM, SAMPLES, SERVER, SYSCALLS, TIME
from cqbench.cost.plan import Asked, Step
from cqbench.files.result import Document, parse
from cqbench.files.source import BadDocument
from cqbench.files.text import one_line
from cqbench.run import cpus
from cqbench.run.plan import ROOT
from cqbench.run.processes import Finished, Interrupt, Server, ServerFailed, run

SERVED = re.compile(r"^served (\d+) calls: (\d+) ok, (\d+) failed; (\d+) messages answered$", re.MULTILINE)
PATIENCE_S = 900.0
LOG_TIMEOUT_S = 20.0
INSIDE = Path("/cqbench/build")  # what scripts/newgrpc.sh calls build/sid


class Failed(RuntimeError):
    """A run did not come off; one line."""


class Slow(Server):
    """A server under a tool: it takes longer to come, and to write down what it counted."""

    start_timeout_s = 120.0
    stop_timeout_s = 120.0


class Session:
    """folder: for the tools' files; seen by the programs, in the sid build under another name."""

    def __init__(
        self, asked: Asked, placement: cpus.Placement, interrupt: Interrupt, folder: Path, fixed: bool
    ) -> None:
        self.asked = asked
        self.placement = placement
        self.interrupt = interrupt
        self.folder = folder
        self.fixed = fixed
        self.document: Document | None = None  # the first of the client that was read
        self.runs = 0

    def measure(self, step: Step) -> Run:
        """One end of ours, or a program of the user's, under a tool. Raises Failed."""
        self.runs += 1
        file = self.folder / f"{step.part}.{self.runs}"
        if step.side == PROGRAM:
            return self._program(step, file)
        calls = self._both(step, file)
        return self._read(step, file, calls, apart=step.side == CLIENT)

    def together(self, step: Step) -> Document:
        """Both ends by themselves, all repetitions. Raises Failed."""
        self.runs += 1
        done, _ = self._run_both(step, self.folder / f"{step.part}.{self.runs}")
        return self._document(done)

    def tool(self, step: Step, side: str, file: Path) -> tuple[str, ...]:
        """What that end is put behind."""
        if step.side != side:
            return ()
        seen = INSIDE / self.folder.name / file.name if self.asked.build == "sid" else file
        return plan.wrapper(step.part, str(seen), self.fixed)

    def _both(self, step: Step, file: Path) -> int:
        """The number of calls, which the server counts exactly. Raises Failed."""
        done, served = self._run_both(step, file)
        document = self._document(done)
        counted = SERVED.search(served)
        if not counted:
            raise Failed("the server did not say how many calls it served")
        calls, _, failed, messages = map(int, counted.groups())
        if failed:
            raise Failed(f"{failed} of {calls} calls failed")
        return messages if document.context.get("shape") == "bidi" else calls

    def _run_both(self, step: Step, file: Path) -> tuple[Finished, str]:
        """The client's end, and what the server printed. Raises Failed."""
        log = self.folder / f"{file.name}.server.log"
        server = Slow(plan.server_command(self.asked, self.placement, step, self.tool(step, SERVER, file)), log)
        try:
            with server:
                tool = self.tool(step, CLIENT, file)
                command = plan.client_command(self.asked, self.placement, step, tool, server.address)
                done = run(command, self.interrupt, PATIENCE_S)
        except ServerFailed as error:
            raise Failed(one_line(str(error))) from None
        if done.returncode != 0 or done.why:
            raise Failed(one_line(done.complaint()))
        return done, server.output()

    def _document(self, done: Finished) -> Document:
        try:
            document = parse(done.stdout.encode(), "the client's result")
        except BadDocument as error:
            raise Failed(str(error)) from None
        if document.partial or not all(p.completed for p in document.points):
            raise Failed("interrupted" if self.interrupt.signum else "the client measured nothing")
        self.document = self.document or document
        return document

    def _program(self, step: Step, file: Path) -> Run:
        before = _usage()
        done = run(plan.program_command(self.asked, step, self.tool(step, PROGRAM, file)), self.interrupt, PATIENCE_S)
        if done.returncode != 0 or done.why:
            raise Failed(one_line(done.complaint()))
        if step.part == TIME:
            return Run(step.calls, _usage() - before, Counter())
        return self._read(step, file, step.calls, apart=False)

    def _read(self, step: Step, file: Path, calls: int, apart: bool) -> Run:
        """apart: the main thread does nothing for calls. Raises Failed."""
        try:
            others, main, clock = self._counts(step, file)
        except OSError as error:
            raise Failed(f"{plan.TOOLS[step.part]} left nothing: {error.strerror}") from None
        counts = others if apart else added([others, main])
        if not counts:
            raise Failed(f"{plan.TOOLS[step.part]} counted nothing")
        return Run(calls, counts, added([clock, main]) if apart else clock)

    def _counts(self, step: Step, file: Path) -> tuple[Counts, Counts, Counts]:
        """Of threads that serve calls, of the main one, and of those that follow the clock."""
        if step.part in (INSTRUCTIONS, SAMPLES):
            name = Path(self.asked.words[0]).name if step.side == PROGRAM else f"grpc_ping_{step.side}"
            read = callgrind.read if step.part == INSTRUCTIONS else perf.read
            return (*read(file, name), Counter())
        assert step.part == SYSCALLS
        give_up = time.monotonic() + LOG_TIMEOUT_S
        while not strace.ended(file) and time.monotonic() < give_up:
            time.sleep(0.02)
        with file.open(encoding="utf-8", errors="replace") as lines:
            log = strace.parse(lines)
        return log.counts, log.main, log.clock


def _usage() -> Counts:
    """Of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    figures = {
        "cpu-user-ns": round(used.ru_utime * 1e9),
        "cpu-system-ns": round(used.ru_stime * 1e9),
        "voluntary-switches": used.ru_nvcsw,
        "involuntary-switches": used.ru_nivcsw,
    }
    return Counter({total(name): value for name, value in figures.items()})


def sid_folder() -> Path:
    """Where the sid build's programs and we both see files."""
    return ROOT / "build/sid"
