"""A configuration with a server of its own: how it is started and told apart, and what is said where it is not
there.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from cqbench.experiment import flags, needs
from cqbench.experiment.plan import server_command
from cqbench.experiment.spec import BadExperiment, Experiment, parse
from cqbench.formats.manifest import load as load_manifest
from cqbench.formats.runs import read_all
from cqbench.measure.cpus import Placement
from cqbench.measure.programs import Programs
from cqbench.model import setting
from experiment_standin import finish, make_programs, only_folder, start
from test_experiment_file import HEAD

# Listens nowhere: the client is a stand-in, too.
OWN = f"""#!{sys.executable}
import sys, time
assert sys.argv[1:] == ["--loud", "--port", "0"], sys.argv
print("a server of its own")
print("listening on localhost:9", flush=True)
time.sleep(60)
"""
COMMON = '[server]\nflags = "--api sync"\nlayout = "post"\n'


def experiment_of(program: Path, more: str = "") -> Experiment:
    own = f'server_program = "{program}"\nserver_flags = "--loud"\n{more}'
    return parse(f'{HEAD}{COMMON}[[configuration]]\nname = "ours"\n[[configuration]]\nname = "own"\n{own}', "x.toml")


def test_it_gets_its_own_flags_alone_and_is_not_asked_about_them(tmp_path: Path) -> None:
    experiment = experiment_of(tmp_path / "own")
    nowhere = Placement((), (), "")
    ours, own = (
        server_command(experiment, v, nowhere, Programs(tmp_path, Path("/none"))) for v in experiment.configurations
    )
    assert ours[0] == str(tmp_path / "grpc_ping_server") and "--num-cqs" in ours and "--api" in ours
    assert own == [str(tmp_path / "own"), "--loud"]
    placements = dict.fromkeys(("ours", "own"), nowhere)
    assert not any(
        str(tmp_path / "own") in command
        for configuration in experiment.configurations
        for command in flags._commands(
            experiment, configuration, placements[configuration.name], Programs(tmp_path, Path("/none"))
        )
    )


def test_a_path_begins_at_the_repository() -> None:
    own = experiment_of(Path("scripts/x")).configurations[1]
    command = server_command(experiment_of(Path("scripts/x")), own, Placement((), (), ""), Programs(Path(), Path()))
    assert command[0] == str(Path(__file__).parents[2] / "scripts/x")


def test_one_that_is_not_there_leaves_out_its_configurations_alone(tmp_path: Path) -> None:
    experiment = experiment_of(tmp_path / "own")
    missing = needs.check(experiment, Programs(tmp_path, Path("/none")))
    assert missing == {"own": f"there is no program {tmp_path / 'own'}"}
    assert f"program {tmp_path / 'own'}" in needs.lines(experiment)


def test_it_does_not_go_with_a_host() -> None:
    with pytest.raises(BadExperiment, match="server_program: .* is not accepted with host"):
        experiment_of(Path("own"), 'host = "server:1"')


def test_it_is_measured_and_told_apart(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text(OWN)
    own.chmod(0o755)
    text = '[[configuration]]\nname = "a"\n[[configuration]]\nname = "b"\n'
    text += f'server_program = "{own}"\nserver_flags = "--loud"\n'
    programs = make_programs(tmp_path, toml=HEAD + text)
    status, stdout, stderr = finish(start(programs, "--repetitions", "1"))
    assert status == 0, stdout + stderr
    folder = only_folder(programs)
    ours, theirs = ([u for u in load_manifest(folder / "manifest.json").runs if u.configuration == v] for v in "ab")
    assert all(u.server_program == [str(own), "--loud"] for u in theirs) and len(theirs) == 2
    assert all("--server-pid " in u.client_command and "--host localhost:9 " in u.client_command for u in theirs)
    assert not any(u.server_program or "--server-pid" in u.client_command for u in ours)
    found = {run.configuration: setting.of(run) for run in read_all([folder])}
    assert [facet.key for facet in found["a"].differences(found["b"])] == ["server.program"]
