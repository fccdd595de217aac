"""Configurations with a proxy between client and server: stand-ins for the programs and the proxy, once the real
programs.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from cqbench.experiment import needs, plan
from cqbench.experiment.order import PlannedRun, make_order
from cqbench.experiment.plan import describe, place, proxy_cpus
from cqbench.experiment.spec import Experiment, parse
from cqbench.formats.result import load as load_document
from cqbench.measure import toxiproxy
from cqbench.measure.cpus import Placement, read_machine
from cqbench.measure.processes import Interrupt
from cqbench.measure.programs import Programs
from cqbench.run.journal import Journal
from cqbench.run.one import not_delayed
from cqbench.run.runner import Runner, facts_of
from experiment_standin import CHECKED, SERVER, finish, make_programs, start, wait_for
from result_schema import programs as real_programs
from test_experiment_file import HEAD
from test_toxiproxy import assert_no_proxy, make_standin

DATA = Path(__file__).parent / "data"
# Answers with a stored document whose calls took 7 ms each.
CLIENT = f"""#!{sys.executable}
import json, os, pathlib, sys, time
here = pathlib.Path(__file__).parent
{CHECKED}
host, port = sys.argv[sys.argv.index("--host") + 1].rsplit(":", 1)
(here / "clients").open("a").write(f"{{host}}:{{port}}\\n")
if os.environ.get("STANDIN_CLIENT") == "waits":
    (here / "waiting").touch()
    time.sleep(60)
if os.environ.get("STANDIN_PROXY") == "ends later":
    time.sleep(2)
    sys.exit("grpc_ping_client: lost it")
data = json.loads(pathlib.Path({str(DATA)!r}, "unary-sync-shared.json").read_text())
for point in data["benchmarks"]:
    point.update(completed=100 * point["inflight"], throughput_per_second=100 * point["inflight"] / 0.7)
pathlib.Path(sys.argv[sys.argv.index("--output") + 1]).write_text(json.dumps(data))
"""

NETWORKS = """
[[configuration]]
name = "direct"
[[configuration]]
name = "near"
added_rtt = "0ms"
[[configuration]]
name = "far"
added_rtt = "5ms"
"""
TOML = HEAD.replace("repetitions = 2", "repetitions = 1").replace("[1, 4]", "[1]") + NETWORKS


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(toxiproxy.VARIABLE, str(make_standin(tmp_path / "proxy")))
    return make_programs(tmp_path, SERVER, CLIENT, TOML)


def order(experiment: Experiment) -> list[PlannedRun]:
    return make_order([configuration.name for configuration in experiment.configurations], experiment.loads, 1, 1)


def run_here(bin_folder: Path, folder: Path, text: str = TOML) -> dict[str, dict[str, Any]]:
    """The manifest's entries by configuration."""
    experiment = parse(text, "x.toml")
    placements = {v.name: place(experiment, v, read_machine(), "", "") for v in experiment.configurations}
    journal = Journal.new(folder, experiment, order(experiment), 1, {}, facts_of(experiment, placements))
    previous = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        Runner(experiment, placements, Programs(bin_folder, Path("/none")), journal, Interrupt()).run()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    return {run.configuration: json.loads(run.line()) for run in journal.manifest.runs}


def test_the_client_is_sent_through_the_proxy(programs: Path, tmp_path: Path) -> None:
    entries = run_here(programs, tmp_path)
    assert {name: entry["status"] for name, entry in entries.items()} == dict.fromkeys(("direct", "near", "far"), "ok")
    hosts = {name: host_of(entry) for name, entry in entries.items()}
    assert hosts["direct"] == "localhost:7"  # where the stand-in of the server says it is
    assert hosts["near"].startswith("127.0.0.1:") and hosts["far"].startswith("127.0.0.1:")
    assert sorted((programs / "clients").read_text().split()) == sorted(hosts.values())
    asked = [json.loads(line) for line in (tmp_path / "proxy/asked").read_text().splitlines()]
    assert [body.get("upstream") for _, body in asked].count("localhost:7") == 2
    assert [body["attributes"] for path, body in asked if path.endswith("/toxics")] == [{"latency": 5}]
    assert_no_proxy(tmp_path / "proxy/toxiproxy-standin", 2)  # a fresh one each, gone with its run


