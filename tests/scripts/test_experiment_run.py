"""experiment.py as a process, with stand-ins for the two programs, and once with the real ones."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest

from cqbench.cpus import read_machine
from cqbench.documents import load as load_document
from cqbench.experiment_file import parse
from cqbench.experiment_manifest import Manifest, differences
from cqbench.experiment_plan import Programs, make_order, place
from cqbench.experiment_run import Runner
from cqbench.processes import Interrupt
from test_bench_run import SCRIPTS, assert_no_server, finish, wait_for
from test_bench_run import SERVER as BENCH_SERVER
from test_result_schema import programs as real_programs

DATA = Path(__file__).parent / "data"
# Ends at once where its flags say so.
SERVER = BENCH_SERVER.replace('print("gRPC 0', 'if "--broken" in sys.argv:\n    sys.exit("a\\nno luck")\nprint("gRPC 0')

# Answers with a stored document, and does what STANDIN_<WHAT>=<variant>/<NN> says.
CLIENT = f"""#!{sys.executable}
import json, os, pathlib, signal, sys, time
here = pathlib.Path(__file__).parent
to = sys.argv[sys.argv.index("--output") + 1] if "--output" in sys.argv else "/sid/01.json"
output = pathlib.Path(to)
me = f"{{output.parent.name}}/{{output.stem}}"
def asked(what):
    return os.environ.get("STANDIN_" + what) == me
with (here / "clients").open("a") as f:
    f.write(me + " " + os.environ.get("SOME", "") + "\\n")
with (here / "servers").open("a") as f:
    pids = (here / "server.pids").read_text().split() if (here / "server.pids").exists() else []
    f.write(f"{{sum(pathlib.Path('/proc', pid).exists() for pid in pids)}}\\n")
def finish(status):
    data = json.loads(pathlib.Path({str(DATA)!r}, "unary-sync-shared.json").read_text())
    data["context"]["partial"] = status == 130
    sys.stdout.write(json.dumps(data)) if "--output" not in sys.argv else output.write_text(json.dumps(data))
    return status
signal.signal(signal.SIGINT, lambda *_: sys.exit(finish(130)))
if asked("FAILS"):
    sys.exit("first line\\ngrpc_ping_client: it broke")
if asked("IS_SILENT"):
    sys.exit(0)
if asked("GARBLES"):
    sys.exit(output.write_text("{{") and 0)
if asked("HAS_ERRORS"):
    sys.exit(finish(1))
if asked("KILLS_SERVER"):
    os.kill(int((here / "server.pids").read_text().split()[-1]), signal.SIGKILL)
    sys.exit("lost it")
if asked("WAITS"):
    (here / "waiting").touch()
    time.sleep(60)
sys.exit(finish(0))
"""

TOML = """
[experiment]
name = "try"
title = "A title"
question = "Does it?"
inflight = [1, 4, 16]
warmup = 0.01
interval = "10ms"
repetitions = 2
seed = 7

[server]
flags = "--api cq"

[[variant]]
name = "a"
client_flags = "--api sync"

[[variant]]
name = "b"
client_flags = "--api cq"
client_env = { SOME = "thing" }

