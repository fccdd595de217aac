"""cqbench compare: is B faster or slower than A, beyond noise?"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from cqbench.analysis.compare.gates import Gate, Most, Outcome, check, check_most, latency_higher, slower
from cqbench.analysis.compare.points import Comparison, compare
from cqbench.analysis.compare.sections import Section, of_sides
from cqbench.analysis.compare.sides import Side
from cqbench.cli.sides import histories, profiles
from cqbench.cli.sides.arguments import inside, metrics_of, read, with_itself
from cqbench.cli.sides.refusal import why_not
from cqbench.formats import storage
from cqbench.model.gate import exit_status
from cqbench.model.metric import GROUPS, METRICS, Metric
from cqbench.options import Refused, number, percentage
from cqbench.render.compare import benchresult, tables, text

PROGRAM = "cqbench compare"
USUAL = ("throughput", "p50", "p99", "p50-sent", "p99-sent")
FORMATS = ("text", "markdown", "csv", "json", "html", "benchresult")
EPILOG = """\b
Examples:
  cqbench compare before/ after/
  cqbench compare before.json after.json --metric throughput,cpu,allocations
  cqbench compare results/headline-DATE --axis connections
  cqbench compare results/policies-DATE --configurations shared 'pool-*'
  cqbench compare main/ branch/ --history results/ --fail-if-slower 5% --fail-if-latency-higher 10%
  cqbench compare before/ after/ --format markdown      for a pull request
  cqbench compare before/ after/ --output page.html     to look at
  cqbench compare results/allocations-DATE --axis grpc --format benchresult
  cqbench compare old.txt new.txt                       of go test -bench
  cqbench compare before.json after.json --fail-if-more-expensive 0.5%   two cost profiles of cqbench cost
  cqbench compare --history results/ --metric throughput

Both sides of --axis and --configurations were measured in turns, so that what slows the whole machine cancels. A and B
of different sessions have it in them: an experiment's folder is a session, and so is a file outside of experiments.
Three sessions on either side (a folder of such folders or files), or --history, say how much it is; with neither, all
times are inconclusive. Simulated error rates are in scripts/README.md.

