"""Figures in sentences of the documents are those of the stored runs, as the tables' are (test_handbook.py)."""

from __future__ import annotations

import re
import tarfile
from pathlib import Path

import experiment_tables
import pytest
from cqbench.formats.offered import Load, closed
from cqbench.formats.runs import read_all
from cqbench.model.series import Series, load_series, ratio
from cqbench.model.setting import SEPARATE, SHARED
from cqbench.stats.medians import describe
from cqbench.stats.ratios import Ratio

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data"
MAIN, HANDBOOK, OTHERS = "README.md", "scripts/README.md", "scripts/experiments/README.md"


def text(name: str) -> str:
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stored")
    experiment_tables.unpack(folder)
    with tarfile.open(DATA / "headline.tar.xz") as headline:
        headline.extractall(folder)
    return folder


def configurations(folder: Path) -> dict[str, Series]:
    return {min(s.configurations): s for s in load_series(read_all([folder]), apart=True)}


def against(found: dict[str, Series], top: str, bottom: str, key: str, load: Load | None = None) -> Ratio:
    made = ratio(found[top], found[bottom], load or found[top].loads[-1], key)
    assert made and made.low and made.high
    return made


def dashed(of: Ratio) -> str:
    """As the README has it."""
    return f"{of.value:.2f} ({of.low:.2f}–{of.high:.2f})"


def in_words(of: Ratio, digits: int = 2, join: str = ", {} to {}") -> str:
    """'1.06 x, 0.87 to 1.29'."""
    return f"{of.value:.{digits}f}" + join.format(*(f"{end:.{digits}f}" for end in (of.low, of.high)))


THROUGHPUT, SERVER_CPU, LATENCY = "throughput_per_second", "server_cpu_per_rpc_ns", "latency_mean_ns"


def test_tls_takes_and_separate_connections_take(stored: Path) -> None:
    found = configurations(stored / "tls")
    for size, title in (("empty", "empty ping"), ("64KiB", "64 KiB each way")):
        cells = [
            against(found, f"{size}.shared.aes-gcm", f"{size}.shared.plaintext", THROUGHPUT),
            against(found, f"{size}.separate.plaintext", f"{size}.shared.plaintext", THROUGHPUT),
            against(found, f"{size}.separate.aes-gcm", f"{size}.shared.aes-gcm", THROUGHPUT),
        ]
        assert f"| {title} | {' | '.join(map(dashed, cells))} |" in text(MAIN)
        assert in_words(cells[1], join=(", {} to {}" if size == "64KiB" else " ({} to {})")) in text(OTHERS)
    plain = against(found, "1KiB.separate.plaintext", "1KiB.shared.plaintext", THROUGHPUT)
    packed = against(found, "1KiB.separate.aes-gcm", "1KiB.shared.aes-gcm", THROUGHPUT)
    said = " and ".join(in_words(r, join=" ({} to {})") for r in (plain, packed))
    assert f"with 1 KiB {said};" in text(OTHERS)


def test_tls_costs_small_messages(stored: Path) -> None:
    found = configurations(stored / "tls")
    ends = ("client_cpu_per_rpc_ns", SERVER_CPU)
    small = [
        against(found, f"{size}.shared.aes-gcm", f"{size}.shared.plaintext", key).value
        for size in ("empty", "1KiB")
        for key in ends
    ]
    assert f"costs either end {100 * min(small) - 100:.0f} to {100 * max(small) - 100:.0f} % more CPU" in text(OTHERS)


def test_a_servers_restart(stored: Path) -> None:
    """As in its table, which is made of the run."""
    table = experiment_tables.table("faults", stored)
    found = re.findall(r"^restart\.(\w+) +([\d.]+) \(([\d.]+)-([\d.]+)\)", table, re.MULTILINE)
    (_, *shared), (_, *separate) = found
    assert [name for name, *_ in found] == ["shared", "separate"] and float(shared[2]) > 60
    assert f"takes {shared[0]} % ({shared[1]}–{shared[2]}; one run of six did not recover)" in text(MAIN)
    assert f"against {separate[0]} % ({separate[1]}–{separate[2]}), as" in text(MAIN)
    assert "; ".join("{} {}, {} to {}".format(*of) for of in found) in text(OTHERS)


def test_transcoding_one_call_after_the_other(stored: Path) -> None:
    found, words = configurations(stored / "transcoding"), text(OTHERS)
    alone = found["get.http1"].loads[0]
    names = ("http1", "bare-http1", "http1-handwritten", "http1-loopback")
    cpu = [(found[f"get.{name}"].middle(alone, SERVER_CPU) or 0.0) / 1000 for name in names]
    ours, bare, by_hand, proxied = cpu
    assert f"it is {ours:.1f} against {bare:.1f} us." in words and f"saves nothing ({by_hand:.1f})" in words
    assert f"{proxied:.0f} us of the server instead of {ours:.0f} for a get" in words
    to_grpc = {kind: against(found, f"{kind}.http1", f"{kind}.grpc", LATENCY) for kind in ("get", "update", "delete")}
    get, update, delete = (in_words(of, 2, " x ({} to {})") for of in to_grpc.values())
    assert f"takes {get} of the time of gRPC for a get, {update} for an update and {delete} for a delete" in words
    slower = against(found, "get.grpc-gateway", "get.http1", LATENCY)
    assert f"takes {in_words(slower, 2, ' x ({} to {})')} the time of ours for a get over HTTP/1.1" in words
    more = against(found, "get.grpc-gateway", "get.http1", SERVER_CPU)
    assert f"{in_words(more, 2, ' x ({} to {})')} the server CPU." in words


