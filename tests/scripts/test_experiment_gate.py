"""`cqbench run --gate`: two builds in turns, the gate at the end, and which command lines are refused."""

from __future__ import annotations

import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from check_folders import findings
from cqbench.analysis.check.model import State
from cqbench.experiment import gate
from cqbench.experiment.spec import BadExperiment, parse
from experiment_standin import CLIENT, TOML, ask, environment, finish, make_programs, manifest_of, statuses, stem
from result_schema import programs as real_programs

# Its throughput is that of a machine that wanders by 1 % and, where there is a file `speed`, times what is in it.
SLOWED = "    return data\n"
SPEED = """    speed = here / "speed"
    number = int(output.stem.split("-")[0])
    for i, point in enumerate(data["benchmarks"]):
        point["throughput_per_second"] *= 1 + 0.01 * ((7 * number + len(me)) % 5)
        point["throughput_per_second"] *= float(speed.read_text()) if speed.exists() else 1
    return data
"""
CASES = TOML.split('[[configuration]]\nname = "c"')[0]
ENDS = ["grpc_ping_server", "grpc_ping_client"]
SIX = ("--repetitions", "6", "--inflight", "4")


@pytest.fixture
def builds(tmp_path: Path) -> tuple[Path, Path]:
    """Two folders of stand-ins that are alike."""
    assert SLOWED in CLIENT
    before = make_programs(tmp_path, client=CLIENT.replace(SLOWED, SPEED), toml=CASES)
    return before, Path(shutil.copytree(before, tmp_path / "bin-after"))


def run(builds: tuple[Path, Path], *flags: str, **more: str) -> tuple[int, str, str]:
    folder = builds[0].parent
    where = [] if "--resume" in flags else ["--results", str(folder / "results")]
    words = [str(folder / "try.toml"), "--gate", *map(str, builds), *where, *flags]
    command = [sys.executable, "-m", "cqbench.cli", "run", *words]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(**more)
    )
    return finish(process)


def only(builds: tuple[Path, Path]) -> Path:
    (folder,) = (builds[0].parent / "results").iterdir()
    return folder


def test_the_same_build_twice_passes(builds: tuple[Path, Path]) -> None:
    """The builds are neighbours at every point, and the manifest has what identifies them."""
    status, _, err = run((builds[0], builds[0]), *SIX)
    assert status == 0 and "== gate --fail-if-slower 10%: open\n" in err
    folder = only(builds)
    told = manifest_of(folder)
    assert [axis["name"] for axis in told["experiment"]["axis"]] == ["configuration", "build"]
    order = [stem(planned) for planned in told["runs"]]
    for one, other in pairwise(order[i : i + 2] for i in range(0, len(order), 2)):
        assert one != other
        for first, second in (one, other):
            assert first.replace(".after/", ".before/") == second.replace(".after/", ".before/") and first != second
    assert told["builds"]["before"] == told["builds"]["after"]
    server = told["builds"]["after"]["programs"]["grpc_ping_server"]
    assert server["version"] == "stand-in" and len(server["sha256"]) == 64
    assert told["builds"]["after"]["folder"] == str(builds[0])
    assert not {"blocks", "complete", "schema", "hashes"} & {
        rule for rule, one in findings(folder).items() if one.state is not State.PASSED
    }


def test_a_slower_build_closes_the_gate(builds: tuple[Path, Path]) -> None:
    (builds[1] / "speed").write_text("0.8")
    status, _, err = run(builds, *SIX)
    closed = [line for line in err.splitlines() if "closed" in line]
    assert status == 1 and len(closed) == 2  # a and b
    assert closed[0].startswith("== gate --fail-if-slower 10%: closed: a ping/unary/sync/shared, in-flight 4: -19.")
    status, _, err = run(builds[::-1], *SIX)  # 25 % faster
    assert status == 0 and "gate --fail-if-slower 10%: open\n" in err
    assert run(builds, *SIX, "--fail-if-slower", "30%")[0] == 0


def test_too_few_repetitions_are_inconclusive(builds: tuple[Path, Path]) -> None:
    (builds[1] / "speed").write_text("0.8")
    status, _, err = run(builds)
    assert status == 3
    assert "gate --fail-if-slower 10%: inconclusive: 4 points, the first a ping/" in err
    assert "2 repetitions, needs 6\n" in err


def test_a_build_that_cannot_run_fails(builds: tuple[Path, Path]) -> None:
    (builds[1] / "server-broken").touch()
    status, _, err = run(builds, *SIX)
    assert status == 1 and "gate --fail-if-slower: closed: the build after has no whole run\n" in err
    status, _, err = run(builds[::-1], *SIX)
    assert status == 1 and "gate --fail-if-slower: inconclusive: the build before has no whole run\n" in err