Exit status: 0; 1 a gate (--fail-if-...) is closed; 2 usage, unreadable results, nothing in common, or A and B cannot be
compared; 3 inconclusive: no gate is closed, but not all are shown to be open. For CI, cqbench run EXPERIMENT --gate
measures two builds in turns.
"""


def complain(line: str) -> None:
    """One line to people."""
    print(f"{PROGRAM}: {line}", file=sys.stderr, flush=True)


@click.command(epilog=EPILOG)
@click.option(
    "--axis",
    metavar="NAME",
    help="Inside the experiment DIR: the first value of this axis against each other one, in every scenario; or of a "
    "setting that varies in it, such as connections.",
)
@click.option(
    "--configurations",
    nargs=2,
    metavar="A B",
    help="Inside the experiment DIR: configurations by name, by the beginning of their names or by a pattern with * "
    "and ?; what is open in both says which belong together.",
)
@click.option(
    "--history",
    metavar="FOLDER",
    help="Alone: all runs in a folder (sub-folders or files) by their date, with the points where a metric changed. "
    "With A and B: how far these runs differ is how far sessions of this machine differ.",
)
@click.option(
    "--metric",
    metavar="LIST",
    help="Names or groups, or all. Without it: of the points throughput, P50 and P99, in total everything. Names: "
    f"{', '.join(m.name for m in METRICS)}. Groups: {', '.join(GROUPS)}. In an open loop latency counts from when a "
    "call was due, with -sent from when it was sent. Other programs' figures have their names there.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="By default what --output ends in, or text. benchresult: the rows of grpc-go's tool.",
)
@click.option("--output", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="Not standard output.")
@click.option(
    "--find",
    type=percentage(99),
    default="3%",
    show_default=True,
    help="The least change that matters: the column 'for 3 %' has the repetitions that find it four times of five.",
)
@click.option(
    "--fail-if-slower",
    type=percentage(100),
    help="Exit status 1 when the throughput of a point is really lower, by P % or more, or is gone; 0 only when "
    "at every point the 95 % interval excludes a loss above P %; otherwise 3, and how many repetitions would "
    "decide. Of another program: when its time per operation says so.",
)
@click.option("--fail-if-latency-higher", type=percentage(10_000), help="The same for a higher P99.")
@click.option(
    "--max-allocs-per-rpc",
    type=number(0, 1e9, "a number of allocations such as 25", "N"),
    help="Exit status 1 when after, at any point, every repetition has more allocations per call, of client and server "
    "together; 3 when only some have, or an end does not count them.",
)
@click.option(
    "--max-instructions-per-rpc",
    type=number(0, 1e12, "a number such as 80000", "N"),
    help="The same of cost profiles' counts.",
)
@click.option("--max-syscalls-per-rpc", type=number(0, 1e9, "a number such as 12", "N"), help="The same.")
@click.option(
    "--fail-if-more-expensive",
    type=percentage(10_000),
    help="Of profiles: exit status 1 when instructions, system calls or allocations of an end are really more, by P %.",
)
@click.option(
    "--anyway",
    is_flag=True,
    help="Compare even other work, what was measured on another machine or otherwise, or by a gate with itself.",
)
@click.argument("paths", nargs=-1, metavar="A B | DIR")
def command(
    paths: tuple[str, ...],
    axis: str | None,
    configurations: tuple[str, str] | None,
    history: str | None,
    metric: str | None,
    form: str | None,
    output: Path | None,
    find: float,
    fail_if_slower: float | None,
    fail_if_latency_higher: float | None,
    max_allocs_per_rpc: float | None,
    max_instructions_per_rpc: float | None,
    max_syscalls_per_rpc: float | None,
    fail_if_more_expensive: float | None,
    anyway: bool,
) -> int:
    """Is B faster or slower than A? The change of every point and in total, with its 95 % interval, and whether it is
    more than noise.

    A, B: file or folder, before and after: of cqbench, of Google Benchmark (JSON) or of go test -bench (text). Of a
    folder all *.json below it count, except manifest.json and verdict.json; where it holds raw/, only
    raw/<configuration>/*.json. Software, client, server and connections may differ, and are shown; work, machine,
    network, window and build type may not. Points with a failed call are left out. A change is called one from six
    repetitions (or three sessions) on, after correction for the number of points, and never where its interval
    includes no change at all.

    Two cost profiles of cqbench cost: what changed, by library, function and system call.
    """
    form = _form(form, output)
    if history is not None and not paths:
        colour = output is None and sys.stdout.isatty()
        _write(output, histories.shown(history, metric, USUAL, form, colour))
        return 0
    if history is not None and (axis or configurations or len(paths) != 2):
        raise click.UsageError(f"--history stands alone, or with A and B; given: {' '.join(paths)}")
    limits = profiles.Limits(max_instructions_per_rpc, max_syscalls_per_rpc, max_allocs_per_rpc, fail_if_more_expensive)
    if len(paths) == 2 and not axis and not configurations and profiles.are_profiles(paths):
        unfit = {
            "--metric": metric,
            "--fail-if-slower": fail_if_slower,
            "--fail-if-latency-higher": fail_if_latency_higher,
            "--history": history,
        }
        return _profiles((paths[0], paths[1]), form, output, limits, anyway, unfit)
    if limits.first:
        raise Refused(f"argument {limits.first}: is for two cost profiles of cqbench cost")
    if axis and configurations:
        raise click.UsageError("--axis and --configurations cannot be used together")
    wanted = 1 if axis or configurations else 2
    if len(paths) != wanted:
        what = (
            "one experiment's folder is"
            if wanted == 1
            else "A and B, or one experiment with --axis or --configurations, are"
        )
        raise click.UsageError(f"{what} needed; given: {' '.join(paths) or 'nothing'}")
    if wanted == 1:
        side, sections = inside(paths[0], axis, configurations)
        sides = [side]
    else:
        sides = [read("A", paths[0]), read("B", paths[1])]
        sections = [of_sides(*sides)]
    if form == "benchresult" and metric is not None:
        raise click.UsageError("--metric is not for --format benchresult, which has rows of its own")
    rows = benchresult.NEEDED if form == "benchresult" else ()
    comparison, gates = _compared(sides, sections, metric, find, fail_if_slower, fail_if_latency_higher, rows, history)
    refusal = why_not(comparison, sides, anyway)
    for line in refusal:
        complain(line)
    if refusal:
        return 2
    relative = {"--fail-if-slower": fail_if_slower, "--fail-if-latency-higher": fail_if_latency_higher}
    for line in with_itself(paths, relative, anyway):
        complain(line)
    outcomes = [check(gate, comparison) for gate in gates]
    if max_allocs_per_rpc is not None:
        outcomes.append(check_most(Most(max_allocs_per_rpc), comparison))
    _write(output, _rendered(form, comparison, sides, outcomes, output))
    for outcome in outcomes:
        for line in text.gate_lines(outcome):
            complain(line)
    states = {outcome.state for outcome in outcomes}
    return exit_status(states)


def _profiles(
    paths: tuple[str, str],
    form: str,
    output: Path | None,
    limits: profiles.Limits,
    anyway: bool,
    unfit: Mapping[str, object],
) -> int:
    """The exit status. unfit: flags that are for measured time, None where they were not given. Raises Refused."""
    for flag, value in unfit.items():
        if value is not None:
            raise Refused(f"argument {flag}: is not for profiles of cqbench cost")
    content, complaints, status = profiles.compare(paths, form, limits, anyway)
    note = with_itself(paths, {"--fail-if-more-expensive": limits.limit_percent}, anyway)
    if content:
        _write(output, content)
    for line in (*note, *complaints):
        complain(line)
    return status


def _form(form: str | None, output: Path | None) -> str:
    endings = {".md": "markdown", ".csv": "csv", ".json": "json", ".html": "html"}
    return form or endings.get(output.suffix if output else "", "text")


def _compared(
    sides: Sequence[Side],
    sections: Sequence[Section],
    words: str | None,
    find: float,
    slow: float | None,
    late: float | None,
    rows: Sequence[Metric],
    history: str | None,
) -> tuple[Comparison, list[Gate]]:
    """rows: all that is needed, where the format says so."""
    known = [m for m in sides[0].metrics if m in sides[-1].metrics]
    gates = [] if slow is None else [slower(slow, known)]
    gates += [] if late is None else [latency_higher(late)]
    if rows:
        detailed = [m for m in rows if m is not benchresult.MESSAGES]
        return compare(sections, rows, detailed, 1 - find / 100, histories.spreads(history, rows)), gates
    foreign = known != list(METRICS)
    chosen = metrics_of(words, known) if words is not None else known
    detailed = [m for m in chosen if words is not None or foreign or m.name in USUAL]
    needed = [m for m in known if m in chosen or m in [gate.metric for gate in gates]]
    detailed = [m for m in needed if m in detailed or m in [gate.metric for gate in gates]]
    return compare(sections, needed, detailed, 1 - find / 100, histories.spreads(history, needed)), gates


def _rendered(
    form: str, comparison: Comparison, sides: Sequence[Side], outcomes: Sequence[Outcome], output: Path | None
) -> str:
    if form == "markdown":
        return tables.markdown(comparison, sides)
    if form == "benchresult":
        return benchresult.render(comparison, sides)
    if form == "csv":
        return tables.to_csv(comparison)
    if form == "json":
        return tables.to_json(comparison, sides, outcomes)
    if form == "html":
        from cqbench.render.compare import page  # draws, which takes a second to load

        return page.render(comparison, sides, outcomes)
    return text.render(comparison, sides, colour=output is None and sys.stdout.isatty())


def _write(output: Path | None, content: str) -> None:
    if output is None:
        click.echo(content, nl=False)
    else:
        storage.write(output, content)
