"""The client where something runs out: threads, memory, disk, descriptors, or whoever reads what it prints."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cqbench.measure.processes import Server

ROOT = Path(__file__).parents[2]
MIB = 1 << 20
NOBODY = 54321  # whom limits on processes hold for, and who has none
# Far above what a loaded machine takes; the connect timeout is 2 s.
AT_ONCE_S = 15.0
TWO_POINTS = "--api cq --inflight-list 1,2 --warmup 0.05 --interval 0.2 --connect-timeout 2 --format json"


def program(name: str) -> str:
    return str(Path(os.environ.get("CQBENCH_BIN_DIR", ROOT / "build/release/bin")) / name)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if not Path(program("grpc_ping_client")).exists():
        pytest.skip(f"there is no {program('grpc_ping_client')}")
    with Server([program("grpc_ping_server")], tmp_path_factory.mktemp("server") / "log") as server:
        yield server.address


Ran = subprocess.CompletedProcess[str]


def run(address: str, flags: str, prepare: Callable[[], None] = lambda: None, **more: Any) -> tuple[Ran, float]:
    """How it ended, and after how many seconds."""
    begin = time.monotonic()
    command = [program("grpc_ping_client"), "--host", address, *flags.split()]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    done = subprocess.run(command, text=True, timeout=60, preexec_fn=prepare, check=False, **streams)
    return done, time.monotonic() - begin


def limit(which: int, value: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(which, (value, value))


def the_line(done: Ran) -> str:
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("grpc_ping_client: ")
    return lines[0]


def points(text: str) -> list[dict[str, Any]]:
    measured: list[dict[str, Any]] = json.loads(text)["benchmarks"]
    return measured


@pytest.mark.parametrize("mib", [60, 120, 200, 300])
def test_little_address_space_ends_with_one_line(mib: int, address: str, tmp_path: Path) -> None:
    done, took = run(address, f"{TWO_POINTS} --output {tmp_path}/r.json", limit(resource.RLIMIT_AS, mib * MIB))
    assert took < AT_ONCE_S
    assert not list(tmp_path.glob("*.tmp"))
    if done.returncode == 0:
        assert mib > 200, "what is refused is what cannot work"
    else:
        assert done.returncode == 1
        assert all("ulimit -v" in line for line in done.stderr.splitlines()), done.stderr  # one for each point, at most
        assert len(done.stderr.splitlines()) <= (1 if mib <= 200 else 2)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user, whom nothing else belongs to")
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_few_threads_end_with_one_line(threads: int, address: str) -> None:
    def prepare() -> None:
        resource.setrlimit(resource.RLIMIT_NPROC, (threads, threads))
        os.setresuid(NOBODY, NOBODY, NOBODY)

    try:
        done, took = run(address, TWO_POINTS, prepare)
    except PermissionError:
        pytest.skip("another user may not run the programs where they are")
    assert (done.returncode, took < AT_ONCE_S) == (1, True)
    assert f"too few threads: gRPC needs about 10, {threads - 1} could be started" in the_line(done)
    assert "ulimit -u" in done.stderr


THREADS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*run)(void*), void* with) {
  static _Atomic int made;
  int (*real)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) = dlsym(RTLD_NEXT, "pthread_create");
  return made++ < 10 ? real(thread, how, run, with) : EAGAIN;
}
"""


