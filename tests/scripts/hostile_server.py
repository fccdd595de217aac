"""An HTTP/2 server made of raw frames, that does to its clients what no server should."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from types import TracebackType

DATA, HEADERS, RESET, SETTINGS, PING, GOAWAY, WINDOW, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1
PREFACE = 24  # bytes


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def field(name: str, value: bytes | str) -> bytes:
    """A header as HPACK has it, without compression and for this time only."""
    value = value.encode() if isinstance(value, str) else value
    return b"\0" + _length(len(name)) + name.encode() + _length(len(value)) + value


def _length(number: int) -> bytes:
    if number < 127:
        return bytes((number,))
    number, out = number - 127, b"\x7f"
    while number >= 128:
        out, number = out + bytes((number % 128 + 128,)), number // 128
    return out + bytes((number,))


BEGIN = field(":status", "200") + field("content-type", "application/grpc")
OK = field("grpc-status", "0")


def message(payload: bytes, *, length: int | None = None, compressed: bool = False) -> bytes:
    return bytes((compressed,)) + struct.pack(">I", len(payload) if length is None else length) + payload


def chunked(payload: bytes, stream: int) -> bytes:
    """DATA frames, none longer than a peer takes."""
    parts = (payload[i : i + 16384] for i in range(0, len(payload), 16384))
    return b"".join(frame(DATA, 0, stream, part) for part in parts)


def answer(payload: bytes, stream: int, trailers: bytes = OK, begin: bytes = BEGIN) -> bytes:
    first = frame(HEADERS, END_HEADERS, stream, begin)
    return first + chunked(payload, stream) + frame(HEADERS, END_HEADERS | END_STREAM, stream, trailers)


Send = Callable[[bytes], None]
# Called for each call with its stream's number; what it sends goes to the client.
Behaviour = Callable[[Send, int], None]


class HostileServer:
    """`on_call` for each call, `on_connection` for each connection, after the settings: their values by identifier."""

    def __init__(
        self,
        on_call: Behaviour,
        on_connection: Callable[[Send], None] = lambda send: None,
        settings: Mapping[int, int] | None = None,
    ) -> None:
        self._on_call, self._on_connection = on_call, on_connection
        self._settings = b"".join(struct.pack(">HI", *each) for each in (settings or {}).items())
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        self.calls = 0
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> HostileServer:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each in (self._listener, *self._sockets):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                peer, _ = self._listener.accept()
                self._sockets.append(peer)
                threading.Thread(target=self._serve, args=(peer,), daemon=True).start()

    def _serve(self, peer: socket.socket) -> None:
        with contextlib.suppress(OSError):
            reader = peer.makefile("rb")
            reader.read(PREFACE)
            peer.sendall(frame(SETTINGS, 0, 0, self._settings))
            self._on_connection(peer.sendall)
            while head := reader.read(9):
                size, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
                payload = reader.read(size)
                stream = int.from_bytes(head[5:9], "big") & 0x7FFFFFFF
                if kind in (SETTINGS, PING) and not flags & ACK:
                    peer.sendall(frame(kind, ACK, 0, payload if kind == PING else b""))
                if kind == HEADERS:
                    self.calls += 1
                    self._on_call(peer.sendall, stream)
