"""cqbench run as a process, with stand-ins for the two programs, and once with the real ones."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from cqbench.experiment.order import PlannedRun
from cqbench.experiment.plan import place
from cqbench.experiment.spec import parse
from cqbench.formats.offered import closed
from cqbench.formats.result import load as load_document
from cqbench.formats.runs import read_all
from cqbench.measure.cpus import read_machine
from cqbench.measure.processes import Interrupt
from cqbench.measure.programs import Programs
from cqbench.model.series import load_series
from cqbench.run.journal import Journal
from cqbench.run.runner import Runner
from experiment_standin import (
    PLANNED,
    TOML,
    ask,
    assert_no_server,
    command,
    environment,
    finish,
    manifest_of,
    only_folder,
    order,
    ran,
    start,
    statuses,
    stem,
)
from result_schema import programs as real_programs


def test_a_whole_run(programs: Path) -> None:
    status, stdout, stderr = finish(start(programs))
    folder = only_folder(programs)
    assert status == 0, stderr
    assert folder.name.startswith("try-20")
    assert (folder / "summary.txt").read_text().startswith("try: A title\nDoes it?\ngRPC 1.51.1, ")
    assert stdout.startswith("try: A title\nDoes it?\n") and "PARTIAL" not in stdout
    assert stdout in (folder / "verdict.txt").read_text()  # which has every load besides
    assert sorted(ran(programs)) == sorted(PLANNED)
    lines = (programs / "clients").read_text().splitlines()
    assert {line[0]: line.split()[1:] for line in lines} == {"a": [], "b": ["thing"], "c": []}  # its variables
    blocks = [{entry[0] for entry in ran(programs)[i : i + 3]} for i in range(0, 12, 3)]
    assert blocks == [set("abc")] * 4  # what is compared is measured side by side
    assert all((folder / f"raw/{entry}.json").exists() for entry in PLANNED)
    assert len([line for line in stderr.splitlines() if " left" in line]) == 1  # no terminal: a line now and then
    assert "[12/12] " in stderr and "\r" not in stderr
    pids = (programs / "server.pids").read_text().split()
    assert len(pids) == len(set(pids)) == 8  # a fresh server each, none for the host
    counts = zip(ran(programs), (programs / "servers").read_text().split(), strict=True)
    assert all(count == ("0" if entry[0] == "c" else "1") for entry, count in counts)  # the last one is gone by then
    assert_no_server(programs)


def test_the_manifest(done: Path) -> None:
    manifest = manifest_of(done)
    assert manifest["experiment"]["experiment"]["interval"] == "10ms"
    assert (manifest["seed"], manifest["repetitions"], manifest["partial"]) == (7, 2, False)
    assert manifest["started"] <= manifest["ended"]
    assert manifest["versions"]["grpc_version"] == "1.51.1"
    assert {"uname", "cpu_model", "cpus", "governors"} <= set(manifest["machine"])
    assert manifest["machine"]["cpus"] == sorted(os.sched_getaffinity(0))
    assert order() == [stem(u) for u in manifest["runs"]]
    entries = {(u["configuration"], u["repetition"], u["load"]["inflight"]): u for u in manifest["runs"]}
    b = entries["b", 2, 4]
    assert (b["status"], b["exit_status"], b["file"]) == ("ok", 0, "raw/b/02-4.json") and "reason" not in b
    assert "env SOME=thing " in b["client_command"] and "--api cq --inflight-list 4 " in b["client_command"]
    assert b["client_env"] == {"SOME": "thing"} and b["other_cpus"] >= 0
    assert b["server_command"].endswith("grpc_ping_server --api cq --port 0")
    assert b["server_configuration"] == "gRPC 0, stand-in" and b["started"] <= b["ended"]
    if "client_cpus" in b:
        assert b["client_command"].startswith(f"taskset -c {b['client_cpus']} env")
    c = entries["c", 1, 1]
    assert "server_command" not in c and "--host elsewhere:7" in c["client_command"]


def test_runs_do_not_share_a_folder(programs: Path) -> None:
    for process in [start(programs) for _ in range(2)]:
        assert finish(process)[0] == 0
    assert len(list((programs.parent / "results").iterdir())) == 2


def test_repetitions_and_seed_of_the_command_line(programs: Path) -> None:
    assert finish(start(programs, "--repetitions", "1", "--seed", "8"))[0] == 0
    manifest = manifest_of(only_folder(programs))
    assert (manifest["seed"], manifest["repetitions"]) == (8, 1)
    assert [stem(u) for u in manifest["runs"]] == order(1, 8) == ran(programs)


def test_a_seed_that_nobody_names_is_drawn_and_noted(programs: Path) -> None:
    (programs.parent / "try.toml").write_text(TOML.replace("seed = 7\n", ""))
    assert finish(start(programs, "--repetitions", "1"))[0] == 0
    manifest = manifest_of(only_folder(programs))
    assert 0 <= manifest["seed"] < 1_000_000 and order(1, manifest["seed"]) == ran(programs)
    assert "seed" not in manifest["experiment"]["experiment"]
    status, _, stderr = finish(start(programs, "--resume", str(only_folder(programs))))
    assert status == 0, stderr


def test_the_manifest_has_a_line_for_each_run(done: Path) -> None:
    lines = (done / "manifest.json").read_text().splitlines()
    assert len([line for line in lines if line.startswith('    {"configuration": ')]) == 12


def test_the_other_commands_read_the_folder(done: Path) -> None:
    """A file for each point: repetitions are told by the files' names, and loads come in their order."""
    (series, *_) = [s for s in load_series(read_all([done])) if s.configurations == {"b"}]
    assert series.loads == [closed(1), closed(4)]
    assert [r.round.repetition for r in series.points[closed(4)] if r.round] == [1, 2]
    for words in (["verdict", done], ["compare", done, done], ["report", done]):
        program = [sys.executable, "-m", "cqbench.cli", *map(str, words)]
        process = subprocess.run(program, capture_output=True, text=True, env=environment(), check=False)
        assert process.returncode == 0, process.stderr


