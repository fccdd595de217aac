"""manifest.json of an experiment: what was run, where, in which order, and what became of each run. Resuming reads it.

It is written when an experiment begins, is resumed and ends, all or nothing. In between, what became of a run is
appended to runs.jsonl, so that what is written grows with the number of runs, not with its square. Each run is a
line of either file:

configuration, repetition, load
                              which run; load: {"inflight": 8} or {"rate": 2000.0}. Those of one repetition and load
                              were measured one right after the other: they are pairs
file                          its result, in this folder
status, reason                what became of it
client_env, server_env, client_cpus, server_cpus, network, client_command, server_command, server_program,
server_front, server_configuration
                              how it was run
started, ended                with milliseconds
fault                         what went wrong in the window: kind, words, planned_s; began_s, ended_s: when it did and
                              when that was over, in seconds from the window's opening on; absent: it did not happen
servers                       how many there were; absent with one
ranks                         several client processes: how many, where, started by what; absent with one
other_cpus                    CPU time that other programs used on its CPUs, in CPUs; absent where it is not known
exit_status, grpc_version, last_lines
                              of the client; last_lines: of what failed
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from cqbench.experiment.order import PlannedRun, load_from_json, load_to_json
from cqbench.experiment.spec import Experiment
from cqbench.formats import manifest as files
from cqbench.formats import source, storage
from cqbench.formats.manifest import FAILED, FILE, INTERRUPTED, NOT_RUN, OK, PENDING, RUNS, STATUSES, VERSION
from cqbench.formats.result import Document
from cqbench.formats.result import load as load_document
from cqbench.formats.source import BadDocument, OtherFormat
from cqbench.formats.text import show

VERSION_KEYS = ("cqbench_version", "grpc_version", "protobuf_version", "compiler", "library_build_type", "kernel")
# Facts that must be the same for figures to belong together.
MACHINE_KEYS = ("host_name", "cpu_model", "cpus")
MAX_DIFFERENCES = 5
NO_RUNS = "[]\n}"
Facts = dict[str, dict[str, Any]]  # by configuration, what its runs have in common


class BadManifest(ValueError):
    """A folder that cannot be resumed; the text is one line that names it and says why."""


class Manifest:
    """The file and what it says. One thread."""

    def __init__(self, folder: Path, data: dict[str, Any], note: str = "") -> None:
        """note: of what was read."""
        self.folder = folder
        self.data = data
        self.note = note
        self._runs: dict[PlannedRun, dict[str, Any]] = {_run_of(u): u for u in data["runs"]}

    @classmethod
    def new(
        cls,
        folder: Path,
        experiment: Experiment,
        order: list[PlannedRun],
        seed: int,
        fixed: dict[str, Any],
        facts: Facts,
    ) -> Manifest:
        """Not written yet. fixed: more keys, which stay as they are."""
        data = {
            "manifest_version": VERSION,
            "name": experiment.name,
            "experiment": experiment.data,
            "repetitions": max(planned.repetition for planned in order),
            "seed": seed,
            "started": storage.now(),
            "ended": None,
            "partial": True,
            "resumed": [],
            **fixed,
            "versions": None,
            "runs": [_pending(planned, facts) for planned in order],
        }
        return cls(folder, data)

    @classmethod
    def load(cls, folder: Path, experiment: Experiment) -> Manifest:
        """To resume: the experiment must be the one that was begun. Raises BadManifest."""
        path = folder / FILE
        data, note = read(folder)
        _check_experiment(path, data, experiment)
        _check_runs(path, data, experiment)
        return cls(folder, data, note)

    def write(self) -> None:
        """All of it, with what was appended before. Raises OSError."""
        rest = {key: value for key, value in self.data.items() if key != "runs"}
        head = json.dumps({**rest, "runs": []}, indent=2, allow_nan=False)
        runs = ",\n".join(f"    {json.dumps(planned, allow_nan=False)}" for planned in self.data["runs"])
        storage.write(self.folder / FILE, f"{head.removesuffix(NO_RUNS)}[\n{runs}\n  ]\n}}\n")
        (self.folder / RUNS).unlink(missing_ok=True)

    def append(self, planned: PlannedRun) -> None:
        """Appends the outcome of a run. Not synced: results are not either, and resuming checks them. Raises
        OSError.
        """
        line = json.dumps(self._runs[planned], allow_nan=False)
        with (self.folder / RUNS).open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    def note_versions(self, found: dict[str, Any]) -> None:
        """Notes the versions of the first result. Raises OSError."""
        if self.data["versions"] is None:
            self.data["versions"] = found
            self.write()

    def order(self) -> list[PlannedRun]:
        return list(self._runs)

    def entry(self, planned: PlannedRun) -> dict[str, Any]:
        """Its entry, to be changed in place."""
        return self._runs[planned]

    def begin_run(self, planned: PlannedRun, facts: Facts) -> dict[str, Any]:
        """Its entry as if it had never run."""
        entry = self._runs[planned]
        entry.clear()
        entry.update(_pending(planned, facts), started=moment())
        return entry

    def find_done(self) -> None:
        """Finds runs that the manifest calls done and that have a complete result; others are run again."""
        for planned, entry in self._runs.items():
            if entry["status"] == NOT_RUN or (entry["status"] == OK and not is_whole(self.folder / planned.file)):
                entry.update(status=PENDING, reason="")

    def left(self) -> list[PlannedRun]:
        """Returns the runs to make, in order."""
        return [planned for planned, entry in self._runs.items() if entry["status"] not in (OK, NOT_RUN)]

    def done(self) -> list[PlannedRun]:
        """Returns the runs with a complete result."""
        return [planned for planned, entry in self._runs.items() if entry["status"] == OK]

    def rule_out(self, reasons: dict[str, str]) -> None:
        """By configuration, why what is left of it cannot be run here."""
        for planned in self.left():
            if planned.configuration in reasons:
                self._runs[planned].update(status=NOT_RUN, reason=reasons[planned.configuration])

    def ruled_out(self) -> dict[str, list[str]]:
        """By reason, the configurations in the order of the runs."""
        found: dict[str, list[str]] = {}
        for planned, entry in self._runs.items():
            if entry["status"] == NOT_RUN and planned.configuration not in found.setdefault(entry["reason"], []):
                found[entry["reason"]].append(planned.configuration)
        return found

    def failures(self) -> Iterator[tuple[PlannedRun, str]]:
        """Each with its reason."""
        return ((planned, e["reason"]) for planned, e in self._runs.items() if e["status"] == FAILED)

    def note_other_load(self, limits: dict[str, float]) -> None:
        """Among the notes, where others used the CPUs of runs. limits: by configuration, CPUs that are worth a
        word.
        """
        known = [(planned, e["other_cpus"]) for planned, e in self._runs.items() if e.get("other_cpus") is not None]
        loud = [cpus for planned, cpus in known if cpus >= limits[planned.configuration]]
        notes = [n for n in self.data.get("notes", []) if n != self.data.get("other_load", {}).get("note")]
        how_many = f"{len(loud)} of {len(known)} runs" if len(loud) < len(known) else f"all {len(known)} runs"
        note = f"other programs used {median(loud):.1f} CPUs during {how_many}" if loud else ""
        self.data["notes"] = [*notes, note] if note else notes
        self.data["other_load"] = {"runs": len(loud), "of": len(known), "note": note}

    def end(self) -> None:
        """partial: something was not run, or was cut short."""
        self.data["ended"] = storage.now()
        self.data["partial"] = any(e["status"] in (PENDING, INTERRUPTED) for e in self._runs.values())

    def note_resumed(self, fixed: dict[str, Any]) -> list[str]:
        """Says so in the manifest. What is not as it was: the figures may then not belong together."""
        changed = [key for key in MACHINE_KEYS if self.data.get("machine", {}).get(key) != fixed["machine"][key]]
        if self.data.get("git_revision") != fixed["git_revision"]:
            changed.append("git_revision")
        self.data.setdefault("resumed", []).append({"started": storage.now(), "changed": changed, **fixed})
        self.data.update(ended=None, partial=True)
        return changed


def moment() -> str:
    """Now, as of a run: several begin within a second."""
    return datetime.datetime.now().astimezone().isoformat(timespec="milliseconds")


def read(folder: Path) -> tuple[Any, str]:
    """As files.read(). Raises BadManifest."""
    try:
        return files.read(folder / FILE)
    except BadDocument as error:
        raise BadManifest(str(error)) from None


def begun(folder: Path) -> dict[str, Any]:
    """The tables of the experiment that was begun there. Raises BadManifest."""
    data, _ = read(folder)
    _check_version(folder / FILE, data)
    found: dict[str, Any] = data["experiment"]
    return found


def _pending(planned: PlannedRun, facts: Facts) -> dict[str, Any]:
    return {
        "configuration": planned.configuration,
        "repetition": planned.repetition,
        "load": load_to_json(planned.load),
        "file": planned.file,
        "status": PENDING,
        "reason": "",
        **facts.get(planned.configuration, {}),
    }


def _run_of(entry: dict[str, Any]) -> PlannedRun:
    """Makes a run of an entry that has been checked, or is this program's."""
    load = load_from_json(entry["load"])
    assert load is not None
    return PlannedRun(entry["configuration"], entry["repetition"], load)


