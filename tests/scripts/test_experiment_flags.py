"""Both programs are asked whether they take the flags of every configuration, before anything is run or planned."""

from __future__ import annotations

from pathlib import Path

from cqbench.experiment import flags
from cqbench.experiment.spec import parse
from cqbench.measure.cpus import Placement
from cqbench.measure.programs import Programs
from experiment_standin import TOML, finish, start

NOT_PINNED = Placement((), (), "")
WRONG = TOML.replace('"--api sync"', '"--api sync --moon"').replace('name = "b"', 'name = "b"\nserver_flags = "--moon"')


def problems(programs: Path, text: str) -> list[str]:
    experiment = parse(text, "x")
    placements = {v.name: NOT_PINNED for v in experiment.configurations}
    return flags.problems(experiment, placements, Programs(programs, Path("/none")))


def test_all_that_is_refused_is_said_at_once_and_nothing_is_started(programs: Path) -> None:
    (programs.parent / "try.toml").write_text(WRONG)
    for words in ((), ("--plan",)):
        status, stdout, stderr = finish(start(programs, *words, STANDIN_REFUSES="--moon"))
        assert (status, stdout) == (2, "")
        assert stderr.splitlines() == [
            "cqbench run: try: configuration a: grpc_ping_client: --moon: there is no such flag",
            "cqbench run: try: configuration b: grpc_ping_server: --moon: there is no such flag",
        ]
    assert not (programs / "clients").exists() and not (programs.parent / "results").exists()


def test_what_all_configurations_share_is_said_once(programs: Path) -> None:
    text = TOML.split('[[configuration]]\nname = "c"')[0] + '[client]\nflags = "--moon"\n'
    (programs.parent / "try.toml").write_text(text)
    _, _, stderr = finish(start(programs, "--plan", STANDIN_REFUSES="--moon"))
    assert stderr == "cqbench run: try: all 2 configurations: grpc_ping_client: --moon: there is no such flag\n"


def test_a_program_that_knows_no_check_is_not_asked(programs: Path) -> None:
    status, stdout, stderr = finish(start(programs, "--plan", STANDIN_REFUSES="--check"))
    assert (status, stderr) == (0, "") and "Order" in stdout


def test_a_program_that_cannot_be_asked_has_nothing_against_it(programs: Path) -> None:
    assert problems(Path("/nowhere"), TOML) == []
    (programs / "grpc_ping_client").write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    assert problems(programs, TOML) == []


def test_a_plan_without_programs_says_that_nothing_was_checked(programs: Path) -> None:
    status, stdout, stderr = finish(start(programs, "--plan", "--bin", "/nowhere"))
    assert status == 0 and "Order" in stdout
    assert stderr == "== note: the flags are not checked: there is no /nowhere/grpc_ping_server yet\n"
