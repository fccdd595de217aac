"""lib.sh and cqbench.sh: what is installed and built when, with a stand-in for the interpreter."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
# As the interpreter and, copied into the environment, as the environment's. It fails to install what BROKEN names.
PYTHON = """#!/bin/bash
log=%s
case "$*" in
  "-c "*) exit 0 ;;
  "-m venv --clear "*) rm -rf "$4"; mkdir -p "$4/bin"; cp "$0" "$4/bin/python"; echo venv >>"$log" ;;
  "-m pip "*)
    [[ $* != *"--no-deps -r "* ]] || echo --no-deps >>"$log"
    echo "${*: -1}" | sed 's,.*/,,' >>"$log"; [[ ${*: -1} != *"/${BROKEN:-none}" ]]
    ;;
esac
"""
COMMANDS = {"bench.sh": "run headline", "experiment.sh": "run", "cluster.sh": "run"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree of its own, with lib.sh in it."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(SCRIPTS / "lib.sh", tmp_path / "scripts")
    (tmp_path / "scripts/requirements.txt").write_text("a==1\n")
    (tmp_path / "scripts/requirements-test.txt").write_text("b==1\n")
    (tmp_path / "scripts/requirements-build.txt").write_text("c==1\n")
    (tmp_path / "python").write_text(PYTHON % (tmp_path / "log"))
    (tmp_path / "python").chmod(0o755)
    return tmp_path


def make(tree: Path, *arguments: str, broken: str = "", status: int = 0) -> list[str]:
    """Returns the actions of python_venv: 'venv' if it makes one, and the names of the files that it installs."""
    (tree / "log").write_text("")
    script = f'source "$1/scripts/lib.sh"; system_python() {{ echo "$1/python"; }}; python_venv {" ".join(arguments)}'
    script = script.replace('"$1/python"', f'"{tree}/python"')
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script, "x", str(tree)],
        capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "BROKEN": broken}, check=False,
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    assert ("could not install scripts/" in done.stderr) == (status == 1)
    return (tree / "log").read_text().split()


def test_measuring_takes_no_package_of_the_tests(tree: Path) -> None:
    assert make(tree) == ["venv", "requirements.txt", "scripts"]
    assert make(tree) == []


def test_the_tests_packages_are_added_and_serve_both(tree: Path) -> None:
    make(tree)
    assert make(tree, "test") == ["requirements-test.txt"]
    assert make(tree, "test") == [] and make(tree) == []


def test_a_build_takes_no_package_of_the_tests_and_nothing_that_its_own_need(tree: Path) -> None:
    assert make(tree, "build") == ["venv", "requirements.txt", "scripts", "--no-deps", "requirements-build.txt"]
    assert make(tree, "build") == [] and make(tree) == []
    assert make(tree, "build", "test") == ["requirements-test.txt"]


def test_all_at_once(tree: Path) -> None:
    assert make(tree, "test") == ["venv", "requirements.txt", "scripts", "requirements-test.txt"]


def test_a_changed_list_is_installed(tree: Path) -> None:
    make(tree, "test")
    (tree / "scripts/requirements-test.txt").write_text("b==2\n")
    assert make(tree) == []
    assert make(tree, "test") == ["requirements-test.txt"]
    (tree / "scripts/requirements.txt").write_text("a==2\n")
    assert make(tree) == ["venv", "requirements.txt", "scripts"]
    assert make(tree, "test") == ["requirements-test.txt"]  # they went with the old environment


def test_an_installation_that_failed_is_begun_again(tree: Path) -> None:
    assert make(tree, "test", broken="requirements-test.txt", status=1)[-1] == "requirements-test.txt"
    assert make(tree, "test") == ["requirements-test.txt"]
    (tree / "scripts/requirements.txt").write_text("a==2\n")
    make(tree, broken="requirements.txt", status=1)
    assert make(tree) == ["venv", "requirements.txt", "scripts"]


def test_every_pin_is_exact_and_in_one_list() -> None:
    names = []
    for file in ("requirements.txt", "requirements-test.txt", "requirements-build.txt"):
        lines = [line for line in (SCRIPTS / file).read_text().splitlines() if line and not line.startswith("#")]
        assert all(line.count("==") == 1 for line in [line.split(";")[0] for line in lines])
        names += [line.split("==")[0].lower() for line in lines]
    assert len(names) == len(set(names))
    measuring = (SCRIPTS / "requirements.txt").read_text()
    assert not any(name in measuring for name in ("pytest", "jsonschema", "playwright"))


@pytest.mark.parametrize(("function", "browser"), [("install_all", False), ("install_for_tests", True)])
def test_measuring_takes_no_package_that_only_tests_need(function: str, browser: bool) -> None:
    stubs = 'need_packages() { printf "%s\\n" "$@"; }; command() { false; }'
    script = f'source "{SCRIPTS}/lib.sh"; {stubs}; {function}'
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], capture_output=True, text=True, check=True)
    packages = done.stdout.split()
    assert "g++" in packages and "python3-venv" in packages
    assert ("iproute2" in packages) == ("chromium" in packages) == browser


def run_stubbed(tree: Path, script: str, words: Sequence[str], needs: str) -> subprocess.CompletedProcess[str]:
    """The script with stand-ins for what installs, builds and runs. needs: what an experiment needs."""
    (tree / "scripts").mkdir()
    for name in ("lib.sh", "cqbench.sh", script):
        shutil.copy(SCRIPTS / name, tree / "scripts")
    shutil.copy(SCRIPTS.parent / "CMakePresets.json", tree)
    with (tree / "scripts/lib.sh").open("a") as file:
        file.write("need_packages() { :; }\npython_venv() { :; }\ninstall_all() { :; }\n")
        file.write('build_preset() { echo "BUILDS $*"; }\n')
        file.write(f"exec_cqbench() {{ [[ $* != *--needs* ]] || printf '{needs}\\n'; echo \"RUNS $*\"; }}\n")
    return subprocess.run(["bash", tree / "scripts" / script, *words], capture_output=True, text=True, check=True)


@pytest.mark.parametrize(
    ("script", "words", "builds"),
    [
        *(("tune.sh", [word], False) for word in ("--list", "--help", "-h", "--bin=x")),
        *(("tune.sh", words, True) for words in ([], ["--plan"], ["--", "--list"], ["--resume", "x"])),
        *(("cost.sh", [word], False) for word in ("--plan", "--help", "--bin", "--program")),
        *(("experiment.sh", [word], False) for word in ("--plan", "--list", "--keys", "--template", "--bin=x")),
        *((script, ["x", "--", "--plan", "--bin"], True) for script in ("cost.sh", "experiment.sh")),
        *(("peers.sh", [word], False) for word in ("--plan", "--bin", "--help")),
        *(("soak.sh", words, not words) for words in ([], ["--help"], ["--bin", "x"])),
        *(("bench.sh", words, not words) for words in ([], ["-h"], ["--plan"])),
        ("cluster.sh", ["--ranks", "2"], True),
        ("cluster.sh", ["--help"], False),
        *((f"{name}.sh", ["x"], False) for name in ("compare", "report", "verdict")),
    ],
)
def test_what_only_says_something_builds_nothing(tmp_path: Path, script: str, words: list[str], builds: bool) -> None:
    done = run_stubbed(tmp_path, script, words, "build release")
    assert ("BUILDS" in done.stdout) == builds
    command = COMMANDS.get(script, script.removesuffix(".sh"))
    assert done.stdout.splitlines()[-1] == " ".join(["RUNS", command, *words])


def test_builds_that_are_presets_are_built(tmp_path: Path) -> None:
    """Others are there, or their configurations are not run. A folder is in no line."""
    done = run_stubbed(tmp_path, "experiment.sh", ["x"], "build grpc-1.51.1-lto\\nbuild shared\\nbuild .*")
    built = [line for line in done.stdout.splitlines() if "BUILDS" in line]
    assert built == ["BUILDS shared grpc_ping_server grpc_ping_client"]


@pytest.mark.parametrize(
    ("flags", "words", "found"),
    [
        ("-h --help", ["--help"], True),
        ("--bin", ["x", "--bin=y"], True),
        ("--bin", ["--binary", "--", "--bin"], False),
        ("--build=sid sid", ["--build", "sid"], True),
        ("--build=sid sid", ["--build=release"], False),
        ("--list", [], False),
    ],
)
def test_a_flag_is_found_before_the_clients_own(flags: str, words: list[str], found: bool) -> None:
    script = f'source "{SCRIPTS}/lib.sh"; has_flag "$@"'
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", script, "bash", flags, *words], check=False)
    assert done.returncode == (0 if found else 1)


@pytest.mark.parametrize(
    ("words", "runs"),
    [
        (["--seed", "1"], "run headline --seed 1"),
        (["--seed", "1", "--full"], "run ydb-full --seed 1"),
        (["--resume", "it's two"], "run --resume it's two"),
        (["--resume=x", "--full"], "run ydb-full --resume=x"),
    ],
)
def test_which_experiment_bench_sh_runs(tmp_path: Path, words: list[str], runs: str) -> None:
    shutil.copy(SCRIPTS / "bench.sh", tmp_path)
    (tmp_path / "cqbench.sh").write_text('#!/bin/bash\nprintf "%s\\n" "$*"\n')
    (tmp_path / "cqbench.sh").chmod(0o755)
    done = subprocess.run(["bash", tmp_path / "bench.sh", *words], capture_output=True, text=True, check=True)
    assert done.stdout == f"{runs}\n"


def test_a_commands_help_stands_once() -> None:
    for name in ("bench.sh", "cluster.sh", "experiment.sh"):
        done = subprocess.run(["bash", SCRIPTS / name, "x", "--help"], capture_output=True, text=True, check=True)
        assert done.stdout.startswith("Usage: cqbench run ") and "--ranks" in done.stdout
