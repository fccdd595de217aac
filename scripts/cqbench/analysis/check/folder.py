"""Rules about a folder of an experiment: is everything there, is it what was measured, and in which order?"""

from __future__ import annotations

import itertools
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from cqbench.analysis.check.model import Finding, Planned, Result, State, Subject, count, judged, named
from cqbench.formats import manifest as files
from cqbench.formats import result as documents
from cqbench.formats import sums
from cqbench.formats.manifest import FAILED, NOT_RUN, OK, Manifest, RunRecord

BEFORE_HASHES = "made before hashes were written"
NO_MANIFEST = "files without a manifest"
CLOCK_STEP = timedelta(seconds=2)  # the client's date has whole seconds, and clocks are set


def schema(subject: Subject) -> Finding:
    """Everything could be read, by the versions of the formats that this program knows."""
    total = len(subject.results) + len(subject.unreadable)
    kinds = f"schema {documents.SCHEMA_VERSION}" + (f", manifest {files.VERSION}" if subject.manifest else "")
    problems = [*subject.unreadable, *(run.problem for run in _runs(subject) if run.problem)]
    return judged("schema", count(total, "result"), problems, kinds)


def hashes(subject: Subject) -> Finding | None:
    found, manifest = subject.sums, subject.manifest
    if isinstance(found, str):
        return Finding("hashes", State.FAILED, found)
    if found is None:
        return _without_hashes(manifest) if manifest else None
    problems = [f"{name} has changed" for name in found.changed]
    problems += [f"{name} is missing" for name in found.missing]
    problems += [f"{name} is not in the list" for name in found.unlisted]
    looked_at = f"{sums.FILE} of {count(found.files, 'file')}"
    return judged("hashes", looked_at, problems, "all as they were written")


def _without_hashes(manifest: Manifest) -> Finding:
    if manifest.hashes is None:
        return Finding("hashes", State.NOT_KNOWN, f"no {sums.FILE}: {BEFORE_HASHES}")
    if manifest.ended is None:
        return Finding("hashes", State.NOT_KNOWN, f"no {sums.FILE}: the experiment has not ended")
    return Finding("hashes", State.FAILED, f"{sums.FILE} is missing; the manifest names it")


def complete(subject: Subject) -> Finding | None:
    """The runs of the manifest against the results that are there."""
    manifest = subject.manifest
    if manifest is None:
        problems = [f"{result.name} was cut short" for result in subject.results if result.run.document.partial]
        if any(result.run.configuration for result in subject.results):
            problems.append(f"there is no {files.FILE}")
        return judged("complete", NO_MANIFEST, problems, "none was cut short")
    there = {result.name for result in subject.results}
    problems = [f"{run.file} is missing" for run in manifest.runs if run.status == OK and run.file not in there]
    problems += [f"{name} is of no run" for name in subject.unplanned]
    left = [run for run in manifest.runs if run.status not in (OK, FAILED, NOT_RUN)]
    problems += [f"{run.file}: {run.status or 'no status'}" for run in left]
    if manifest.partial or manifest.ended is None:
        problems.append("the experiment did not run to its end")
    looked_at = f"{count(len(manifest.runs), 'run')} of the manifest"
    failed = [run for run in manifest.runs if run.status in (FAILED, NOT_RUN)]
    if problems or not failed:
        return judged("complete", looked_at, problems, "each has its result, and no result is of no run")
    words = tuple(f"{run.file}: {run.status}: {run.reason}" for run in failed)
    text = f"{looked_at}: {count(len(failed), 'run')} without a result, with the reason: {named(words)}"
    return Finding("complete", State.REMARK, text, words)


def blocks(subject: Subject) -> Finding | None:
    """Each repetition has each configuration at each load once, in the order that the seed draws."""
    manifest, made = subject.manifest, subject.made
    if manifest is None:
        return None
    runs = [run for run in manifest.runs if not run.problem]
    found = [Planned(run.configuration, run.load, run.repetition) for run in runs if run.load]
    problems = ["the manifest has no seed or no repetitions"] * (manifest.seed is None or not manifest.repetitions)
    problems += _holes(found, made.planned or _product(found))
    if not problems and made.planned and [*made.planned] != found:
        problems.append(f"the runs are not in the order that seed {manifest.seed} draws")
    if not problems and not manifest.resumed:
        problems += _out_of_order(runs)
    names = {run.configuration for run in found}
    looked_at = f"{count(manifest.repetitions or 0, 'repetition')} of {count(len(names), 'configuration')}"
    if not problems and made.planned is None:
        return Finding("blocks", State.NOT_KNOWN, f"{looked_at}: whole; {made.no_plan}")
    return judged("blocks", looked_at, problems, f"every block is whole, in the order of seed {manifest.seed}")


