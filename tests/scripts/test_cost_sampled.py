"""Samples of a program's CPU time agree with the kernel's account of it. A profile has the samples of its runs."""

from __future__ import annotations

import math
import os
import subprocess
from pathlib import Path

import pytest
from cost_programs import compile_program, cost, figure, read
from cqbench.analysis.cost import perf
from cqbench.analysis.cost.counts import total
from cqbench.analysis.cost.libraries import Program
from cqbench.analysis.cost.profile import SAMPLED_NS
from cqbench.run.cost import perf_script

pytestmark = pytest.mark.usefixtures("cost_tools")


@pytest.fixture
def sampled_program(tmp_path: Path) -> Path:
    if subprocess.run(
        ["perf", "record", "-q", "-e", "cpu-clock", "-o", tmp_path / "x", "true"], check=False
    ).returncode:
        pytest.skip("this kernel lets nobody sample")
    return compile_program(tmp_path)


def test_samples_are_of_the_cpu_that_the_kernel_accounts(sampled_program: Path, tmp_path: Path) -> None:
    """Both are of the same run. If samples came at random, five standard errors would be one false alarm in a million;
    they come regularly, and were within half a standard error in fifteen runs on a busy machine."""
    command = [*perf.command(str(tmp_path / "data")), str(sampled_program), "2000", "1", "1", "1", "1000000"]
    subprocess.run(command, env={**os.environ, "CPU_USED": str(tmp_path / "used")}, check=True, timeout=300)
    seen = perf_script.read(["perf"], str(tmp_path / "data"), Program(sampled_program.name))
    samples = (seen.main[total(SAMPLED_NS)] + seen.counts[total(SAMPLED_NS)]) / perf.EACH_NS
    expected = int((tmp_path / "used").read_text()) * 1000 / perf.EACH_NS
    assert expected > 100 and abs(samples - expected) < 5 * math.sqrt(expected)


def test_a_profile_has_the_samples_of_its_runs(sampled_program: Path, tmp_path: Path) -> None:
    """The sum of the stacks differs from the total by rounding, and by stacks that are too rare to be shown: those are
    among the samples outside of the loop."""
    output, folded, results = (tmp_path / name for name in ("profile.json", "stacks.folded", "results"))
    few = ("--calls", 600, "--repetitions", 1, "--only", "samples", "--results", results)
    where = ("--output", output, "--folded", folded)
    done = cost("--program", *few, *where, "--", sampled_program, "{calls}", 1, 1, 1, 1_000_000)
    assert done.returncode == 0, done.stderr
    less, more = (read(next(results.glob(f"*/runs/samples-program-01-{calls}.json"))) for calls in (600, 3000))
    profile, each = read(output), perf.EACH_NS / 2400
    sampled = figure(profile, "program", "total", "cpu-sampled-ns")["median"]
    assert sampled == pytest.approx(each * (sum(more["stacks"].values()) - sum(less["stacks"].values())), abs=1e-3)

    elsewhere = sum(n for run in (less, more) for stack, n in run["stacks"].items() if ";main;spin" not in stack)
    lines = [line.rsplit(" ", 1) for line in folded.read_text().splitlines()]
    assert abs(sum(int(count) for _, count in lines) - sampled) <= each * elsewhere + len(lines)
    in_the_loop = [
        int(count) for stack, count in lines if stack.startswith("program;costly;") and ";main;spin" in stack
    ]
    assert sum(in_the_loop) > 0.8 * sampled  # an interrupt in the midst of it is in the loop, too
    own = {f["name"]: f["median"] for f in profile["figures"] if f["kind"] == "cpu" and f["name"] != "kernel"}
    assert own["program"] > 0.9 * sum(own.values())
