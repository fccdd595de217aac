"""Where, with what and in which order it was measured: rows from the results, and from an experiment's manifest.json,
which also has the question, missing runs, notes, failures and commands.

If a manifest cannot be read, the report lacks these parts and says so.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cqbench.formats import manifest as files
from cqbench.formats.manifest import FAILED, FILE, INTERRUPTED, PENDING
from cqbench.formats.runs import Run
from cqbench.formats.source import BadDocument
from cqbench.formats.text import format_cpus, one_line
from cqbench.render.report.points import Repetition

MAX_VALUES = 6
MAX_ORDER = 12
Row = tuple[str, str]
MAX_TEXT = 1000
MAX_COMMAND = 20_000
NOTHING = files.Manifest.model_construct(runs=[], partial=False)


@dataclass(frozen=True)
class Manifest:
    """One experiment's. problem: why nothing of it is known; '' when it is."""

    folder: Path
    told: files.Manifest = NOTHING
    problem: str = ""

    @property
    def title(self) -> str:
        return self.told.head.title or self.told.name

    @property
    def notes(self) -> list[str]:
        changed = ((resumed.started, ", ".join(resumed.changed)) for resumed in self.told.resumed)
        resumed = (f"resumed {when}; not as it was when this began: {what}" for when, what in changed if what)
        return [*self.told.all_notes, *resumed]

    def missing(self) -> str:
        """Returns the runs that were skipped or cut short, in words; '' if none were."""
        if self.problem:
            return f"whether anything is missing is not known: {self.problem}"
        left = sum(run.status in (PENDING, INTERRUPTED) for run in self.told.runs)
        if left:
            return f"{left} of {len(self.told.runs)} runs are missing"
        return "the experiment has not ended" if self.told.partial else ""

    def failures(self) -> list[str]:
        """'CONFIGURATION, 8 in flight, repetition 3: why'."""
        failed = (run for run in self.told.runs if run.status == FAILED)
        return [f"{run.words}: {run.reason}" for run in failed]

    def commands(self, configuration: str) -> tuple[str, str]:
        """Returns the commands of client and server, from the first repetition that has both, or the client's; '' if
        there are none.
        """
        mine = [run for run in self.told.runs if run.configuration == configuration and run.client_command]
        first = min(mine, key=lambda run: (not run.server_command, run.repetition), default=None)
        return (line(first.client_command, MAX_COMMAND), line(first.server_command, MAX_COMMAND)) if first else ("", "")


def line(value: Any, limit: int = MAX_TEXT) -> str:
    """One printable line of whatever it is; '' for nothing."""
    return "" if value is None else one_line(str(value), limit)


def find(folders: Iterable[Path]) -> list[Manifest]:
    """Returns the manifests of those folders that have one."""
    return [load(folder) for folder in folders if (folder / FILE).is_file()]


def load(folder: Path) -> Manifest:
    """Never fails: see Manifest.problem."""
    try:
        return Manifest(folder, files.load(folder / FILE))
    except BadDocument as error:
        return Manifest(folder, problem=str(error))


# Rows.


def rows(runs: Sequence[Run], manifests: Sequence[Manifest]) -> tuple[Row, ...]:
    """Those that are known. Where runs differ: each value, separated by semicolons."""
    ends = [*_end("Client", [run.context for run in runs]), *_end("Server", _servers(runs))]
    found = [*_when(runs, manifests), *ends, *_how(runs, manifests)]
    return tuple((label, value) for label, value in found if value)


def facts(
    runs: Sequence[Run], manifests: Sequence[Manifest], points: Sequence[Sequence[Repetition]]
) -> tuple[Row, ...]:
    """Returns the facts that a reader needs before the answer. points: the repetitions of each."""
    servers = _servers(runs)
    ends = (("client on CPU", [run.context for run in runs]), ("server on CPU", servers))
    places = [f"{words} {where}" for words, of in ends if (where := _each(_cpus(c) for c in of))]
    found = [
        ("Machine", ", ".join([*filter(None, [_each(run.context.get("cpu_model") for run in runs)]), *places])),
        ("Versions", ", ".join(_versions(runs))),
        ("Repetitions", _repetitions(runs, [len(of) for of in points])),
        ("Unreliable", _count([[d.code for r in of for d in r.measured.warnings] for of in points])),
        ("Saturated", _count([[d.code for r in of for d in r.measured.saturated] for of in points])),
        ("Notes", "; ".join(dict.fromkeys(note for m in manifests for note in m.notes))),
    ]
    return tuple((label, value) for label, value in found if value)


def _versions(runs: Sequence[Run]) -> Iterable[str]:
    contexts = [run.context for run in runs]
    for words, key in (("gRPC {}", "grpc"), ("protobuf {}", "protobuf"), ("cqbench {}", "cqbench")):
        if version := _each(context.get(f"{key}_version") for context in contexts):
            yield words.format(version)
    if build := _each(context.get("library_build_type") for context in contexts):
        yield f"{build} build"


def _repetitions(runs: Sequence[Run], counts: Sequence[int]) -> str:
    if not counts:
        return ""
    number = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    durations = _each(_durations(run.context) for run in runs)
    return f"{number} of each of {len(counts)} points" + (f", {durations} (warm-up + interval)" if durations else "")


