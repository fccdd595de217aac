"""A program in a group of its own, which is ended whole and never waited for without a limit. Linux only.

A tool such as perf or a shell runs the program that matters as its child. Whoever kills the tool alone leaves that
child running, and the child keeps the pipes of the tool open: reading them to their end then takes for ever.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO

STOP_TIMEOUT_S = 10.0
LINGER_S = 20.0  # for the rest of a group whose first process has ended, such as a tracer that still writes its log
PIPES_S = 2.0  # to read what is left in the pipes of a group that was killed: only who left the group holds them then
PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


def _die_with_parent(parent: int) -> Callable[[], None]:
    def prepare() -> None:
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before the call above
            os._exit(1)

    return prepare


class Group(subprocess.Popen[str]):
    """The first process of a session and group of its own: a Ctrl-C at the terminal reaches this program only.

    The kernel ends that process when this one dies; what it started in turn, only kill() ends.
    """

    def __init__(self, command: Sequence[str], stdout: int | IO[str], stderr: int | IO[str]) -> None:
        """Raises OSError."""
        self._group_killed = False
        super().__init__(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=_die_with_parent(os.getpid()),
        )

    def kill(self) -> None:
        """SIGKILL to the whole group; once, because later the group's number may be that of another one."""
        if not self._group_killed:
            self._group_killed = True
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def end(self) -> None:
        """Kills the group if its first process runs, or was killed. Returns when that process is gone."""
        code = self.poll()
        if code is None or code < 0:
            self.kill()
            self.wait()

    def stop(self, timeout_s: float = STOP_TIMEOUT_S) -> None:
        """SIGTERM to the first process, SIGKILL to all when that is not enough. One that stands still goes on."""
        if self.poll() is None:
            self.terminate()
            self.send_signal(signal.SIGCONT)
            with suppress(subprocess.TimeoutExpired):
                self.wait(timeout_s)
        self.end()

    def output(self, timeout_s: float = PIPES_S) -> tuple[str, str]:
        """stdout and stderr to their ends. After timeout_s the group is killed, and what was read is returned."""
        try:
            return self.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
        try:
            return self.communicate(timeout=PIPES_S)
        except subprocess.TimeoutExpired as error:
            for pipe in (self.stdout, self.stderr):
                if pipe:
                    pipe.close()
            self.wait()
            return _text(error.stdout), _text(error.stderr)


def _text(read: str | bytes | None) -> str:
    """The exception has bytes whatever the pipes were opened as."""
    return read.decode(errors="replace") if isinstance(read, bytes) else read or ""


def ask(command: Sequence[str], timeout_s: float) -> subprocess.CompletedProcess[str]:
    """Runs a program that ends by itself; returns its output and status. Raises OSError, subprocess.TimeoutExpired."""
    process = Group(command, subprocess.PIPE, subprocess.PIPE)
    try:
        stdout, stderr = process.communicate(timeout=timeout_s)
    except BaseException:
        process.kill()
        process.output()
        raise
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)
