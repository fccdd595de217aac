"""The Go server of transcoding: built, and asked by every route, in both modes, over HTTP/1.1 and h2c."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from cqbench.formats.result import load
from cqbench.measure.processes import Server
from library_calls import INVALID, RIGHT, UNIMPLEMENTED, WRONG, Call, book, h2c, http1
from result_schema import programs
from tools import need

ROOT = Path(__file__).parents[2]
MODES = ("inprocess", "inprocess-equal", "proxy", "proxy-equal")
Ask = Callable[[str, Call], tuple[int, str]]


@pytest.fixture(scope="module")
def program() -> Path:
    need("go")
    subprocess.run([ROOT / "scripts/grpc-gateway/build.sh"], check=True, timeout=900)
    return ROOT / "build/grpc-gateway/grpc-gateway"


@pytest.fixture(scope="module")
def servers(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Server]]:
    """By mode."""
    folder = tmp_path_factory.mktemp("gateway")
    with ExitStack() as stack:
        found = {}
        for mode in MODES:
            flags = ["--mode", mode.removesuffix("-equal"), *(["--equal"] if mode.endswith("-equal") else [])]
            found[mode] = stack.enter_context(Server([str(program), *flags], folder / mode))
        yield found


def address(server: Server) -> str:
    """Returns the address of its HTTP port."""
    found = re.search(r"^HTTP on (\S+)$", server.output(), re.MULTILINE)
    assert found, server.output()
    return found[1]


@pytest.mark.parametrize("ask", [http1, h2c])
@pytest.mark.parametrize("mode", MODES)
def test_every_route_answers(mode: str, ask: Ask, servers: dict[str, Server]) -> None:
    for call in RIGHT:
        status, answer = ask(address(servers[mode]), call)
        assert (call.name, status, json.loads(answer)) == (call.name, 200, call.want)


@pytest.mark.parametrize("ask", [http1, h2c])
@pytest.mark.parametrize("mode", MODES)
def test_errors(mode: str, ask: Ask, servers: dict[str, Server]) -> None:
    for call in WRONG:
        status, answer = ask(address(servers[mode]), call)
        said = json.loads(answer)
        assert (call.name, status, said["code"]) == (call.name, call.status, call.code)
        assert said["message"]


@pytest.mark.parametrize("ask", [http1, h2c])
def test_a_proxy_streams_lines_of_results(ask: Ask, servers: dict[str, Server]) -> None:
    call = Call("stream", "GET", "shelves/1/books:stream?page_size=3")
    status, answer = ask(address(servers["proxy"]), call)
    assert status == 200
    assert [json.loads(line) for line in answer.splitlines()] == [{"result": book(n)} for n in (1, 2, 3)]


def test_in_process_there_are_no_streams(servers: dict[str, Server]) -> None:
    status, answer = http1(address(servers["inprocess"]), Call("stream", "GET", "shelves/1/books:stream"))
    assert (status, json.loads(answer)["code"]) == (501, UNIMPLEMENTED)


# --equal is needed for these: a book without an author, a field that no book has, a PATCH whose mask comes from its
# body.
@pytest.mark.parametrize("mode", ["inprocess", "proxy"])
def test_own_options_and_equal_ones_differ_where_they_say(mode: str, servers: dict[str, Server]) -> None:
    own, equal = address(servers[mode]), address(servers[f"{mode}-equal"])
    create = Call("create", "POST", "shelves/1/books", {"title": "X"})
    whole = {"name": "shelves/1/books/new", "title": "X"}
    defaults = {"author": "", "read": False, "pageCount": 0, "publishTime": None, "subjects": []}
    assert json.loads(http1(own, create)[1]) == {**whole, **defaults}
    assert json.loads(http1(equal, create)[1]) == whole

    unknown = Call("unknown", "POST", "shelves/1/books", {"isbn": "X"})
    assert http1(own, unknown)[0] == 200
    status, answer = http1(equal, unknown)
    assert (status, json.loads(answer)["code"]) == (400, INVALID)

    unread = Call("unread", "PATCH", "shelves/1/books/1", {"read": False})
    assert json.loads(http1(own, unread)[1]) == {**book(1), "read": False}
    assert json.loads(http1(equal, unread)[1]) == book(1)


# src/workload/methods/library.cc defines the right responses: both servers make the same books.
@pytest.mark.parametrize("method", ["get", "list", "stream", "create", "update", "delete"])
def test_our_client_finds_every_answer_right(method: str, servers: dict[str, Server], tmp_path: Path) -> None:
    asked = ["--api", "cq", "--workload", "library", "--method", method]
    short = ["--inflight-list", "1", "--warmup", "0.05", "--interval", "1", "--output", str(tmp_path / "out.json")]
    client = [str(programs() / "grpc_ping_client"), "--host", servers["proxy"].address, *asked, *short]
    done = subprocess.run(client, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    (point,) = load(tmp_path / "out.json").points
    assert point.completed > 0 and point.failed == 0, point.errors


def test_another_backend_is_called(program: Path, servers: dict[str, Server], tmp_path: Path) -> None:
    backend = servers["inprocess"].address
    with Server([str(program), "--mode", "proxy", "--backend", backend], tmp_path / "log") as front:
        assert json.loads(http1(address(front), RIGHT[0])[1]) == book(1)
    with Server([str(program), "--mode", "proxy", "--backend", "localhost:1"], tmp_path / "log") as front:
        status, answer = http1(address(front), RIGHT[0])
    assert (status, json.loads(answer)["code"]) == (503, 14)


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["--mode", "both"], "--mode 'both': accepted are inprocess, proxy"),
        (["--backend", "localhost:1"], "--backend 'localhost:1' is not accepted with --mode inprocess"),
        (["more"], "'more' is not known"),
    ],
)
def test_wrong_flags(flags: list[str], complaint: str, program: Path) -> None:
    done = subprocess.run([program, *flags], capture_output=True, text=True, timeout=20, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert complaint in done.stderr


def test_the_benchmark_has_the_documents_rows_with_allocations_of_both_ends_and_of_the_server(program: Path) -> None:
    rows = ["GRPC_GetBook", "HTTP_GetBook", "HTTP_UpdateBook", "HTTP_DeleteBook"]
    bench = [str(ROOT / "scripts/grpc-gateway/build.sh"), "--bench", "-benchtime", "10x"]
    done = subprocess.run(bench, capture_output=True, text=True, timeout=300, check=True)
    found = {line.split()[0].rpartition("-")[0]: line for line in done.stdout.splitlines() if "ns/op" in line}
    assert set(found) == {f"Benchmark{where}/{m}/{r}" for where in ("Together", "Apart") for m in MODES for r in rows}
    for name, line in found.items():
        assert "B/op" in line and "allocs/op" in line
        assert ("server-allocs/op" in line) == ("Apart" in name)
