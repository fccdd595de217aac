"""Profiles as data: what they say, what changed between two, and the gates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cqbench import cli
from cqbench.analysis.cost import names
from cqbench.analysis.cost import profile as model
from cqbench.analysis.cost.counts import FUNCTION, LIBRARY, SYSCALL, Key, function, total
from cqbench.analysis.cost.profile import Profile, figures
from cqbench.render.cost import text
from jsonschema import Draft202012Validator

SCHEMA = json.loads((Path(model.__file__).parent / "profile.schema.json").read_text())
WORK = {"workload": "ping", "inflight": "1"}


def profile(instructions: tuple[float, ...] = (1000.0,) * 6, work: dict[str, str] = WORK, **more: Any) -> Profile:
    """Makes a profile of client and server; the client's instructions in each repetition, all in one function but
    100.
    """
    repetitions = [
        {
            total("instructions"): each,
            total("syscalls"): 4.0,
            Key(LIBRARY, "gRPC"): each - 100,
            Key(LIBRARY, "libc"): 100.0,
            Key(SYSCALL, "sendmsg"): 4.0,
            function("f(int)", "gRPC"): each - 100,
            function("memcpy", "libc"): 100.0,
        }
        for each in instructions
    ]
    server = [{total("instructions"): 500.0, total("syscalls"): 5.0}] * len(instructions)
    found = [*figures("client", repetitions), *figures("server", server)]
    told = {
        "cqbench_cost_profile": 1,
        "date": "2026-01-02T03:04:05+00:00",
        "title": "ping",
        "calls": {"instructions": 10},
        "inflight": 1,
        "work": work,
        "setting": {"grpc_version": "1.51.1"},
        "figures": found,
    }
    return Profile.model_validate({**told, **more})


def stored(folder: Path, name: str, one: Profile) -> str:
    path = folder / name
    path.write_text(json.dumps(model.as_json(one)))
    return str(path)


def compare(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = cli.main(["compare", *arguments])
    out, err = capsys.readouterr()
    return status, out, err


def test_a_profile_is_as_its_schema_says_and_read_back(tmp_path: Path) -> None:
    one = profile(absent=[{"side": "client", "part": "time", "reason": "no"}], messages_per_call=3)
    Draft202012Validator.check_schema(SCHEMA)
    assert not list(Draft202012Validator(SCHEMA).iter_errors(model.as_json(one)))
    assert model.load(Path(stored(tmp_path, "a.json", one))) == one
    strange = {**model.as_json(one), "luck": 1}
    assert list(Draft202012Validator(SCHEMA).iter_errors(strange))


def test_every_total_has_words_and_is_in_the_schema() -> None:
    assert set(SCHEMA["$defs"]["figure"]["then"]["properties"]["name"]["enum"]) == set(names.TOTALS)


def test_functions_that_do_not_matter_are_left_out() -> None:
    counts = {total("instructions"): 1e6, function("f", "gRPC"): 999_600.0, function("g", "gRPC"): 400.0}
    assert [f.name for f in figures("client", [counts]) if f.kind == FUNCTION] == ["f"]


def test_the_spread_is_from_the_least_to_the_most(tmp_path: Path) -> None:
    one = profile((1000.0, 1010.0, 990.0)).total("client", "instructions")
    assert one and (one.median, one.low, one.high, one.repetitions) == (1000, 990, 1010, 3)
    assert one.spread == pytest.approx(0.02)


def test_tables(tmp_path: Path) -> None:
    lines = text.render(profile()).splitlines()
    assert "  instructions                                                      1,000.00    0.00 %" in lines
    assert any(line.split() == ["gRPC", "900.00", "0.00", "%", "90", "%"] for line in lines)
    assert "| f(int) \\[gRPC\\] | 900.00 | 0.00 % | 90 % |" in text.markdown(profile()).splitlines()


def test_what_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = stored(tmp_path, "a.json", profile())
    b = stored(tmp_path, "b.json", profile((1010.0,) * 6, setting={"grpc_version": "1.83.0"}))
    status, out, _ = compare(capsys, a, b, "--format", "json")
    changes = {(c["side"], c["kind"], c["name"]): c for c in json.loads(out)["changes"]}
    assert status == 0
    assert changes["client", "total", "instructions"]["outcome"] == "more"
    assert changes["client", "function", "f(int)"]["outcome"] == "more"
    assert changes["client", "library", "gRPC"]["after"] == 910
    assert changes["client", "total", "syscalls"]["outcome"] == "no change"
    assert changes["client", "function", "memcpy"]["outcome"] == "no change"
    _, out, _ = compare(capsys, a, b)
    assert "set otherwise: grpc_version: 1.51.1 before, 1.83.0 after" in out
    _, out, _ = compare(capsys, a, b, "--format", "markdown")
    assert "| f(int) \\[gRPC\\] | 900.00 | 910.00 | +1.11 % | +1.11 to +1.11 % | more |" in out


def instructions(capsys: pytest.CaptureFixture[str], *paths: str) -> dict[str, Any]:
    """Compares two profiles and returns the change of the client's instructions."""
    _, out, _ = compare(capsys, *paths, "--format", "json")
    (change,) = [c for c in json.loads(out)["changes"] if c["kind"] == "total" and c["name"] == "instructions"][:1]
    return dict(change)


