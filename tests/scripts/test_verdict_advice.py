"""What to set beside the policy: connections, API, threads, server layout. Only what was measured."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from verdict_synthetic import SHARED, SIXFOLD, found, judged, manifest, write

from cqbench import verdict_advice as advice
from cqbench import verdict_text
from cqbench.runs import read_all
from cqbench.verdict_data import load_series, make_pairs
from cqbench.verdict_rules import Verdict


def test_fewest_connections_that_are_as_good(tmp_path: Path) -> None:
    write(tmp_path / "c.json", "pool:4", {**SIXFOLD, 32: 334e3})
    write(tmp_path / "d.json", "pool:2", {**SIXFOLD, 32: 200e3})
    f = found(tmp_path)
    assert f.pair.separate is not None and f.pair.separate.policy == "separate"
    assert "4 connections (pool:4) are enough at 32: 5.96x" in advice.policy(f)


def test_fewer_connections_that_carry_less(tmp_path: Path) -> None:
    write(tmp_path / "c.json", "pool:4", {**SIXFOLD, 32: 300e3})
    assert "Fewer connections (pool:4) carry less." in advice.policy(found(tmp_path))
    assert "onnections (" not in advice.policy(found(tmp_path / "alone"))


def test_a_pool_alone_is_the_separate_side(tmp_path: Path) -> None:
    write(tmp_path / "a.json", "shared", SHARED)
    write(tmp_path / "b.json", "pool:4", SIXFOLD)
    (f,) = judged(tmp_path).findings
    assert f.verdict is Verdict.PRESENT and "4 channels with connections of their own" in advice.policy(f)


def test_choices_between_settings_that_differ_in_one_thing(tmp_path: Path) -> None:
    write(tmp_path / "a.json", "shared", SHARED)
    write(tmp_path / "b.json", "shared", {n: 1.5 * r for n, r in SHARED.items()}, api="cq")
    write(tmp_path / "c.json", "shared", {n: 3 * r for n, r in SHARED.items()}, api="cq", mode="unary")
    (choice,) = judged(tmp_path).choices
    assert (choice.what, choice.better, choice.other, choice.inflight) == ("api", "cq", "sync", 32)
    assert choice.ratio.value == pytest.approx(1.5)
    assert "client API cq instead of sync: 1.50x" in advice.choice_words(choice)


def test_two_differences_at_once_are_no_choice(tmp_path: Path) -> None:
    fast = {n: 1.5 * r for n, r in SHARED.items()}
    write(tmp_path / "a.json", "shared", SHARED)
    write(tmp_path / "b.json", "shared", fast, api="cq", command_line=["x", "--threads", "4"])
    write(tmp_path / "c.json", "shared", fast, channel_args={"grpc.x": "1"})
    assert judged(tmp_path).choices == ()


def test_a_choice_must_be_ahead_by_what_counts(tmp_path: Path) -> None:
    write(tmp_path / "a.json", "shared", SHARED)
    write(tmp_path / "b.json", "shared", {n: 1.09 * r for n, r in SHARED.items()}, api="cq")
    assert judged(tmp_path).choices == ()


@pytest.mark.parametrize(
    ("what", "context", "words"),
    [
        ("client", {"command_line": ["x", "--threads", "4"]}, "--threads 4 instead of default"),
        ("client", {"command_line": ["x", "--threads=4"]}, "--threads 4 instead of default"),
        ("server", {"servers": [{"api": "cq", "num_cqs": 1, "workers_per_cq": 2, "cpus": [32, 33]}]}, "cq 1 x 2"),
    ],
)
def test_threads_and_server_layouts_are_kept_apart(
    tmp_path: Path, what: str, context: dict[str, Any], words: str
) -> None:
    write(tmp_path / "a.json", "shared", SHARED)
    write(tmp_path / "b.json", "shared", {n: 1.5 * r for n, r in SHARED.items()}, **context)
    series = load_series(read_all([tmp_path]))
    (choice,) = advice.choices(series)
    assert choice.what == what and words in advice.choice_words(choice)
    assert len(make_pairs(series)) == 2


def test_other_loads_are_kept_apart_and_are_no_choice(tmp_path: Path) -> None:
    fast = {n: 1.5 * r for n, r in SHARED.items()}
    server = {"api": "cq", "service_time_ns": 5000, "service_time_mode": "burn"}
    write(tmp_path / "a.json", "shared", SHARED, servers=[{"api": "cq"}])
    write(tmp_path / "b.json", "shared", fast, servers=[server])
    write(tmp_path / "c.json", "shared", SHARED, workload="echo", request_bytes=100, response_bytes=10)
    series = load_series(read_all([tmp_path]))
    assert [s.setting.payload for s in series] == ["", "service 5 us burn", "100/10 bytes"]
    assert len(make_pairs(series)) == 3 and advice.choices(series) == []


def test_folders_that_look_alike_are_said_to_be_mixed(tmp_path: Path) -> None:
    for name in ("near", "far"):
        write(tmp_path / f"{name}/a.json", "per-slot", SHARED)
        write(tmp_path / f"{name}/b.json", "local-pool", SIXFOLD)
    (f,) = judged(tmp_path).findings
    assert any("far, near) look alike" in t for t in advice.to_do(f))


def experiment(folder: Path, rates: dict[str, dict[int, float]], of: Callable[[str], dict[str, Any]]) -> None:
    """A pair for each name: <name>.shared, and <name>.separate with these rates. of: what the manifest says of it."""
    for name, separate in rates.items():
        write(folder / f"raw/{name}.shared/01.json", "per-slot", SHARED)
        write(folder / f"raw/{name}.separate/01.json", "local-pool", separate)
    manifest(folder, lambda variant: of(variant.rpartition(".")[0]))


def test_variants_are_told_apart_by_what_the_manifest_says(tmp_path: Path) -> None:
    said = {
        "near": {}, "proxy": {"network": {"added_rtt_ms": 0}}, "far": {"network": {"added_rtt_ms": 5}},
        "poll": {"client_env": {"GRPC_POLL_STRATEGY": "poll"}, "server_env": {"GRPC_POLL_STRATEGY": "poll"}},
        "old": {"client_env": {"X": "1"}, "network": {"added_rtt_ms": 5}},
    }  # fmt: skip
    experiment(tmp_path, {name: SIXFOLD for name in said}, said.__getitem__)
    findings = judged(tmp_path).findings
    assert sorted(f.pair.any.setting.extra for f in findings) == [
        "", "0 ms added by a proxy", "5 ms added by a proxy", "5 ms added by a proxy, client X=1",
        "both ends GRPC_POLL_STRATEGY=poll",
    ]  # fmt: skip
    assert all(f.pair.shared and f.pair.separate and f.repetitions == 6 and advice.to_do(f) == [] for f in findings)


def test_variants_that_are_alike_in_all_that_is_known_are_repetitions(tmp_path: Path) -> None:
    experiment(tmp_path, {"one": SIXFOLD, "two": SIXFOLD}, lambda _: {"client_env": {"A": "1"}})
    (f,) = judged(tmp_path).findings
    assert f.repetitions == 12
    assert any("one.shared, two.shared) look alike and were put together" in t for t in advice.to_do(f))


def test_where_there_is_no_manifest_nothing_is_known(tmp_path: Path) -> None:
    experiment(tmp_path, {"near": SIXFOLD, "far": SIXFOLD}, lambda _: {})
    (tmp_path / "manifest.json").unlink()
    (f,) = judged(tmp_path).findings
    assert f.verdict is Verdict.PRESENT and f.pair.any.general_doubts == []


def test_nothing_follows_where_the_manifest_cannot_be_read(tmp_path: Path) -> None:
    experiment(tmp_path, {"near": SIXFOLD, "far": SIXFOLD}, lambda _: {})
    (tmp_path / "manifest.json").write_text("{")
    (f,) = judged(tmp_path).findings
    assert f.verdict is Verdict.NOT_ENOUGH
    assert "(environment and network are not known)" in verdict_text.verdict_words(f)
    (asked,) = [t for t in advice.to_do(f) if "manifest.json" in t]
    assert asked.startswith(f"environment and network are not known: {tmp_path}/manifest.json: not JSON")
    assert asked.endswith(": mend or remove that file")


def test_long_settings_that_differ_at_their_end_are_kept_apart(tmp_path: Path) -> None:
    names = {"one": "a", "two": "b"}
    experiment(tmp_path, dict.fromkeys(names, SIXFOLD), lambda name: {"client_env": {"A": "x" * 5000 + names[name]}})
    findings = judged(tmp_path).findings
    extras = {f.pair.any.setting.extra for f in findings}
    assert len(extras) == 2 and all(len(extra) < 500 for extra in extras)


def test_variants_of_other_policies_are_no_others(tmp_path: Path) -> None:
    for policy in ("shared", "per-slot", "local-pool", "distinct-args"):
        rates = SHARED if policy in ("shared", "per-slot") else SIXFOLD
        write(tmp_path / f"raw/sync-{policy}/01.json", policy, rates)
    (f,) = judged(tmp_path).findings
    assert f.verdict is Verdict.PRESENT and f.repetitions == 12 and f.pair.any.setting.extra == ""


def test_the_folder_of_an_experiment(tmp_path: Path) -> None:
    for number in range(6):
        write(tmp_path / f"raw/shared/{number:02}.json", "per-slot", SHARED, repetitions=1)
        write(tmp_path / f"raw/separate/{number:02}.json", "local-pool", SIXFOLD, repetitions=1)
    (tmp_path / "verdict.json").write_text("{}")
    (f,) = judged(tmp_path).findings
    assert f.verdict is Verdict.PRESENT and f.repetitions == 6
