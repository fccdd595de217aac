"""cqbench cost on the real ping, with few calls, and Ctrl-C."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cost_programs import BIN, cost, figure, read
from cqbench.analysis.cost import profile as model
from jsonschema import Draft202012Validator

pytestmark = pytest.mark.usefixtures("cost_tools")

SCHEMA = json.loads((Path(model.__file__).parent / "profile.schema.json").read_text())


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("profile") / "profile.json"
    done = cost(
        "--bin",
        BIN,
        "--calls",
        100,
        "--repetitions",
        1,
        "--output",
        path,
        "--folded",
        path.with_name("stacks.folded"),
        "--",
        "--api",
        "cq",
    )
    assert done.returncode == 0 or "samples of the" in done.stderr, done.stderr
    return path


def test_the_profile_of_a_ping(profile: Path) -> None:
    data = read(profile)
    assert not list(Draft202012Validator(SCHEMA).iter_errors(data))
    assert {one["part"] for one in data["absent"]} <= {"samples"} and not data["partial"]  # where nobody may sample
    for side in ("client", "server"):
        # One message is one write, as it was since gRPC has TCP; Ack frames and pings of HTTP/2 come on top.
        assert figure(data, side, "total", "socket-writes")["median"] == pytest.approx(1, abs=0.1)
        assert 2 <= figure(data, side, "total", "syscalls")["median"] <= 20  # a write, a read, and waiting
        assert 10_000 < figure(data, side, "total", "instructions")["median"] < 500_000
        assert figure(data, side, "library", "gRPC")["median"] > 5_000
        counted = figure(data, side, "total", "allocations")["median"]
        assert figure(data, side, "total", "allocation-calls")["median"] == pytest.approx(counted, rel=0.1)
        assert figure(data, side, "total", "cpu-user-ns")["median"] > 0
        # One queue, one thread: what it asks for it frees itself.
        assert figure(data, side, "total", "frees-elsewhere")["median"] < 0.5
        assert figure(data, side, "total", "wake-ups")["median"] < 0.5
    # The client's main thread waits for the calls and reports on them, which is none of them.
    assert "libz" not in {f["name"] for f in data["figures"] if f["side"] == "client" and f["kind"] == "library"}
    assert not [f for f in data["figures"] if "SleepUntil" in f["name"]]
    # Neither does the server's, which watches the memory by the clock.
    assert not [f for f in data["figures"] if f["name"] in ("rt_sigtimedwait", "pread64 (file)")]
    assert not [f for f in data["figures"] if "MemoryGuard::Resident" in f["name"]]
    assert data["work"]["workload"] == "ping" and data["setting"]["api"] == "cq"


def test_the_stacks_of_a_ping(profile: Path) -> None:
    """The longest way there is: from where a thread begins through the program and the library into the kernel."""
    if any(one["part"] == "samples" for one in read(profile)["absent"]):
        pytest.skip("this kernel lets nobody sample")
    lines = profile.with_name("stacks.folded").read_text().splitlines()
    for side in ("client", "server"):
        own = [line for line in lines if line.startswith(f"{side};")]
        assert [line for line in own if ";clone" in line and "AsyncNextInternal" in line and "epoll_wait" in line]
    assert all(line.rsplit(" ", 1)[1].isdigit() and len(line) < 20_000 for line in lines)


def test_the_plan_says_what_would_be_run() -> None:
    done = cost("--plan", "--bin", BIN, "--server-flags", "--api callback")
    assert done.returncode == 0
    assert "strace" in done.stdout and "valgrind" in done.stdout and "--api callback" in done.stdout


def test_flags_that_a_program_does_not_take_are_refused_before_anything_runs() -> None:
    for arguments, said in ((["--", "--luck"], "--luck"), (["--server-flags", "--api luck"], "luck")):
        done = cost("--bin", BIN, *arguments)
        assert (done.returncode, done.stdout) == (2, "") and said in done.stderr, done.stderr
        assert len(done.stderr.splitlines()) == 1