def host_of(entry: dict[str, Any]) -> str:
    words = shlex.split(entry["client_command"])
    return words[words.index("--host") + 1]


def test_the_manifest_says_what_the_network_was(programs: Path, tmp_path: Path) -> None:
    entries = run_here(programs, tmp_path)
    assert "network" not in entries["direct"]
    network = entries["far"]["network"]
    assert (network["added_rtt_ms"], network["proxy"]) == (5, "toxiproxy standin")
    assert entries["near"]["network"]["added_rtt_ms"] == 0
    assert "toxiproxy-standin -host 127.0.0.1" in network["proxy_command"]
    if network["proxy_cpus"]:
        assert network["proxy_command"].startswith(f"taskset -c {network['proxy_cpus']} env LOG_LEVEL=info ")
    assert (tmp_path / "logs/far/01-1.proxy.log").exists() and not (tmp_path / "logs/direct/01-1.proxy.log").exists()


def test_the_manifest_says_which_variables_both_sides_had(programs: Path, tmp_path: Path) -> None:
    text = TOML.replace('name = "direct"', 'name = "direct"\nclient_env = { A = "1" }\nserver_env = { B = "2" }')
    entries = run_here(programs, tmp_path, text)
    assert (entries["direct"]["client_env"], entries["direct"]["server_env"]) == ({"A": "1"}, {"B": "2"})
    assert not {"client_env", "server_env"} & set(entries["far"])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("does not start", "cannot start the proxy: toxiproxy ended with status 1: proxy: no luck"),
        ("refuses", "cannot start the proxy: toxiproxy, POST /proxies: HTTP status 400"),
        ("ends later", "grpc_ping_client: lost it (exit status 1); the proxy had ended: it printed nothing"),
    ],
)
def test_a_proxy_that_fails_fails_its_runs_only(
    wrong: str, said: str, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANDIN_PROXY", wrong)
    text = TOML.replace('[[configuration]]\nname = "direct"\n', "") if wrong == "ends later" else TOML
    entries = run_here(programs, tmp_path, text)
    for name in ("near", "far"):
        assert entries[name]["status"] == "failed" and entries[name]["reason"].startswith(said), entries[name]["reason"]
    if "direct" in entries:
        assert entries["direct"]["status"] == "ok"
    if wrong == "does not start":
        assert entries["far"]["last_lines"] == ["first line", "proxy: no luck"]
    assert_no_proxy(tmp_path / "proxy/toxiproxy-standin", 2)


def test_a_client_that_fails_by_itself_is_not_the_proxys_fault(programs: Path, tmp_path: Path) -> None:
    (programs / "grpc_ping_client").write_text("#!/bin/sh\necho why >&2\nexit 1\n")
    assert {u["reason"] for u in run_here(programs, tmp_path).values()} == {"why (exit status 1)"}


def test_a_result_that_is_faster_than_the_proxy_is_no_result(programs: Path, tmp_path: Path) -> None:
    entries = run_here(programs, tmp_path, TOML.replace('"5ms"', '"8ms"'))
    said = "7 ms per call at 1 in flight, less than the 8 ms that were added"
    assert (entries["far"]["status"], entries["far"]["reason"]) == ("failed", said)
    assert (entries["near"]["status"], entries["direct"]["status"]) == ("ok", "ok")


def test_where_nothing_was_added_nothing_is_missing() -> None:
    document = load_document(DATA / "unary-sync-shared.json")
    assert not_delayed(document, None) == not_delayed(document, 0) == not_delayed(None, 5) == ""
    assert not_delayed(document, 1) == "0.365 ms per call at 1 in flight, less than the 1 ms that were added"


def test_calls_across_the_edges_of_the_window_may_be_one_more() -> None:
    document = load_document(DATA / "unary-sync-shared.json")
    (point, *_) = document.points
    for completed, said in ((22, False), (23, True)):  # 21 fit into 105 ms, and one
        changes = {"inflight": 1, "completed": completed, "throughput_per_second": completed / 0.105}
        one = document.model_copy(update={"points": [point.model_copy(update=changes)]})
        assert bool(not_delayed(one, 5)) is said
    nothing = point.model_copy(update={"completed": 0})
    assert not_delayed(document.model_copy(update={"points": [nothing]}), 5) == ""


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_proxy_outlives_the_runner(signum: signal.Signals, programs: Path, tmp_path: Path) -> None:
    (tmp_path / "try.toml").write_text(TOML.replace('[[configuration]]\nname = "direct"\n', ""))
    process = start(programs, STANDIN_CLIENT="waits")
    wait_for(programs / "waiting")
    process.send_signal(signum)
    status, _, stderr = finish(process)
    assert status == (-9 if signum == signal.SIGKILL else 128 + signum), stderr
    assert_no_proxy(tmp_path / "proxy/toxiproxy-standin")


def test_a_proxy_that_is_not_installed_ends_it_before_anything_is_measured(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(toxiproxy.VARIABLE, "/nowhere/toxiproxy")
    status, stdout, stderr = finish(start(programs))
    assert (status, stdout, stderr.count("\n")) == (2, "", 1)
    said = "cqbench run: CQBENCH_TOXIPROXY: '/nowhere/toxiproxy' is not a program, and configuration 'near' needs"
    assert stderr.startswith(said)
    assert not (tmp_path / "results").exists()


def test_what_the_script_has_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(toxiproxy.VARIABLE, raising=False)
    folder = str(toxiproxy.FOLDER)
    assert needs.lines(parse(TOML, "x")) == ["build release", f"toxiproxy {toxiproxy.VERSION} {folder}"]
    assert needs.lines(parse(HEAD + '[[configuration]]\nname = "a"\nbuild = "sid"\n', "x")) == ["build sid"]
    monkeypatch.setenv(toxiproxy.VARIABLE, "/usr/bin/toxiproxy-server")
    assert needs.lines(parse(TOML, "x")) == ["build release"]


def test_the_proxy_has_the_cpus_that_nobody_else_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1, 2, 3})
    assert proxy_cpus(Placement((0,), (1,), "")) == (2, 3)
    assert proxy_cpus(Placement((0, 1), (2, 3), "")) == (0, 1, 2, 3)
    assert proxy_cpus(Placement((), (1,), "")) == proxy_cpus(Placement((1,), (), "")) == ()


