"""An experiment's file: what is read from it, the product of axes, and every error in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from cqbench.experiment.spec import BadExperiment, Experiment, load, parse
from cqbench.experiment.tables import CpuLists
from cqbench.formats.offered import closed, open_loop

HEAD = """
[experiment]
name = "try"
title = "A title"
question = "Does it?"
inflight = [1, 4]
warmup = "50ms"
interval = 0.1
repetitions = 2
seed = 7
"""
ONE = '[[configuration]]\nname = "one"\n'


def configurations(text: str) -> Experiment:
    return parse(HEAD + text, "x.toml")


def complaint(text: str) -> str:
    with pytest.raises(BadExperiment) as error:
        parse(text, "x.toml")
    said = str(error.value)
    assert said.startswith("x.toml: ") and "\n" not in said
    return said.removeprefix("x.toml: ")


def test_what_a_file_says() -> None:
    experiment = configurations(
        """
        placement = "pair"
        [client]
        flags = "--api cq --channel-arg 'a=b c'"
        env = { A = "common", B = "common" }
        [server]
        flags = ["--poll", "spin"]
        layout = "post"
        [[configuration]]
        name = "far"
        host = "there:1"
        client_flags = "--channel-arg c=d"
        client_env = { B = "own" }
        [[configuration]]
        name = "near"
        build = "sid"
        server_env = { C = "" }
        pinning = { server_cpus = "0" }
        needs_grpc = "1.83"
        added_rtt = "5ms"
        """
    )
    assert (experiment.name, experiment.title, experiment.question) == ("try", "A title", "Does it?")
    assert (experiment.loads, experiment.warmup_s, experiment.interval_s) == ((closed(1), closed(4)), 0.05, 0.1)
    assert (experiment.repetitions, experiment.seed, experiment.layout) == (2, 7, "post")
    assert experiment.placement == "pair"
    far, near = experiment.configurations
    assert far.client_flags == ("--api", "cq", "--channel-arg", "a=b c", "--channel-arg", "c=d")
    assert far.client_env == (("A", "common"), ("B", "own"))
    assert (far.host, far.client_build, far.pinning) == ("there:1", "release", None)
    assert near.server_flags == ("--poll", "spin") and near.server_env == (("C", ""),)
    assert (near.builds, near.pinning) == (
        {"sid": ["grpc_ping_server", "grpc_ping_client"]},
        CpuLists(server_cpus="0"),
    )
    assert (near.needs_grpc, near.added_rtt_ms) == ("1.83", 5)
    assert (far.needs_grpc, far.added_rtt_ms) == ("", None)


@pytest.mark.parametrize(
    ("written", "milliseconds"), [('"5ms"', 5), ('"0ms"', 0), ("0", 0), ("0.5", 500), ('"1s"', 1000), ('"29000us"', 29)]
)
def test_what_is_added_to_a_round_trip(written: str, milliseconds: int) -> None:
    (configuration,) = configurations(f"{ONE}added_rtt = {written}\n").configurations
    assert configuration.added_rtt_ms == milliseconds  # 0 is a proxy that adds nothing, not: no proxy


def test_an_axis_can_vary_the_network() -> None:
    experiment = configurations(
        """
        [[axis]]
        name = "network"
        values = [{ name = "direct" }, { name = "far", added_rtt = "5ms" }]
        [[axis]]
        name = "grpc"
        values = [{ name = "any" }, { name = "new", needs_grpc = "1.83" }]
        """
    )
    assert [v.added_rtt_ms for v in experiment.configurations] == [None, None, 5, 5]
    assert [v.needs_grpc for v in experiment.configurations] == ["", "1.83", "", "1.83"]


def test_configurations_are_the_product_of_the_axes() -> None:
    experiment = configurations(
        """
        [[axis]]
        name = "api"
        values = [{ name = "sync", client_flags = "--api sync" }, { name = "cq", client_flags = "--api cq" }]
        [[axis]]
        name = "server"
        values = [
          { name = "a", server_flags = "--num-cqs 1", server_env = { A = "1" } },
          { name = "b", server_env = { B = "1" } },
          { name = "c", build = "sid" },
        ]
        """
    )
    assert [v.name for v in experiment.configurations] == ["sync.a", "sync.b", "sync.c", "cq.a", "cq.b", "cq.c"]
    last = experiment.configurations[3]
    assert (last.client_flags, last.server_flags) == (("--api", "cq"), ("--num-cqs", "1"))
    assert last.server_env == (("A", "1"),)
    assert [v.client_build for v in experiment.configurations] == ["release", "release", "sid"] * 2


@pytest.mark.parametrize(
    ("written", "seconds"), [("2", 2), ("0.5", 0.5), ('"2"', 2), ('"500ms"', 0.5), ('"1.5s"', 1.5), ('"1m"', 60)]
)
def test_durations(written: str, seconds: float) -> None:
    assert parse(HEAD.replace("0.1", written) + ONE, "x").interval_s == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("name", '"a/b"', 'experiment.name: "a/b" is not a name of letters'),
        ("name", '".."', 'experiment.name: ".." is not a name'),
        ("title", "3", "experiment.title: 3 is not a text"),
        ("question", '" "', 'experiment.question: " " is not a text'),
        ("inflight", "[]", "experiment.inflight: [] is not a list of 1 or more valid values"),
        ("inflight", '"1-4"', 'experiment.inflight: "1-4" is not a list'),
        ("inflight", "[1, 0]", "experiment.inflight[1]: 0 is not an integer from 1 to 100000"),
        ("inflight", "[1, true]", "experiment.inflight[1]: true is not an integer"),
        ("inflight", "[4, 4]", "experiment.inflight: [4, 4] is not accepted: each value"),
        ("warmup", '"5 parsecs"', 'experiment.warmup: "5 parsecs" is not a number of seconds from 0.001 to 3600'),
        ("warmup", "nan", "experiment.warmup: NaN is not"),
        ("interval", "0", "experiment.interval: 0 is not a number of seconds from 0.01 to 3600"),
        ("interval", "true", "experiment.interval: true is not"),
        ("interval", "1979-05-27", 'experiment.interval: "1979-05-27" is not'),
        ("repetitions", "0", "experiment.repetitions: 0 is not an integer from 1 to 1000"),
        ("seed", "-1", "experiment.seed: -1 is not an integer from 0 to"),
        ("seed", "1.0", "experiment.seed: 1.0 is not an integer"),
    ],
)
def test_wrong_values_of_the_experiment(key: str, value: str, said: str) -> None:
    lines = [f"{key} = {value}" if line.startswith(f"{key} =") else line for line in HEAD.splitlines()]
    assert complaint("\n".join([*lines, ONE])).startswith(said)


@pytest.mark.parametrize("key", ["name", "title", "question"])
def test_what_is_missing_is_named(key: str) -> None:
    lines = [line for line in HEAD.splitlines() if not line.startswith(f"{key} =")]
    assert complaint("\n".join([*lines, ONE])) == f"experiment: '{key}' is missing"


def test_what_may_be_missing() -> None:
    kept = ("", "[experiment]", "name", "title", "question", "inflight")
    short = "\n".join(line for line in HEAD.splitlines() if line.split(" =")[0] in kept)
    experiment = parse(f"{short}\n{ONE}", "x")
    assert (experiment.warmup_s, experiment.interval_s, experiment.repetitions, experiment.seed) == (0.2, 1, 7, None)


def test_all_errors_are_said_at_once() -> None:
    text = HEAD.replace("0.1", '"5 parsecs"').replace("seed = 7", "seed = -1\nspeed = 3")
    text += ONE + 'client_flags = 3\nhost = ""\n[clients]\n'
    with pytest.raises(BadExperiment) as error:
        parse(text, "x.toml")
    lines = str(error.value).splitlines()
    assert all(line.startswith("x.toml: ") for line in lines)
    assert [line.split(": ")[1] for line in lines] == (
        ["experiment.interval", "experiment.seed", "experiment", "configuration[0] ('one').client_flags"]
        + ["configuration[0] ('one').host", "the file"]
    )


def test_all_that_does_not_go_together_is_said_at_once() -> None:
    host = ONE + "host = 'a'\nserver_flags = '--x'\nadded_rtt = '5ms'\n"
    with pytest.raises(BadExperiment) as error:
        parse(HEAD + "rates = [5]\n" + host, "x.toml")
    said = [line.split(": ")[1] for line in str(error.value).splitlines()]
    one = "configuration[0] ('one')"
    assert said == ["experiment.rates", f"{one}.server_flags", f"{one}.added_rtt"]


def test_what_does_not_go_with_what_all_have_in_common_is_said_at_once() -> None:
    twice = "client_flags = '--api cq --api sync'\n"
    with pytest.raises(BadExperiment) as error:
        parse(HEAD.replace("inflight", "# ") + ONE + twice + ONE.replace("one", "two") + twice, "x.toml")
    said = [line.split(": ")[1] for line in str(error.value).splitlines()]
    assert said == ["experiment", "configuration 'one'.client_flags", "configuration 'two'.client_flags"]


OPEN = HEAD.replace("inflight = [1, 4]", "rates = [2000, 500.5]")


def test_an_open_loop() -> None:
    experiment = parse(OPEN + ONE, "x")
    assert (experiment.open, experiment.loads) == (True, (open_loop(2000), open_loop(500.5)))
    assert not parse(HEAD + ONE, "x").open


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ("", "experiment: 'inflight' is missing, or 'rates' for an open loop"),
        ("rates = []", "experiment.rates: [] is not a list of 1 or more"),
        ("rates = 5", "experiment.rates: 5 is not a list"),
        ("rates = [0]", "experiment.rates[0]: 0 is not a number of calls per second above 0 and up to 10000000"),
        ("rates = [1e8]", "experiment.rates[0]: 100000000.0 is not a number"),
        ("rates = [nan]", "experiment.rates[0]: NaN is not a number"),
        ("rates = [true]", "experiment.rates[0]: true is not a number"),
        ('rates = ["1000"]', 'experiment.rates[0]: "1000" is not a number'),
        ("rates = [5, 5.0]", "experiment.rates: [5, 5.0] is not accepted: each value"),
        ("rates = [5]\ninflight = [1]", "experiment.rates: [5] is not accepted with inflight: write one of the two"),
    ],
)
def test_rates_that_are_none(rates: str, said: str) -> None:
    assert complaint(HEAD.replace("inflight = [1, 4]", rates) + ONE).startswith(said)


AXIS = '[[axis]]\nname = "{}"\nvalues = [{}]\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("speed = 3\n" + ONE, 'experiment: unknown key "speed" (value 3); accepted are name, title,'),
        ("placement = 'moon'\n" + ONE, "experiment.placement: \"moon\" is not 'split', 'pair', 'none' or a table"),
        ("placement = {}\n" + ONE, "experiment.placement: the table is empty; server_cpus, client_cpus or both"),
        ("placement = { server_cpus = 3 }\n" + ONE, 'experiment.placement.server_cpus: 3 is not a list of CPUs'),
        ("placement = { cpus = '3' }\n" + ONE, 'experiment.placement: unknown key "cpus" (value "3"); accepted'),
        ("", "the file: there is no [[configuration]] and no [[axis]], so there is nothing to run"),
        ("[configuration]\nname = 'x'\n", "configuration: "),
        ("[clients]\n" + ONE, 'the file: unknown key "clients" (value {}); accepted are experiment, client,'),
        ("[client]\nflag = 'x'\n" + ONE, 'client: unknown key "flag" (value "x"); accepted are flags, env'),
        ("[client]\nflags = [1]\n" + ONE, "client.flags[0]: 1 is not a text"),
        ("[client]\nflags = \"'\"\n" + ONE, 'client.flags: "\'" is not a command line: No closing quotation'),
        ("[client]\nflags = '--interval=3'\n" + ONE, 'client.flags: "--interval=3" is not accepted'),
        ("[server]\nflags = '--port 3'\n" + ONE, 'server.flags: "--port 3" is not accepted: the experiment\'s own'),
        ("[server]\nlayout = 'big'\n" + ONE, "server.layout: \"big\" is not 'post'"),
        ("[server]\nenv = 'A=1'\n" + ONE, 'server.env: "A=1" is not a table'),
        (ONE + "[client]\nenv = { A = 1 }\n", "client.env.A: 1 is not a text"),
        (ONE + "[client]\nenv = { 'A=B' = '' }\n", 'client.env: "A=B" is not a name of an environment variable'),
        ("[[configuration]]\n", "configuration[0]: 'name' is missing"),
        ("[[configuration]]\nname = '../x'\n", 'configuration[0].name: "../x" is not a name'),
        ("[[configuration]]\nname = 3\n", "configuration[0].name: 3 is not a name"),
        (ONE + ONE, 'configuration[1].name: "one" is not accepted twice'),
        (ONE + "flags = '-x'\n",
         'configuration[0] (\'one\'): unknown key "flags" (value "-x"); accepted are name, client_flags,'),
        (ONE + "build = 'a b'\n",
         "configuration[0] ('one').build: \"a b\" is not a NAME of build/NAME/bin, such as \"release\", or"),
        (ONE + "host = ''\n", "configuration[0] ('one').host: \"\" is not HOST or HOST:PORT"),
        (ONE + "host = '--help'\n", "configuration[0] ('one').host: \"--help\" is not HOST"),
        (ONE + "host = 'a'\nserver_flags = '--x'\n",
         "configuration[0] ('one').server_flags: \"--x\" is not accepted with host"),
        (ONE + "host = 'a'\nadded_rtt = '5ms'\n",
         "configuration[0] ('one').added_rtt: \"5ms\" is not accepted with host: the proxy"),
        (ONE + "added_rtt = 5\n",
         "configuration[0] ('one').added_rtt: 5 is not a duration of whole milliseconds up to 1000 ms"),
        (ONE + "added_rtt = '-1ms'\n",
         "configuration[0] ('one').added_rtt: \"-1ms\" is not a duration"),
        (ONE + "added_rtt = '2.5ms'\n",
         "configuration[0] ('one').added_rtt: \"2.5ms\" is not a duration of whole millis"),
        (ONE + "added_rtt = true\n", "configuration[0] ('one').added_rtt: true is not a duration"),
        (ONE + "needs_grpc = 1.83\n",
         "configuration[0] ('one').needs_grpc: 1.83 is not a version of gRPC such as \"1.83\""),
        (ONE + "needs_grpc = '>=1.83'\n", "configuration[0] ('one').needs_grpc: \">=1.83\" is not a version"),
        (ONE + "needs_grpc = '1'\n", "configuration[0] ('one').needs_grpc: \"1\" is not a version"),
        (AXIS.format("a", '{ name = "x", added_rtt = "0ms" }') + AXIS.format("b", '{ name = "y", added_rtt = "5ms" }'),
         "configuration 'x.y'.added_rtt: \"5ms\" is not accepted from two axes"),
        (ONE + "client_flags = '--host a'\n", "configuration[0] ('one').client_flags: \"--host a\" is not accepted"),
        (ONE + 'client_flags = "a\\u0000"\n',
         "configuration[0] ('one').client_flags: \"a\\u0000\" is not a text without"),
        (ONE + 'server_program = "-x"\n',
         "configuration[0] ('one').server_program: \"-x\" is not the path of a program"),
        (ONE + "pinning = { cpu = '3' }\n",
         "configuration[0] ('one').pinning: unknown key \"cpu\" (value \"3\"); accepted"),
        (ONE + "connect = 'tcp'\n", "configuration[0] ('one').connect: \"tcp\" is not 'grpc' or 'http'"),
        ("counting = 1\n" + ONE, "experiment.counting: 1 is not true or false"),
        (ONE + "client_flags = '--api cq --api=cq'\n",
         "configuration 'one'.client_flags: \"--api\" is not accepted twice"),
        ("[server]\nlayout = 'post'\n" + ONE + "server_flags = '--num-cqs 2'\n",
         "configuration 'one'.server_flags: \"--num-cqs\" is not accepted twice (server.layout gives it)"),
        (AXIS.format("a", ""), "axis[0] ('a').values: [] is not a list of 1 or more"),
        ("axis = 3\n", "experiment: unknown key \"axis\""),
        ("[[axis]]\nname = 'a'\n", "axis[0] ('a'): 'values' is missing"),
        ("[[axis]]\nname = 'a'\nvalues = 3\n", "axis[0] ('a').values: 3 is not a list"),
        ("[[axis]]\nname = 'a'\nvalues = ['b']\n", "axis[0] ('a').values[0]: \"b\" is not a table"),
        (AXIS.format("a", '{ name = "x.y" }'), "axis[0] ('a').values[0].name: \"x.y\" is not a name"),
        (AXIS.format("a", '{ name = "x" }, { name = "x" }'), "axis[0] ('a').values[1].name: \"x\" is not accepted"),
        (AXIS.format("a", '{ name = "x" }') * 2, 'axis[1].name: "a" is not accepted twice'),
        (AXIS.format("a", '{ name = "x", y = 1 }'), "axis[0] ('a').values[0] ('x'): unknown key \"y\" (value 1)"),
        (AXIS.format("a", '{ name = "x" }') + ONE, "the file: [[configuration]] is not accepted with [[axis]]"),
        (AXIS.format("a", '{ name = "x", build = "sid" }') + AXIS.format("b", '{ name = "y", build = "sid" }'),
         "configuration 'x.y'.build: \"sid\" is not accepted from two axes"),
        (AXIS.format("a", '{ name = "x", client_env = { A = "1" } }')
         + AXIS.format("b", '{ name = "y", client_env = { A = "2" } }'),
         "configuration 'x.y'.client_env: \"A\" is not accepted from two axes"),
        (AXIS.format("a", '{ name = "x", client_flags = "--api cq" }')
         + AXIS.format("b", '{ name = "y", client_flags = "--api sync" }'),
         "configuration 'x.y'.client_flags: \"--api\" is not accepted twice"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_value(text: str, said: str) -> None:
    assert complaint(HEAD + text).startswith(said)


def test_a_product_that_is_too_large() -> None:
    values = ", ".join(f'{{ name = "{i}" }}' for i in range(40))
    text = AXIS.format("a", values) + AXIS.format("b", values)
    assert complaint(HEAD + text) == "the file: [[axis]] makes 1600 configurations; at most 1000 are accepted"


def test_a_joined_name_that_is_too_long() -> None:
    text = "".join(AXIS.format(c, f'{{ name = "{c * 90}" }}') for c in "abc")
    assert complaint(HEAD + text).endswith("is not accepted: at most 200 characters fit a file's name")


def test_files_that_are_none(tmp_path: Path) -> None:
    assert complaint("[").startswith("not TOML: ")
    assert complaint("") == "the file: 'experiment' is missing"
    assert complaint("experiment = 3") == "experiment: 3 is not a table of keys"
    with pytest.raises(BadExperiment, match="no.toml: No such file"):
        load(tmp_path / "no.toml")
    (tmp_path / "latin.toml").write_bytes(b"\xff")
    with pytest.raises(BadExperiment, match="latin.toml: "):
        load(tmp_path / "latin.toml")
