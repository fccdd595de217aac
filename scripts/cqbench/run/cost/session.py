"""Runs the programs of a cost profile, one end under a tool at a time, and reads what was counted."""

from __future__ import annotations

import re
import resource
import socket
import time
from collections import Counter
from pathlib import Path

from cqbench.analysis.cost import callgrind, strace
from cqbench.analysis.cost.counts import Counts, Run, Seen, added, total
from cqbench.analysis.cost.libraries import Program
from cqbench.analysis.cost.profile import CLIENT, INSTRUCTIONS, PROGRAM, SAMPLES, SERVER, SYSCALLS, TIME
from cqbench.formats.result import Document
from cqbench.measure import session as measure
from cqbench.measure.processes import Failed, Finished, Interrupt, Server
from cqbench.measure.programs import SID_SHARED
from cqbench.measure.session import result
from cqbench.run.cost import archives, perf_script, plan
from cqbench.run.cost.kept import Folder
from cqbench.run.cost.plan import Asked, Step

SERVED = re.compile(r"^served (\d+) calls: (\d+) ok, (\d+) failed; (\d+) messages answered$", re.MULTILINE)
PATIENCE_S = 900.0
LOG_TIMEOUT_S = 20.0
# The server's, the same in every cost profile: a call names it, and the library looks names up by their hash.
PORTS = range(21370, 21470)
INSIDE = Path("/cqbench/build")  # what scripts/newgrpc.sh calls build/sid


class Slow(Server):
    """A server under a tool: it takes longer to come, and to write down what it counted."""

    start_timeout_s = 120.0
    stop_timeout_s = 120.0

    def __init__(self, command: list[str], log: Path, port: int) -> None:
        super().__init__(command, log)
        self.command[-1] = f"{port}"


class Port:
    """One that nobody listens at, and that no other profile on this machine takes while this lives."""

    def __init__(self, before: int = 0) -> None:
        """before: of a cost profile that is resumed, which it has to be again. Raises Failed."""
        self._mine = socket.socket(socket.AF_UNIX)  # its name is a lock that goes when we go
        self.number = next((number for number in ([before] if before else PORTS) if self._take(number)), 0)
        if before and not self.number:
            raise Failed(f"port {before}, at which the server of this profile was, is not free")
        if not self.number:
            raise Failed(f"no port from {PORTS[0]} to {PORTS[-1]} is free for the server")

    def _take(self, number: int) -> bool:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", number))
                self._mine.bind(f"\0cqbench-cost-{number}")
            except OSError:
                return False
        return True

    def release(self) -> None:
        self._mine.close()


class Session:
    """kept: gets what the client says of itself. folder: for the tools' files, which go when they have been read; seen
    by the programs, in the sid build under another name.
    """

    def __init__(
        self, asked: Asked, kept: Folder, interrupt: Interrupt, folder: Path, fixed: bool, port: Port | None
    ) -> None:
        self.asked = asked
        self.kept = kept
        self.placement = kept.placement
        self.interrupt = interrupt
        self.ends = measure.Session(interrupt)
        self.folder = folder
        self.fixed = fixed
        self.port = port.number if port else 0
        self.runs = 0
        self.programs: dict[str, Program] = {}

    def measure(self, step: Step) -> Run:
        """One end of ours, or a program of the user's, under a tool. Raises Failed, OSError."""
        self.runs += 1
        file = self.folder / f"{step.part}.{self.runs}"
        if step.side == PROGRAM:
            found = self._program(step, file)
        else:
            calls = self._both(step, file)
            # The server's main thread serves nothing: it watches the memory by the clock. The client's connects, which
            # chance gives to this thread or to one of the library's: its instructions count, and callgrind leaves its
            # waiting out.
            found = self._read(step, file, calls, apart=step.side == SERVER or step.part != INSTRUCTIONS)
        for left in self.folder.glob(f"{file.name}*"):
            left.unlink()
        return found

    def together(self, step: Step) -> str:
        """Both ends by themselves, all repetitions: the client's result. Raises Failed, OSError."""
        self.runs += 1
        done, _ = self._run_both(step, self.folder / f"{step.part}.{self.runs}")
        self._document(done)
        return done.stdout

    def tool(self, step: Step, side: str, file: Path) -> tuple[str, ...]:
        """Returns the prefix of that end's command."""
        if step.side != side:
            return ()
        return plan.wrapper(step.part, self._seen(file), self.fixed)

    def _seen(self, file: Path) -> str:
        """By a program that is run."""
        return str(INSIDE / self.folder.name / file.name if self.asked.build == "sid" else file)

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
        command = plan.server_command(self.asked, self.placement, step, self.tool(step, SERVER, file))
        server = Slow(command, log, self.port)
        with server:
            tool = self.tool(step, CLIENT, file)
            command = plan.client_command(self.asked, self.placement, step, tool, server.address)
            done = self.ends.run(command, PATIENCE_S)
        return done, server.output()

    def _document(self, done: Finished) -> Document:
        document = result(done.stdout)
        self.kept.keep_context(done.stdout)
        return document

    def _program(self, step: Step, file: Path) -> Run:
        before = _usage()
        self.ends.run(plan.program_command(self.asked, step, self.tool(step, PROGRAM, file)), PATIENCE_S)
        if step.part == TIME:
            return Run(step.calls, _usage() - before, Counter())
        return self._read(step, file, step.calls, apart=False)

    def _read(self, step: Step, file: Path, calls: int, apart: bool) -> Run:
        """apart: the main thread does nothing for calls, and is to be left out. Raises Failed."""
        try:
            seen = self._counts(step, file)
        except OSError as error:
            raise Failed(f"{plan.TOOLS[step.part]} left nothing: {error.strerror}") from None
        counts = seen.counts if apart else added([seen.counts, seen.main])
        if not counts:
            raise Failed(f"{plan.TOOLS[step.part]} counted nothing")
        stacks = seen.stacks if apart else seen.stacks + seen.main_stacks
        return Run(calls, counts, added([seen.clock, seen.main]) if apart else seen.clock, stacks)

    def _counts(self, step: Step, file: Path) -> Seen:
        name = Path(self.asked.words[0]).name if step.side == PROGRAM else f"grpc_ping_{step.side}"
        if step.part == INSTRUCTIONS:
            return callgrind.read(file, self._measured(name))
        if step.part == SAMPLES:
            reader = self.asked.programs.command("sid", "perf", ()) if self.asked.build == "sid" else ["perf"]
            return perf_script.read(reader, self._seen(file), self._measured(name))
        assert step.part == SYSCALLS
        give_up = time.monotonic() + LOG_TIMEOUT_S
        while not strace.ended(file) and time.monotonic() < give_up:
            time.sleep(0.02)
        with file.open(encoding="utf-8", errors="replace") as lines:
            return strace.parse(lines)

    def _measured(self, name: str) -> Program:
        """Raises OSError."""
        if name not in self.programs:
            sid = self.asked.build == "sid"
            nm = self.asked.programs.command("sid", "nm", ()) if sid else ["nm"]
            self.programs[name] = archives.read(nm, SID_SHARED / "bin" if sid else self.asked.programs.bin, name)
        return self.programs[name]


def _usage() -> Counts:
    """Returns the CPU time of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    figures = {
        "cpu-user-ns": round(used.ru_utime * 1e9),
        "cpu-system-ns": round(used.ru_stime * 1e9),
        "voluntary-switches": used.ru_nvcsw,
        "involuntary-switches": used.ru_nivcsw,
    }
    return Counter({total(name): value for name, value in figures.items()})
