"""A run of tune in its folder: each stage is an experiment that `cqbench run`'s machinery measures, and resumes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cqbench.analysis.tune import stages, workloads
from cqbench.analysis.tune.objective import Results, figures
from cqbench.analysis.tune.stages import Chosen, Stage
from cqbench.analysis.tune.workloads import Workload
from cqbench.experiment import flags, plan, spec
from cqbench.experiment.order import make_order
from cqbench.experiment.spec import Data, Experiment
from cqbench.formats import runs, storage, sums
from cqbench.formats.manifest import FILE
from cqbench.formats.offered import Load
from cqbench.formats.result import load as load_document
from cqbench.formats.source import BadDocument
from cqbench.measure import cpus, layout
from cqbench.measure.lock import locked
from cqbench.measure.processes import Interrupt
from cqbench.measure.programs import Programs
from cqbench.measure.session import say
from cqbench.render.points_csv import to_csv
from cqbench.run import builds, chosen, end, start
from cqbench.run.journal import Journal, begun
from cqbench.run.runner import Runner

SID_OVERHEAD_S = 0.6  # a run's programs are started in another root file system


@dataclass(frozen=True)
class Measuring:
    """How each run is measured. Durations in seconds, those of a search for each of its points."""

    load: Load
    warmup_s: float
    interval_s: float
    seed: int

    def run_s(self, build: str) -> float:
        """Returns the estimated time of a run, before one was measured."""
        points = plan.SEARCHED_POINTS if self.load.search else 1
        overhead_s = SID_OVERHEAD_S if build == "sid" else plan.RUN_OVERHEAD_S
        return points * (self.warmup_s + self.interval_s) + overhead_s


def tables(stage: Stage, workload: Workload, measuring: Measuring) -> Data:
    """An experiment's file; without a load where each run is a search, which no file can say."""
    load = measuring.load
    number = {"rates": [float(load.number)]} if load.open else {"inflight": [int(load.number)]}
    head: Data = {
        "name": f"tune-{stage.name}",
        "title": f"Tuning: {stage.name}",
        "question": stage.question,
        **({} if load.search else number),
        "warmup": measuring.warmup_s,
        "interval": measuring.interval_s,
        "repetitions": stage.repetitions,
        "seed": measuring.seed,
    }
    configurations = [workloads.configuration(name, chosen, workload) for name, chosen in stage.configurations.items()]
    return {"experiment": head, "configuration": configurations}


def experiment_of(stage: Stage, workload: Workload, measuring: Measuring) -> Experiment:
    """Raises spec.BadExperiment."""
    return spec.make(tables(stage, workload, measuring), stage.name, measuring.load.search)


def refused(chosen: Chosen, workload: Workload, measuring: Measuring, programs: Programs) -> str:
    """Returns the programs' error about the workload with these settings; '' if they accept it, or cannot be asked."""
    name = chosen[0].name if chosen else stages.DEFAULT
    experiment = experiment_of(Stage("check", "Is it taken?", {name: chosen}, 1), workload, measuring)
    unpinned = {name: cpus.Placement((), (), "")}
    said = flags.problems(experiment, unpinned, programs)
    return said[0].partition(": configuration ")[2].partition(": ")[2] or said[0] if said else ""


class RealBench:
    """A Bench of real programs. Whoever makes it has locked the folder."""

    def __init__(
        self, folder: Path, workload: Workload, measuring: Measuring, programs: Programs, interrupt: Interrupt
    ) -> None:
        self.folder = folder
        self.workload = workload
        self.measuring = measuring
        self.programs = programs
        self.interrupt = interrupt
        self.journals: dict[str, Journal] = {}

    @property
    def stopped(self) -> bool:
        return bool(self.interrupt.signum)

    def begun(self, name: str) -> int | None:
        """Raises journal.BadManifest."""
        folder = self.folder / name
        if not (folder / FILE).exists():
            return None
        number: int = begun(folder)["experiment"]["repetitions"]
        return number

    def measure(self, stage: Stage) -> Results:
        """Raises journal.BadManifest, lock.Busy, cpus.BadCpuList, chosen.Unusable, OSError."""
        experiment = experiment_of(stage, self.workload, self.measuring)
        placements = chosen.placements_for(experiment)
        if why := builds.refusal(experiment, self.programs):
            raise chosen.Unusable(why)
        folder = self.folder / stage.name
        folder.mkdir(exist_ok=True)
        with locked(folder):  # it can be resumed by itself, too
            return self._measure(stage, experiment, placements)

    def _measure(self, stage: Stage, experiment: Experiment, placements: dict[str, cpus.Placement]) -> Results:
        journal = self._journal(stage, experiment, placements)
        self.journals[stage.name] = journal
        journal.write()
        left = len(journal.left())
        how_long = layout.duration(left * self.run_s())
        say(f"{stage.name}: {stage.question} {plan.count(left, 'run')}, about {how_long}")
        Runner(experiment, placements, self.programs, journal, self.interrupt).run()
        storage.write(journal.folder / "results.csv", to_csv(end.read_results(journal)))
        sums.write(journal.folder)
        return self._results(stage, journal)

    def _journal(self, stage: Stage, experiment: Experiment, placements: dict[str, cpus.Placement]) -> Journal:
        """The stage's own: a new one, or that of an earlier run."""
        folder = self.folder / stage.name
        if (folder / FILE).exists():
            return start.go_on(folder, experiment, f"{stage.name}: ")
        order = make_order([*stage.configurations], experiment.loads, stage.repetitions, self.measuring.seed)
        return Journal.new(folder, experiment, order, self.measuring.seed, *start.facts_for(experiment, placements))

    def _results(self, stage: Stage, journal: Journal) -> Results:
        found: Results = {}
        unresolved: list[str] = []
        for planned in journal.done():
            try:
                document = load_document(journal.folder / planned.file)
            except BadDocument:
                continue
            if seen := figures(document, planned.load):
                found.setdefault(planned.configuration, {})[planned.repetition] = seen
            elif document.found_rate:
                unresolved.append(f"{planned.configuration}: {document.found_rate.words}")
        if unresolved:
            how_many = f"{len(unresolved)} of {len(journal.done())} searches"
            say(f"{stage.name}: no rate from {how_many}, first {unresolved[0]}")
        return found

    def used_s(self) -> float:
        return sum(seconds for journal in self.journals.values() for seconds in _seconds(journal))

    def run_s(self) -> float:
        """Without the time between two runs, which is a few milliseconds."""
        seen = [seconds for journal in self.journals.values() for seconds in _seconds(journal)]
        return sum(seen) / len(seen) if seen else self.measuring.run_s(self.workload.build)

    def other_load(self) -> list[str]:
        """Returns the CPU use of other programs, by stage."""
        found = ((name, journal.manifest.other_load) for name, journal in self.journals.items())
        return [f"{name}: {other.note}" for name, other in found if other and other.note]

    def report(self) -> tuple[Path | None, list[str]]:
        """The page of the last stage that compares with the defaults; and why there is none.

        None of searches: they have no rate in common at which they could be compared.
        """
        if self.measuring.load.search:
            return None, []
        derived = end.Derived(self.folder, self.interrupt)
        for name in (stages.SET, *reversed(stages.CONFIRM)):
            if name in self.journals and any(runs.find(self.folder / name)):
                return derived.make("report", partial(end.write_report, self.folder / name)), derived.problems
        return None, []


def _seconds(journal: Journal) -> list[float]:
    """Returns the time of each run."""
    return [run.seconds for run in journal.manifest.runs if run.seconds is not None]
