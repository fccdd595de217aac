"""One result of the files that ranks left. The client merges them: it has their histograms, and adds those up."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cqbench.formats import storage
from cqbench.formats.source import BadDocument, decode, read_bytes
from cqbench.measure.ranks.launch import names

Json = dict[str, Any]

PROGRAM = "grpc_ping_client"
CPUS = "rank-cpus"


def merge(client: Path, files: Sequence[Path], output: Path) -> str:
    """Writes the merged result. Returns why it could not, one line; '' where it could."""
    command = [str(client), "--merge", *map(str, files), "--format", "json", "--output", str(output)]
    try:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    except OSError as error:
        return f"cannot run {client}: {error.strerror}"
    said = done.stderr.strip().removeprefix(f"{PROGRAM}: ").splitlines()
    return (said[-1] if said else f"{client} ended with status {done.returncode}") if done.returncode else ""


def collect(client: Path, folder: Path, output: Path, cpus: Sequence[str]) -> str:
    """Merges what rank files there are into output. What is wrong with them, one line; '' for nothing. Raises OSError.

    client: the program that merges. cpus: as check_cpus() has them. A rank that was killed may have left half a file,
    or one without a point: it is missing.
    """
    usable, problems = [], []
    for path in sorted(folder.glob("rank-*.json")):
        try:
            found = decode(read_bytes(path), str(path))
        except BadDocument as error:
            problems.append(str(error))
            continue
        if isinstance(found, dict) and found.get("rank_reports"):
            usable.append(path)
        else:
            problems.append(f"{path}: there is no point in it")
    if usable:
        why = merge(client, usable, output)
        problems += [why] if why else []
        if not why:
            check_cpus(output, cpus)
    return problems[0] if problems else ("" if usable else "no rank left a result")


def check_cpus(output: Path, cpus: Sequence[str]) -> None:
    """Adds a warning to the points of a merged result whose ranks had other CPUs than they were pinned to.

    cpus: of each rank, those that it was pinned to; '' where it was not.
    """
    if not any(cpus):
        return
    found = json.loads(output.read_bytes())
    for point in (*found["benchmarks"], *found["not_measured"]):
        point["warnings"] += _elsewhere(point["ranks"]["per_rank"], cpus) if "ranks" in point else ()
    storage.write_json(output, found)


def _elsewhere(rows: Sequence[Json], cpus: Sequence[str]) -> Iterator[Json]:
    pinned = [(row, cpus[row["rank"]]) for row in rows if row["rank"] < len(cpus) and cpus[row["rank"]]]
    wrong = [row for row, text in pinned if _set(text) != _set(row.get("cpus_allowed", ""))]
    if wrong:
        first = wrong[0]
        had = f"rank {first['rank']} to {first.get('cpus_allowed') or 'unknown ones'}, not to {cpus[first['rank']]}"
        yield {"code": CPUS, "text": f"{names([r['rank'] for r in wrong])} had other CPUs than asked for: {had}"}


def _set(text: str) -> set[str]:
    """'0-2,8' -> 0, 1, 2, 8. What is no list is its own."""
    found: set[str] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        whole = first.isdigit() and (last or first).isdigit() and len(part) < 12
        found |= {str(n) for n in range(int(first), int(last or first) + 1)} if whole else {part}
    return found
