"""cqbench report: where the page goes, what is replaced, what is never touched, what is said about bad input."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from cqbench.cli import main as cqbench
from cqbench.render.report import files, page

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(__file__).parent / "data"
REPETITIONS = DATA / "report/repetitions.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small experiment: two configurations, two repetitions of each."""
    source, target = DATA / "report/experiment", tmp_path / "sharing"
    target.mkdir()
    shutil.copy(source / "manifest.json", target)
    for configuration in ("streaming.sync.shared", "streaming.sync.separate"):
        (target / "raw" / configuration).mkdir(parents=True)
        for name in ("01.json", "02.json"):
            shutil.copy(source / "raw" / configuration / name, target / "raw" / configuration)
    return target


def contents(folder: Path) -> dict[str, str]:
    """Returns the contents of every file, by its path."""
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Its one line on stderr; the exit status is 2."""
    try:
        status = cqbench(["report", *arguments])
    except SystemExit as end:
        status = int(end.code or 0)
    out, err = capsys.readouterr()
    assert (status, out) == (2, "") and err.count("\n") == 1 and err.startswith("cqbench report: "), (status, out, err)
    return err


def test_the_page_and_the_distributions_go_into_the_folder_and_results_stay(folder: Path) -> None:
    before = contents(folder)
    page = files.write(folder)
    assert page == folder / "report.html" and "Shared against separate connections" in page.read_text()
    after = contents(folder)
    assert {name: after[name] for name in before} == before
    hgrm = {f"hgrm/streaming-sync-{side}-{n}.hgrm" for side in ("shared", "separate") for n in (1, 4, 16)}
    assert set(after) - set(before) == {"report.html", *hgrm}


def test_a_new_report_replaces_the_old_one(folder: Path) -> None:
    files.write(folder)
    shutil.rmtree(folder / "raw/streaming.sync.separate")
    (folder / "report.html").write_text("old")
    files.write(folder)
    assert (folder / "report.html").read_text() != "old"
    left = {p.name for p in (folder / "hgrm").iterdir()}
    assert left == {f"streaming-sync-shared-{n}.hgrm" for n in (1, 4, 16)}


def test_a_report_is_not_read_as_a_result(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cqbench(["report", str(folder)]) == cqbench(["report", str(folder)]) == 0
    capsys.readouterr()


def test_a_page_that_cannot_be_made_leaves_the_old_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files.write(folder)
    before = contents(folder)

    def fail(_: object) -> str:
        raise RuntimeError("defect")

    monkeypatch.setattr(page, "render", fail)
    with pytest.raises(RuntimeError):
        files.write(folder)
    assert contents(folder) == before


def test_the_path_is_printed_and_the_rest_is_on_stderr(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["runs"][0].update(status="pending")
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert cqbench(["report", str(folder)]) == 0
    out, err = capsys.readouterr()
    assert out == f"{folder / 'report.html'}\n"
    assert err.splitlines() == [
        f"== latency distributions: 6 files in {folder / 'hgrm'}",
        "== partial: 1 of 24 runs are missing.",
    ]


def test_results_without_distributions_leave_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert cqbench(["report", "--output", str(page), str(DATA / "verdict"), str(DATA / "pool.json")]) == 0
    assert page.is_file() and [p.name for p in tmp_path.iterdir()] == ["page.html"]
    assert capsys.readouterr().err == ""


def test_figures_go_where_asked(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = tmp_path / "new/figures"
    assert cqbench(["report", "--figures", str(figures), str(folder)]) == 0
    kinds = {path.suffix for path in figures.iterdir()}
    assert kinds == {".png", ".svg"}
    assert f"== figures: {len(list(figures.iterdir()))} files in {figures}" in capsys.readouterr().err


def test_bad_input(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = str(REPETITIONS)
    before = contents(tmp_path)
    assert refused(capsys, str(tmp_path / "absent")).endswith("absent: No such file or directory\n")
    assert "argument --output: FILE.html is needed" in refused(capsys, result)
    assert "argument --output: FILE.html is needed" in refused(capsys, str(folder), result)
    assert "RESULTS" in refused(capsys)
    for bad in (str(folder / "raw/a.json"), str(tmp_path / "absent/a.html"), str(tmp_path), "report"):
        assert f"'{bad}' is not the name of an .html file" in refused(capsys, "--output", bad, result)
    existing = tmp_path / "sharing/manifest.json"
    line = refused(capsys, "--figures", str(existing), str(folder))
    assert f"argument --figures: Directory '{existing}' is a file" in line
    page = str(tmp_path / "a.html")
    assert "No such file" in refused(capsys, "--output", page, str(tmp_path / "absent.json"))
    assert "not a result" in refused(capsys, "--output", page, str(existing))
    assert contents(tmp_path) == before
    empty = tmp_path / "empty"
    empty.mkdir()
    assert f"{empty}: no result files in it" in refused(capsys, str(empty))


def test_a_broken_distribution_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "raw/streaming.sync.shared/02.json"
    data = json.loads(path.read_text())
    data["benchmarks"][1]["latency_histogram"] = "HISTFAAA\n"
    path.write_text(json.dumps(data))
    assert f"{path}: 'latency_histogram' of 4 in flight, repetition 1: not base64" in refused(capsys, str(folder))
    assert not (folder / "report.html").exists()


def test_what_cannot_be_written_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "hgrm").write_text("in the way")
    assert cqbench(["report", str(folder)]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err == f"cqbench report: {folder / 'hgrm'}: File exists\n"


def test_the_script(folder: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "CQBENCH_NO_INSTALL": "1"}
        command = [str(ROOT / "scripts/report.sh"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)

    help_text = run("--help")
    assert help_text.returncode == 0 and "--figures DIR" in help_text.stdout and "--output FILE" in help_text.stdout
    made = run(str(folder))
    assert (made.returncode, made.stdout) == (0, f"{folder / 'report.html'}\n")
    bad = run("--colour", str(folder))
    assert bad.returncode == 2
    assert bad.stderr == "cqbench report: No such option '--colour'. (see cqbench report --help)\n"
