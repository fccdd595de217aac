"""A run of tune in its folder: each stage is an experiment that `cqbench run`'s machinery measures, and resumes."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cqbench.files import storage
from cqbench.files.manifest import FILE
from cqbench.files.offered import Load
from cqbench.files.result import load as load_document
from cqbench.files.source import BadDocument
from cqbench.run import cpus, end, flags, layout, plan, spec, start
from cqbench.run.manifest import Manifest, begun
from cqbench.run.plan import Programs
from cqbench.run.processes import Interrupt
from cqbench.run.runner import Runner, facts_of, lock
from cqbench.run.spec import Data, Experiment
from cqbench.run.units import make_order
from cqbench.samples import runs
from cqbench.tune import settings, stages
from cqbench.tune.knobs import Candidate
from cqbench.tune.objective import Results, figures
from cqbench.tune.settings import Workload
from cqbench.tune.stages import Stage


@dataclass(frozen=True)
class Measuring:
    """How each unit is measured. Durations in seconds."""

    load: Load
    warmup_s: float
    interval_s: float
    seed: int


def tables(stage: Stage, workload: Workload, measuring: Measuring) -> Data:
    """An experiment's file."""
    number = float(measuring.load.number) if measuring.load.open else int(measuring.load.number)
    head: Data = {
        "name": f"tune-{stage.name}",
        "title": f"Tuning: {stage.name}",
        "question": stage.question,
        "rates" if measuring.load.open else "inflight": [number],
        "warmup": measuring.warmup_s,
        "interval": measuring.interval_s,
        "repetitions": stage.repetitions,
        "seed": measuring.seed,
    }
    variants = [settings.variant(name, chosen, workload) for name, chosen in stage.variants.items()]
    return {"experiment": head, "variant": variants}


def refused(candidate: Candidate, workload: Workload, measuring: Measuring, programs: Programs) -> str:
    """What the programs say against its flags; '' when they take them, or cannot be asked."""
    stage = Stage("check", "Is it taken?", {candidate.name: (candidate,)}, 1)
    experiment = spec.make(tables(stage, workload, measuring), stage.name)
    unpinned = {candidate.name: cpus.Placement((), (), "")}
    said = flags.problems(experiment, unpinned, programs)
    return said[0].partition(": variant ")[2].partition(": ")[2] or said[0] if said else ""


class Session:
    """A Bench of real programs. Owns the folder while it lives."""

    def __init__(
        self, folder: Path, workload: Workload, measuring: Measuring, programs: Programs, interrupt: Interrupt
    ) -> None:
        """Raises runner.Busy, OSError."""
        self.folder = folder
        self.workload = workload
        self.measuring = measuring
        self.programs = programs
        self.interrupt = interrupt
        self.manifests: dict[str, Manifest] = {}
        self.experiments: dict[str, Experiment] = {}
        self._lock = lock(folder)

    @property
    def stopped(self) -> bool:
        return bool(self.interrupt.signum)

    def begun(self, name: str) -> int | None:
        """Raises manifest.BadManifest."""
        folder = self.folder / name
        if not (folder / FILE).exists():
            return None
        number: int = begun(folder)["experiment"]["repetitions"]
        return number

    def measure(self, stage: Stage) -> Results:
        """Raises manifest.BadManifest, runner.Busy, cpus.BadCpuList, start.Unusable, OSError."""
        experiment = spec.make(tables(stage, self.workload, self.measuring), stage.name)
        placements = start.placements_for(experiment)
        if missing := start.missing_program(experiment, self.programs):
            raise start.Unusable(f"argument --bin: '{self.programs.bin}' has no program {missing}")
        manifest = self._manifest(stage, experiment, placements)
        self.manifests[stage.name], self.experiments[stage.name] = manifest, experiment
        manifest.write()
        left = len(manifest.left())
        how_long = layout.duration(left * self.unit_s())
        end.say(f"{stage.name}: {stage.question} {plan.count(left, 'unit')}, about {how_long}")
        Runner(experiment, placements, self.programs, manifest, self.interrupt).run()
        storage.write(self.folder / stage.name / "results.csv", storage.to_csv(end.read_results(manifest)))
        return self._results(manifest)

    def _manifest(self, stage: Stage, experiment: Experiment, placements: dict[str, cpus.Placement]) -> Manifest:
        """The stage's own: a new one, or that of an earlier run."""
        folder = self.folder / stage.name
        facts = start.fixed_facts()
        if (folder / FILE).exists():
            manifest = Manifest.load(folder, experiment)
            manifest.find_done()
            manifest.note_resumed(facts)
            return manifest
        folder.mkdir(exist_ok=True)
        facts["placements"] = {v.name: plan.where(v, placements[v.name]) for v in experiment.variants}
        facts["notes"] = start.notes(experiment, placements)
        seed = self.measuring.seed
        order = make_order([*stage.variants], experiment.loads, stage.repetitions, seed)
        return Manifest.new(folder, experiment, order, seed, facts, facts_of(experiment, placements))

    def _results(self, manifest: Manifest) -> Results:
        found: Results = {}
        for unit in manifest.done():
            try:
                document = load_document(manifest.folder / unit.file)
            except BadDocument:
                continue
            for point in document.points:
                if point.load == unit.load and (seen := figures(point)):
                    found.setdefault(unit.variant, {})[unit.repetition] = seen
        return found

    def used_s(self) -> float:
        return sum(seconds for manifest in self.manifests.values() for seconds in _seconds(manifest))

    def unit_s(self) -> float:
        """Without the time between two units, which is a few milliseconds."""
        seen = [seconds for manifest in self.manifests.values() for seconds in _seconds(manifest)]
        expected = self.measuring.warmup_s + self.measuring.interval_s + plan.UNIT_OVERHEAD_S
        return sum(seen) / len(seen) if seen else expected

    def other_load(self) -> list[str]:
        """What other programs used, by stage."""
        notes = ((name, m.data.get("other_load", {}).get("note", "")) for name, m in self.manifests.items())
        return [f"{name}: {note}" for name, note in notes if note]

    def report(self) -> tuple[Path | None, list[str]]:
        """The page of the last stage that compares with the defaults; and why there is none."""
        derived = end.Derived(self.folder, self.interrupt)
        for name in (stages.SET, *reversed(stages.CONFIRM)):
            if name in self.manifests and any(runs.find(self.folder / name)):
                return derived.make("report", partial(end.write_report, self.folder / name)), derived.problems
        return None, []


def _seconds(manifest: Manifest) -> list[float]:
    """Of each unit that was run."""
    entries: list[dict[str, Any]] = [manifest.unit(unit) for unit in manifest.order()]
    times = [(e["started"], e["ended"]) for e in entries if e.get("started") and e.get("ended")]
    parse = datetime.datetime.fromisoformat
    return [(parse(after) - parse(before)).total_seconds() for before, after in times]
