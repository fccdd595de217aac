"""The highest rate under an objective as what is tuned: each run is a search of the client's."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from cqbench import cli
from cqbench.analysis.tune.objective import CPU, RATE, Objective, figures
from cqbench.analysis.tune.stages import Budget, Stage
from cqbench.analysis.tune.workloads import Workload
from cqbench.experiment import plan, spec
from cqbench.formats import manifest, result
from cqbench.formats.offered import Load, closed, load_from_json, load_to_json, open_loop, searched
from cqbench.formats.source import BadDocument
from cqbench.measure import cpus
from cqbench.measure.programs import NEWGRPC, Programs
from cqbench.run import tune as session
from cqbench.run.tune import Measuring
from tune_simulated import some
from tune_standin import SETTING, make

ROOT = Path(__file__).parents[2]
BIN = Path(os.environ.get("CQBENCH_BIN_DIR", ROOT / "build/release/bin"))
GOLDEN = ROOT / "tests/golden/expected"
LOAD = searched("p99<2ms")
MEASURING = Measuring(LOAD, 0.1, 0.4, 7)


def golden(name: str, **answer: object) -> result.Document:
    """Returns a client's result with some changed values."""
    data = json.loads((GOLDEN / name).read_text())
    data["find_rate"].update(answer)
    return result.parse(json.dumps(data).encode(), name)


def with_cpu(document: result.Document, cpu: dict[float, float]) -> result.Document:
    """Its first point at these rates, with so much CPU of both ends together."""
    point = document.points[0]
    points = [
        point.model_copy(
            update={
                "target_rate": rate, "throughput_per_second": rate,
                "figures": {f"{end}_cpu_per_rpc_ns": value / 2 for end in ("client", "server")},
            }
        )
        for rate, value in cpu.items()
    ]  # fmt: skip
    return document.model_copy(update={"points": points})


def test_the_figure_is_the_rate_and_cpu_is_that_of_its_interval() -> None:
    document = golden("found.json", rate_per_second=5000, low=4800, high=5200)
    measured = with_cpu(document, {1000: 9e9, 4800: 10.0, 5000: 20.0, 5200: 60.0, 9000: 9e9})
    assert figures(measured, LOAD) == {RATE: 5000.0, CPU: pytest.approx(20.0)}
    assert Objective(RATE).better == 1
    assert document.found_rate and document.found_rate.words == "highest rate 5000/s (4800 to 5200)"


def test_an_unresolved_search_is_absent_and_not_zero() -> None:
    document = golden("unresolved.json")
    assert document.points and figures(document, LOAD) == {}
    assert document.found_rate and document.found_rate.words.startswith("unresolved: ")


@pytest.mark.parametrize("answer", [{"rate_per_second": 0}, {"rate_per_second": "5"}, {"low": None}, {"resolved": 1}])
def test_an_answer_that_is_none_is_refused(answer: dict[str, Any]) -> None:
    with pytest.raises(BadDocument, match="find_rate|found_rate"):
        golden("found.json", **answer)


@pytest.mark.parametrize("load", [closed(4), open_loop(2000.5), LOAD])
def test_a_load_is_what_the_manifest_says(load: Load) -> None:
    said = json.loads(json.dumps(load_to_json(load)))
    assert load_from_json(said) == load
    assert manifest.RunRecord(file="x", load=load).load_words == load.words
    assert load_from_json({"find_rate": 5}) is None


def test_no_file_can_say_it_and_the_client_is_asked_for_a_search() -> None:
    stage = Stage("check", "Is it?", {"default": ()}, 2)
    tables = session.tables(stage, Workload(("--api", "cq")), MEASURING)
    with pytest.raises(spec.BadExperiment, match="'inflight' is missing"):
        spec.make(tables, "x")
    made = session.experiment_of(stage, Workload(("--api", "cq")), MEASURING)
    assert made.searches and made.loads == (LOAD,)
    placed = cpus.Placement((), (), "")
    command = plan.client_command(made, made.configurations[0], placed, Programs(BIN, NEWGRPC), "0", "h:1", Path("x"))
    assert command[command.index("--find-rate") + 1] == "p99<2ms" and not {"--rate-list", "--inflight-list"} & {
        *command
    }
    assert plan.run_seconds(made) == pytest.approx(MEASURING.run_s("release")) == pytest.approx(25.1)


