"""A program with known costs, and `cqbench cost` as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).parents[2] / "scripts"
BIN = Path(os.environ.get("CQBENCH_BIN_DIR", SCRIPTS.parent / "build/release/bin"))
# Arguments: calls, writes of a call, bytes of a write, allocations, turns of a loop of two instructions. If CPU_USED
# names a file, the program writes the CPU time that the kernel accounts to it there, in microseconds.
SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

__attribute__((noinline)) void spin(long turns) {
#if defined(__x86_64__)
  __asm__ volatile("1: dec %0\n jnz 1b" : "+r"(turns) : : "cc");
#else
  __asm__ volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(turns) : : "cc");
#endif
}

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const long calls = atol(argv[1]), writes = atol(argv[2]), bytes = atol(argv[3]), blocks = atol(argv[4]);
  static char buffer[65536];
  static void* block[1000];
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
  for (long call = 0; call < calls; ++call) {
    for (long i = 0; i < writes; ++i) {
      if (write(ends[0], buffer, bytes) != bytes) return 1;
    }
    if (read(ends[1], buffer, sizeof buffer) != writes * bytes) return 1;
    for (long i = 0; i < blocks; ++i) block[i] = malloc(100);
    for (long i = 0; i < blocks; ++i) free(block[i]);
    spin(atol(argv[5]));
  }
  if (getenv("CPU_USED")) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    FILE* file = fopen(getenv("CPU_USED"), "w");
    const long seconds = used.ru_utime.tv_sec + used.ru_stime.tv_sec;
    fprintf(file, "%ld", seconds * 1000000 + used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    fclose(file);
  }
  return 0;
}
"""


def compile_program(folder: Path) -> Path:
    """The program above."""
    source, program = folder / "costly.c", folder / "costly"
    source.write_text(SOURCE)
    subprocess.run(["cc", "-O1", "-o", program, source], check=True, timeout=60)
    return program


def cost(*arguments: object, command: str = "cost") -> subprocess.CompletedProcess[str]:
    """Its status, output and complaints."""
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    words = [sys.executable, "-m", "cqbench.cli", command, *map(str, arguments)]
    with tempfile.TemporaryDirectory() as results:
        if command == "cost" and not {"--resume", "--results"} & set(words):
            words[4:4] = ["--results", results]
        return subprocess.run(words, capture_output=True, text=True, timeout=300, env=environment, check=False)


def figure(profile: dict[str, Any], side: str, kind: str, name: str) -> dict[str, Any]:
    """The one of that name."""
    found = [f for f in profile["figures"] if (f["side"], f["kind"], f["name"]) == (side, kind, name)]
    assert len(found) == 1, (name, found)
    return dict(found[0])


def read(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(path.read_text())
    return data
