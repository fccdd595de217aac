"""The two builds of `cqbench run --gate`: their folders, and the gate at the end."""

from __future__ import annotations

from pathlib import Path

from cqbench.experiment import gate
from cqbench.experiment.override import Options
from cqbench.formats import manifest, runs
from cqbench.measure.programs import AFTER, BEFORE, Programs
from cqbench.measure.session import say
from cqbench.run import journal
from cqbench.run.chosen import Unusable

LIMIT_PERCENT = 10.0
FIND = 0.97  # only for the column of a table that is not shown


def programs_of(options: Options) -> Programs:
    """With the folders of both builds: the command line's, or those that the folder to resume was begun with.

    Raises BadManifest, Unusable.
    """
    given = dict(zip((BEFORE, AFTER), options.gate, strict=True)) if options.gate else {}
    folders = {build: Path(folder).absolute() for build, folder in given.items()}
    if options.resume:
        known = journal.read(options.resume).builds or {}
        begun = {build: Path(known[build].folder) for build in (BEFORE, AFTER) if build in known}
        if folders and folders != begun:
            then = " ".join(map(str, begun.values())) or "one build"
            words = " ".join(map(str, options.gate or ()))
            raise Unusable(f"argument --gate: '{words}' is not what {options.resume} was begun with: {then}")
        folders = begun
    return Programs(folders.get(AFTER, options.bin), builds=folders)


def limit_of(options: Options, programs: Programs) -> float:
    """Percent. Raises Unusable."""
    if options.fail_if_slower is not None and not programs.builds:
        raise Unusable(f"argument --fail-if-slower: {options.fail_if_slower:g}% is not accepted without --gate")
    return LIMIT_PERCENT if options.fail_if_slower is None else options.fail_if_slower


def judge(folder: Path, limit_percent: float) -> int:
    """Says whether the gate is open. Returns the exit status, as `cqbench compare` has it. Raises BadDocument."""
    from cqbench.analysis.compare import within
    from cqbench.analysis.compare.gates import check, slower
    from cqbench.analysis.compare.points import compare
    from cqbench.analysis.compare.sides import of_runs
    from cqbench.model.gate import exit_status
    from cqbench.model.metric import METRICS, THROUGHPUT
    from cqbench.render.compare.text import gate_lines

    found = runs.read_all([folder])
    side = of_runs(str(folder), found)
    try:
        sections = within.by_axis(manifest.load(folder / manifest.FILE), side, found, gate.AXIS)
    except within.NoSuch:
        return _one_alone({scenario.configuration.rpartition(".")[2] for scenario in side.scenarios if scenario.points})
    outcome = check(slower(limit_percent, METRICS), compare(sections, [THROUGHPUT], [THROUGHPUT], FIND))
    for line in gate_lines(outcome):
        say(line)
    return exit_status({outcome.state})


def _one_alone(measured: set[str]) -> int:
    """Nothing whole of one build or of both."""
    if BEFORE in measured:
        say("gate --fail-if-slower: closed: the build after has no whole run")
        return 1
    say("gate --fail-if-slower: inconclusive: the build before has no whole run")
    return 3
