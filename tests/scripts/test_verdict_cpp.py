"""The lines of C++ in a verdict: gRPC has their names, they fit a terminal, and what files say stays a string."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from cqbench.render.verdict import cpp

HEADERS = [Path(folder) for folder in ("/usr/include/grpc", "/usr/include/grpcpp")]
CLIENT = [
    *(f"--api {api}" for api in cpp.API),
    *(f"--channel-policy {policy}" for policy in ("local-pool", "distinct-args", "pool:4")),
    "--channel-arg grpc.optimization_target=latency",
    "--channel-arg=grpc.http2.bdp_probe=0",
    *(f"--compression {name}" for name in cpp.COMPRESSION),
]
SERVER = [
    *(f"server: --api {api}" for api in cpp.SERVER_API),
    "server: --num-cqs 4",
    "server: --workers-per-cq=2",
    "server: --max-concurrent-streams 100",
    "server: --channel-arg grpc.http2.max_pings_without_data=0",
    *(f"server: --compression {name}" for name in cpp.COMPRESSION),
]


def every() -> Iterator[str]:
    for flags in (*CLIENT, *SERVER):
        yield from cpp.of_flags(flags)
    for way in ("separate", "pool:2", "scaling:48"):
        yield from cpp.connections(way)
    yield from cpp.connections("separate", ("distinct-args",))
    yield from cpp.stream_limit(16)


@cache
def headers() -> str:
    files = [path for folder in HEADERS for path in folder.rglob("*.h")]
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in files)


def code(line: str) -> str:
    """Without strings and comments."""
    return re.sub(r'R?"(?:[^"\\]|\\.)*"|//.*', "", line)


def test_every_flag_has_lines() -> None:
    assert [flags for flags in (*CLIENT, *SERVER) if not cpp.of_flags(flags)] == []
    assert all(len(line) <= cpp.WIDTH for line in every())


def test_the_sources_are_there() -> None:
    sources = (*cpp.SOURCES.values(), cpp.CHANNELS, cpp.SERVER_LIMITS)
    assert all((Path(__file__).parents[2] / source).is_file() for source in sources)
    assert cpp.source("--api=cq") == cpp.source("--api cq") != "" and cpp.source("--threads 2") == ""


def test_grpc_has_the_names() -> None:
    if not headers():
        pytest.skip("no headers of gRPC in /usr/include")
    text = " ".join(map(code, every()))
    macros = set(re.findall(r"\bGRPC_\w+", text))
    types = set(re.findall(r"\bgrpc::(\w+)", text))
    methods = set(re.findall(r"(?:args|builder|queue|call)(?:\.|->)(\w+)", text)) - {"AsyncMethod"}
    assert len(macros) >= 5 and len(types) >= 4 and len(methods) >= 8
    assert [name for name in macros | types | methods if not re.search(rf"\b{name}\b", headers())] == []


@pytest.mark.parametrize(
    "flags",
    [
        "",
        "--streaming",
        "--channel-policy shared",
        "--api cq --threads 4",
        "--made-up-flag 3",
        "server: --made-up-flag 3",
        "environment: GRPC_TRACE=all",
        "--api cq; server: --api sync",
        "server: --num-cqs many",
        "server: --max-concurrent-streams -1",
        "--channel-arg grpc.no_value",
    ],
)
def test_without_counterpart_there_are_no_lines(flags: str) -> None:
    assert cpp.of_flags(flags) == ()


def test_what_files_say_stays_a_string() -> None:
    (line,) = cpp.of_flags('--channel-arg a"b\\c=x");system("y')
    assert line == r'args.SetString("a\"b\\c", "x\");system(\"y");'
