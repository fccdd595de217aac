"""The client of a run as several processes: their commands, started together, and one result of their files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from cqbench.experiment.spec import Configuration
from cqbench.formats.text import format_cpus
from cqbench.measure import together
from cqbench.measure.cpus import Placement
from cqbench.measure.processes import Finished
from cqbench.measure.programs import inside
from cqbench.measure.ranks import launch, merge
from cqbench.measure.ranks.launch import Launch
from cqbench.measure.session import Session

FOLDER = "ranks"  # in the folder of results: each run's rank files
SHARED = "/cqbench/shared"  # what a client of the sid build calls the folder that scripts/newgrpc.sh shows it
AGREE_S = 45.0  # starting on other machines, and agreeing on a window; more than what ranks wait for each other
# After a signal, to hand over what there is. Longer than mpirun's two waits, so that it is never killed before it has
# killed a rank that hangs; shorter than the 30 s after which Slurm kills a job whose time is over (KillWait).
GRACE_S = 3.0 * launch.STOP_S


def server_flags(of: Launch | None, configuration: Configuration) -> list[str]:
    """For a server that other machines reach."""
    return ["--host", "0.0.0.0"] if of and of.server_address and not configuration.server_program else []


def target(of: Launch | None, host: str, configuration: Configuration) -> str:
    """Where the clients find a server that is started here. host: as it says where it listens."""
    return (
        f"{of.server_address}:{host.rpartition(':')[2]}"
        if of and of.server_address and not configuration.host
        else host
    )


def pinned(of: Launch, placement: Placement) -> Launch:
    """On the client's CPUs, where no CPUs are given and all processes are on this machine."""
    if of.cpus or not placement.client or any(of.hosts):
        return of
    return replace(of, cpus=(format_cpus(placement.client),))


def commands(of: Launch, client: list[str], build: str, folder: Path) -> list[list[str]]:
    """client: not pinned, without --output. folder: for rank files, which is there and empty. Raises OSError."""
    elsewhere = inside(build)  # it does not see our folders
    shown = ["env", f"CQBENCH_SID_SHARED={folder.resolve()}"] if elsewhere else []
    return launch.commands(of, [*shown, *client], folder, SHARED if elsewhere else "")


def measure(
    of: Launch,
    started: Sequence[list[str]],
    folder: Path,
    path: Path,
    merger: Path,
    session: Session,
    patience_s: float,
    tick: Callable[[float], None],
) -> Finished:
    """started: as commands() makes them. path: of the merged result. merger: the program that merges. Raises
    OSError.
    """
    patience_s += AGREE_S
    done = together.run_all(started, folder, session.interrupt, patience_s, GRACE_S, tick, of.interrupt)
    merged = merge.collect(merger, folder, path, of.pinned())
    problem = complaint(of, done) or merged
    stderr = "\n".join(one.stderr for one in done if one.returncode or one.why)
    return Finished(1 if problem else 0, "", stderr, problem)


def complaint(of: Launch, done: Sequence[Finished]) -> str:
    """Returns one line about the first process that failed; '' if none did."""
    bad = [(i, one) for i, one in enumerate(done) if one.returncode or one.why]
    if not bad:
        return ""
    first, one = bad[0]
    who = f"rank {first}" if of.launcher == launch.NONE else of.launcher
    more = f"; and {len(bad) - 1} more ranks" if len(bad) > 1 else ""
    return f"{who}: {one.complaint()}{more}"
