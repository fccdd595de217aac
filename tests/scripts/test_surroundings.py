"""A manifest's facts about each result, and manifests that cannot be used."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from cqbench.formats import source
from cqbench.formats.runs import read, read_all
from cqbench.formats.source import OtherFormat
from cqbench.formats.surroundings import Manifests, Surroundings
from test_runs import REAL, put

FILE = "raw/a/01.json"


def manifest(folder: Path, *entries: Any, version: Any = 3) -> Path:
    return put(folder / "manifest.json", json.dumps({"manifest_version": version, "runs": list(entries)}))


def known(tmp_path: Path, **entry: Any) -> Surroundings:
    """Returns the surroundings of a run with these facts."""
    return Manifests().of(manifest(tmp_path, {"file": FILE, **entry}), FILE)


def test_what_a_run_says(tmp_path: Path) -> None:
    found = known(tmp_path, client_env={"B": "2", "A": "1"}, server_env={}, network={"added_rtt_ms": 5, "proxy": "x"})
    assert found == Surroundings((("A", "1"), ("B", "2")), (), 5e6)
    assert known(tmp_path) == known(tmp_path, client_env=None, network=None) == Surroundings()
    assert known(tmp_path, network={"added_rtt_ms": 0}).added_rtt_ns == 0.0


@pytest.mark.parametrize(
    ("client", "server", "words"),
    [
        ({}, {}, ""),
        ({"A": "1"}, {}, "client A=1"),
        ({}, {"A": "1"}, "server A=1"),
        ({"A": "1"}, {"A": "1"}, "both ends A=1"),
        ({"A": "1"}, {"A": "2"}, "client A=1, server A=2"),
        ({"A": "1", "C": "3", "D": ""}, {"A": "1", "B": "2"}, "both ends A=1, client C=3 D=, server B=2"),
    ],
)
def test_variables_in_words(tmp_path: Path, client: dict[str, str], server: dict[str, str], words: str) -> None:
    assert known(tmp_path, client_env=client, server_env=server).environment() == words


def test_variables_left_out_are_the_clients(tmp_path: Path) -> None:
    found = known(tmp_path, client_env={"A": "1", "B": "2"}, server_env={"A": "1"})
    assert found.environment(client_without=("A",)) == "client B=2, server A=1"


@pytest.mark.parametrize(("added", "words"), [(5, "5 ms"), (0, "0 ms"), (0.5, "0.5 ms"), (1500, "1500 ms")])
def test_the_network_in_words(tmp_path: Path, added: float, words: str) -> None:
    assert known(tmp_path, network={"added_rtt_ms": added}).network() == f"{words} added by a proxy"
    assert known(tmp_path).network() == ""


@pytest.mark.parametrize(
    ("entry", "key"),
    [({"client_env": ["A"]}, "client_env"), ({"client_env": {"A": 1}}, "client_env"), ({"network": {}}, "network"),
     ({"server_env": "A=1"}, "server_env"), ({"server_env": {"A": None}}, "server_env"), ({"network": 5}, "network"),
     *(({"network": {"added_rtt_ms": bad}}, "network") for bad in ("5", True, -1, None, 1e7, 10**400, float("inf")))],
)  # fmt: skip
def test_wrong_types_are_a_problem_of_that_result_only(tmp_path: Path, entry: dict[str, Any], key: str) -> None:
    text = json.dumps({"manifest_version": 3, "runs": [{"file": FILE, **entry}, {"file": "raw/b/01.json"}]})
    put(tmp_path / "manifest.json", text.replace("Infinity", "1e999"))
    manifests = Manifests()
    bad = manifests.of(tmp_path / "manifest.json", FILE)
    assert bad.problem.startswith(f"{tmp_path}/manifest.json: ") and key in bad.problem and f"'{FILE}'" in bad.problem
    assert bad == Surroundings(problem=bad.problem)
    assert manifests.of(tmp_path / "manifest.json", "raw/b/01.json") == Surroundings()


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "not JSON"), ("\xff", "not JSON"), ("[]", "not a manifest"), ("{}", "not a manifest"),
     ("[" * 100_000, "too deeply"),
     ('{"manifest_version": 3}', "'runs'"), ('{"manifest_version": 3, "runs": []}', "runs: []"),
     ('{"manifest_version": 3, "runs": [3, {"file": 4}]}', "has no 'raw/a/01.json'"),
     ('{"manifest_version": 3, "runs": [{"file": "raw/b/01.json"}]}', "has no 'raw/a/01.json'")],
)  # fmt: skip
def test_a_manifest_that_cannot_be_used_is_said(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "manifest.json").write_text(text, encoding="latin-1")
    found = Manifests().of(tmp_path / "manifest.json", FILE)
    assert found.problem.startswith(f"{tmp_path}/manifest.json: ") and said in found.problem
    assert found.problem.isprintable() and found == Surroundings(problem=found.problem)


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (2, "manifest format 2, which only builds of cqbench 0.1.0 from before manifest format 3 read; this version"),
        (4, "manifest format 4, of a newer cqbench than this one, which reads manifest format 3"),
        ("3", "'manifest_version' is not the number of a version"),
        (True, "'manifest_version' is not the number of a version"),
    ],
)
def test_a_folder_of_another_format_is_not_read(tmp_path: Path, version: Any, said: str) -> None:
    with pytest.raises(OtherFormat, match=f"^{tmp_path}/manifest.json: {said}"):
        Manifests().of(manifest(tmp_path, {"file": FILE}, version=version), FILE)


def test_other_kinds_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Manifests().of(tmp_path / "manifest.json", FILE) == Surroundings()  # there is none
    os.mkfifo(tmp_path / "manifest.json")
    assert "not a regular file" in Manifests().of(tmp_path / "manifest.json", FILE).problem
    (tmp_path / "manifest.json").unlink()
    manifest(tmp_path, {"file": FILE})
    monkeypatch.setattr(source, "MAX_BYTES", 10)
    assert "larger than" in Manifests().of(tmp_path / "manifest.json", FILE).problem


def test_each_manifest_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"raw/{configuration}/{number:02}.json" for configuration in "ab" for number in (1, 2)]
    for name in names:
        put(tmp_path / name)
    manifest(tmp_path, *({"file": name, "client_env": {"A": name}} for name in names))
    opened: list[Path] = []

    def noted(path: Path) -> bytes:
        opened.append(path)
        return path.read_bytes()

    monkeypatch.setattr(source, "read_bytes", noted)
    assert [run.surroundings.client_env for run in read_all([tmp_path])] == [(("A", name),) for name in names]
    assert [path.name for path in opened].count("manifest.json") == 1


def test_where_a_result_is_decides_not_how_it_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "all/x" / FILE)
    manifest(tmp_path / "all/x", {"file": FILE, "network": {"added_rtt_ms": 1}})
    link = tmp_path / "other/link.json"
    link.parent.mkdir()
    link.symlink_to(path)
    for name in (tmp_path / "all", tmp_path / "all/x", tmp_path / "all/x/raw", tmp_path / "all/x/raw/a", path, link):
        assert [run.surroundings.added_rtt_ns for run in read_all([name])][0] == 1e6, name
    monkeypatch.chdir(path.parent)
    assert read(Path("01.json")).surroundings.added_rtt_ns == 1e6


def test_results_elsewhere_have_no_manifest(tmp_path: Path) -> None:
    put(tmp_path / "x.json")
    put(tmp_path / "a/b/x.json")
    manifest(tmp_path, {"file": "x.json", "client_env": {"A": "1"}})
    assert {run.surroundings for run in read_all([tmp_path])} == {Surroundings()} and REAL
