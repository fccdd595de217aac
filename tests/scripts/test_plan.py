"""Durations in words, the server's layout."""

from __future__ import annotations

import pytest
from cqbench.measure.layout import duration, server_layout


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
