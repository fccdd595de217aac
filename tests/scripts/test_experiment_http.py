"""Configurations whose client connects to the server's HTTP port: which addresses it is given, and what is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from cqbench.experiment import flags, plan
from cqbench.experiment.order import make_order
from cqbench.experiment.spec import BadExperiment, parse
from cqbench.formats.runs import read_all
from cqbench.measure.cpus import Placement
from cqbench.measure.processes import Server, ServerFailed
from cqbench.measure.programs import Programs
from cqbench.model import setting
from experiment_standin import SERVER, ask, finish, make_programs, manifest_of, only_folder, start
from test_experiment_file import HEAD
from test_toxiproxy import make_standin

BOTH_PORTS = """
print("listening on localhost:7", flush=True)
time.sleep(0.1)
print("HTTP on localhost:8", flush=True)
"""
HTTP_SERVER = SERVER.replace('print("listening on localhost:7", flush=True)\n', BOTH_PORTS)
OWN = f"#!{sys.executable}\nimport time\n{BOTH_PORTS}time.sleep(60)\n"
ONCE = HEAD.replace("repetitions = 2", "repetitions = 1").replace("[1, 4]", "[1]")


def commands_of(programs: Path) -> dict[str, list[str]]:
    """By configuration, what its client was started with."""
    return {
        entry["configuration"]: entry["client_command"].split() for entry in manifest_of(only_folder(programs))["runs"]
    }


def value(command: list[str], flag: str) -> str:
    return command[command.index(flag) + 1] if flag in command else ""


def test_the_client_gets_the_http_port_and_the_other_to_ask(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text(OWN)
    own.chmod(0o755)
    configurations = f"""
[[configuration]]
name = "grpc"
[[configuration]]
name = "http"
connect = "http"
[[configuration]]
name = "own"
connect = "http"
server_program = "{own}"
"""
    programs = make_programs(tmp_path, server=HTTP_SERVER, toml=ONCE + configurations)
    status, stdout, stderr = finish(start(programs))
    assert status == 0, stdout + stderr
    commands = commands_of(programs)
    seen = {name: (value(c, "--host"), value(c, "--control"), "--server-pid" in c) for name, c in commands.items()}
    assert seen == {
        "grpc": ("localhost:7", "", False),
        "http": ("localhost:8", "localhost:7", False),
        "own": ("localhost:8", "", True),
    }


def test_what_answers_there_is_a_part_of_the_setting(tmp_path: Path) -> None:
    configurations = "".join(
        f'[[configuration]]\nname = "{name}"\nserver_flags = "--api sync --http localhost:0 {flags}"\n'
        f'connect = "{port}"\n'
        for name, port, flags in (
            ("none", "http", "--transcoder none"),
            ("direct", "http", "--transcoder=descriptor --backend direct"),
            ("grpc", "grpc", "--transcoder none"),
        )
    )
    programs = make_programs(tmp_path, server=HTTP_SERVER, toml=ONCE + configurations)
    status, stdout, stderr = finish(start(programs))
    assert status == 0, stdout + stderr
    found = {run.configuration: setting.of(run).get("server.front") for run in read_all([only_folder(programs)])}
    assert found == {"none": "transcoder none", "direct": "transcoder descriptor, backend direct", "grpc": ""}


def test_a_proxy_stands_before_the_http_port(tmp_path: Path) -> None:
    proxied = '[[configuration]]\nname = "far"\nconnect = "http"\nadded_rtt = "0ms"\n'
    programs = make_programs(tmp_path, server=HTTP_SERVER, toml=ONCE + proxied)
    proxy = make_standin(tmp_path / "proxy")
    status, stdout, stderr = finish(start(programs, CQBENCH_TOXIPROXY=str(proxy)))
    assert status == 0, stdout + stderr
    assert value(commands_of(programs)["far"], "--control") == "localhost:7"
    assert value(commands_of(programs)["far"], "--host").startswith("127.0.0.1:")
    asked = [json.loads(line) for line in (tmp_path / "proxy/asked").read_text().splitlines()]
    assert [body["upstream"] for _, body in asked if "upstream" in (body or {})] == ["localhost:8"]


def test_a_server_without_an_http_port_is_said(tmp_path: Path) -> None:
    (tmp_path / "server").write_text(SERVER)
    (tmp_path / "server").chmod(0o755)
    server = Server([str(tmp_path / "server")], tmp_path / "log", http=True)
    server.start_timeout_s = 1.0
    with pytest.raises(ServerFailed, match="does not say `HTTP on HOST:PORT` within 1 s: listening on"), server:
        pass
    assert not server.alive()


def test_flags_are_checked_with_it_and_the_plan_shows_it(tmp_path: Path) -> None:
    experiment = parse(f'{ONCE}[[configuration]]\nname = "a"\nconnect = "http"\n', "x.toml")
    nowhere, programs = Placement((), (), ""), Programs(tmp_path, Path("/none"))
    client, _ = flags._commands(experiment, experiment.configurations[0], nowhere, programs)
    assert value(list(client), "--control")
    text = plan.describe(experiment, make_order(["a"], experiment.loads, 1, 1), 1, {"a": nowhere}, programs)
    assert "--host HOST:PORT --control GRPC-HOST:PORT" in text


def test_what_it_can_be(tmp_path: Path) -> None:
    with pytest.raises(BadExperiment, match="connect: \"both\" is not 'grpc' or 'http'"):
        parse(f'{ONCE}[[configuration]]\nname = "a"\nconnect = "both"\n', "x.toml")
    with pytest.raises(BadExperiment, match='connect: "http" is not accepted with host'):
        parse(f'{ONCE}[[configuration]]\nname = "a"\nconnect = "http"\nhost = "h:1"\n', "x.toml")
    (tmp_path / "x.toml").write_text(f'{ONCE}[[configuration]]\nname = "a"\nconnect = "http"\n')
    status, _, stderr = ask(str(tmp_path / "x.toml"), "--host", "h:1", "--plan")
    assert status == 2 and "configuration 'a'.connect is \"http\"" in stderr
