"""A channel that scales: which runs are one, where it stands beside shared and separate, what is said of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from verdict_synthetic import OTHERS, SHARED, SIXFOLD, Change, judged, manifest, setting, write

from cqbench import report_data, report_series, verdict
from cqbench import verdict_advice as advice
from cqbench import verdict_text as text
from cqbench.runs import read_all
from cqbench.verdict_data import conditions, load_series
from cqbench.verdict_judge import Finding
from cqbench.verdict_rules import Verdict
from cqbench.verdict_scaling import most_connections, without

CONFIG = {"connectionScaling": {"maxConnectionsPerSubchannel": 48}}
ASKS = {
    "service_config": json.dumps(CONFIG), "channel_args": {"grpc.max_connections_per_subchannel_cap": "48"},
}  # fmt: skip
ENV = {"GRPC_EXPERIMENTAL_MAX_CONCURRENT_STREAMS_CONNECTION_SCALING": "true"}


def failing(code: str, counts: tuple[int, ...] = (32,)) -> Change:
    return setting({"failed": 3, "errors": [{"code": code, "count": 3, "first_message": "RST_STREAM"}]}, counts)


def measured(folder: Path, rates: dict[int, float] | None = SIXFOLD, change: Change | None = None) -> Finding:
    """Shared, separate and, with rates, scaling in one setting, as an experiment has them."""
    write(folder / "raw/x.shared/01.json", "shared", SHARED)
    write(folder / "raw/x.separate/01.json", "local-pool", SIXFOLD)
    if rates:
        write(folder / "raw/x.scaling/01.json", "shared", rates, change=change, **ASKS)
    manifest(folder, lambda variant: {"client_env": {"A": "1", **(ENV if variant == "x.scaling" else {})}})
    (finding,) = judged(folder).findings
    return finding


@pytest.mark.parametrize(
    ("most", "cap", "expected"),
    [
        (48, "48", 48), (48, "12", 12), (12, "48", 12), (48, None, 10), (4, None, 4), ("48", "48", 48), (48, 20, 20),
        (1, "48", None), (48, "1", None), (0, None, None), (None, "48", None), (True, None, None), ("x", None, None),
        (-3, None, None), (2.5, None, None), ("9" * 5000, "48", None), (48, "x", 10), ([], None, None), (48, True, 10),
    ],
)  # fmt: skip
def test_what_a_channel_may_grow_to(most: Any, cap: Any, expected: int | None) -> None:
    config = {"connectionScaling": {"maxConnectionsPerSubchannel": most}}
    context: dict[str, Any] = {"service_config": json.dumps(config)}
    if cap is not None:
        context["channel_args"] = {"grpc.max_connections_per_subchannel_cap": cap}
    assert most_connections(context) == expected


@pytest.mark.parametrize("config", [None, "", "{", "[]", "3", 3, {}, "{}", '{"connectionScaling": 3}', "[" * 100_000])
def test_other_service_configs_ask_for_nothing(config: Any) -> None:
    assert most_connections({"service_config": config, "channel_args": None}) is None


def test_just_what_asks_for_it_is_taken_out() -> None:
    context = {"api": "cq", "channel_args": {**ASKS["channel_args"], "grpc.x": "1"}}
    left = without({**context, "service_config": json.dumps({**CONFIG, "methodConfig": []})})
    assert left == {"api": "cq", "channel_args": {"grpc.x": "1"}, "service_config": '{"methodConfig": []}'}
    assert without(ASKS) == {"channel_args": {}, "service_config": ""}


def test_it_is_another_way_to_connect_in_the_same_setting(tmp_path: Path) -> None:
    f = measured(tmp_path)
    assert [s.policy for s in f.pair.all] == ["shared", "separate", "scaling:48"]
    assert {s.setting.extra for s in f.pair.all} == {"client A=1"}
    assert verdict.to_json(judged(tmp_path))["findings"][0]["policies"] == ["shared", "separate", "scaling:48"]


def test_other_policies_and_other_limits_are_not_mixed_up(tmp_path: Path) -> None:
    other = {**ASKS, "service_config": json.dumps({"connectionScaling": {"maxConnectionsPerSubchannel": 4}})}
    for name, policy, context in (("a", "shared", ASKS), ("b", "per-slot", ASKS), ("c", "shared", other)):
        write(tmp_path / f"{name}.json", policy, SHARED, **context)
    write(tmp_path / "d.json", "local-pool", SHARED, **ASKS)  # each channel may grow: not what A105 is measured for
    write(tmp_path / "e.json", "shared", SHARED, channel_args=ASKS["channel_args"])  # does not ask for it
    found = {(s.policy, s.setting.extra): s.repetitions(1) for s in load_series(read_all([tmp_path]))}
    cap = "grpc.max_connections_per_subchannel_cap=48"
    assert found == {
        ("scaling:48", ""): 12, ("scaling:4", ""): 6, ("shared", cap): 6,
        ("separate", f"{cap} {ASKS['service_config']}"): 6,
    }  # fmt: skip


def test_the_variable_is_left_out_of_no_other_run(tmp_path: Path) -> None:
    path = write(tmp_path / "raw/a/01.json", "shared", SHARED)
    manifest(tmp_path, lambda _: {"client_env": ENV})
    (run,) = read_all([path])
    policy, found = conditions(run)
    assert policy == "shared" and found.extra == f"client {next(iter(ENV))}=true"


def test_scaling_does_not_stand_for_separate(tmp_path: Path) -> None:
    """Below the server's limit of streams it has one connection, like the shared one."""
    write(tmp_path / "a.json", "shared", SHARED)
    write(tmp_path / "b.json", "shared", SHARED, **ASKS)
    (f,) = judged(tmp_path).findings
    assert f.pair.separate is None and f.verdict is Verdict.NOT_ENOUGH
    assert text.verdict_words(f) == "NOT ENOUGH EVIDENCE: separate connections were not measured."
    write(tmp_path / "c.json", "pool:4", SIXFOLD)
    (f,) = judged(tmp_path).findings
    assert [s.policy for s in f.pair.all] == ["shared", "pool:4", "scaling:48"]


