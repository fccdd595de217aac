"""The manifest of an experiment that is being run: begun or resumed, written, and what became of each run."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from cqbench.experiment.order import PlannedRun
from cqbench.experiment.spec import Experiment
from cqbench.formats import manifest as files
from cqbench.formats import storage
from cqbench.formats.manifest import (
    FAILED,
    FILE,
    INTERRUPTED,
    NOT_RUN,
    OK,
    PENDING,
    RUNS,
    STATUSES,
    Manifest,
    OtherLoad,
    Place,
    Resumed,
    RunRecord,
    Tables,
)
from cqbench.formats.result import Document
from cqbench.formats.result import load as load_document
from cqbench.formats.source import BadDocument
from cqbench.formats.text import show

VERSION_KEYS = ("cqbench_version", "grpc_version", "protobuf_version", "compiler", "library_build_type", "kernel")
MAX_DIFFERENCES = 5
NONE_OF_OURS = "not a manifest of cqbench run"
Facts = dict[str, dict[str, Any]]  # by configuration, what its runs have in common: fields of their records


class BadManifest(ValueError):
    """A folder that cannot be resumed; the text is one line that names it and says why."""


class Journal:
    """The file and what it says. One thread."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest
        self._places = {_planned(run): place for place, run in enumerate(manifest.runs)}

    @classmethod
    def new(
        cls,
        folder: Path,
        experiment: Experiment,
        order: list[PlannedRun],
        seed: int,
        fixed: dict[str, Any],
        facts: Facts,
    ) -> Journal:
        """Not written yet. fixed: more fields of the manifest, which stay as they are."""
        manifest = Manifest(
            name=experiment.name,
            experiment=Tables.model_validate(experiment.data),
            repetitions=max(planned.repetition for planned in order),
            seed=seed,
            started=storage.now(),
            runs=[_pending(planned, facts) for planned in order],
            **fixed,
        )
        return cls(folder, manifest)

    @classmethod
    def load(cls, folder: Path, experiment: Experiment) -> Journal:
        """To resume: the experiment must be the one that was begun. Raises BadManifest."""
        manifest = read(folder)
        if experiment.budget_s is not None:  # there may be more time than before
            data = manifest.experiment.data
            head = {**data["experiment"], "budget": experiment.data["experiment"]["budget"]}
            manifest.experiment = Tables.model_validate({**data, "experiment": head})
        _check_experiment(folder / FILE, manifest, experiment)
        _check_runs(folder / FILE, manifest, experiment)
        return cls(folder, manifest)

    def write(self) -> None:
        """All of it, with what was appended before. Raises OSError."""
        storage.write(self.folder / FILE, self.manifest.text())
        (self.folder / RUNS).unlink(missing_ok=True)

    def append(self, planned: PlannedRun) -> None:
        """Appends the outcome of a run. Not synced: results are not either, and resuming checks them. Raises
        OSError.
        """
        with (self.folder / RUNS).open("a", encoding="utf-8") as file:
            file.write(f"{self.record(planned).line()}\n")

    def note_versions(self, document: Document) -> None:
        """Notes the versions of the software, of the first result. Raises OSError."""
        if self.manifest.versions is None:
            found = {key: document.context.get(key) for key in VERSION_KEYS}
            self.manifest.versions = {**found, "grpc_version": document.grpc_version}
            self.write()

    def order(self) -> list[PlannedRun]:
        return list(self._places)

    def record(self, planned: PlannedRun) -> RunRecord:
        """Its record, to be changed in place."""
        return self.manifest.runs[self._places[planned]]

    def begin_run(self, planned: PlannedRun, facts: Facts) -> RunRecord:
        """Its record as if it had never run."""
        record = _pending(planned, facts)
        record.started = moment()
        self.manifest.runs[self._places[planned]] = record
        return record

    def find_done(self) -> None:
        """Finds runs that the manifest calls done and that have a complete result; others are run again."""
        for run in self.manifest.runs:
            if run.status == NOT_RUN or (run.status == OK and not is_whole(self.folder / run.file)):
                run.end(PENDING)

    def left(self) -> list[PlannedRun]:
        """Returns the runs to make, in order."""
        return [planned for planned in self._places if self.record(planned).status not in (OK, NOT_RUN)]

    def done(self) -> list[PlannedRun]:
        """Returns the runs with a complete result."""
        return [planned for planned in self._places if self.record(planned).status == OK]

    def seconds(self) -> float:
        """How long the runs took that have ended."""
        return sum(run.seconds or 0 for run in self.manifest.runs)

    def extend(self, planned: list[PlannedRun], facts: Facts) -> None:
        """Appends runs of a further repetition. Raises OSError."""
        for one in planned:
            self._places[one] = len(self.manifest.runs)
            self.manifest.runs.append(_pending(one, facts))
        self.manifest.repetitions = max(one.repetition for one in self._places)
        self.write()

    def rule_out(self, reasons: dict[str, str]) -> None:
        """By configuration, why what is left of it cannot be run here."""
        for planned in self.left():
            if planned.configuration in reasons:
                self.record(planned).end(NOT_RUN, reasons[planned.configuration])

    def ruled_out(self) -> dict[str, list[str]]:
        """By reason, the configurations in the order of the runs."""
        found: dict[str, list[str]] = {}
        for run in self.manifest.runs:
            if run.status == NOT_RUN and run.configuration not in found.setdefault(run.reason, []):
                found[run.reason].append(run.configuration)
        return found

    def failures(self) -> list[RunRecord]:
        return [run for run in self.manifest.runs if run.status == FAILED]

    def note_other_load(self, limits: dict[str, float]) -> None:
        """Among the notes, where others used the CPUs of runs. limits: by configuration, CPUs that are worth a
        word.
        """
        known = [(run.configuration, run.other_cpus) for run in self.manifest.runs if run.other_cpus is not None]
        loud = [cpus for name, cpus in known if cpus >= limits[name]]
        before = self.manifest.other_load.note if self.manifest.other_load else ""
        how_many = f"{len(loud)} of {len(known)} runs" if len(loud) < len(known) else f"all {len(known)} runs"
        note = f"other programs used {median(loud):.1f} CPUs during {how_many}" if loud else ""
        notes = [n for n in self.manifest.notes if n != before]
        self.manifest.notes = [*notes, note] if note else notes
        self.manifest.other_load = OtherLoad(runs=len(loud), of=len(known), note=note)

    def end(self) -> None:
        self.manifest.ended = storage.now()
        self.manifest.partial = any(run.status in (PENDING, INTERRUPTED) for run in self.manifest.runs)

    def note_resumed(self, here: Place) -> list[str]:
        """Says so in the manifest. Returns what is not as it was: the figures may then not belong together."""
        changed = here.differs_from(self.manifest)
        self.manifest.resumed = [*self.manifest.resumed, Resumed(started=storage.now(), changed=changed, **dict(here))]
        self.manifest.ended, self.manifest.partial = None, True
        return changed


