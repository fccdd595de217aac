"""The tables that end an experiment: which are shown, and the figures of each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from cqbench.formats.figures import CATALOGUE
from cqbench.formats.offered import Load, closed, open_loop
from cqbench.formats.result import parse
from cqbench.model.figures import ENDS
from cqbench.render.experiment import tables
from cqbench.render.experiment.cells import Numbered, cells
from cqbench.render.experiment.tables import BARS, CODECS, COMPRESSED, ENCRYPTED, OPERATIONS, STREAMS, Kind
from cqbench.render.table import Line

DATA = Path(__file__).parent / "data/result.json"
ONE = closed(1)
NOISE = [1000.0, 1100.0, 900.0, 1050.0, 950.0, 1000.0]
TWICE, HALF = ([factor * rate for rate in NOISE] for factor in (2, 0.5))
RATIO_2, RATIO_HALF = "2.00 (2.00-2.00)", "0.50 (0.50-0.50)"
CPU = {"client_cpu_per_rpc_ns": 20_000.0, "server_cpu_per_rpc_ns": 30_000.0}
By = Mapping[str, Sequence[Numbered]]


def results(
    rates: Sequence[float], figures: Mapping[str, Any] | None = None, loads: Sequence[Load] = (ONE,), **context: Any
) -> list[Numbered]:
    """A result for each rate, with a point at each load level. figures: of every point, or a list of values."""
    data = json.loads(DATA.read_text())
    first = {k: v for k, v in data["benchmarks"][0].items() if not k.startswith(("breakdown", "payload"))}
    found = []
    for i, rate in enumerate(rates):
        own = {key: value[i] if isinstance(value, list) else value for key, value in (figures or {}).items()}
        point = {**first, "throughput_per_second": rate, "failed": 0, **own}
        counts = [{"target_rate_per_second": x.number} if x.open else {"inflight": int(x.number)} for x in loads]
        points = [{key: value for key, value in (point | count).items() if value is not None} for count in counts]
        made = data | {"context": data["context"] | context, "benchmarks": points}
        found.append((i + 1, parse(json.dumps(made).encode(), "made")))
    return found


def shown(kind: Kind, by: By, loads: Sequence[Load] = (ONE,)) -> dict[str, dict[str, str]]:
    """By configuration (and load level, of several), the texts by the titles of columns; {} for no table."""
    made = [block for block in tables.blocks(kind, cells(by, loads)) if not isinstance(block, Line)]
    found = {}
    for table in made:
        names = [column.title for column in table.columns]
        titles = [name if name and names.count(name) == 1 else f"column {i}" for i, name in enumerate(names)]
        for row in (row for row in table.rows if not isinstance(row, Line)):
            texts = dict(zip(titles, (cell.text for cell in row), strict=True))
            found[texts["configuration"] + (f" at {texts['load']}" if len(loads) > 1 else "")] = texts
    return found


def figures_of(row: dict[str, str]) -> list[str]:
    return [text for title, text in row.items() if title not in ("configuration", "load")]


def counts(client: float, server: float | None) -> dict[str, float]:
    ends = {"client": client, **({} if server is None else {"server": server})}
    names = (("allocations", 1), ("allocated_bytes", 100))
    return CPU | {f"{end}_{name}_per_rpc": value * k for end, value in ends.items() for name, k in names}


def timed(step_ns: float, share: float = 0.04) -> dict[str, float]:
    return dict.fromkeys(tables.CODEC_STEPS, step_ns) | {tables.CODEC_SHARE.format(end): share for end in ENDS}


def test_bars_are_as_long_as_the_medians() -> None:
    by = {
        "one.fast": results([900, 1000, 2000], {"server_cpu_per_rpc_ns": 2500}),
        "one.half": results([500], {"server_cpu_per_rpc_ns": None}),
        "two.none": [],
    }
    found = shown(BARS, by)
    fast, half, none = found.values()
    assert (fast["calls/s"], fast["server µs"], fast["column 8"]) == ("1000", "2.5", "#" * tables.BAR)
    assert (half["calls/s"], half["server µs"], half["column 8"]) == ("500", "-", "#" * (tables.BAR // 2))
    assert (none["calls/s"], none["P99 µs"], none["column 8"]) == ("-", "-", "")


def test_an_interval_takes_six_repetitions() -> None:
    found = shown(BARS, {"a": results([1, 2, 3, 4, 5, 6]), "b": results([1, 2, 3, 4, 5])})
    assert [row["column 2"] for row in found.values()] == ["[1, 6]", ""]


def test_calls_that_failed_are_in_no_table() -> None:
    failed = {"failed": 1, "errors": [[{"code": "UNAVAILABLE", "count": 1, "first_message": ""}]] * 2}
    assert shown(BARS, {"a": results([1, 2], failed), "b": results([3])})["a"]["calls/s"] == "-"


def test_codecs_have_shares_and_ratios_to_the_first() -> None:
    loads = [ONE, closed(48)]
    half_cpu = {key: value / 2 for key, value in CPU.items()}
    by = {"fresh": results(NOISE, timed(250) | CPU, loads), "bytes": results(TWICE, half_cpu, loads)}
    found = shown(CODECS, by, loads)
    first, other = found["fresh at 1 in flight"], found["bytes at 1 in flight"]
    assert figures_of(first) == ["1000", "4.0", "4.0", "", "", ""]
    assert figures_of(other) == ["-", "-", "-", RATIO_2, RATIO_HALF, RATIO_HALF]
    assert sum("48 in flight" in name for name in found) == 2


def test_a_repetition_that_failed_costs_its_neighbour_too() -> None:
    broken = results([*TWICE, 1.0], timed(250) | {"failed": [0] * len(TWICE) + [3]})
    found = shown(CODECS, {"a": results([*NOISE, 5000.0], timed(250)), "b": broken})
    assert found["b"]["calls/s / first"] == RATIO_2


def test_operations_have_the_columns_of_go_with_the_server_apart() -> None:
    by = {
        "get.grpc": results(NOISE, counts(10, 5)),
        "get.http1": results(HALF, counts(3, 2)),
        "get.go": results(HALF, counts(3, None)),
        "delete.grpc": results(NOISE, counts(10, 5)),
    }
    found = shown(OPERATIONS, by)
    http1 = ["2000000", "[1818182, 2222222]", RATIO_2, "500", "5.0", "200", "2.0", "20.0", "30.0"]
    assert figures_of(found["get.http1"]) == http1
    assert figures_of(found["get.go"])[3:7] == ["-"] * 4
    assert [found[name]["ns/op"] for name in ("get.grpc", "delete.grpc")] == ["1000000"] * 2
    (table,) = (block for block in tables.blocks(OPERATIONS, cells(by, [ONE])) if not isinstance(block, Line))
    assert [isinstance(row, Line) for row in table.rows] == [False, False, False, True, False]


def test_streams_have_gbits_and_what_each_costs() -> None:
    costs = [0.10, 0.11, 0.09, 0.10, 0.12, 0.10]
    figures = {"server_cores_per_gbit_per_second": costs, tables.PAYLOAD: 1e9}
    cheaper = figures | {"server_cores_per_gbit_per_second": [cost / 2 for cost in costs], tables.PAYLOAD: 1.5e9}
    found = shown(STREAMS, {"put.plain": results(NOISE, figures), "put.best": results(NOISE, cheaper)})
    plain, best = map(figures_of, found.values())
    assert (plain[0], plain[-2:]) == ("8.00", ["0.1000", ""])
    assert (best[0], best[-2:]) == ("12.00", ["0.0500", RATIO_HALF])
    few = {"a": results([1], {**figures, **CPU}), "b": results([1], cheaper), "unary": results([1])}
    assert shown(STREAMS, few)["b"].popitem()[1] == "0.50" and "unary" not in shown(STREAMS, few)


def test_a_byte_rate_that_was_missed_is_said() -> None:
    asked = {tables.PAYLOAD: [4 / 8e-9, 4.5 / 8e-9, 4 / 8e-9], tables.PAYLOAD_ASKED: 5 / 8e-9}
    *_, note = tables.blocks(STREAMS, cells({"a": results([1, 1, 1], asked)}, [ONE]))
    assert isinstance(note, Line) and note.text == "! a: 5.00 Gbit/s were asked for, 4.00 were reached"
    reached = asked | {tables.PAYLOAD: 4.9 / 8e-9}
    *_, note = tables.blocks(STREAMS, cells({"a": results([1, 1, 1], reached)}, [ONE]))
    assert isinstance(note, Line) and note.text == STREAMS.legend


def test_what_encryption_takes() -> None:
    figures = {"client_connect_ns": 5e7, "connections": 10, "client_bytes_sent": 1e6, "client_bytes_received": 1e6}
    dear = {key: 2 * value for key, value in CPU.items()}
    tls = results(HALF, figures | dear, security="mutual-tls")
    found = shown(ENCRYPTED, {"empty.plaintext": results(NOISE, figures | CPU), "empty.tls": tls})
    plain, encrypted = map(figures_of, found.values())
    assert plain[-1] == encrypted[-1] == "200"
    assert encrypted[:2] == ["500", RATIO_HALF] and encrypted[3:7] == ["40.0", RATIO_2, "60.0", RATIO_2]


def test_what_compression_leaves() -> None:
    def left(share: float) -> dict[str, float]:
        wire = {f"client_bytes_{way}_per_payload_byte": share for way in ("sent", "received")}
        return wire | {key: value / share for key, value in CPU.items()}

    by = {"1KiB.none": results(NOISE, left(1.1)), "1KiB.gzip": results(NOISE, left(0.55), compression="gzip")}
    none, gzip = map(figures_of, shown(COMPRESSED, by).values())
    assert (none[:2], gzip[:2]) == (["1.100"] * 2, ["0.550"] * 2)
    assert gzip[-1] == RATIO_2 and none[-1] == ""


@pytest.mark.parametrize(
    ("kind", "figures", "loads"),
    [
        (BARS, {}, [ONE]),  # nothing to compare it with
        (CODECS, {}, [ONE, closed(48)]),
        (STREAMS, {}, [ONE]),
        (ENCRYPTED, CPU, [ONE]),
        (COMPRESSED, CPU, [ONE]),
        (OPERATIONS, {}, [ONE]),
        *((OPERATIONS, counts(1, 1), loads) for loads in ([closed(2)], [open_loop(1.0)], [ONE, closed(2)])),
    ],
)
def test_what_it_is_not_about_has_no_such_table(kind: Kind, figures: dict[str, float], loads: list[Load]) -> None:
    assert shown(kind, {"a": results(NOISE, figures, loads)}, loads) == {}


def test_what_tables_show_is_read_from_results() -> None:
    keys = [tables.PAYLOAD, tables.PAYLOAD_ASKED, *(tables.COST.format(end) for end in ENDS)]
    assert [key for key in keys if key not in CATALOGUE] == []
