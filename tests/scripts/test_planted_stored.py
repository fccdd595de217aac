"""Stored runs of the real programs in which the truth was planted: what the verdict must say of each, and must not."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from cqbench.analysis.verdict.model import Judgement
from planted import ARCHIVE, judged, store
from planted_truths import BY_NAME, TRUTHS, problems

MOST_BYTES = 400 * 1024


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Judgement]:
    folder = tmp_path_factory.mktemp("planted")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder)
    return {name: judged(folder / name) for name in BY_NAME if (folder / name).is_dir()}


@pytest.mark.parametrize("name", BY_NAME)
def test_it_comes_out_right(stored: dict[str, Judgement], name: str) -> None:
    assert problems(BY_NAME[name], stored[name]) == []


def test_each_would_be_wrong_for_another_truth(stored: dict[str, Judgement]) -> None:
    """So that the checks can fail: a gain where nothing may differ, and the same where there is a gain."""
    gain, none = (BY_NAME[name] for name in ("paced", "same"))
    for truth in TRUTHS:
        gains = any(want.low > 1 for want in truth.want.values())
        assert problems(none if gains else gain, stored[truth.name]) != [], truth.name


def test_five_percent_is_not_found_in_the_same_thing_twice(stored: dict[str, Judgement]) -> None:
    """Its interval holds the 5 %, and excludes 1."""
    assert problems(BY_NAME["five-percent"], stored["same"])
    (scenario,) = stored["five-percent"].scenarios
    shown = [row.judged.interval for row in scenario.rows if row.judged and row.judged.interval]
    assert all(high < 1 for _, high in shown) and len(shown) == 2


def test_the_archive_is_small_and_names_no_place(tmp_path: Path) -> None:
    assert ARCHIVE.stat().st_size < MOST_BYTES
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path)
    first = tmp_path / TRUTHS[0].name
    (first / "logs").mkdir()
    store(first, "again", {"localhost": "elsewhere"}, tmp_path / "made.tar.xz")
    store(first, "more", {}, tmp_path / "made.tar.xz")
    with tarfile.open(tmp_path / "made.tar.xz") as made:
        names = made.getnames()
        manifest = made.extractfile("again/manifest.json")
        assert manifest is not None and b"localhost" not in manifest.read()
    assert {name.split("/")[0] for name in names} == {"again", "more"} and "again/logs" not in names
    assert "more/raw/shared/01-4.json" in names
