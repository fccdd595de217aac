"""cqbench cost finds what was made more expensive in the real server, exactly.

A library that is loaded before all others (LD_PRELOAD) stands in for sendmsg, which the server calls once for each
response if one call is in flight, and does known work there: turns of a loop of two instructions, allocations, writes
to /dev/null. The server itself is the one that is shipped; gRPC may be inside it. Only what is asked for differs
between two cost profiles; the stand-in is in both, so that its own instructions drop out. HTTP/2 pings and window
updates, which follow the clock, are a few further calls of sendmsg.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from cost_programs import BIN, cost, figure, read

pytestmark = pytest.mark.usefixtures("cost_tools")

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static long turns, blocks, writes;
static int sink;

static long asked(const char* name) {
  const char* value = getenv(name);
  return value ? atol(value) : 0;
}

/* Of the server only: the client has the library as well, and so have the tools. */
__attribute__((constructor)) static void begin(void) {
  if (strncmp(program_invocation_short_name, "grpc_ping_server", 16) != 0) return;
  turns = asked("PLANTED_TURNS");
  blocks = asked("PLANTED_BLOCKS");
  writes = asked("PLANTED_WRITES");
  sink = open("/dev/null", O_WRONLY);
}

__attribute__((noinline)) void planted_spin(long left) {
  if (left == 0) return;
#if defined(__x86_64__)
  __asm__ volatile("1: dec %0\n jnz 1b" : "+r"(left) : : "cc");
#else
  __asm__ volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(left) : : "cc");
#endif
}

ssize_t sendmsg(int fd, const struct msghdr* message, int flags) {
  static ssize_t (*next)(int, const struct msghdr*, int);
  if (!next) next = (ssize_t (*)(int, const struct msghdr*, int))dlsym(RTLD_NEXT, "sendmsg");
  planted_spin(turns);
  for (long i = 0; i < blocks; ++i) {
    void* volatile block = malloc(100);
    free(block);
  }
  for (long i = 0; i < writes; ++i) {
    if (write(sink, "planted", 7) != 7) abort();
  }
  return next(fd, message, flags);
}
"""
TURNS, MORE_TURNS, BLOCKS, WRITES = 1000, 1500, 3, 2
CALLS = {"instructions": 300, "allocations,syscalls": 1000}
PER_CALL = 0.02  # how far the calls of sendmsg for each call may be from 1
OF_A_TOTAL = 0.01  # together with other tests; alone two totals of the same thing differ by 0.002


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planted")
    source, built = folder / "planted.c", folder / "libplanted.so"
    source.write_text(SOURCE)
    flags = ("-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-fno-builtin")
    subprocess.run(["cc", *flags, "-o", str(built), str(source)], check=True, timeout=60)
    return built


def profile(
    library: Path, parts: str, monkeypatch: pytest.MonkeyPatch, turns: int, blocks: int = 0, writes: int = 0
) -> dict[str, Any]:
    """Returns the profile of the server with the planted work."""
    path = library.parent / f"{parts}-{turns}-{blocks}-{writes}.json"
    planted = {"TURNS": turns, "BLOCKS": blocks, "WRITES": writes}
    with monkeypatch.context() as environment:
        environment.setenv("LD_PRELOAD", str(library))
        for name, value in planted.items():
            environment.setenv(f"PLANTED_{name}", str(value))
        few = ("--side", "server", "--repetitions", 1, "--calls", CALLS[parts], "--only", parts)
        done = cost("--bin", BIN, *few, "--output", path)
    assert done.returncode == 0, done.stderr
    return read(path)


def difference(before: dict[str, Any], after: dict[str, Any], kind: str, name: str) -> float:
    return sum(
        sign * float(f["median"])
        for one, sign in ((before, -1), (after, 1))
        for f in one["figures"]
        if (f["kind"], f["name"]) == (kind, name)
    )


def test_instructions(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = (profile(library, "instructions", monkeypatch, turns) for turns in (TURNS, TURNS + MORE_TURNS))
    assert difference(before, after, "function", "planted_spin") == pytest.approx(2 * MORE_TURNS, rel=PER_CALL)
    assert difference(before, after, "library", "libplanted") == pytest.approx(2 * MORE_TURNS, rel=PER_CALL)
    whole = figure(before, "server", "total", "instructions")["median"]
    found = difference(before, after, "total", "instructions")
    assert found == pytest.approx(2 * MORE_TURNS, abs=OF_A_TOTAL * whole)


def test_allocations_and_writes(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = profile(library, "allocations,syscalls", monkeypatch, TURNS)
    after = profile(library, "allocations,syscalls", monkeypatch, TURNS, BLOCKS, WRITES)
    assert difference(before, after, "syscall", "write (file)") == pytest.approx(WRITES, rel=PER_CALL)
    assert difference(before, after, "total", "syscalls") == pytest.approx(WRITES, abs=0.05)
    assert difference(before, after, "total", "allocations") == pytest.approx(BLOCKS, abs=0.05)
    assert difference(before, after, "total", "allocated-bytes") == pytest.approx(BLOCKS * 100, rel=0.2)
