"""cqbench tune: its command line."""

from __future__ import annotations

import os
import shlex
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from cqbench.analysis.tune import catalogue, objective, select
from cqbench.analysis.tune.catalogue import BOTH, ENDS, KINDS, BadSettings, Candidate, Setting
from cqbench.analysis.tune.library import Library
from cqbench.analysis.tune.objective import OF_A_RATE, RATE, THROUGHPUT, Objective
from cqbench.analysis.tune.procedure import NothingToTune, Procedure
from cqbench.analysis.tune.select import BadChoice, Wanted
from cqbench.analysis.tune.stages import Budget
from cqbench.analysis.tune.workloads import Workload
from cqbench.cli import common
from cqbench.experiment.fields import CLIENT_TAKEN, SERVER_TAKEN
from cqbench.experiment.order import draw_seed
from cqbench.experiment.plan import SEARCHED_POINTS
from cqbench.experiment.spec import BadExperiment
from cqbench.formats import storage
from cqbench.measure import cpus, layout, library
from cqbench.measure.lock import Busy, locked
from cqbench.measure.processes import Interrupt
from cqbench.measure.programs import CLIENT as CLIENT_PROGRAM
from cqbench.measure.programs import NEWGRPC, Programs
from cqbench.measure.session import say
from cqbench.options import MAX_RATE, Refused, flag_name, number, only_beside, seconds, whole
from cqbench.render.tune import as_json, text
from cqbench.render.tune.as_json import Asked, BadTune
from cqbench.render.tune.text import Heading
from cqbench.run import tune as session
from cqbench.run.chosen import Unusable
from cqbench.run.journal import BadManifest
from cqbench.run.tune import Measuring, RealBench

SETTINGS = "settings.toml"  # the catalogue that a run was begun with, in its folder
INFLIGHT = 48
CLIENT = ("--api", "cq", "--channel-policy", "shared")
SERVER = ("--api", "cq")


def _kinds(ctx: click.Context, param: click.Parameter, words: str | None) -> tuple[str, ...]:
    kinds = tuple(words.split(",")) if words is not None else ()
    for kind in kinds:
        if kind not in KINDS:
            raise click.BadParameter(f"'{kind}' is not one of {', '.join(KINDS)}")
    return kinds


def _split(ctx: click.Context, param: click.Parameter, words: str | None) -> tuple[str, ...] | None:
    try:
        return None if words is None else tuple(shlex.split(words))
    except ValueError as error:
        raise click.BadParameter(f"'{words}' is not a command line: {error}") from None


def asked_of(given: dict[str, Any]) -> Asked:
    """From the command line. Raises click.UsageError, cpus.BadCpuList."""
    name: Any = given["objective"] or (THROUGHPUT if given["find_rate"] is None else RATE)
    load = _load(given, name)
    client, server = given["words"], given["server_flags"]
    _check_flags("the client's flags", client, CLIENT_TAKEN)
    _check_flags("argument --server-flags", server or (), SERVER_TAKEN)
    server = (() if client else SERVER) if server is None else server
    return Asked(
        objective=name,
        **load,
        budget_s=given["budget"],
        warmup_s=given["warmup"],
        interval_s=given["interval"],
        seed=draw_seed() if given["seed"] is None else given["seed"],
        client=client or CLIENT,
        server=server,
        start=_start(server),
        build=given["build"],
        end=given["end"],
        only=given["only"],
        exclude=given["exclude"],
        risk=given["risk"],
    )


def _load(given: dict[str, Any], name: str) -> dict[str, Any]:
    """name: of the objective. Raises click.UsageError."""
    loads = {key: given[key] for key in ("inflight", "rate", "find_rate") if given[key] is not None}
    flags = [f"--{key.replace('_', '-')}" for key in loads]
    if len(loads) > 1:
        second = [*loads.values()][1]
        shown = f"{second:g}" if isinstance(second, float) else second
        raise click.UsageError(f"argument {flags[1]}: '{shown}' is not accepted with {flags[0]}: one of the two")
    if name == RATE and "find_rate" not in loads:
        raise click.UsageError(f"argument --objective: '{name}' takes --find-rate and what is to be met: p99<2ms")
    if "find_rate" in loads and name != RATE:
        raise click.UsageError(f"argument --objective: '{name}' is not accepted with --find-rate: {RATE} is")
    if "rate" in loads and name not in OF_A_RATE:
        raise click.UsageError(
            f"argument --objective: '{name}' is not accepted with --rate, at which all have the same: "
            f"{', '.join(OF_A_RATE)} are"
        )
    return loads or {"inflight": INFLIGHT}


def _check_flags(where: str, flags: tuple[str, ...], taken: tuple[str, ...]) -> None:
    if flags and not flags[0].startswith("-"):
        raise click.UsageError(f"{where}: '{flags[0]}' is not a flag; flags of the client follow after --")
    for flag in flags:
        if flag_name(flag) in taken:
            raise click.UsageError(f"{where}: '{flag}' is not accepted: tune itself gives it")