def test_the_interval_decides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    noise = (-5.0, -3.0, -1.0, 1.0, 3.0, 5.0)
    a = stored(tmp_path, "a.json", profile(tuple(1000 + each for each in noise)))
    for name, mean, outcome in (("b", 1008.0, "inconclusive"), ("c", 1100.0, "more"), ("d", 900.0, "less")):
        b = stored(tmp_path, f"{name}.json", profile(tuple(mean + each for each in noise)))
        change = instructions(capsys, a, b)
        assert change["outcome"] == outcome
        assert change["low"] < mean - 1000 < change["high"] and change["margin"] == pytest.approx(
            max(1000.0, mean) / 500
        )


def test_five_repetitions_say_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = stored(tmp_path, "a.json", profile())
    b = stored(tmp_path, "b.json", profile((2000.0,) * 5))
    change = instructions(capsys, a, b)
    assert (change["outcome"], change["low"], change["high"]) == ("inconclusive", None, None)
    status, out, err = compare(capsys, a, b, "--fail-if-more-expensive", "0.5%")
    assert status == 3 and "client, instructions: 1,000.00 before, 2,000.00 after (too few repetitions: 5 of 6)" in err
    assert "have fewer than 6 repetitions in a profile (cqbench cost --repetitions 6)" in out


def test_a_function_that_one_profile_does_not_list_may_be_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Below 0.05 % of all instructions, which is 50 here: as many less are certain of what is new."""
    found = []
    for new in (0.0, 90.0, 120.0):
        counts = {total("instructions"): 100_000.0, function("f", "gRPC"): 1000.0, function("g", "gRPC"): new}
        found.append(stored(tmp_path, f"{new}.json", profile(figures=figures("client", [counts] * 6))))
    for path, outcome in ((found[1], "inconclusive"), (found[2], "more")):
        _, out, _ = compare(capsys, found[0], path, "--format", "json")
        (change,) = [c for c in json.loads(out)["changes"] if c["name"] == "g"]
        assert change["outcome"] == outcome


def test_a_lock_is_not_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for lock in (100.0, 200.0):
        counts = {total("instructions"): 1000.0, function("absl::Mutex::Lock()", "abseil"): lock}
        found.append(stored(tmp_path, f"{lock}.json", profile(figures=figures("client", [counts] * 6))))
    _, out, _ = compare(capsys, *found, "--format", "json")
    assert [c["outcome"] for c in json.loads(out)["changes"] if "Mutex" in c["name"]] == ["not judged"]


def test_a_profile_whose_values_are_not_as_many_as_its_repetitions_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = model.as_json(profile())
    data["figures"][0]["values"].pop()
    path = tmp_path / "few.json"
    path.write_text(json.dumps(data))
    status, _, err = compare(capsys, str(path), stored(tmp_path, "b.json", profile()))
    assert status == 2 and "5 values of 6 repetitions" in err and len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("after", "gate", "status", "state"),
    [
        ((1010.0,) * 6, ("--fail-if-more-expensive", "0.5%"), 1, "closed"),
        ((1004.0,) * 6, ("--fail-if-more-expensive", "0.5%"), 0, "open"),
        ((1002.0, 1020.0) * 3, ("--fail-if-more-expensive", "0.5%"), 3, "inconclusive"),
        ((1002.0, 1020.0), ("--fail-if-more-expensive", "0.5%"), 3, "inconclusive"),
        ((900.0,) * 6, ("--fail-if-more-expensive", "0%"), 0, "open"),
        ((1000.0, 1000.0), ("--max-instructions-per-rpc", "1500"), 0, "open"),
        ((1001.0, 1001.0), ("--max-instructions-per-rpc", "1500"), 1, "closed"),
        ((999.0, 1001.0), ("--max-instructions-per-rpc", "1500"), 3, "inconclusive"),
        ((1000.0, 1000.0), ("--max-syscalls-per-rpc", "8.9"), 1, "closed"),
        ((1000.0, 1000.0), ("--max-allocs-per-rpc", "100"), 3, "inconclusive"),
    ],
)
def test_gates(
    after: tuple[float, ...],
    gate: tuple[str, str],
    status: int,
    state: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths = stored(tmp_path, "a.json", profile()), stored(tmp_path, "b.json", profile(after))
    found, out, err = compare(capsys, *paths, *gate)
    assert found == status
    assert f"{gate[0]} {gate[1]}: {state}" in out
    assert (f"{gate[0]} {gate[1]}: {state}: " in err) == (status != 0)


def test_a_report_shows_a_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = str(Path(__file__).parent / "data/report/repetitions.json")
    page, one = tmp_path / "page.html", stored(tmp_path, "profile.json", profile(title="a <ping>"))
    assert cli.main(["report", results, one, "--output", str(page)]) == 0
    text = page.read_text()
    assert (
        "What a call costs: a &lt;ping&gt;</h2>" in text and '<th scope="row">f(int) [gRPC]</th><td>900.00</td>' in text
    )
    capsys.readouterr()
    assert cli.main(["report", one, "--output", str(page)]) == 2
    assert "is shown with results only" in capsys.readouterr().err


def test_what_is_no_longer_counted_closes_a_gate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    without = [f for f in profile().figures if f.name != "syscalls"]
    paths = stored(tmp_path, "a.json", profile()), stored(tmp_path, "b.json", profile(figures=without))
    status, out, err = compare(capsys, *paths, "--fail-if-more-expensive", "1%")
    assert status == 1 and "client, system calls: not counted after" in err
    assert "only before: client, system calls" in out


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = stored(tmp_path, "a.json", profile()), stored(tmp_path, "b.json", profile(work={**WORK, "inflight": "8"}))
    result = str(Path(__file__).parent / "data/unary-sync-shared.json")
    newer = tmp_path / "newer.json"
    newer.write_text('{"cqbench_cost_profile": 2}')
    for arguments, said in (
        ((a, b), "other work: inflight is 1 before, 8 after; --anyway compares all the same"),
        ((a, result), "argument B: "),
        ((a, str(newer)), "cqbench_cost_profile 2 is newer than 1"),
        ((a, b, "--fail-if-slower", "5%"), "argument --fail-if-slower: is not for profiles of cqbench cost"),
        ((a, b, "--format", "html"), "'html' is not for profiles: text, markdown, json are accepted"),
        (
            (result, result, "--fail-if-more-expensive", "1%"),
            "argument --fail-if-more-expensive: is for two cost profiles of cqbench cost",
        ),
    ):
        status, out, err = compare(capsys, *arguments)
        assert (status, out) == (2, "") and said in err, (arguments, err)
    assert compare(capsys, a, b, "--anyway")[0] == 0


def test_what_follows_the_clock_is_shown_and_not_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def with_time(ns: float) -> Profile:
        times = figures("client", [{total("cpu-user-ns"): ns}] * 6)
        return profile(figures=[*times, *profile((1000.0,) * 6 if ns < 20_000 else (1100.0,) * 6).figures])

    files = [stored(tmp_path, name, with_time(ns)) for name, ns in (("a.json", 10_000.0), ("b.json", 30_000.0))]
    status, out, _ = compare(capsys, *files)
    (time,) = (line for line in out.splitlines() if "CPU, user" in line)
    assert status == 0 and time.endswith("not judged") and "+200.00 %" in time
    counted = next(line for line in out.splitlines() if line.startswith("  instructions "))
    assert counted.endswith("more")
