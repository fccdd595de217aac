"""A result that is named twice, under whatever names: no command counts it as two measurements."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from cqbench.cli import main as cqbench
from cqbench.render.report import data
from test_cost_compare import profile, stored
from verdict_synthetic import SHARED, SIXFOLD, configuration

DATA = Path(__file__).parent / "data"
FILE = "raw/shared/01.json"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An experiment in tmp_path/run, which is where relative names lead to."""
    configuration(tmp_path / "run", "shared", "per-slot", SHARED)
    configuration(tmp_path / "run", "separate", "local-pool", SIXFOLD)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "run"


def other_name(way: str, folder: Path) -> Path:
    if way == "symlink":
        (folder.parent / "latest").symlink_to(folder)
        return folder.parent / "latest"
    if way == "hard link":
        (folder.parent / "copy.json").hardlink_to(folder / FILE)
        return folder.parent / "copy.json"
    return {"same": folder, "relative": Path("run"), "with dots": folder / ".." / "run", "inside": folder / FILE}[way]


WAYS = ("same", "relative", "with dots", "symlink", "inside", "hard link")


def refused(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    status, (out, error) = cqbench([str(word) for word in words]), capsys.readouterr()
    assert (status, out, error.count("\n")) == (2, "", 1), (status, out, error)
    return error


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("command", ["verdict", "report --output report.html"])
def test_it_is_refused(command: str, way: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = command.split()
    error = refused(capsys, *words, folder, other_name(way, folder))
    assert error.startswith(f"cqbench {words[0]}: ") and error.endswith("; each result counts once\n")
    assert ": named twice" in error and ".json" in error and not Path("report.html").exists()


def test_a_link_inside_of_a_folder_is_a_name_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.link(folder / FILE, folder / "raw/shared/07.json")
    for words in (("verdict", folder), ("report", folder), ("compare", folder, DATA / "result.json")):
        assert "07.json: named twice, also as " in refused(capsys, *words)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("gate", ["--fail-if-slower", "--fail-if-latency-higher"])
def test_a_gate_between_a_result_and_itself_is_refused(
    gate: str, way: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would be open whatever was measured."""
    words = [*map(str, ("compare", folder, other_name(way, folder)))]
    assert f"argument {gate}: A and B have " in refused(capsys, *words, gate, "5%")
    assert cqbench([*words, gate, "5%", "--anyway"]) in (0, 1, 3)
    capsys.readouterr()
    assert cqbench(words) == 0
    assert "in common: what is compared with itself shows no change\n" in capsys.readouterr().err


def test_profiles_are_results(tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = Path(stored(tmp_path, "profile.json", profile()))
    assert "profile.json: named twice; each" in refused(capsys, "report", folder, one, one)
    assert "so the gate would be open" in refused(capsys, "compare", one, one, "--fail-if-more-expensive", "1%")
    assert cqbench(["compare", str(one), str(one), "--max-instructions-per-rpc", "9999"]) == 0
    assert "what is compared with itself shows no change" in capsys.readouterr().err


def test_a_history_counts_a_linked_run_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder.parent / "z-latest").symlink_to(folder)
    assert cqbench(["compare", "--history", str(folder.parent), "--metric", "throughput"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("1 run from ") and "z-latest: leads to run, which counts once" in said


def test_copies_are_results_of_their_own(folder: Path) -> None:
    """Nothing but their times tells them apart from repetitions: only names of one file are found."""
    copy = Path(shutil.copytree(folder, folder.parent / "second"))
    assert data.make([folder, copy]).experiments == ("A: run", "B: second")


@pytest.mark.parametrize("number", [2, 8, 9, 27])
def test_every_experiment_of_a_report_is_in_it(number: int, tmp_path: Path) -> None:
    """The ninth had no card and the first's letter."""
    names = [*"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "AA"][:number]
    folders = [tmp_path / f"run-{i:02}" for i in range(number)]
    for folder in folders:
        for name, policy, rates in (("shared", "per-slot", SHARED), ("separate", "local-pool", SIXFOLD)):
            configuration(folder, name, policy, {n: rates[n] for n in (1, 8)}, 1)
    report = data.make(folders)
    assert report.experiments == tuple(f"{n}: {f.name}" for n, f in zip(names, folders, strict=True))
    assert {s.title for s in report.series} == {f"{n}: {v}" for n in names for v in ("shared", "separate")}
    assert [one.name for one in report.verdicts] == names and all(len(one.cards) == 1 for one in report.verdicts)
    assert len({a.title for a in report.against if a.axis == "run"}) == number - 1
