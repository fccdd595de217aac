"""How busy the CPUs are, from /proc/stat."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from cqbench.run import busy
from cqbench.run.busy import Watch, busy_cpus, cpu_times, noticeable

BEFORE = "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 100 0 0 100 0 0 0 0 0 0\ncpu1 0 0 0 500 0 0 0 0 0 0\nintr 5\n"
AFTER = "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 175 0 0 125 0 0 0 0 0 0\ncpu1 0 0 0 590 10 0 0 0 0 0\nintr 5\n"


def test_busy() -> None:
    assert busy_cpus(BEFORE, AFTER) == 0.75
    assert busy_cpus(BEFORE, AFTER, (1,)) == 0
    assert busy_cpus(BEFORE, AFTER, (0, 7)) == 0.75
    assert busy_cpus(BEFORE, BEFORE) == 0


def test_odd_input() -> None:
    assert cpu_times("") == {} and cpu_times("\ncpu0 1 2\n") == {}


def test_interrupts_and_the_hypervisor_are_no_programs() -> None:
    before, after = "cpu0 0 0 0 0 0 0 0 0 0 0\n", "cpu0 10 5 5 40 10 10 10 10 0 0\n"
    assert busy_cpus(before, after) == 0.2


def test_what_children_use_is_not_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPUs are said to have been used by one program for as long as a child of ours burns."""
    begin = time.monotonic()
    readings = iter(["cpu0 0 0 0 0 0 0 0 0 0 0\n", "cpu0 100 0 0 0 0 0 0 0 0 0\n"])
    monkeypatch.setattr(busy, "_read_stat", lambda: next(readings))
    watch = Watch((0,))
    subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.3: pass"], check=True)
    others, elapsed = watch.others(), time.monotonic() - begin
    assert others is not None and 0 <= others <= 1 - 0.3 / elapsed + 0.01


def test_where_the_kernel_does_not_say_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busy, "_read_stat", lambda: "")
    assert Watch((0,)).others() is None


def test_short_units_need_more_to_be_noticed() -> None:
    assert noticeable(2, 0.6) == pytest.approx(0.2) and noticeable(2, 6) == pytest.approx(0.11)
