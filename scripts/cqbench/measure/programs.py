"""Where the programs are that measure, and how a command line of one of them begins."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cqbench.measure import toxiproxy

ROOT = toxiproxy.ROOT
SCRIPTS = ROOT / "scripts"
NEWGRPC = SCRIPTS / "newgrpc.sh"
RELEASE = ROOT / "build/release/bin"
SID_SHARED = ROOT / "build/sid"  # a folder that the programs of the sid build and this process both see
SERVER, CLIENT = "grpc_ping_server", "grpc_ping_client"
BEFORE, AFTER = "before", "after"  # builds of --gate
Variables = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Programs:
    """The folder of the two programs, and the proxy. newgrpc: the script that runs a program with gRPC 1.83. certs: the
    folder that replaces {certs} in flags while an experiment runs. builds: the folders of --gate."""

    bin: Path
    newgrpc: Path = NEWGRPC
    toxiproxy: Path = field(default_factory=toxiproxy.program)
    certs: str = ""
    builds: Mapping[str, Path] = field(default_factory=dict)

    def folder(self, build: str) -> Path:
        return self.builds.get(build, self.bin)

    def command(self, build: str, program: str, env: Variables = (), tool: tuple[str, ...] = ()) -> list[str]:
        """Without flags. Variables are part of the command, so that the manifest shows them. tool: runs the program."""
        variables = with_variables(env)
        if build == "sid":
            return [str(self.newgrpc), "--run", *variables, *tool, program]
        return [*variables, *tool, str(self.folder(build) / program)]

    def missing(self, *names: str) -> str:
        """The path of the first that is not there; '' when all are."""
        folders = list(self.builds.values()) or [self.bin]
        paths = (folder / name for folder in folders for name in names)
        return next((str(path) for path in paths if not os.access(path, os.X_OK)), "")

    def refusal(self, *names: str) -> str:
        """One line on the first that is not there; '' when all are."""
        path = self.missing(*names)
        if not path:
            return ""
        folder, name, flag = Path(path).parent, Path(path).name, "--gate" if self.builds else "--bin"
        return f"argument {flag}: '{folder}' has no program {name}: a folder with it is accepted"


def with_variables(env: Variables) -> list[str]:
    """Returns the prefix of a command that sets the variables."""
    return ["env", *(f"{name}={value}" for name, value in env)] if env else []
