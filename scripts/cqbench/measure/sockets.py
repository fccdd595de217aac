"""One TCP connection between two processes that were started here, and what can become of it. Linux only, no root.

A proxy resets or silences all of its connections, and those that follow: whether a client finds a way back cannot be
seen behind one. So the connection itself is taken hold of: pidfd_getfd (Linux 5.6) lends a descriptor of a child's
socket to its parent. On it connect() to no address makes the kernel send a reset, and a filter that lets no packet
through leaves the connection half-open: nothing arrives, nothing is acknowledged, and no packet says so.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from cqbench.measure.processes import Failed

PIDFD_GETFD = 438  # the same on all architectures
SO_ATTACH_FILTER = 26
DROP = struct.pack("HBBI", 6, 0, 0, 0)  # BPF_RET | BPF_K: 0 bytes of the packet
NO_ADDRESS = struct.pack("H14x", socket.AF_UNSPEC)
_LIBC = ctypes.CDLL(None, use_errno=True)


class NoConnection(Failed):
    """There is none, or it cannot be taken hold of; the text is one line."""


@dataclass(frozen=True)
class End:
    """A process's descriptor of a socket."""

    pid: int
    fd: int


def oldest(client: int, server: int, port: int) -> tuple[End, End]:
    """Client's and server's end of the first connection that the client still has to that port of the server.

    Connections of measured calls are made before those to the control service. client, server: processes. Raises
    NoConnection.
    """
    accepted = {c.raddr.port: c.fd for c in _established(server) if c.laddr.port == port}
    to_server = [c for c in _established(client) if c.raddr.port == port and c.laddr.port in accepted]
    if not to_server:
        raise NoConnection(f"process {client} has no connection to port {port} of process {server}")
    first = min(to_server, key=lambda c: _inode(client, c.fd))
    return End(client, first.fd), End(server, accepted[first.laddr.port])


def reset(end: End) -> None:
    """The other end gets a reset, and this one has a socket without a connection. Raises NoConnection."""
    with _borrowed(end) as borrowed:
        if _LIBC.connect(borrowed.fileno(), NO_ADDRESS, len(NO_ADDRESS)) != 0:
            raise NoConnection(f"the connection cannot be reset: {os.strerror(ctypes.get_errno())}")


def silence(end: End) -> None:
    """No packet of the connection reaches this end any more. Raises NoConnection."""
    program = ctypes.create_string_buffer(DROP, len(DROP))
    with _borrowed(end) as borrowed:
        try:
            filter_ = struct.pack("HL", 1, ctypes.addressof(program))
            borrowed.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, filter_)
        except OSError as error:
            raise NoConnection(f"the connection cannot be silenced: {error.strerror}") from None


def why_not() -> str:
    """Why a child's sockets cannot be taken hold of here; '' when they can. Tries it on this process's own."""
    with socket.socket() as own:
        try:
            with _borrowed(End(os.getpid(), own.fileno())):
                return ""
        except NoConnection as error:
            return str(error)


@contextmanager
def _borrowed(end: End) -> Iterator[socket.socket]:
    try:
        process = os.pidfd_open(end.pid)
    except (OSError, AttributeError) as error:
        raise NoConnection(f"pidfd_open: {getattr(error, 'strerror', None) or error}") from None
    try:
        fd = _LIBC.syscall(PIDFD_GETFD, process, end.fd, 0)
        if fd < 0:
            raise NoConnection(f"pidfd_getfd: {os.strerror(ctypes.get_errno())}")
    finally:
        os.close(process)
    with socket.socket(fileno=fd) as borrowed:
        yield borrowed


def _established(pid: int) -> list[Any]:
    """A process's TCP connections. Raises NoConnection."""
    try:
        return [c for c in psutil.Process(pid).net_connections("tcp") if c.status == psutil.CONN_ESTABLISHED]
    except psutil.Error as error:
        raise NoConnection(f"process {pid}: its sockets cannot be listed: {error}") from None


def _inode(pid: int, fd: int) -> int:
    """The number of a socket; later sockets have higher numbers. A closed one counts as the latest."""
    try:
        return Path(f"/proc/{pid}/fd/{fd}").stat().st_ino
    except OSError:
        return sys.maxsize
