"""How busy the CPUs are, from the kernel's times of each."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from cqbench.measure import busy
from cqbench.measure.busy import Watch, busy_cpus, cpu_times, noticeable

BEFORE = {0: (200.0, 100.0), 1: (500.0, 0.0)}
AFTER = {0: (300.0, 175.0), 1: (600.0, 0.0)}


def test_busy() -> None:
    assert busy_cpus(BEFORE, AFTER) == 0.75
    assert busy_cpus(BEFORE, AFTER, (1,)) == 0
    assert busy_cpus(BEFORE, AFTER, (0, 7)) == 0.75
    assert busy_cpus(BEFORE, BEFORE) == 0


@pytest.mark.parametrize(
    ("online", "found"), [("0,2\n", {0: (360.0, 12.0), 2: (36.0, 6.0)}), ("0-2\n", {}), ("\n", {})]
)
def test_each_cpu_that_is_online_without_interrupts_and_the_hypervisor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, online: str, found: dict[int, tuple[float, float]]
) -> None:
    """user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice; a CPU between them may be offline."""
    times = [(5, 3, 4, 48, 60, 70, 80, 90, 1, 1), (1, 2, 3, 4, 5, 6, 7, 8, 9, 9)]
    monkeypatch.setattr(psutil, "cpu_times", lambda percpu: times)
    monkeypatch.setattr(busy, "ONLINE", tmp_path / "online")
    assert cpu_times() == {}
    (tmp_path / "online").write_text(online)
    assert cpu_times() == found


def test_this_machine() -> None:
    assert set(cpu_times()) >= os.sched_getaffinity(0)


def test_what_children_use_is_not_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPUs are said to have been used by one program for as long as a child of ours burns."""
    begin = time.monotonic()
    readings = iter([{0: (0.0, 0.0)}, {0: (1.0, 1.0)}])
    monkeypatch.setattr(busy, "cpu_times", lambda: next(readings))
    watch = Watch((0,))
    subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.3: pass"], check=True)
    others, elapsed = watch.others(), time.monotonic() - begin
    assert others is not None and 0 <= others <= 1 - 0.3 / elapsed + 0.01


def test_where_the_kernel_does_not_say_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busy, "cpu_times", dict)
    assert Watch((0,)).others() is None


def test_short_units_need_more_to_be_noticed() -> None:
    assert noticeable(2, 0.6) == pytest.approx(0.2) and noticeable(2, 6) == pytest.approx(0.11)
