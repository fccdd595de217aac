"""Faults of an experiment: what its file may say, and that each does what it is called to the real programs."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from cqbench.experiment import needs, ranks
from cqbench.experiment.faults import Latency
from cqbench.experiment.spec import BadExperiment, Experiment, parse
from cqbench.formats.point import Measured
from cqbench.formats.runs import Run, read_all
from cqbench.measure import sockets, toxiproxy
from cqbench.measure.programs import Programs
from cqbench.measure.ranks.launch import NONE, Launch
from cqbench.model import setting
from cqbench.model.series import load_series
from experiment_standin import finish, start
from result_schema import programs
from test_experiment_network import run_here

HEAD = '''
[experiment]
name = "try"
title = "A title"
question = "Does it?"
rates = [300]
warmup = "50ms"
interval = "1200ms"
repetitions = 1
placement = "none"

[client]
flags = """
--api cq --arrivals constant --max-outstanding 1000 --deadline 300ms --time-bucket 10ms --no-evidence --max-error-rate 1
--channel-policy local-pool --max-channels 2 --channel-arg grpc.initial_reconnect_backoff_ms=100
"""

[server]
flags = "--api cq --workers-per-cq 8 --service-time 5ms --service-time-mode wait"
'''
AT = 0.5


def configurations(**settings: str) -> str:
    """The text of each: a table of settings, or a fault's alone."""
    texts = {
        name: s if "fault =" in s or "=" not in s else f"fault = {{ {s}, at = {AT} }}" for name, s in settings.items()
    }
    return HEAD + "".join(f'[[configuration]]\nname = "{name}"\n{text}\n' for name, text in texts.items())


def experiment(**settings: str) -> Experiment:
    return parse(configurations(**settings), "x.toml")


def test_what_a_fault_is() -> None:
    one = experiment(a='kind = "latency", lasts = "200ms", delay = "30ms"').configurations[0]
    assert isinstance(one.fault, Latency) and one.proxied
    assert (one.fault.kind, one.fault.at, one.fault.lasts, one.fault.delay) == ("latency", AT, 0.2, 30)
    assert not experiment(a='kind = "reset"').configurations[0].proxied


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('kind = "flood"', "configuration[0] ('a').fault.kind: \"flood\" is not one of 'reset', 'half-open'"),
        ("fault = { at = 0.2 }", "configuration[0] ('a').fault: 'kind' is missing"),
        ('kind = "stop"', "configuration[0] ('a').fault: 'lasts' is missing"),
        ('kind = "latency", lasts = 0.1', "configuration[0] ('a').fault: 'delay' is missing"),
        ('kind = "reset", lasts = 0.1', "configuration[0] ('a').fault: unknown key \"lasts\" (value 0.1); accepted"),
        ('kind = "stop", lasts = 0.7', "configuration 'a'.fault.at: 0.5 s is not accepted: it ends 1.2 s into"),
        ('kind = "reset", when = 1',
         "configuration[0] ('a').fault: unknown key \"when\" (value 1); accepted are kind, at"),
        ('fault = { kind = "reset" }\nhost = "x"',
         "configuration[0] ('a').fault.kind: \"reset\" is not accepted with host"),
        ('fault = { kind = "reset" }\nadded_rtt = "5ms"',
         "configuration[0] ('a').fault.kind: \"reset\" is not accepted with"),
        ('fault = { kind = "reset" }\nbuild = "sid"',
         "configuration[0] ('a').fault.kind: \"reset\" is not accepted with build"),
        ('servers = 0', "configuration[0] ('a').servers: 0 is not an integer from 1 to 16"),
        ('servers = 2\nhost = "x"', "configuration[0] ('a').servers: 2 is not accepted with host"),
        ('servers = 2\nfault = { kind = "latency", lasts = 0.1, delay = "5ms" }',
         "configuration[0] ('a').servers: 2 is not accepted with fault \"latency\""),
    ],
)  # fmt: skip
def test_what_is_refused(text: str, said: str) -> None:
    whole = HEAD + f'[[configuration]]\nname = "a"\n{text}\n' if text.startswith("servers") else configurations(a=text)
    with pytest.raises(BadExperiment) as error:
        parse(whole, "x.toml")
    assert str(error.value).startswith(f"x.toml: {said}"), error.value


def test_counting_has_windows_of_its_own() -> None:
    with pytest.raises(BadExperiment, match="'a'.fault.kind: \"reset\" is not accepted with experiment.counting"):
        parse(configurations(a='kind = "reset"').replace("[experiment]", "[experiment]\ncounting = true"), "x.toml")


def test_what_a_fault_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(toxiproxy.VARIABLE, raising=False)
    slow = experiment(a='kind = "bandwidth", lasts = 0.1, kbytes_per_second = 10', b='kind = "reset"')
    assert any(line.startswith("toxiproxy ") for line in needs.lines(slow))
    assert needs.lines(experiment(a='kind = "reset"')) == ["build release"]
    monkeypatch.setattr(sockets, "why_not", lambda: "pidfd_getfd: Operation not permitted")
    mixed = experiment(a='kind = "reset"', b='kind = "stop", lasts = 0.1')
    unmet = needs.check(mixed, Programs(programs(), Path("/none")))
    assert unmet == {"a": "another process's socket cannot be taken hold of: pidfd_getfd: Operation not permitted"}
    with pytest.raises(BadExperiment, match="--ranks: 2 is not accepted: configuration 'a' has a fault"):
        ranks.check(Launch(("", ""), NONE, (), "", ""), mixed)


