"""The list of mutations in tests/mutations fits the sources: each can be applied, and what should detect it exists."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "mutations"

specification = importlib.util.spec_from_file_location("mutations_run", FOLDER / "run.py")
assert specification and specification.loader
run = importlib.util.module_from_spec(specification)
sys.modules[specification.name] = run  # dataclasses look there
specification.loader.exec_module(run)

MUTATIONS, SUITES = run.load()


def test_each_old_text_occurs_once() -> None:
    assert [problem for m in MUTATIONS if (problem := m.problem(ROOT))] == []


def test_each_changes_something_and_has_a_name_of_its_own() -> None:
    assert [m.id for m in MUTATIONS if m.old == m.new] == []
    assert len({m.id for m in MUTATIONS}) == len(MUTATIONS)


def test_suites_are_there() -> None:
    assert {name for m in MUTATIONS for name in m.suites} == set(SUITES)
    lists = "".join(path.read_text() for top in ("src", "tests") for path in (ROOT / top).rglob("CMakeLists.txt"))
    targets = set(re.findall(r"\(([\w-]+)\b", lists))
    for suite in SUITES.values():
        programs = [Path(program).name for program, _ in suite.programs]
        assert [name for name in (*suite.build, *programs) if name not in targets] == []
        assert [name for name in suite.pytest if not (ROOT / "tests" / "scripts" / name).is_file()] == []


def test_a_mutation_is_undone(tmp_path: Path) -> None:
    mutation = run.Mutation("x", "a.txt", (), "", "one", "two")
    (tmp_path / "a.txt").write_text("one thing")
    assert mutation.problem(tmp_path) == ""
    tree = run.Worktree(tmp_path)
    assert tree.outcome_with(mutation, []) == (run.SURVIVED, "")
    assert (tmp_path / "a.txt").read_text() == "one thing"