def is_whole(path: Path) -> bool:
    """A result that was not cut short."""
    try:
        return not load_document(path).partial
    except BadDocument:
        return False


def versions(path: Path, document: Document) -> dict[str, Any]:
    """Returns the software versions in a result. path: of the document."""
    context = json.loads(path.read_text(encoding="utf-8"))["context"]
    return {**{key: context.get(key) for key in VERSION_KEYS}, "grpc_version": document.grpc_version}


def _check_version(path: Path, data: Any) -> None:
    if not isinstance(data, dict) or not isinstance(data.get("experiment"), dict):
        raise BadManifest(f"{path}: not a manifest of cqbench run: it has no 'experiment'")
    try:
        source.check_version(data.get("manifest_version"), VERSION, "'manifest_version'", files.FORMAT, str(path))
    except OtherFormat as error:
        raise BadManifest(str(error)) from None


def _check_experiment(path: Path, data: Any, experiment: Experiment) -> None:
    _check_version(path, data)
    now = json.loads(json.dumps(experiment.data))
    found = list(differences(data["experiment"], now, ""))
    if found:
        more = f"; and {len(found) - MAX_DIFFERENCES} more" if len(found) > MAX_DIFFERENCES else ""
        raise BadManifest(
            f"{path}: the experiment has changed since, so its results do not belong together: "
            f"{'; '.join(found[:MAX_DIFFERENCES])}{more}"
        )