def test_the_real_client_takes_it_or_says_what_is_wrong_with_it() -> None:
    workload, programs = Workload(("--api", "cq"), ("--api", "cq")), Programs(BIN, NEWGRPC)
    assert session.refused((), workload, MEASURING, programs) == ""
    assert "--find-rate" in session.refused((), workload, Measuring(searched("p99<"), 0.1, 0.4, 7), programs)


def test_the_plan_says_how_many_repetitions_fit() -> None:
    for seconds in (600, 3600):
        budget = Budget(seconds, 0.6)
        fits = budget.fits(some())
        assert [*fits] == ["screen", "confirm-1", "confirm-2", "set"] and min(fits.values()) >= 2
    assert budget.fits(some())["screen"] > Budget(600, 0.6).fits(some())["screen"]
    assert Budget(600, 25.1).needed(some()) > 3 * 3600


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand-ins whose searches are short."""
    monkeypatch.setattr(plan, "SEARCHED_POINTS", 2)
    folder = make(tmp_path)
    text = "".join(
        SETTING.format(name, "channel-arg", f"test.{name}", "client") + 'readers = ["1.51"]\n'
        for name in ("gain", "nothing", "unresolved")
    )
    text += SETTING.format("control", "channel-arg", "test.control", "both") + "readers = []\n"
    (tmp_path / "settings.toml").write_text(text)
    return folder


def words(programs: Path) -> list[str]:
    here = programs.parent
    where = ["--settings", str(here / "settings.toml"), "--results", str(here / "results"), "--bin", str(programs)]
    return ["tune", *where, "--warmup", "1ms", "--interval", "10ms", "--find-rate", "p99<2ms", "--seed", "3"]


def test_a_whole_run(programs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*words(programs), "--budget", "16s"]) == 0
    out, err = capsys.readouterr()
    assert "What to set for the highest rate: highest rate with p99<2ms" in out and "report:" not in err
    assert "try: no rate from 1 of 8 searches, first unresolved: unresolved: the client is the limit" in err
    (folder,) = (programs.parent / "results").iterdir()
    data = json.loads((folder / "tune.json").read_text())
    assert data["asked"]["objective"] == "rate" and data["asked"]["find_rate"] == "p99<2ms"
    assert [*data["left_out"]] == ["unresolved"] and "no search in three found a rate" in data["left_out"]["unresolved"]
    (gain,) = (f for f in data["findings"] if f["name"] == "gain")
    assert gain["gain_confirmed"] and gain["ratio"]["value"] == pytest.approx(1.1, abs=0.02)
    assert [*gain["costs"]] == ["cpu"] and gain["costs"]["cpu"]["value"] == pytest.approx(1 / 1.1, abs=0.02)
    assert not any(f["gain_confirmed"] for f in data["findings"] if f["name"] in ("nothing", "control"))
    entries = json.loads((folder / "confirm-1/manifest.json").read_text())["runs"]
    assert all(entry["load"] == {"find_rate": "p99<2ms"} and entry["status"] == "ok" for entry in entries)
    read = manifest.load(folder / "confirm-1/manifest.json")
    assert {entry.load_words for entry in read.runs} == {"highest rate with p99<2ms"} and not read.partial
    before = sorted(folder.glob("*/raw/*/*"))
    assert cli.main(["tune", "--bin", str(programs), "--resume", str(folder)]) == 0
    assert sorted(folder.glob("*/raw/*/*")) == before


def test_plan_and_too_little_time_say_how_long_searches_take(
    programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([*words(programs), "--budget", "16s", "--plan"]) == 0
    assert "repetitions that fit: confirm-1 " in capsys.readouterr().out
    assert cli.main([*words(programs), "--budget", "3s"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and "argument --budget: 3 s is too little for 4 settings" in err
    assert "each a search of about" in err
