"""The client against a server of raw HTTP/2 frames that does what no server should: it lives, and the point says so."""

from __future__ import annotations

import json
import os
import resource
import signal
import struct
import subprocess
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import field as made
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest
from hostile_server import (
    BEGIN,
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    OK,
    PING,
    RESET,
    SETTINGS,
    WINDOW,
    Behaviour,
    HostileServer,
    Send,
    answer,
    field,
    frame,
    message,
)
from jsonschema import Draft202012Validator

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "scripts/cqbench/formats/result.schema.json").read_text())
CLIENT = Path(os.environ.get("CQBENCH_BIN_DIR", ROOT / "build/release/bin")) / "grpc_ping_client"
pytestmark = pytest.mark.skipif(not CLIENT.exists(), reason="the client is not built")
FLAGS = "--inflight 4 --warmup 0.05 --interval 0.4 --deadline 1 --connect-timeout 5 --format json"
MANY = field("x", b"a" * 100) * 100  # headers, 11 KB of them


def once(parts: Callable[[int], bytes]) -> Behaviour:
    return lambda send, stream: send(parts(stream))


def nothing(_send: Send, _stream: int) -> None:
    pass


def reset(code: int) -> Behaviour:
    return once(lambda s: frame(RESET, 0, s, struct.pack(">I", code)))


def endless_headers(send: Send, stream: int) -> None:
    send(frame(HEADERS, 0, stream, BEGIN))
    for _ in range(5000):
        send(frame(CONTINUATION, 0, stream, MANY))


def flood(each: bytes) -> Callable[[Send], None]:
    def on_connection(send: Send) -> None:
        for _ in range(300):
            send(each * 1000)

    return on_connection


def bomb(mib: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(bytes(1 << 20)) for _ in range(mib)) + packer.flush()


BOMB = bomb(64)  # made beforehand: that takes a part of the deadline


@dataclass(frozen=True)
class Case:
    """code: of every call that failed; '' where a call may simply get no answer in time."""

    name: str
    on_call: Behaviour
    code: str
    says: str = ""
    on_connection: Callable[[Send], None] = made(default=lambda send: None)
    flags: str = ""


GZIP = BEGIN + field("grpc-encoding", "gzip")
CASES = (
    Case("reset: refused", reset(7), "UNAVAILABLE", "RST_STREAM"),
    Case("reset: cancelled", reset(8), "CANCELLED", "RST_STREAM"),
    Case(
        "large headers",
        once(lambda s: frame(HEADERS, 0, s, BEGIN) + frame(CONTINUATION, END_HEADERS | END_STREAM, s, MANY + OK)),
        "RESOURCE_EXHAUSTED",
        "metadata size",
    ),
    Case("endless headers", endless_headers, "RESOURCE_EXHAUSTED", "metadata size"),
    Case("settings", nothing, "", on_connection=flood(frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 65535)))),
    Case("pings", nothing, "", on_connection=flood(frame(PING, 0, 0, bytes(8)))),
    Case("window overflow", once(lambda s: frame(WINDOW, 0, 0, struct.pack(">I", 0x7FFFFFFF)) * 2), ""),
    Case("more than the window", once(lambda s: frame(DATA, 0, s, bytes(16384)) * 1000), "", ""),
    Case("status 999", once(lambda s: answer(message(b""), s, field("grpc-status", "999"))), "UNKNOWN"),
    Case("status abc", once(lambda s: answer(message(b""), s, field("grpc-status", "abc"))), "UNKNOWN"),
    Case(
        "escapes",
        once(lambda s: answer(b"", s, field("grpc-status", "9") + field("grpc-message", "%1B[2J%0A%C2%9Bx"))),
        "FAILED_PRECONDITION",
        " [2J  x",
    ),
    # gRPC 1.51.1 aborts on these where it may retry.
    Case(
        "no status",
        once(lambda s: answer(message(b""), s, field("x", "y"))),
        "UNKNOWN",
        "No status",
        flags="--channel-arg grpc.enable_retries=0",
    ),
    Case("HTTP 500", once(lambda s: frame(HEADERS, 5, s, field(":status", "500"))), "UNKNOWN", "500"),
    Case(
        "too long",
        once(lambda s: answer(message(bytes(2000)), s)),
        "RESOURCE_EXHAUSTED",
        flags="--max-message-bytes 1kB",
    ),
    Case("no message", once(lambda s: answer(message(b"\xff" * 50), s)), "BAD_RESPONSE", "not a message"),
    Case(
        "gzip bomb",
        once(lambda s: answer(message(BOMB, compressed=True), s, OK, GZIP)),
        "RESOURCE_EXHAUSTED",
        "larger than max",
    ),
    Case("gone away", once(lambda s: frame(GOAWAY, 0, 0, bytes(8))), "UNAVAILABLE"),
    Case("bad HPACK", once(lambda s: frame(HEADERS, END_HEADERS, s, b"\xff" * 6)), "UNKNOWN"),
)


