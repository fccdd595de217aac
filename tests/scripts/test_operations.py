"""The table of an experiment that makes one call after the other and counts allocations."""

from __future__ import annotations

from typing import cast

from cqbench.files.offered import closed, open_loop
from cqbench.files.result import Document
from cqbench.run import operations
from cqbench.run.cells import Numbered
from test_codecs import NOISE, Point, Result

ONE = closed(1)


def numbered(rates: list[float], counted: dict[str, float], load: object = ONE) -> list[Numbered]:
    figures = {"client_cpu_per_rpc_ns": 20_000.0, "server_cpu_per_rpc_ns": 30_000.0, **counted}
    return [(n, cast(Document, Result([Point(figures, rate, load)]))) for n, rate in enumerate(rates, 1)]


def counts(client: float, server: float | None) -> dict[str, float]:
    ends = {"client": client, **({} if server is None else {"server": server})}
    return {
        f"{end}_{key}_per_rpc": value * factor
        for end, value in ends.items()
        for key, factor in (("allocations", 1), ("allocated_bytes", 100))
    }


def row(text: str, name: str) -> list[list[str]]:
    (line,) = (line for line in text.splitlines() if line.split("|")[0].split() == [name])
    return [part.split() for part in line.split("|")[1:]]


def test_columns_are_those_of_go_with_the_server_apart() -> None:
    half = [rate / 2 for rate in NOISE]
    text = operations.render(
        {
            "get.grpc": numbered(NOISE, counts(10, 5)),
            "get.http1": numbered(half, counts(3, 2)),
            "get.go": numbered(half, counts(3, None)),
            "delete.grpc": numbered(NOISE, counts(10, 5)),
        },
        [ONE],
    )
    assert row(text, "http1")[0] == ["2000000", "[1818182,", "2222222]", "2.00", "(2.00-2.00)"]
    assert row(text, "http1")[1:] == [["500", "5.0"], ["200", "2.0"], ["20.0", "30.0"]]
    assert row(text, "go")[1:3] == [["-", "-"], ["-", "-"]]
    assert text.splitlines()[2].startswith("get ") and "\ndelete " in text
    assert [line.split("|")[1].split()[0] for line in text.splitlines() if line.startswith("grpc")] == ["1000000"] * 2
    assert all(len(line) <= 120 for line in text.splitlines())


def test_other_loads_and_nothing_counted_have_no_such_table() -> None:
    assert operations.render({"a": numbered(NOISE, {})}, [ONE]) == ""
    for load in (closed(2), open_loop(1.0)):
        assert operations.render({"a": numbered(NOISE, counts(1, 1), load)}, [load]) == ""
    assert operations.render({"a": numbered(NOISE, counts(1, 1))}, [ONE, closed(2)]) == ""
