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
    names = ("http1", "bare-http1", "http1-loopback")
    ours, bare, proxied = ((found[f"get.{name}"].middle(alone, SERVER_CPU) or 0.0) / 1000 for name in names)
    more = against(found, "get.http1", "get.bare-http1", SERVER_CPU)
    assert f"({ours:.1f} against {bare:.1f} us, {in_words(more, join=' x, {} to {}')})" in words and (more.low or 2) < 1
    assert f"{proxied:.0f} us of the server instead of {ours:.0f} for a get" in words
    slower = against(found, "get.grpc", "get.http1", LATENCY)
    assert f"for a get {in_words(slower, 1, ' x ({} to {})')} one call after the other" in words
    gateway = against(found, "get.grpc-gateway", "get.http1", SERVER_CPU)
    assert f"needs {in_words(gateway, 1, ' x ({} to {})')} the server CPU of ours for a get" in words


def row(name: str) -> list[float]:
    """Returns a row of the table by calls in flight, which no stored run has: sentences must at least match the
    table.
    """
    (line,) = [line for line in (ROOT / OTHERS).read_text().splitlines() if line.startswith(f"| {name} |")]
    return [float(cell.split("(")[0].replace(",", "")) for cell in line.strip("| ").split("|")[1:]]


def test_transcoding_by_calls_in_flight() -> None:
    http, grpc, each = (
        row("HTTP/1.1, a connection each (bare front)"),
        row("gRPC, one connection"),
        row("gRPC, a connection each"),
    )
    by = [f"{a / b:.1f}" for a, b in zip(http, grpc, strict=True)]
    assert by == ["2.5", "2.5", "2.2", "2.0"]
    assert "2.0 x (64 calls in flight) to 2.5 x (1 and 4) in the sweep" in text(OTHERS)
    h2c, h2c_each = row("h2c, one connection (bare)"), row("h2c, a connection each (bare)")
    shares = f"h2c {h2c[1] / h2c_each[1]:.1f} x, gRPC {grpc[1] / each[1]:.1f} x"
    assert f"at 4 in flight it is the other way round ({shares})" in text(OTHERS)
    assert (
        f"h2c makes {h2c[3] / h2c_each[3]:.1f} x, gRPC {grpc[3] / each[3]:.1f} x the calls of 64 connections"
        in text(OTHERS)
    )
    said = re.search(
        r"costs a (\w+) of a bare front's CPU at 64 calls in flight\*\* \(([\d.]+) against ([\d.]+) us", text(OTHERS)
    )
    assert said and {"sixth": 1 / 6, "quarter": 1 / 4}[said[1]] == pytest.approx(
        float(said[2]) / float(said[3]) - 1, abs=0.02
    )


def streams(folder: Path) -> dict[str, Series]:
    """Returns the series of the sync client, by their connections."""
    found = load_series(read_all([folder]))
    kept = [s for s in found if (s.setting.get("method"), s.setting.get("api")) == ("streaming", "sync")]
    return {s.setting.connections: s for s in kept}


def test_the_handbooks_shared_connection_is_no_more_than_likely(stored: Path) -> None:
    """And where the README has the same calls the client's CPU was full."""
    load, key = closed(4), "client_cores_used"
    here, there = streams(DATA / "verdict-connection"), streams(stored / "headline")
    gain = against(here, SEPARATE, SHARED, THROUGHPUT, load)
    used, full = describe(here[SHARED].values(load, key)), describe(there[SHARED].values(load, key))
    assert f"{gain.value:.2f} ({gain.low:.2f} to {gain.high:.2f}) times as many calls" in text(HANDBOOK)
    assert f"used {used.value:.2f} of its CPU ({used.low:.2f} to {used.high:.2f})" in text(HANDBOOK)
    assert f"full with one connection already ({full.value:.2f})" in text(HANDBOOK) and (full.low or 0) > 0.95


def test_the_readmes_error_rates_are_the_handbooks() -> None:
    table, words = text(HANDBOOK), text(MAIN)
    assert "| … has a bottleneck, certain or likely | 0.7 to 1.3 % |" in table
    assert "keeps up (93 % of linear) | 0, 0 and 5.3 % |" in table
    assert "0.7 to 1.3 % of experiments in which nothing differs get a bottleneck, certain or likely" in words
    assert "keeps up with 93 % of linear growth, 5.3 % get a certain one" in words