def _product(found: Sequence[Planned]) -> list[Planned]:
    """Every combination of what is there."""
    every = ([*dict.fromkeys(of)] for of in zip(*found, strict=True))
    return [Planned(*one) for one in itertools.product(*every)] if found else []


def _holes(found: Sequence[Planned], planned: Sequence[Planned]) -> Iterator[str]:
    there, asked = Counter(found), set(planned)
    yield from (f"{run.words} is missing" for run in planned if run not in there)
    yield from (f"{run.words} is not of the experiment" for run in there if run not in asked)
    yield from (f"{run.words} is there {number} times" for run, number in there.items() if number > 1)


def _out_of_order(runs: Sequence[RunRecord]) -> list[str]:
    """A run that began before the one in front of it ended. Not where an experiment was resumed."""
    timed = [(run, _time(run.started), _time(run.ended)) for run in runs]
    known = [(run, began, ended) for run, began, ended in timed if began and ended]
    return [
        f"{run.file} began before {last.file} had ended"
        for (last, _, end), (run, began, _) in itertools.pairwise(known)
        if began < end
    ]


def origin(subject: Subject) -> Finding | None:
    """Each result is of its run: its command, its time, its load and version; and none is a copy of another."""
    problems = [f"{name} has the measurements of {other}" for name, other in _copies(subject.results)]
    recorded = [result for result in subject.results if result.record]
    for result in recorded:
        problems += [f"{result.name}: {problem}" for problem in _not_its_own(result)]
    if subject.manifest is None:
        return judged("origin", NO_MANIFEST, problems, "no two results are the same") if subject.results else None
    looked_at = f"command, time, load and version of {count(len(recorded), 'result')}"
    return judged("origin", looked_at, problems, "as the manifest has them")


def _copies(results: Sequence[Result]) -> Iterator[tuple[str, str]]:
    seen: dict[str, str] = {}
    for result in results:
        points = repr(result.raw.get("benchmarks"))
        if points != "[]" and points in seen:
            yield result.name, seen[points]
        seen.setdefault(points, result.name)


def _not_its_own(result: Result) -> Iterator[str]:
    record, document = result.record, result.run.document
    assert record
    if record.grpc_version and record.grpc_version != document.grpc_version:
        yield f"gRPC {document.grpc_version}, the manifest has {record.grpc_version}"
    labels = {point.load.label for point in document.points}
    if record.load and not record.load.search and record.load.label not in labels:
        yield f"no point with {record.load.words}"
    if record.ranks:
        return  # each process has a command, and the machine a clock, of its own
    if document.command_line and not _is_command(document.command_line, record.client_command):
        yield "another command line than the manifest's"
    if not _wrote(document.command_line, record.file):
        yield "its command wrote another file"
    began, ended, date = _time(record.started), _time(record.ended), _time(str(result.run.context.get("date", "")))
    if began and ended and date and not began - CLOCK_STEP <= date <= ended + CLOCK_STEP:
        yield f"measured at {date.isoformat()}, its run was from {record.started} to {record.ended}"


def _is_command(words: Sequence[str], whole: str) -> bool:
    """The manifest's command has what starts the client in front: taskset, or another root."""
    try:
        told = shlex.split(whole)
    except ValueError:
        return False
    return not told or told[-len(words) :][1:] == [*words[1:]]


def _wrote(words: Sequence[str], file: str) -> bool:
    """True where the command does not say into which file."""
    outputs = [after for word, after in itertools.pairwise(words) if word == "--output"]
    return all(output.endswith(f"/{file}") for output in outputs)


def _time(text: str) -> datetime | None:
    """RFC 3339; None for what is no time with an offset."""
    try:
        found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return found if found.tzinfo else None


def _runs(subject: Subject) -> list[RunRecord]:
    return subject.manifest.runs if subject.manifest else []