[[variant]]
name = "c"
host = "elsewhere:7"
"""
UNITS = [f"{variant}/{repetition:02}" for repetition in (1, 2) for variant in "abc"]


def make_programs(parent: Path) -> Path:
    folder = parent / "bin"
    folder.mkdir()
    for name, text in (("grpc_ping_server", SERVER), ("grpc_ping_client", CLIENT)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    (parent / "try.toml").write_text(TOML)
    return folder


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    return make_programs(tmp_path)


@pytest.fixture(scope="module")
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


def command(programs: Path, *flags: str) -> list[str]:
    where = [] if "--resume" in flags else ["--results", str(programs.parent / "results")]
    words = ["-m", "cqbench.experiment", str(programs.parent / "try.toml"), "--bin", str(programs)]
    return [sys.executable, *words, *where, *flags]


def environment(**more: str) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if k not in ("SERVER_CPUS", "CLIENT_CPUS")}
    return {**inherited, "PYTHONPATH": str(SCRIPTS), **more}


def start(programs: Path, *flags: str, **more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(programs, *flags), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(**more)
    )


def only_folder(programs: Path) -> Path:
    (folder,) = (programs.parent / "results").iterdir()
    return folder


def manifest_of(folder: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return data


def statuses(folder: Path) -> dict[str, str]:
    return {f"{u['variant']}/{u['repetition']:02}": u["status"] for u in manifest_of(folder)["units"]}


def ran(programs: Path) -> list[str]:
    """The units that the client was started for, in order."""
    return [line.split()[0] for line in (programs / "clients").read_text().splitlines()]


def test_a_whole_run(programs: Path) -> None:
    status, stdout, stderr = finish(start(programs))
    folder = only_folder(programs)
    assert status == 0, stderr
    assert folder.name.startswith("try-20")
    assert stdout.startswith((folder / "summary.txt").read_text())  # the verdict is below the medians
    assert stdout.startswith("try: A title\nDoes it?\ngRPC 1.51.1, ") and "PARTIAL" not in stdout
    assert sorted(ran(programs)) == sorted(UNITS)
    lines = (programs / "clients").read_text().splitlines()
    assert {line[0]: line.split()[1:] for line in lines} == {"a": [], "b": ["thing"], "c": []}  # its variables
    assert all((folder / f"raw/{unit}.json").exists() for unit in UNITS)
    assert len([line for line in stderr.splitlines() if " left" in line]) == 6  # no terminal: a line per unit
    assert "[6/6] " in stderr and "\r" not in stderr
    pids = (programs / "server.pids").read_text().split()
    assert len(pids) == len(set(pids)) == 4  # a fresh server each, none for the host
    counts = zip(ran(programs), (programs / "servers").read_text().split(), strict=True)
    assert all(count == ("0" if unit[0] == "c" else "1") for unit, count in counts)  # the last one is gone by then
    assert_no_server(programs)


def test_the_manifest(done: Path) -> None:
    manifest = manifest_of(done)
    assert manifest["experiment"]["experiment"]["interval"] == "10ms"
    assert (manifest["seed"], manifest["repetitions"], manifest["partial"]) == (7, 2, False)
    assert manifest["started"] <= manifest["ended"]
    assert manifest["versions"]["grpc_version"] == "1.51.1"
    assert {"uname", "cpu_model", "cpus", "governors"} <= set(manifest["machine"])
    assert manifest["machine"]["cpus"] == sorted(os.sched_getaffinity(0))
    expected = [unit.stem for unit in make_order(parse(TOML, "x"), 2, 7)]
    assert manifest["order"] == expected == [f"{u['variant']}/{u['repetition']:02}" for u in manifest["units"]]
    units = {(u["variant"], u["repetition"]): u for u in manifest["units"]}
    b = units["b", 2]
    assert (b["status"], b["reason"], b["exit_status"], b["file"]) == ("ok", "", 0, "raw/b/02.json")
    assert "env SOME=thing " in b["client_command"] and "--api cq --inflight-list 1,4,16" in b["client_command"]
    assert b["server_command"].endswith("grpc_ping_server --api cq --port 0")
    assert b["server_configuration"] == "gRPC 0, stand-in" and b["started"] <= b["ended"]
    if b["client_cpus"]:
        assert b["client_command"].startswith(f"taskset -c {b['client_cpus']} env")
    c = units["c", 1]
    assert c["server_command"] is None and "--host elsewhere:7" in c["client_command"]


def test_runs_do_not_share_a_folder(programs: Path) -> None:
    for process in [start(programs) for _ in range(2)]:
        assert finish(process)[0] == 0
    assert len(list((programs.parent / "results").iterdir())) == 2


def test_repetitions_and_seed_of_the_command_line(programs: Path) -> None:
    assert finish(start(programs, "--repetitions", "1", "--seed", "8"))[0] == 0
    manifest = manifest_of(only_folder(programs))
    assert (manifest["seed"], manifest["repetitions"]) == (8, 1)
    assert manifest["order"] == [unit.stem for unit in make_order(parse(TOML, "x"), 1, 8)] == ran(programs)


def test_a_resumed_run_does_what_is_missing_only(programs: Path, done: Path) -> None:
    kept = {path: path.stat().st_mtime_ns for path in done.glob("raw/*/*.json")}
    (done / "raw/a/02.json").unlink()
    cut = done / "raw/b/01.json"
    data = json.loads(cut.read_text())
    data["context"]["partial"] = True
    cut.write_text(json.dumps(data))
    status, stdout, stderr = finish(start(programs, "--resume", str(done)))
    assert status == 0, stderr
    expected = [unit.stem for unit in make_order(parse(TOML, "x"), 2, 7) if unit.stem in ("a/02", "b/01")]
    assert ran(programs) == expected
    assert "4 of 6 units are there already" in stderr
    assert set(statuses(done).values()) == {"ok"} and "?" not in stdout.split("Medians")[0].split("marks")[1]
    assert not load_document(cut).partial
    assert load_document(done / "raw/b/01.json.1").partial  # what was there is not lost
    untouched = [path for path in kept if path.parent.name + "/" + path.stem not in ("a/02", "b/01")]
    assert all(path.stat().st_mtime_ns == kept[path] for path in untouched)
    manifest = manifest_of(done)
    assert len(manifest["resumed"]) == 1 and manifest["resumed"][0]["changed"] == [] and not manifest["partial"]


def test_a_resumed_run_with_nothing_left(programs: Path, done: Path) -> None:
    status, stdout, _ = finish(start(programs, "--resume", str(done)))
    assert status == 0 and "A title" in stdout
    assert not (programs / "clients").exists()


def test_what_failed_is_run_again(programs: Path) -> None:
    status, _, _ = finish(
        start(programs, STANDIN_FAILS="a/01", STANDIN_GARBLES="b/02", STANDIN_HAS_ERRORS="c/01")
    )
    folder = only_folder(programs)
    (programs / "clients").unlink()
    assert status == 1
    assert finish(start(programs, "--resume", str(folder)))[0] == 0
    assert sorted(ran(programs)) == ["a/01", "b/02", "c/01"]
    assert (folder / "raw/c/01.json.1").exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("10ms", "20ms", 'experiment.interval was "10ms" and is "20ms"'),
        ('"thing"', '"else"', 'variant[1].client_env.SOME was "thing" and is "else"'),
        ('flags = "--api cq"', "", 'server.flags was "--api cq" and is gone'),
        ('name = "a"', 'name = "a"\nbuild = "sid"', 'variant[0].build is new: "sid"'),
    ],
)
def test_a_changed_experiment_is_not_resumed(programs: Path, done: Path, old: str, new: str, said: str) -> None:
    before = (done / "manifest.json").read_bytes()
    (programs.parent / "try.toml").write_text(TOML.replace(old, new, 1))
    status, stdout, stderr = finish(start(programs, "--resume", str(done)))
    assert (status, stdout, stderr.count("\n")) == (2, "", 1)
    assert said in stderr
    assert (done / "manifest.json").read_bytes() == before


def test_differences_in_lists_of_other_lengths() -> None:
    assert list(differences({"a": [1]}, {"a": [1, 2]}, "")) == ["a was [1] and is [1, 2]"]
    assert list(differences({"a": [1]}, {"a": [1]}, "")) == []


@pytest.mark.parametrize(
    ("flags", "said"),
    [(["--seed", "8"], "argument --seed: 8 is not what"), (["--repetitions", "3"], "argument --repetitions: 3 is not")],
)
def test_a_resumed_run_keeps_seed_and_repetitions(programs: Path, done: Path, flags: list[str], said: str) -> None:
    status, _, stderr = finish(start(programs, "--resume", str(done), *flags))
    assert (status, stderr.count("\n")) == (2, 1) and said in stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: m.update(units=[{**m["units"][0], "variant": "../x"}]), "'units' is not a list of this"),
        (lambda m: m.update(units=[]), "'units' is not a list of this"),
        (lambda m: m.update(manifest_version=9), "manifest_version is 9"),
        (lambda m: m.pop("experiment"), "it has no 'experiment'"),
        (lambda m: m.pop("seed"), "'seed' or 'machine' is missing"),
    ],
)
def test_manifests_that_are_none(programs: Path, done: Path, change: Any, said: str) -> None:
    manifest = manifest_of(done)
    change(manifest)
    (done / "manifest.json").write_text(json.dumps(manifest))
    status, _, stderr = finish(start(programs, "--resume", str(done)))
    assert (status, stderr.count("\n")) == (2, 1) and said in stderr


def test_folders_that_cannot_be_resumed(programs: Path) -> None:
    for text, said in ((None, "No such file"), ("{", "not JSON")):
        folder = programs.parent / "other"
        folder.mkdir(exist_ok=True)
        if text:
            (folder / "manifest.json").write_text(text)
        status, _, stderr = finish(start(programs, "--resume", str(folder)))
        assert (status, stderr.count("\n")) == (2, 1) and said in stderr


def test_one_run_at_a_time_in_a_folder(programs: Path, done: Path) -> None:
    descriptor = os.open(done, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    status, _, stderr = finish(start(programs, "--resume", str(done)))
    os.close(descriptor)
    assert status == 2 and "another experiment.sh is running in it" in stderr


def test_another_machine_is_noted(programs: Path, done: Path) -> None:
    manifest = manifest_of(done)
    manifest["machine"]["cpu_model"] = "abacus"
    (done / "manifest.json").write_text(json.dumps(manifest))
    _, _, stderr = finish(start(programs, "--resume", str(done)))
    assert "not as it was when this began: cpu_model" in stderr
    assert manifest_of(done)["resumed"][0]["changed"] == ["cpu_model"]


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("FAILS", "grpc_ping_client: it broke (exit status 1)"),
        ("HAS_ERRORS", "FAILED: a, repetition 1: exit status 1"),
        ("IS_SILENT", "the client wrote no result"),
        ("GARBLES", "not JSON"),
        ("KILLS_SERVER", "lost it (exit status 1); the server had ended: listening on"),
    ],
)
def test_a_unit_that_fails_is_reported_and_the_rest_goes_on(programs: Path, what: str, said: str) -> None:
    status, stdout, stderr = finish(start(programs, **{f"STANDIN_{what}": "a/01"}))
    folder = only_folder(programs)
    assert status == 1
    assert {unit for unit, s in statuses(folder).items() if s == "failed"} == {"a/01"}
    assert sorted(ran(programs)) == sorted(UNITS)
    assert "\nFAILED: a, repetition 1: " in stdout and said in stdout
    assert said.removeprefix("FAILED: a, repetition 1: ") in stderr
    assert not manifest_of(folder)["partial"] and "PARTIAL" not in stdout
    if what == "FAILS":
        (entry,) = [u for u in manifest_of(folder)["units"] if u["status"] == "failed"]
        assert entry["last_lines"] == ["first line", "grpc_ping_client: it broke"] and said == entry["reason"]
        assert "==     first line\n" in stderr
    assert_no_server(programs)


def test_a_server_that_does_not_start_fails_its_variant_only(programs: Path) -> None:
    text = TOML.replace('name = "a"\n', 'name = "a"\nserver_flags = "--broken"\n')
    (programs.parent / "try.toml").write_text(text)
    status, stdout, stderr = finish(start(programs))
    folder = only_folder(programs)
    assert status == 1
    assert {unit for unit, s in statuses(folder).items() if s == "failed"} == {"a/01", "a/02"}
    assert "FAILED: a, repetition 1: cannot start the server: the server ended with status 1: no luck" in stdout
    assert "==     a\n==     no luck\n" in stderr
    assert "a/01" not in ran(programs) and "b/01" in ran(programs)


def test_ctrl_c_keeps_what_was_measured_and_can_be_resumed(programs: Path) -> None:
    order = [unit.stem for unit in make_order(parse(TOML, "x"), 2, 7)]
    third = next(unit for unit in order[2:] if not unit.startswith("c"))
    at = order.index(third)
    process = start(programs, STANDIN_WAITS=third)
    wait_for(programs / "waiting")
    process.send_signal(signal.SIGINT)
    status, stdout, _ = finish(process)
    folder = only_folder(programs)
    assert status == 130
    said = f"PARTIAL: {6 - at} of 6 units are missing; --resume {folder} runs them"
    assert said in stdout and said in (folder / "summary.txt").read_text()
    assert manifest_of(folder)["partial"] and manifest_of(folder)["ended"]
    expected = ["ok"] * at + ["interrupted"] + ["pending"] * (5 - at)
    assert list(statuses(folder).values()) == expected
    assert load_document(folder / f"raw/{third}.json").partial
    assert_no_server(programs)
    (programs / "clients").unlink()
    assert finish(start(programs, "--resume", str(folder)))[0] == 0
    assert ran(programs) == order[at:]
    assert not manifest_of(folder)["partial"]


def test_sigterm_in_the_last_unit_ends_with_its_own_status(programs: Path) -> None:
    last = make_order(parse(TOML, "x"), 2, 7)[-1].stem
    process = start(programs, STANDIN_WAITS=last)
    wait_for(programs / "waiting")
    process.send_signal(signal.SIGTERM)
    status, stdout, _ = finish(process)
    assert status == 143 and "PARTIAL: 1 of 6 units" in stdout
    assert manifest_of(only_folder(programs))["partial"]
    assert_no_server(programs)


def test_a_killed_run_leaves_no_server_and_can_be_resumed(programs: Path) -> None:
    process = start(programs, STANDIN_WAITS="a/01")
    wait_for(programs / "waiting")
    process.kill()
    finish(process)
    assert_no_server(programs)
    folder = only_folder(programs)
    assert manifest_of(folder)["partial"]
    assert finish(start(programs, "--resume", str(folder)))[0] == 0
    assert set(statuses(folder).values()) == {"ok"}
    assert ran(programs).count("a/01") == 2 and len(ran(programs)) == 7


def test_the_sid_build_answers_on_standard_output(programs: Path, tmp_path: Path) -> None:
    """A stand-in for newgrpc.sh that runs the program beside it."""
    script = programs / "newgrpc.sh"
    script.write_text(f'#!/bin/sh\nshift\ncd /\nPATH={programs}:$PATH exec "$@"\n')
    script.chmod(0o755)
    text = TOML.split("[[variant]]")[0] + '[[variant]]\nname = "new"\nbuild = "sid"\nclient_env = { SOME = "x" }\n'
    experiment = parse(text, "x.toml")
    placements = {"new": place(experiment, experiment.variants[0], read_machine(), "", "")}
    manifest = Manifest.new(tmp_path, experiment, make_order(experiment, 1, 1), 1, {})
    previous = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        Runner(experiment, placements, Programs(programs, script), manifest, Interrupt()).run()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    assert statuses(tmp_path) == {"new/01": "ok"}, manifest.data
    assert load_document(tmp_path / "raw/new/01.json").grpc_version == "1.51.1"
    assert (programs / "clients").read_text() == "sid/01 x\n"


@pytest.mark.parametrize("columns", [80, 0])  # 0: the terminal does not know
def test_a_terminal_gets_a_bar_with_the_time_left(columns: int, programs: Path) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", columns and 24, columns, 0, 0))
    process = subprocess.Popen(
        command(programs), stdout=subprocess.DEVNULL, stderr=theirs, env=environment(STANDIN_FAILS="a/01")
    )
    os.close(theirs)
    seen = b""
    try:
        while chunk := os.read(ours, 4096):
            seen += chunk
    except OSError:  # a terminal that nobody has open any more
        pass
    os.close(ours)
    assert process.wait(60) == 1
    text = seen.decode()
    assert re.search(r"\[1/6\] \w, repetition 1 +\|.*\| +\d+ %, \d\d:\d\d gone, [\d:?]+ left", text)
    assert "100 %, " in text
    assert "a, repetition 1: FAILED: " in text  # said beside the bar
    assert text.count("req/s at") == 0  # what went well is not


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--foo"], "--foo"),
        (["--repetitions", "0"], "argument --repetitions: '0' is not an integer from 1 to 1000"),
        (["--seed", "x"], "argument --seed: 'x' is not an integer from 0"),
        (["--bin", "/nowhere"], "argument --bin: '/nowhere' has no program grpc_ping_server"),
        (["--resume", "/nowhere", "--results", "x"], "argument --results: 'x' is not accepted beside --resume"),
        (["--resume", "/nowhere"], "/nowhere/manifest.json: No such file"),
    ],
)
def test_usage_is_one_line_and_status_2(programs: Path, flags: list[str], said: str) -> None:
    status, stdout, stderr = finish(start(programs, *flags))
    assert (status, stdout, stderr.count("\n")) == (2, "", 1)
    assert said in stderr and stderr.startswith("experiment.sh: ")
    assert not (programs.parent / "results").exists()


def test_cpus_are_checked_before_anything_is_started(programs: Path) -> None:
    status, _, stderr = finish(start(programs, SERVER_CPUS="0-x"))
    assert status == 2 and stderr.startswith("experiment.sh: SERVER_CPUS: '0-x'")
    assert not (programs.parent / "results").exists()


def ask(*arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "cqbench.experiment", *arguments],
        capture_output=True, text=True, env=environment(), timeout=60, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


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
    assert status == 0 and "Order (seed 7)" in stdout and "2 repetitions = 6 units" in stdout
    assert not (programs.parent / "results").exists() and not (programs / "clients").exists()
    assert ask("headline", "--plan")[0] == 0


def test_names_that_are_none() -> None:
    for arguments, said in ((("nonsense",), "'nonsense' is not an experiment: c"), ((), "is missing")):
        status, stdout, stderr = ask(*arguments)
        assert (status, stdout, stderr.count("\n")) == (2, "", 1) and said in stderr
    status, _, stderr = ask("/no/such.toml")
    assert status == 2 and "/no/such.toml: No such file" in stderr


def test_what_is_needed_is_named_for_the_script() -> None:
    assert ask("headline", "--needs")[1] == "build release\n"
    assert ask("grpc-versions", "--needs")[1] == "build release\nbuild sid\n"
    assert ask("wan-5ms", "--needs")[1].startswith("build release\ntoxiproxy 2.")


def test_with_the_real_programs(tmp_path: Path) -> None:
    folder = real_programs()
    text = TOML.replace('interval = "10ms"', "interval = 0.2").split('[[variant]]\nname = "c"')[0]
    (tmp_path / "real.toml").write_text(text.replace("[1, 4, 16]", "[1, 4]"))
    status, stdout, stderr = ask(
        str(tmp_path / "real.toml"), "--bin", str(folder), "--results", str(tmp_path / "r"), "--repetitions", "1"
    )
    assert status == 0, stderr + stdout
    (results,) = (tmp_path / "r").iterdir()
    assert statuses(results) == {"a/01": "ok", "b/01": "ok"}
    for variant, api in (("a", "sync"), ("b", "cq")):
        document = load_document(results / f"raw/{variant}/01.json")
        assert (document.api, [p.inflight for p in document.points]) == (api, [1, 4])
        assert all(p.throughput for p in document.points)
    assert manifest_of(results)["versions"]["cqbench_version"]
