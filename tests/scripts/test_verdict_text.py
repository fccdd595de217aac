"""The verdict as a program: blocks, the summary that fits a screen, JSON, bad input."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from verdict_synthetic import COUNTS, OTHERS, SHARED, SIXFOLD, found, judged, manifest, setting, without, write

from cqbench import verdict
from cqbench import verdict_text as text
from cqbench.verdict_advice import Judgement
from cqbench.verdict_block import MAX_LINES
from cqbench.verdict_rules import Verdict
from cqbench.verdict_words import WIDTH


def test_a_block_fits_a_screen_at_its_worst(tmp_path: Path) -> None:
    counts = tuple(range(1, 49))
    slow = {n: 10e3 * min(n, 6) for n in counts}
    fast = {n: 15e3 * n if 1 < n < 20 else 8e3 * min(n, 6) for n in counts} | {1: 10e3}
    disturbed = setting({"client_cpus_allowed": 2, "client_cores_used": 1.0, "suspect": [OTHERS]}, (3,))
    noisy = {
        "rates": slow, "change": disturbed,
        "channel_args": {"grpc.a_long_argument": "1" * 60}, "repetitions": 5,
    }  # fmt: skip
    f = found(tmp_path, noisy, {**noisy, "rates": fast})
    lines = text.render(Judgement((f,), ())).splitlines()
    assert len(lines) <= MAX_LINES and max(map(len, lines)) <= WIDTH
    assert lines[-3].startswith(("MEASURE", " "))
    shown = [int(line[:9].strip(" !")) for line in lines if line[:9].strip(" !").isdigit()]
    assert shown[0] == 1 and shown[-1] == 48 and len(shown) >= 5


def test_the_most_important_comes_first(tmp_path: Path) -> None:
    half = {n: r * (1.5 if n > 1 else 1) for n, r in SHARED.items()}
    full = setting({"client_cores_used": 32.0})
    for api, mode, rates, change in (
        ("cq", "unary", SHARED, None),
        ("cq", "streaming", SIXFOLD, full),
        ("sync", "unary", half, None),
        ("sync", "streaming", SIXFOLD, None),
    ):
        write(tmp_path / f"{api}-{mode}-a.json", "shared", SHARED, change=change, mode=mode, api=api)
        write(tmp_path / f"{api}-{mode}-b.json", "local-pool", rates, change=change, mode=mode, api=api)
    findings = judged(tmp_path).findings
    assert [f.verdict for f in findings] == [Verdict.PRESENT, Verdict.PRESENT, Verdict.FASTER, Verdict.ABSENT]
    assert [f.pair.any.method for f in findings[:2]] == ["streaming", "unary"]


def test_json_has_every_number_and_the_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found(tmp_path)
    assert verdict.main([str(tmp_path), "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    (finding,) = data["findings"]
    assert finding["verdict"] == "bottleneck-present" and finding["rules"] == ["faster-and-cpus-not-saturated"]
    row = finding["rows"][-1]
    assert row["shared"]["rule"] == "faster-and-cpus-not-saturated" and row["status"] == "present"
    assert set(row["throughput_ratio"]) == {"value", "low", "high"}
    assert finding["usl"]["shared"]["r2"] > 0.9 and data["thresholds"]["gain"] == 1.10


def test_nothing_measured() -> None:
    assert text.render(Judgement((), ())) == "Nothing to judge: no series was measured.\n"


def test_unreadable_results_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    assert verdict.main([str(tmp_path)]) == 2
    assert "no result files" in capsys.readouterr().err
    (tmp_path / "x.json").write_text("{}")
    assert verdict.main([str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"verdict.sh: {tmp_path}/x.json: ") and said.count("\n") == 1
    assert verdict.main([str(tmp_path / "missing.json")]) == 2
    assert capsys.readouterr().err == f"verdict.sh: {tmp_path}/missing.json: No such file or directory\n"


# The summary.


def pair(folder: Path, name: str, rates: dict[int, float], change: Any = None, **context: Any) -> None:
    """A shared and a separate series in one setting."""
    write(folder / f"{name}-a.json", "shared", SHARED, change=change, **context)
    write(folder / f"{name}-b.json", "local-pool", rates, change=change, **context)


def lines_of(folder: Path) -> list[str]:
    return fits(judged(folder))


def fits(judgement: Judgement) -> list[str]:
    """The lines of the summary; whatever it says, it fits."""
    said = text.summary(judgement)
    assert said.endswith("\n") and said.isascii()
    lines = said.splitlines()
    assert len(lines) <= MAX_LINES and max(map(len, lines)) <= WIDTH
    return lines


def part(lines: list[str], label: str) -> str:
    """What follows a label, up to the next line that is not indented."""
    start = next(i for i, line in enumerate(lines) if line.startswith(label))
    more = next((i for i, line in enumerate(lines[start + 1 :], start + 1) if not line.startswith(" ")), len(lines))
    return " ".join(line.strip() for line in lines[start:more])


def rows_of(lines: list[str]) -> list[str]:
    start = next(i for i, line in enumerate(lines) if line.startswith("case "))
    return lines[start + 1 : next(i for i, line in enumerate(lines) if line.startswith("SET"))]


def test_the_summary_of_one_finding_is_its_block(tmp_path: Path) -> None:
    found(tmp_path)
    one = judged(tmp_path)
    assert text.summary(one) == text.render(one) and "VERDICT" in text.summary(one)
    assert text.summary(Judgement((), ())) == "Nothing to judge: no series was measured.\n"


def test_the_summary_of_a_bottleneck(tmp_path: Path) -> None:
    pair(tmp_path, "one", SIXFOLD)
    pair(tmp_path, "two", SHARED, mode="unary", api="cq")
    lines = lines_of(tmp_path)
    overall = " ".join(lines[: next(i for i, line in enumerate(lines) if line.startswith("case "))])
    assert overall == (
        "The shared connection IS the bottleneck on this machine in 1 of 2 cases, at 4 in flight at the earliest "
        "(streaming sync). Separate ones bring 6.00x (5.91-6.09) the throughput (streaming sync, 32 in flight)."
    )
    first, second = rows_of(lines)
    assert first.split() == [
        "streaming", "sync", "IS", "the", "bottleneck", "4", "6.00x", "5.91-6.09", "0.17x", "1.00x", "32",
        "conn/latency",
    ]  # fmt: skip
    assert second.startswith("unary cq ") and "no bottleneck" in second and second.endswith("?/?")
    said = part(lines, "SET")
    assert "GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, if you run streaming sync at 4 to 32: 6.00x 5.91-6.09 at 32;" in said
    assert "else leave it" in said
    assert not any(line.startswith(("CORES", "MEASURE")) for line in lines)


def test_the_summary_without_a_gain(tmp_path: Path) -> None:
    full = setting({"client_cores_used": 32.0}, (8, 16, 32))
    pair(tmp_path, "one", SHARED, full)
    pair(tmp_path, "two", SHARED, mode="unary")
    lines = lines_of(tmp_path)
    assert lines[0].startswith("The shared connection is not shown to be the bottleneck on this machine in any of 2")
    assert "With the most in flight the limit is the client's CPUs in 1 of 2 cases." in " ".join(lines[:4])
    assert "no: CPUs are full" in rows_of(lines)[0] and "CPU-cli/CPU-cli" in rows_of(lines)[0]
    assert part(lines, "SET").startswith("SET      leave it: keep the shared connection")
    assert "client 32, server 32 CPU(s) are the limit in 1 of 2 cases" in part(lines, "CORES")
    assert "sixfold cannot appear here. For more: more CPUs" in part(lines, "CORES")


def test_faster_for_another_reason_is_not_called_the_bottleneck(tmp_path: Path) -> None:
    full = setting({"client_cores_used": 32.0})
    pair(tmp_path, "one", SIXFOLD, full)
    pair(tmp_path, "two", SHARED, mode="unary")
    lines = lines_of(tmp_path)
    assert "is not shown to be the bottleneck" in lines[0] and "Separate ones bring 6.00x" in " ".join(lines[:4])
    assert "not shown to be" in rows_of(lines)[0]


def test_the_summary_without_evidence(tmp_path: Path) -> None:
    silent = without("server_")
    pair(tmp_path, "one", SIXFOLD, silent, servers=[])
    pair(tmp_path, "two", SIXFOLD, silent, servers=[], mode="unary", repetitions=2)
    lines = lines_of(tmp_path)
    assert lines[0].startswith("NOT ENOUGH EVIDENCE in any of 2 cases")
    assert "Best ratio seen: 6.00x" in " ".join(lines[:4])
    assert part(lines, "SET") == "SET      leave it, until it has been measured well enough."
    said = part(lines, "MEASURE")
    assert "server figures are missing, in both cases" in said
    assert "--repetitions 6 or more (fewest here: 2), in 1 of" in said
    assert said.index("server figures") < said.index("--repetitions")  # the more frequent first


def test_a_present_count_of_a_finding_without_evidence_is_not_named(tmp_path: Path) -> None:
    pair(tmp_path, "one", SIXFOLD)
    pair(tmp_path, "two", {**SIXFOLD, 1: 12e3, 2: 25e3, 32: 400e3}, mode="unary")  # contradicts itself at 1
    overall = " ".join(lines_of(tmp_path)[:4])
    assert "at 4 in flight at the earliest (streaming sync)" in overall
    assert "Separate ones bring 6.00x" in overall and "Not enough evidence for 1." in overall


def test_the_earliest_count_and_the_highest_ratio_of_several(tmp_path: Path) -> None:
    pair(tmp_path, "one", {**SIXFOLD, 4: SHARED[4]})
    pair(tmp_path, "two", {**SHARED, 4: 42e3}, mode="unary")
    overall = " ".join(lines_of(tmp_path)[:4])
    assert overall.startswith("The shared connection IS the bottleneck on this machine in both cases, at 4 in flight")
    assert "at the earliest (unary sync). Separate ones bring up to 6.00x" in overall


def test_the_cores_of_several(tmp_path: Path) -> None:
    def few(used: float, cost: int) -> Any:
        return setting({"client_cpus_allowed": 2, "client_cores_used": used, "client_cpu_per_rpc_ns": cost})

    pair(tmp_path, "one", SHARED, few(1.0, 20_000))
    pair(tmp_path, "two", SHARED, few(2.0, 40_000), mode="unary")
    said = part(lines_of(tmp_path), "CORES")
    assert "client 2, server 32 CPU(s) are the limit in 1 of 2 cases; the post's sixfold cannot appear here" in said
    assert "For more: 4+ CPUs a side; about 14 client, 7 server for 6x every shared rate." in said  # 6 x 56,000 x 40 us
    pair(tmp_path, "two", SHARED, few(1.0, 20_000), mode="unary")
    pair(tmp_path, "three", {**SIXFOLD, 32: 345e3}, mode="another")
    said = part(lines_of(tmp_path), "CORES")
    assert "client 2, server 32 CPU(s) are few. For more" in said


def test_doubts_that_differ_in_their_figures_are_said_once(tmp_path: Path) -> None:
    for name, used in (("one", "3.00"), ("two", "4.00")):
        pair(tmp_path, name, SIXFOLD, setting({"suspect": [OTHERS.replace("3.00", used)]}), mode=name)
    said = part(lines_of(tmp_path), "MEASURE")
    assert said.count("keep other work off") == 1 and said.endswith("in both cases.")


def test_cases_are_told_apart_by_what_they_do_not_share(tmp_path: Path) -> None:
    for queues in (1, 8):
        server = {"api": "cq", "num_cqs": queues, "workers_per_cq": 2, "callbacks_per_cq": 10, "cpus": [32]}
        pair(tmp_path, f"layout{queues}", SIXFOLD, servers=[server])
    names = {row.split(" IS ")[0].strip() for row in rows_of(lines_of(tmp_path))}
    assert names == {"streaming sync, cq 1 x 2", "streaming sync, cq 8 x 2"}


LONG = "GRPC_EXPERIMENTS=-event_engine_client,-event_engine_listener"


def test_an_experiments_cases_are_named_by_its_axes_where_settings_are_too_long(tmp_path: Path) -> None:
    for limit in ("streams-1", "streams-4"):
        args = [f"grpc.max_concurrent_streams={limit[-1]}"]
        server = {"api": "cq", "num_cqs": 1, "workers_per_cq": 1, "cpus": [32], "channel_args": args}
        for engine in ("new", "old"):
            write(tmp_path / f"raw/{engine}.{limit}.shared/01.json", "shared", SHARED, servers=[server])
            write(tmp_path / f"raw/{engine}.{limit}.separate/01.json", "local-pool", SIXFOLD, servers=[server])
    env = {"client_env": dict([LONG.split("=")]), "server_env": dict([LONG.split("=")])}
    manifest(tmp_path, lambda variant: env if variant.startswith("old") else {})
    names = {row.split(" IS ")[0].strip() for row in rows_of(lines_of(tmp_path))}
    assert names == {"new.streams-1", "new.streams-4", "old.streams-1", "old.streams-4"}
    titles = {text.title(f) for f in judged(tmp_path).findings}
    assert len(titles) == 4 and all(f"both ends {LONG}" in t or LONG not in t for t in titles)
    for f in judged(tmp_path).findings:
        assert max(map(len, text.block(f))) <= WIDTH and len(text.block(f)) <= MAX_LINES - 2


def test_cases_keep_their_settings_names_where_those_fit_or_axes_do_not_tell_them_apart(tmp_path: Path) -> None:
    def names(folder: Path, of: dict[str, str]) -> set[str]:
        for variant in of:
            write(folder / f"raw/{variant}.shared/01.json", "shared", SHARED)
            write(folder / f"raw/{variant}.separate/01.json", "local-pool", SIXFOLD)
        manifest(folder, lambda variant: {"client_env": {"A": of[variant.rpartition(".")[0]]}})
        return {row.split(" IS ")[0].strip() for row in rows_of(lines_of(folder))}

    assert names(tmp_path / "one", {"x": "1", "y": "2"}) == {"streaming sync, client A=1", "streaming sync, client A=2"}
    for number in ("1", "2"):
        names(tmp_path / f"two/{number}", {"x": number * 60, "y": number * 61})
    rows = [row.split(" IS ")[0].strip() for row in rows_of(lines_of(tmp_path / "two"))]
    assert rows == ["streaming sync, client..."] * 4


def test_many_findings_fit_a_screen_and_say_what_is_left_out(tmp_path: Path) -> None:
    """24 variants at their worst: long names, few CPUs, losses, doubts, and something else to set."""
    doubt = setting({"suspect": [OTHERS], "client_cpus_allowed": 2, "client_cores_used": 1.9}, (16, 32))
    loses = {**SIXFOLD, 8: 40e3}
    for number in range(24):
        fast = {n: r * (1 + number % 3) for n, r in (loses if number % 2 else SIXFOLD).items()}
        server = {"api": "cq", "num_cqs": 1 + number // 2, "workers_per_cq": 2, "callbacks_per_cq": 10, "cpus": [32],
                  "channel_args": ["grpc.a_long_argument=1"]}  # fmt: skip
        pair(tmp_path, f"{number:02}", fast, doubt, servers=[server], api=("sync", "cq")[number % 2],
             command_line=["x", "--threads", str(1 + number % 2)], repetitions=5)  # fmt: skip
    judgement = judged(tmp_path)
    lines = fits(judgement)
    *rows, last = rows_of(lines)
    assert len(judgement.findings) == 24 and len(lines) == MAX_LINES
    assert len(rows) >= 5 and last == f"... and {24 - len(rows)} more, less important; --all shows every one."
    assert "..." not in lines[-1]  # the legend is whole


def test_as_many_rows_as_fit_are_shown(tmp_path: Path) -> None:
    for number in range(30):
        pair(tmp_path, f"{number:02}", {n: SHARED[n] for n in (1, 2)}, mode=f"mode{number}")
    findings = judged(tmp_path).findings
    for number in range(2, 31):
        lines = fits(Judgement(findings[:number], ()))
        rows = rows_of(lines)
        more = [row for row in rows if row.startswith("... and ")]
        assert len(rows) - len(more) + sum(int(row.split()[2]) for row in more) == number
        assert not more or len(lines) == MAX_LINES
        assert not more or int(more[0].split()[2]) > 1  # where the line that says so stands, the last would fit
    assert more


def test_the_largest_choice_of_each_kind_is_named(tmp_path: Path) -> None:
    for i, (api, threads) in enumerate([("sync", "1"), ("sync", "2"), ("cq", "1"), ("callback", "1")]):
        scale = {"sync": 1.0, "cq": 1.5, "callback": 2.0}[api] * int(threads)
        rates = {n: scale * r for n, r in SHARED.items()}
        write(tmp_path / f"{i}.json", "shared", rates, api=api, command_line=["x", "--threads", threads])
    said = part(lines_of(tmp_path), "SET")
    assert "client API callback instead of sync: 2.00x" in said and "--threads 2 instead of --threads 1" in said
    assert "cq" not in said


def test_the_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pair(tmp_path, "one", SIXFOLD)
    pair(tmp_path, "two", SHARED, mode="unary")
    judgement = judged(tmp_path)
    assert verdict.main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == text.summary(judgement)
    assert verdict.main(["--all", str(tmp_path)]) == 0
    assert capsys.readouterr().out == text.render(judgement)
    assert verdict.main(["--format", "json", str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(verdict.to_json(judgement)))


def test_the_json_has_the_factors_and_no_infinity(tmp_path: Path) -> None:
    found(tmp_path)
    data = verdict.to_json(judged(tmp_path))
    json.dumps(data, allow_nan=False)
    assert verdict._finite({"a": [float("inf"), 1.5], "b": (float("nan"), "x")}) == {"a": [None, 1.5], "b": [None, "x"]}
    (finding,) = data["findings"]
    factors = finding["factors_at_best"]["client"]
    assert factors["at_work"]["value"] == 1 and set(factors["cheaper"]) == {"value", "low", "high"}
    assert [set(row["factors"]) for row in finding["rows"]] == [{"client", "server"}] * len(COUNTS)


def test_a_pipe(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", "shared", SHARED)
    script = Path(__file__).parents[2] / "scripts/verdict.sh"
    done = subprocess.run(
        ["bash", "-c", f'"{script}" --format json <(cat "{path}")'], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["findings"][0]["rules"][0] == "one-side-not-measured"
