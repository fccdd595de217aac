"""Programs that run to their end, signals, and the server."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from cqbench.measure import group
from cqbench.measure.group import Group

START_TIMEOUT_S = 20.0
TICK_S = 0.25
GRACE_S = 15.0  # after a signal, for a program to hand over what it has
Self = TypeVar("Self", bound="Service")  # typing has one from Python 3.11 on


class Failed(RuntimeError):
    """A program did not do what is needed; the text is one line."""


class ServerFailed(Failed):
    """The server did not come up."""


class Interrupt:
    """Takes SIGINT, SIGTERM and SIGHUP; they are then noticed only where somebody looks."""

    def __init__(self) -> None:
        self.signum = 0
        self.count = 0
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup stays in force
                signal.signal(number, self._note)

    def _note(self, number: int, _frame: object) -> None:
        self.signum = self.signum or number
        self.count += 1

    @property
    def exit_code(self) -> int:
        """128 + the signal that came first; 0 when none has."""
        return 128 + self.signum if self.signum else 0


@dataclass(frozen=True)
class Finished:
    """How a command ended. returncode: negative when a signal ended it. why: '' when it ended by itself."""

    returncode: int
    stdout: str
    stderr: str
    why: str = ""

    def last_line(self) -> str:
        """The last line of stderr, or of stdout if stderr is empty."""
        lines = [line.strip() for line in (self.stderr.strip() or self.stdout).splitlines() if line.strip()]
        return lines[-1] if lines else "it printed nothing"

    def complaint(self) -> str:
        """One line on what went wrong: the last line it wrote to stderr, and how it ended."""
        ended = f"killed by signal {-self.returncode}" if self.returncode < 0 else f"exit status {self.returncode}"
        return self.why or (f"{self.last_line()} ({ended})" if self.stderr.strip() else ended)


class Agenda(Protocol):
    """Actions while a program runs."""

    def seconds_left(self) -> float:
        """Until something is to be done; infinity when nothing is."""

    def act(self, pid: int) -> None:
        """Does what is due. pid: of the program."""


class Patience:
    """When a program is told to end, and when it is killed. A signal to us is passed on once, so that the program can
    hand over what it has; a second signal, and the end of the patience, which a signal shortens, kill it.
    """

    def __init__(self, interrupt: Interrupt, patience_s: float, grace_s: float, pass_on: Callable[[], object]) -> None:
        """grace_s: what is left from the first signal on."""
        self.interrupt, self.patience_s, self.grace_s = interrupt, patience_s, grace_s
        self.pass_on = pass_on
        self.begin = time.monotonic()
        self._give_up_at = self.begin + patience_s
        self._seen = 0

    def elapsed_s(self) -> float:
        return time.monotonic() - self.begin

    def ended(self) -> str:
        """Why the program is to be killed; '' while it may go on."""
        now = time.monotonic()
        if self.interrupt.count > self._seen:
            if self._seen == 0:
                self.pass_on()
                self._give_up_at = min(self._give_up_at, now + self.grace_s)
            self._seen = self.interrupt.count
        if self._seen > 1 or now > self._give_up_at:
            return "killed: interrupted" if self._seen else f"killed: it had not ended after {self.patience_s:.0f} s"
        return ""


def run(
    command: list[str],
    interrupt: Interrupt,
    patience_s: float,
    tick: Callable[[float], None] = lambda _elapsed_s: None,
    agenda: Agenda | None = None,
) -> Finished:
    """Runs to the end. tick is called about four times a second with the seconds gone by.

    Signals as in Patience: SIGINT is passed on. What is killed is killed with all that it started.
    """
    try:
        process = Group(command, subprocess.PIPE, subprocess.PIPE)
    except OSError as error:
        return Finished(127, "", "", f"cannot run {command[0]}: {error.strerror}")
    try:
        patience = Patience(interrupt, patience_s, GRACE_S, lambda: process.send_signal(signal.SIGINT))
        why = _wait(process, patience, tick, agenda)
        stdout, stderr = process.output()
        return Finished(process.returncode, stdout, stderr, why)
    finally:
        process.end()


def _wait(process: Group, patience: Patience, tick: Callable[[float], None], agenda: Agenda | None) -> str:
    """Until it has ended or was killed. '' when it ended by itself, else why it was killed."""
    ended_at: float | None = None  # from then on it is what it started that holds its output open
    while True:
        try:
            process.communicate(timeout=min(TICK_S, max(0.0, agenda.seconds_left())) if agenda else TICK_S)
            return ""
        except subprocess.TimeoutExpired:
            pass
        if agenda:
            agenda.act(process.pid)
        if process.poll() is not None:
            now = time.monotonic()
            ended_at = ended_at or now
            if process.returncode < 0:
                process.kill()
                return ""
            if now > ended_at + group.LINGER_S:
                process.kill()
                return f"killed: what it started still ran {group.LINGER_S:.0f} s after its end"
        if why := patience.ended():
            process.kill()
            return why
        tick(patience.elapsed_s())


class Service:
    """A program that runs next to others until it is stopped. Use as a context manager; stopped when that ends."""

    what = ""  # it is, for messages
    start_timeout_s = START_TIMEOUT_S
    stop_timeout_s = group.STOP_TIMEOUT_S

    def __init__(self, command: list[str], log: Path) -> None:
        """log: the file that gets what it prints; it is created or emptied by start()."""
        self.command = command
        self.log = log
        self.address = ""  # HOST:PORT, once it listens
        self._process: Group | None = None

    def __enter__(self: Self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Returns when it can be used."""
        raise NotImplementedError

    def launch(self, command: list[str]) -> Group:
        """The process, from now on this service's. Raises OSError."""
        with self.log.open("w", encoding="utf-8") as log:
            self._process = Group(command, log, subprocess.STDOUT)
        return self._process

    @property
    def target(self) -> str:
        """Where a client connects."""
        return self.address

    @property
    def pid(self) -> int:
        """0 when it never ran."""
        return self._process.pid if self._process is not None else 0

    def stop(self) -> None:
        """Returns when it is gone; nothing happens when it never ran."""
        if self._process is not None:
            self._process.stop(self.stop_timeout_s)

    def signal(self, number: int) -> None:
        """Nothing happens when it has ended."""
        if self._process is not None:
            self._process.send_signal(number)

    def kill(self) -> None:
        """SIGKILL, also to what it started. Returns when it is gone."""
        if self._process is not None:
            self._process.end()

    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def ends_within(self, seconds: float) -> bool:
        """True if the process has ended or ends soon: a killed process is not gone at once."""
        if self._process is None:
            return True
        try:
            self._process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def output(self) -> str:
        """Returns the output so far."""
        return self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""

    def last_line(self) -> str:
        return next((line for line in reversed(self.output().splitlines()) if line.strip()), "it printed nothing")


