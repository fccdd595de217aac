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


def profile(instructions: tuple[float, ...] = (1000.0, 1000.0), work: dict[str, str] = WORK, **more: Any) -> Profile:
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
    b = stored(tmp_path, "b.json", profile((1010.0, 1010.0), setting={"grpc_version": "1.83.0"}))
    status, out, _ = compare(capsys, a, b, "--format", "json")
    changes = {(c["side"], c["kind"], c["name"]): c for c in json.loads(out)["changes"]}
    assert status == 0
    assert changes["client", "total", "instructions"]["real"] and changes["client", "function", "f(int)"]["real"]
    assert changes["client", "library", "gRPC"]["after"] == 910
    assert not changes["client", "total", "syscalls"]["real"] and not changes["client", "function", "memcpy"]["real"]
    _, out, _ = compare(capsys, a, b)
    assert "set otherwise: grpc_version: 1.51.1 before, 1.83.0 after" in out
    _, out, _ = compare(capsys, a, b, "--format", "markdown")
    assert "| f(int) \\[gRPC\\] | 900.00 | 910.00 | +1.11 % | real |" in out


def test_a_change_within_the_sum_of_the_spreads_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = stored(tmp_path, "a.json", profile((995.0, 1005.0)))  # 10 wide
    b = stored(tmp_path, "b.json", profile((1009.0, 1014.0)))  # 5 wide, 11.5 more
    _, out, _ = compare(capsys, a, b, "--format", "json")
    (change,) = [c for c in json.loads(out)["changes"] if (c["side"], c["name"]) == ("client", "instructions")]
    assert (change["noise"], change["real"]) == (15, False)


@pytest.mark.parametrize(
    ("after", "gate", "status", "state"),
    [
        ((1010.0, 1010.0), ("--fail-if-more-expensive", "0.5%"), 1, "closed"),
        ((1004.0, 1004.0), ("--fail-if-more-expensive", "0.5%"), 0, "open"),
        ((1002.0, 1020.0), ("--fail-if-more-expensive", "0.5%"), 3, "inconclusive"),
        ((900.0, 900.0), ("--fail-if-more-expensive", "0%"), 0, "open"),
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
        times = figures("client", [{total("cpu-user-ns"): ns}] * 2)
        return profile(figures=[*times, *profile((1000.0, 1000.0) if ns < 20_000 else (1100.0, 1100.0)).figures])

    files = [stored(tmp_path, name, with_time(ns)) for name, ns in (("a.json", 10_000.0), ("b.json", 30_000.0))]
    status, out, _ = compare(capsys, *files)
    (time,) = (line for line in out.splitlines() if "CPU, user" in line)
    assert status == 0 and time.endswith("not judged") and "+200.00 %" in time
    instructions = next(line for line in out.splitlines() if line.startswith("  instructions "))
    assert instructions.endswith("real")
    _, twice, _ = compare(capsys, files[0], files[0])
    assert "not judged\n" not in twice
