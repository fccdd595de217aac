"""A whole folder for tests of `cqbench check`: a stored run with what `cqbench run` writes at its end."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cqbench.analysis.check import whole
from cqbench.analysis.check.model import Finding, State, Subject
from cqbench.experiment import spec
from cqbench.formats import manifest, storage, sums
from cqbench.render.points_csv import to_csv
from cqbench.run import check, end, journal

DATA = Path(__file__).parent / "data"
NAME = "allocations"  # the smallest of the stored runs: two configurations, one load, seven repetitions
FIRST = "raw/installed/01-500.json"


def unpack(archive: str, folder: Path, only: str = "") -> None:
    """only: the first folder of what is wanted."""
    with tarfile.open(DATA / f"{archive}.tar.xz") as stored:
        members = [m for m in stored.getmembers() if m.name.split("/")[0] == only or not only]
        stored.extractall(folder, members)


def finished(parent: Path) -> Path:
    """As the end of an experiment leaves it, but for the page and summary.txt."""
    unpack("documents", parent, NAME)
    folder = parent / NAME
    begun = journal.Journal.load(folder, spec.make(journal.begun(folder), str(folder)))
    begun.manifest.hashes = sums.FILE
    begun.write()
    measured = end.read_results(begun)
    storage.write(folder / "results.csv", to_csv(measured))
    end.write_verdict(folder, "allocations: a stored run\n", [run for _, run in measured])
    sums.write(folder)
    return folder


def subject(path: Path) -> Subject:
    (one,) = check.subjects(path)
    return one


def findings(path: Path) -> dict[str, Finding]:
    return {one.rule: one for one in whole.check(subject(path))}


def failed(path: Path) -> set[str]:
    return {rule for rule, one in findings(path).items() if one.state is State.FAILED}


def change(path: Path, changer: Callable[[Any], Any]) -> None:
    """Edits a JSON file, which stays one."""
    data = json.loads(path.read_text())
    changer(data)
    path.write_text(json.dumps(data))


def rehash(folder: Path) -> None:
    """So that only the other rules can find what was changed."""
    sums.write(folder)


def runs_of(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / manifest.FILE).read_text())["runs"]
    return found
