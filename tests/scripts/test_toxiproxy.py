"""The proxy as a process: that it forwards and delays, what can go wrong at its start, and that nothing outlives it."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cqbench.measure import toxiproxy
from cqbench.measure.toxiproxy import ProxyFailed, Toxiproxy, command

STANDIN = Path(__file__).parent / "toxiproxy_standin.py"
REAL = toxiproxy.FOLDER / "server"


def make_standin(folder: Path) -> Path:
    """A program that replaces toxiproxy; its output is next to it."""
    folder.mkdir(exist_ok=True)
    program = folder / "toxiproxy-standin"
    program.write_text(f"#!{sys.executable}\n{STANDIN.read_text()}")
    program.chmod(0o755)
    return program


def assert_no_proxy(program: Path, started: int = 1) -> None:
    """started: at least as many, or the test would prove nothing."""
    file = program.parent / "pids"
    pids = file.read_text().split() if started or file.exists() else []
    assert len(pids) >= started
    give_up_at = time.monotonic() + 5
    while any(Path("/proc", pid).exists() for pid in pids):
        assert time.monotonic() < give_up_at, "a proxy is left"
        time.sleep(0.02)


@pytest.fixture
def standin(tmp_path: Path) -> Path:
    return make_standin(tmp_path / "proxy")


@pytest.fixture(params=["standin", "toxiproxy"])
def program(request: pytest.FixtureRequest, standin: Path) -> Path:
    """Both must behave alike; the real one is tested where it is installed."""
    if request.param == "standin":
        return standin
    if not REAL.exists():
        pytest.skip(f"{REAL} is not installed: scripts/experiment.sh wan-5ms does it")
    return REAL


@pytest.fixture
def echo() -> Iterator[socket.socket]:
    """A server that sends back what it gets."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer(peer: socket.socket) -> None:
        with peer:
            while data := peer.recv(100):
                peer.sendall(data)

    def accept() -> None:
        try:
            while True:
                threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()
        except OSError:  # closed
            pass

    threading.Thread(target=accept, daemon=True).start()
    yield listener
    listener.close()


def through(program: Path, echo: socket.socket, added_rtt_ms: int, log: Path) -> Toxiproxy:
    return Toxiproxy(command(program), f"127.0.0.1:{echo.getsockname()[1]}", added_rtt_ms, log)


def connect(proxy: Toxiproxy) -> socket.socket:
    host, port = proxy.address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=5)


def round_trip_s(peer: socket.socket) -> float:
    begin = time.monotonic()
    peer.sendall(b"ping")
    assert peer.recv(100) == b"ping"
    return time.monotonic() - begin


@pytest.mark.parametrize("added_ms", [0, 100])
def test_each_round_trip_takes_that_much_more(
    added_ms: int, program: Path, echo: socket.socket, tmp_path: Path
) -> None:
    with through(program, echo, added_ms, tmp_path / "log") as proxy:
        with connect(proxy) as peer:
            times = [round_trip_s(peer)]
            # Once, not once for each way. A machine that delays every second round trip by 80 ms delays all of 40 in
            # one of 10^12 runs.
            while min(times) >= added_ms / 1000 + 0.08 and len(times) < 40:
                times.append(round_trip_s(peer))
        assert proxy.version
    assert added_ms / 1000 <= min(times) < added_ms / 1000 + 0.08


def test_connections_are_independent(program: Path, echo: socket.socket, tmp_path: Path) -> None:
    each_s = 1.0  # so long that only waiting for one after the other takes seven times that
    with through(program, echo, round(1000 * each_s), tmp_path / "log") as proxy:
        peers = [connect(proxy) for _ in range(8)]
        begin = time.monotonic()
        for peer in peers:
            peer.sendall(b"ping")
        assert [peer.recv(100) for peer in peers] == [b"ping"] * 8
        assert each_s <= time.monotonic() - begin < 7 * each_s
        for peer in peers:
            peer.close()


def test_nothing_is_left_when_it_is_stopped(program: Path, echo: socket.socket, tmp_path: Path) -> None:
    with through(program, echo, 5, tmp_path / "log") as proxy:
        assert proxy.alive()
        host, port = proxy.address.rsplit(":", 1)
    assert not proxy.alive()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=5)


