"""How busy the CPUs are, from /proc/stat."""

from __future__ import annotations

from cqbench.load import busy_cpus, cpu_times

BEFORE = "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 100 0 0 100 0 0 0 0 0 0\ncpu1 0 0 0 500 0 0 0 0 0 0\nintr 5\n"
AFTER = "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 175 0 0 125 0 0 0 0 0 0\ncpu1 0 0 0 590 10 0 0 0 0 0\nintr 5\n"


def test_busy() -> None:
    assert busy_cpus(BEFORE, AFTER) == 0.75
    assert busy_cpus(BEFORE, AFTER, (1,)) == 0
    assert busy_cpus(BEFORE, AFTER, (0, 7)) == 0.75
    assert busy_cpus(BEFORE, BEFORE) == 0


def test_odd_input() -> None:
    assert cpu_times("") == {} and cpu_times("\ncpu0 1 2\n") == {}
