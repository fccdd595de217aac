"""Builds of our programs as configurations: which programs run, what is left out or refused, and what the manifest and
those who read it have of them.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from check_folders import findings
from cqbench.analysis.check.model import State
from cqbench.experiment import needs, ranks, spec, vary
from cqbench.experiment.needs import Unmet
from cqbench.experiment.plan import client_command, server_command
from cqbench.experiment.spec import BadExperiment, Experiment, parse
from cqbench.formats.manifest import load as load_manifest
from cqbench.formats.runs import read_all
from cqbench.measure.cpus import Placement
from cqbench.measure.programs import ROOT, Programs
from cqbench.measure.ranks.hosts import HERE
from cqbench.measure.ranks.launch import MPIRUN, Launch
from cqbench.render.report import machine
from cqbench.run import chosen
from experiment_standin import ask, make_programs, manifest_of, ran, statuses, stem
from result_schema import programs as real_programs
from test_experiment_file import HEAD, complaint

NOWHERE = Placement((), (), "")
AXIS = '[[axis]]\nname = "build"\nvalues = [{}]\n'
QUICK = ("--inflight", "4", "--warmup", "10ms", "--interval", "10ms")


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """Two folders of stand-ins that are alike."""
    (tmp_path / "one").mkdir()
    one = make_programs(tmp_path / "one")
    return one, Path(shutil.copytree(one, tmp_path / "two/bin"))


def experiment(text: str) -> Experiment:
    return parse(HEAD + text, "x.toml")


def commands(of: Experiment, programs: Programs) -> list[tuple[str, str]]:
    """By configuration, the programs of server and client."""
    return [
        (
            server_command(of, c, NOWHERE, programs)[0],
            client_command(of, c, NOWHERE, programs, "4", "h:1", Path("out"))[0],
        )
        for c in of.configurations
    ]


def vary_builds(pair: tuple[Path, Path], *words: str, name: str = "build") -> tuple[int, str, str]:
    """Runs --vary with both folders; one repetition by default."""
    where = ("--results", str(pair[0].parent / "results"))
    return ask("--vary", f"{name}={pair[0]},{pair[1]}", *QUICK, "--repetitions", "1", *where, *words)


def only(pair: tuple[Path, Path]) -> Path:
    (folder,) = (pair[0].parent / "results").iterdir()
    return folder


# Which programs run.


@pytest.mark.parametrize(
    ("build", "folder"),
    [
        ("release", "/bin-dir"),
        ("shared", f"{ROOT}/build/shared/bin"),
        ("grpc-1.51.1-lto", f"{ROOT}/build/grpc-1.51.1-lto/bin"),
        ("../other/bin", f"{ROOT}/../other/bin"),
        ("/there/bin", "/there/bin"),
        ("before", "/main/bin"),
    ],
)
def test_a_build_is_a_name_or_a_folder(build: str, folder: str) -> None:
    assert Programs(Path("/bin-dir"), builds={"before": Path("/main/bin")}).folder(build) == Path(folder)


def test_a_build_is_of_both_ends_or_of_one() -> None:
    found = experiment(
        AXIS.format(
            '{ name = "a" }, { name = "b", build = "/b" }, { name = "c", client_build = "/c" }, '
            '{ name = "d", server_build = "/d" }, { name = "e", build = "/b", client_build = "/c" }'
        ).replace('"/', '"/x/')
    )
    default, b, c, d = "/bin-dir", "/x/b", "/x/c", "/x/d"
    assert found.configurations[3].builds == {"/x/d": ["grpc_ping_server"], "release": ["grpc_ping_client"]}
    ends = [(default, default), (b, b), (default, c), (d, default), (b, c)]
    expected = [(f"{server}/grpc_ping_server", f"{client}/grpc_ping_client") for server, client in ends]
    assert commands(found, Programs(Path("/bin-dir"))) == expected


def test_builds_made_in_newgrpc_shs_root_are_run_by_it() -> None:
    build = "grpc-1.83.0-experimental-release"
    found = experiment(f'[[configuration]]\nname = "a"\nclient_build = "{build}"\nclient_env = {{ A = "b" }}\n')
    programs = Programs(Path("/bin-dir"), Path("/newgrpc.sh"))
    command = client_command(found, found.configurations[0], NOWHERE, programs, "4", "h:1", Path("out"))
    start = ["env", f"CQBENCH_SID_BUILD={build}", "/newgrpc.sh", "--run", "env", "A=b", "grpc_ping_client"]
    assert command[: len(start)] == start and "--output" not in command
    with pytest.raises(BadExperiment, match=f"its client is of the build '{build}', which is on this machine alone"):
        ranks.check(Launch((HERE,), MPIRUN), found)


def test_vary_takes_names_and_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder is looked for where the command was typed; its name is what tells it apart."""
    monkeypatch.chdir(tmp_path)
    found = spec.make(vary.tables(["build=main/build/bin,./mine/build/bin,shared"], [], ""), "--vary")
    assert [c.client_build for c in found.configurations] == [f"{tmp_path}/{n}/build/bin" for n in ("main", "mine")] + [
        "shared"
    ]
    two = spec.make(vary.tables(["build=main/build/bin,mine/build/bin"], [], ""), "--vary")
    assert [c.name for c in two.configurations] == ["main", "mine"]
    assert two.title == "build main/build/bin or mine/build/bin"


