"""The planted truths, measured now: one run of each. planted.py repeats and stores them."""

from __future__ import annotations

from pathlib import Path

import pytest
from planted import build, judged, measure
from planted_truths import TRUTHS, Truth, problems


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("planted"))


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.name)
def test_it_comes_out_right(truth: Truth, built: Path, tmp_path: Path) -> None:
    assert problems(truth, judged(measure(truth, built, tmp_path / "results"))) == []
