"""Options that change an experiment, and the experiments that accept a server that runs already."""

from __future__ import annotations

from typing import Any

import pytest
from cqbench.cli import main as cqbench
from cqbench.cli import run as command
from cqbench.experiment import override, spec
from cqbench.experiment.spec import BadExperiment, Experiment, parse
from cqbench.formats.offered import closed, open_loop
from cqbench.run import chosen, start
from test_experiment_file import HEAD

AXES = """
[server]
layout = "post"
[[axis]]
name = "api"
values = [{ name = "sync", client_flags = "--api sync" }, { name = "new", build = "sid" }]
[[axis]]
name = "how"
values = [{ name = "one" }, { name = "two", client_env = { A = "b" } }]
"""


def options(*words: str) -> override.Options:
    return override.Options(**command.command.make_context("run", ["x", *words]).params)


def apply(text: str, *words: str) -> Experiment:
    return override.apply(parse(HEAD + text, "x.toml"), options(*words))


def test_without_flags_the_experiment_is_the_files() -> None:
    read = parse(HEAD + AXES, "x.toml")
    assert override.apply(read, options()) is read


def test_flags_win_and_the_data_shows_it() -> None:
    read = parse(HEAD + AXES, "x.toml")
    before = repr(read.data)
    changed = override.apply(read, options("--interval", "0.25", "--warmup", "0.5", "--inflight-list", "8,2"))
    assert (changed.loads, changed.warmup_s, changed.interval_s) == ((closed(2), closed(8)), 0.5, 0.25)
    head = changed.data["experiment"]
    assert (head["inflight"], head["warmup"], head["interval"]) == ([2, 8], 0.5, 0.25)
    assert repr(read.data) == before
    assert changed.configurations == read.configurations


def test_only_what_is_given_changes() -> None:
    read = parse(HEAD + AXES, "x.toml")
    changed = override.apply(read, options("--warmup", "3"))
    assert (changed.warmup_s, changed.interval_s, changed.loads) == (3, read.interval_s, read.loads)


def test_durations_are_written_as_in_a_file() -> None:
    read = parse(HEAD + AXES, "x.toml")
    changed = override.apply(read, options("--warmup", "500ms", "--interval", "1.5s"))
    assert (changed.warmup_s, changed.interval_s) == (0.5, 1.5)


def test_a_host_is_every_configurations_and_the_layout_of_a_server_goes() -> None:
    changed = apply(AXES, "--host", "box:7")
    assert len(changed.configurations) == 4 and {v.host for v in changed.configurations} == {"box:7"}
    assert changed.layout == "" and "server" not in changed.data
    assert {v.client_build for v in changed.configurations} == {"release", "sid"}  # the client's
    assert [
        v.host
        for v in apply('[[configuration]]\nname = "a"\n[[configuration]]\nname = "b"\n', "--host", "x").configurations
    ] == (["x", "x"])


