"""Speaks as much of toxiproxy's API as we use, and forwards with the delay it is asked for. Needs neither Go nor it.

Next to it: `pids` gets its process id, `asked` each request as a line of JSON. What STANDIN_PROXY says goes wrong.
"""

from __future__ import annotations

import json
import os
import queue
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
WRONG = os.environ.get("STANDIN_PROXY", "")
IN_USE = '{"level":"fatal","error":"listen tcp: bind: address already in use","message":"ListenAndServe finished"}'


class Proxy:
    def __init__(self, listen: str, upstream: str) -> None:
        self.host, self.upstream = listen.rsplit(":", 1)[0], upstream
        self.latency_s = 0.0
        self.listener = socket.create_server((self.host, int(listen.rsplit(":", 1)[1])))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            client, _ = self.listener.accept()
            host, port = self.upstream.rsplit(":", 1)
            server = socket.create_connection((host, int(port)))
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.forward, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self.forward, args=(server, client, True), daemon=True).start()

    def forward(self, source: socket.socket, to: socket.socket, delayed: bool) -> None:
        pieces: queue.Queue[tuple[float, bytes]] = queue.Queue()
        threading.Thread(target=self.write, args=(pieces, to), daemon=True).start()
        data = b"-"
        while data:
            try:
                data = source.recv(65536)
            except OSError:
                data = b""
            pieces.put((time.monotonic() + self.latency_s * delayed, data))

    def write(self, pieces: queue.Queue[tuple[float, bytes]], to: socket.socket) -> None:
        while True:
            due, data = pieces.get()
            time.sleep(max(0.0, due - time.monotonic()))
            try:
                if not data:
                    to.shutdown(socket.SHUT_RDWR)
                    return
                to.sendall(data)
            except OSError:
                return


class Api(BaseHTTPRequestHandler):
    proxies: dict[str, Proxy] = {}

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.answer(200, '{"version": "standin"}' if WRONG == "speaks json" else "standin")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with (HERE / "asked").open("a") as asked:
            asked.write(json.dumps([self.path, body]) + "\n")
        if WRONG == "refuses":
            return self.answer(400, '{"error":"no luck"}')
        if self.path == "/proxies":
            proxy = self.proxies[body["name"]] = Proxy(body["listen"], body["upstream"])
            listen = f"{proxy.host}:{proxy.listener.getsockname()[1]}"
            answers = {"babbles": "-", "mutters": "[]", "is vague": json.dumps({"listen": "127.0.0.1:0"})}
            return self.answer(201, answers.get(WRONG) or json.dumps({**body, "listen": listen}))
        if WRONG != "does not delay":
            assert (body["type"], body["stream"]) == ("latency", "downstream")
            self.proxies[self.path.split("/")[2]].latency_s = body["attributes"]["latency"] / 1000
        return self.answer(200, json.dumps(body))

    def answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


def main() -> None:
    with (HERE / "pids").open("a") as pids:
        pids.write(f"{os.getpid()}\n")
    if WRONG == "does not start":
        sys.exit("first line\nproxy: no luck")
    if WRONG == "is silent":
        time.sleep(60)
    first = not (HERE / "tried").exists()
    (HERE / "tried").touch()
    if WRONG == "has no port" or (WRONG == "has no port at first" and first):
        sys.exit(IN_USE)
    if WRONG == "ends later":
        threading.Timer(0.7, os._exit, (3,)).start()
    flags = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=True))
    ThreadingHTTPServer((flags["-host"], int(flags["-port"])), Api).serve_forever()


if __name__ == "__main__":
    main()
