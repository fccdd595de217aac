#!/usr/bin/env python3
"""Applies the mutations of mutations.toml to a built worktree, one by one, and reports which the tests detect.

Usage: run.py WORKTREE [--only TEXT]

The worktree has no uncommitted changes and a build of the preset release. --only: mutations whose id or file contains
TEXT. A suite that fails without a mutation, such as one that measures times on a busy machine, is skipped and named.
Exit status 1 when a mutation survives; 2 when the worktree cannot be used.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LIST = Path(__file__).with_name("mutations.toml")
# A mutation may make a test hang; then the test has detected it.
TIMEOUT_S = 240
DETECTED, SURVIVED, BROKEN = "detected", "survived", "does not build"


@dataclass(frozen=True)
class Mutation:
    id: str
    file: str
    suites: tuple[str, ...]
    breaks: str
    old: str
    new: str

    def problem(self, root: Path) -> str:
        """Returns why the mutation cannot be applied to these sources; '' if it can."""
        path = root / self.file
        if not path.is_file():
            return f"{self.id}: {self.file} does not exist"
        times = path.read_text().count(self.old)
        return "" if times == 1 else f"{self.id}: old text occurs {times} times in {self.file}, not once"

    def apply(self, root: Path) -> str:
        """Changes the file. Returns its text before."""
        path = root / self.file
        text = path.read_text()
        path.write_text(text.replace(self.old, self.new))
        return text


@dataclass(frozen=True)
class Suite:
    build: tuple[str, ...] = ()
    programs: tuple[tuple[str, str], ...] = ()  # path in the build folder, filter of GoogleTest
    pytest: tuple[str, ...] = ()  # files in tests/scripts


def load(path: Path = LIST) -> tuple[list[Mutation], dict[str, Suite]]:
    data: dict[str, Any] = tomllib.loads(path.read_text())
    mutations = [Mutation(**{**entry, "suites": tuple(entry["suites"])}) for entry in data["mutations"]]
    suites = {
        name: Suite(
            tuple(entry.get("build", ())),
            tuple((program, tests) for program, tests in entry.get("programs", ())),
            tuple(entry.get("pytest", ())),
        )
        for name, entry in data["suites"].items()
    }
    return mutations, suites


class Worktree:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.build_folder = root / "build" / "release"

    def unusable(self) -> str:
        """Returns why the worktree cannot be used; '' if it can."""
        status = ["git", "-C", str(self.root), "status", "--porcelain", "--untracked-files=no"]
        changed = subprocess.run(status, capture_output=True, text=True, check=False)
        if changed.returncode != 0 or changed.stdout:
            return f"{self.root} is not a git worktree without uncommitted changes"
        return "" if self.build_folder.is_dir() else f"{self.build_folder} does not exist: build the preset release"

    def build(self, targets: Sequence[str]) -> bool:
        if not targets:
            return True
        command = ["cmake", "--build", str(self.build_folder), "-j2", "--target", *targets]
        return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0

    def failures(self, suite: Suite) -> Iterator[str]:
        """Yields the failing tests of the first program that has any."""
        for program, tests in suite.programs:
            command = [str(self.build_folder / program), f"--gtest_filter={tests}", "--gtest_fail_fast"]
            yield from self._run(command, r"^\[  FAILED  \] ([^ ,]+)", program)
        if suite.pytest:
            files = [f"tests/scripts/{name}" for name in suite.pytest]
            options = ["-x", "-q", "-p", "no:cacheprovider"]
            command = [str(self.root / ".venv/bin/python"), "-m", "pytest", *options, *files]
            yield from self._run(command, r"^FAILED \S+::(\S+)", "pytest")

    def _run(self, command: Sequence[str], failed: str, name: str) -> list[str]:
        environment = ["env", "PYTHONPATH=scripts", "PYTHONDONTWRITEBYTECODE=1"]
        environment.append(f"CQBENCH_BIN_DIR={self.build_folder / 'bin'}")
        try:
            ended = subprocess.run(
                [*environment, *command],
                cwd=self.root,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return [f"{name}: not within {TIMEOUT_S} s"]
        if ended.returncode == 0:
            return []
        names = list(dict.fromkeys(re.findall(failed, ended.stdout, re.MULTILINE)))
        return names or [f"{name}: exit status {ended.returncode}"]

    def outcome(self, suites: Sequence[Suite]) -> tuple[str, str]:
        """Builds and tests the current sources. Returns the outcome and the first test that failed."""
        if not self.build([target for suite in suites for target in suite.build]):
            return BROKEN, ""
        found = next((name for suite in suites for name in self.failures(suite)), "")
        return (DETECTED, found) if found else (SURVIVED, "")

    def outcome_with(self, mutation: Mutation, suites: Sequence[Suite]) -> tuple[str, str]:
        text = mutation.apply(self.root)
        try:
            return self.outcome(suites)
        finally:
            (self.root / mutation.file).write_text(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("worktree", type=Path)
    parser.add_argument("--only", default="", metavar="TEXT", help="mutations whose id or file contains TEXT")
    arguments = parser.parse_args()
    every, suites = load()
    tree = Worktree(arguments.worktree.resolve())
    chosen = [m for m in every if arguments.only in f"{m.id} {m.file}"]
    problems = [tree.unusable(), *(m.problem(tree.root) for m in chosen)]
    if any(problems):
        print("\n".join(filter(None, problems)), file=sys.stderr)
        return 2
    # A suite that fails without a mutation detects nothing.
    needed = list(dict.fromkeys(name for m in chosen for name in m.suites))
    sound = []
    for name in needed:
        outcome, failed = tree.outcome([suites[name]])
        print(f"{name:36} {'passes' if outcome == SURVIVED else f'left out: {outcome} {failed}'}", flush=True)
        if outcome == SURVIVED:
            sound.append(name)
    found: dict[str, list[str]] = {}
    for mutation in chosen:
        outcome, failed = tree.outcome_with(mutation, [suites[name] for name in mutation.suites if name in sound])
        found.setdefault(outcome, []).append(mutation.id)
        print(f"{mutation.id:36} {outcome:14} {failed}", flush=True)
    tree.build(list(dict.fromkeys(target for name in needed for target in suites[name].build)))
    print(", ".join(f"{len(ids)} {outcome}" for outcome, ids in found.items()))
    return 0 if set(found) == {DETECTED} else 1


if __name__ == "__main__":
    sys.exit(main())