def _check_runs(path: Path, data: dict[str, Any], experiment: Experiment) -> None:
    """The names in it become paths, so they have to be ours."""
    runs = data.get("runs")
    names = {c.name for c in experiment.configurations}
    if not isinstance(runs, list) or not runs or not all(_is_run(u, names, experiment) for u in runs):
        runs = []
    if not runs or len({_run_of(u) for u in runs}) != len(runs):
        raise BadManifest(f"{path}: not a manifest of cqbench run: 'runs' is not a list of this experiment's runs")
    seed, machine_then = data.get("seed"), data.get("machine")
    if not isinstance(seed, int) or not isinstance(machine_then, dict):
        raise BadManifest(f"{path}: not a manifest of cqbench run: 'seed' or 'machine' is missing")


def _is_run(planned: Any, names: set[str], experiment: Experiment) -> bool:
    return (
        isinstance(planned, dict)
        and planned.get("configuration") in names
        and isinstance(planned.get("repetition"), int)
        and planned["repetition"] >= 1
        and load_from_json(planned.get("load")) in experiment.loads
        and planned.get("status") in STATUSES
        and isinstance(planned.get("reason"), str)
    )


def differences(before: Any, now: Any, where: str) -> Iterator[str]:
    """Yields the differences between two JSON values, in words."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in dict.fromkeys((*before, *now)):
            path = f"{where}.{key}" if where else key
            if key not in now:
                yield f"{path} was {show(before[key])} and is gone"
            elif key not in before:
                yield f"{path} is new: {show(now[key])}"
            else:
                yield from differences(before[key], now[key], path)
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for i, (old, new) in enumerate(zip(before, now, strict=True)):
            yield from differences(old, new, f"{where}[{i}]")
    elif before != now:
        yield f"{where} was {show(before)} and is {show(now)}"
