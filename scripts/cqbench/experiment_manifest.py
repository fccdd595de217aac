"""manifest.json of an experiment: what was run, where, in which order, and what became of each unit. Resuming reads it.

It is written anew, all or nothing, whenever something has changed.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cqbench import results, surroundings
from cqbench.documents import BadDocument, Document, one_line
from cqbench.documents import load as load_document
from cqbench.experiment_file import Experiment
from cqbench.experiment_plan import Unit
from cqbench.experiment_values import show

FILE = "manifest.json"
VERSION = surroundings.VERSION
PENDING, OK, FAILED, INTERRUPTED, NOT_RUN = "pending", "ok", "failed", "interrupted", "not run"
STATUSES = (PENDING, OK, FAILED, INTERRUPTED, NOT_RUN)
VERSION_KEYS = ("cqbench_version", "grpc_version", "protobuf_version", "compiler", "library_build_type", "kernel")
# What must be the same for figures to belong together.
MACHINE_KEYS = ("host_name", "cpu_model", "cpus")
MAX_DIFFERENCES = 5
SYS_CPU = Path("/sys/devices/system/cpu")


class BadManifest(ValueError):
    """A folder that cannot be resumed; the text is one line that names it and says why."""


def machine() -> dict[str, Any]:
    """This machine. cpus: those that may be used here. Keys are None where the system does not say."""
    uname = platform.uname()
    return {
        "uname": f"{uname.system} {uname.release} {uname.version} {uname.machine}",
        "host_name": uname.node,
        "cpu_model": _cpu_model(),
        "cpus": sorted(os.sched_getaffinity(0)),
        "governors": _governors(),
    }


def _cpu_model() -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), None)


def _governors(folder: Path = SYS_CPU) -> list[str] | None:
    """Of frequency scaling, each that some CPU has; None where there is no scaling, as in most virtual machines."""
    found = set()
    for path in folder.glob("cpu[0-9]*/cpufreq/scaling_governor"):
        try:
            found.add(path.read_text(encoding="ascii").strip())
        except OSError:
            continue
    return sorted(found) or None


class Manifest:
    """The file and what it says. One thread."""

    def __init__(self, folder: Path, data: dict[str, Any]) -> None:
        self.folder = folder
        self.data = data
        self._units = {Unit(u["variant"], u["repetition"]): u for u in data["units"]}

    @classmethod
    def new(cls, folder: Path, experiment: Experiment, order: list[Unit], seed: int, fixed: dict[str, Any]) -> Manifest:
        """Not written yet. fixed: more keys, which stay as they are."""
        data = {
            "manifest_version": VERSION,
            "name": experiment.name,
            "experiment": experiment.data,
            "repetitions": max(unit.repetition for unit in order),
            "seed": seed,
            "started": results.now(),
            "ended": None,
            "partial": True,
            "resumed": [],
            **fixed,
            "versions": None,
            "order": [unit.stem for unit in order],
            "units": [_pending(unit) for unit in order],
        }
        return cls(folder, data)

    @classmethod
    def load(cls, folder: Path, experiment: Experiment) -> Manifest:
        """To resume: the experiment must be the one that was begun. Raises BadManifest."""
        path = folder / FILE
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise BadManifest(f"{path}: {error.strerror or error}") from None
        except (ValueError, RecursionError) as error:
            raise BadManifest(f"{path}: not JSON: {one_line(str(error))}") from None
        _check_experiment(path, data, experiment)
        _check_units(path, data, experiment)
        return cls(folder, data)

    def write(self) -> None:
        """Raises OSError."""
        results.write_json(self.folder / FILE, self.data)

    def order(self) -> list[Unit]:
        return list(self._units)

    def unit(self, unit: Unit) -> dict[str, Any]:
        """Its entry, to be changed in place."""
        return self._units[unit]

    def begin_unit(self, unit: Unit) -> dict[str, Any]:
        """Its entry as if it had never run."""
        entry = self._units[unit]
        entry.clear()
        entry.update(_pending(unit), started=results.now())
        return entry

    def find_done(self) -> None:
        """The files decide: what has a whole result is done, unless its run is known to have failed."""
        for unit, entry in self._units.items():
            whole = is_whole(self.folder / unit.file)
            if whole and entry["status"] != FAILED:
                entry.update(status=OK, reason="")
            elif not whole and entry["status"] in (OK, NOT_RUN):
                entry.update(_pending(unit))

    def left(self) -> list[Unit]:
        """What has yet to be run, in order."""
        return [unit for unit, entry in self._units.items() if entry["status"] not in (OK, NOT_RUN)]

    def done(self) -> list[Unit]:
        """What has a whole result."""
        return [unit for unit, entry in self._units.items() if entry["status"] == OK]

    def rule_out(self, reasons: dict[str, str]) -> None:
        """By variant, why what is left of it cannot be run here."""
        for unit in self.left():
            if unit.variant in reasons:
                self._units[unit].update(status=NOT_RUN, reason=reasons[unit.variant])

    def ruled_out(self) -> dict[str, list[str]]:
        """By reason, the variants in the order of the units."""
        found: dict[str, list[str]] = {}
        for unit, entry in self._units.items():
            if entry["status"] == NOT_RUN and unit.variant not in found.setdefault(entry["reason"], []):
                found[entry["reason"]].append(unit.variant)
        return found

    def failures(self) -> Iterator[tuple[Unit, str]]:
        """Each with its reason."""
        return ((unit, e["reason"]) for unit, e in self._units.items() if e["status"] == FAILED)

    def end(self) -> None:
        """partial: something was not run, or was cut short."""
        self.data["ended"] = results.now()
        self.data["partial"] = any(e["status"] in (PENDING, INTERRUPTED) for e in self._units.values())

    def note_resumed(self, fixed: dict[str, Any]) -> list[str]:
        """Says so in the manifest. What is not as it was: the figures may then not belong together."""
        changed = [key for key in MACHINE_KEYS if self.data.get("machine", {}).get(key) != fixed["machine"][key]]
        if self.data.get("git_revision") != fixed["git_revision"]:
            changed.append("git_revision")
        self.data.setdefault("resumed", []).append({"started": results.now(), "changed": changed, **fixed})
        self.data.update(ended=None, partial=True)
        return changed


def _pending(unit: Unit) -> dict[str, Any]:
    return {
        "variant": unit.variant,
        "repetition": unit.repetition,
        "file": unit.file,
        "status": PENDING,
        "reason": "",
    }


def is_whole(path: Path) -> bool:
    """A result that was not cut short."""
    try:
        return not load_document(path).partial
    except BadDocument:
        return False


def versions(path: Path, document: Document) -> dict[str, Any]:
    """What a result says of the software that made it. path: of the document."""
    context = json.loads(path.read_text(encoding="utf-8"))["context"]
    return {**{key: context.get(key) for key in VERSION_KEYS}, "grpc_version": document.grpc_version}


def _check_experiment(path: Path, data: Any, experiment: Experiment) -> None:
    if not isinstance(data, dict) or not isinstance(data.get("experiment"), dict):
        raise BadManifest(f"{path}: not a manifest of experiment.sh: it has no 'experiment'")
    version = data.get("manifest_version")
    if version != VERSION:
        raise BadManifest(f"{path}: manifest_version is {show(version)}; this version of cqbench resumes {VERSION}")
    now = json.loads(json.dumps(experiment.data))
    found = list(differences(data["experiment"], now, ""))
    if found:
        more = f"; and {len(found) - MAX_DIFFERENCES} more" if len(found) > MAX_DIFFERENCES else ""
        raise BadManifest(
            f"{path}: the experiment has changed since, so its results do not belong together: "
            f"{'; '.join(found[:MAX_DIFFERENCES])}{more}"
        )


def _check_units(path: Path, data: dict[str, Any], experiment: Experiment) -> None:
    """The names in it become paths, so they have to be ours."""
    units = data.get("units")
    names = {v.name for v in experiment.variants}
    good = isinstance(units, list) and units and all(_is_unit(u, names) for u in units)
    if not good or len({(u["variant"], u["repetition"]) for u in units}) != len(units):
        raise BadManifest(f"{path}: not a manifest of experiment.sh: 'units' is not a list of this experiment's units")
    seed, machine_then = data.get("seed"), data.get("machine")
    if not isinstance(seed, int) or not isinstance(machine_then, dict):
        raise BadManifest(f"{path}: not a manifest of experiment.sh: 'seed' or 'machine' is missing")


def _is_unit(unit: Any, names: set[str]) -> bool:
    return (
        isinstance(unit, dict)
        and unit.get("variant") in names
        and isinstance(unit.get("repetition"), int)
        and unit["repetition"] >= 1
        and unit.get("status") in STATUSES
        and isinstance(unit.get("reason"), str)
    )


def differences(before: Any, now: Any, where: str) -> Iterator[str]:
    """What differs between two values of JSON, each in words."""
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
        for i, (old, new) in enumerate(zip(before, now)):
            yield from differences(old, new, f"{where}[{i}]")
    elif before != now:
        yield f"{where} was {show(before)} and is {show(now)}"
