"""Makes the fault of a run while its client runs, at a known time of the client's window, and lifts it.

The client is told when to begin (--start-at), so both know when its window opens. What was really done when is noted
in the window's own time, by this process's clock just before the fault is made and just after it is lifted.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Sequence

from cqbench.experiment.faults import LEAD_S, Bandwidth, Fault, Lasting, Latency
from cqbench.formats import manifest
from cqbench.measure import sockets, toxiproxy
from cqbench.measure.processes import Failed, Interrupt, Server
from cqbench.measure.toxiproxy import Toxiproxy


class Injection:
    """The fault in one client's run; an Agenda. Use as a context manager: at its end nothing of the fault remains."""

    def __init__(
        self,
        fault: Fault,
        servers: Sequence[Server],
        another: Callable[[int], Server],
        proxy: Toxiproxy | None,
        warmup_s: float,
        interrupt: Interrupt,
    ) -> None:
        """servers: they run; the fault is the first one's. another: one that is as these, not started, for a port.
        proxy: between, for kinds that need one.
        """
        self.fault = fault
        self.server = servers[0]
        self.another = another
        self.proxy = proxy
        self.interrupt = interrupt
        self.start_at = time.time() + LEAD_S
        self.opens_at = self.start_at + warmup_s
        self.began: float | None = None
        self.ended: float | None = None
        self.problem = ""  # why it could not be made or lifted
        self._stopped = False
        self._followers: list[Server] = []
        self._steps = self._planned()

    def flags(self) -> list[str]:
        """Returns flags that make the client report when its warm-up begins."""
        return ["--ranks", "1", "--rank", "0", "--start-at", f"{self.start_at:.6f}"]

    def told(self) -> manifest.Fault:
        """For the manifest. Seconds from the opening of the window on; without those of what did not happen."""
        began_s, ended_s = (at and round(at - self.opens_at, 6) for at in (self.began, self.ended))
        return manifest.Fault(
            kind=self.fault.kind,
            words=self.fault.words,
            planned_s=self.fault.at,
            began_s=began_s,
            ended_s=ended_s,
        )

    def seconds_left(self) -> float:
        return self._steps[0][0] - time.time() if self._steps else math.inf

    def act(self, pid: int) -> None:
        """pid: the client's."""
        if self.interrupt.signum:
            self._steps.clear()
            self._go_on()
        while self._steps and self._steps[0][0] <= time.time():
            _, step = self._steps.pop(0)
            try:
                step(pid)
            except (Failed, OSError) as error:
                self.problem = f"the fault could not be made: {error}"
                self._steps.clear()

    def __enter__(self) -> Injection:
        return self

    def __exit__(self, *_: object) -> None:
        self._go_on()
        for server in self._followers:
            server.stop()

    def _planned(self) -> list[tuple[float, Callable[[int], None]]]:
        """When, and what, with the client's process."""
        begins = self.opens_at + self.fault.at
        makers: dict[str, Callable[[int], None]] = {
            "latency": self._slow,
            "bandwidth": self._slow,
            "reset": self._reset,
            "half-open": self._silence,
            "restart": self._restart,
            "goaway": self._hand_over,
            "stop": self._stop,
            "gone": self._kill,
        }
        lifters: dict[str, Callable[[int], None]] = {
            "latency": self._hasten,
            "bandwidth": self._hasten,
            "stop": self._continue,
            "gone": self._come_back,
        }
        steps = [(begins, makers[self.fault.kind])]
        if isinstance(self.fault, Lasting):
            steps.append((begins + self.fault.lasts, lifters[self.fault.kind]))
        return steps

    def _begin(self) -> None:
        self.began = time.time()

    def _end(self) -> None:
        self.ended = time.time()

    def _slow(self, _pid: int) -> None:
        assert self.proxy is not None
        self._begin()
        if isinstance(self.fault, Latency):
            self.proxy.add([toxiproxy.latency(self.fault.delay)])
        elif isinstance(self.fault, Bandwidth):
            self.proxy.add(toxiproxy.bandwidth(self.fault.kbytes_per_second))

    def _hasten(self, _pid: int) -> None:
        assert self.proxy is not None
        self.proxy.lift()
        self._end()

    def _reset(self, pid: int) -> None:
        _, theirs = sockets.oldest(pid, self.server.pid, self.server.port)
        self._begin()
        sockets.reset(theirs)
        self._end()

    def _silence(self, pid: int) -> None:
        ends = sockets.oldest(pid, self.server.pid, self.server.port)
        self._begin()
        for end in ends:
            sockets.silence(end)

    def _restart(self, _pid: int) -> None:
        self._begin()
        self.server.stop()
        self._come_back(_pid)

    def _kill(self, _pid: int) -> None:
        self._begin()
        self.server.kill()

    def _come_back(self, _pid: int) -> None:
        self._follow()
        self._end()

    def _hand_over(self, _pid: int) -> None:
        self._follow()
        self._begin()
        self.server.stop()
        self._end()

    def _follow(self) -> None:
        """Another server at the port of the first."""
        server = self.another(self.server.port)
        self._followers.append(server)
        server.start()

    def _stop(self, _pid: int) -> None:
        self._begin()
        self._stopped = True
        self.server.signal(signal.SIGSTOP)

    def _continue(self, _pid: int) -> None:
        self._go_on()
        self._end()

    def _go_on(self) -> None:
        if self._stopped:
            self._stopped = False
            self.server.signal(signal.SIGCONT)