def _count(points: Sequence[Sequence[str]]) -> str:
    """'3 of 48 points: drift 2, steal 1'."""
    kinds = Counter(kind for of in points for kind in set(of))
    some = sum(bool(of) for of in points)
    return f"{some} of {len(points)} points: {', '.join(f'{k} {n}' for k, n in kinds.most_common())}" if some else (
        f"none of {len(points)} points"
    )  # fmt: skip


def _when(runs: Sequence[Run], manifests: Sequence[Manifest]) -> list[Row]:
    return [
        ("Began", _each(m.told.started for m in manifests) or began(runs)),
        ("Ended", _each(m.told.ended for m in manifests)),
        (
            "Host",
            _each([m.told.machine.host_name for m in manifests] or [run.context.get("host_name") for run in runs]),
        ),
        ("Boot", _each(run.context.get("boot_id") for run in runs)),
    ]


def began(runs: Sequence[Run]) -> str:
    """The least date of a file."""
    return min(filter(None, (line(run.context.get("date")) for run in runs)), default="")


def _end(side: str, contexts: Sequence[dict[str, Any]]) -> list[Row]:
    """Returns the facts that both ends report about themselves, with the same keys but for these."""

    def of(*keys: str) -> str:
        return _each(next((c[k] for k in keys if c.get(k)), None) for c in contexts)

    return [
        (f"{side} CPU", of("cpu_model")),
        (f"{side} CPUs allowed", _each(_cpus(c) for c in contexts)),
        (f"{side} kernel", of("kernel")),
        (f"{side} gRPC", _each(_grpc(c) for c in contexts)),
        (f"{side} protobuf", of("protobuf_version")),
        (f"{side} compiler", of("compiler")),
        (f"{side} build", of("library_build_type", "build_type")),
        (f"{side} clock source", of("clock_source")),
        (f"{side} cqbench", of("cqbench_version")),
    ]


def _grpc(context: dict[str, Any]) -> str:
    """'1.51.1 (static, with assertions)'; '' where a side has no gRPC."""
    assertions = {True: "with assertions", False: "without assertions"}.get(context.get("grpc_assertions", ""), "")
    build = ", ".join(filter(None, (line(context.get("grpc_link")), assertions)))
    version = line(context.get("grpc_version"))
    return f"{version} ({build})" if version and build else version


def _cpus(context: dict[str, Any]) -> str:
    """Returns a client's affinity or a server's list of CPUs."""
    return format_cpus(tuple(context["cpus"])) if context.get("cpus") else line(context.get("affinity"))


def _servers(runs: Sequence[Run]) -> list[dict[str, Any]]:
    return [server for run in runs for server in run.context.get("servers") or []]


def _how(runs: Sequence[Run], manifests: Sequence[Manifest]) -> list[Row]:
    return [
        ("Pinning", _each(place for m in manifests for place in m.told.placements.values())),
        ("CPU frequency governor", _each(", ".join(m.told.machine.governors) for m in manifests)),
        ("Warm-up and interval", _each(_durations(run.context) for run in runs)),
        ("Arrivals", _each(_arrivals(run) for run in runs)),
        ("Environment", _each(" ".join(f"{k}={v}" for k, v in m.told.environment.items()) for m in manifests)),
        ("Builds", _each(f"{name}: {of.folder}" for m in manifests for name, of in (m.told.builds or {}).items())),
        ("git revision of cqbench", _each(m.told.git_revision for m in manifests)),
        ("Order", _each(_order(m) for m in manifests)),
    ]


def _durations(context: dict[str, Any]) -> str:
    found = [context.get(f"{key}_ns") for key in ("warmup", "interval")]
    there = [ns for ns in found if isinstance(ns, (int, float))]
    return " + ".join(f"{ns / 1e9:g} s" for ns in there) if len(there) == len(found) else ""


def _arrivals(run: Run) -> str:
    """Returns the arrivals of an open loop; '' for a closed one."""
    if not run.document.open:
        return ""
    most = ", ".join(sorted({str(p.inflight) for p in run.document.points}))
    words = f"{run.document.arrivals}, {run.document.at_limit} at the limit of {most} outstanding"
    return f"{words}, seed {run.context.get('schedule_seed')}, pacing {run.context.get('pace')}"


def _order(manifest: Manifest) -> str:
    """The first runs; the manifest has all."""
    order = manifest.told.order
    if not order:
        return ""
    shown = ", ".join(order[:MAX_ORDER]) + (", ..." if len(order) > MAX_ORDER else "")
    return f"{len(order)} runs, random within each repetition, seed {manifest.told.seed}: {shown}"


def client_command(run: Run) -> str:
    """As the client says it was typed; '' in files that do not say."""
    return line(shlex.join(run.context.get("command_line") or []), MAX_COMMAND)


def _each(values: Iterable[Any], name: Callable[[Any], str] = line) -> str:
    found = list(dict.fromkeys(filter(None, map(name, values))))
    more = f"; and {len(found) - MAX_VALUES} more" if len(found) > MAX_VALUES else ""
    return "; ".join(found[:MAX_VALUES]) + more