def test_the_four_pairs_of_two_builds() -> None:
    found = spec.make(vary.tables(["client-build=release,1.83", "server-build=release,1.83"], [], ""), "--vary")
    assert [(c.name, c.client_build, c.server_build) for c in found.configurations] == [
        ("release.release", "release", "release"),
        ("release.1-83", "release", "1.83"),
        ("1-83.release", "1.83", "release"),
        ("1-83.1-83", "1.83", "1.83"),
    ]
    assert "--client-build" not in str(found.data)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("build = 'a b'\n",
         "configuration[0] ('one').build: \"a b\" is not a NAME of build/NAME/bin, such as \"release\", or a folder"),
        ("client_build = '-x/y'\n", "configuration[0] ('one').client_build: \"-x/y\" is not a NAME of build/NAME/bin"),
        ("server_build = ''\n", "configuration[0] ('one').server_build: \"\" is not a NAME of build/NAME/bin"),
        ("host = 'a'\nserver_build = 'b'\n",
         "configuration[0] ('one').server_build: \"b\" is not accepted with host: that server is not started here"),
        ("server_program = 'a/b'\nserver_build = 'b'\n",
         "configuration[0] ('one').server_build: \"b\" is not accepted with server_program: that server is not ours"),
        ("client_build = 'sid'\nfault = { kind = 'reset' }\n",
         "configuration[0] ('one').fault.kind: \"reset\" is not accepted with build \"sid\""),
    ],
)  # fmt: skip
def test_what_is_no_build(text: str, said: str) -> None:
    assert complaint(f'{HEAD}[[configuration]]\nname = "one"\n{text}').startswith(said)


def test_what_the_script_builds() -> None:
    """Names: it knows those of presets. A folder is the caller's."""
    found = experiment(AXIS.format('{ name = "a" }, { name = "b", build = "shared" }, { name = "c", build = "./x" }'))
    assert needs.lines(found) == ["build release", "build shared"]
    without = experiment(AXIS.format('{ name = "a", build = "./x" }, { name = "b", build = "./y" }'))
    assert needs.lines(without) == []


# Builds that are not there, or do not do.


def test_a_build_that_is_not_there_leaves_out_its_configurations_alone(pair: tuple[Path, Path]) -> None:
    file, there = pair[0].parent / "own.toml", pair[1]
    values = f'{{ name = "a" }}, {{ name = "b", build = "no-such" }}, {{ name = "c", build = "{there}" }}'
    file.write_text(HEAD + AXIS.format(values))
    words = (str(file), "--bin", str(pair[0]), *QUICK, "--repetitions", "1")
    status, stdout, stderr = ask(*words, "--results", str(file.parent / "results"))
    assert status == 0, stderr
    said = f'b: build "no-such": there is no program {ROOT}/build/no-such/bin/grpc_ping_server\n'
    assert f"== not run: {said}" in stderr and f"NOT RUN: {said}" in stdout
    folder = only(pair)
    assert statuses(folder) == {"a/01-4": "ok", "b/01-4": "not run", "c/01-4": "ok"}
    assert sorted(manifest_of(folder)["builds"]) == sorted(["release", str(there)])
    assert ask(*words, "--plan")[2] == (
        f'== note: the flags of build "no-such" are not checked: there is no {ROOT}/build/no-such/bin/grpc_ping_server '
        "yet\n"
    )


def test_one_end_that_is_not_there(pair: tuple[Path, Path]) -> None:
    """A folder with the client alone is a build for configurations that run its client alone."""
    (pair[1] / "grpc_ping_server").unlink()
    text = f'{{ name = "client", client_build = "{pair[1]}" }}, {{ name = "server", server_build = "{pair[1]}" }}'
    unmet = needs.check(experiment(AXIS.format(text)), Programs(pair[0]))
    assert unmet == {"server": f'build "{pair[1]}": there is no program {pair[1]}/grpc_ping_server'}


