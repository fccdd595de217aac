"""Comparisons inside one experiment: axes, settings that vary, configurations by name; always in pairs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from made_results import put
from test_compare_synthetic import called, result

POLICIES = {"shared": "per-slot", "pool": "pool:2", "separate": "local-pool"}
APIS = ("sync", "cq")
ROUNDS = 8
NAMES = "--configurations"


def make(folder: Path, speeds: Mapping[str, float], rounds: int = ROUNDS) -> Path:
    """APIs by ways to connect. speeds: of the ways. The machine's own speed doubles from round to round."""
    names = [f"{api}.{way}" for api in APIS for way in speeds]
    axes = [
        {"name": "api", "values": [{"name": api} for api in APIS]},
        {"name": "connections", "values": [{"name": way} for way in speeds]},
    ]
    entries = []
    for name in names:
        api, way = name.split(".")
        for i in range(rounds):
            file = f"raw/{name}/{i + 1:02}.json"
            speed = 1000 * 2**i * speeds[way] * (1 + 0.001 * ((i * 7 + len(way)) % 5))
            data = result({4: [speed], 8: [speed]}, api=api, channel_policy=POLICIES[way])
            put(folder / file, data)
            entries.append({"file": file, "configuration": name, "repetition": i + 1})
    head = {"experiment": {"title": "t"}, "axis": axes}
    placements = dict.fromkeys(names, "anywhere")
    put(folder / "manifest.json",
        {"manifest_version": 3, "experiment": head, "placements": placements, "runs": entries})  # fmt: skip
    return folder


def parts(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[dict[str, Any]]:
    status, out, err = called(capsys, *arguments, "--format", "json")
    assert (status, err) == (0, "")
    found: list[dict[str, Any]] = json.loads(out)["comparisons"]
    return found


def seen(part: dict[str, Any]) -> dict[str, str]:
    return {
        f"{p['scenario'].split()[0]} {p['inflight']}": p["metrics"]["throughput_per_second"]["verdict"]
        for p in part["points"]
    }


def test_an_axis_of_the_manifest(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The machine's speed varies a hundredfold; in pairs a gain of 5 % is seen all the same, in every case."""
    folder = make(tmp_path, {"shared": 1, "separate": 1.05})
    (part,) = parts(capsys, folder, "--axis", "connections")
    assert (part["before"], part["after"]) == ("shared", "separate")
    assert seen(part) == dict.fromkeys(("sync 4", "sync 8", "cq 4", "cq 8"), "faster")
    total = part["total"]["throughput_per_second"]
    assert total["paired"] and total["verdict"] == "faster" and total["change_percent"] == pytest.approx(5, abs=0.2)
    assert [(d["key"], d["on_purpose"]) for d in part["differences"]] == [("connections", True)]
    (part,) = parts(capsys, folder, "--axis", "api")
    assert seen(part) == dict.fromkeys(("shared 4", "shared 8", "separate 4", "separate 8"), "no difference seen")


def test_the_first_value_against_each_of_the_others(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = make(tmp_path, {"separate": 1, "shared": 0.9, "pool": 1.1})
    found = parts(capsys, folder, "--axis", "connections")
    assert [(part["before"], part["after"]) for part in found] == [("separate", "shared"), ("separate", "pool")]
    assert set(seen(found[0]).values()) == {"slower"} and set(seen(found[1]).values()) == {"faster"}
    text = called(capsys, folder, "--axis", "connections")[1]
    assert "IN TOTAL, over 4 points: pool against separate\n" in text
    assert "compared on purpose [pool]: connections: separate before, pool:2 after\n" in text
    assert "compared in pairs: yes." in text


def test_a_setting_that_varies(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Without an axis of that name."""
    folder = make(tmp_path, {"separate": 1.05, "shared": 1})
    data = json.loads((folder / "manifest.json").read_text())
    data["experiment"].pop("axis")
    put(folder / "manifest.json", data)
    (part,) = parts(capsys, folder, "--axis", "connections")
    assert (part["before"], part["after"]) == ("shared", "separate")
    found = {p["scenario"]: p["metrics"]["throughput_per_second"]["verdict"] for p in part["points"]}
    assert found == {"ping/unary/sync": "faster", "ping/unary/cq": "faster"}


@pytest.mark.parametrize(
    ("first", "second", "cases"),
    [("sync.shared", "sync.separate", ["ping/unary/sync"]), ("sync", "cq", ["separate", "shared"]),
     ("*.shared", "*.separate", ["cq", "sync"]), ("sync.s*d", "cq.s*d", ["hare"]),
     ("s?nc.shared", "s?nc.separate", ["y"])],
)  # fmt: skip
def test_configurations(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, first: str, second: str, cases: list[str]
) -> None:
    (part,) = parts(capsys, make(tmp_path, {"shared": 1, "separate": 1.05}), "--configurations", first, second)
    assert [p["scenario"].split()[0] for p in part["points"]] == [case for case in cases for _ in (4, 8)]
    assert all(p["metrics"]["throughput_per_second"]["paired"] for p in part["points"])


def test_a_repetition_that_one_side_lacks_costs_its_neighbour_only(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = make(tmp_path, {"shared": 1, "separate": 1.05})
    (folder / "raw/sync.shared/03.json").unlink()
    (part,) = parts(capsys, folder, "--axis", "connections")
    point = next(p for p in part["points"] if p["scenario"].startswith("sync"))
    figure = point["metrics"]["throughput_per_second"]
    assert figure["paired"] and figure["after"]["repetitions"] == 7 and figure["verdict"] == "faster"
    assert figure["after"]["mean"] / figure["before"]["mean"] == pytest.approx(figure["ratio"])
    assert part["total"]["throughput_per_second"]["before"]["repetitions"] == 7


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--axis", "x"], "argument --axis: 'x' is not an axis of DIR, which has api, connections, nor a setting that"),
     (["--axis", "gRPC"], "argument --axis: 'gRPC' is not an axis of DIR"),
     ([NAMES, "x", "sync"], f"argument {NAMES}: 'x sync' is not a configuration of DIR, which has cq.separate, "),
     ([NAMES, "sync", "sync"], f"argument {NAMES}: 'sync sync' is not of two different sets of configurations"),
     ([NAMES, "sync.shared", "c*"], f"argument {NAMES}: 'sync.shared c*' is not of configurations with a part in")],
)  # fmt: skip
def test_what_is_not_there(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], words: str
) -> None:
    folder = make(tmp_path, {"shared": 1, "separate": 1}, rounds=2)
    status, out, err = called(capsys, folder, *arguments)
    assert (status, out) == (2, "") and len(err.splitlines()) == 1
    assert err.replace(str(folder), "DIR").startswith(f"cqbench compare: {words}")


def test_a_manifest_that_cannot_be_used(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = make(tmp_path, {"shared": 1, "separate": 1}, rounds=2)
    put(folder / "manifest.json", [])
    status, _, err = called(capsys, folder, "--axis", "api")
    assert status == 2 and "manifest.json: not a manifest of cqbench run" in err


def test_a_gate_inside_an_experiment(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = make(tmp_path, {"shared": 1, "separate": 0.9, "pool": 1})
    status, _, err = called(capsys, folder, "--axis", "connections", "--fail-if-slower", "5%")
    assert status == 1 and "closed: separate against shared: sync ping/unary/sync, in-flight 4: -10.0 %" in err
