"""Our server's HTTP port: every route answers as grpc-gateway does, and h2load is content with it."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from collections.abc import Callable, Iterator

import pytest
from cqbench.measure.processes import Server
from library_calls import INVALID, NOT_FOUND, RIGHT, WRONG, Call, book, h2c, http1
from result_schema import programs
from tools import need

REQUESTS = 2000
BACKENDS = ("direct", "inprocess", "loopback")
FRONTS = {
    **{f"descriptor, {backend}": f"--transcoder descriptor --backend {backend}" for backend in BACKENDS},
    "handwritten, direct": "--transcoder handwritten --backend direct",
}
Ask = Callable[[str, Call], tuple[int, str]]


@pytest.fixture(scope="module", params=FRONTS)
def address(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Returns the address of the HTTP port."""
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


def curl(version: str, address: str, path: str, *flags: str, body: bytes = b"") -> tuple[int, dict[str, str], str]:
    """Status, headers by their names in lower case, body."""
    program = need("curl")
    told = ["--silent", "--show-error", "--max-time", "20", "--globoff", "--include", "--header", "Expect:"]
    sent = ["--data-binary", "@-"] if body else []
    done = subprocess.run(
        [program, version, *told, *sent, *flags, f"http://{address}/v1/{path}"],
        input=body,
        capture_output=True,
        timeout=40,
        check=True,
    )
    head, _, content = done.stdout.decode().partition("\r\n\r\n")
    lines = head.split("\r\n")
    return (
        int(lines[0].split()[1]),
        {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])},
        content,
    )


VERSIONS = ("--http1.1", "--http2-prior-knowledge")
BOOK = "shelves/1/books/1"
BOOKS = "shelves/1/books"


@pytest.mark.parametrize("version", VERSIONS)
def test_head_is_get_without_its_body(version: str, address: str) -> None:
    for path in (BOOK, "shelves/1/books?page_size=2", "shelves/1/books/none"):
        status, headers, body = curl(version, address, path)
        asked = curl(version, address, path, "--head")
        assert asked == (status, {**headers, "date": asked[1]["date"]}, "")
        assert headers["content-length"] == str(len(body.encode()))
    assert curl(version, address, BOOK, "--request", "PUT")[1]["allow"] == "DELETE, GET, HEAD, PATCH"


def test_a_target_in_absolute_form_is_its_path(address: str) -> None:
    for target in (f"http://{address}/v1/{BOOK}", f"HTTP://other.example:1/v1/{BOOK}"):
        status, _, body = curl("--http1.1", address, "none", "--request-target", target)
        assert (status, json.loads(body)) == (200, book(1))


@pytest.mark.parametrize("version", VERSIONS)
def test_only_json_is_read(version: str, address: str) -> None:
    path = f"{BOOKS}?book_id=mine"
    for media in ("application/json", "application/json; charset=utf-8", "application/vnd.api+json", ""):
        status, _, body = curl(version, address, path, "--header", f"Content-Type: {media}", body=b'{"title":"X"}')
        assert (media, status, json.loads(body)["title"]) == (media, 200, "X")
    for media in ("text/plain", "application/x-www-form-urlencoded", "application/xml"):
        status, headers, body = curl(
            version, address, path, "--header", f"Content-Type: {media}", body=b'{"title":"X"}'
        )
        assert (media, status, headers["accept"]) == (media, 415, "application/json")
        assert (json.loads(body)["code"], media in body) == (INVALID, True)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_compressed_body_is_refused(version: str, address: str) -> None:
    flags = ["--header", "Content-Type: application/json", "--header", "Content-Encoding: gzip"]
    status, headers, body = curl(version, address, BOOKS, *flags, body=gzip.compress(b'{"title":"X"}'))
    assert (status, headers["accept-encoding"], json.loads(body)["code"]) == (415, "identity", INVALID)


@pytest.mark.parametrize("version", VERSIONS)
def test_what_the_front_end_refuses_is_json_too(version: str, address: str) -> None:
    as_json = ["--header", "Content-Type: application/json"]
    cases = [
        (414, curl(version, address, f"{BOOKS}?page_token={'x' * 17_000}")),
        (431, curl(version, address, BOOK, "--header", f"X-Long: {'x' * 17_000}")),
        (413, curl(version, address, BOOKS, *as_json, body=b'"' + b"x" * 5_000_000 + b'"')),
        (417, curl(version, address, BOOK, "--header", "Expect: tea")),
    ]
    for want, (status, headers, body) in cases:
        assert (status, headers["content-type"]) == (want, "application/json")
        error = json.loads(body)
        assert (want, error["code"], error["details"]) == (want, INVALID, [])
        assert error["message"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_long_value_is_refused_for_what_it_is(version: str, address: str) -> None:
    long = "x" * 15_000
    for code, want, path in (
        (INVALID, 400, f"{BOOKS}?page_token={long}"),
        (NOT_FOUND, 404, f"{BOOKS}/{long}"),
        (NOT_FOUND, 404, f"shelves/{long}/books"),
        (INVALID, 400, f"{BOOKS}?page_size={long}"),
        (INVALID, 400, f"{BOOKS}?{long}=1"),
    ):
        status, _, body = curl(version, address, path)
        assert (path[:40], status, json.loads(body)["code"]) == (path[:40], want, code)
        assert len(body) < 500
    status, _, body = curl(version, address, f"{BOOK}?update_mask={long}", "--request", "PATCH", "--json", "{}")
    assert (status, len(body) < 500) == (400, True)


# As the handbook has it.
@pytest.mark.parametrize("flags", ["--h1 -c 16", "-c 1 -m 16", "-c 16 -m 1"])
def test_h2load_has_nothing_but_success(flags: str, address: str) -> None:
    url = f"http://{address}/v1/shelves/1/books/1"
    command = [need("h2load"), *flags.split(), "-n", f"{REQUESTS}", url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert f"{REQUESTS} succeeded, 0 failed, 0 errored, 0 timeout" in done.stdout
    assert f"status codes: {REQUESTS} 2xx, 0 3xx, 0 4xx, 0 5xx" in done.stdout
    protocol = re.search(r"^Application protocol: (\S+)$", done.stdout, re.MULTILINE)
    assert protocol and protocol[1] == ("http/1.1" if "--h1" in flags else "h2c")
