"""Results of the real programs on two CPUs, client on one, server on the other, and their verdict."""

from __future__ import annotations

import tarfile
from pathlib import Path

from cqbench.analysis.verdict.model import Decision, Statement
from cqbench.render.verdict import text
from verdict_synthetic import at, codes, judged, said

DATA = Path(__file__).parent / "data"


def test_four_streams_that_one_connection_likely_holds_back() -> None:
    """The data are a headline run's sync client, whose CPU is too near its limit for a certain verdict."""
    judgement = judged(DATA / "verdict-connection")
    (case,) = judgement.scenarios
    row = at(case, 4)
    assert case.repetitions == 7 and row.decision is Decision.LIKELY
    assert row.throughput is not None and row.throughput.low is not None
    assert (round(row.throughput.value, 2), round(row.throughput.low, 2)) == (1.53, 1.21)
    assert {"cpu-room-inconclusive", "linear-inconclusive"} < set(row.codes)
    answer = said(DATA / "verdict-connection")
    assert answer.short == "LIKELY at 4 in flight"
    (one,) = answer.to_set
    assert one.brings == ("×1.53 (1.21–1.94) at 4 in flight",)
    assert judgement.cannot_show[0].facts["needed"] == {"client": 5, "server": 4}


def test_streams_that_gain_for_another_reason_and_lose_with_many() -> None:
    judgement = judged(DATA / "verdict")
    streaming = next(case for case in judgement.scenarios if case.name.startswith("streaming"))
    decided = {row.load.number: row.decision for row in streaming.rows}
    few, many = (
        {1: Decision.SAME, 2: Decision.OTHER, 4: Decision.OTHER},
        {8: Decision.SLOWER, 16: Decision.INCONCLUSIVE},
    )
    assert decided == {**few, **many, 32: Decision.INCONCLUSIVE}
    assert at(streaming, 2).codes == ("keeps-up",) and at(streaming, 4).codes == ("client-cpu",)
    unary = next(case for case in judgement.scenarios if case.name.startswith("unary"))
    assert unary.decision is Decision.INCONCLUSIVE and "suspect" in unary.rows[-1].codes
    assert "quiet-machine" in codes(judgement.measure)
    # x1.19 and x1.24 at 2 and 4, x0.93 at 8: advice that flips is none.
    assert codes(judgement.settings) == ["flips", "keep-flips"] and said(DATA / "verdict").to_set == ()


def test_through_a_proxy_and_measured_once_nothing_follows() -> None:
    judgement = judged(DATA / "verdict-network")
    assert said(DATA / "verdict-network").short == "INCONCLUSIVE at every load" and codes(judgement.settings) == [
        "keep-until-measured"
    ]
    assert Statement("repetitions", {"minimum": 6, "fewest": 1}) in judgement.measure
    assert "proxy" in codes(judgement.cannot_show)


def test_three_repetitions_decide_nothing() -> None:
    judgement = judged(DATA / "verdict-regimes")
    assert len(judgement.scenarios) == 3 and {case.decision for case in judgement.scenarios} == {Decision.INCONCLUSIVE}
    assert Statement("repetitions", {"minimum": 6, "fewest": 3}) in judgement.measure


def test_an_experiment_on_a_machine_with_other_work() -> None:
    judgement = judged(DATA / "report/experiment")
    assert judgement.question == "What does it cost when all calls share one TCP connection?"
    assert judgement.notes[0].startswith("other programs keep 2.0 of the CPUs")
    unary = next(case for case in judgement.scenarios if "unary" in case.name)
    assert (
        at(unary, 16).decision is Decision.INCONCLUSIVE
        and at(unary, 16).no_gain
        and at(unary, 4).decision is Decision.INCONCLUSIVE
    )
    assert (at(unary, 4).needed or 0) > 100
    assert codes(judgement.settings) == ["keep-not-shown"]


def test_a_planted_stream_limit_is_found_next_to_other_programs(tmp_path: Path) -> None:
    """Measured with `cqbench run --vary channel-policy=shared,local-pool --server-flags "--api sync
    --max-concurrent-streams 2 --service-time 2ms --service-time-mode wait" --inflight 1,4,16 -- --api cq`, while a
    compiler and tests ran on the same two CPUs: two calls at a time per connection, so 2 and 8 times the throughput.
    """
    with tarfile.open(DATA / "planted.tar.xz") as stored:
        stored.extractall(tmp_path)
    judgement = judged(tmp_path / "stream-limit")
    assert judgement.unreliable is not None and judgement.unreliable[:2] == (35, 42)
    (case,) = judgement.scenarios
    for load, least, most in ((4, 1.9, 2.1), (16, 6, 8.2)):
        row = at(case, load, "local-pool")
        assert row.decision.of_connection and row.judged is not None and row.judged.interval is not None
        assert least <= row.judged.interval[0] and row.judged.interval[1] <= most
    assert codes(judgement.settings) == ["set", "keep-otherwise"]


def test_a_stream_limit_that_the_client_read_is_the_cause_and_has_a_cure(tmp_path: Path) -> None:
    """The same on a quiet machine, with the server's HTTP/2 settings in the results."""
    with tarfile.open(DATA / "planted.tar.xz") as stored:
        stored.extractall(tmp_path)
    judgement = judged(tmp_path / "stream-limit-read")
    (case,) = judgement.scenarios
    assert [(r.load.number, r.decision) for r in case.rows if r.codes == ("stream-limit",)] == [
        (4, Decision.BOTTLENECK),
        (16, Decision.BOTTLENECK),
    ]
    answer = said(tmp_path / "stream-limit-read")
    assert answer.why == (
        "The server allows 2 concurrent streams per connection; more calls wait for one, at 4–16 in flight.",
    )
    raised, connections = answer.to_set
    assert raised.setting == "on the server, at least 16 concurrent streams per connection instead of 2"
    assert raised.cpp == ("builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 16);",)
    assert "not measured here" in raised.brings[0] and connections.setting.startswith("or a channel for each call")
    assert any("--vary server:max-concurrent-streams=2,16" in one for one in answer.measure)


def test_their_texts_fit() -> None:
    for name in ("verdict", "verdict-connection", "verdict-network", "verdict-regimes", "report/experiment"):
        lines = text.render(said(DATA / name)).splitlines()
        assert len(lines) <= 45 and max(map(len, lines)) <= text.WIDTH
