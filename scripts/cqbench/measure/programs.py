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
DEFAULT, SID = "release", "sid"  # the build of --bin; the one that newgrpc.sh makes
IN_ROOT = "-experimental-"  # in names of builds that grpc.sh makes in newgrpc.sh's root: grpc-1.83.0-experimental-lto
BEFORE, AFTER = "before", "after"  # builds of --gate
NAMED = "a folder that has it, written with a '/', or NAME of build/NAME/bin is accepted"
Variables = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Programs:
    """bin: the folder of the default build's programs. newgrpc: the script that runs a program with gRPC 1.83. certs:
    the folder that replaces {certs} in flags while an experiment runs. builds: the folders of --gate.
    """

    bin: Path
    newgrpc: Path = NEWGRPC
    toxiproxy: Path = field(default_factory=toxiproxy.program)
    certs: str = ""
    builds: Mapping[str, Path] = field(default_factory=dict)

    @property
    def given(self) -> tuple[str, ...]:
        """The builds whose folders options name, which therefore must have the programs."""
        return (DEFAULT, *self.builds)

    def folder(self, build: str = DEFAULT) -> Path:
        """Returns the folder of a build's programs: that of an option; of a text with a '/', that folder; of another
        NAME, build/NAME/bin."""
        known = {DEFAULT: self.bin, **self.builds}
        return known.get(build) or ROOT / (build if "/" in build else f"build/{build}/bin")

    def command(self, build: str, program: str, env: Variables = (), tool: tuple[str, ...] = ()) -> list[str]:
        """Without flags. Variables are part of the command, so that the manifest shows them. tool: runs the program."""
        variables = with_variables(env)
        if inside(build):
            which = () if build == SID else (("CQBENCH_SID_BUILD", build),)
            return [*with_variables(which), str(self.newgrpc), "--run", *variables, *tool, program]
        return [*variables, *tool, str(self.folder(build) / program)]

    def missing(self, *names: str, build: str = DEFAULT) -> str:
        """The path of the first that is not there; '' when all are."""
        paths = (self.folder(build) / name for name in names)
        return next((str(path) for path in paths if not os.access(path, os.X_OK)), "")

    def refusal(self, *names: str, build: str = DEFAULT) -> str:
        """One line on the first that is not there; '' when all are."""
        path = self.missing(*names, build=build)
        if not path:
            return ""
        accepted = ": a folder with it is accepted" if build in self.given else f"; {NAMED}"
        return f"{self.origin(build)}: '{Path(path).parent}' has no program {Path(path).name}{accepted}"

    def origin(self, build: str) -> str:
        """Begins a message about the build: the option that names its folder, or the build itself."""
        if build in self.given:
            return "argument --gate" if build in self.builds else "argument --bin"
        return f'build "{build}"'


def inside(build: str) -> bool:
    """True if newgrpc.sh runs the build's programs, in its root. They do not see our folders."""
    return build == SID or ("/" not in build and IN_ROOT in build)


def with_variables(env: Variables) -> list[str]:
    """Returns the prefix of a command that sets the variables."""
    return ["env", *(f"{name}={value}" for name, value in env)] if env else []
