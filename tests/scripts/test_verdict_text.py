"""The verdict as people see it: question, answer, table, reasons, what to set; and as JSON for programs."""

from __future__ import annotations

import json
import math
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cqbench.analysis.verdict import advice
from cqbench.analysis.verdict.model import Decision, Judgement
from cqbench.cli import main as cqbench
from cqbench.render.verdict import answer, as_json, recommend, statements, text
from verdict_synthetic import OTHERS, SHARED, SIXFOLD, configuration, found, judged, manifest, said, setting, write

HEADLINE = [("mode", ("unary", "streaming")), ("api", ("sync", "cq")), ("connections", ("shared", "separate"))]


def headline(folder: Path, **experiment: Any) -> Judgement:
    """The shipped experiment's size, with noise, gains, losses, full CPUs and what is open."""
    random = np.random.default_rng(4)
    rates = {1: 12e3, 2: 20e3, 4: 35e3, 8: 50e3, 16: 60e3, 48: 70e3}

    def noisy(n: int, point: dict[str, Any]) -> None:
        for key in ("throughput_per_second", "latency_p99_ns"):
            point[key] *= float(np.exp(random.normal(0, 0.1)))
        used = min(1.0, (0.4 + 0.1 * n if n > 4 else 0.6) * float(np.exp(random.normal(0, 0.02))))
        point.update(client_cpus_allowed=1, server_cpus_allowed=1, client_cores_used=used, server_cores_used=0.8 * used)

    for name, gain in {"unary.sync": 0.97, "unary.cq": 1.02, "streaming.sync": 1.5, "streaming.cq": 1.05}.items():
        mode, api = name.split(".")
        lose = {n: rate * (1 if n == 1 else gain if n < 16 else 0.7 * gain) for n, rate in rates.items()}
        common: dict[str, Any] = {"repetitions": 7, "change": noisy, "method": mode, "api": api, "cpu_model": "VM"}
        configuration(folder, f"{name}.shared", "per-slot", rates, **common)
        configuration(folder, f"{name}.separate", "local-pool", lose, **common)
    manifest(folder, axes=HEADLINE, **experiment)
    return judged(folder)


def lines_of(judgement: Judgement, everything: bool = False) -> list[str]:
    return text.render(answer.make(judgement), everything).splitlines()


def test_the_headline_fits_fifty_lines_of_80_columns_with_the_answer_first(tmp_path: Path) -> None:
    judgement = headline(tmp_path, question="Is one shared connection holding this client back?")
    lines = lines_of(judgement)
    assert len(lines) <= 50 and max(map(len, lines)) <= text.WIDTH
    assert lines[0] == "Is one shared connection holding this client back?"
    assert lines[1].startswith("LIKELY at ")
    first, second = (i for i, line in enumerate(lines) if line.startswith(("separate ÷", "at 48 in flight ")))
    assert lines[first].split()[:3] == ["separate", "÷", "shared"] and "  calls/s at 48  " in lines[first]
    assert len({line.split("  ")[0] for line in lines[first + 1 : first + 5]}) == 4 == len(judgement.scenarios)
    assert lines[second].split("  ")[0] == "at 48 in flight" and "→" in lines[second + 1]
    assert (
        first
        < second
        < lines.index("WHAT TO SET (each compared by itself, not together)")
        < lines.index("WHAT THIS MACHINE CANNOT SHOW")
    )
    assert not any("..." in line or line.lstrip().startswith("%") for line in lines)


def test_every_scenario_has_its_row_and_every_load_on_request(tmp_path: Path) -> None:
    judgement = headline(tmp_path)
    made = answer.make(judgement)
    assert [row.scenario for row in made.table] == [one.name for one in judgement.scenarios]
    for row, one in zip(made.table, judgement.scenarios, strict=True):
        by_kind = {kind: getattr(row, kind) for kind in ("better", "worse", "equivalent", "inconclusive")}
        slower = {f"{r.load.number:.0f}" for r in one.rows if r.decision is Decision.SLOWER}
        assert bool(by_kind["worse"]) == bool(slower) and all(
            n in by_kind["worse"] or "–" in by_kind["worse"] for n in slower
        )
    everything = lines_of(judgement, everything=True)
    start = everything.index("EVERY LOAD (calls in flight)")
    rows = [line for line in everything[start:] if "→" in line]
    assert len(rows) == sum(len(one.rows) for one in judgement.scenarios) == 24
    assert max(map(len, everything)) <= text.WIDTH


def test_absolute_figures_are_those_that_the_ratio_compares(tmp_path: Path) -> None:
    for row in answer.make(headline(tmp_path)).table:
        for one in row.each:
            for ratio, (before, after) in ((one.throughput, one.rates), (one.p99, one.p99s)):
                assert ratio and before and after and after / before == pytest.approx(ratio.value)


def test_the_interval_of_p99_is_the_one_that_decides_about_costs(tmp_path: Path) -> None:
    """A P99 is a cost where its interval, as shown, excludes 1 and is not within the margin."""
    seen = set()
    for one in headline(tmp_path).scenarios:
        for row in one.rows:
            if row.p99 is None or row.decision is Decision.SAME:
                continue
            low, high = row.p99.interval or (0.0, math.inf)
            apart = (low > 1 or high < 1) and not (low >= 1 / one.margin and high <= one.margin)
            assert any(cost.metric == "p99" for cost in row.costs) is apart
            seen.add(apart)
    assert seen  # at least one row was looked at


def test_the_question_is_the_experiments(tmp_path: Path) -> None:
    judgement = headline(tmp_path, question="What does it cost?")
    assert lines_of(judgement)[0] == "What does it cost?"
    assert not lines_of(judgement)[1].startswith(("YES", "NO", "LIKELY"))  # it may be no answer to that