def test_what_is_asked_of_it(standin: Path, echo: socket.socket, tmp_path: Path) -> None:
    for added_ms in (0, 5):
        with through(standin, echo, added_ms, tmp_path / "log") as proxy:
            assert (proxy.what, proxy.version) == ("proxy", "standin")
    asked = [json.loads(line) for line in (standin.parent / "asked").read_text().splitlines()]
    proxy_of = ["/proxies", {"name": "network", "listen": "127.0.0.1:0", "upstream": proxy.upstream}]
    toxic = {"type": "latency", "stream": "downstream", "attributes": {"latency": 5}}
    assert asked == [proxy_of, proxy_of, ["/proxies/network/toxics", toxic]]  # none for 0 ms
    assert_no_proxy(standin, 2)


def test_a_newer_version_speaks_json(
    standin: Path, echo: socket.socket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANDIN_PROXY", "speaks json")
    with through(standin, echo, 0, tmp_path / "log") as proxy:
        assert proxy.version == "standin"


def test_the_port_of_its_api_may_be_taken_by_somebody_faster(
    standin: Path, echo: socket.socket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANDIN_PROXY", "has no port at first")
    with through(standin, echo, 0, tmp_path / "log") as proxy, connect(proxy) as peer:
        round_trip_s(peer)
    assert_no_proxy(standin, 2)


@pytest.mark.parametrize(
    ("wrong", "said", "attempts"),
    [
        ("does not start", "toxiproxy ended with status 1: proxy: no luck", 1),
        ("has no port", 'toxiproxy ended with status 1: {"level":"fatal"', 3),
        ("is silent", "toxiproxy did not answer within 0 s", 0),
        ("refuses", 'toxiproxy, POST /proxies: HTTP status 400: {"error":"no luck"}', 1),
        ("babbles", "toxiproxy, POST /proxies: Expecting value", 1),
        ("mutters", "toxiproxy, POST /proxies: [] is not an answer", 1),
        ("is vague", "toxiproxy does not say where it listens: 127.0.0.1:0", 1),
    ],
)
def test_what_can_go_wrong_is_one_line(
    wrong: str, said: str, attempts: int, standin: Path, echo: socket.socket, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("STANDIN_PROXY", wrong)
    if wrong == "is silent":  # and on a full machine may not even have begun by then
        monkeypatch.setattr(toxiproxy, "START_TIMEOUT_S", 0.5)
    with pytest.raises(ProxyFailed) as failed, through(standin, echo, 5, tmp_path / "log"):
        pass
    assert str(failed.value).startswith(said) and "\n" not in str(failed.value)
    if attempts:
        assert len((standin.parent / "pids").read_text().split()) == attempts
    assert_no_proxy(standin, attempts)


def test_an_answer_from_somebody_elses_proxy_is_not_taken(
    standin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one has the port that ours wanted, and answers in its place until ours has ended."""
    port = toxiproxy._free_port()
    other = Toxiproxy(command(standin), "127.0.0.1:1", 0, tmp_path / "other")
    other.launch([*other.command, "-port", str(port)])
    while "standin" not in _version_at(port):
        time.sleep(0.02)
    monkeypatch.setattr(toxiproxy, "_free_port", lambda: port)
    monkeypatch.setattr(Toxiproxy, "alive", lambda self: not self.ends_within(10))
    with pytest.raises(ProxyFailed, match="toxiproxy (has ended|ended with status)"):
        Toxiproxy(command(standin), "127.0.0.1:1", 0, tmp_path / "ours").start()
    other.stop()


def _version_at(port: int) -> str:
    try:
        return toxiproxy._request(port, "GET", "/version", None)
    except OSError:
        return ""


def test_a_program_that_is_not_there(echo: socket.socket, tmp_path: Path) -> None:
    proxy = Toxiproxy([str(tmp_path / "none")], "127.0.0.1:1", 5, tmp_path / "log")
    with pytest.raises(ProxyFailed, match="cannot run .*/none: No such file"), proxy:
        pass


def test_where_the_program_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(toxiproxy.VARIABLE, raising=False)
    assert toxiproxy.program() == REAL and toxiproxy.VERSION in str(REAL)
    monkeypatch.setenv(toxiproxy.VARIABLE, "/usr/bin/toxiproxy-server")
    assert toxiproxy.program() == Path("/usr/bin/toxiproxy-server")
    assert os.environ[toxiproxy.VARIABLE] in command(toxiproxy.program())
