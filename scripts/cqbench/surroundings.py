"""What a result does not say of itself and its experiment's manifest does: environment variables, and a proxy between.

A manifest is as untrusted as a result: what is used of it is checked here. One that cannot be used is said to be so:
runs of which it is not known how they were made must not be put together.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cqbench import documents
from cqbench.documents import BadDocument, one_line

VERSION = 1  # of the manifests that are read here, written by experiment_manifest.py
MAX_RTT_MS = 1e6
Variables = tuple[tuple[str, str], ...]  # name, value; by name


@dataclass(frozen=True)
class Surroundings:
    """Of one run. Variables: those that the experiment sets for an end, not what that inherits."""

    client_env: Variables = ()
    server_env: Variables = ()
    added_rtt_ns: float | None = None  # to each round trip, by a proxy that may add 0; None without one
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
    """Reads each manifest once. Never fails: see Surroundings.problem."""

    def __init__(self) -> None:
        self._read: dict[Path, dict[str, Surroundings] | str] = {}

    def of(self, manifest: Path, file: str) -> Surroundings:
        """Of the result that the manifest calls by that name. Nothing special where there is no manifest."""
        if manifest not in self._read:
            self._read[manifest] = _read(manifest)
        known = self._read[manifest]
        if isinstance(known, str):
            return Surroundings(problem=known)
        if not known:
            return Surroundings()
        return known.get(file) or Surroundings(problem=f"{one_line(str(manifest))}: has no '{one_line(file)}'")


def _read(path: Path) -> dict[str, Surroundings] | str:
    """By file; empty where there is no manifest; or what is wrong with it."""
    name = one_line(str(path))
    if not path.exists():
        return {}
    if not path.is_file():  # a pipe would never end
        return f"{name}: not a regular file"
    try:
        data = documents.decode(documents.read_bytes(path), name)
    except BadDocument as error:
        return str(error)
    units = data.get("units") if isinstance(data, dict) else None
    if not isinstance(units, list) or not units or data.get("manifest_version") != VERSION:
        return f"{name}: not a manifest of experiment.sh, version {VERSION}"
    files = ((unit["file"], unit) for unit in units if isinstance(unit, dict) and isinstance(unit.get("file"), str))
    return {file: _of_unit(unit, name) for file, unit in files} or f"{name}: its 'units' have no files"


def _of_unit(unit: dict[str, Any], name: str) -> Surroundings:
    """A key that is absent says that there was nothing of the kind."""
    try:
        client, server = (_variables(unit.get(f"{end}_env"), f"{end}_env") for end in ("client", "server"))
        return Surroundings(client, server, _added_rtt_ns(unit.get("network")))
    except _Wrong as wrong:
        return Surroundings(problem=f"{name}: {wrong} of '{one_line(unit['file'])}' has the wrong type")


class _Wrong(ValueError):
    """The text names the key."""


def _variables(value: Any, key: str) -> Variables:
    if value is None:
        return ()
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise _Wrong(f"'{key}'")
    return tuple(sorted(value.items()))


def _added_rtt_ns(network: Any) -> float | None:
    if network is None:
        return None
    added_ms = network.get("added_rtt_ms") if isinstance(network, dict) else None
    # Compared before it is converted: a huge integer does not fit a float. Not a number is in no range.
    if isinstance(added_ms, bool) or not isinstance(added_ms, (int, float)) or not 0 <= added_ms <= MAX_RTT_MS:
        raise _Wrong("'network.added_rtt_ms'")
    return float(added_ms) * 1e6
