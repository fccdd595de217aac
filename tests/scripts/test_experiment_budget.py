"""Measuring within a budget: what is measured again, when it ends, and what `cqbench check` finds out about it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from cqbench.analysis.check.model import State
from cqbench.analysis.check.folder import blocks
from cqbench.formats import asked
from cqbench.run import check
from experiment_standin import CHECKED, RESULT, ask, command, environment, finish, make_programs, only_folder, start, statuses

# One connection and several: at 4 in flight 1.3 times as fast in every run, at 16 now faster and now slower.
CLIENT = f"""#!{sys.executable} -IS
import json, os, pathlib, random, sys
here = pathlib.Path(__file__).parent
{CHECKED}{RESULT}
output = pathlib.Path(sys.argv[sys.argv.index("--output") + 1])
number = int(output.stem.partition("-")[0])
load = sys.argv[sys.argv.index("--inflight-list") + 1]
several = "local-pool" in sys.argv
noise = random.Random(f"{{output.parent.name}}/{{output.stem}}").gauss(0, 1)
factor = {{"1": 1.0, "4": 1.3 if several else 1.0, "16": 2.0 if several and number % 2 else 1.0}}[load]
data = result(0)
context = data["context"]
context["command_line"] = sys.argv
for point in data["benchmarks"]:
    point["throughput_per_second"] *= factor * (1 + 0.01 * noise)
output.write_text(json.dumps(data))
"""
TOML = """
[experiment]
name = "try"
title = "A title"
question = "Does it?"
inflight = [1, 4, 16]
warmup = 0.01
interval = "10ms"
repetitions = 6
budget = "{budget}"
seed = 7

[[axis]]
name = "connections"
values = [
  {{ name = "shared", client_flags = "--channel-policy per-slot" }},
  {{ name = "separate", client_flags = "--channel-policy local-pool" }},
]
"""


def measured(tmp_path: Path, *flags: str, budget: str = "20s") -> tuple[Path, str]:
    programs = make_programs(tmp_path, client=CLIENT, toml=TOML.format(budget=budget))
    status, _, stderr = finish(start(programs, *flags))
    assert status == 0, stderr
    return only_folder(programs), stderr


def repetitions(folder: Path) -> dict[str, int]:
    """The number of runs by load."""
    found: dict[str, int] = {}
    for stem, status in statuses(folder).items():
        assert status == "ok"
        load = stem.rpartition("-")[2]
        found[load] = found.get(load, 0) + 1
    return found
