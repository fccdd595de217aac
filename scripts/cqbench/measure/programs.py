"""Where the programs are that measure, and how a command line of one of them begins."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from cqbench.measure import toxiproxy

ROOT = toxiproxy.ROOT
SCRIPTS = ROOT / "scripts"
NEWGRPC = SCRIPTS / "newgrpc.sh"
RELEASE = ROOT / "build/release/bin"
SID_SHARED = ROOT / "build/sid"  # a folder that the programs of the sid build and this process both see
SERVER, CLIENT = "grpc_ping_server", "grpc_ping_client"
Variables = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Programs:
    """The folder of the two programs, and the proxy. newgrpc: the script that runs a program with gRPC 1.83. certs: the
    folder that replaces {certs} in flags while an experiment runs."""

    bin: Path
    newgrpc: Path = NEWGRPC
    toxiproxy: Path = field(default_factory=toxiproxy.program)
    certs: str = ""

    def command(self, build: str, program: str, env: Variables = (), tool: tuple[str, ...] = ()) -> list[str]:
        """Without flags. Variables are part of the command, so that the manifest shows them. tool: runs the program."""
        variables = with_variables(env)
        if build == "sid":
            return [str(self.newgrpc), "--run", *variables, *tool, program]
        return [*variables, *tool, str(self.bin / program)]

    def missing(self, *names: str) -> str:
        """The first that is not there; '' when all are."""
        return next((name for name in names if not os.access(self.bin / name, os.X_OK)), "")

    def refusal(self, *names: str) -> str:
        """One line on the first that is not there; '' when all are."""
        name = self.missing(*names)
        return f"argument --bin: '{self.bin}' has no program {name}: a folder with it is accepted" if name else ""


def with_variables(env: Variables) -> list[str]:
    """Returns the prefix of a command that sets the variables."""
    return ["env", *(f"{name}={value}" for name, value in env)] if env else []
