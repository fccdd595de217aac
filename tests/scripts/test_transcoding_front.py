"""Our server's HTTP port: every route answers as grpc-gateway does, and h2load is content with it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator

import pytest
from cqbench.run.processes import Server
from library_calls import RIGHT, WRONG, Call, book, h2c, http1
from result_schema import programs

REQUESTS = 2000
BACKENDS = ("direct", "inprocess", "loopback")
FRONTS = {
    **{f"descriptor, {backend}": f"--transcoder descriptor --backend {backend}" for backend in BACKENDS},
    "handwritten, direct": "--transcoder handwritten --backend direct",
}
Ask = Callable[[str, Call], tuple[int, str]]


@pytest.fixture(scope="module", params=FRONTS)
def address(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of the HTTP port."""
    command = [str(programs() / "grpc_ping_server"), "--http", "localhost:0", *FRONTS[request.param].split()]
    with Server(command, tmp_path_factory.mktemp("front") / "log", http=True) as server:
        yield server.http_address


@pytest.mark.parametrize("ask", [http1, h2c])
def test_every_route_answers_as_grpc_gateway_does(ask: Ask, address: str) -> None:
    for call in RIGHT:
        status, answer = ask(address, call)
        assert (call.name, status, json.loads(answer)) == (call.name, 200, call.want)


@pytest.mark.parametrize("ask", [http1, h2c])
def test_errors(ask: Ask, address: str) -> None:
    for call in WRONG:
        status, answer = ask(address, call)
        assert (call.name, status, json.loads(answer)["code"]) == (call.name, call.status, call.code)


@pytest.mark.parametrize("ask", [http1, h2c])
def test_streams_are_lines(ask: Ask, address: str, request: pytest.FixtureRequest) -> None:
    status, answer = ask(address, Call("stream", "GET", "shelves/1/books:stream?page_size=3"))
    if "inprocess" in request.node.name:  # it has none
        assert (status, json.loads(answer)["code"]) == (501, 12)
        return
    assert (status, [json.loads(line) for line in answer.splitlines()]) == (200, [book(n) for n in (1, 2, 3)])


# As the handbook has it.
@pytest.mark.parametrize("flags", ["--h1 -c 16", "-c 1 -m 16", "-c 16 -m 1"])
def test_h2load_has_nothing_but_success(flags: str, address: str) -> None:
    if shutil.which("h2load") is None:
        pytest.skip("there is no h2load: apt-get install nghttp2-client")
    url = f"http://{address}/v1/shelves/1/books/1"
    command = ["h2load", *flags.split(), "-n", f"{REQUESTS}", url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert f"{REQUESTS} succeeded, 0 failed, 0 errored, 0 timeout" in done.stdout
    assert f"status codes: {REQUESTS} 2xx, 0 3xx, 0 4xx, 0 5xx" in done.stdout
    protocol = re.search(r"^Application protocol: (\S+)$", done.stdout, re.MULTILINE)
    assert protocol and protocol[1] == ("http/1.1" if "--h1" in flags else "h2c")
