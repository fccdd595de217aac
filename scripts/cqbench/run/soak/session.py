"""The soak itself: rounds of cases against servers that live through all of them, and one that does not."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from cqbench.analysis.soak import CLIENT, SERVERS, Record, Round
from cqbench.formats.figures import THROUGHPUT
from cqbench.formats.point import Measured
from cqbench.measure.group import Group
from cqbench.measure.processes import Failed, Interrupt, Server
from cqbench.measure.session import Session, measured, result, say
from cqbench.model.series import Repetition
from cqbench.run.soak import cases, vitals
from cqbench.run.soak.vitals import Vitals

CASE_S, WARMUP_S, REFERENCE_S = 0.5, 0.1, 1.0
RESTARTED_S = 3.0  # of the case whose server is restarted in its midst
PATIENCE_S = 60.0
# Settings of glibc: one heap, whose free end returns to the system. With an arena for each thread, memory grows in
# steps for hours, as random cases make other threads hold the most; a leak would be lost in that.
ALLOCATOR = ("MALLOC_ARENA_MAX=1", "MALLOC_MMAP_THRESHOLD_=65536", "MALLOC_TRIM_THRESHOLD_=65536")
RECORDED = ("latency_p50_ns", "latency_p99_ns", THROUGHPUT)


class Soak:
    """Says its progress, a line each."""

    def __init__(self, bin: Path, folder: Path, seed: int, interrupt: Interrupt) -> None:
        self.bin, self.folder, self.interrupt = bin, folder, interrupt
        self.session = Session(interrupt)
        self.chance = random.Random(seed)
        self.record = Record()
        self.begin = time.monotonic()

    def run(self, seconds: float) -> None:
        """Warms up, then whole rounds, at least one, until the time is over or a signal comes. Raises ServerFailed."""
        with ExitStack() as stack:
            steady = {api: stack.enter_context(self._server(api, api)) for api in SERVERS}
            lasting = self._lasting_client(stack.enter_context(self._server("callback", "of-client")), seconds)
            stack.callback(lasting.end)
            self._warm_up(steady)
            number = 0
            while (number == 0 or time.monotonic() < self.begin + seconds) and not self.interrupt.signum:
                number += 1
                self._round(number, steady, lasting.pid)
                left = max(0.0, self.begin + seconds - time.monotonic())
                say(f"round {number}: {self.record.calls} calls, {left / 60:.0f} min left")
            self._end(lasting)

    def _server(self, api: str, name: str) -> Server:
        queues = [] if api == "callback" else ["--num-cqs", "2"]
        program = str(self.bin / "grpc_ping_server")
        return Server(["env", *ALLOCATOR, program, "--api", api, *queues, "--drain", "1"], self.folder / f"{name}.log")

    def _lasting_client(self, server: Server, seconds: float) -> Group:
        """Runs one window that outlasts the soak, if a window can be that long: the client keeps results in memory."""
        times = ("--warmup", "1", "--interval", str(min(24 * 3600.0, 2 * seconds + 3600)), "--repetitions", "1000")
        command = ["env", *ALLOCATOR, str(self.bin / "grpc_ping_client"), "--host", server.address, *cases.LASTING]
        return Group([*command, *times, "--format", "json"], subprocess.PIPE, subprocess.PIPE)

    def _end(self, lasting: Group) -> None:
        """It must have lived, and no call have failed."""
        lasting.send_signal(signal.SIGINT)
        stdout, stderr = lasting.output(PATIENCE_S)
        points = measured(stdout)
        failed = sum(point.failed for point in points)
        self.record.calls += sum(point.completed for point in points)
        if failed or not points:
            self.record.failures.append(f"{CLIENT}: {failed} failed calls of {len(points)} points: {stderr[-500:]}")

    def _warm_up(self, steady: dict[str, Server]) -> None:
        for case in cases.warm_up():
            for api, server in steady.items():
                if self.interrupt.signum:
                    return
                self._case(api, server, case.flags)
        say(f"warmed up: {self.record.calls} calls")

    def _round(self, number: int, steady: dict[str, Server], client: int) -> None:
        for case in cases.round_of(self.chance):
            for api in self.chance.sample(SERVERS, len(SERVERS)):
                if self.interrupt.signum:
                    return
                self._case(api, steady[api], case.flags)
        shown = {api: self._reference(api, server) for api, server in steady.items()}
        for api, server in steady.items():
            self._note(number, api, partial(vitals.at_rest, server.pid), shown[api])
        self._note(number, CLIENT, partial(vitals.read, client), {})
        self._restart(self.chance.choice(SERVERS))

    def _client(self, server: Server, flags: tuple[str, ...], seconds: float, **more: Any) -> Measured:
        """The only point. more: as of Session.run(). Raises Failed."""
        times = ("--warmup", str(WARMUP_S), "--interval", str(seconds), "--format", "json")
        command = [str(self.bin / "grpc_ping_client"), "--host", server.address, *flags, *times]
        return result(self.session.run(command, PATIENCE_S, **more).stdout).points[0]

    def _case(self, api: str, server: Server, flags: tuple[str, ...], seconds: float = CASE_S) -> Measured | None:
        """Measures a case. A failed case is noted in words; against a server that lives, no case may fail."""
        try:
            point = self._client(server, flags, seconds)
        except Failed as error:
            self._fail(f"{api}: {' '.join(flags)}: {error}")
            return None
        finally:
            self.record.cases += not self.interrupt.signum
        self.record.calls += point.completed
        return point

    def _fail(self, words: str) -> None:
        """Notes a failure, unless a signal ended the run."""
        if not self.interrupt.signum:
            self.record.failures.append(words)

    def _reference(self, api: str, server: Server) -> dict[str, float | None]:
        self._case(api, server, cases.SETTLING)
        found = self._case(api, server, cases.REFERENCE, REFERENCE_S)
        return {key: Repetition(found, None).value(key) if found else None for key in RECORDED}

    def _note(self, number: int, process: str, look: Callable[[], Vitals], shown: dict[str, float | None]) -> None:
        if self.interrupt.signum:
            return
        try:
            held = look()
        except OSError as error:
            self.record.failures.append(f"{process} is gone: {error.strerror}")
            return
        at_s = time.monotonic() - self.begin
        self.record.rounds.append(Round(number, round(at_s, 1), process, asdict(held), shown))

    def _restart(self, api: str) -> None:
        """A case whose server is killed in its midst and is soon there again: the client has to see it through."""
        if self.interrupt.signum:
            return
        with self._server(api, f"restarted-{api}") as server:
            server.command[-1] = server.address.rpartition(":")[2]  # the same port again
            steps = iter((lambda: os.kill(server.pid, signal.SIGKILL), server.stop, server.start))
            case = self.chance.choice(cases.round_of(self.chance))
            try:
                tick = partial(_step, steps)
                self._client(server, case.flags, RESTARTED_S, tick=tick, may_fail=True)
            except Failed as error:
                self._fail(f"{api}, restarted: {case.words}: {error}")
            self.record.restarts += 1
            try:
                self._client(server, cases.REFERENCE, CASE_S)
            except Failed as error:
                self._fail(f"{api}, after its restart: {error}")


def _step(steps: Iterator[Callable[[], object]], elapsed: float) -> None:
    """From the middle on, one at a time."""
    if elapsed > RESTARTED_S / 3 and (step := next(steps, None)):
        step()
