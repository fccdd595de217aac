"""The end of an experiment, complete or not: the summary, the table of all points, the verdict and the report.

The measurements are safe before any of this begins. If judging or drawing fails, one line reports it.
"""

from __future__ import annotations

import shlex
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from types import FrameType
from typing import TypeVar

from cqbench.experiment.spec import Experiment
from cqbench.formats import runs, storage, sums
from cqbench.formats.runs import Run
from cqbench.formats.source import BadDocument
from cqbench.formats.surroundings import Manifests
from cqbench.formats.text import one_line
from cqbench.measure.processes import Interrupt
from cqbench.measure.session import say
from cqbench.render.experiment import cells, faults, summary, tables
from cqbench.render.experiment.cells import Numbered
from cqbench.render.points_csv import to_csv
from cqbench.render.text import render
from cqbench.run.journal import Journal

# Judging and drawing load large libraries. They are imported where they are used: by then a signal does no harm, and a
# library that cannot be loaded costs the report and not the experiment.

MAX_FAILURES = 5  # on the screen; summary.txt has all
LOG = "logs/{}-failed.txt"
Made = TypeVar("Made")


@dataclass(frozen=True)
class Verdict:
    """summary: fits a screen. compares: something was measured over one connection and over several."""

    summary: str
    compares: bool


@dataclass
class Derived:
    """Makes what is made from the measurements. problems: a line each. stopped: a signal came meanwhile."""

    folder: Path
    interrupt: Interrupt
    problems: list[str] = field(default_factory=list)
    stopped: bool = False

    def make(self, what: str, maker: Callable[[], Made]) -> Made | None:
        """Returns the maker's result; None if it fails for any reason: its defects must not cost the measurements."""
        if self.stopped:
            return None
        try:
            with signals_raise(self.interrupt):
                return maker()
        except KeyboardInterrupt:
            self.stopped = True
        except Exception as error:
            self.problems.append(f"the {what} could not be made: {self._reason(what, error)}")
        return None

    def _reason(self, what: str, error: Exception) -> str:
        """Returns one line. Details for a developer go to a file."""
        reason = one_line(str(error)) or type(error).__name__
        if isinstance(error, (BadDocument, OSError)):
            return reason
        log = self.folder / LOG.format(what)
        try:
            log.parent.mkdir(exist_ok=True)
            storage.write(log, traceback.format_exc())
        except OSError:
            return f"{type(error).__name__}: {reason}"
        return f"{type(error).__name__}: {reason} (all of it: {log})"


@contextmanager
def signals_raise(interrupt: Interrupt) -> Iterator[None]:
    """Within it a signal that interrupt takes is a KeyboardInterrupt as well: nobody looks at interrupt there."""
    handlers = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    taken = {
        int(n): handler
        for n, handler in handlers.items()
        if callable(handler) and getattr(handler, "__self__", None) is interrupt
    }
    armed = True

    def note_and_raise(number: int, frame: FrameType | None) -> None:
        taken[number](number, frame)
        if armed:
            raise KeyboardInterrupt

    for number in taken:
        signal.signal(number, note_and_raise)
    try:
        yield
    finally:
        armed = False  # first: none may come between putting back one handler and the next
        for number, handler in taken.items():
            signal.signal(number, handler)


def conclude(journal: Journal, experiment: Experiment, interrupt: Interrupt) -> int:
    """Writes everything and prints the verdict. The exit status. Raises OSError."""
    folder = journal.folder
    measured = read_results(journal)
    head, tail = heading(journal, experiment), remarks(journal)
    first, table = shown_tables(journal, experiment, measured)
    storage.write(folder / "summary.txt", "\n".join([head, *filter(None, [first, table]), *tail]))
    storage.write(folder / "results.csv", to_csv(measured))
    derived = Derived(folder, interrupt)
    verdict = derived.make("verdict", lambda: write_verdict(folder, head, [run for _, run in measured]))
    page = derived.make("report", lambda: write_report(folder))
    print(screen(head, first, table, verdict, tail), end="", flush=True)
    for problem in derived.problems:
        say(problem)
    if derived.stopped:
        where = shlex.quote(str(folder))
        say(f"interrupted; scripts/verdict.sh {where} and scripts/report.sh {where} make verdict and report")
    if page:
        say(f"report: {page}")
    say(f"SHA-256 of {sums.FILE}, which has those of all files: {sums.write(folder)}")
    made = "verdict.txt, " if verdict else ""
    say(f"results: {folder} ({made}summary.txt, results.csv, manifest.json, raw/CONFIGURATION/NN-LOAD.json)")
    failed = derived.problems or bool(journal.failures())
    return interrupt.exit_code or (1 if failed else 0)