def grpc_version() -> str:
    return subprocess.run([CLIENT, "--version"], capture_output=True, text=True, check=True).stdout


def run(server: HostileServer, flags: str) -> tuple[int, str, dict[str, Any]]:
    """Exit status, standard error, the point; within 2 GiB of data, however much the server sends."""
    status, said, result = run_whole(server, flags)
    (point,) = result["benchmarks"] + result["not_measured"]
    return status, said, point


def run_whole(server: HostileServer, flags: str) -> tuple[int, str, dict[str, Any]]:
    """As run(), with the whole result."""
    done = subprocess.run(
        [CLIENT, "--host", server.address, *FLAGS.split(), *flags.split()],
        capture_output=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30)),
    )
    result = json.loads(done.stdout)
    assert [error.message for error in Draft202012Validator(SCHEMA).iter_errors(result)] == []
    return done.returncode, done.stderr.decode(), result


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_client_lives_and_says_what_happened(case: Case) -> None:
    with HostileServer(case.on_call, case.on_connection) as server:
        status, said, point = run(server, f"--api cq --no-evidence {case.flags}")
        assert status == 1
        assert len(said.splitlines()) == 1, said
        assert point["failed"] > 0
        # A slot whose call failed rests for 10 ms: 4 slots, half a second, and what is sent after that.
        # Answers that are there, but wrong, are taken as fast as any.
        assert point["failed"] <= 4 * 60 or case.code == "BAD_RESPONSE"
        if case.code:
            assert case.code in {error["code"] for error in point["errors"]}
        assert case.says in " ".join(error["first_message"] for error in point["errors"])


@pytest.mark.parametrize(
    ("stub", "body"),
    (("generated", message(b"\xff" * 50)), ("generic", message(b"\xff" * 50)), ("generated", b"")),
    ids=("generated", "generic", "nothing"),
)
def test_a_blocking_call_without_a_message_is_no_missing_method(stub: str, body: bytes) -> None:
    """Which is what the library's status says, with generated code."""
    with HostileServer(once(lambda s: answer(body, s))) as server:
        status, said, point = run(server, f"--api sync --stub {stub} --no-evidence")
    assert (status, said) == (1, "grpc_ping_client: in-flight 4: no call succeeded: BAD_RESPONSE\n")
    expected = "the response's bytes are not a message of its type" if body else "without a response message"
    assert all(error["first_message"].endswith(expected) for error in point["errors"])


def test_calls_whose_end_the_library_loses_do_not_hold_up_the_end() -> None:
    """An HTTP error, and the stream stays open. With reactors and retries gRPC 1.51.1 then loses the end of some calls.

    Deadline and cancelling do not end them (`grpc.enable_retries=0` would). What was measured is kept.
    """
    flags = f"--api callback --no-evidence {FLAGS.replace('--inflight 4', '--inflight 60')}"
    with HostileServer(once(lambda s: frame(HEADERS, END_HEADERS, s, field(":status", "503")))) as server:
        client = subprocess.Popen([CLIENT, "--host", server.address, *flags.split()], stdout=PIPE, stderr=PIPE)
        with suppress(subprocess.TimeoutExpired):  # the drain is at most 2 s, and then some calls are left
            client.wait(4)
        client.send_signal(signal.SIGINT)
        written, _ = client.communicate(timeout=20)
    result = json.loads(written)
    assert [error.message for error in Draft202012Validator(SCHEMA).iter_errors(result)] == []
    (point,) = result["not_measured"]
    assert point["failed"] > 0
    assert {error["code"] for error in point["errors"]} <= {"UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED"}
    if point["unfinished"]:
        assert any("calls had not ended" in note["text"] for note in point["notes"])


def nothing_of_grpc(send: Send, stream: int) -> None:
    send(frame(HEADERS, END_HEADERS | END_STREAM, stream, field("x", "y")))


def bad_after_the_first_connection(bad: Behaviour) -> HostileServer:
    connections: list[Send] = []
    return HostileServer(
        lambda send, s: send(answer(message(b""), s)) if len(connections) == 1 else bad(send, s), connections.append
    )


NO_STATUS = once(lambda s: answer(message(b""), s, field("x", "y")))


