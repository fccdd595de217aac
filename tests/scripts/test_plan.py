"""Durations, the order of the series, the server's layout."""

from __future__ import annotations

import pytest

from cqbench.plan import POINT_OVERHEAD_S, duration, headline_series, make_plan, server_layout


def test_the_default_takes_about_three_minutes() -> None:
    assert 150 < make_plan().seconds_left(0, 0) < 200


def test_full_is_the_post() -> None:
    plan = make_plan(full=True)
    assert (plan.inflight[0], plan.inflight[-1], len(plan.inflight)) == (1, 48, 48)
    assert (plan.warmup_s, plan.interval_s) == (5, 10)


def test_what_is_given_wins() -> None:
    plan = make_plan(full=True, inflight=(3,), interval_s=1)
    assert (plan.inflight, plan.warmup_s, plan.interval_s) == ((3,), 5, 1)
    assert plan.flags() == ["--inflight-list", "3", "--warmup", "5", "--interval", "1"]


def test_time_left() -> None:
    plan = make_plan(inflight=(1, 2), warmup_s=1, interval_s=2)
    each = 2 * (3 + POINT_OVERHEAD_S)
    assert plan.series_seconds() == pytest.approx(each)
    assert plan.seconds_left(6, 1) == pytest.approx(2 * each - 1)
    # A series that takes longer than planned does not eat the time of the next ones.
    assert plan.seconds_left(6, 1000) == pytest.approx(each)
    assert plan.seconds_left(8, 0) == 0
    assert plan.patience_seconds() > each + 30


def test_shared_and_separate_are_neighbours() -> None:
    series = headline_series()
    assert len({s.slug for s in series}) == 8
    for shared, separate in zip(series[::2], series[1::2], strict=True):
        assert (shared.api, shared.mode) == (separate.api, separate.mode)
        assert (shared.separate, separate.separate) == (False, True)


def test_flags_are_the_posts() -> None:
    flags = {s.slug: s.flags() for s in headline_series()}
    assert flags["unary-sync-shared"] == ["--api", "sync", "--channel-policy", "per-worker"]
    assert flags["streaming-cq-separate"] == ["--api", "cq", "--local-pool", "--streaming"]


@pytest.mark.parametrize(
    ("cpus", "queues", "workers", "callbacks"),
    [(1, 1, 1, 80), (2, 1, 2, 80), (4, 1, 2, 80), (8, 2, 2, 40), (32, 8, 2, 10), (128, 32, 2, 3)],
)
def test_server_layout(cpus: int, queues: int, workers: int, callbacks: int) -> None:
    assert server_layout(cpus)[1::2] == [str(queues), str(workers), str(callbacks)]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (173.6, "2 min 54 s"), (5798, "1 h 36 min")],
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text
