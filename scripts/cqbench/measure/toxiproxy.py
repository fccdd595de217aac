"""toxiproxy (github.com/Shopify/toxiproxy), a TCP proxy that can be slow: a longer way to the server, without root.

Its `latency` toxic holds back what the server sends; what the client sends passes at once. Its `bandwidth` toxic is of
each connection by itself, each way. Both can come and go while calls are under way. That is a delay of data,
not of TCP: the proxy accepts and acknowledges by itself, so connecting takes no longer and the kernel's round-trip
times are those of the hop to the proxy. Each of the client's connections has one of its own from the proxy to the
server.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import time
from pathlib import Path
from typing import Any

from cqbench.formats.text import one_line
from cqbench.measure.processes import START_TIMEOUT_S, Failed, Service

VERSION = "2.5.0"
ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / f"build/tools/toxiproxy-{VERSION}"
VARIABLE = "CQBENCH_TOXIPROXY"  # a program to use instead of the one in FOLDER
NAME = "network"  # of the one proxy in it
HOST = "127.0.0.1"
ATTEMPTS = 3
ANSWER_TIMEOUT_S = 5.0


class ProxyFailed(Failed):
    """The proxy did not come up, or does not do what it was asked to; the text is one line."""


def program() -> Path:
    """Where it is, or would be if it were installed."""
    return Path(os.environ.get(VARIABLE) or FOLDER / "server")


def command(path: Path) -> list[str]:
    """Without -port. Its log says at `info` who connected, and above that every step of each connection."""
    return ["env", "LOG_LEVEL=info", str(path), "-host", HOST]


def latency(milliseconds: int) -> dict[str, Any]:
    return {"type": "latency", "stream": "downstream", "attributes": {"latency": milliseconds}}


def bandwidth(kbytes_per_second: int) -> list[dict[str, Any]]:
    """Each way, of each connection."""
    rate = {"type": "bandwidth", "attributes": {"rate": kbytes_per_second}}
    return [{**rate, "stream": stream, "name": f"bandwidth_{stream}"} for stream in ("upstream", "downstream")]


class Toxiproxy(Service):
    """One process with one proxy, from a command without -port. address: where the client connects, once it runs."""

    what = "proxy"

    def __init__(self, command: list[str], upstream: str, added_rtt_ms: int, log: Path) -> None:
        """upstream: HOST:PORT of the server."""
        super().__init__(command, log)
        self.upstream = upstream
        self.added_rtt_ms = added_rtt_ms
        self.version = ""  # as it says itself, once it runs
        self._api = 0  # port
        self._added: list[str] = []  # names of toxics that are to be taken away again

    def start(self) -> None:
        """Returns when it forwards. Raises ProxyFailed."""
        port = self._api = self._start_api()
        proxy = {"name": NAME, "listen": f"{HOST}:0", "upstream": self.upstream}
        listen = _ask(port, "POST", "/proxies", proxy).get("listen")
        if self.added_rtt_ms:
            _ask(port, "POST", f"/proxies/{NAME}/toxics", latency(self.added_rtt_ms))
        if not isinstance(listen, str) or listen.endswith(":0"):
            raise ProxyFailed(f"toxiproxy does not say where it listens: {one_line(str(listen), 40)}")
        if not self.alive():  # then another one has answered, on the port that ours wanted
            raise ProxyFailed(f"toxiproxy has ended: {one_line(self.last_line())}")
        self.address = listen

    def add(self, toxics: list[dict[str, Any]]) -> None:
        """While it runs, for connections that are there, too. Raises ProxyFailed."""
        for toxic in toxics:
            self._added.append(str(_ask(self._api, "POST", f"/proxies/{NAME}/toxics", toxic).get("name", "")))

    def lift(self) -> None:
        """Takes away what was added. Raises ProxyFailed."""
        while self._added:
            try:
                _request(self._api, "DELETE", f"/proxies/{NAME}/toxics/{self._added.pop()}", None)
            except OSError as error:
                raise ProxyFailed(f"toxiproxy does not lift what was added: {one_line(str(error))}") from None

    def _start_api(self) -> int:
        """The port of its API. It takes no port 0, so somebody may be faster at the one that was free. ProxyFailed."""
        for attempt in range(1, ATTEMPTS + 1):
            port = _free_port()
            try:
                process = self.launch([*self.command, "-port", str(port)])
            except OSError as error:
                raise ProxyFailed(f"cannot run {self.command[0]}: {error.strerror}") from None
            give_up_at = time.monotonic() + START_TIMEOUT_S
            while process.poll() is None:
                if time.monotonic() > give_up_at:
                    raise ProxyFailed(f"toxiproxy did not answer within {START_TIMEOUT_S:.0f} s")
                try:
                    self.version = _version(_request(port, "GET", "/version", None))
                    return port
                except OSError:
                    time.sleep(0.02)
            if attempt == ATTEMPTS or "address already in use" not in self.output():
                raise ProxyFailed(f"toxiproxy ended with status {process.returncode}: {one_line(self.last_line())}")
        raise AssertionError("not reached: the last attempt returns or raises")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind((HOST, 0))
        port: int = free.getsockname()[1]
        return port


def _ask(port: int, method: str, path: str, body: Any) -> dict[str, Any]:
    """The answer, an object of JSON. Raises ProxyFailed."""
    try:
        text = _request(port, method, path, body)
        answer = json.loads(text)
    except (OSError, ValueError) as error:
        raise ProxyFailed(f"toxiproxy, {method} {path}: {one_line(str(error))}") from None
    if not isinstance(answer, dict):
        raise ProxyFailed(f"toxiproxy, {method} {path}: {one_line(text)} is not an answer")
    return answer


def _request(port: int, method: str, path: str, body: Any) -> str:
    """Raises OSError, also for an HTTP status that is not a success."""
    connection = http.client.HTTPConnection(HOST, port, timeout=ANSWER_TIMEOUT_S)
    try:
        connection.request(method, path, None if body is None else json.dumps(body))
        response = connection.getresponse()
        text = response.read().decode("utf-8", errors="replace")
    except http.client.HTTPException as error:
        raise OSError(f"not HTTP: {type(error).__name__}") from None
    finally:
        connection.close()
    if not 200 <= response.status < 300:
        raise OSError(f"HTTP status {response.status}: {text}")
    return text


def _version(text: str) -> str:
    """Plain text in some versions, an object with 'version' in others."""
    try:
        answer = json.loads(text)
    except ValueError:
        answer = text
    return one_line(str(answer.get("version", "") if isinstance(answer, dict) else answer), 40)
