"""The real programs: a server that was made dearer is found, and what nobody reads is measured beside it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cqbench import cli
from tune_standin import KNOB

BIN = Path(os.environ.get("CQBENCH_BIN_DIR", Path(__file__).parents[2] / "build/release/bin"))


def test_a_server_that_burns_more_is_not_worth_setting(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Half as much CPU again, or more: left out after three runs, or confirmed as worse where the machine is loud."""
    text = KNOB.format("burns", "flag", "--service-time", "server").replace('["1"]', '["20us"]')
    text += KNOB.format("census", "channel-arg", "grpc.census", "both") + "readers = []\n"
    text += KNOB.format("bind-now", "environment", "LD_BIND_NOW", "both")
    (tmp_path / "knobs.toml").write_text(text)
    words = ["--objective", "cpu", "--inflight", "8", "--budget", "20s", "--seed", "1"]
    words += ["--warmup", "20ms", "--interval", "50ms"]
    where = ["--knobs", str(tmp_path / "knobs.toml"), "--results", str(tmp_path / "results"), "--bin", str(BIN)]
    assert cli.main(["tune", *words, *where]) == 0
    assert "burns" in capsys.readouterr().out
    (folder,) = (tmp_path / "results").iterdir()
    data = json.loads((folder / "tune.json").read_text())
    findings = {f["name"]: f for f in data["findings"]}
    worse = "burns" in data["left_out"]
    assert worse or (findings["burns"]["ratio"]["low"] > 1.05 and findings["burns"]["p_adjusted"] < 0.05)
    assert data["controls"]["confirmed"] == 1 and findings["census"]["control"]
    assert findings["census"]["ratio"]["repetitions"] >= 6 and findings["bind-now"]["ratio"]["repetitions"] >= 6
    assert not data["best_set"] or "burns" not in data["best_set"]["settings"]