def test_other_programs_are_noted(tmp_path: Path) -> None:
    experiment = parse(TOML, "x")
    entries = [PlannedRun(name, 1, load) for name in "abc" for load in experiment.loads]
    journal = Journal.new(tmp_path, experiment, entries, 1, {"notes": ["it was night"]}, {})
    limits = {"a": 0.2, "b": 0.2, "c": 0.5}
    for entry, others in zip(entries, (0.1, 0.3, 0.5, None, 0.4, 0.0), strict=True):
        journal.record(entry).other_cpus = others
    for _ in range(2):  # once more, as when resumed: it is said once
        journal.note_other_load(limits)
        assert journal.manifest.notes == ["it was night", "other programs used 0.4 CPUs during 2 of 5 runs"]
        assert journal.manifest.other_load and journal.manifest.other_load.runs == 2
    journal.record(entries[1]).other_cpus = journal.record(entries[2]).other_cpus = 0.0
    journal.note_other_load(limits)
    assert journal.manifest.notes == ["it was night"]


def test_the_sid_build_answers_on_standard_output(programs: Path, tmp_path: Path) -> None:
    """A stand-in for newgrpc.sh that runs the program next to it."""
    script = programs / "newgrpc.sh"
    script.write_text(f'#!/bin/sh\nshift\ncd /\nPATH={programs}:$PATH exec "$@"\n')
    script.chmod(0o755)
    text = (
        TOML.split("[[configuration]]")[0]
        + '[[configuration]]\nname = "new"\nbuild = "sid"\nclient_env = { SOME = "x" }\n'
    )
    experiment = parse(text, "x.toml")
    placements = {"new": place(experiment, experiment.configurations[0], read_machine(), "", "")}
    journal = Journal.new(tmp_path, experiment, [PlannedRun("new", 1, closed(4))], 1, {}, {})
    previous = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        Runner(experiment, placements, Programs(programs, script), journal, Interrupt()).run()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    assert statuses(tmp_path) == {"new/01-4": "ok"}, journal.manifest.text()
    assert load_document(tmp_path / "raw/new/01-4.json").grpc_version == "1.51.1"
    assert (programs / "clients").read_text() == "sid/01 x\n"


@pytest.mark.parametrize("columns", [80, 0])  # 0: the terminal does not know
def test_a_terminal_gets_a_bar_with_the_time_left(columns: int, programs: Path) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", columns and 24, columns, 0, 0))
    process = subprocess.Popen(
        command(programs), stdout=subprocess.DEVNULL, stderr=theirs, env=environment(STANDIN_FAILS="a/01-1")
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
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())  # without colours and movements
    assert re.search(r"\[1/12\] \w, \d in flight, repetition 1\s.*\s\d+ %, \d+ s left", text)
    assert "100 %, " in text
    assert "a, 1 in flight, repetition 1: FAILED: " in text  # in addition to the progress bar
    assert text.count("req/s") == 0  # what went well is not


def test_with_the_real_programs(tmp_path: Path) -> None:
    folder = real_programs()
    text = TOML.replace('interval = "10ms"', "interval = 1").split('[[configuration]]\nname = "c"')[0]
    (tmp_path / "real.toml").write_text(text)
    status, stdout, stderr = ask(
        str(tmp_path / "real.toml"), "--bin", str(folder), "--results", str(tmp_path / "r"), "--repetitions", "1"
    )
    assert status == 0, stderr + stdout
    (results,) = (tmp_path / "r").iterdir()
    assert statuses(results) == {f"{configuration}/01-{load}": "ok" for configuration in "ab" for load in (1, 4)}
    for configuration, api, load in (("a", "sync", 1), ("b", "cq", 4)):
        document = load_document(results / f"raw/{configuration}/01-{load}.json")
        assert (document.api, [p.inflight for p in document.points]) == (api, [load])
        assert all(p.throughput for p in document.points)
    assert manifest_of(results)["versions"]["cqbench_version"]