class Server(Service):
    """grpc_ping_server, or one that says as much, from a command without --port. address: of its gRPC, once it runs."""

    what = "server"

    def __init__(self, command: list[str], log: Path, http: bool = False, port: int = 0) -> None:
        """http: it has an HTTP port as well, which it names in a line `HTTP on HOST:PORT`. port: 0 is a free one."""
        super().__init__([*command, "--port", f"{port}"], log)
        self.http = http
        self.http_address = ""  # HOST:PORT, where it has one and runs

    def start(self) -> None:
        """Returns when it accepts calls. Raises ServerFailed."""
        try:
            process = self.launch(self.command)
        except OSError as error:
            raise ServerFailed(f"cannot run {self.command[0]}: {error.strerror}") from None
        give_up_at = time.monotonic() + self.start_timeout_s
        while time.monotonic() < give_up_at:
            self.address = self._told("listening on")
            self.http_address = self._told("HTTP on") if self.http else ""
            if self.address and (self.http_address or not self.http):
                return
            if process.poll() is not None:
                raise ServerFailed(f"the server ended with status {process.returncode}: {self.last_line()}")
            time.sleep(0.02)
        what = "does not say `HTTP on HOST:PORT`" if self.address else "did not listen"
        raise ServerFailed(f"the server {what} within {self.start_timeout_s:.0f} s: {self.last_line()}")

    @property
    def target(self) -> str:
        return self.http_address if self.http else self.address

    @property
    def port(self) -> int:
        """Returns the port of its gRPC, once it runs."""
        return int(self.address.rpartition(":")[2])

    def _told(self, words: str) -> str:
        """Returns the text after `words` on a line; '' if there is none yet."""
        found = re.search(rf"^{words} (\S+)$", self.output(), re.MULTILINE)
        return found[1] if found else ""

    def description(self) -> str:
        """The line in which it states its configuration; '' when it has not."""
        return next((line for line in self.output().splitlines() if line.startswith("gRPC ")), "")