def test_scaling_alone(tmp_path: Path) -> None:
    write(tmp_path / "b.json", "shared", SHARED, **ASKS)
    (f,) = judged(tmp_path).findings
    assert f.verdict is Verdict.NOT_ENOUGH and "the shared connection was not measured" in text.verdict_words(f)
    asked = [f"measure the other side too ({flag})" for flag in ("--channel-policy per-slot", "--local-pool")]
    assert advice.to_do(f) == asked and "\n".join(text.block(f))
    verdict.to_json(judged(tmp_path))


def test_as_good_as_separate_connections(tmp_path: Path) -> None:
    said = advice.policy(measured(tmp_path, {**SIXFOLD, 32: 330e3}))
    assert "One channel that scales (scaling:48) is as good at 32: 5.89x (5.80-5.98) of the shared one." in said
    assert "Fewer connections" not in said and "are enough" not in said


def test_less_than_separate_connections(tmp_path: Path) -> None:
    said = advice.policy(measured(tmp_path, {**SIXFOLD, 32: 168e3}))
    assert "One channel that scales (scaling:48) carries less at 32: 0.50x (0.49-0.51) of one per slot." in said


@pytest.mark.parametrize(("rate", "ratio"), [(322e3, "0.96x (0.94-0.97)"), (318e3, "0.95x (0.93-0.96)")])
def test_open_whether_it_is_as_good(tmp_path: Path, rate: float, ratio: str) -> None:
    said = advice.policy(measured(tmp_path, {**SIXFOLD, 32: rate}))
    assert f"Whether one channel that scales (scaling:48) is as good at 32 is open: {ratio} of one" in said


def test_nothing_is_said_of_what_was_not_measured_well(tmp_path: Path) -> None:
    assert "scal" not in advice.policy(measured(tmp_path / "a", None))
    assert "scal" not in advice.policy(measured(tmp_path / "b", change=setting({"suspect": [OTHERS]})))
    assert "scal" not in advice.policy(measured(tmp_path / "c", {1: 10e3, 2: 20e3}))


def test_a_changing_number_of_connections_is_no_reason_against_it(tmp_path: Path) -> None:
    def grown(n: int, point: dict[str, Any]) -> None:
        point.update(connections=min(n, 1 + point["repetition_index"]), expected_connections=1)

    f = measured(tmp_path, change=grown)
    assert f.verdict is Verdict.PRESENT and "is as good at 32" in advice.policy(f) and advice.to_do(f) == []


def test_pools_are_judged_beside_it(tmp_path: Path) -> None:
    write(tmp_path / "raw/x.pool/01.json", "pool:4", {**SIXFOLD, 32: 334e3})
    said = advice.policy(measured(tmp_path))
    assert "4 connections (pool:4) are enough at 32: 5.96x" in said and "(scaling:48) is as good at 32: 6.00x" in said


def test_its_series_in_a_report(tmp_path: Path) -> None:
    measured(tmp_path / "a")
    found = report_series.group(read_all([tmp_path / "a"]))
    assert [(g.variant, g.sharing, g.words) for g in found] == [
        ("x.shared", "shared", ""), ("x.separate", "separate", ""), ("x.scaling", "scaling:48", ""),
    ]  # fmt: skip
    assert [s.sharing for s in report_data.make([tmp_path / "a"]).series] == ["shared", "separate", "scaling:48"]
    for name, policy, context in (("a", "shared", {}), ("b", "shared", ASKS), ("c", "pool:4", {})):
        write(tmp_path / f"b/{name}.json", policy, SHARED, **context)
    found = report_series.group(read_all([tmp_path / "b"]))
    assert [(g.title, len(g.runs)) for g in found] == [
        (f"streaming sync {way}", 1) for way in ("shared", "pool:4", "scaling:48")
    ]


def test_refused_streams_are_said(tmp_path: Path) -> None:
    f = measured(tmp_path, change=failing("UNAVAILABLE"))
    assert "One channel that scales (scaling:48) had failed calls at 32 (UNAVAILABLE)." in advice.policy(f)
    assert advice.to_do(f) == [
        "6 points of scaling:48 had failed calls (UNAVAILABLE), left out here: see the errors in the files"
    ]
    (data,) = verdict.to_json(judged(tmp_path))["findings"]
    assert data["with_failed_calls"] == data["left_out"] == {"shared": 0, "separate": 0, "scaling:48": 6}
