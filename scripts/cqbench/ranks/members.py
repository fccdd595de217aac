"""The files that client processes left of one measurement: read, and refused where they do not belong together."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cqbench.files import result
from cqbench.files.model import complaint
from cqbench.files.ranks import Rank
from cqbench.files.source import BadDocument, decode, read_bytes
from cqbench.files.text import one_line

Json = dict[str, Any]
Key = tuple[int, int]  # repetition, which of the loads

# Numbers of calls that are divided: shares may differ by one.
SHARES = ("total_calls", "skip_first")
# What may differ from rank to rank: the machine, when it began, and what it drew. Everything else must be the same.
OWN = frozenset(
    {
        *("date", "host_name", "executable", "num_cpus", "mhz_per_cpu", "cpu_scaling_enabled", "load_avg"),
        *("command_line", "affinity", "cpu_model", "kernel", "boot_id", "clock_source", "caches"),
        *("servers", "suspect", "notes", "partial", "schedule_seed", "data_seed", "protobuf_version", "compiler"),
        *SHARES,
    }
)
# Flags whose value is a rank's own.
OWN_FLAGS = frozenset({"--rank", "--output", "--client-cpus", "--schedule-seed", "--data-seed"})


@dataclass(frozen=True)
class Member:
    """One rank's file. points: as they are in it, by repetition and load."""

    path: str
    context: Json
    points: dict[Key, Json]
    rank: Rank  # of its first point; index, count and host are those of all
    extras: tuple[str, ...]  # keys of the file that are not merged

    def window(self, key: Key) -> Rank:
        """The point's own."""
        return Rank.model_validate(self.points[key]["rank"])


def load(paths: Sequence[Path]) -> list[Member]:
    """In the order of the ranks. Raises BadDocument, for files that do not belong together too."""
    members = sorted((_member(path) for path in paths), key=lambda m: m.rank.index)
    first = members[0]
    for before, one in itertools.pairwise(members):
        if before.rank.index == one.rank.index:
            raise BadDocument(f"{one.path}: rank {one.rank.index} is there twice: {before.path} is of it, too")
    for one in members[1:]:
        _belongs(one, first)
    return members


def _member(path: Path) -> Member:
    name = one_line(str(path))
    data = read_bytes(path)
    found = decode(data, name)
    context = found.get("context") if isinstance(found, dict) else None
    version = context.get("schema_version", 1) if isinstance(context, dict) else result.SCHEMA_VERSION
    if version != result.SCHEMA_VERSION:
        raise BadDocument(f"{name}: schema_version {version}: ranks are merged from files of {result.SCHEMA_VERSION}")
    result.parse(data, name)  # everything that readers of results rely on
    if found.get("find_rate") is not None:
        raise BadDocument(
            f"{name}: the answer of a search (--find-rate) cannot be merged: every rank searched by itself"
        )
    points: dict[Key, Json] = {}
    for place in ("benchmarks", "not_measured"):
        for i, entry in enumerate(found.get(place) or []):
            if entry["run_type"] != "iteration":
                continue
            where = f"{place}[{i}]"
            key = (entry["repetition_index"], entry.get("per_family_instance_index", 0))
            if key in points:
                raise BadDocument(f"{name}: {where} is of the same load and repetition as another point")
            points[key] = _checked(entry, name, where)
    if not points:
        raise BadDocument(f"{name}: there is no point in it")
    ranks = [Rank.model_validate(point["rank"]) for point in points.values()]
    if len({(r.index, r.count, r.host) for r in ranks}) > 1:
        raise BadDocument(f"{name}: its points are of different ranks")
    extras = tuple(key for key in ("statistics", "baselines", "allocation_sites") if found.get(key))
    return Member(name, found["context"], points, ranks[0], extras)


# What a merge takes for granted beside what every reader of results does.
KINDS: dict[str, type | tuple[type, ...]] = {
    "name": str, "start_time": str, "window_ns": int, "throughput_per_second": (int, float), "channels": int,
    "notes": list, "suspect": list, "limits": list, "completed_per_slot": list, "channels_of_thread": list,
}  # fmt: skip
COUNTS = ("calls_due", "calls_sent", "calls_dropped", "calls_unsent", "calls_ok", "failed", "unfinished", "completed")


def _checked(entry: Json, name: str, where: str) -> Json:
    """Raises BadDocument."""
    if "rank" not in entry:
        raise BadDocument(f"{name}: {where} has no 'rank': it is not the file of one of several client processes")
    try:
        Rank.model_validate(entry["rank"])
    except ValidationError as error:
        raise BadDocument(f"{name}: {complaint(error, [where, 'rank'])}") from None
    for key, kind in KINDS.items():
        if not isinstance(entry.get(key), kind):
            raise BadDocument(f"{name}: '{key}' in {where} is missing or has the wrong type")
    for key in COUNTS:
        if type(entry.get(key)) is not int or entry[key] < 0:
            raise BadDocument(f"{name}: '{key}' in {where} is not a count")
    due, sent = (
        entry["calls_sent"] + entry["calls_dropped"] + entry["calls_unsent"],
        entry["calls_ok"] + entry["failed"] + entry["unfinished"],
    )
    if (entry["calls_due"], entry["calls_sent"]) != (due, sent):
        raise BadDocument(f"{name}: calls in {where} do not add up: {entry['calls_due']} due, {due} accounted for")
    return entry


def _belongs(one: Member, first: Member) -> None:
    """Raises BadDocument."""
    if one.rank.count != first.rank.count:
        said = f"one of {one.rank.count} ranks, {first.path} one of {first.rank.count}"
        raise BadDocument(f"{one.path}: not of the same measurement: {said}")
    for key in sorted((one.context.keys() | first.context.keys()) - OWN):
        ours, theirs = one.context.get(key), first.context.get(key)
        if ours != theirs:
            said = f"'{key}' is {_show(ours)}, in {first.path} {_show(theirs)}"
            raise BadDocument(f"{one.path}: not of the same measurement: {said}")
    ours, theirs = (_command(member.context) for member in (one, first))
    if ours != theirs:
        differ = next((w for w in (*ours, *theirs) if (w in ours) != (w in theirs)), "their order")
        raise BadDocument(f"{one.path}: not of the same measurement as {first.path}: the commands differ ({differ})")


def _show(value: Any) -> str:
    return "absent" if value is None else one_line(repr(value), 60)


def _command(context: Json) -> list[str]:
    """What all ranks were asked for: without the program's place and what is each rank's own."""
    words = iter([str(word) for word in context.get("command_line", [])[1:]])
    kept = []
    for word in words:
        flag = word.partition("=")[0]
        if flag not in OWN_FLAGS:
            kept.append(word)
        elif "=" not in word:
            next(words, None)
    return kept
