"""The order, the placement and the command lines; and that the shipped experiments are what they promise."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from cqbench.experiment import flags, ranks
from cqbench.experiment.order import PlannedRun, make_order
from cqbench.experiment.plan import (
    client_command,
    describe,
    patience_seconds,
    place,
    run_seconds,
    server_command,
    size,
)
from cqbench.experiment.spec import Experiment, load, parse
from cqbench.formats.offered import closed, load_from_json, load_to_json, open_loop
from cqbench.measure import layout
from cqbench.measure.cpus import BadCpuList, Cpu, Placement
from cqbench.measure.programs import Programs
from cqbench.measure.ranks.hosts import HERE
from cqbench.measure.ranks.launch import NONE, Launch
from cqbench.run.chosen import shipped
from result_schema import programs as real_programs
from test_experiment_file import HEAD

MACHINE = tuple(Cpu(n, n) for n in range(4))
PROGRAMS = Programs(Path("/bin-dir"), Path("/newgrpc.sh"))
NAMES = [path.stem for path in shipped().values()]
FOUR = "".join(f'[[configuration]]\nname = "{name}"\n' for name in "abcd")


def experiment_of(text: str) -> Experiment:
    return parse(HEAD + text, "x.toml")


def only(settings: str, head: str = "") -> Experiment:
    return experiment_of(f'{head}\n[[configuration]]\nname = "one"\n{settings}')


def test_what_is_compared_is_measured_side_by_side_in_an_order_of_its_own() -> None:
    loads = (closed(1), closed(4), closed(16))
    planned = make_order("abcd", loads, repetitions=20, seed=7)
    assert len(planned) == len(set(planned)) == 240
    assert [u.repetition for u in planned] == [r for r in range(1, 21) for _ in range(12)]
    blocks = [planned[i : i + 4] for i in range(0, 240, 4)]
    assert all(
        len({u.load for u in block}) == 1 and {u.configuration for u in block} == set("abcd") for block in blocks
    )
    assert len({tuple(u.configuration for u in block) for block in blocks}) > 10
    assert len({tuple(block[0].load for block in blocks[i : i + 3]) for i in range(0, 60, 3)}) > 3
    first = Counter(block[0].configuration for block in blocks)
    assert min(first[name] for name in "abcd") > 5  # nobody is always late


def test_twins_are_neighbours() -> None:
    names = [f"{mode}.{api}.{how}" for mode in "us" for api in "xyz" for how in ("shared", "pool", "separate")]
    planned = make_order(names, (closed(1), closed(4)), 20, 7)
    blocks = [[u.configuration for u in planned[i : i + 3]] for i in range(0, len(planned), 3)]
    assert all(len({name.rpartition(".")[0] for name in block}) == 1 for block in blocks)
    assert len({tuple(name.rpartition(".")[2] for name in block) for block in blocks}) == 6  # in every order
    assert len({tuple(block[0][:3] for block in blocks[i : i + 6]) for i in range(0, len(blocks), 6)}) > 30


def test_the_seed_decides_the_order() -> None:
    loads = (closed(1), closed(4))
    assert make_order("abcd", loads, 5, 7) == make_order("abcd", loads, 5, 7)
    assert make_order("abcd", loads, 5, 7) != make_order("abcd", loads, 5, 8)
    # More repetitions are a longer run of the same order.
    assert make_order("abcd", loads, 9, 7)[:40] == make_order("abcd", loads, 5, 7)


def test_names_of_files() -> None:
    assert PlannedRun("a.b", 3, closed(8)).file == "raw/a.b/03-8.json"
    assert PlannedRun("a.b", 300, open_loop(2000)).file == "raw/a.b/300-rate-2000.json"


def test_a_load_is_the_same_when_it_is_read_again() -> None:
    for one in (closed(8), open_loop(20.5)):
        assert load_from_json(json.loads(json.dumps(load_to_json(one)))) == one
    assert [load_from_json(x) for x in (None, {}, {"inflight": "8"}, {"rate": True}, {"x": 1})] == [None] * 5


def placed(chosen: Experiment, server: str = "", client: str = "") -> Placement:
    return place(chosen, chosen.configurations[0], MACHINE, server, client)


def test_placement() -> None:
    assert placed(only("")).server == (2, 3)
    assert placed(only("", "placement = 'pair'")).server == (1,)
    assert placed(only("", "placement = 'none'")).server == ()
    chosen = placed(only("", "placement = { server_cpus = '0', client_cpus = '3' }"))
    assert (chosen.server, chosen.client, chosen.why) == ((0,), (3,), "as experiment.placement says")
    assert placed(only("", "placement = { server_cpus = '0' }")).client == (1, 2, 3)


def test_who_decides_the_placement() -> None:
    given = only("", "placement = 'none'")
    assert placed(given, "1", "2").server == (1,)  # the environment beats the experiment ...
    own = only("pinning = { server_cpus = '0', client_cpus = '3' }")
    assert placed(own, "1", "2").server == (0,)  # ... and the configuration's own beats both: it is what is compared


def test_a_remote_server_leaves_the_machine_to_the_client() -> None:
    far = only("host = 'there'")
    assert (placed(far).server, placed(far).client) == ((), (0, 1, 2, 3))
    assert placed(far, "0", "2").client == (2,)
    assert placed(far, "0").client == (0, 1, 2, 3)
    assert placed(only("host = 'there'", "placement = 'none'"), "0").client == ()


def test_cpus_that_are_not_there_are_named() -> None:
    with pytest.raises(BadCpuList, match="configuration 'one'.pinning.client_cpus: CPU 9 cannot be used"):
        placed(only("pinning = { client_cpus = '9' }"))
    with pytest.raises(BadCpuList, match="experiment.placement.server_cpus: '1-' is not a list"):
        placed(only("", "placement = { server_cpus = '1-' }"))


def test_command_lines() -> None:
    chosen = only("client_flags = '--api cq'\nserver_flags = '--poll spin'\nclient_env = { A = 'x y' }")
    (configuration,) = chosen.configurations
    placement = Placement((1,), (), "")
    server = server_command(chosen, configuration, placement, PROGRAMS)
    assert server == ["taskset", "-c", "1", "/bin-dir/grpc_ping_server", "--poll", "spin"]
    client = client_command(chosen, configuration, placement, PROGRAMS, "4", "h:1", Path("raw/out.json"))
    assert client == (
        ["env", "A=x y", "/bin-dir/grpc_ping_client", "--host", "h:1", "--api", "cq", "--inflight-list", "4"]
        + ["--warmup", "0.05", "--interval", "0.1", "--format", "json", "--output", "raw/out.json"]
    )


def test_the_sid_build_is_run_through_its_script_and_writes_to_standard_output() -> None:
    chosen = only("build = 'sid'\nserver_env = { A = '1' }")
    (configuration,) = chosen.configurations
    server = server_command(chosen, configuration, Placement((), (), ""), PROGRAMS)
    assert server == ["/newgrpc.sh", "--run", "env", "A=1", "grpc_ping_server"]
    client = client_command(chosen, configuration, Placement((), (3,), ""), PROGRAMS, "4", "h:1", Path("out"))
    assert client[:6] == ["taskset", "-c", "3", "/newgrpc.sh", "--run", "grpc_ping_client"]
    assert "--output" not in client


def test_the_posts_layout_follows_the_servers_cpus() -> None:
    chosen = only("server_flags = '--poll spin'", "[server]\nlayout = 'post'\n")
    command = server_command(chosen, chosen.configurations[0], Placement(tuple(range(32)), (), ""), PROGRAMS)
    assert command[4:] == [*layout.server_layout(32), "--poll", "spin"]
    assert command[4:10] == ["--num-cqs", "8", "--workers-per-cq", "2", "--callbacks-per-cq", "10"]


def test_the_plan_shows_configurations_order_and_duration() -> None:
    chosen = only("client_flags = '--api cq'\nhost = 'there'")
    placements = {"one": placed(chosen)}
    text = describe(chosen, make_order(["one"], chosen.loads, 2, 7), 7, placements, PROGRAMS)
    assert text.startswith(
        "try: A title\nDoes it?\n1 configuration x 2 loads x 2 repetitions = 4 runs of 0.05 + 0.1 s: "
    )
    assert "server at there (not started here), client on CPUs 0-3" in text
    assert "--host there --api cq --inflight-list N" in text and "grpc_ping_server" not in text
    assert "\nOrder (seed 7)\n  1, " in text and "\n  1, 4 in flight: one\n" in text
    assert text.endswith("\n  and so on, each repetition in another order, up to 2\n")


# The shipped ones.


def test_the_experiments_that_are_promised_are_there() -> None:
    promised = {"headline", "ydb-full", "policies", "cq-layout", "threads", "pollers", "grpc-versions"}
    assert promised | {"wan-5ms", "connection-scaling"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_experiment_can_be_planned(name: str) -> None:
    chosen = load(shipped()[name])
    assert chosen.name == name
    assert chosen.question.endswith("?")
    placements = {v.name: place(chosen, v, MACHINE, "", "") for v in chosen.configurations}
    order = make_order([v.name for v in chosen.configurations], chosen.loads, chosen.repetitions, 1)
    text = describe(chosen, order, 1, placements, PROGRAMS)
    assert all(f"  {v.name}\n" in text for v in chosen.configurations)
    if not any(v.fault for v in chosen.configurations):
        ranks.check(Launch((HERE, HERE), NONE), chosen)  # by several clients, unchanged
    if name != "ydb-full":
        assert len(order) * run_seconds(chosen) < 660, size(chosen, chosen.repetitions)


def seconds_of(chosen: Experiment) -> float:
    return len(chosen.configurations) * len(chosen.loads) * chosen.repetitions * run_seconds(chosen)


def test_headline_is_every_api_and_mode_shared_and_separate_in_two_minutes() -> None:
    chosen = load(shipped()["headline"])
    policies, apis, modes = ("per-slot", "local-pool"), ("sync", "cq"), ((), ("--streaming",))
    wanted = {frozenset((*m, "--api", a, "--channel-policy", p)) for m in modes for a in apis for p in policies}
    assert {frozenset(v.client_flags) for v in chosen.configurations} == wanted and len(wanted) == len(
        chosen.configurations
    )
    assert chosen.budget_s == 120 > 1.4 * seconds_of(chosen), "some of it is left for what is inconclusive"


def test_a_client_may_take_longer_than_planned_to_connect_and_to_drain() -> None:
    chosen = experiment_of(FOUR)
    assert patience_seconds(chosen) >= run_seconds(chosen) + (5 + 2) + 30


def test_ydb_full_is_the_post() -> None:
    chosen = load(shipped()["ydb-full"])
    assert (chosen.loads, chosen.warmup_s, chosen.interval_s) == (tuple(map(closed, range(1, 49))), 5, 10)
    assert len(chosen.configurations) == 4 and all("sync" in v.client_flags for v in chosen.configurations)


@pytest.mark.parametrize("name", NAMES)
def test_the_real_programs_accept_the_flags_of_a_shipped_experiment(name: str) -> None:
    chosen = load(shipped()[name])
    placements = {v.name: place(chosen, v, MACHINE[:1], "", "") for v in chosen.configurations}
    assert flags.problems(chosen, placements, Programs(real_programs(), Path("/none"))) == []


def test_wan_5ms_compares_both_ways_of_connecting_at_every_distance() -> None:
    chosen = load(shipped()["wan-5ms"])
    series = {(v.added_rtt_ms, v.client_flags) for v in chosen.configurations}
    assert {rtt for rtt, _ in series} == {None, 0, 5}  # without the proxy, through it, and far away
    flags = {f for _, f in series}
    assert len(flags) == 4 and len(series) == 12
    assert {"--streaming" in f for f in flags} == {True, False}
    assert {f[f.index("--channel-policy") + 1] for f in flags} == {"per-slot", "local-pool"}
    assert (chosen.loads, chosen.repetitions) == (tuple(map(closed, (1, 4, 16, 48))), 6)
    assert 180 < seconds_of(chosen) < 400


def test_connection_scaling_has_all_that_scaling_takes_and_something_to_compare_it_with() -> None:
    chosen = load(shipped()["connection-scaling"])
    switch = ("GRPC_EXPERIMENTAL_MAX_CONCURRENT_STREAMS_CONNECTION_SCALING", "true")
    most = max(load.number for load in chosen.loads)
    for configuration in chosen.configurations:
        engine, limit, connections = configuration.name.split(".")
        assert configuration.needs_grpc == "1.83"
        assert (switch in configuration.client_env) is (connections == "scaling")
        configs = [f for f in configuration.client_flags if "connectionScaling" in f]
        wanted = [{"connectionScaling": {"maxConnectionsPerSubchannel": most}}] if connections == "scaling" else []
        assert [json.loads(c) for c in configs] == wanted
        capped = f"grpc.max_connections_per_subchannel_cap={most}" in configuration.client_flags
        assert capped is (connections == "scaling")
        asked = [
            f.partition("=")[2] for f in configuration.server_flags if f.startswith("grpc.max_concurrent_streams=")
        ]
        assert asked == ([] if limit == "unlimited" else [limit.removeprefix("streams-")])
        without = [dict(env).get("GRPC_EXPERIMENTS") for env in (configuration.client_env, configuration.server_env)]
        off = "-event_engine_client,-event_engine_listener" if engine == "no-event-engine" else None
        assert without == [off, off]
    assert len(chosen.configurations) == 2 * 4 * 3
