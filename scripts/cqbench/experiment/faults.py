"""Faults in an experiment's file: the keys of each kind, their texts, and what a fault excludes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cqbench.experiment.fields import show
from cqbench.experiment.tables import Fault, Head

# Keys of each kind in addition to `at`; all of them are required.
KEYS: dict[str, tuple[str, ...]] = {
    "latency": ("lasts", "delay"),
    "bandwidth": ("lasts", "kbytes_per_second"),
    "stop": ("lasts",),
    "gone": ("lasts",),
    **dict.fromkeys(("reset", "half-open", "restart", "goaway"), ()),
}
LEAD_S = 0.8  # for the client to start and to connect before its warm-up; it takes 0.1 s, unless the machine is busy
SHARED_PORT = ("--channel-arg", "grpc.so_reuseport=1")  # a server needs it if another server is to listen at its port
PROXIED = ("latency", "bandwidth")
SOCKETS = ("reset", "half-open")  # made by taking hold of a process's socket
# Settings with which server and client are not where a fault looks for them, and why.
NOT_BESIDE = {
    "host": "the server is not started here",
    "connect": "a server that is started anew has another HTTP port",
    "added_rtt": "a fault that needs a proxy has one of its own",
}


def problems(where: str, own: Mapping[str, Any], head: Head) -> Iterator[str]:
    """A line each. own: the settings of a configuration, as the file has them."""
    fault: Fault | None = own.get("fault")
    if own.get("host") and own.get("servers", 1) > 1:
        yield f"{where}.servers: {own['servers']} is not accepted with host: no server is started here"
    if fault is None:
        return
    for key, why in NOT_BESIDE.items():
        if own.get(key) is not None:
            yield f"{where}.fault: {show(fault.kind)} is not accepted with {key}: {why}"
    if own.get("build", "release") != "release":
        why = "its programs are not children of this one"
        yield f'{where}.fault: {show(fault.kind)} is not accepted with build "{own["build"]}": {why}'
    if head.counting:
        why = "counting has windows of its own"
        yield f"{where}.fault: {show(fault.kind)} is not accepted with experiment.counting: {why}"
    if own.get("servers", 1) > 1 and fault.kind in PROXIED:
        yield f"{where}.servers: {own['servers']} is not accepted with fault {show(fault.kind)}: its proxy is of one"
    for key in ("lasts", "delay", "kbytes_per_second"):
        given, needed = getattr(fault, key), key in KEYS[fault.kind]
        if needed and given is None:
            yield f"{where}.fault: '{key}' is missing, which {show(fault.kind)} needs"
        if given is not None and not needed:
            yield f"{where}.fault.{key}: {show(given)} is not accepted: {show(fault.kind)} has none"
    end = fault.at + (fault.lasts or 0)
    if end >= head.interval:
        why = f"it ends {end:g} s into a window of {head.interval:g} s"
        yield f"{where}.fault.at: {fault.at:g} s is not accepted: {why}"


def words(fault: Fault) -> str:
    """'latency of 100 ms for 1 s', 'reset'."""
    more = f" of {fault.delay} ms" if fault.delay is not None else ""
    more += f" of {fault.kbytes_per_second} kB/s" if fault.kbytes_per_second is not None else ""
    return fault.kind + more + (f" for {fault.lasts:g} s" if fault.lasts is not None else "")
