"""grpc.sh: its plan, what it builds when, and its flags, with stand-ins for apt, CMake, compiler and programs."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
LIBRARY = """
need_packages() { :; }
python_venv() { :; }
googleapis_dir() { echo /googleapis; }
with_progress() { local log=$2; shift 2; "$@" >"$log" 2>&1 || die "it failed: $(<"$log")"; }
"""
PROGRAMS = {
    # Lists are fetched only with a configuration of their own.
    "apt-get": """
case $* in
  indextargets*) echo "deb-src archive bookworm main" ;;
  *) [[ -s ${APT_CONFIG%/*}/sources.list ]] || exit 1 ;;&
  "-q source grpc=1.51.1-"*) mkdir grpc-1.51.1 ;;
esac""",
    "apt-cache": 'printf "Package: grpc\\nVersion: %s\\n" 1.30.2-3 $(<"$0.revision")',
    "dpkg-query": 'echo "library: libabsl-dev $(<"$0.version")"',
    "g++": """[[ $1 == --version ]] && { echo "g++ $(<"$0.version")"; echo more; } || echo options""",
    "ar": 'touch "$2"',
    "gcc-ar": "",
    "gcc-ranlib": "",
    "cmake": """
here=${0%/*}
echo "cmake $*" >>"$here/log"
case $1 in
  --build)
    [[ ! -e $here/fails ]] || exit 1
    [[ $* == *" --target grpc++" ]] && exit
    mkdir -p "$2/bin"
    cp "$here/grpc_ping_server" "$here/grpc_ping_client" "$2/bin" ;;
  --install)
    [[ -e $2/libgrpc_unsecure.a ]] || exit 1
    mkdir -p "$(<"$2/prefix")" ;;
  *)
    while [[ $1 != -B ]]; do shift; done
    build=$2
    mkdir -p "$build"
    while (($#)) && [[ $1 != CMAKE_INSTALL_PREFIX=* ]]; do shift; done
    (($#)) || exit 0
    echo "${1#*=}" >"$build/prefix"
    echo 'file(INSTALL DESTINATION "/x/lib" TYPE STATIC_LIBRARY FILES "'$build/libgrpc_unsecure.a'")' \\
      >"$build/cmake_install.cmake" ;;
esac""",
    "grpc_ping_server": """
trap 'touch "${0%/programs/*}/grpc.gcda"; kill $!; exit 0' TERM
sleep 10 &
echo "listening on localhost:7"
wait""",
    "grpc_ping_client": 'echo "client $*" >"${0%/programs/*}/../../trained"',
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree of its own with the scripts and the stand-ins."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "bin").mkdir()
    for name in ("lib.sh", "suite_root.sh", "grpc.sh"):
        shutil.copy(SCRIPTS / name, tmp_path / "scripts")
    with (tmp_path / "scripts/lib.sh").open("a") as file:
        file.write(LIBRARY)
    for name, text in PROGRAMS.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/bash\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "bin/apt-cache.revision").write_text("1.51.1-9 1.51.1-10")
    (tmp_path / "bin/g++.version").write_text("12.2.0")
    (tmp_path / "bin/dpkg-query.version").write_text("20220623")
    return tmp_path


def run(tree: Path, *arguments: str, status: int = 0, **environment: str) -> list[str]:
    """Returns the lines of stdout, or those of stderr after a failure."""
    done = subprocess.run(
        ["bash", tree / "scripts/grpc.sh", *arguments], capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, "PATH": f"{tree}/bin:{os.environ['PATH']}", "CQBENCH_GRPC_DIR": f"{tree}/cache",
             "CQBENCH_SID_ROOT": f"{tree}/sid-root", **environment},
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    return (done.stderr if status else done.stdout).splitlines()


def steps(tree: Path) -> list[str]:
    """Returns what CMake was told since the last time, each in a word or two."""
    log = tree / "bin/log"
    lines = log.read_text().splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    return [_step(line) for line in lines]


def _step(line: str) -> str:
    if " --install " in line:
        return "install"
    if " --build " in line:
        return "gRPC" if line.endswith("--target grpc++") else "programs"
    return f"configure {'programs' if '--preset' in line else 'gRPC'}"


GRPC = ["configure gRPC", "gRPC", "install"]
OURS = ["configure programs", "programs"]


def plan(tree: Path, *arguments: str) -> dict[str, str]:
    *lines, prefix = run(tree, *arguments, "--plan")
    found = {name: value for name, _, value in (line.partition(" ") for line in lines)}
    return {**{name: value.strip() for name, value in found.items()}, "prefix": prefix}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "VERSION is missing: three numbers such as 1.51.1, or --grpc DIR, are accepted"),
        (["1.51"], "VERSION '1.51': three numbers such as 1.51.1 are accepted"),
        (["1.51.1", "1.83.0"], "VERSION '1.83.0': one is accepted, and 1.51.1 is another"),
        (["1.51.1", "--fast"], "--fast: no such flag; accepted are --release --lto --pgo --native --debug-symbols"),
        (["1.51.1", "--jobs", "0"], "--jobs '0': a whole number from 1 to 9999 is accepted"),
        (["1.51.1", "--suite"], "--suite '': accepted are experimental sid testing stable oldstable"),
        (["1.51.1", "--suite", "potato"], "--suite 'potato': accepted are experimental sid"),
        (["--grpc", "/nowhere"], "--grpc '/nowhere': a folder with gRPC's source is accepted"),
    ],
)
def test_usage(tree: Path, arguments: list[str], said: str) -> None:
    (line,) = run(tree, *arguments, status=2)
    assert line.startswith(f"grpc.sh: {said}")
    assert not (tree / "cache").exists() and steps(tree) == []


@pytest.mark.parametrize(
    ("ways", "name", "flags"),
    [
        ([], "1.51.1-release", "-O3 -DNDEBUG"),
        (["--release"], "1.51.1-release", "-O3 -DNDEBUG"),
        (["--native", "--lto"], "1.51.1-lto-native", "-O3 -DNDEBUG -flto -march=native"),
        (["--debug-symbols", "--pgo", "--pgo"], "1.51.1-pgo-debug-symbols", "-O3 -DNDEBUG -g"),
    ],
)
def test_the_plan_builds_nothing(tree: Path, ways: list[str], name: str, flags: str) -> None:
    planned = plan(tree, "1.51.1", *ways)
    assert planned["prefix"] == f"{tree}/cache/prefix/{name}"
    assert planned["programs"] == f"{tree}/build/grpc-{name}/bin"
    assert (planned["flags"], planned["compiler"], planned["state"]) == (flags, "g++ 12.2.0", "to be made")
    assert planned["gRPC"] == "Debian's source package of 1.51.1, to be fetched"
    assert ("--workload echo" in planned["profile"]) == ("--pgo" in ways)
    assert not (tree / "cache").exists() and steps(tree) == []


@pytest.mark.parametrize(("suite", "root"), [("experimental", "sid-root"), ("sid", "root-sid")])
def test_the_plan_of_a_suite(tree: Path, suite: str, root: str) -> None:
    planned = plan(tree, "1.83.0", "--suite", suite, "--lto")
    assert planned["prefix"] == f"{tree}/{root}/var/cache/cqbench/grpc/prefix/1.83.0-lto"
    assert planned["programs"] == f"{tree}/build/grpc-1.83.0-{suite}-lto/bin"
    assert planned["state"] == f"to be made, after a root of Debian {suite} in {tree}/{root}"
    assert not (tree / root).exists()


def test_a_prefix_is_made_once(tree: Path) -> None:
    assert run(tree, "1.51.1")[-1] == f"{tree}/cache/prefix/1.51.1-release"
    assert steps(tree) == GRPC + OURS
    planned = plan(tree, "1.51.1")
    assert (planned["gRPC"], planned["state"]) == ("Debian's source package 1.51.1-10", "exists")
    ours = tree / "build/grpc-1.51.1-release/main.o"
    ours.touch()
    assert run(tree, "1.51.1", "--release")[-1] == planned["prefix"]
    assert steps(tree) == OURS and ours.exists()
    assert not (tree / "cache/build/1.51.1-release").exists()
    assert {path.name for path in (tree / "cache/source").iterdir()} == {"grpc-1.51.1-10"}


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("bin/g++.version", "13.1.0", "compiler: g++ 13.1.0"),
        ("bin/dpkg-query.version", "20260526", "library: libabsl-dev 20260526"),
        ("cache/source/grpc-1.51.1-11", "", "gRPC: 1.51.1-11"),
    ],
)
def test_a_changed_stamp_makes_it_again(tree: Path, file: str, text: str, said: str) -> None:
    run(tree, "1.51.1")
    steps(tree)
    (tree / file).write_text(text)
    assert plan(tree, "1.51.1")["state"] == f"to be made again; new are: {said}"
    ours = tree / "build/grpc-1.51.1-release/main.o"
    ours.touch()
    run(tree, "1.51.1")
    assert steps(tree) == GRPC + OURS and not ours.exists()
    assert plan(tree, "1.51.1")["state"] == "exists"


def test_a_failed_build_is_continued(tree: Path) -> None:
    (tree / "bin/fails").touch()
    assert "it failed" in run(tree, "1.51.1", status=1)[-1]
    assert plan(tree, "1.51.1")["state"] == "to be made"
    kept = tree / "cache/build/1.51.1-release/object"
    kept.touch()
    steps(tree)
    run(tree, "1.51.1", status=1)
    assert kept.exists() and steps(tree) == GRPC[:2]
    (tree / "bin/g++.version").write_text("13.1.0")
    run(tree, "1.51.1", status=1)
    assert not kept.exists()
    (tree / "bin/fails").unlink()
    run(tree, "1.51.1")
    assert steps(tree)[2:] == GRPC + OURS


def test_a_profile_is_made_by_the_programs(tree: Path) -> None:
    run(tree, "1.51.1", "--pgo", "--lto", "--jobs", "1")
    lines = (tree / "bin/log").read_text().splitlines()
    assert steps(tree) == GRPC + OURS + GRPC + OURS
    first, second = (line for line in lines if "CMAKE_INSTALL_PREFIX" in line)
    assert "CMAKE_CXX_FLAGS_RELEASE=-O3 -DNDEBUG -flto -fprofile-generate" in first
    assert "CMAKE_CXX_FLAGS_RELEASE=-O3 -DNDEBUG -flto -fprofile-use" in second
    training, final = (line for line in lines if "--preset" in line)
    assert training.endswith("CMAKE_EXE_LINKER_FLAGS=-flto=1 -fprofile-generate")
    assert final.endswith("CMAKE_EXE_LINKER_FLAGS=-flto=1") and "CMAKE_CXX_FLAGS=-flto " in final
    assert (tree / "cache/trained").read_text().startswith("client --port 7 --api callback --workload echo")


def test_flags_of_the_environment_are_not_used(tree: Path) -> None:
    (tree / "bin/ar").write_text('#!/bin/bash\n[[ -z $CXXFLAGS$CFLAGS ]] && touch "$2"\n')
    run(tree, "1.51.1", CXXFLAGS="-O0", CFLAGS="-O0")


def test_versions_that_debian_does_not_have(tree: Path) -> None:
    (*_, line) = run(tree, "1.60.0", status=2)
    assert "VERSION '1.60.0': accepted are those of Debian's source packages here: 1.30.2 1.51.1; --suite" in line
    assert steps(tree) == []


def test_a_source_that_the_archive_lacks(tree: Path) -> None:
    program = tree / "bin/apt-get"
    program.write_text(program.read_text().replace("mkdir grpc-1.51.1 ;;", "echo 'E: 404 Not Found'; exit 100 ;;"))
    (*_, line) = run(tree, "1.51.1", status=1)
    assert "could not fetch the source of gRPC 1.51.1-10: E: 404 Not Found (its whole output: " in line
    assert plan(tree, "1.51.1")["state"] == "to be made"


def test_one_run_at_a_time_for_each_way(tree: Path) -> None:
    run(tree, "1.51.1")
    held = ["flock", str(tree / "cache/1.51.1-release.lock"), "bash", str(tree / "scripts/grpc.sh"), "1.51.1"]
    environment = {**os.environ, "PATH": f"{tree}/bin:{os.environ['PATH']}", "CQBENCH_GRPC_DIR": f"{tree}/cache"}
    refused = subprocess.run(held, capture_output=True, text=True, check=False, timeout=60, env=environment)
    assert refused.returncode == 1
    assert refused.stderr == f"grpc.sh: another run is making {tree}/cache/prefix/1.51.1-release\n"
    other = subprocess.run(
        [*held, "--native"], capture_output=True, text=True, check=False, timeout=60, env=environment
    )
    assert other.returncode == 0, other.stderr


def test_a_checkout_is_built_on_each_call(tree: Path) -> None:
    checkout = tree / "mine"
    (checkout / "include/grpcpp").mkdir(parents=True)
    (checkout / "CMakeLists.txt").touch()
    for _ in range(2):
        assert run(tree, "--grpc", str(checkout))[-1] == f"{tree}/cache/prefix/mine-release"
        assert steps(tree) == GRPC + OURS
    assert (tree / "cache/build/mine-release").exists()
    assert "not accepted together with VERSION" in run(tree, "1.51.1", "--grpc", str(checkout), status=2)[0]
