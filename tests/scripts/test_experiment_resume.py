"""cqbench run --resume: what is missing is run, and only in a folder that was begun with the same experiment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cqbench.formats.result import load as load_document
from cqbench.run.journal import differences
from experiment_standin import TOML, ask, finish, manifest_of, only_folder, order, ran, start, statuses


def marks(folder: Path) -> str:
    """Returns the marks of the points in the table of medians."""
    return (folder / "summary.txt").read_text().split("Medians")[0].split("marks")[1]


def test_a_resumed_run_does_what_is_missing_only(programs: Path, done: Path) -> None:
    kept = {path: path.stat().st_mtime_ns for path in done.glob("raw/*/*.json")}
    (done / "raw/a/02-1.json").unlink()
    cut = done / "raw/b/01-4.json"
    data = json.loads(cut.read_text())
    data["context"]["partial"] = True
    cut.write_text(json.dumps(data))
    status, stdout, stderr = finish(start(programs, "--resume", str(done)))
    assert status == 0, stderr
    assert ran(programs) == [entry for entry in order() if entry in ("a/02-1", "b/01-4")]
    assert "10 of 12 runs are there already" in stderr
    assert set(statuses(done).values()) == {"ok"} and "?" not in marks(done)
    assert not load_document(cut).partial
    assert load_document(done / "raw/b/01-4.json.1").partial  # what was there is not lost
    untouched = [path for path in kept if path.parent.name + "/" + path.stem not in ("a/02-1", "b/01-4")]
    assert all(path.stat().st_mtime_ns == kept[path] for path in untouched)
    manifest = manifest_of(done)
    assert len(manifest["resumed"]) == 1 and manifest["resumed"][0]["changed"] == [] and not manifest["partial"]


def test_a_resumed_run_with_nothing_left(programs: Path, done: Path) -> None:
    status, stdout, _ = finish(start(programs, "--resume", str(done)))
    assert status == 0 and "A title" in stdout
    assert not (programs / "clients").exists()


def test_the_folder_alone_says_what_to_resume(programs: Path, done: Path) -> None:
    (done / "raw/a/02-1.json").unlink()
    (programs.parent / "try.toml").unlink()
    status, _, stderr = ask("--resume", str(done), "--bin", str(programs))
    assert status == 0, stderr
    assert ran(programs) == ["a/02-1"] and set(statuses(done).values()) == {"ok"}
    status, _, stderr = ask("--resume", str(done), "--bin", str(programs), "--interval", "2s")
    assert status == 2 and 'experiment.interval was "10ms" and is 2.0' in stderr


def test_what_failed_is_run_again(programs: Path) -> None:
    status, _, _ = finish(
        start(programs, STANDIN_FAILS="a/01-1", STANDIN_GARBLES="b/02-4", STANDIN_HAS_ERRORS="c/01-1")
    )
    folder = only_folder(programs)
    (programs / "clients").unlink()
    assert status == 1
    assert finish(start(programs, "--resume", str(folder)))[0] == 0
    assert sorted(ran(programs)) == ["a/01-1", "b/02-4", "c/01-1"]
    assert (folder / "raw/c/01-1.json.1").exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("10ms", "20ms", 'experiment.interval was "10ms" and is "20ms"'),
        ('"thing"', '"else"', 'configuration[1].client_env.SOME was "thing" and is "else"'),
        ('flags = "--api cq"', "", 'server.flags was "--api cq" and is gone'),
        ('name = "a"', 'name = "a"\nbuild = "sid"', 'configuration[0].build is new: "sid"'),
    ],
)
def test_a_changed_experiment_is_not_resumed(programs: Path, done: Path, old: str, new: str, said: str) -> None:
    before = (done / "manifest.json").read_bytes()
    (programs.parent / "try.toml").write_text(TOML.replace(old, new, 1))
    status, stdout, stderr = finish(start(programs, "--resume", str(done)))
    assert (status, stdout, stderr.count("\n")) == (2, "", 1)
    assert said in stderr
    assert (done / "manifest.json").read_bytes() == before


def test_differences_in_lists_of_other_lengths() -> None:
    assert list(differences({"a": [1]}, {"a": [1, 2]}, "")) == ["a was [1] and is [1, 2]"]
    assert list(differences({"a": [1]}, {"a": [1]}, "")) == []


@pytest.mark.parametrize(
    ("flags", "said"),
    [(["--seed", "8"], "argument --seed: 8 is not what"), (["--repetitions", "3"], "argument --repetitions: 3 is not")],
)
def test_a_resumed_run_keeps_seed_and_repetitions(programs: Path, done: Path, flags: list[str], said: str) -> None:
    status, _, stderr = finish(start(programs, "--resume", str(done), *flags))
    assert (status, stderr.count("\n")) == (2, 1) and said in stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: m.update(runs=[{**m["runs"][0], "configuration": "../x"}]), "'runs' is not a list of this"),
        (lambda m: m.update(runs=[]), "runs: [] is not a list of 1 or more"),
        (lambda m: m["runs"][0].update(load={"inflight": 5}), "'runs' is not a list of this"),
        (lambda m: m["runs"][0].pop("load"), "'runs' is not a list of this"),
        (lambda m: m.update(manifest_version=2), "manifest format 2, which only builds of cqbench 0.1.0 from before"),
        (lambda m: m.pop("experiment"), "it has no 'experiment'"),
        (lambda m: m.pop("seed"), "it has no 'seed'"),
    ],
)
def test_manifests_that_are_none(programs: Path, done: Path, change: Any, said: str) -> None:
    manifest = manifest_of(done)
    change(manifest)
    (done / "manifest.json").write_text(json.dumps(manifest))
    status, _, stderr = finish(start(programs, "--resume", str(done)))
    assert (status, stderr.count("\n")) == (2, 1) and said in stderr


def test_folders_that_cannot_be_resumed(programs: Path) -> None:
    for text, said in ((None, "No such file"), ("{", "not JSON"), ("[]", "not a manifest of cqbench run")):
        folder = programs.parent / "other"
        folder.mkdir(exist_ok=True)
        if text:
            (folder / "manifest.json").write_text(text)
        status, _, stderr = finish(start(programs, "--resume", str(folder)))
        assert (status, stderr.count("\n")) == (2, 1) and said in stderr


def test_another_machine_is_noted(programs: Path, done: Path) -> None:
    manifest = manifest_of(done)
    manifest["machine"]["cpu_model"] = "abacus"
    (done / "manifest.json").write_text(json.dumps(manifest))
    _, _, stderr = finish(start(programs, "--resume", str(done)))
    assert "not as it was when this began: cpu_model" in stderr
    assert manifest_of(done)["resumed"][0]["changed"] == ["cpu_model"]
