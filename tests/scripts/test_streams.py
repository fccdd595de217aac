"""Streams of chunks: the table of an experiment, and the file server beside ours."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from cqbench.files.offered import closed
from cqbench.files.point import NUMBERS
from cqbench.files.result import Document
from cqbench.run import streams
from cqbench.run.cells import Numbered
from cqbench.run.peers import files
from cqbench.run.peers.tools import BadOutput

ONE = closed(1)
H2LOAD = """\
finished in 1.25s, 32.00 req/s, 512.30MB/s
requests: 40 total, 40 started, 40 done, 40 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 40 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 641.37MB (672526380) total, 2.46KB (2520) headers (space savings 94.27%), 640.00MB (671088640) data
"""


@dataclass
class Point:
    figures: dict[str, float]
    load: Any = ONE
    window_ns: int = 0
    partial: bool = False
    failure: str = ""
    failed: int = 0
    throughput: float = 1.0


@dataclass
class Result:
    points: list[Point] = field(default_factory=list)


def numbered(gbits: list[float], cost: list[float], asked: float = 0) -> list[Numbered]:
    found = []
    for number, (rate, cores) in enumerate(zip(gbits, cost, strict=True)):
        figures = {"payload_bytes_per_second": rate / 8e-9, "server_cores_used": cores * rate}
        figures["server_cores_per_gbit_per_second"] = cores
        if asked:
            figures["payload_bytes_asked_per_second"] = asked / 8e-9
        found.append((number, cast(Document, Result([Point(figures)]))))
    return found


def test_the_table_of_streams() -> None:
    costs = [0.10, 0.11, 0.09, 0.10, 0.12, 0.10]
    cheaper = [cost / 2 for cost in costs]
    text = streams.render({"put.plain": numbered([8] * 6, costs), "put.best": numbered([12] * 6, cheaper)}, [ONE])
    plain, best = (next(line for line in text.splitlines() if line.startswith(name)) for name in ("put.p", "put.b"))
    assert " 8.00 " in plain and "0.1000" in plain and "(" not in plain
    assert " 12.00 " in best and "0.0500" in best and "0.50 (0.50-0.50)" in best
    assert "were asked for" not in text


def test_few_repetitions_have_no_interval_and_other_methods_no_table() -> None:
    text = streams.render({"put.a": numbered([8], [0.2]), "put.b": numbered([8], [0.1])}, [ONE])
    assert " 0.50\n" in text
    assert streams.render({"unary": [(1, cast(Document, Result([Point({})])))]}, [ONE]) == ""


def test_a_rate_that_was_missed_is_said() -> None:
    text = streams.render({"a": numbered([4, 4.5, 4], [0.1] * 3, asked=5)}, [ONE])
    assert "! a: 5.00 Gbit/s were asked for, 4.00 were reached" in text


def test_h2load_has_to_bring_whole_blobs() -> None:
    assert files.parse_h2load(H2LOAD, 40) == 1.25
    assert files.parse_h2load(H2LOAD.replace("1.25s", "900.5ms"), 40) == pytest.approx(0.9005)
    for old, new in (("40 2xx", "39 2xx"), ("671088640", "671088639"), ("finished", "began")):
        with pytest.raises(BadOutput, match="h2load"):
            files.parse_h2load(H2LOAD.replace(old, new), 40)


def test_ratios_of_the_servers_are_to_the_first() -> None:
    rounds = [{"nginx": files.Transfer(10, 0.05), "bytes": files.Transfer(8, 0.1)} for _ in range(6)]
    kinds = [kind for kind in files.KINDS if kind.name in ("nginx", "bytes", "fresh")]
    nginx, fresh, ours = files.render(rounds, kinds).splitlines()[1:]
    assert "10.00" in nginx and "(" not in nginx
    assert fresh.split()[-4:] == ["-", "-", "-", "0"]
    assert "2.00 (2.00-2.00)" in ours


def test_nginx_keeps_to_its_folder() -> None:
    config = files.nginx_config(Path("/some/where"), 1234)
    assert "listen 127.0.0.1:1234 http2;" in config and "pid /some/where/pid;" in config
    assert config.count("_temp_path /some/where/") == 5


def test_the_cpu_time_of_this_process_is_some() -> None:
    assert files.cpu_seconds(os.getpid()) > 0


def test_what_the_table_shows_is_read_from_results() -> None:
    keys = [streams.RATE, streams.ASKED, *(streams.COST.format(end) for end in streams.ENDS)]
    assert [key for key in keys if not key.startswith(NUMBERS)] == []
