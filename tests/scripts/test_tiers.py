"""The tiers: each entry of ctest has one. scripts/test.sh shows what failed, what was skipped, and totals."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TIERS = (ROOT / "tests/tiers.cmake").read_text()
KINDS, ALL_TIERS = {"unit", "golden", "smoke", "process", "scripts"}, {"quick", "long", "measure"}
# The longest line of ctest is as long as the longest name.
LONGEST_NAME = 60

CTEST = """\
Test project /build
      Start 1: unit.core
1/3 Test #1: unit.core ........................   Passed    0.63 sec
      Start 2: smoke.call
2/3 Test #2: smoke.call .......................***Failed    0.20 sec
call_test.cc:12: Failure
[  FAILED  ] Call.Ends (3 ms)

      Start 3: scripts.peers
3/3 Test #3: scripts.peers ....................   Passed    1.10 sec

67% tests passed, 1 tests failed out of 3
"""
LOG = """\
1/3 Testing: unit.core
Output:
/x/core_test.cc:12: Skipped
no perf here
[  PASSED  ] 2 tests.
Test Passed.
2/3 Testing: smoke.call
Test Failed.
3/3 Testing: scripts.peers
SKIPPED [1] tests/scripts/test_peers.py:12: ghz 0.93 is not supported
SKIPPED [3] tests/scripts/test_peers.py:50: ghz 0.93 is not supported
Test Passed.
"""


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Entry of ctest -> its labels. ctest writes a log where it runs, so it does not run in the build folder."""
    build = os.environ.get("CQBENCH_BUILD_DIR")
    if not build:
        pytest.skip("needs CQBENCH_BUILD_DIR, which ctest sets")
    folder = tmp_path_factory.mktemp("entries")
    (folder / "CTestTestfile.cmake").write_text(f'subdirs("{build}")\n')
    words = ["ctest", "--test-dir", str(folder), "--show-only=json-v1"]
    found = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    return {
        test["name"]: {label for p in test["properties"] if p["name"] == "LABELS" for label in p["value"]}
        for test in found["tests"]
    }


def named(tier: str) -> list[str]:
    """The entries that tiers.cmake names in that tier."""
    found = re.search(rf"^set\(CQBENCH_{tier.upper()}([^)]*)\)", TIERS, re.MULTILINE)
    assert found
    return found[1].split()


def test_each_entry_has_a_kind_and_a_tier(entries: dict[str, set[str]]) -> None:
    assert len(entries) > 20
    assert {n: v for n, v in entries.items() if len(v & KINDS) != 1 or len(v & ALL_TIERS) != 1 or len(v) != 2} == {}


def test_names_are_short(entries: dict[str, set[str]]) -> None:
    assert [name for name in entries if len(name) > LONGEST_NAME] == []


def test_what_is_named_exists_and_is_named_once() -> None:
    names = named("long") + named("measure")
    assert len(set(names)) == len(names)
    for name in names:
        kind, stem = name.replace("process.", "smoke.").split(".")  # both are in one folder
        files = (f"test_{stem}.py", f"test_{stem}_*.py", f"{stem}_test.cc")
        lists = (ROOT / "tests" / kind / "CMakeLists.txt").read_text()
        assert any(any((ROOT / "tests" / kind).glob(f)) for f in files) or f"cqbench_{stem}_test" in lists, name


def test_named_entries_have_their_tier(entries: dict[str, set[str]]) -> None:
    for tier in ("long", "measure"):
        assert {n for n, labels in entries.items() if tier in labels} == set(named(tier)) & set(entries)


def test_nothing_is_repeated() -> None:
    scripts = [ROOT / ".ci/run", *(ROOT / "scripts").glob("*.sh")]
    assert [p.name for p in scripts if re.search("until-pass|rerun-failed", p.read_text())] == []


def run(function: str, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    script = f'source "$1/scripts/lib.sh"; source "$1/tests/ctest.sh"; shift; {function} "$@"'
    words = ["bash", "-euo", "pipefail", "-c", script, "x", str(ROOT), *arguments]
    return subprocess.run(words, input=text, capture_output=True, text=True, timeout=60, check=False)


def test_output_is_failures_and_the_closing_lines() -> None:
    shown = run("show_ctest", text=CTEST).stdout.splitlines()
    assert [line for line in shown if "unit.core" in line or "Start" in line or "scripts.peers" in line] == []
    assert shown[:2] == ["Test project /build", "1 of 3"]
    assert shown[2].startswith("2/3 Test #2: smoke.call") and "[  FAILED  ] Call.Ends (3 ms)" in shown
    assert shown[-1] == "67% tests passed, 1 tests failed out of 3"


def test_skipped_tests_are_listed_with_reasons_before_the_totals(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(LOG)
    assert run("summarize_tests", str(tmp_path / "log"), "7").stdout.splitlines() == [
        "",
        "Skipped:",
        "  unit.core: no perf here",
        "  scripts.peers: ghz 0.93 is not supported (4 tests)",
        "",
        "2 entries passed, 1 failed, 5 tests skipped, 7 s",
    ]


def test_a_loaded_machine_is_refused_with_one_line() -> None:
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as busy:
        done = run("refuse_loaded_machine")
        busy.kill()
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    assert "a quiet machine: other programs use" in done.stderr or "two CPUs" in done.stderr