def test_it_is_resumed_with_the_same_builds(builds: tuple[Path, Path]) -> None:
    """The folder knows them, and whether they have changed since."""
    status, _, err = run(builds, *SIX, STANDIN_FAILS="a.after/03-4")
    folder = only(builds)
    assert status == 1 and statuses(folder)["a.after/03-4"] == "failed"
    status, _, err = run((builds[0], builds[0]), "--resume", str(folder))
    assert status == 2 and f"is not what {folder} was begun with: {builds[0]} {builds[1]}\n" in err
    client = builds[1] / "grpc_ping_client"
    text = client.read_text()
    client.write_text(f"{text}# another build\n")
    status, _, err = ask("--resume", str(folder))
    assert (status, err.count("\n")) == (2, 1) and "the grpc_ping_client of the build after, in " in err
    client.write_text(text)
    status, _, err = ask("--resume", str(folder))
    assert status == 0 and "gate --fail-if-slower 10%: open\n" in err
    assert set(statuses(folder).values()) == {"ok"}


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--gate", "BIN", "none"), "argument --gate: 'DIR/none' has no program grpc_ping_server: a folder with it is"),
        (("--gate", "none", "BIN"), "argument --gate: 'DIR/none' has no program grpc_ping_server: a folder with it is"),
        (
            ("--gate", "BIN", "BIN", "--bin", "BIN"),
            "argument --bin: 'BIN' is not accepted with --gate, which names two",
        ),
        (
            ("--gate", "BIN", "BIN", "--rate", "100"),
            "argument --gate: 'try' is not accepted: it is an open loop, whose",
        ),
        (
            ("--gate", "BIN", "BIN", "--budget", "5m"),
            "argument --gate: 'try' is not accepted: it measures within a budget",
        ),
        (("--bin", "BIN", "--fail-if-slower", "5%"), "argument --fail-if-slower: 5% is not accepted without --gate"),
        (("--gate", "BIN", "BIN", "--fail-if-slower", "5"), "argument --fail-if-slower: '5' is not a percentage"),
    ],
)
def test_usage(builds: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...], said: str) -> None:
    monkeypatch.chdir(builds[0].parent)
    words = (str(builds[0]) if word == "BIN" else word for word in flags)
    status, out, err = ask("try.toml", *words, "--results", "r")
    assert (status, out, err.count("\n")) == (2, "", 1) and not Path("r").exists()
    assert err.startswith("cqbench run: " + said.replace("BIN'", f"{builds[0]}'").replace("DIR", str(Path.cwd())))


AXIS = '[[axis]]\nname = "{}"\nvalues = [{{ name = "x"{} }}]\n'
HEAD = CASES.partition("[server]")[0]


def test_the_headline_takes_a_gate_with_repetitions(builds: tuple[Path, Path]) -> None:
    """As help and handbook have it: its budget alone is refused."""
    gate = ("headline", "--gate", *map(str, builds), "--plan")
    status, stdout, stderr = ask(*gate, "--repetitions", "10")
    assert status == 0, stderr
    assert "unary.sync.shared.before" in stdout and "10 repetitions" in stdout
    assert ask(*gate)[0] == 2


def test_the_builds_are_the_last_axis() -> None:
    made = gate.apply(parse(HEAD + AXIS.format("api", ', client_flags = "--api cq"'), "x"))
    assert [(c.name, c.builds, c.client_flags) for c in made.configurations] == [
        ("x.before", {"before": ENDS}, ("--api", "cq")),
        ("x.after", {"after": ENDS}, ("--api", "cq")),
    ]
    assert made.question.startswith("Does it? And is the build after slower") and gate.apply(made) is made
    dotted = gate.apply(parse(CASES.replace('"a"', '"a.1"'), "x"))
    assert [c.name for c in dotted.configurations][:2] == ["a-1.before", "a-1.after"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (AXIS.format("build", ""), "it has an axis 'build' of its own"),
        (AXIS.format("grpc", ', build = "sid"'), "its 'x' has the build \"sid\""),
    ],
)
def test_experiments_about_builds_are_refused(text: str, said: str) -> None:
    with pytest.raises(BadExperiment, match=f"argument --gate: 'try' is not accepted: {said}"):
        gate.apply(parse(HEAD + text, "x"))


def test_a_file_with_these_builds_needs_the_flag(builds: tuple[Path, Path]) -> None:
    file = builds[0].parent / "own.toml"
    file.write_text(CASES.replace('name = "a"', 'name = "a"\nbuild = "after"'))
    status, _, err = ask(str(file), "--bin", str(builds[0]), "--results", str(file.parent / "r"))
    assert (status, err) == (2, "cqbench run: try: the build 'after' of configuration 'a' needs --gate\n")


def test_nothing_is_built_for_it(builds: tuple[Path, Path]) -> None:
    status, out, _ = ask(str(builds[0].parent / "try.toml"), "--gate", *map(str, builds), "--needs")
    assert (status, out.strip()) == (0, "")


def test_with_the_real_programs(builds: tuple[Path, Path]) -> None:
    """Two repetitions decide nothing, whatever else runs here; and the folder passes every check of its origin."""
    both, home = (str(real_programs()),) * 2, builds[0].parent
    words = (str(home / "try.toml"), "--gate", *both, "--results", str(home / "results"))
    status, _, err = ask(*words, "--interval", "1s", "--inflight", "4")
    assert status == 3 and "inconclusive: 2 points, the first a ping/" in err, err
    told = manifest_of(only(builds))["builds"]["before"]["programs"]["grpc_ping_client"]
    assert told["version"].startswith("grpc_ping_client ")
    assert not [rule for rule, one in findings(only(builds)).items() if one.state is State.FAILED]
