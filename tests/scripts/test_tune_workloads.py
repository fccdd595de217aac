"""From candidates to flags, variables and lines to paste; what a run says in words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cqbench.analysis.tune import stages, workloads
from cqbench.analysis.tune.catalogue import Candidate, candidates
from cqbench.analysis.tune.workloads import Workload
from cqbench.experiment import spec
from cqbench.formats.offered import closed, open_loop
from cqbench.render.tune import as_json, text
from cqbench.render.tune.text import Heading
from cqbench.run import tune as session
from cqbench.run.tune import Measuring
from tune_simulated import OBJECTIVE, STEADY, setting, tune

WORKLOAD = Workload(("--api", "cq"), ("--api", "cq"), {"--num-cqs": "1", "--workers-per-cq": "1"})
HEADING = Heading(OBJECTIVE, "48 in flight", "1.51.1")


def one(name: str, **more: object) -> Candidate:
    return candidates(setting(name, **more))[0]


RETRIES = one("retries", key="grpc.enable_retries", values=["0"], end="client")
TARGET = one("target", key="grpc.optimization_target", values=["latency"], end="both", readers=[])
FUSE = one("fuse", kind="experiment", key="fuse_filters", values=["on"], end="both")
ENGINE = one("engine", kind="experiment", key="event_engine_client", values=["off"], end="client")
QUEUES = one("queues", kind="flag", key="--num-cqs", values=["2"], end="server", readers=None, code="twice")
MALLOC = one("malloc", kind="allocator", key="libx.so.2", values=[""], end="server", readers=None)
ARENAS = one("arenas", kind="environment", key="MALLOC_ARENA_MAX", values=["1"], end="both", readers=None)
ALL = (RETRIES, TARGET, FUSE, ENGINE, QUEUES, MALLOC, ARENAS)


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GRPC_EXPERIMENTS", "LD_PRELOAD", "MALLOC_ARENA_MAX"):
        monkeypatch.delenv(name, raising=False)


def test_a_configuration_has_the_workload_and_what_is_set_on_either_end() -> None:
    made = workloads.configuration("x", ALL, WORKLOAD)
    assert made["client_flags"] == [
        "--api", "cq", "--channel-arg=grpc.enable_retries=0", "--channel-arg=grpc.optimization_target=latency",
    ]  # fmt: skip
    assert made["server_flags"] == [
        "--api", "cq", "--num-cqs=2", "--workers-per-cq=1", "--channel-arg=grpc.optimization_target=latency",
    ]  # fmt: skip
    experiments = "fuse_filters,-event_engine_client"
    assert made["client_env"] == {"MALLOC_ARENA_MAX": "1", "GRPC_EXPERIMENTS": experiments}
    assert made["server_env"] == {
        "MALLOC_ARENA_MAX": "1", "GRPC_EXPERIMENTS": "fuse_filters", "LD_PRELOAD": "libx.so.2",
    }  # fmt: skip


def test_what_is_in_lists_already_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRPC_EXPERIMENTS", "mine")
    made = workloads.configuration("x", [FUSE], WORKLOAD)
    assert made["client_env"]["GRPC_EXPERIMENTS"] == "mine,fuse_filters"
    assert "client, env:  export GRPC_EXPERIMENTS=fuse_filters" in workloads.paste([FUSE])


def test_lines_to_paste() -> None:
    assert workloads.paste([RETRIES, TARGET, QUEUES, MALLOC]) == [
        'client, C++:  args.SetInt("grpc.enable_retries", 0);',
        'client, C++:  args.SetString("grpc.optimization_target", "latency");',
        "client, here: grpc_ping_client --channel-arg=grpc.enable_retries=0 "
        "--channel-arg=grpc.optimization_target=latency",
        'server, C++:  builder.AddChannelArgument("grpc.optimization_target", "latency");',
        "server, C++:  twice",
        "server, env:  export LD_PRELOAD=libx.so.2",
        "server, here: grpc_ping_server --num-cqs=2 --channel-arg=grpc.optimization_target=latency",
    ]
    assert workloads.paste([TARGET], "server")[0].startswith("server, C++:")


def test_what_the_workload_says_is_not_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    api = one("api", kind="flag", key="--api", values=["callback"], end="client", readers=None)
    for flags in (("--api", "cq"), ("--api=cq",), ("--async",)):
        assert workloads.refusal(api, Workload(flags)) == "the workload says --api itself"
    assert workloads.refusal(api, Workload(("--workload", "echo"))) == ""
    for flags in (("--channel-arg", "grpc.enable_retries=1"), ("--channel-arg=grpc.enable_retries=1",)):
        assert workloads.refusal(RETRIES, Workload(flags)) == "the workload says grpc.enable_retries itself"
    same = one("same", kind="flag", key="--num-cqs", values=["1"], end="server", readers=None)
    assert workloads.refusal(same, WORKLOAD) == "it is so already" and workloads.refusal(QUEUES, WORKLOAD) == ""
    monkeypatch.setenv("MALLOC_ARENA_MAX", "3")
    assert workloads.refusal(ARENAS, WORKLOAD) == "the workload says MALLOC_ARENA_MAX itself"


def test_what_excludes_each_other() -> None:
    off, on = (one(f"r{v}", key="grpc.enable_retries", values=[v]) for v in "01")
    assert workloads.clash(off, on) and not workloads.clash(off, RETRIES) and not workloads.clash(FUSE, ENGINE)
    assert workloads.clash(one("a", group="g"), one("b", group="g"))
    assert stages.combined([off, on, RETRIES, off]) == (off, RETRIES)


def test_another_api_takes_no_queues() -> None:
    callback, cq = (
        one(f"api{v}", kind="flag", key="--api", values=[v], end="server", readers=None) for v in ("callback", "cq")
    )
    workload = Workload((), (), WORKLOAD.start)
    assert workloads.configuration("x", [callback], workload)["server_flags"] == ["--api=callback"]
    assert workloads.configuration("x", [cq], workload)["server_flags"][0] == "--num-cqs=1"
    assert workloads.clash(callback, QUEUES) and workloads.clash(QUEUES, callback) and not workloads.clash(cq, QUEUES)


@pytest.mark.parametrize("load", [closed(4), open_loop(2000.0)])
def test_a_stage_is_an_experiment_and_mirror_images_are_neighbours(load: object) -> None:
    measuring = Measuring(load, 0.1, 0.4, 7)  # type: ignore[arg-type]
    _, stage = stages.screen([RETRIES, FUSE, QUEUES, ARENAS], 2, 1)
    made = spec.make(session.tables(stage, WORKLOAD, measuring), "x")
    assert made.loads == (load,) and len(made.configurations) == 8 and made.repetitions == 2
    assert len({v.name.rpartition(".")[0] for v in made.configurations}) == 4


def test_nothing_is_said_plainly_with_what_would_have_been_found() -> None:
    shown = text.render(outcome := tune({"k5": 0.8}, 4, STEADY), HEADING)
    assert outcome.nothing and "NOTHING IS WORTH SETTING" in shown and "keep the defaults" in shown
    assert "would have been found four times of five" in shown and "WORTH SETTING, one by one" not in shown
    assert 1 < (text.detectable(outcome) or 0) < 1.01
    assert "k5: worse: at best 0.8" in shown and "CONTROLS: of 2 that nothing reads 0 came out" in shown


def test_the_json_says_what_was_asked_and_can_be_read_back(tmp_path: Path) -> None:
    asked = as_json.Asked(
        objective="throughput", inflight=48, budget_s=600, warmup_s=0.1, interval_s=0.4, seed=1, client=("--api", "cq"),
        server=(), start={"--num-cqs": "1"}, build="release", end="both", only=(), exclude=("x",), risk="some",
    )  # fmt: skip
    data = as_json.document(asked, HEADING, {"x": "--exclude"}, tune({"k1": 1.2}, 2, STEADY))
    (tmp_path / as_json.FILE).write_text(json.dumps(data, allow_nan=False))
    assert as_json.read(tmp_path) == asked and asked.load == closed(48)
    assert data["best_set"]["settings"] == ["k1"] and data["not_tried"] == {"x": "--exclude"}
    assert [e["name"] for e in data["screening"]][0] == "k1" and data["partial"] is None
