"""needs_grpc: which configurations the gRPC at hand can run, and that the others are said to be not run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cqbench.experiment import needs
from cqbench.experiment.needs import Unmet
from cqbench.experiment.spec import Experiment, parse
from cqbench.measure.programs import Programs
from experiment_standin import CLIENT, TOML, finish, make_programs, start, stem
from test_experiment_file import HEAD


def version_of(folder: Path, line: str) -> Programs:
    """Programs whose client answers --version with that line; newgrpc.sh's says 1.83.0."""
    client = folder / "grpc_ping_client"
    client.write_text(f'#!/bin/sh\n[ "$1" = --version ] && {line}\n')
    client.chmod(0o755)
    script = folder / "newgrpc.sh"
    asked = "[ \"$*\" = '--run grpc_ping_client --version' ]"
    script.write_text(f"#!/bin/sh\n{asked} && echo 'x (gRPC 1.83.0, protobuf 7)'\n")
    script.chmod(0o755)
    return Programs(folder, script)


def needing(*configurations: str) -> Experiment:
    """Each: 'build version'; no version, no need."""
    text = HEAD
    for i, (build, version) in enumerate(v.split(" ") for v in configurations):
        text += f'[[configuration]]\nname = "v{i}"\nbuild = "{build}"\n' + (
            f'needs_grpc = "{version}"\n' if version else ""
        )
    return parse(text, "x")


INSTALLED = "echo 'grpc_ping_client 0.1.0 (gRPC 1.51.1, protobuf 3.21.12)'"


@pytest.mark.parametrize(
    ("version", "met"),
    [("1.51", True), ("1.51.1", True), ("1.51.2", False), ("1.52", False), ("1.9", True), ("2.0", False)],
)
def test_versions_are_compared_by_their_numbers(version: str, met: bool, tmp_path: Path) -> None:
    unmet = needs.check(needing("release ", f"release {version}"), version_of(tmp_path, INSTALLED))
    assert unmet == ({} if met else {"v1": f'needs gRPC {version}, this is 1.51.1 (build "release")'})


def test_each_build_is_asked_for_its_own_version(tmp_path: Path) -> None:
    programs = version_of(tmp_path, INSTALLED)
    assert needs.check(needing("sid 1.83", "release 1.83", "release "), programs) == {
        "v1": 'needs gRPC 1.83, this is 1.51.1 (build "release")'
    }


def test_a_prerelease_counts_as_its_release(tmp_path: Path) -> None:
    programs = version_of(tmp_path, "echo 'x (gRPC 1.84.0-dev, protobuf 7)'")
    assert needs.check(needing("release 1.84"), programs) == {}


def test_nothing_that_can_be_run(tmp_path: Path) -> None:
    with pytest.raises(Unmet) as unmet:
        needs.check(needing("release 1.83", "release 1.83"), version_of(tmp_path, INSTALLED))
    said = 'try: no configuration can be run: needs gRPC 1.83, this is 1.51.1 (build "release")'
    assert str(unmet.value) == said


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{ echo a; echo 'no root' >&2; exit 1; }", 'build "release" does not say which it has: no root'),
        ("echo other", 'build "release" does not say which it has: other'),
        ("exit 3", 'build "release" does not say which it has: exit status 3'),
        (f"{{ {INSTALLED}; echo broken >&2; exit 3; }}", 'build "release" does not say which it has: broken'),
    ],
)
def test_a_version_that_is_not_known_is_not_new_enough(line: str, said: str, tmp_path: Path) -> None:
    unmet = needs.check(needing("release ", "release 1.0"), version_of(tmp_path, line))
    assert unmet == {"v1": f"needs gRPC 1.0, and {said}"}


def test_a_program_that_is_not_there_has_no_version() -> None:
    programs = Programs(Path("/none"), Path("/none/newgrpc.sh"))
    unmet = needs.check(needing("release ", "sid 1.83"), programs)
    assert unmet["v1"].startswith('needs gRPC 1.83, and build "sid" cannot be run: ')
    assert unmet["v1"].endswith("; scripts/newgrpc.sh makes it (root, Debian)")


def test_what_cannot_be_run_is_said_and_the_rest_is_run(tmp_path: Path) -> None:
    """Nothing is measured as if it were what it is not; another try looks again."""
    text = (
        TOML.split("[[configuration]]")[0]
        + '[[configuration]]\nname = "new"\nneeds_grpc = "1.83"\n[[configuration]]\nname = "any"\n'
    )
    programs = make_programs(tmp_path)
    (tmp_path / "try.toml").write_text(text)
    answer = 'if "--version" in sys.argv:\n    sys.exit(print("(gRPC 1.51.1, x)"))\n'
    asks = CLIENT.replace("here = ", f"{answer}here = ", 1)
    (programs / "grpc_ping_client").write_text(asks)
    _, stdout, stderr = finish(start(programs))
    (folder,) = (tmp_path / "results").iterdir()
    said = 'new: needs gRPC 1.83, this is 1.51.1 (build "release")'
    assert f"== not run: {said}\n" in stderr and f"NOT RUN: {said}\n" in (folder / "summary.txt").read_text() + stdout
    manifest = json.loads((folder / "manifest.json").read_text())
    assert {stem(u): u["status"] for u in manifest["runs"]} == {
        **{f"new/0{n}-{load}": "not run" for n in (1, 2) for load in (1, 4)},
        **{f"any/0{n}-{load}": "ok" for n in (1, 2) for load in (1, 4)},
    }
    assert not manifest["partial"] and not (folder / "raw/new").exists()
    assert "[4/4]" in stderr and "already" not in stderr
    (programs / "grpc_ping_client").write_text(asks.replace("1.51.1", "1.84.0"))
    finish(start(programs, "--resume", str(folder)))
    manifest = json.loads((folder / "manifest.json").read_text())
    assert {u["status"] for u in manifest["runs"]} == {"ok"}