def moment() -> str:
    """Now, as of a run: several begin within a second."""
    return datetime.datetime.now().astimezone().isoformat(timespec="milliseconds")


def read(folder: Path) -> Manifest:
    """As files.load(), of an experiment. Raises BadManifest."""
    try:
        manifest = files.load(folder / FILE)
    except BadDocument as error:
        raise BadManifest(str(error)) from None
    if not manifest.experiment.data:
        raise BadManifest(f"{folder / FILE}: {NONE_OF_OURS}: it has no 'experiment'")
    return manifest


def begun(folder: Path) -> dict[str, Any]:
    """The tables of the experiment that was begun there. Raises BadManifest."""
    return read(folder).experiment.data


def _pending(planned: PlannedRun, facts: Facts) -> RunRecord:
    return RunRecord(
        configuration=planned.configuration,
        repetition=planned.repetition,
        load=planned.load,
        file=planned.file,
        status=PENDING,
        **facts.get(planned.configuration, {}),
    )


def _planned(run: RunRecord) -> PlannedRun:
    """The run of a record that has been checked, or is this program's."""
    assert run.load is not None
    return PlannedRun(run.configuration, run.repetition, run.load)


def is_whole(path: Path) -> bool:
    """A result that was not cut short."""
    try:
        return not load_document(path).partial
    except BadDocument:
        return False


def _check_experiment(path: Path, manifest: Manifest, experiment: Experiment) -> None:
    now = json.loads(json.dumps(experiment.data))
    found = list(differences(manifest.experiment.data, now, ""))
    if found:
        more = f"; and {len(found) - MAX_DIFFERENCES} more" if len(found) > MAX_DIFFERENCES else ""
        raise BadManifest(
            f"{path}: the experiment has changed since, so its results do not belong together: "
            f"{'; '.join(found[:MAX_DIFFERENCES])}{more}"
        )


def _check_runs(path: Path, manifest: Manifest, experiment: Experiment) -> None:
    """The names in it become paths, so they have to be ours."""
    names = {c.name for c in experiment.configurations}
    known = all(_is_planned(run, names, experiment) for run in manifest.runs)
    if not known or len({_planned(run) for run in manifest.runs}) != len(manifest.runs):
        raise BadManifest(f"{path}: {NONE_OF_OURS}: 'runs' is not a list of this experiment's runs")
    if manifest.seed is None:
        raise BadManifest(f"{path}: {NONE_OF_OURS}: it has no 'seed'")


def _is_planned(run: RunRecord, names: set[str], experiment: Experiment) -> bool:
    return (
        not run.problem
        and run.configuration in names
        and run.repetition >= 1
        and run.load in experiment.loads
        and run.file == _planned(run).file
        and run.status in STATUSES
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