FAULTS = {
    "reset": 'kind = "reset"',
    "half-open": 'kind = "half-open"',
    "restart": 'kind = "restart"',
    "restart-wait": 'client_flags = "--wait-for-ready"\nfault = { kind = "restart", at = 0.5 }',
    "goaway": 'kind = "goaway"',
    "stop": 'kind = "stop", lasts = 0.2',
    "gone": 'servers = 2\nfault = { kind = "gone", lasts = 0.2, at = 0.5 }',
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, dict[str, Any]], dict[str, Run]]:
    """By configuration: what the manifest says, and the result."""
    if why := sockets.why_not():
        pytest.skip(f"another process's socket cannot be taken hold of: {why}")
    folder = tmp_path_factory.mktemp("faults")
    entries = run_here(programs(), folder, configurations(**FAULTS))
    (folder / "manifest.json").write_text(json.dumps({"manifest_version": 3, "runs": list(entries.values())}))
    return entries, {run.configuration: run for run in read_all([folder])}


def statuses(run: Run) -> dict[str, int]:
    return {error.code: error.count for error in point_of(run).failed_calls}


def point_of(run: Run) -> Measured:
    (point,) = run.points()
    return point


def test_each_happens_when_it_is_to(ran: tuple[dict[str, dict[str, Any]], dict[str, Run]]) -> None:
    entries, runs = ran
    assert {name: entry["status"] for name, entry in entries.items()} == dict.fromkeys(FAULTS, "ok"), entries
    for name, entry in entries.items():
        fault = entry["fault"]
        assert AT - 0.001 <= fault["began_s"] < AT + 0.5, name
        assert ("ended_s" in fault) is (name != "half-open")
        assert setting.of(runs[name]).get("fault") == fault["words"]
        assert len(point_of(runs[name]).bucket_completed) == 120
    assert AT + 0.2 - 0.001 <= entries["stop"]["fault"]["ended_s"] < AT + 1


def test_each_is_what_it_is_called(ran: tuple[dict[str, dict[str, Any]], dict[str, Run]]) -> None:
    _, runs = ran
    failed = {name: statuses(run) for name, run in runs.items()}
    # One of two connections: half of what was under way, which is little; everything that follows over it.
    assert set(failed["reset"]) <= {"UNAVAILABLE"}
    assert set(failed["half-open"]) == {"DEADLINE_EXCEEDED"}
    assert failed["restart"]["UNAVAILABLE"] > failed["restart-wait"].get("UNAVAILABLE", 0)
    assert failed["goaway"].get("UNAVAILABLE", 0) == 0
    assert (point_of(runs["stop"]).max_ns or 0) >= 100e6
    assert failed["gone"]["UNAVAILABLE"] > 0 and setting.of(runs["gone"]).get("servers") == "2"
    assert setting.of(runs["restart-wait"]).get("wait_for_ready") == "yes"
    for name in ("restart", "half-open", "gone"):
        by_code = point_of(runs[name]).bucket_failed_by_code
        assert [sum(each) for each in zip(*by_code.values(), strict=True)] == point_of(runs[name]).bucket_failed
    assert sum(point_of(runs["half-open"]).bucket_completed[-20:]) > 0, "the other connection goes on"


def test_nothing_is_judged_of_what_was_made_to_fail(ran: tuple[dict[str, dict[str, Any]], dict[str, Run]]) -> None:
    (series,) = load_series([ran[1]["goaway"]])
    assert not series.loads and [left.why for left in series.left_out] == ["goaway was made to happen in it"]


def children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def stands_still(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    except OSError:
        return False


def test_an_interrupt_leaves_no_server_that_stands_still(tmp_path: Path) -> None:
    text = configurations(a='kind = "stop", lasts = 40').replace('"1200ms"', '"60s"').replace("--time-bucket 10ms", "")
    (tmp_path / "try.toml").write_text(text)
    (tmp_path / "bin").symlink_to(programs().resolve())
    run = start(tmp_path / "bin")
    try:
        give_up_at = time.monotonic() + 30
        while not (still := [pid for pid in children(run.pid) if stands_still(pid)]):
            assert time.monotonic() < give_up_at and run.poll() is None
            time.sleep(0.02)
        everyone = children(run.pid)
        run.send_signal(signal.SIGINT)
        assert finish(run)[0] == 130
        assert len(still) == 1 and not any(Path(f"/proc/{pid}").exists() for pid in everyone)
    finally:
        run.kill()
        run.wait()


def test_a_network_that_is_slow_for_a_while(tmp_path: Path) -> None:
    if not toxiproxy.program().exists():
        pytest.skip(f"{toxiproxy.program()} is not installed: scripts/experiment.sh faults does it")
    slow = 'kind = "latency", lasts = 0.2, delay = "100ms"'
    text = configurations(far=slow, narrow='kind = "bandwidth", lasts = 0.2, kbytes_per_second = 1')
    entries = run_here(programs(), tmp_path, text)
    assert {entry["status"] for entry in entries.values()} == {"ok"}, entries
    (tmp_path / "manifest.json").write_text(json.dumps({"manifest_version": 3, "runs": list(entries.values())}))
    for run in read_all([tmp_path]):
        longest = point_of(run).bucket_latency_max_ns
        assert max(longest[50:75]) >= 100e6, run.configuration
        assert sum(point_of(run).bucket_completed[100:]) > 0, "it is lifted again"