def test_none_that_is_there(tmp_path: Path) -> None:
    with pytest.raises(Unmet, match='no configuration can be run: build "no/a": there is no program'):
        needs.check(experiment('[[configuration]]\nname = "a"\nbuild = "no/a"\n'), Programs(tmp_path))


def test_a_build_that_was_typed_has_to_be_there(pair: tuple[Path, Path]) -> None:
    (pair[1] / "grpc_ping_client").unlink()
    status, stdout, stderr = vary_builds(pair)
    assert (status, stdout, stderr.count("\n")) == (2, "", 1)
    assert stderr.startswith(f"cqbench run: build \"{pair[1]}\": '{pair[1]}' has no program grpc_ping_client; a folder")
    assert not (pair[0].parent / "results").exists()


def test_flags_are_checked_by_each_build(pair: tuple[Path, Path]) -> None:
    client = pair[1] / "grpc_ping_client"
    client.write_text(client.read_text().replace('os.environ.get("STANDIN_REFUSES", "")', '"--new"'))
    status, _, stderr = vary_builds(pair, "--", "--new")
    said = "build: configuration two: grpc_ping_client: --new: there is no such flag\n"
    assert (status, stderr) == (2, f"cqbench run: {said}")


def test_the_gRPC_of_both_ends_has_to_be_new_enough(pair: tuple[Path, Path]) -> None:  # noqa: N802
    for folder, version in zip(pair, ("1.83.0", "1.51.1"), strict=True):
        for name in ("grpc_ping_server", "grpc_ping_client"):
            (folder / name).write_text(f"#!/bin/sh\necho '{name} 0.1.0 (gRPC {version}: static)'\n")
    old = f'"{pair[1]}"'
    text = f'{{ name = "new" }}, {{ name = "c", client_build = {old} }}, {{ name = "s", server_build = {old} }}'
    found = experiment(AXIS.format(text.replace(" }", ', needs_grpc = "1.83" }')))
    reason = f'needs gRPC 1.83, this is 1.51.1 (build "{pair[1]}")'
    assert needs.check(found, Programs(pair[0])) == {"c": reason, "s": reason}


# An experiment of two builds.


def test_two_builds_side_by_side(pair: tuple[Path, Path]) -> None:
    status, stdout, stderr = vary_builds(pair, "--repetitions", "6")
    assert status == 0, stderr
    folder = only(pair)
    told = manifest_of(folder)
    assert [axis["name"] for axis in told["experiment"]["axis"]] == ["build"]
    assert sorted({stem(run).split("/")[0] for run in told["runs"]}) == ["one", "two"]
    for build in pair:
        known = told["builds"][str(build)]
        assert known["folder"] == str(build)
        assert {len(known["programs"][f"grpc_ping_{end}"]["sha256"]) for end in ("server", "client")} == {64}
        assert known["programs"]["grpc_ping_server"]["version"] == "stand-in"
        assert f'== build "{build}": {build}: stand-in' in stderr
    ran_by = [{run.split("/")[0] for run in ran(build)} for build in pair]
    assert ran_by == [{"one", "sid"}, {"two", "sid"}]  # sid: the stand-in takes --version for a run
    assert not {"blocks", "complete", "schema", "hashes", "versions"} & {
        rule for rule, one in findings(folder).items() if one.state is State.FAILED
    }
    verdict = json.loads((folder / "verdict.json").read_text())
    assert [(one["axis"], one["baseline"]) for one in verdict["scenarios"]] == [("build", "one")]
    rows = dict(machine.rows(read_all([folder]), machine.find([folder])))
    assert rows["Builds"] == f"{pair[0]}: {pair[0]}; {pair[1]}: {pair[1]}"
    assert "two" in stdout and "build: " in (folder / "report.html").read_text()


def test_the_default_build_alone_is_not_noted(done: Path) -> None:
    assert load_manifest(done / "manifest.json").builds is None


def test_a_program_that_changed_is_not_resumed(pair: tuple[Path, Path]) -> None:
    assert vary_builds(pair, "--repetitions", "2")[0] == 0
    folder, client = only(pair), pair[1] / "grpc_ping_client"
    (folder / "raw/one/02-4.json").unlink()
    text = client.read_text()
    client.write_text(f"{text}# another build\n")
    status, _, stderr = ask("--resume", str(folder))
    assert (status, stderr) == (
        2,
        f"cqbench run: argument --resume: '{folder}' is not accepted: the grpc_ping_client of the build {pair[1]}, in "
        f"{pair[1]}, is not the one that was measured\n",
    )
    client.write_text(text)
    assert ask("--resume", str(folder))[0] == 0
    assert set(statuses(folder).values()) == {"ok"}


