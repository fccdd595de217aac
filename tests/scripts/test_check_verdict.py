"""cqbench check: whether a verdict.json follows from the results, also one that another version wrote."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import check_folders
import pytest
from check_folders import change, failed, findings, rehash
from cqbench.analysis.check.follows import differences, other_version, rows
from cqbench.analysis.check.model import State

Json = dict[str, Any]


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return check_folders.finished(tmp_path_factory.mktemp("whole"))


@pytest.fixture
def folder(once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(once, tmp_path / once.name))


def row(verdict: Json) -> Json:
    first: Json = verdict["scenarios"][0]["rows"][0]
    return first


EDITS: dict[str, Callable[[Json], Any]] = {
    "decision": lambda v: row(v).update(decision="faster"),
    "ratio": lambda v: row(v)["judged"].update(value=row(v)["judged"]["value"] * 1.001),
    "interval": lambda v: row(v)["throughput"].update(low=1.0),
    "another load": lambda v: row(v).update(load={"inflight": 7}),
    "no rows": lambda v: v.update(scenarios=[]),
}


@pytest.mark.parametrize("what", EDITS)
def test_an_edited_verdict_is_found(what: str, folder: Path) -> None:
    change(folder / "verdict.json", EDITS[what])
    assert failed(folder) == {"hashes", "verdict"}
    rehash(folder)
    assert failed(folder) == {"verdict"}


@pytest.mark.parametrize("text", ["{", "[]"])
def test_a_verdict_that_is_none_is_found(text: str, folder: Path) -> None:
    (folder / "verdict.json").write_text(text)
    assert "verdict" in failed(folder)


def test_without_a_verdict_it_is_not_known(folder: Path) -> None:
    (folder / "verdict.json").unlink()
    rehash(folder)
    assert failed(folder) == set() and findings(folder)["verdict"].state is State.NOT_KNOWN


def test_sentences_and_unknown_keys_are_of_the_version(folder: Path) -> None:
    def other_words(verdict: Json) -> None:
        verdict["scenarios"] = {"of": verdict["scenarios"], "more": 1}
        row_ = verdict["scenarios"]["of"][0]["rows"][0]
        row_ |= {"because": "in other words", "new": [1, {"a": None}]}
        row_["judged"]["another"] = 7

    change(folder / "verdict.json", other_words)
    rehash(folder)
    assert failed(folder) == set() and findings(folder)["verdict"].state is State.PASSED


def test_other_thresholds_may_decide_otherwise(folder: Path) -> None:
    def other(verdict: Json) -> None:
        verdict["thresholds"]["gain"] = 1.2
        row(verdict)["decision"] = "equivalent" if row(verdict)["decision"] != "equivalent" else "inconclusive"

    change(folder / "verdict.json", other)
    rehash(folder)
    found = findings(folder)["verdict"]
    assert found.state is State.NOT_KNOWN and "of a version that differs in thresholds; 1 difference" in found.text


def test_rows_are_found_wherever_they_stand() -> None:
    one = {"configuration": "a", "load": {"inflight": 8}, "decision": "faster", "judged": {"value": 1.5, "low": None}}
    here = {"scenarios": [{"name": "s", "rows": [one]}]}
    there = {"answers": {"x": {"name": "s", "table": [[one]]}}}
    assert list(rows(here)) == list(rows(there)) == [("s", "a", '{"inflight": 8}')]
    assert differences(here, there) == [] and other_version(here, there) == ""
    worse = json.loads(json.dumps(here).replace("1.5", "1.4"))
    assert differences(here, worse) == ['s, a, {"inflight": 8}: judged.value is 1.5, and 1.4 by the raw results']
    assert differences({}, here) == ['s, a, {"inflight": 8} is missing']
