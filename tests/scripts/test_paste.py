"""Lines that people paste: a real shell, and a real compiler, read of them what was meant."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path

import pytest
from cqbench.analysis.tune import workloads
from cqbench.analysis.tune.catalogue import Candidate, candidates
from experiment_standin import finish, make_programs, only_folder, order, start, wait_for
from tune_simulated import setting

VALUES = [
    "plain",
    "two words",
    "it's",
    'a"b',
    "$(id)",
    "a;b",
    "*",
    "back\\slash",
    "{}",
    '{"a": [1, "two"]}',
    "x#y",
    "-1",
]


def shell(line: str, show: str = "printf '%s\\0' \"$@\"") -> list[str]:
    """The arguments that a command gets on this line of a shell."""
    program = f'grpc_ping_client() {{ {show}; }}; grpc_ping_server() {{ grpc_ping_client "$@"; }}; {line}'
    done = subprocess.run(["sh", "-c", program], capture_output=True, text=True, timeout=20, check=True)
    return done.stdout.split("\0")[:-1]


def candidate(kind: str, key: str, value: str, end: str = "client") -> Candidate:
    return candidates(setting("a", kind=kind, key=key, values=[value], end=end, readers=[]))[0]


def pasted(one: Candidate, begin: str) -> str:
    (line,) = (line for line in workloads.paste([one]) if line.startswith(begin))
    return line.removeprefix(begin).strip()


@pytest.mark.parametrize("value", VALUES)
def test_a_shell_takes_what_tune_prints(value: str) -> None:
    for end in ("client", "server"):
        line = pasted(candidate("channel-arg", "grpc.x", value, end), f"{end}, here:")
        assert shell(line) == [f"--channel-arg=grpc.x={value}"]
    flag = pasted(candidate("flag", "--messages", value), "client, here:")
    assert shell(flag) == [f"--messages={value}"]
    variable = pasted(candidate("environment", "SOME", value), "client, env:")
    assert shell(f"{variable}; printf '%s\\0' \"$SOME\"") == [value]


def test_a_compiler_takes_what_tune_prints(tmp_path: Path) -> None:
    lines = [pasted(candidate("channel-arg", "grpc.x", value), "client, C++:") for value in VALUES]
    source = "#include <stdio.h>\nstruct Arguments {\n"
    source += 'void SetString(const char* key, const char* value) { printf("%s=%s\\n", key, value); }\n'
    source += 'void SetInt(const char* key, int value) { printf("%s=%d\\n", key, value); }\n} args;\n'
    (tmp_path / "pasted.cc").write_text(source + "int main() {\n" + "\n".join(lines) + "\n}\n")
    subprocess.run(["c++", "-o", "pasted", "pasted.cc"], cwd=tmp_path, check=True, timeout=60)
    done = subprocess.run([tmp_path / "pasted"], capture_output=True, text=True, timeout=20, check=True)
    assert done.stdout.splitlines() == [f"grpc.x={value}" for value in VALUES]


def test_a_shell_takes_what_run_prints(tmp_path: Path) -> None:
    (parent := tmp_path / "it's two; words").mkdir()
    programs = make_programs(parent)
    process = start(programs, STANDIN_WAITS=order()[-1])
    wait_for(programs / "waiting")
    process.send_signal(signal.SIGINT)
    status, stdout, _ = finish(process)
    assert status == 130
    (said,) = (line for line in stdout.splitlines() if line.startswith("PARTIAL: "))
    (command,) = re.findall(r"(--resume .*) runs them$", said)
    assert shell(f"grpc_ping_client {command}") == ["--resume", str(only_folder(programs))]