def read_results(journal: Journal) -> list[tuple[int, Run]]:
    """Returns the readable results, each with its repetition, in their order; the manifest has the reason for the
    others.

    An unreadable file gets another name, so that the next reader of the folder does not fail.
    """
    found = []
    manifests = Manifests()
    for planned in sorted(journal.order(), key=attrgetter("place")):
        path = journal.folder / planned.file
        if not path.exists():
            continue
        try:
            found.append((planned.repetition, runs.read(path, planned.configuration, manifests)))
        except BadDocument as error:
            say(f"put aside: {error}")
            storage.keep_old(path)
    return found


def heading(journal: Journal, experiment: Experiment) -> str:
    """Describes what was measured, where and with what, for a reader who has only this. Ends with an empty line."""
    manifest = journal.manifest
    versions = manifest.versions or {}
    grpc = sorted({run.grpc_version for run in manifest.runs if run.grpc_version})
    places = list(dict.fromkeys(manifest.placements.values()))
    facts = [
        f"gRPC {' and '.join(grpc)}" if grpc else "",
        manifest.machine.cpu_model,
        f"cqbench {versions['cqbench_version']}" if versions else "",
        places[0].split(": ")[0] if len(places) == 1 else "",
        manifest.started,
    ]
    lines = [f"{experiment.name}: {experiment.title}", experiment.question, ", ".join(filter(None, facts))]
    return "\n".join([*lines, *(f"! {note}" for note in manifest.notes)]) + "\n"


def by_configuration(experiment: Experiment, measured: Sequence[tuple[int, Run]]) -> dict[str, list[Numbered]]:
    """Every configuration's results with their repetitions; a configuration that has none is there, too."""
    found: dict[str, list[Numbered]] = {c.name: [] for c in experiment.configurations}
    for repetition, run in measured:
        found[run.configuration].append((repetition, run.document))
    return found


def shown_tables(journal: Journal, experiment: Experiment, measured: Sequence[tuple[int, Run]]) -> tuple[str, str]:
    """Returns the table of this experiment's topic (faults, or a kind of run/tables.py), '' if none; and the medians
    of all.
    """
    numbered = by_configuration(experiment, measured)
    every = cells.cells(numbered, experiment.loads)
    parts = [[*faults.blocks(measured, experiment.loads, list(numbered))]]
    parts += [[*tables.blocks(kind, every)] for kind in (*(() if parts[0] else tables.ALONE), *tables.KINDS)]
    documents = {name: [document for _, document in of] for name, of in numbered.items()}
    medians = summary.blocks(documents, experiment.loads, journal.manifest.repetitions or 1)
    return "\n".join(render(part) for part in parts if part), render(medians)


def remarks(journal: Journal) -> list[str]:
    """Returns what is missing, was not run or failed, a line each."""
    lines = [f"NOT RUN: {', '.join(names)}: {reason}\n" for reason, names in journal.ruled_out().items()]
    if journal.manifest.partial:
        missing = f"{len(journal.left())} of {len(journal.order())} runs are missing"
        lines.append(f"PARTIAL: {missing}; --resume {shlex.quote(str(journal.folder))} runs them\n")
    lines += [f"FAILED: {run.words}: {run.reason}\n" for run in journal.failures()]
    return lines


def write_verdict(folder: Path, head: str, measured: Sequence[Run]) -> Verdict:
    """verdict.txt and verdict.json. Raises OSError, and whatever a defect in judging raises."""
    from cqbench.analysis.verdict.whole import judge_runs
    from cqbench.render.verdict import answer, as_json, text

    judgement = judge_runs(measured)
    said = answer.make(judgement)
    shown = text.render(said)
    storage.write(folder / "verdict.txt", "\n".join([title(head), text.render(said, everything=True)]))
    storage.write_json(folder / "verdict.json", as_json.to_json(judgement))
    return Verdict(shown, bool(judgement.scenarios))


def title(head: str) -> str:
    """The verdict says the rest of a heading itself."""
    return head.partition("\n")[0]


def write_report(folder: Path) -> Path:
    """The page. Raises OSError, BadDocument, and whatever a defect in drawing raises."""
    from cqbench.render.report import files  # loads numpy and the page, which an experiment needs at its end only

    return files.write(folder)


def screen(head: str, first: str, table: str, verdict: Verdict | None, tail: Sequence[str]) -> str:
    """Returns the printed text. The medians are long: they are shown only if the verdict cannot have the figures."""
    parts = [title(head) if verdict else head, *filter(None, [first])]
    if verdict is None or not verdict.compares:
        parts.append(table)
    if verdict is not None:
        parts.append(verdict.summary)
    failures = [line for line in tail if line.startswith("FAILED")]
    parts += [line for line in tail if line not in failures[MAX_FAILURES:]]
    if len(failures) > MAX_FAILURES:
        parts.append(f"... and {len(failures) - MAX_FAILURES} more failures in summary.txt\n")
    return "\n".join(parts)