def _start(server: tuple[str, ...]) -> dict[str, str]:
    """Queues and threads for the server's CPUs where nobody said so. Raises cpus.BadCpuList."""
    names = {flag_name(flag) for flag in server}
    api = next((value for flag, value in pairwise(server) if flag == "--api"), "cq")
    if api not in ("cq", "generic") or any(flag.startswith("--api=") for flag in server):
        return {}
    there = cpus.place(cpus.read_machine(), os.environ.get("SERVER_CPUS", ""), os.environ.get("CLIENT_CPUS", ""))
    words = layout.server_layout(max(1, len(there.server)))
    return {flag: value for flag, value in zip(words[::2], words[1::2], strict=True) if flag not in names}


class Run:
    """The facts that are known before measuring."""

    def __init__(self, asked: Asked, catalogue: list[Setting], found: Library, programs: Programs) -> None:
        """Raises BadChoice, BadExperiment, Refused."""
        self.asked = asked
        self.objective = Objective(asked.objective)
        self.programs = programs
        self.workload = Workload(asked.client, asked.server, asked.start, asked.build, asked.end)
        self.measuring = Measuring(asked.load, asked.warmup_s, asked.interval_s, asked.seed)
        if why := session.refused((), self.workload, self.measuring, programs):
            raise Refused(f"the workload cannot be run: {why}")
        wanted = Wanted(asked.only, asked.exclude, asked.risk)
        select.check(wanted, catalogue)
        self.candidates, self.not_tried = select.select(catalogue, self.workload, found, wanted, self._refused)
        server = f" | server {shlex.join(asked.server)}" if asked.server else ""
        workload = f"{asked.load.words}, {shlex.join(asked.client)}{server}"
        self.heading = Heading(self.objective, workload, found.version, asked.end)

    def _refused(self, candidate: Candidate) -> str:
        return session.refused((candidate,), self.workload, self.measuring, self.programs)

    def check_budget(self) -> Budget:
        """Raises Refused: nothing to try, or too little time."""
        budget = Budget(self.asked.budget_s, self.measuring.run_s(self.asked.build))
        if not any(not c.setting.control for c in self.candidates):
            raise Refused("there is nothing to try: --plan says why each is left out, --list shows all")
        if (least := budget.needed(self.candidates)) > budget.seconds:
            each = f", each a search of about {SEARCHED_POINTS} points" if self.asked.find_rate else ""
            raise Refused(
                f"argument --budget: {layout.duration(budget.seconds)} is too little for {len(self.candidates)} "
                f"settings, which take {layout.duration(least)} in runs of {budget.run_s:.2g} s{each}; or try fewer "
                "(--only, --exclude), or a shorter --interval"
            )
        return budget

    def timing(self) -> list[str]:
        budget = self.check_budget()
        repetitions = ", ".join(f"{name} {number}" for name, number in budget.fits(self.candidates).items())
        return [
            f"about {layout.duration(budget.seconds)}, of which every stage takes its share; a run takes about "
            f"{budget.run_s:.2g} s, the least for these settings {layout.duration(budget.needed(self.candidates))}",
            f"repetitions that fit: {repetitions}; more where fewer settings go on than may",
        ]

    def measure(self, folder: Path) -> int:
        """The exit status. Raises what command() reports."""
        interrupt = Interrupt()
        if not (folder / as_json.FILE).exists():  # of an earlier run: what came out then stays until there is more
            storage.write_json(folder / as_json.FILE, as_json.document(self.asked, self.heading, self.not_tried, None))
        bench = RealBench(folder, self.workload, self.measuring, self.programs, interrupt)
        say(f"{self.objective.title}: {self.heading.workload}; {len(self.candidates)} settings; results: {folder}")
        procedure = Procedure(self.candidates, self.objective, self.asked.budget_s, self.asked.seed, bench)
        outcome = procedure.run()
        heading = Heading(
            self.objective, self.heading.workload, self.heading.grpc, self.asked.end, tuple(bench.other_load())
        )
        shown = text.render(outcome, heading)
        storage.write(folder / "tune.txt", shown)
        storage.write_json(folder / as_json.FILE, as_json.document(self.asked, heading, self.not_tried, outcome))
        click.echo(shown, nl=False)
        page, problems = (None, []) if interrupt.signum else bench.report()
        for problem in problems:
            say(problem)
        if page:
            say(f"report: {page}")
        say(f"results: {folder} (tune.txt, tune.json, and a folder for each stage)")
        return interrupt.exit_code or (1 if problems else 0)