def test_the_plan_shows_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1})
    experiment = parse(TOML, "x")
    pinned, free = Placement((1,), (0,), "why"), Placement((), (), "why")
    programs = Programs(Path("/bin"), Path("/newgrpc"), Path("/toxiproxy"))
    placements = {"direct": pinned, "near": free, "far": pinned}
    text = describe(experiment, order(experiment), 1, placements, programs)
    assert "client on CPU 0, through a proxy on CPUs 0-1 that adds 5 ms to each round trip: why" in text
    assert "client not pinned, through a proxy that is not pinned, that adds 0 ms to each round trip: why" in text
    assert "taskset -c 0-1 env LOG_LEVEL=info /toxiproxy -host 127.0.0.1 -port API-PORT\n" in text
    assert text.count("/toxiproxy") == 2


def test_a_note_says_what_the_proxy_means_for_the_evidence() -> None:
    experiment = parse(TOML, "x")
    notes = {v.name: place(experiment, v, read_machine(), "", "").notes for v in experiment.configurations}
    assert plan.PROXY_NOTE in notes["far"] and plan.PROXY_NOTE in notes["near"]
    assert plan.PROXY_NOTE not in notes["direct"]


def test_with_the_real_programs(programs: Path, tmp_path: Path) -> None:
    """A call through the proxy takes 30 ms more, and the connections are as many as the policy promises."""
    text = TOML.replace("[1]", "[1, 4]").replace('"5ms"', '"30ms"').replace("interval = 0.1", "interval = 0.5")
    text = text.replace("repetitions = 1", 'repetitions = 1\nplacement = "none"')
    entries = run_here(real_programs(), tmp_path, text + '[client]\nflags = "--channel-policy local-pool"\n')
    assert {u["status"] for u in entries.values()} == {"ok"}, entries
    alone = {}
    for name in ("direct", "near", "far"):
        files = (tmp_path / f"raw/{name}/01-{load}.json" for load in (1, 4))
        points = [point for file in files for point in load_document(file).points]
        assert [(p.inflight, p.connections, p.failed) for p in points] == [(1, 1, 0), (4, 4, 0)]
        alone[name] = points[0].throughput or 0.0
    assert alone["far"] <= 1 / 0.030 + 2 < alone["near"] and alone["direct"] > 1 / 0.030 + 2
    assert_no_proxy(tmp_path / "proxy/toxiproxy-standin", 2)
