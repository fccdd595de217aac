"""A whole run of tune with stand-ins: interrupted, resumed, and what it then says of what was planted."""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cqbench import cli
from experiment_standin import finish, wait_for
from tune_standin import flags, make, start

SHORT = ("--warmup", "1ms", "--interval", "10ms")


@dataclass(frozen=True)
class Ran:
    programs: Path
    folder: Path
    interrupted: tuple[int, str, str]
    data: dict[str, Any]
    text: str


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Begun, interrupted in the screening, and resumed."""
    programs = make(tmp_path_factory.mktemp("tune"))
    process = start(programs, *flags(programs))
    folder = wait_for(programs.parent, "results/*/screen/raw/r003.a/01-4.json").parents[3]
    process.send_signal(signal.SIGINT)
    interrupted = finish(process)
    status, stdout, stderr = finish(start(programs, "--resume", str(folder)))
    assert status == 0, stderr
    return Ran(programs, folder, interrupted, json.loads((folder / "tune.json").read_text()), stdout)


def test_an_interrupt_keeps_what_there_is_and_says_so(ran: Ran) -> None:
    status, stdout, _ = ran.interrupted
    assert status == 130
    assert "PARTIAL: stopped in 'screen'" in stdout and "NOTHING IS WORTH SETTING" not in stdout
    assert "awful: worse: at best 0.3" in " ".join(stdout.split())


def test_what_was_measured_before_is_not_measured_again(ran: Ran) -> None:
    manifest = json.loads((ran.folder / "screen/manifest.json").read_text())
    assert len(manifest["resumed"]) == 1 and not manifest["partial"]
    assert all(entry["status"] == "ok" for entry in manifest["runs"])
    assert not list(ran.folder.glob("try/raw/*/*.json.1"))
    before = sum(entry["started"] < manifest["resumed"][0]["started"] for entry in manifest["runs"])
    assert 0 < before < len(manifest["runs"])


def test_gains_that_were_planted_are_found_and_make_the_best_set(ran: Ran) -> None:
    confirmed = [f["name"] for f in ran.data["findings"] if f["gain_confirmed"] and f["name"] != "together"]
    assert confirmed == ["gain", "more", "slight"]
    best = ran.data["best_set"]
    assert {"gain", "more", "slight"} <= set(best["settings"]) and best["gain_confirmed"]
    assert best["ratio"]["value"] == pytest.approx(1.1 * 1.06 * 1.02, rel=0.02)
    (slight,) = (f for f in ran.data["findings"] if f["name"] == "slight")
    assert slight["ratio"]["value"] == pytest.approx(1.02, abs=0.01) and slight["p_adjusted"] < 0.05
    (gain,) = (f for f in ran.data["findings"] if f["name"] == "gain")
    assert gain["ratio"]["value"] == pytest.approx(1.1, abs=0.02) and gain["ratio"]["repetitions"] >= 6
    assert gain["costs"]["cpu"]["value"] == pytest.approx(1 / 1.1, abs=0.02)
    assert gain["paste"][0] == 'client, C++:  args.SetInt("test.gain", 1);'


def test_what_does_nothing_or_harm_is_not_among_them(ran: Ran) -> None:
    assert set(ran.data["left_out"]) == {"broken", "awful"}
    assert "could not be measured" in ran.data["left_out"]["broken"]
    assert "slow" not in ran.data["survivors"]
    screening = {e["name"]: e["ratio"] for e in ran.data["screening"]}
    assert screening["slow"] == pytest.approx(0.93, abs=0.02) and screening["gain"] == pytest.approx(1.1, abs=0.02)
    assert all(screening[f"null{i}"] == pytest.approx(1, abs=0.02) for i in range(3))
    assert ran.data["controls"]["confirmed"] == 1 and not ran.data["nothing_worth_setting"]


def test_the_text_has_it_ranked_with_lines_to_paste(ran: Ran) -> None:
    assert ran.text == (ran.folder / "tune.txt").read_text()
    assert ran.text.index(" 1. gain ") < ran.text.index(" 2. more ") < ran.text.index("BEST SET")
    assert "client, env:  export TUNE_MORE=1" in ran.text and "risk: some: nothing, really" in ran.text
    assert "CONTROLS: of 1 that nothing reads" in ran.text
    assert max(map(len, ran.text.splitlines())) <= 120
    assert (ran.folder / "set/report.html").exists() and (ran.folder / "screen/results.csv").exists()


def test_each_stage_is_an_experiment_that_the_other_commands_read(ran: Ran, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        cli.main(["compare", str(ran.folder / "confirm-1"), "--configurations", "default", "gain", "--format", "json"])
        == 0
    )
    assert "throughput" in capsys.readouterr().out


def test_a_catalogue_that_changed_since_is_not_mixed_in(ran: Ran, tmp_path: Path) -> None:
    (ran.folder / "settings.toml").rename(tmp_path / "kept")
    try:
        text = (tmp_path / "kept").read_text().replace('"test.gain"', '"test.other"')
        (ran.folder / "settings.toml").write_text(text)
        status, stdout, stderr = finish(start(ran.programs, "--resume", str(ran.folder)))
        assert (status, stdout) == (2, "") and "the experiment has changed since" in stderr
    finally:
        (tmp_path / "kept").rename(ran.folder / "settings.toml")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--objective", "speed"], "argument --objective: 'speed' is not one of"),
        (
            ["--objective", "throughput", "--rate", "5"],
            "argument --objective: 'throughput' is not accepted with --rate",
        ),
        (["--rate", "5", "--inflight", "5"], "argument --rate: '5' is not accepted with --inflight"),
        (["--find-rate", "p99<2ms", "--rate", "5"], "argument --find-rate: 'p99<2ms' is not accepted with --rate"),
        (["--find-rate", "p99<2ms", "--objective", "p99"], "argument --objective: 'p99' is not accepted with --find-"),
        (["--objective", "rate"], "argument --objective: 'rate' takes --find-rate and what is to be met: p99<2ms"),
        (["--objective", "rate", "--rate", "5"], "argument --objective: 'rate' takes --find-rate"),
        (["--find-rate", "p99<2ms"], "is too little for 10 settings, which take 1 h 24 min in runs of 25 s"),
        (["--only", "thing"], "argument --only: 'thing' is not one of channel-arg, environment"),
        (["--exclude", "nothing"], "argument --exclude: 'nothing' is not a setting"),
        (["--budget", "2s", *SHORT], "argument --budget: 2 s is too little for 10 settings"),
        (["--budget", "x"], "argument --budget: 'x' is not a number of seconds"),
        (["--server-flags", "--port 5"], "argument --server-flags: '--port' is not accepted"),
        (["--", "--inflight", "5"], "'--inflight' is not accepted: tune itself gives it"),
        (["word"], "'word' is not a flag"),
        (["--bin", "/nowhere"], "argument --bin: '/nowhere' has no program grpc_ping_client"),
        (["--settings", "/nowhere"], "/nowhere: No such file"),
        (["--resume", "/nowhere"], "argument --settings is not accepted with --resume"),
    ],
)
def test_usage_is_one_line_and_status_2(
    ran: Ran, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    catalogue = ["--settings", str(ran.programs.parent / "settings.toml")]
    assert cli.main(["tune", "--bin", str(ran.programs), *catalogue, *words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and said in err and err.startswith("cqbench tune: ")


def test_a_folder_that_cannot_be_resumed(ran: Ran, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for content, said in (
        (None, "No such file"), ("{", "not JSON"), ("{}", "not a file of cqbench tune"),
        ('{"tune_version": 1}', "asked"),
    ):  # fmt: skip
        if content is not None:
            (tmp_path / "tune.json").write_text(content)
        assert cli.main(["tune", "--bin", str(ran.programs), "--resume", str(tmp_path)]) == 2
        err = capsys.readouterr().err
        assert err.count("\n") == 1 and said in err, err


def test_plan_and_list_measure_nothing(ran: Ran, capsys: pytest.CaptureFixture[str]) -> None:
    common = ["tune", "--bin", str(ran.programs), "--settings", str(ran.programs.parent / "settings.toml")]
    assert cli.main([*common, "--plan", "--exclude", "null0", "--", "--channel-arg", "test.gain=0"]) == 0
    out = capsys.readouterr().out
    assert "8 settings to try, 1 of them controls" in out
    assert "null0: --exclude" in out and "gain: the workload says test.gain itself" in out
    assert cli.main([*common, "--list"]) == 0
    out = capsys.readouterr().out
    assert out.count("nobody reads it: a control") == 1 and "test.awful=1; default 0: planted" in out