@pytest.mark.parametrize("bad", (nothing_of_grpc, NO_STATUS), ids=("no :status", "no grpc-status"))
@pytest.mark.parametrize("into", ("stdout", "file"))
def test_responses_without_a_status_leave_the_points_before_and_a_line(
    bad: Behaviour, into: str, tmp_path: Path
) -> None:
    """gRPC 1.51 aborts on these in its filter for retries; a newer one counts them."""
    file = tmp_path / "r.json"
    flags = "--api cq --inflight-list 1,2 --warmup 0 --interval 60 --total 50 --deadline 1 --no-evidence --format json"
    if into == "file":
        flags += f" --output {file}"
    with bad_after_the_first_connection(bad) as server:
        done = subprocess.run(
            [str(CLIENT), "--host", server.address, *flags.split()],
            capture_output=True,
            text=True,
            timeout=60,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
            check=False,
        )
    if done.returncode != -signal.SIGABRT:
        assert "1.51." not in grpc_version(), done.stderr
        return
    line = done.stderr.splitlines()[-1]
    assert "gave up (SIGABRT): what was measured before is kept; gRPC 1.51." in line
    assert line.endswith("--channel-arg grpc.enable_retries=0 avoids it")
    result = json.loads(file.read_text() if into == "file" else done.stdout)
    assert [point["completed"] >= 50 for point in result["benchmarks"]] == [True]
    assert result["context"]["partial"]
    assert list(tmp_path.iterdir()) == ([file] if into == "file" else [])


@pytest.mark.parametrize("bad", (nothing_of_grpc, NO_STATUS), ids=("no :status", "no grpc-status"))
def test_without_retries_responses_without_a_status_are_errors(bad: Behaviour) -> None:
    with HostileServer(bad) as server:
        status, said, point = run(server, "--api cq --no-evidence --channel-arg grpc.enable_retries=0")
    assert (status, said) == (1, "grpc_ping_client: in-flight 4: no call succeeded: UNKNOWN\n")
    assert point["failed"] > 0


def test_a_hostile_control_service_costs_its_figures_alone() -> None:
    """The same bytes where the client asks for the server's own figures, which is done before calls are made."""
    with HostileServer(once(lambda s: answer(message(b""), s, field("x", "y")))) as server:
        _, _, point = run(server, "--api cq --channel-arg grpc.enable_retries=0")
    assert any("cannot be asked (No status received)" in note["text"] for note in point["notes"])


def test_a_foreign_servers_settings_are_in_the_result() -> None:
    """It has no control service, and the only connection without a call is that on which they are read."""
    announced = {1: 0, 3: 2, 4: 100_000, 5: 20_000, 6: 9_000, 0xFE03: 1}
    with HostileServer(once(lambda s: answer(message(b""), s)), settings=announced) as server:
        status, said, result = run_whole(server, "--api cq")
        assert (status, said) == (0, "")
        assert result["context"]["peer_settings"] == [
            {
                "target": server.address,
                "max_concurrent_streams": 2,
                "initial_window_bytes": 100_000,
                "max_frame_bytes": 20_000,
                "max_header_list_bytes": 9_000,
            }
        ]
    (point,) = result["benchmarks"]
    (note,) = [note for note in point["notes"] if note["code"] == "stream-limit"]
    assert note["text"].startswith("the server allows 2 concurrent stream(s) per connection: 4 calls in flight on 1 ")


def part(number: int, value: bytes) -> bytes:
    """A field of a protobuf message, shorter than 16 KiB."""
    size = len(value)
    return bytes((number << 3 | 2,)) + (bytes((size,)) if size < 128 else bytes((size & 127 | 128, size >> 7))) + value


def said_of(on_call: Behaviour, flags: str) -> str:
    with HostileServer(on_call) as server:
        command = [str(CLIENT), "--host", server.address, *FLAGS.split(), *flags.split()]
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert done.returncode > 0
    return done.stderr.decode()


SERVICE = part(6, part(1, b"S") + part(2, part(1, b"M") + part(2, b".a.Q") + part(3, b".a.Q")))
ESCAPE = b"\x1b]0;x\x07\n"


@pytest.mark.parametrize(
    "descriptor",
    (
        part(1, b"f") + part(2, b"a") + part(4, part(1, ESCAPE)) + SERVICE,
        part(1, ESCAPE) + part(2, b"a") + SERVICE,
        part(1, b"f") + part(2, b"a\xff") + part(4, part(1, b"Q\xff")) + SERVICE,
        part(1, b"f") + part(2, b"a") + part(4, part(1, b"Q") + part(2, part(1, ESCAPE))) + SERVICE,
    ),
    ids=("message", "file", "no UTF-8", "field"),
)
def test_names_of_a_reflection_service_are_one_clean_line(descriptor: bytes) -> None:
    """Holds whether cqbench or protobuf writes them."""
    answered = message(part(4, part(1, descriptor)))
    begun = once(lambda s: frame(HEADERS, END_HEADERS, s, BEGIN) + frame(DATA, 0, s, answered))
    said = said_of(begun, "--call a.S/M")
    assert said.startswith("grpc_ping_client: --call: descriptors that cannot be used: ")
    assert said.endswith("\n")
    assert said[:-1].isprintable()


def test_text_that_is_none_is_not_a_line_for_each_call() -> None:
    book = once(lambda s: answer(message(part(3, b"\xff")), s))
    said = said_of(book, "--api cq --workload library --method get --no-evidence")
    assert said == "grpc_ping_client: in-flight 4: no call succeeded: BAD_RESPONSE\n"
