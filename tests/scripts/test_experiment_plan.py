"""The order, the placement and the command lines; and that the shipped experiments are what they promise."""

from __future__ import annotations

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
    place,
    server_command,
    size,
    unit_seconds,
)
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
    assert promised <= set(NAMES)


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


def test_headline_is_what_bench_sh_runs() -> None:
    chosen, series = load(experiment.shipped()["headline"]), plan.headline_series()
    bench = plan.make_plan()
    assert (chosen.inflight, chosen.warmup_s, chosen.interval_s) == (bench.inflight, bench.warmup_s, bench.interval_s)

    def meaning(flags: tuple[str, ...]) -> frozenset[str]:
        return frozenset(" ".join(flags).replace("--local-pool", "--channel-policy local-pool").split())

    assert {meaning(v.client_flags) for v in chosen.variants} == {meaning(tuple(s.flags())) for s in series}
    assert 150 < len(chosen.variants) * chosen.repetitions * unit_seconds(chosen) < 200


def test_ydb_full_is_the_post() -> None:
    chosen, post = load(experiment.shipped()["ydb-full"]), plan.make_plan(full=True)
    assert (chosen.inflight, chosen.warmup_s, chosen.interval_s) == (post.inflight, post.warmup_s, post.interval_s)
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
