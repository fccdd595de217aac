"""Facts that a result lacks and its experiment's manifest has: environment variables, a proxy in between, and another
project's server.

A manifest is as untrusted as a result: every value that is used is checked here. A manifest that cannot be used leads
to a warning: runs of unknown origin must not be put together. A manifest of another format ends the reading.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from cqbench.formats import manifest
from cqbench.formats.manifest import Fault, RunRecord
from cqbench.formats.source import BadDocument, OtherFormat
from cqbench.formats.text import one_line

Variables = tuple[tuple[str, str], ...]  # name, value; by name


@dataclass(frozen=True)
class Surroundings:
    """The surroundings of one run. Variables: those that the experiment sets for an end, not inherited ones."""

    client_env: Variables = ()
    server_env: Variables = ()
    added_rtt_ns: float | None = None  # to each round trip, by a proxy that may add 0; None without one
    fault: Fault | None = None  # what went wrong in the window
    servers: int = 1
    ranks: str = ""  # client processes that were asked for: '8 on a, b:4'; '' where there was one
    server_program: str = ""  # with its flags, where it is not ours
    server_front: str = ""  # what answers at its HTTP port, where the client is sent there
    problem: str = ""  # one line: why none of it is known though there is a manifest

    def environment(self, client_without: Collection[str] = ()) -> str:
        """In words, what both ends have said once; '' for nothing. client_without: names left out of the client's."""
        client = [v for v in self.client_env if v[0] not in client_without]
        both = [v for v in client if v in self.server_env]
        ends = {
            "both ends": both,
            "client": [v for v in client if v not in both],
            "server": [v for v in self.server_env if v not in both],
        }
        said = (f"{end} {' '.join(f'{name}={value}' for name, value in of)}" for end, of in ends.items() if of)
        return ", ".join(said)

    def network(self) -> str:
        """In words; '' without a proxy."""
        return "" if self.added_rtt_ns is None else f"{self.added_rtt_ns / 1e6:g} ms added by a proxy"


class Manifests:
    """Reads each manifest once. Defects are in Surroundings.problem."""

    def __init__(self) -> None:
        self._read: dict[Path, dict[str, Surroundings] | str] = {}

    def of(self, path: Path, file: str) -> Surroundings:
        """Returns the surroundings of the result with that name in the manifest; the defaults if there is no
        manifest. Raises OtherFormat.
        """
        if path not in self._read:
            self._read[path] = _read(path)
        known = self._read[path]
        if isinstance(known, str):
            return Surroundings(problem=known)
        if not known:
            return Surroundings()
        return known.get(file) or Surroundings(problem=f"{one_line(str(path))}: has no '{one_line(file)}'")


def _read(path: Path) -> dict[str, Surroundings] | str:
    """By file; empty where there is no manifest; or what is wrong with it."""
    if not path.exists():
        return {}
    try:
        return {run.file: _of_run(run, path) for run in manifest.load(path).runs}
    except OtherFormat:
        raise
    except BadDocument as error:
        return str(error)


def _of_run(run: RunRecord, path: Path) -> Surroundings:
    if run.problem:
        return Surroundings(problem=f"{one_line(str(path))}: {run.problem}")
    client, server = (tuple(sorted(env.items())) for env in (run.client_env, run.server_env))
    added_rtt_ns = run.network.added_rtt_ms * 1e6 if run.network else None
    return Surroundings(
        client,
        server,
        added_rtt_ns,
        run.fault,
        run.servers,
        run.ranks,
        " ".join(run.server_program),
        ", ".join(run.server_front),
    )
