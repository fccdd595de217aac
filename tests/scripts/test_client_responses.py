"""The client against servers whose calls end with status OK, but without a message or with bytes that are none.

Such a call is an error, whatever the API, the stub, the shape and what the response is read into: an older response
that is still there does not count.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hostile_server import (
    BEGIN,
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    OK,
    Behaviour,
    HostileServer,
    Send,
    answer,
    frame,
    message,
)

ROOT = Path(__file__).parents[2]
CLIENT = Path(os.environ.get("CQBENCH_BIN_DIR", ROOT / "build/release/bin")) / "grpc_ping_client"
pytestmark = pytest.mark.skipif(not CLIENT.exists(), reason="the client is not built")
COMMON = "--connect-timeout 5 --format json --no-evidence"
WINDOW = "--warmup 0.05 --interval 0.6"
BY_COUNT = "--warmup 0 --interval 30 --total 20"  # successful calls
APIS = ("sync", "cq", "callback")
HOLDERS = (
    "--messages fresh",
    "--messages reused",
    "--messages arena",
    "--stub generic --messages fresh",
    "--stub generic --messages reused",
    "--stub generic --serializer buffer-reusing",
    "--messages bytes",
)

GOOD = b"\x0a\x64" + bytes(100)  # a payload of 100 bytes
ONE = b"\x0a\x01x"  # of one
NOTHING = "the call ended with status OK, but without a response message"
UNREADABLE = "the response's bytes are not a message of its type"
GARBAGE = message(b"\xff" * 50)


def trailers_only(stream: int) -> bytes:
    return frame(HEADERS, END_HEADERS | END_STREAM, stream, BEGIN + OK)


def always(body: bytes | None) -> Behaviour:
    """The same answer to each call; None: trailers only."""
    return lambda send, stream: send(trailers_only(stream) if body is None else answer(body, stream))


def in_turn(bodies: Sequence[bytes | None]) -> Behaviour:
    turns = itertools.cycle([always(body) for body in bodies])

    def on_call(send: Send, stream: int) -> None:
        next(turns)(send, stream)

    return on_call


def run(on_call: Behaviour, flags: str, window: str = WINDOW) -> dict[str, Any]:
    """The point."""
    with HostileServer(on_call) as server:
        command = [str(CLIENT), "--host", server.address, *f"--inflight 4 {COMMON} {window} {flags}".split()]
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    result = json.loads(done.stdout)
    (point,) = result["benchmarks"] + result["not_measured"]
    assert isinstance(point, dict)
    return point


def errors(point: dict[str, Any]) -> dict[str, str]:
    return {error["code"]: error["first_message"] for error in point["errors"]}


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("api", APIS)
def test_an_older_response_does_not_count(api: str, holder: str) -> None:
    """One of four responses is a message."""
    server = in_turn((message(GOOD), b"", GARBAGE, None))
    flags = f"--workload echo --response-bytes 100 --api {api} {holder}"
    point = run(server, flags, window=BY_COUNT)
    assert point["completed"] >= 20
    assert set(errors(point)) == {"BAD_RESPONSE"}
    # Answers are overtaken by others of the slots only: at both ends of the window the count is off by some.
    assert abs(3 * point["completed"] - point["failed"]) <= 4 * 8


@pytest.mark.parametrize(
    ("body", "words"),
    ((b"", NOTHING), (None, NOTHING), (GARBAGE, UNREADABLE)),
    ids=("nothing", "trailers only", "unreadable"),
)
@pytest.mark.parametrize("flags", ("--stub generated", "--stub generic", "--messages bytes"))
@pytest.mark.parametrize("api", APIS)
def test_an_empty_ping_has_a_message_too(api: str, flags: str, body: bytes | None, words: str) -> None:
    """It has no field that could be checked; what is read as bytes is checked by the method."""
    point = run(always(body), f"--api {api} {flags}")
    assert point.get("completed", 0) == 0
    bytes_are_checked = body == GARBAGE and "bytes" in flags
    assert errors(point) == {"BAD_RESPONSE": "the response is not a PlainGrpcResponse" if bytes_are_checked else words}


@pytest.mark.parametrize("flags", ("--stub generated", "--stub generic"))
@pytest.mark.parametrize("api", APIS)
def test_the_response_to_a_client_stream_may_be_missing(api: str, flags: str) -> None:
    """Also where the last one was right: it says that three requests came."""
    right = message(GOOD + b"\x10\x03")
    server = in_turn((right, b"", GARBAGE))
    shape = "--workload echo --method upload --stream-messages 3 --response-bytes 100"
    point = run(server, f"{shape} --api {api} {flags}", window=BY_COUNT)
    assert point["completed"] >= 20
    assert set(errors(point)) == {"BAD_RESPONSE"}
    assert abs(2 * point["completed"] - point["failed"]) <= 3 * 8


@pytest.mark.parametrize("body", (message(ONE) + GARBAGE + message(ONE), message(ONE) * 3 + GARBAGE))
@pytest.mark.parametrize("flags", ("--stub generated", "--stub generic"))
@pytest.mark.parametrize("api", APIS)
def test_a_message_of_a_server_stream_may_be_unreadable(api: str, flags: str, body: bytes) -> None:
    """In its midst, where the library says that the stream ended, and after all that were asked for."""
    shape = "--workload echo --method download --stream-messages 3 --response-bytes 1"
    point = run(always(body), f"{shape} --api {api} {flags}")
    assert errors(point) == {"BAD_RESPONSE": UNREADABLE}


@pytest.mark.parametrize("flags", ("--stub generated", "--stub generic"))
@pytest.mark.parametrize("api", APIS)
def test_an_unreadable_answer_does_not_end_a_bidirectional_stream(api: str, flags: str) -> None:
    """The server answers beforehand, as often as the stream's window takes: 7,200 times. No warm-up uses them up."""

    def on_call(send: Send, stream: int) -> None:
        send(frame(HEADERS, END_HEADERS, stream, BEGIN))
        for _ in range(12):
            send(frame(DATA, 0, stream, (message(ONE) + message(b"\xff")) * 300))

    shape = "--workload echo --method streaming --response-bytes 1 --inflight 1 --warmup 0 --total 200"
    with HostileServer(on_call) as server:
        command = [str(CLIENT), "--host", server.address, *COMMON.split(), *shape.split()]
        done = subprocess.run([*command, "--api", api, *flags.split()], capture_output=True, timeout=60, check=False)
        assert server.calls == 1
    (point,) = json.loads(done.stdout)["benchmarks"]
    assert errors(point) == {"BAD_RESPONSE": UNREADABLE}
    assert abs(point["completed"] - point["failed"]) <= 8
