"""What a gain of separate connections is made of: more CPU at work, or cheaper calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from verdict_synthetic import SHARED, found, judged, setting, without

from cqbench.runs import read_all
from cqbench.verdict_evidence import Factors
from cqbench.verdict_judge import Finding, Row
from cqbench.verdict_words import gain

DATA = Path(__file__).parent / "data"
FASTER = {n: r * (1.68 if n > 1 else 1) for n, r in SHARED.items()}


def made(tmp_path: Path, shared: dict[str, Any], separate: dict[str, Any]) -> Finding:
    """A gain of 1.68 with these figures on either side."""
    return found(tmp_path, {"change": setting(shared)}, {"change": setting(separate), "rates": FASTER})


def best(finding: Finding) -> Row:
    assert finding.best is not None
    return finding.best


def test_the_two_factors_of_a_gain(tmp_path: Path) -> None:
    f = made(
        tmp_path,
        {"client_cores_used": 5.0, "client_cpu_per_rpc_ns": 14_000, "server_cores_used": 2.0},
        {"client_cores_used": 6.0, "client_cpu_per_rpc_ns": 10_000, "server_cores_used": 1.5},
    )
    client, server = best(f).client_factors, best(f).server_factors
    assert client is not None and server is not None
    assert (client.at_work.value, client.cheaper.value) == (1.2, pytest.approx(1.4))
    assert client.product == pytest.approx(1.68)
    assert (server.at_work.value, server.cheaper.value) == (0.75, 1.0)
    assert client.at_work.interval == (1.2, 1.2) and client.cheaper.interval == pytest.approx((1.4, 1.4))
    assert ") at 2 = 1.20x more client CPU at work x 1.40x cheaper calls; P99" in gain(f)


def test_the_interval_of_cheaper_calls_is_that_of_their_cost_turned_round(tmp_path: Path) -> None:
    def noisy(n: int, point: dict[str, Any]) -> None:
        point["client_cpu_per_rpc_ns"] = 10_000 + 1_000 * point["repetition_index"]

    f = found(tmp_path, {"change": noisy}, {"rates": FASTER})
    row = best(f)
    assert row.client_factors is not None and row.client_cost is not None
    (low, high), cost = row.client_factors.cheaper.interval or (0, 0), row.client_cost.interval or (0, 0)
    assert low < row.client_factors.cheaper.value < high
    assert (low, high) == pytest.approx((1 / cost[1], 1 / cost[0]))


def test_less_work_and_dearer_calls_are_named(tmp_path: Path) -> None:
    f = made(
        tmp_path,
        {"client_cores_used": 4.0, "client_cpu_per_rpc_ns": 10_000},
        {"client_cores_used": 2.0, "client_cpu_per_rpc_ns": 16_000},
    )
    assert "~ 0.50x of the client CPU at work x 0.62x from dearer calls" in gain(f)


@pytest.mark.parametrize("absent", ["client_cores_used", "client_cpu_per_rpc_ns"])
def test_without_figures_of_the_client_the_server_says_it(tmp_path: Path, absent: str) -> None:
    f = found(tmp_path, {"change": without(absent)}, {"rates": FASTER})
    assert best(f).client_factors is None and best(f).server_factors is not None
    assert "more server CPU" in gain(f) or "of the server CPU" in gain(f)
    neither = found(tmp_path, {"change": without(absent, "server_")}, {"rates": FASTER})
    assert best(neither).server_factors is None and "CPU at work" not in gain(neither)


def test_an_end_that_spins_has_no_factors(tmp_path: Path) -> None:
    f = found(tmp_path, {"poll": "spin"}, {"poll": "spin", "rates": FASTER})
    assert best(f).client_factors is None and best(f).server_factors is not None


def test_no_cores_used_are_no_factor(tmp_path: Path) -> None:
    f = made(tmp_path, {"client_cores_used": 4.0}, {"client_cores_used": 0.0})
    assert best(f).client_factors is None


def test_a_product_that_is_off_by_more_than_rounding_is_said_to_be_about_the_ratio(tmp_path: Path) -> None:
    exact, off = ({"client_cpu_per_rpc_ns": ns} for ns in (10_000, 9_600))
    for separate, sign in ((exact, " = "), (off, " ~ ")):
        f = made(tmp_path, {"client_cores_used": 5.0, "client_cpu_per_rpc_ns": 14_000},
                 {"client_cores_used": 6.0, **separate})  # fmt: skip
        assert f"{sign}1.20x more client CPU" in gain(f)


@pytest.mark.parametrize("folder", ["verdict", "verdict-regimes"])
def test_in_each_real_repetition_it_is_an_identity(folder: str) -> None:
    for run in read_all([DATA / folder]):
        for measured, entry in run.points():
            rates = {"client": measured.throughput, "server": entry["server_rpcs"] / entry["window_ns"] * 1e9}
            for end, rate in rates.items():
                seen = entry[f"{end}_cores_used"] / entry[f"{end}_cpu_per_rpc_ns"] * 1e9
                assert seen == pytest.approx(rate, rel=1e-3)


def test_on_real_results_the_product_is_the_ratio() -> None:
    """Of medians over six repetitions on a machine that had other work, within 4 %."""
    rows = [r for f in judged(DATA / "verdict").findings for r in f.rows]
    for row in rows:
        for factors in (row.client_factors, row.server_factors):
            assert isinstance(factors, Factors) and row.throughput is not None
            assert factors.product == pytest.approx(row.throughput.value, rel=0.04)
    assert len(rows) == 12
