"""Stored runs of the real programs in which the truth was planted: what the verdict must say of each, and must not."""

from __future__ import annotations

import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from cqbench.analysis.verdict.model import Judgement
from planted import ARCHIVE, judged, store
from planted_truths import BY_NAME, NOT_DIFFERENT, OF_CONNECTION, TRUTHS, Truth, Want, problems

MOST_BYTES = 400 * 1024
with tarfile.open(ARCHIVE) as packed:
    STORED = [name for name in BY_NAME if name in packed.getnames()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("planted")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(made)
    return made


@pytest.fixture(scope="module")
def stored(folder: Path) -> dict[str, Judgement]:
    return {name: judged(folder / name) for name in STORED}


def test_each_truth_is_stored() -> None:
    assert set(STORED) == set(BY_NAME), "tests/scripts/planted.py --store measures them"


@pytest.mark.parametrize("name", STORED)
def test_it_comes_out_right(stored: dict[str, Judgement], name: str) -> None:
    assert problems(BY_NAME[name], stored[name]) == []


def contrary(truth: Truth) -> Truth:
    """A gain where there is none, and none where there is one."""
    gains = any(want.low > 1 for want in truth.want.values())
    want, may = (Want(NOT_DIFFERENT, 0.9, 1.1), NOT_DIFFERENT) if gains else (Want(OF_CONNECTION, 1.5, 20), frozenset())
    return replace(truth, want=dict.fromkeys(truth.want, want), effect=may)


@pytest.mark.parametrize("name", STORED)
def test_the_contrary_would_be_wrong_at_each_load(stored: dict[str, Judgement], name: str) -> None:
    found = problems(contrary(BY_NAME[name]), stored[name])
    assert all(any(line.startswith(f"{load} in flight: ") for line in found) for load in BY_NAME[name].want), found
    assert any(line.startswith("over all loads: ") for line in found)


def test_other_loads_than_planned_are_wrong(stored: dict[str, Judgement]) -> None:
    name = STORED[0]
    assert problems(replace(BY_NAME[name], inflight=(1, 4)), stored[name]) == ["rows at [1, 4, 16], not at [1, 4]"]


def test_the_archive_is_small() -> None:
    assert ARCHIVE.stat().st_size < MOST_BYTES


def test_what_is_stored_names_no_place_and_stays_next_to_others(folder: Path, tmp_path: Path) -> None:
    first, archive = folder / TRUTHS[0].name, tmp_path / "made.tar.xz"
    store(first, "again", {}, archive)
    store(first, "other", {}, archive)
    store(first, "again", {"localhost": "elsewhere"}, archive)
    with tarfile.open(archive) as made:
        names = made.getnames()
        manifest, other = (made.extractfile(f"{name}/manifest.json") for name in ("again", "other"))
        assert manifest and b"localhost" not in manifest.read() and other and b"localhost" in other.read()
    assert {name.split("/")[0] for name in names} == {"again", "other"} and "again/raw/shared/01-4.json" in names
