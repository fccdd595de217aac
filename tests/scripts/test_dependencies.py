"""dependencies.sh: what is behind and what could not be asked, from stand-ins of apt-get, pip, pip-audit and go."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
APT = """#!/bin/bash
[[ $* != *install* ]] || echo "Inst libgrpc-dev [1.51.1-3] (1.51.1-3+deb12u1 Debian-Security:12/stable [amd64]) []"
"""
# Writes the report that is next to it where --report or -o says; runs what it reads from stdin with the real one.
PYTHON = """#!/bin/bash
[[ $1 != - ]] || exec python3 "$@"
while (($#)); do [[ $1 != --report && $1 != -o ]] || cp "$0.json" "$2"; shift; done
"""


def tree(folder: Path, newest: str, fixed: Any, go: str) -> Path:
    """scripts/ with one pin and one module; what pip, pip-audit and go answer about them."""
    for name in ("lib.sh", "dependencies.sh"):
        (folder / "scripts/x").mkdir(parents=True, exist_ok=True)
        shutil.copy(SCRIPTS / name, folder / "scripts")
    with (folder / "scripts/lib.sh").open("a") as file:
        file.write('python_venv() { :; }\nas_root() { "$@"; }\n')
    (folder / "scripts/requirements.txt").write_text('a_b==2.2.6\nc==25.0; python_version < "3.11"\n')
    (folder / "scripts/x/go.mod").write_text("require (\n\tx.org/y v1.2.3\n\tx.org/z v0.1.0 // indirect\n)\n")
    answers = {
        ".venv/bin/python": {"install": [{"metadata": {"name": "A-b", "version": newest}}]} if newest else None,
        "build/tools/audit/bin/pip-audit": {"dependencies": [{"name": "c", "version": "25.0", **fixed}]},
    }
    for name, answer in answers.items():
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(PYTHON)
        (folder / f"{name}.json").write_text(json.dumps(answer) if answer else "")
    (folder / "bin").mkdir()
    (folder / "bin/apt-get").write_text(APT)
    (folder / "bin/go").write_text(f"#!/bin/bash\necho {go}\n")
    for program in (*answers, "bin/apt-get", "bin/go"):
        (folder / program).chmod(0o755)
    return folder


def run(folder: Path, *kinds: str) -> tuple[int, list[str], str]:
    done = subprocess.run(
        ["bash", folder / "scripts/dependencies.sh", *kinds], capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"},
    )  # fmt: skip
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_what_is_behind(tmp_path: Path) -> None:
    folder = tree(tmp_path, "2.2.10", {"vulns": [{"id": "CVE-1", "fix_versions": ["25.1"]}]}, "v1.2.4")
    status, lines, _ = run(folder)
    assert (status, lines) == (
        1,
        [
            "Debian libgrpc-dev 1.51.1-3: there is 1.51.1-3+deb12u1 (Debian-Security:12/stable [amd64])",
            "Python a-b 2.2.6: there is 2.2.10",
            "Python c 25.0: CVE-1, fixed in 25.1",
            "Go x.org/y v1.2.3 (scripts/x/go.mod): there is v1.2.4",
        ],
    )
    assert run(folder, "go")[1] == lines[-1:]


def test_nothing_is_behind_or_it_is_not_known(tmp_path: Path) -> None:
    status, lines, said = run(tree(tmp_path / "a", "2.2.6", {"vulns": []}, "v1.2.3"), "python", "go")
    assert (status, lines) == (0, []) and "nothing is behind" in said
    status, lines, said = run(tree(tmp_path / "b", "", {"skip_reason": "no answer"}, ""), "python", "go")
    assert (status, lines) == (3, [])
    for words in (
        "no index of packages answers",
        "of 1 of Python's packages: no answer",
        "Go's x.org/y: go does not answer",
    ):
        assert words in said


@pytest.mark.parametrize("kinds", [("rust",), ("go", "rust")])
def test_refuses_what_it_does_not_know(kinds: tuple[str, ...]) -> None:
    ran = subprocess.run(["bash", SCRIPTS / "dependencies.sh", *kinds], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "rust: debian, python and go are accepted" in ran.stderr
