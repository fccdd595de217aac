"""Which files of a folder are results, and what is read of each."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest
from cqbench.analysis.cost import profile as model
from cqbench.formats.runs import find, read, read_all
from cqbench.formats.source import BadDocument

DATA = Path(__file__).parent / "data"
REAL = (DATA / "result.json").read_text()


def put(path: Path, text: str = REAL) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_file_is_read_whatever_its_name(tmp_path: Path) -> None:
    for name in ("verdict.json", "x.txt", ".hidden"):
        (run,) = read_all([put(tmp_path / name)])
        assert run.configuration == "" and run.path == tmp_path / name


def test_points_come_with_their_figures() -> None:
    run = read(DATA / "result.json")
    data = json.loads(REAL)
    assert [m.repetition for m in run.points()] == [0, 1] and len(run.points()) < len(data["benchmarks"])  # no median
    assert all("client_cores_used" in m.figures for m in run.points())
    assert run.context == {k: v for k, v in data["context"].items() if v is not None} and run.document.path == str(
        DATA / "result.json"
    )


def test_points_that_measured_nothing_are_there_too() -> None:
    points = read(DATA / "killed.json").points()
    assert [m.inflight for m in points] == [1, 4, 16] and points[2].failure and points[2].completed == 0


def test_an_experiments_folder_has_results_in_raw_only(tmp_path: Path) -> None:
    for name in ("a/01", "a/02", "b/01"):
        put(tmp_path / f"raw/{name}.json")
    for name in ("verdict.json", "manifest.json", "report.json", "figures/plot.json", "logs/a/01.json"):
        put(tmp_path / name, "{}")
    put(tmp_path / "raw/a/01.json.1", "{")  # of an earlier attempt
    found = [(str(path.relative_to(tmp_path)), configuration) for path, configuration in find(tmp_path)]
    assert found == [("raw/a/01.json", "a"), ("raw/a/02.json", "a"), ("raw/b/01.json", "b")]
    assert [run.configuration for run in read_all([tmp_path / "raw"])] == ["a", "a", "b"]
    assert [run.configuration for run in read_all([tmp_path / "raw/a"])] == ["", ""]  # by itself it is no configuration


def test_several_experiments_and_other_files(tmp_path: Path) -> None:
    put(tmp_path / "one/raw/a/01.json")
    put(tmp_path / "two/raw/a/01.json")
    put(tmp_path / "three/x.json")
    put(tmp_path / "three/verdict.json", "{}")
    put(tmp_path / "three/manifest.json", "{}")
    put(tmp_path / "three/.half.json", "{")
    put(tmp_path / "three/notes.txt", "")
    assert [(str(p.relative_to(tmp_path)), v) for p, v in find(tmp_path)] == [
        ("one/raw/a/01.json", "a"), ("three/x.json", ""), ("two/raw/a/01.json", "a")
    ]  # fmt: skip
    assert len(read_all([tmp_path / "one", tmp_path / "three/x.json"])) == 2


def test_the_current_folder_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "raw/a/01.json")
    monkeypatch.chdir(tmp_path / "raw")
    assert [configuration for _, configuration in find(Path())] == ["a"]


def test_a_configurations_name_is_harmless_on_a_terminal(tmp_path: Path) -> None:
    put(tmp_path / "raw/a\x1b[2J/01.json")
    assert [configuration for _, configuration in find(tmp_path)] == ["a [2J"]


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_text(REAL))
    writer.start()
    assert len(read(tmp_path / "pipe").points()) == 2
    writer.join()


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    bad = put(tmp_path / "folder/x.json", "{}")
    for path in (bad, tmp_path / "folder"):
        with pytest.raises(BadDocument, match="x.json: not a result of grpc_ping_client"):
            read_all([path])
    with pytest.raises(BadDocument, match="none.json: No such file"):
        read_all([tmp_path / "none.json"])
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(BadDocument, match="pipe.json: not a regular file"):  # it would never end
        list(find(tmp_path))
    assert list(find(put(tmp_path / "empty/.x").parent)) == []


def test_a_profile_among_results_is_named_as_what_it_is(tmp_path: Path) -> None:
    put(tmp_path / "a.json")
    put(tmp_path / "profile.json", json.dumps({model.MARK: 1}))
    said = "profile.json: a cost profile of cqbench cost, not a result: keep profiles outside of folders of results"
    with pytest.raises(BadDocument, match=said):
        read_all([tmp_path])