@click.command()
@click.option(
    "--objective",
    type=click.Choice(objective.NAMES),
    help=f"Figure to improve; cpu: CPU per call, both ends; rate: see --find-rate (default {THROUGHPUT}).",
)
@click.option("--inflight", type=whole(1, 100_000), help=f"Calls in flight, a closed loop (default {INFLIGHT}).")
@click.option(
    "--rate",
    type=number(0.001, MAX_RATE, f"a rate of calls per second up to {MAX_RATE}"),
    help="Calls per second, an open loop.",
)
@click.option(
    "--find-rate",
    metavar="OBJECTIVE",
    help="Condition of a highest rate, such as p99<2ms: each run is a search, as the client's --find-rate.",
)
@click.option("--budget", type=seconds(1, 86_400), default="10m", show_default=True, help="Time for everything.")
@click.option("--warmup", type=seconds(0.001), default="100ms", show_default=True, help="Warm-up of each run.")
@click.option("--interval", type=seconds(0.01), default="400ms", show_default=True, help="Measured time of each run.")
@click.option("--server-flags", metavar="FLAGS", callback=_split, help="Flags of the server; tune never changes them.")
@click.option("--end", type=click.Choice(ENDS), default=BOTH, show_default=True, help="End that is tuned.")
@common.BUILD
@click.option("--settings", type=common.PATH, help="Catalogue of settings (default scripts/settings.toml).")
@click.option("--only", metavar="KIND,...", callback=_kinds, help=f"Kinds of settings: {', '.join(KINDS)}.")
@click.option("--exclude", metavar="NAME", multiple=True, help="Setting that is not tried; repeatable.")
@click.option(
    "--risk",
    type=click.Choice(["none", "some", "all"]),
    default="some",
    show_default=True,
    help="Accepted risk; some: experimental settings and lost features; all: also broken ones, such as deadlines.",
)
@common.SEED
@common.RESULTS
@common.RESUME
@common.BIN
@common.PLAN
@click.option("--list", "listing", is_flag=True, help="Print all settings; with programs, which gRPC reads here.")
@click.argument("words", nargs=-1, metavar="[-- CLIENT FLAGS]")
@click.pass_context
def command(ctx: click.Context, /, **given: Any) -> int:
    """Find settings that help: tries every setting of a catalogue on a workload, and ranks those whose gain is real.

    The workload is 48 pings in flight over one connection (--api cq --channel-policy shared on the client, --api cq on
    the server), or what follows after --, which is never changed. All settings are screened at once; what looks better
    is measured again, one by one and together, side by side with the defaults, and what was confirmed as a set once
    more. Among the candidates are settings that nothing reads: how many of them come out as something is the run's own
    rate of false alarms.

    A search for the highest rate under an objective takes some fifty points, so all settings take hours: --plan says
    how long; name few kinds with --only, and a --budget. A search that finds no rate counts as not measured. P99 at a
    rate takes one point.

    Results: results/tune-DATE-TIME/ with tune.txt, tune.json, settings.toml, and for each stage a folder as of cqbench
    run. Environment: SERVER_CPUS, CLIENT_CPUS: CPUs for either side, such as 0-3,8.

    Exit status: 0, whatever came out; 1 nothing could be measured; 2 usage; 130 interrupted: what was measured is kept
    and shown, and --resume goes on.
    """
    try:
        return act(ctx, given)
    except (BadSettings, BadChoice, BadTune, BadExperiment, BadManifest, Unusable, Busy, cpus.BadCpuList) as error:
        raise Refused(str(error)) from None
    except NothingToTune as error:
        raise click.ClickException(str(error)) from None


def _library(asked: Asked, client: Path) -> Library:
    """Raises OSError."""
    return library.of_sid(NEWGRPC) if asked.build == "sid" else library.installed(client)


def act(ctx: click.Context, given: dict[str, Any]) -> int:
    """The exit status. Raises what command() reports."""
    resumed: Path | None = given["resume"]
    if resumed:
        only_beside(ctx, "resume", ("bin",))
    with locked(resumed) if resumed else nullcontext():
        return _act(resumed, given)


def _act(resumed: Path | None, given: dict[str, Any]) -> int:
    """With the folder that is to be resumed."""
    programs = Programs(given["bin"])
    asked = as_json.read(resumed) if resumed else asked_of(given)
    source = resumed / SETTINGS if resumed else given["settings"] or catalogue.SHIPPED
    every = catalogue.load(source)
    client = programs.bin / CLIENT_PROGRAM
    why = programs.refusal(CLIENT_PROGRAM) if asked.build != "sid" else ""
    if why and not given["listing"]:
        raise Unusable(why)
    if given["listing"]:
        click.echo(text.catalogue(every, None if why else _library(asked, client)), nl=False)
        return 0
    found = _library(asked, client)
    run = Run(asked, every, found, programs)
    if given["plan"]:
        click.echo(text.plan(run.candidates, run.not_tried, run.heading, run.timing()), nl=False)
        return 0
    run.check_budget()
    if resumed:
        return run.measure(resumed)
    folder = common.new_folder(given["results"], "tune-")
    with locked(folder):
        storage.write(folder / SETTINGS, source.read_text(encoding="utf-8"))
        return run.measure(folder)
