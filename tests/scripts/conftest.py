"""Fixtures for several test files: the stand-ins in a folder, and a run of an experiment with them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from experiment_standin import finish, make_programs, only_folder, start
from tools import need


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    return make_programs(tmp_path)


@pytest.fixture(scope="session")
def done_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a whole run, only to be copied."""
    programs = make_programs(tmp_path_factory.mktemp("done"))
    status, _, stderr = finish(start(programs))
    assert status == 0, stderr
    return only_folder(programs)


@pytest.fixture
def done(programs: Path, done_once: Path) -> Path:
    """A folder of results that nothing is missing from."""
    return Path(shutil.copytree(done_once, programs.parent / "results" / done_once.name))


@pytest.fixture(scope="session")
def cost_tools() -> None:
    """Skips the test where a tool that counts is absent or not supported."""
    for name in ("perf", "strace", "valgrind"):
        need(name)
