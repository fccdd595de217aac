"""One's own case from the command line: what --vary takes, the tables it makes, and the file that --save writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cqbench.experiment import spec, vary
from cqbench.experiment.spec import BadExperiment, Experiment
from experiment_standin import ask, manifest_of, statuses
from result_schema import programs as real_programs


def made(*texts: str, client: str = "", server: str = "") -> Experiment:
    return spec.make(vary.tables(texts, client.split(), server), "--vary")


def test_the_case_of_the_help() -> None:
    found = made("channel-policy=shared,pool:2,pool:4", client="--api callback --workload echo --response-bytes 1KiB")
    assert [v.name for v in found.configurations] == ["shared", "pool-2", "pool-4"]
    last = ("--api", "callback", "--workload", "echo", "--response-bytes", "1KiB", "--channel-policy=pool:4")
    assert found.configurations[2].client_flags == last
    assert (found.name, found.title) == ("channel-policy", "channel-policy shared, pool:2 or pool:4")
    assert found.question == (
        "Which is best: channel-policy shared, pool:2 or pool:4, with --api callback --workload echo "
        "--response-bytes 1KiB?"
    )
    assert [load.number for load in found.loads] == [1, 4, 16]
    assert (found.warmup_s, found.interval_s, found.repetitions, found.seed) == (0.2, 1, 7, None)


def test_several_are_a_product_of_both_ends() -> None:
    found = made("env:GRPC_TRACE=,http", "server-env:A=1,2", "server:poll=block,spin", server="--api cq")
    assert len(found.configurations) == 8 and found.name == "env-GRPC_TRACE-server-env-A-server-poll"
    first = found.configurations[0]
    assert first.name == "empty.1.block"
    assert (first.client_env, first.server_env) == ((("GRPC_TRACE", ""),), (("A", "1"),))
    assert first.server_flags == ("--api", "cq", "--poll=block")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a=1,2", ["1", "2"]),
        ("--a=1,2", ["1", "2"]),
        ("a=1;2,3", ["1", "2,3"]),  # a ';' divides, and commas belong to the values
        ("a=x=1,2;y", ["x=1,2", "y"]),
        ("a= 1, 2", [" 1", " 2"]),
    ],
)
def test_how_values_are_divided(text: str, values: list[str]) -> None:
    assert [v.client_flags[-1] for v in made(text).configurations] == [f"--a={value}" for value in values]


def test_names_are_those_of_files_and_differ() -> None:
    assert [v.name for v in made("a=x:1,x/1,x.1").configurations] == ["x-1", "x-1-2", "x-1-3"]


@pytest.mark.parametrize("text", ["", "a", "=1,2", "moon:a=1,2", "a b=1,2", "a=", "a=1", "a=1,1", "a=;"])
def test_what_is_no_vary_is_refused(text: str) -> None:
    with pytest.raises(BadExperiment) as error:
        made(text)
    assert str(error.value).startswith(f"argument --vary: '{text}' is not ")


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(BadExperiment) as error:
        made("a", "b", client="headline")
    lines = str(error.value).splitlines()
    assert len(lines) == 3 and lines[2].startswith("argument --vary: 'headline' is not accepted with it")


def test_a_flag_that_is_there_twice_is_refused() -> None:
    with pytest.raises(BadExperiment, match="--vary: configuration 'cq'.client_flags: \"--api\" is not accepted twice"):
        made("api=sync,cq", client="--api cq")
    with pytest.raises(BadExperiment, match="the experiment's own keys or the runner give --inflight-list"):
        made("api=sync,cq", client="--inflight-list 4")


def run_vary(programs: Path, *words: str, **more: str) -> tuple[int, str, str]:
    where = ("--bin", str(programs), "--results", str(programs.parent / "results"))
    return ask("--vary", "api=sync,cq", "--inflight", "4", "--repetitions", "1", *where, *words, **more)


def test_it_runs_and_what_is_saved_runs_the_same(programs: Path) -> None:
    saved = programs.parent / "mine.toml"
    status, stdout, stderr = run_vary(programs, "--save", str(saved), "--", "--streaming")
    assert status == 0, stderr
    (first,) = (programs.parent / "results").iterdir()
    assert set(statuses(first)) == {"sync/01-4", "cq/01-4"} and "api sync or cq" in stdout
    where = ("--bin", str(programs), "--results", str(programs.parent / "again"))
    status, _, stderr = ask(str(saved), *where)
    assert status == 0, stderr
    (again,) = (programs.parent / "again").iterdir()
    assert commands(again) == commands(first) and len(commands(first)) == 2
    status, _, stderr = run_vary(programs, "--save", str(saved))
    assert (status, stderr.count("\n")) == (
        2,
        1,
    ) and f"argument --save: '{saved}' cannot be written: File exists" in stderr


def commands(folder: Path) -> list[Any]:
    entries = manifest_of(folder)["runs"]
    return [[w for w in u["client_command"].split() if not w.endswith(".json")] for u in entries]


def test_a_shipped_experiment_is_saved_as_the_flags_change_it(tmp_path: Path) -> None:
    saved = tmp_path / "mine.toml"
    status, planned, _ = ask("headline", "--plan", "--inflight", "4", "--interval", "2s", "--save", str(saved))
    assert status == 0
    assert ask(str(saved), "--plan")[1] == planned and "interval = 2.0" in saved.read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["headline", "--", "--api", "cq"],
            "'--api' is not accepted behind 'headline'; flags of the client need --vary",
        ),
        (["headline", "--server-flags", "-x"], "argument --server-flags: '-x' is not accepted without --vary"),
        (["--vary", "a=1,2", "--api", "cq"], "No such option"),
        ([], "NAME, FILE.toml or --vary is missing"),
        (["--vary", "a=1,2", "--inflight", "1", "--rate", "1"], "is not accepted with inflight"),
    ],
)
def test_usage(words: list[str], said: str) -> None:
    status, stdout, stderr = ask(*words, "--plan") if "--" not in words else ask("--plan", *words)
    assert (status, stdout, stderr.count("\n")) == (2, "", 1) and said in stderr


def test_with_the_real_programs(tmp_path: Path) -> None:
    words = ("--vary", "channel-policy=shared,pool:2", "--inflight", "4", "--warmup", "10ms", "--interval", "1s")
    where = ("--repetitions", "2", "--bin", str(real_programs()), "--results", str(tmp_path / "r"))
    status, stdout, stderr = ask(
        *words, *where, "--", "--api", "callback", "--workload", "echo", "--response-bytes", "1024"
    )
    assert status == 0, stderr + stdout
    (folder,) = (tmp_path / "r").iterdir()
    assert set(statuses(folder).values()) == {"ok"} and len(statuses(folder)) == 4
    begun = [u["started"] for u in manifest_of(folder)["runs"]]
    assert begun == sorted(begun)