def test_transcoding_by_calls_in_flight(stored: Path) -> None:
    found, words = configurations(stored / "transcoding-connections"), text(OTHERS)

    def of(top: str, bottom: str, inflight: int, key: str = THROUGHPUT) -> float:
        one, other = (found[name].middle(closed(inflight), key) for name in (top, bottom))
        assert one and other
        return one / other

    assert f"makes {of('grpc.shared', 'http1.separate', 64):.2f} x the calls of HTTP/1.1 over 64" in words
    assert f"h2c makes {of('h2c.shared', 'h2c.separate', 64):.1f} x, gRPC" in words
    assert f"gRPC {of('grpc.shared', 'grpc.separate', 64):.1f} x the calls of 64 connections" in words
    assert f"the other way round for h2c ({of('h2c.shared', 'h2c.separate', 4):.1f} x)" in words
    assert of("loopback.shared", "loopback.separate", 64) > 1  # "its shared connection is the better one"
    cpu = [(found[name].middle(closed(64), SERVER_CPU) or 0.0) / 1000 for name in
           ("http1.separate", "bare-http1.separate", "h2c.shared", "bare-h2c.shared")]  # fmt: skip
    assert (
        "{:.1f} against {:.1f} us of the server for a call over HTTP/1.1, {:.1f} against {:.1f} us".format(*cpu)
        in words
    )
    assert cpu[0] / cpu[1] == pytest.approx(1.75, abs=0.06)  # "adds three quarters"
    by = [of("grpc-gateway-http1.separate", "http1.separate", load) for load in (4, 8, 16, 32, 64)]
    assert f"it makes {min(by):.2f} to {max(by):.2f} of the calls" in words
    assert f"connection {of('grpc-gateway-h2c.shared', 'h2c.shared', 64):.2f} at 64" in words


def streams(folder: Path) -> dict[str, Series]:
    """Returns the series of the sync client, by their connections."""
    found = load_series(read_all([folder]))
    kept = [s for s in found if (s.setting.get("method"), s.setting.get("api")) == ("streaming", "sync")]
    return {s.setting.connections: s for s in kept}


def test_the_handbooks_shared_connection_is_no_more_than_likely(stored: Path) -> None:
    """And where the README has the same calls the client's CPU had room, with intervals."""
    load, key = closed(4), "client_cores_used"
    here, there = streams(DATA / "verdict-connection"), streams(stored / "headline")
    gain, other = (against(of, SEPARATE, SHARED, THROUGHPUT, load) for of in (here, there))
    used, room = describe(here[SHARED].values(load, key)), describe(there[SHARED].values(load, key))
    assert f"{gain.value:.2f} ({gain.low:.2f} to {gain.high:.2f}) times as many calls" in text(HANDBOOK)
    assert f"used {used.value:.2f} of its CPU ({used.low:.2f} to {used.high:.2f})" in text(HANDBOOK)
    assert f"used {room.value:.2f} of the client's CPU ({room.low:.2f} to {room.high:.2f})" in text(HANDBOOK)
    assert f"separate connections made {other.value:.2f} times as many" in text(HANDBOOK)


def test_the_readmes_reason(stored: Path) -> None:
    """With few calls a shared connection leaves the client's CPU unused; with many the CPU is saturated either way."""
    found, words = configurations(stored / "headline"), text(MAIN)
    names = [f"{mode}.{api}" for mode in ("unary", "streaming") for api in ("sync", "cq")]

    def reach(values: list[float]) -> str:
        return f"{min(values):.2f} to {max(values):.2f}"

    def used(way: str, inflight: int) -> str:
        return reach([found[f"{n}.{way}"].middle(closed(inflight), "client_cores_used") or 0.0 for n in names])

    gains = [against(found, f"{n}.separate", f"{n}.shared", THROUGHPUT, closed(4)).value for n in names]
    assert f"is {reach(gains)} times as fast: over one connection the client uses {used('shared', 4)} of" in words
    assert f"over four {used('separate', 4)}." in words
    assert f"With 48 in flight one connection already uses {used('shared', 48)} of it." in words


def test_the_readmes_error_rates_are_the_handbooks() -> None:
    table, words = text(HANDBOOK), text(MAIN)
    assert "| … has a bottleneck, certain or likely | 0.7 to 2.0 % |" in table
    assert "keeps up (93 % of linear) | none of 150 each |" in table
    assert "0.7 to 2.0 % of experiments in which nothing differs get a bottleneck, certain or likely" in words
    assert "keeps up with 93 % of linear growth, none of 150" in words
