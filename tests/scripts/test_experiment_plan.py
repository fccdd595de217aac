"""The order, the placement and the command lines; and that the shipped experiments are what they promise."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from cqbench import experiment, plan
from cqbench.cpus import BadCpuList, Cpu, Placement
from cqbench.experiment_file import Experiment, load, parse
from cqbench.experiment_plan import (
    Programs,
    Unit,
    client_command,
    describe,
    make_order,
    patience_seconds,
    place,
    server_command,
    size,
    unit_seconds,
)
from cqbench.offered import closed
from cqbench.processes import Server
from test_experiment_file import HEAD
from test_result_schema import programs as real_programs

MACHINE = tuple(Cpu(n, n) for n in range(4))
PROGRAMS = Programs(Path("/bin-dir"), Path("/newgrpc.sh"))
NAMES = [path.stem for path in experiment.shipped().values()]
FOUR = "".join(f'[[variant]]\nname = "{name}"\n' for name in "abcd")


def experiment_of(text: str) -> Experiment:
    return parse(HEAD + text, "x.toml")


def only(settings: str, head: str = "") -> Experiment:
    return experiment_of(f'{head}\n[[variant]]\nname = "one"\n{settings}')


def test_repetitions_are_interleaved_and_each_is_in_an_order_of_its_own() -> None:
    order = make_order(experiment_of(FOUR), repetitions=20, seed=7)
    assert len(order) == len(set(order)) == 80
    assert [u.repetition for u in order] == [r for r in range(1, 21) for _ in range(4)]
    orders = {tuple(u.variant for u in order if u.repetition == r) for r in range(1, 21)}
    assert len(orders) > 5
    first = Counter(order[i].variant for i in range(0, 80, 4))
    assert set(first) == set("abcd")  # nobody is always late


def test_the_seed_decides_the_order() -> None:
    four = experiment_of(FOUR)
    assert make_order(four, 5, 7) == make_order(four, 5, 7)
    assert make_order(four, 5, 7) != make_order(four, 5, 8)
    # More repetitions are a longer run of the same order.
    assert make_order(four, 9, 7)[:20] == make_order(four, 5, 7)


def test_names_of_files() -> None:
    assert Unit("a.b", 3).file == "raw/a.b/03.json"
    assert Unit("a.b", 300).file == "raw/a.b/300.json"


def placed(chosen: Experiment, server: str = "", client: str = "") -> Placement:
    return place(chosen, chosen.variants[0], MACHINE, server, client)


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
    assert placed(own, "1", "2").server == (0,)  # ... and the variant's own beats both: it is what is compared


def test_a_remote_server_leaves_the_machine_to_the_client() -> None:
    far = only("host = 'there'")
    assert (placed(far).server, placed(far).client) == ((), (0, 1, 2, 3))
    assert placed(far, "0", "2").client == (2,)
    assert placed(far, "0").client == (0, 1, 2, 3)
    assert placed(only("host = 'there'", "placement = 'none'"), "0").client == ()


def test_cpus_that_are_not_there_are_named() -> None:
    with pytest.raises(BadCpuList, match="variant 'one'.pinning.client_cpus: CPU 9 cannot be used"):
        placed(only("pinning = { client_cpus = '9' }"))
    with pytest.raises(BadCpuList, match="experiment.placement.server_cpus: '1-' is not a list"):
        placed(only("", "placement = { server_cpus = '1-' }"))


def test_command_lines() -> None:
    chosen = only("client_flags = '--api cq'\nserver_flags = '--poll spin'\nclient_env = { A = 'x y' }")
    (variant,) = chosen.variants
    placement = Placement((1,), (), "")
    server = server_command(chosen, variant, placement, PROGRAMS)
    assert server == ["taskset", "-c", "1", "/bin-dir/grpc_ping_server", "--poll", "spin"]
    client = client_command(chosen, variant, placement, PROGRAMS, "h:1", Path("raw/out.json"))
    assert client == (
        ["env", "A=x y", "/bin-dir/grpc_ping_client", "--host", "h:1", "--api", "cq", "--inflight-list", "1,4"]
        + ["--warmup", "0.05", "--interval", "0.1", "--format", "json", "--output", "raw/out.json"]
    )


def test_the_sid_build_is_run_through_its_script_and_writes_to_standard_output() -> None:
    chosen = only("build = 'sid'\nserver_env = { A = '1' }")
    (variant,) = chosen.variants
    server = server_command(chosen, variant, Placement((), (), ""), PROGRAMS)
    assert server == ["/newgrpc.sh", "--run", "env", "A=1", "grpc_ping_server"]
    client = client_command(chosen, variant, Placement((), (3,), ""), PROGRAMS, "h:1", Path("out"))
    assert client[:6] == ["taskset", "-c", "3", "/newgrpc.sh", "--run", "grpc_ping_client"]
    assert "--output" not in client


def test_the_posts_layout_follows_the_servers_cpus() -> None:
    chosen = only("server_flags = '--poll spin'", "[server]\nlayout = 'post'\n")
    command = server_command(chosen, chosen.variants[0], Placement(tuple(range(32)), (), ""), PROGRAMS)
    assert command[4:] == [*plan.server_layout(32), "--poll", "spin"]
    assert command[4:10] == ["--num-cqs", "8", "--workers-per-cq", "2", "--callbacks-per-cq", "10"]


def test_the_plan_shows_variants_order_and_duration() -> None:
    chosen = only("client_flags = '--api cq'\nhost = 'there'")
    placements = {"one": placed(chosen)}
    text = describe(chosen, make_order(chosen, 2, 7), 7, placements, PROGRAMS)
    assert text.startswith("try: A title\nDoes it?\n1 variant x 2 repetitions = 2 units of 2 points, 0.05 + 0.1 s each")
    assert "server at there (not started here), client on CPUs 0-3" in text
    assert "--host there --api cq --inflight-list 1,4" in text and "grpc_ping_server" not in text
    assert text.endswith("\nOrder (seed 7)\n  1: one\n  2: one\n")


# The shipped ones.


def test_the_experiments_that_are_promised_are_there() -> None:
    promised = {"headline", "ydb-full", "policies", "cq-layout", "threads", "pollers", "grpc-versions"}
    assert promised | {"wan-5ms", "connection-scaling"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_experiment_can_be_planned(name: str) -> None:
    chosen = load(experiment.shipped()[name])
    assert chosen.name == name
    assert chosen.question.endswith("?")
    placements = {v.name: place(chosen, v, MACHINE, "", "") for v in chosen.variants}
    order = make_order(chosen, chosen.repetitions, chosen.seed)
    text = describe(chosen, order, chosen.seed, placements, PROGRAMS)
    assert all(f"  {v.name}\n" in text for v in chosen.variants)
    if name != "ydb-full":
        assert len(order) * unit_seconds(chosen) < 600, size(chosen, chosen.repetitions)


def test_headline_is_every_api_and_mode_shared_and_separate_in_three_minutes() -> None:
    chosen = load(experiment.shipped()["headline"])
    policies, apis, modes = ("per-slot", "local-pool"), ("sync", "cq"), ((), ("--streaming",))
    wanted = {frozenset((*m, "--api", a, "--channel-policy", p)) for m in modes for a in apis for p in policies}
    assert {frozenset(v.client_flags) for v in chosen.variants} == wanted and len(wanted) == len(chosen.variants)
    assert 150 < len(chosen.variants) * chosen.repetitions * unit_seconds(chosen) < 200


def test_a_client_may_take_longer_than_planned_to_connect_and_to_drain() -> None:
    chosen = experiment_of(FOUR)
    assert patience_seconds(chosen) >= unit_seconds(chosen) + (5 + 2) * len(chosen.loads) + 30


def test_ydb_full_is_the_post() -> None:
    chosen = load(experiment.shipped()["ydb-full"])
    assert (chosen.loads, chosen.warmup_s, chosen.interval_s) == (tuple(map(closed, range(1, 49))), 5, 10)
    assert len(chosen.variants) == 4 and all("sync" in v.client_flags for v in chosen.variants)


@pytest.mark.parametrize("name", NAMES)
def test_the_real_programs_accept_the_flags_of_a_shipped_experiment(name: str, tmp_path: Path) -> None:
    """The client gets as far as finding nobody at port 1; the server listens."""
    chosen, folder = load(experiment.shipped()[name]), real_programs()
    programs, nowhere = Programs(folder, Path()), Placement((), (), "")
    for variant in {v.client_flags: v for v in chosen.variants if v.build == "release"}.values():
        command = client_command(chosen, variant, nowhere, programs, "localhost:1", tmp_path / "out")
        done = subprocess.run(
            [*command, "--connect-timeout", "0.02"], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 1 and "cannot connect" in done.stderr, done.stderr
    for variant in {v.server_flags: v for v in chosen.variants if v.build == "release"}.values():
        with Server(server_command(chosen, variant, nowhere, programs), tmp_path / "log") as server:
            assert server.address


def test_wan_5ms_compares_both_ways_of_connecting_at_every_distance() -> None:
    chosen = load(experiment.shipped()["wan-5ms"])
    series = {(v.added_rtt_ms, v.client_flags) for v in chosen.variants}
    assert {rtt for rtt, _ in series} == {None, 0, 5}  # without the proxy, through it, and far away
    flags = {f for _, f in series}
    assert len(flags) == 4 and len(series) == 12
    assert {"--streaming" in f for f in flags} == {True, False}
    assert {f[f.index("--channel-policy") + 1] for f in flags} == {"per-slot", "local-pool"}
    assert (chosen.loads, chosen.repetitions) == (tuple(map(closed, (1, 4, 16, 48))), 6)
    assert 180 < len(chosen.variants) * chosen.repetitions * unit_seconds(chosen) < 400


def test_connection_scaling_has_all_that_scaling_takes_and_something_to_compare_it_with() -> None:
    chosen = load(experiment.shipped()["connection-scaling"])
    switch = ("GRPC_EXPERIMENTAL_MAX_CONCURRENT_STREAMS_CONNECTION_SCALING", "true")
    most = max(load.number for load in chosen.loads)
    for variant in chosen.variants:
        engine, limit, connections = variant.name.split(".")
        assert variant.needs_grpc == "1.83"
        assert (switch in variant.client_env) is (connections == "scaling")
        configs = [f for f in variant.client_flags if "connectionScaling" in f]
        wanted = [{"connectionScaling": {"maxConnectionsPerSubchannel": most}}] if connections == "scaling" else []
        assert [json.loads(c) for c in configs] == wanted
        capped = f"grpc.max_connections_per_subchannel_cap={most}" in variant.client_flags
        assert capped is (connections == "scaling")
        asked = [f.partition("=")[2] for f in variant.server_flags if f.startswith("grpc.max_concurrent_streams=")]
        assert asked == ([] if limit == "unlimited" else [limit.removeprefix("streams-")])
        without = [dict(env).get("GRPC_EXPERIMENTS") for env in (variant.client_env, variant.server_env)]
        off = "-event_engine_client,-event_engine_listener" if engine == "no-event-engine" else None
        assert without == [off, off]
    assert len(chosen.variants) == 2 * 4 * 3