@pytest.mark.parametrize(
    ("host", "client_cpus", "noted"),
    [("127.0.0.1:7", "", True), ("localhost", "", True), ("localhost", "0", False), ("box:7", "", False)],
)
def test_a_host_on_this_machine_is_noted(
    host: str, client_cpus: str, noted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLIENT_CPUS", client_cpus)
    said = start.notes(apply(AXES, "--host", host), {})
    assert said == (["that server is on this machine; set CLIENT_CPUS to CPUs that it does not use"] if noted else [])


@pytest.mark.parametrize(("words", "noted"), [(("--host", "box"), True), ((), False)])
def test_server_cpus_that_are_not_used_are_noted(
    words: tuple[str, ...], noted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVER_CPUS", "0")
    said = start.notes(apply(AXES, *words), {})
    assert said == (["SERVER_CPUS is not used: no server is started here"] if noted else [])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[server]\nflags = "--api cq"\n[[configuration]]\nname = "a"\n', 'server.flags is "--api cq"'),
        ('[server]\nenv = { A = "b" }\n[[configuration]]\nname = "a"\n', 'server.env is {"A": "b"}'),
        ('[[configuration]]\nname = "a"\nserver_flags = ["--x"]\n', "configuration 'a'.server_flags is [\"--x\"]"),
        ('[[configuration]]\nname = "a"\nserver_env = { A = "b" }\n', "configuration 'a'.server_env is"),
        ('[[configuration]]\nname = "a"\nhost = "other"\n', "configuration 'a'.host is \"other\""),
        ('[[configuration]]\nname = "a"\nserver_program = "x"\n', "configuration 'a'.server_program is \"x\""),
        ('[[configuration]]\nname = "a"\nadded_rtt = "5ms"\n', "configuration 'a'.added_rtt is \"5ms\""),
        (
            '[[axis]]\nname = "n"\nvalues = [{ name = "a" }, { name = "b", server_flags = "--y" }]\n',
            "axis 'n', 'b'.server_flags is \"--y\"",
        ),
    ],
)
def test_an_experiment_about_the_server_takes_no_host(text: str, said: str) -> None:
    with pytest.raises(BadExperiment) as error:
        apply(text, "--host", "box:7")
    assert str(error.value).startswith('argument --host: "box:7" is not accepted for ') and said in str(error.value)
    assert "\n" not in str(error.value)


def test_empty_settings_of_a_server_are_none() -> None:
    assert (
        apply('[server]\nflags = ""\n[[configuration]]\nname = "a"\nserver_flags = []\n', "--host", "x")
        .configurations[0]
        .host
    )


def shipped(name: str) -> Experiment:
    return spec.load(chosen.shipped()[name])


@pytest.mark.parametrize("name", ["headline", "ydb-full", "policies", "threads"])
def test_shipped_experiments_that_take_a_host(name: str) -> None:
    changed = override.apply(shipped(name), options("--host", "box"))
    assert all(v.host == "box" for v in changed.configurations)


@pytest.mark.parametrize("name", ["cq-layout", "pollers", "grpc-versions"])
def test_shipped_experiments_that_do_not(name: str) -> None:
    with pytest.raises(BadExperiment, match="that server is not started here"):
        override.apply(shipped(name), options("--host", "box"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--host", " "), "argument --host: ' ' is not HOST or HOST:PORT"),
        (("--interval", "0.001"), "argument --interval: '0.001' is not a number of seconds from 0.01 to 3600"),
        (("--warmup", "0"), "argument --warmup: '0' is not a number of seconds from 0.001"),
        (("--inflight-list", ""), "argument --inflight-list: '' is not a list of in-flight counts"),
    ],
)
def test_bad_values(words: tuple[str, ...], said: str, capsys: Any) -> None:
    assert cqbench(["run", "x", *words]) == 2 and said in capsys.readouterr().err


def test_the_headline_is_what_compare_and_verdict_take() -> None:
    """Intervals take six repetitions."""
    head = shipped("headline")
    assert ([load.number for load in head.loads], head.repetitions, len(head.configurations)) == ([1, 4, 16, 48], 6, 8)
    for path in chosen.shipped().values():
        assert spec.load(path).repetitions >= 6 or path.stem.endswith("-full")


RATES = HEAD.replace("inflight = [1, 4]", "rates = [1000, 2000]") + AXES


def test_rates_instead_of_the_files() -> None:
    changed = override.apply(parse(RATES, "x.toml"), options("--rate-list", "300,20.5"))
    assert changed.loads == (open_loop(20.5), open_loop(300)) and changed.data["experiment"]["rates"] == [20.5, 300]
    assert override.given(options("--rate", "300,20.5")) == {"rates": [20.5, 300]}


def test_a_rate_makes_an_open_loop_of_a_closed_one_and_the_other_way_round() -> None:
    assert apply(AXES, "--rate", "5").loads == (open_loop(5),)
    assert override.apply(parse(RATES, "x.toml"), options("--inflight", "1,4")).loads == (closed(1), closed(4))
    with pytest.raises(BadExperiment, match="is not accepted with inflight: write one of the two"):
        apply(AXES, "--rate", "5", "--inflight", "1")