def test_a_build_that_comes_or_goes_is_resumed(pair: tuple[Path, Path]) -> None:
    """A configuration that could not be run is run when its build is there; the others are as they were."""
    file, away = pair[0].parent / "own.toml", pair[1].with_name("away")
    file.write_text(HEAD + AXIS.format(f'{{ name = "a" }}, {{ name = "b", build = "{pair[1]}" }}'))
    where = ("--bin", str(pair[0]))
    pair[1].rename(away)
    words = ("--repetitions", "1", "--inflight", "4", "--interval", "10ms", "--results", str(file.parent / "results"))
    assert ask(str(file), *where, *words)[0] == 0
    folder = only(pair)
    assert statuses(folder) == {"a/01-4": "ok", "b/01-4": "not run"} and [*manifest_of(folder)["builds"]] == ["release"]
    away.rename(pair[1])
    assert ask("--resume", str(folder), *where)[0] == 0
    assert set(statuses(folder).values()) == {"ok"}
    before = manifest_of(folder)["builds"]
    assert [*before] == ["release", str(pair[1])]
    pair[1].rename(away)
    (folder / "raw/a/01-4.json").unlink()
    status, _, stderr = ask("--resume", str(folder), *where)
    assert status == 0, stderr
    assert manifest_of(folder)["builds"] == before and set(statuses(folder).values()) == {"ok"}


def test_the_plan_has_the_programs_of_each_build(pair: tuple[Path, Path]) -> None:
    status, stdout, stderr = vary_builds(pair, "--plan", name="server-build")
    assert status == 0, stderr
    assert all(f"{folder}/grpc_ping_server " in stdout for folder in pair)
    assert stdout.count("/build/release/bin/grpc_ping_client ") == 2


def test_an_experiment_with_builds_takes_no_gate(pair: tuple[Path, Path]) -> None:
    file = pair[0].parent / "own.toml"
    file.write_text(HEAD + AXIS.replace('"build"', '"x"').format('{ name = "a", client_build = "shared" }'))
    status, _, stderr = ask(str(file), "--gate", *map(str, pair))
    assert (status, stderr.count("\n")) == (2, 1) and "its 'a' has the client_build \"shared\"" in stderr


def test_a_host_has_a_server_of_its_own(pair: tuple[Path, Path]) -> None:
    status, _, stderr = vary_builds(pair, "--host", "box:7", name="server-build")
    assert (status, stderr.count("\n")) == (2, 1) and "server_build is" in stderr
    status, stdout, _ = vary_builds(pair, "--host", "box:7", "--plan")  # the client's
    assert status == 0 and stdout.count("/grpc_ping_client --host box:7 ") == 2


def test_the_shipped_experiment_is_about_builds() -> None:
    found = spec.load(chosen.shipped()["builds"])
    assert [load.number for load in found.loads] == [1, 48] and found.data["axis"][-1]["name"] == "build"
    assert {c.client_build for c in found.configurations} >= {"release", "shared", "grpc-1.51.1-release"}
    assert all(c.client_build == c.server_build and c.client_flags[:2] == ("--api", "cq") for c in found.configurations)
    presets = {one["name"] for one in json.loads((ROOT / "CMakePresets.json").read_text())["buildPresets"]}
    assert {"release", "shared"} <= presets


def test_with_the_real_programs(tmp_path: Path) -> None:
    """Each client with each server, which are the same here."""
    folders = []
    for name in ("one", "two"):
        folders.append(tmp_path / name / "bin")
        folders[-1].mkdir(parents=True)
        for program in ("grpc_ping_server", "grpc_ping_client"):
            shutil.copy(real_programs() / program, folders[-1])
    builds = ",".join(map(str, folders))
    words = ("--vary", f"client-build={builds}", "--vary", f"server-build={builds}", "--results", str(tmp_path / "r"))
    short = ("--inflight", "4", "--warmup", "50ms", "--interval", "200ms", "--repetitions", "2")
    status, _, stderr = ask(*words, *short, "--", "--api", "cq")
    assert status == 0, stderr
    (folder,) = (tmp_path / "r").iterdir()
    told: dict[str, Any] = manifest_of(folder)
    for run in told["runs"]:
        client, server = run["configuration"].split(".")
        assert f"{tmp_path}/{client}/bin/grpc_ping_client " in run["client_command"]
        assert f"{tmp_path}/{server}/bin/grpc_ping_server " in run["server_command"]
    assert len(told["runs"]) == 8 and set(statuses(folder).values()) == {"ok"}
    version = told["builds"][str(folders[0])]["programs"]["grpc_ping_client"]["version"]
    assert version.startswith("grpc_ping_client ") and "(gRPC " in version
    assert not [rule for rule, one in findings(folder).items() if one.state is State.FAILED]
