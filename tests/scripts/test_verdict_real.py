"""What the real programs gave on two CPUs, client on one, server on the other."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from verdict_synthetic import judged

from cqbench import verdict_advice as advice
from cqbench import verdict_text as text
from cqbench.verdict_advice import Judgement
from cqbench.verdict_block import MAX_LINES
from cqbench.verdict_judge import Finding
from cqbench.verdict_rules import Regime, Status, Verdict
from cqbench.verdict_words import WIDTH

DATA = Path(__file__).parent / "data/verdict"
CONNECTION = Path(__file__).parent / "data/verdict-connection"
REGIMES = Path(__file__).parent / "data/verdict-regimes"
NETWORK = Path(__file__).parent / "data/verdict-network"


@pytest.fixture(scope="module")
def real() -> dict[str, Finding]:
    return {f.pair.any.method: f for f in judged(DATA).findings}


def test_real_streaming(real: dict[str, Finding]) -> None:
    f = real["streaming"]
    status = {r.inflight: r.status for r in f.rows}
    assert status == {
        1: Status.SAME, 2: Status.FASTER, 4: Status.FASTER, 8: Status.SLOWER, 16: Status.OPEN, 32: Status.OPEN,
    }  # fmt: skip
    assert f.verdict is Verdict.FASTER and f.cpu_limited_from == 4 and f.few_cores and f.batching
    assert "the shared one keeps up there" in text.verdict_words(f) and "From 4 on the CPUs" in text.verdict_words(f)


def test_a_shared_connection_that_holds_four_streams_back() -> None:
    """Of a headline run; the sync client."""
    (f,) = judged(CONNECTION).findings
    four = next(r for r in f.rows if r.inflight == 4)
    assert f.repetitions == 7 and f.verdict is Verdict.PRESENT and f.present == (4,)
    assert four.shared and four.shared.regime is Regime.CONNECTION and four.status is Status.PRESENT
    assert four.shared.evidence.ideal == pytest.approx(0.83, abs=0.005)
    assert four.throughput and four.throughput.value == pytest.approx(1.43, abs=0.005)
    assert "from 4 in flight on" in text.verdict_words(f)


def test_real_unary_was_disturbed_and_says_so(real: dict[str, Finding]) -> None:
    f = real["unary"]
    assert f.verdict is Verdict.NOT_ENOUGH and f.undecided == (2, 4, 8, 16, 32)
    assert any("keep other work off" in t for t in advice.to_do(f))


def test_real_output_fits_a_screen(real: dict[str, Finding]) -> None:
    for f in real.values():
        lines = text.render(Judgement((f,), ())).splitlines()
        assert len(lines) <= MAX_LINES and max(map(len, lines)) <= WIDTH


def held(name: str) -> dict[int, tuple[Regime, Regime]]:
    """In-flight count -> what limited the shared connection and separate ones."""
    (f,) = judged(REGIMES / f"{name}-shared.json", REGIMES / f"{name}-separate.json").findings
    return {r.inflight: (r.shared.regime, r.separate.regime) for r in f.rows if r.shared and r.separate}


def test_a_server_whose_worker_sleeps() -> None:
    """--num-cqs 1 --workers-per-cq 1 --service-time 200us --service-time-mode wait."""
    found = held("waiting")
    assert found[1] == (Regime.IDLE, Regime.IDLE)
    assert found[8][1] is found[48][1] is Regime.SERVER_QUEUE
    assert found[8][0] is found[48][0] is Regime.UNKNOWN  # with all calls on one connection its figures do not show it


@pytest.mark.parametrize("name", ["streaming-sync", "unary-cq"])
def test_servers_that_take_their_requests(name: str) -> None:
    """Measured with all figures that the rule needs."""
    (f,) = judged(REGIMES / f"{name}-shared.json", REGIMES / f"{name}-separate.json").findings
    assert [r.inflight for r in f.rows] == [1, 2, 4, 8, 48]
    for side in (s for r in f.rows for s in (r.shared, r.separate) if s):
        assert side.evidence.rtt_smoothed_ns and side.evidence.connection_busy and side.evidence.ideal
        assert side.regime is not Regime.SERVER_QUEUE


def test_a_proxy_that_adds_5_ms(tmp_path: Path) -> None:
    """The client's sockets saw 4 to 21 us, to the proxy."""
    (f,) = judged(NETWORK).findings
    assert f.pair.any.setting.extra == "5 ms added by a proxy"
    sides = [s for r in f.rows for s in (r.shared, r.separate) if s]
    assert len(sides) == 4 and {s.regime for s in sides} == {Regime.NETWORK}
    assert max(s.evidence.rtt_min_ns or 0 for s in sides) < 25_000
    copied = shutil.copytree(NETWORK, tmp_path / "alone")
    (copied / "manifest.json").unlink()
    (f,) = judged(copied).findings
    assert Regime.NETWORK not in {s.regime for r in f.rows for s in (r.shared, r.separate) if s}
