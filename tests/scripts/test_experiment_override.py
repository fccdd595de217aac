"""What the command line changes in an experiment, and which experiments take a server that is there already."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

import pytest

from cqbench import experiment, experiment_file, experiment_override
from cqbench.experiment_file import Experiment, parse
from cqbench.experiment_values import BadExperiment
from cqbench.offered import closed, open_loop
from cqbench.options import Parser
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


def options(*words: str) -> argparse.Namespace:
    parser = Parser("experiment.sh")
    experiment_override.add_arguments(parser)
    return parser.parse_args(words)


def apply(text: str, *words: str) -> Experiment:
    return experiment_override.apply(parse(HEAD + text, "x.toml"), options(*words))


def test_without_flags_the_experiment_is_the_files() -> None:
    read = parse(HEAD + AXES, "x.toml")
    assert experiment_override.apply(read, options()) is read


def test_flags_win_and_the_data_shows_it() -> None:
    read = parse(HEAD + AXES, "x.toml")
    before = repr(read.data)
    changed = experiment_override.apply(
        read, options("--interval", "0.25", "--warmup", "0.5", "--inflight-list", "8,2")
    )
    assert (changed.loads, changed.warmup_s, changed.interval_s) == ((closed(2), closed(8)), 0.5, 0.25)
    head = changed.data["experiment"]
    assert (head["inflight"], head["warmup"], head["interval"]) == ([2, 8], 0.5, 0.25)
    assert repr(read.data) == before
    assert changed.variants == read.variants


def test_only_what_is_given_changes() -> None:
    read = parse(HEAD + AXES, "x.toml")
    changed = experiment_override.apply(read, options("--warmup", "3"))
    assert (changed.warmup_s, changed.interval_s, changed.loads) == (3, read.interval_s, read.loads)


@pytest.mark.parametrize(
    "words", [(), ("--host", "some host:7"), ("--interval", "0.123456789", "--inflight-list", "1,4", "--warmup", "2")]
)
def test_what_was_given_can_be_given_again(words: tuple[str, ...]) -> None:
    first = options(*words)
    assert options(*shlex.split(experiment_override.given(first))) == first


def test_a_host_is_every_variants_and_the_layout_of_a_server_goes() -> None:
    changed = apply(AXES, "--host", "box:7")
    assert len(changed.variants) == 4 and {v.host for v in changed.variants} == {"box:7"}
    assert changed.layout == "" and "server" not in changed.data
    assert {v.build for v in changed.variants} == {"release", "sid"}  # the client's
    assert [v.host for v in apply('[[variant]]\nname = "a"\n[[variant]]\nname = "b"\n', "--host", "x").variants] == (
        ["x", "x"]
    )


@pytest.mark.parametrize(
    ("host", "client_cpus", "noted"),
    [("127.0.0.1:7", "", True), ("localhost", "", True), ("localhost", "0", False), ("box:7", "", False)],
)
def test_a_host_on_this_machine_is_noted(
    host: str, client_cpus: str, noted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLIENT_CPUS", client_cpus)
    said = experiment.notes(apply(AXES, "--host", host), {})
    assert said == (["that server is on this machine; set CLIENT_CPUS to CPUs that it does not use"] if noted else [])


@pytest.mark.parametrize(("words", "noted"), [(("--host", "box"), True), ((), False)])
def test_server_cpus_that_are_not_used_are_noted(
    words: tuple[str, ...], noted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVER_CPUS", "0")
    said = experiment.notes(apply(AXES, *words), {})
    assert said == (["SERVER_CPUS is not used: no server is started here"] if noted else [])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[server]\nflags = "--api cq"\n[[variant]]\nname = "a"\n', 'server.flags is "--api cq"'),
        ('[server]\nenv = { A = "b" }\n[[variant]]\nname = "a"\n', 'server.env is {"A": "b"}'),
        ('[[variant]]\nname = "a"\nserver_flags = ["--x"]\n', "variant 'a'.server_flags is [\"--x\"]"),
        ('[[variant]]\nname = "a"\nserver_env = { A = "b" }\n', "variant 'a'.server_env is"),
        ('[[variant]]\nname = "a"\nhost = "other"\n', "variant 'a'.host is \"other\""),
        ('[[variant]]\nname = "a"\nadded_rtt = "5ms"\n', "variant 'a'.added_rtt is \"5ms\""),
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
    assert apply('[server]\nflags = ""\n[[variant]]\nname = "a"\nserver_flags = []\n', "--host", "x").variants[0].host


def shipped(name: str) -> Experiment:
    return experiment_file.load(experiment.shipped()[name])


@pytest.mark.parametrize("name", ["headline", "ydb-full", "policies", "threads"])
def test_shipped_experiments_that_take_a_host(name: str) -> None:
    changed = experiment_override.apply(shipped(name), options("--host", "box"))
    assert all(v.host == "box" for v in changed.variants)


@pytest.mark.parametrize("name", ["cq-layout", "pollers", "grpc-versions"])
def test_shipped_experiments_that_do_not(name: str) -> None:
    with pytest.raises(BadExperiment, match="that server is not started here"):
        experiment_override.apply(shipped(name), options("--host", "box"))


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
    with pytest.raises(SystemExit) as error:
        options(*words)
    assert error.value.code == 2 and said in capsys.readouterr().err


def test_the_headline_is_what_compare_and_verdict_take() -> None:
    """Seven repetitions tell 48 points apart; intervals take six. Three minutes."""
    head = shipped("headline")
    assert ([load.number for load in head.loads], head.repetitions, len(head.variants)) == ([1, 2, 4, 8, 16, 48], 7, 8)
    for path in experiment.shipped().values():
        assert experiment_file.load(path).repetitions >= 6 or path.stem == "ydb-full"


RATES = HEAD.replace("inflight = [1, 4]", "rates = [1000, 2000]") + AXES


def test_rates_instead_of_the_files() -> None:
    changed = experiment_override.apply(parse(RATES, "x.toml"), options("--rate-list", "300,20.5"))
    assert changed.loads == (open_loop(20.5), open_loop(300)) and changed.data["experiment"]["rates"] == [20.5, 300]
    assert experiment_override.given(options("--rate-list", "300,20.5")) == "--rate-list 20.5,300"


def test_the_other_loops_flag_is_refused() -> None:
    with pytest.raises(BadExperiment) as error:
        experiment_override.apply(parse(RATES, "x.toml"), options("--inflight-list", "1,4"))
    assert str(error.value).endswith(
        ", which is an open loop: it takes calls per second, with --rate-list"
    ) and str(error.value).startswith("argument --inflight-list: 1,4 is not accepted for '")
    with pytest.raises(BadExperiment, match="--rate-list: 5 is not accepted for .* a closed loop: it takes calls in"):
        apply(AXES, "--rate-list", "5")