def test_other_load_is_at_the_head(tmp_path: Path) -> None:
    found(tmp_path, {"change": setting({"warnings": [OTHERS]}, (4,))})
    manifest(tmp_path)
    data = json.loads((tmp_path / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps({**data, "notes": ["other programs keep 2.0 CPUs busy"]}))
    lines = lines_of(judged(tmp_path))
    assert "! other programs keep 2.0 CPUs busy" in lines[: lines.index("")]
    assert any(line.startswith("! 6 of 72 measurements have a warning, such as 'other processes") for line in lines)


def test_few_loads_have_their_ratios_in_the_table(tmp_path: Path) -> None:
    """With what follows from each: no sign where a side is faster."""
    of = {n: SHARED[n] for n in (1, 4, 8, 32)}
    configuration(tmp_path, "shared", "per-slot", of)
    configuration(tmp_path, "separate", "local-pool", {**of, 4: 1.5 * of[4], 32: 0.7 * of[32]})
    manifest(tmp_path)
    lines = lines_of(judged(tmp_path))
    (head,) = (i for i, line in enumerate(lines) if "calls/s at 4 " in line)
    assert re.split("  +", lines[head])[1:] == ["calls/s at 4", "at 8", "at 32 in flight"]
    at_4, at_8, at_32 = re.split("  +", lines[head + 1])[1:]
    assert at_4.startswith("1.50 (") and at_8.startswith("1.00 (") and at_8.endswith(" =") and at_32.endswith(")")
    legend = " ".join(lines)
    assert "= equivalent." in legend and "? inconclusive" not in legend


def test_long_names_of_cases_and_configurations_have_a_line_of_their_own(tmp_path: Path) -> None:
    long = "a-setting-with-a-name-that-is-far-too-long-for-a-column-of-a-table"
    configuration(tmp_path, "short", "shared", SHARED)
    configuration(tmp_path, long, "shared", {n: 2 * r for n, r in SHARED.items()}, api="cq")
    manifest(tmp_path, axes=[("setting", ("short", long))])
    lines = lines_of(judged(tmp_path))
    assert all(len(line) <= text.WIDTH or long in line for line in lines) and any(long in line for line in lines)


def test_colour_on_a_terminal_and_none_elsewhere(tmp_path: Path) -> None:
    found(tmp_path)
    shown, plain = (text.render(said(tmp_path), colour=colour) for colour in (True, False))
    assert "\x1b[1;31mYES at" in shown and "\x1b" not in plain
    assert re.sub("\x1b\\[[0-9;]*m", "", shown).split() == plain.split()


def test_the_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judgement = headline(tmp_path)
    assert cqbench(["verdict", str(tmp_path)]) == 0
    assert capsys.readouterr().out == text.render(answer.make(judgement))
    assert cqbench(["verdict", "--all", str(tmp_path)]) == 0
    assert capsys.readouterr().out == text.render(answer.make(judgement), everything=True)
    assert cqbench(["verdict", "--format", "json", str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(as_json.to_json(judgement), allow_nan=False))


@pytest.mark.parametrize(
    ("arguments", "says"), [(["nothing-there"], "nothing-there"), ([], "RESULTS"), (["--format", "x", "."], "'x'")]
)
def test_bad_input_is_one_line(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cqbench(["verdict", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and error.startswith("cqbench verdict: ") and says in error


def test_the_json_has_codes_numbers_and_thresholds(tmp_path: Path) -> None:
    found(tmp_path)
    data = as_json.to_json(judged(tmp_path))
    assert data["thresholds"]["gain"] == 1.1 and data["thresholds"]["min_repetitions"] == 6
    row = data["scenarios"][0]["rows"][-1]
    assert row["load"] == {"inflight": 32} and row["decision"] == "bottleneck" and "wire-idle" in row["codes"]
    assert set(row["throughput"]) == {"value", "low", "high", "p", "n", "paired", "spread", "freedom"}
    assert data["answer"]["word"] == "YES" and data["answer"]["line"] == "at 4–32 in flight"
    (one,) = data["answer"]["table"]
    assert one["better"] == "4–32" and one["each"][-1]["rates"] == pytest.approx([56e3, 336e3], rel=0.01)
    assert data["answer"]["to_set"][0]["cpp"][0] == "grpc::ChannelArguments args;"
    assert as_json._plain({"a": [float("inf"), 1.5]}) == {"a": [None, 1.5]}


def test_every_statement_that_is_made_has_a_sentence() -> None:
    """In the sources: a code without one would end the command."""
    folder = Path(advice.__file__).parent
    sources = "".join((folder / f"{name}.py").read_text() for name in ("advice", "needs"))
    named = {*re.findall(r'"([a-z]+(?:-[a-z]+)+|set|keep|flips|noise|repetitions|longer)"', sources)} - {"client-cpu"}
    sentences = {*statements.SENTENCES, *recommend.CODES}
    assert len(named) > 20 and named <= sentences, named - sentences
    everywhere = {
        "contradiction",
        "connections-not-held",
        "figures-absent",
        "ideal-not-known",
        "rate-not-reached",
        "proxy",
    }
    assert sentences == named | everywhere


def test_a_pipe(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", "shared", SIXFOLD)
    script = Path(__file__).parents[2] / "scripts/verdict.sh"
    command = ["bash", "-c", f'"{script}" --format json <(cat "{path}")']
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["scenarios"] == []


def test_it_takes_seconds_at_most(tmp_path: Path) -> None:
    """Counts CPU time, so that other processes hardly matter; it takes about one second."""
    headline(tmp_path)
    start = time.process_time()
    lines_of(judged(tmp_path))
    assert time.process_time() - start < 5
