"""The real programs: a more expensive server is detected, and a setting without effect is a negative control."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cqbench import cli
from tune_standin import SETTING

BIN = Path(os.environ.get("CQBENCH_BIN_DIR", Path(__file__).parents[2] / "build/release/bin"))


def test_a_server_that_burns_more_is_not_worth_setting(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It has less than a tenth of the throughput. Each run has that figure however busy the machine is; CPU of the
    server is absent from a window of 50 ms if one of its samples is 10 ms late, and rounds then do not count.
    """
    text = SETTING.format("burns", "flag", "--service-time", "server").replace('["1"]', '["1ms"]')
    text += SETTING.format("census", "channel-arg", "grpc.census", "both") + "readers = []\n"
    text += SETTING.format("bind-now", "environment", "LD_BIND_NOW", "both")
    (tmp_path / "settings.toml").write_text(text)
    words = ["--objective", "throughput", "--inflight", "8", "--budget", "25s", "--seed", "1"]
    words += ["--warmup", "20ms", "--interval", "100ms"]
    where = ["--settings", str(tmp_path / "settings.toml"), "--results", str(tmp_path / "results"), "--bin", str(BIN)]
    assert cli.main(["tune", *words, *where]) == 0
    assert "burns" in capsys.readouterr().out
    (folder,) = (tmp_path / "results").iterdir()
    data = json.loads((folder / "tune.json").read_text())
    findings = {f["name"]: f for f in data["findings"]}
    assert "burns" in data["left_out"] or findings["burns"]["ratio"]["value"] < 0.5
    assert data["controls"]["confirmed"] == 1 and findings["census"]["control"]
    assert findings["census"]["ratio"]["repetitions"] >= 6 and findings["bind-now"]["ratio"]["repetitions"] >= 6
    assert not data["best_set"] or "burns" not in data["best_set"]["settings"]