def preloaded(folder: Path, code: str) -> dict[str, str]:
    """The environment in which the program has these functions instead of the C library's."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    (folder / "code.c").write_text(code)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "code.so", folder / "code.c"], check=True)
    return {**os.environ, "LD_PRELOAD": str(folder / "code.so")}


def test_a_library_that_hangs_for_want_of_a_thread_is_ended(address: str, tmp_path: Path) -> None:
    """The ten that are tried can be had, and none after them: gRPC waits for its first for ever."""
    flags = "--api cq --connect-timeout 1 --warmup 0.05 --interval 0.2"
    done, took = run(address, flags, env=preloaded(tmp_path, THREADS))
    assert done.returncode == 1
    assert took < 1 + 2 * AT_ONCE_S
    assert "gRPC hangs" in the_line(done)


def test_a_payload_larger_than_the_memory_is_refused(address: str) -> None:
    done, took = run(address, "--workload echo --inflight 100000 --request-bytes 64MiB --response-bytes 64MiB")
    assert (done.returncode, took < AT_ONCE_S, done.stdout) == (1, True, "")
    assert "the payload of 100000 calls in flight is 12500.0 GiB" in the_line(done)
    done, _ = run(address, "--workload echo --inflight 64 --request-bytes 64MiB", limit(resource.RLIMIT_AS, 2048 * MIB))
    assert done.returncode == 1
    assert "(ulimit -v)" in the_line(done)


def test_a_limit_on_files_loses_nothing(address: str, tmp_path: Path) -> None:
    done, _ = run(address, f"{TWO_POINTS} --output {tmp_path}/r.json", limit(resource.RLIMIT_FSIZE, 512))
    assert done.returncode == 1
    first, last = done.stderr.splitlines()
    assert "File too large; the run goes on" in first
    assert last.endswith("File too large: the result is on standard output")
    assert len(points(done.stdout)) == 2
    assert not list(tmp_path.iterdir())


def test_a_full_disk_loses_nothing(address: str) -> None:
    done, _ = run(address, f"{TWO_POINTS} --output /dev/full")
    assert done.returncode == 1
    assert "No space left on device: the result is on standard output" in the_line(done)
    assert len(points(done.stdout)) == 2


def test_output_that_nobody_reads_is_an_error_after_the_file_is_whole(address: str, tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    reader, writer = os.pipe()
    os.close(reader)
    with Path("/dev/full").open("w") as full:
        for stdout, why in ((writer, "Broken pipe"), (full.fileno(), "No space left on device")):
            done, _ = run(address, f"{TWO_POINTS} --output {file}", stdout=stdout)
            assert done.returncode == 1
            assert the_line(done).endswith(f"cannot write to standard output: {why}")
            assert not json.loads(file.read_text())["context"]["partial"]
            file.unlink()
    os.close(writer)


def test_a_terminal_that_goes_away_ends_the_run_with_what_there_is(address: str, tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    flags = f"--api cq --inflight-list 1,2 --warmup 0.05 --interval 2 --output {file}"
    # The tests may run under nohup, which children inherit.
    command = ["env", "--default-signal=HUP", program("grpc_ping_client"), "--host", address, *flags.split()]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as client:
        give_up_at = time.monotonic() + 60
        while not file.exists() and time.monotonic() < give_up_at:
            time.sleep(0.02)
        client.send_signal(signal.SIGHUP)
        client.communicate(timeout=60)
    assert client.returncode == 128 + signal.SIGHUP
    result = json.loads(file.read_text())
    assert result["context"]["partial"]
    assert result["benchmarks"][0]["completed"] > 0


CLOCKS = """
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec* now) {
  static _Atomic long wall, boot;
  const int status = syscall(SYS_clock_gettime, clock, now);
  if (clock == CLOCK_REALTIME) now->tv_sec += 3600 * (wall++ % 7 - 3);
  if (clock == CLOCK_BOOTTIME) now->tv_sec += 10 * (boot++ / 3 % 2);
  return status;
}
"""


def test_clocks_that_are_set_and_a_machine_that_slept(address: str, tmp_path: Path) -> None:
    """Wall time jumps by hours at each look; the machine sleeps for 10 s between three looks and the next three."""
    done, _ = run(address, TWO_POINTS, env=preloaded(tmp_path, CLOCKS))
    assert done.returncode == 0, done.stderr
    for point in points(done.stdout):
        assert point["failed"] == 0
        assert 0.15e9 < point["window_ns"] < 5e9
        assert point["latency_max_ns"] < 5e9
        assert {"code": "suspended", "text": "the machine slept for 10.0 s within the window"} in point["warnings"]
