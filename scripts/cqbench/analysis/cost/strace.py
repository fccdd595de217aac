"""Parses the output of strace -f: system calls by name, and the traffic of sockets.

The name says what is done to a descriptor or a futex where that makes a difference: 'write (eventfd)' wakes a thread,
'write (socket)' sends.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from cqbench.analysis.cost.counts import SYSCALL, THREAD, Counts, Key, Seen, total

# "123 futex(0x7f, FUTEX_WAKE_PRIVATE, 1) = 1", "123 read(5<socket:[9]>,  <unfinished ...>",
# "123 <... read resumed>"", 16) = 3". With -y a descriptor has what it is behind it.
LINE = re.compile(r"^(\d+) +(?:<\.\.\. (\w+) resumed>|(\w+)\()(.*)$")
RETURNED = re.compile(r"\) += (-?\d+|\?|0x[0-9a-f]+)(?: ([A-Z]+\b))?[^)]*(?:\([^)]*\))?$")
DESCRIPTOR = re.compile(r"^(?:\w+=)?\d+<([^>]*)")
NAMING = re.compile(r'PR_SET_NAME, "([^"]*)"')
# Threads of gRPC's timers: they wake as time goes by, however many calls there are. Names are cut off at 15 characters.
CLOCKS = ("grpc_global_tim", "timer_manager")
# How abseil's locks wait before they sleep for good: whoever finds one taken yields once and naps for 10 us. Chance.
WAITING = re.compile(r"sched_yield |clock_nanosleep [^{]*\{tv_sec=0, tv_nsec=10000\}")
UNNAMED = "without a name"
FUTEX = re.compile(r"FUTEX_([A-Z]+)")
WRITES = ("write", "writev", "send", "sendto", "sendmsg", "sendmmsg", "sendfile", "pwrite64", "pwritev")
READS = ("read", "readv", "recv", "recvfrom", "recvmsg", "recvmmsg", "pread64", "preadv")
SOCKETS = ("socket:", "TCP:", "TCPv6:", "UDP:", "UDPv6:", "UNIX", "NETLINK")
OF_SOCKETS = ("send", "sendto", "sendmsg", "sendmmsg", "recv", "recvfrom", "recvmsg", "recvmmsg")
WAKING = ("futex (wake)", "write (eventfd)")  # of a futex: it says how many threads
NOTHING = ("EAGAIN", "EINTR", "ETIMEDOUT")
# Those of which there were none are 0, and not absent.
COUNTED = (
    *("syscalls", "lock-waiting-syscalls", "wake-ups", "failed-syscalls"),
    *("socket-writes", "socket-bytes-written", "socket-reads", "socket-bytes-read"),
)
TAIL = 4096  # bytes of a log in which its last line is


def command(file: str) -> tuple[str, ...]:
    """Returns the prefix of a program's command line. The tracer is not its parent: signals reach the program
    itself.
    """
    return ("strace", "-D", "-f", "-q", "-y", "-s", "16", "-e", "signal=none", "-o", file)


def parse(lines: Iterable[str]) -> Seen:
    """The main thread begins the file. Lines that are no calls (signals, ends of threads) are passed over."""
    threads, names, begun = defaultdict[str, Counts](Counter), dict[str, str](), dict[str, str]()
    for line in lines:
        found = LINE.match(line)
        if not found:
            continue
        thread, resumed, name, rest = found.groups()
        counts = threads[thread]
        if name == "prctl" and (named := NAMING.match(rest)):
            names[thread] = named[1]
        if resumed and thread not in begun:
            continue
        if resumed:
            full = begun.pop(thread)
        elif WAITING.match(f"{name} {rest}"):
            counts[total("lock-waiting-syscalls")] += 1
            continue
        else:
            full = _named(name, rest)
            counts[Key(SYSCALL, full)] += 1
            counts[total("syscalls")] += 1
        if rest.endswith("<unfinished ...>"):
            begun[thread] = full
        else:
            _returned(counts, full, rest)
    return _sorted(threads, names)


def _sorted(threads: Mapping[str, Counts], names: Mapping[str, str]) -> Seen:
    log = Seen(counts=Counter({total(name): 0 for name in COUNTED}))
    for place, (thread, counts) in enumerate(threads.items()):
        name = names.get(thread, "")
        (log.main if place == 0 else log.clock if name in CLOCKS else log.counts).update(counts)
        if place > 0 and name not in CLOCKS:
            log.counts[Key(THREAD, name or UNNAMED)] += counts[total("syscalls")]
    return log


def _named(name: str, rest: str) -> str:
    """With what it is done to, where that says more."""
    if name == "futex":
        operation = FUTEX.search(rest)
        return f"{name} ({operation[1].lower()})" if operation else name
    if name not in (*WRITES, *READS) or name in OF_SOCKETS:
        return name
    described = DESCRIPTOR.match(rest)
    if not described:
        return name
    return f"{name} ({_kind(described[1])})"


def _kind(described: str) -> str:
    if described.startswith(SOCKETS):
        return "socket"
    if described.startswith("anon_inode:"):
        return described.removeprefix("anon_inode:").strip("[]")
    return "pipe" if described.startswith("pipe:") else "file"


def _returned(counts: Counts, full: str, rest: str) -> None:
    """Bytes of sockets; calls that brought nothing."""
    returned = RETURNED.search(rest)
    if not returned:
        return
    name, _, what = full.partition(" (")
    if returned[2] in NOTHING:
        counts[total("failed-syscalls")] += 1
    if full in WAKING and returned[1].isdigit():
        counts[total("wake-ups")] += int(returned[1]) if name == "futex" else 1
    if name not in OF_SOCKETS and what != "socket)":
        return
    done = int(returned[1]) if returned[1].lstrip("-").isdigit() else -1
    if done < 0:
        return
    way = "written" if name in WRITES else "read"
    counts[total(f"socket-{'writes' if name in WRITES else 'reads'}")] += 1
    counts[total(f"socket-bytes-{way}")] += done


def ended(file: Path) -> bool:
    """True if the tracer has seen the end of the program. Raises OSError."""
    with file.open(encoding="utf-8", errors="replace") as lines:
        first = next(lines, "").split(" ", 1)[0]
    with file.open("rb") as data:
        data.seek(max(0, file.stat().st_size - TAIL))
        tail = data.read().decode(errors="replace")
    return bool(first) and re.search(rf"^{first} +\+\+\+ (exited|killed)", tail, re.MULTILINE) is not None
