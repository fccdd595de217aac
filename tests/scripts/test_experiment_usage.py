"""The command line of cqbench run: what it lists, plans and refuses, each in a line, before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest
from experiment_standin import SCRIPTS, ask, finish, start


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--foo"], "--foo"),
        (["--repetitions", "0"], "argument --repetitions: '0' is not an integer from 1 to 1000"),
        (["--seed", "x"], "argument --seed: 'x' is not an integer from 0"),
        (["--bin", "/nowhere"], "argument --bin: '/nowhere' has no program grpc_ping_server"),
        (["--resume", "/nowhere", "--results", "x"], "argument --results: 'x' is not accepted with --resume"),
        (["--resume", "/nowhere"], "/nowhere: not a folder of results: No such file or directory"),
    ],
)
def test_usage_is_one_line_and_status_2(programs: Path, flags: list[str], said: str) -> None:
    status, stdout, stderr = finish(start(programs, *flags))
    assert (status, stdout, stderr.count("\n")) == (2, "", 1)
    assert said in stderr and stderr.startswith("cqbench run: ")
    assert not (programs.parent / "results").exists()


def test_where_no_folder_can_be_made_is_one_line_that_says_what_to_do(programs: Path) -> None:
    words = (str(programs.parent / "try.toml"), "--bin", str(programs))
    status, stdout, stderr = ask(*words, "--results", str(programs.parent / "try.toml/x"))
    assert (status, stdout, stderr.count("\n")) == (1, "", 1)
    assert stderr.endswith("/try.toml/x: Not a directory; --results DIR puts it elsewhere\n")
    assert not (programs / "clients").exists()


def test_cpus_are_checked_before_anything_is_started(programs: Path) -> None:
    status, _, stderr = finish(start(programs, SERVER_CPUS="0-x"))
    assert status == 2 and stderr.startswith("cqbench run: SERVER_CPUS: '0-x'")
    assert not (programs.parent / "results").exists()


def test_list_names_every_shipped_experiment_with_its_question() -> None:
    status, stdout, stderr = ask("--list")
    assert (status, stderr) == (0, "")
    shipped = sorted((SCRIPTS / "experiments").glob("*.toml"))
    assert len(shipped) >= 7
    for path in shipped:
        assert f"{path.stem}: " in stdout
    assert stdout.count("?\n") >= len(shipped)


def test_plan_starts_nothing(programs: Path) -> None:
    status, stdout, _ = finish(start(programs, "--plan"))
    assert status == 0 and "Order (seed 7)" in stdout and "2 loads x 2 repetitions = 12 runs" in stdout
    assert not (programs.parent / "results").exists() and not (programs / "clients").exists()
    assert ask("headline", "--plan")[0] == 0


def test_names_that_are_none() -> None:
    for arguments, said in ((("nonsense",), "'nonsense' is not an experiment: a"), ((), "is missing")):
        status, stdout, stderr = ask(*arguments)
        assert (status, stdout, stderr.count("\n")) == (2, "", 1) and said in stderr
    status, _, stderr = ask("/no/such.toml")
    assert status == 2 and "/no/such.toml: No such file" in stderr


def test_what_is_needed_is_named_for_the_script() -> None:
    assert ask("headline", "--needs")[1] == "build release\n"
    assert ask("grpc-versions", "--needs")[1] == "build release\nbuild sid\n"
    assert ask("wan-5ms", "--needs")[1].startswith("build release\ntoxiproxy 2.")
