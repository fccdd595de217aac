"""How client processes are started together: by mpirun, by srun, or each by a command of its own. Starts nothing.

Launchers must not undo pinning, so they are told to bind nothing and each rank's command pins itself.
"""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from cqbench.formats.offered import Load
from cqbench.measure.ranks import hosts, template
from cqbench.measure.ranks.hosts import HERE

NONE, MPIRUN, SRUN = "none", "mpirun", "srun"
LAUNCHERS = (MPIRUN, SRUN, NONE)
MAX_RANKS = 10_000
# Flags that end a run by what one process measures, at a different time in each rank; the client refuses them, too.
BY_ITSELF = ("--until-stable", "--find-rate", "--lower-bound")
PATIENCE_S = 30  # of a rank with the others, when a point is to begin
# The time that mpirun waits, after it has lost a rank or got a SIGTERM, before it sends SIGTERM to the ranks, and again
# before it kills them. A rank then waits for its calls for a second (kDrainAfterSignal, src/load/run/drain.h) and
# writes its file, which may be on a slow file system. Open MPI's default is one second.
STOP_S = 5


NAMED = 8  # ranks in a sentence


def names(ranks: Sequence[int]) -> str:
    """'rank 3', 'ranks 0, 2 and 5', 'ranks 0, 1, 2, 3, 4, 5, 6, 7 and 92 more', as the client's RankNames()."""
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    shown = [str(r) for r in ranks[:NAMED]]
    last = f"{len(ranks) - NAMED} more" if len(ranks) > NAMED else shown.pop()
    return f"ranks {', '.join(shown)} and {last}"


@dataclass(frozen=True)
class Launch:
    """hosts: of each rank; '' is this machine. cpus: lists for the ranks of a machine in turn; empty: not pinned.

    template: what a rank's command is put behind, such as 'ssh {host}'; launcher none only. server_address: by which
    the ranks reach a server that is started here; '' where all are here, too.
    """

    hosts: tuple[str, ...]
    launcher: str
    cpus: tuple[str, ...] = ()
    template: str = ""
    server_address: str = ""

    @property
    def count(self) -> int:
        return len(self.hosts)

    @property
    def words(self) -> str:
        """'8 on a:4, b:4 by mpirun'."""
        by = f" by {self.launcher}" if self.launcher != NONE else ""
        return f"{self.count} on {hosts.words(self.hosts)}{by}"

    @property
    def program(self) -> str:
        """The suffix of the client's name: MPI's launchers need the program that uses MPI."""
        return "" if self.launcher == NONE else "_mpi"

    @property
    def interrupt(self) -> int:
        """The signal after which ranks write their results. mpirun would hold SIGINT back, and srun interprets it;
        the client accepts SIGUSR1 instead.
        """
        return signal.SIGINT if self.launcher == NONE else signal.SIGUSR1

    def at(self, load: Load) -> Launch:
        """With as many ranks as there are calls in flight to divide, spread over the machines."""
        count = self.count if load.open else min(self.count, int(load.number))
        return replace(self, hosts=tuple(self.hosts[i * self.count // count] for i in range(count)))

    def pinned(self) -> tuple[str, ...]:
        """The CPUs of each rank; '' for all of the machine's."""
        places: dict[str, int] = {}
        found = []
        for host in self.hosts:
            place = places[host] = places.get(host, -1) + 1
            found.append(self.cpus[place % len(self.cpus)] if self.cpus else "")
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def from_json(data: Any) -> Launch:
    """Reads the JSON of to_json(). Raises ValueError."""
    try:
        found = {**data, "hosts": tuple(data["hosts"]), "cpus": tuple(data["cpus"])}
        launch = Launch(**found)
    except (KeyError, TypeError):
        raise ValueError("what it says of ranks cannot be read") from None
    if not launch.hosts or launch.launcher not in LAUNCHERS or not isinstance(launch.template, str):
        raise ValueError("what it says of ranks cannot be read")
    return launch


def commands(launch: Launch, client: list[str], folder: Path, seen_as: str = "") -> list[list[str]]:
    """Returns the commands to start, all at once. client: the program with its flags, not pinned. folder: the ranks
    write their files there; for srun, its input is written there first. seen_as: the client's name of the folder, if
    different. Raises OSError.
    """
    where = ["--rendezvous", seen_as or str(folder)]
    each = [_pinned([*client, *where], cpus) for cpus in launch.pinned()]
    if launch.launcher == MPIRUN:
        return [_mpirun(launch, each)]
    if launch.launcher == SRUN:
        return [_srun(launch, each, folder)]
    together = ["--ranks", str(launch.count), "--rank-timeout", str(PATIENCE_S)]
    return [
        template.filled(launch.template, launch.hosts[i], [*command, *together, "--rank", str(i)])
        for i, command in enumerate(each)
    ]


def _pinned(command: list[str], cpus: str) -> list[str]:
    return ["taskset", "-c", cpus, *command] if cpus else command


def _mpirun(launch: Launch, each: list[list[str]]) -> list[str]:
    """Neighbours with the same command are one part of it. Waiting ranks yield, as they may be more than CPUs."""
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    settings = ["--mca", "mpi_yield_when_idle", "1", "--mca", "odls_base_sigkill_timeout", str(STOP_S)]
    parts: list[tuple[str, list[str], int]] = []
    for host, command in zip(launch.hosts, each, strict=True):
        if parts and parts[-1][:2] == (host, command):
            parts[-1] = (host, command, parts[-1][2] + 1)
        else:
            parts.append((host, command, 1))
    words: list[str] = []
    for host, command, number in parts:
        at = [] if host == HERE else ["-host", f"{host}:{number}"]
        words += [*([":"] if words else []), "-np", str(number), *at, *command]
    return ["mpirun", "--bind-to", "none", "--oversubscribe", *root, *settings, *words]


def _srun(launch: Launch, each: list[list[str]], folder: Path) -> list[str]:
    """The ranks' commands are a script, which each task asks for its own: srun has no other way to quote them."""
    script, machines = folder / "ranks.sh", folder / "hosts"
    cases = "".join(f"  {i}) exec {shlex.join(command)} ;;\n" for i, command in enumerate(each))
    script.write_text(f'case "$SLURM_PROCID" in\n{cases}esac\n', encoding="utf-8")
    named = [host for host in launch.hosts if host]
    arbitrary = []
    if named:
        machines.write_text("".join(f"{host}\n" for host in named), encoding="utf-8")
        arbitrary = ["--distribution=arbitrary", "--nodes", str(len(set(named)))]
    flags = ["--mpi=pmix", "--cpu-bind=none", "--overlap", "--kill-on-bad-exit=0", "--ntasks", str(launch.count)]
    setting = ["env", f"SLURM_HOSTFILE={machines}"] if named else []
    return [*setting, "srun", *flags, *arbitrary, "sh", str(script)]
