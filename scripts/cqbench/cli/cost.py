"""cqbench cost: the cost profile of one call."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import tempfile
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError

from cqbench.analysis.cost.profile import ALLOCATIONS, PARTS, PROGRAM, SAMPLES, TIME, Profile, as_json
from cqbench.cli import common
from cqbench.experiment import flags
from cqbench.formats import problems, storage
from cqbench.measure import busy, cpus, group, layout
from cqbench.measure.lock import Busy, locked
from cqbench.measure.processes import Failed, Interrupt
from cqbench.measure.programs import CLIENT, NEWGRPC, SERVER, SID_SHARED, Programs
from cqbench.measure.session import say
from cqbench.options import Refused, Value, flag_name, only_beside, whole
from cqbench.render.cost import text
from cqbench.run.cost import kept, plan
from cqbench.run.cost.kept import Folder
from cqbench.run.cost.making import BOTH, Making
from cqbench.run.cost.plan import PLACEHOLDER, TAKEN_FROM_CLIENT, TAKEN_FROM_SERVER, TOOLS, Asked
from cqbench.run.cost.session import Port, Session
from cqbench.stats.ratios import MIN_REPETITIONS

ANSWER_TIMEOUT_S = 60
EPILOG = """\b
Examples:
  cqbench cost                                        the ping, client and server, about six minutes
  cqbench cost --output before.json -- --api callback --workload echo --request-bytes 1KiB
  cqbench compare before.json after.json --fail-if-more-expensive 0.5%
  cqbench cost --only syscalls --inflight 48 --side server --server-flags '--api callback'
  cqbench cost --build sid                            the same with gRPC 1.83 (scripts/newgrpc.sh)
  cqbench cost --program -- ./my_client --count {calls}
  cqbench cost --resume results/cost-DATE-TIME

Exit status: 0; 1 something could not be counted; 2 usage; 130 interrupted: what was done is printed, marked partial,
and --resume goes on.
"""


def _parts(words: str) -> tuple[str, ...]:
    chosen = words.split(",")
    if not set(chosen) <= set(PARTS):
        raise ValueError(f"a list of {', '.join(PARTS)}")
    return tuple(part for part in PARTS if part in chosen)


@click.command(epilog=EPILOG)
@click.option("--calls", type=whole(10, 10_000_000), help="N; counted is the difference between N and 5 N calls.")
@click.option("--inflight", type=whole(1, 100_000), default=1, show_default=True, help="Calls in flight.")
@click.option(
    "--repetitions",
    type=whole(1, 100),
    default=MIN_REPETITIONS,
    show_default=True,
    help=f"Repetitions; compare needs {MIN_REPETITIONS} of both profiles to call a change one.",
)
@click.option(
    "--side", type=click.Choice(["client", "server", "both"]), default="both", show_default=True, help="Counted end."
)
@click.option(
    "--only",
    metavar="LIST",
    type=Value("LIST", _parts),
    default=",".join(PARTS),
    show_default=True,
    help="Parts that are counted.",
)
@click.option("--server-flags", metavar="FLAGS", default="", help="Flags of grpc_ping_server.")
@common.BUILD
@click.option("--program", is_flag=True, help=f"Count a program of your own, which makes {PLACEHOLDER} calls.")
@click.option("--output", metavar="FILE.json", type=common.FILE, help="File for the cost profile, as JSON.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="Format on standard output.",
)
@click.option(
    "--folded",
    metavar="FILE",
    type=common.FILE,
    help="Another file for the sampled stacks in nanoseconds of a call, for flamegraph.pl or speedscope.",
)
@common.RESULTS
@common.RESUME
@common.BIN
@common.PLAN
@click.argument("words", nargs=-1, metavar="[-- CLIENT FLAGS | PROGRAM...]")
@click.pass_context
def command(ctx: click.Context, /, **given: Any) -> int:
    """Count the cost of one call: system calls, allocations, instructions by library and function, CPU time.

    Client and server apart. Start and connection drop out, because what counts is the difference between N and 5 N
    calls; addresses and CPUs are fixed. System calls are counted by strace, instructions by callgrind: no root, no
    hardware counters. Behind -- are flags of the client, or with --program a program of your own.

    Results: results/cost-DATE-TIME/ with profile.json, profile.txt, stacks.folded, and each run's counts, written when
    it is over. Environment: SERVER_CPUS, CLIENT_CPUS: CPUs for either side, such as 0-3,8 (default: one core each).
    """
    try:
        return act(ctx, given)
    except (cpus.BadCpuList, kept.BadFolder, Busy) as error:
        raise Refused(str(error)) from None
    except Failed as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise click.ClickException(f"{where}{error.strerror or error}") from None


def act(ctx: click.Context, given: dict[str, Any]) -> int:
    """The exit status. Raises what command() reports."""
    resumed: Path | None = given["resume"]
    if resumed:
        only_beside(ctx, "resume", ("bin", "output", "form", "folded", "plan"))
    with locked(resumed) if resumed and not given["plan"] else nullcontext():
        return _act(resumed, given)


def _act(resumed: Path | None, given: dict[str, Any]) -> int:
    """With the folder that is to be resumed."""
    begun = kept.read(resumed) if resumed else None
    asked = again(begun, given) if begun else asked_of(given)
    if given["folded"] and SAMPLES not in asked.parts:
        raise Refused(f"argument --folded: '{given['folded']}' is not accepted: stacks are those of the part {SAMPLES}")
    interrupt = Interrupt()
    here = cpus.read_machine()
    placement = cpus.place_pair(here, os.environ.get("SERVER_CPUS", ""), os.environ.get("CLIENT_CPUS", ""))
    if given["plan"]:
        click.echo(plan.describe(asked, placement), nl=False)
        return 0
    check_programs(asked)
    check_flags(asked, placement)
    port = None if asked.program else Port(begun.port if begun else 0)
    with ExitStack() as held:
        if port:
            held.callback(port.release)
        programs = programs_of(asked)
        if begun and resumed:
            folder = kept.resume(resumed, begun, programs)
        else:
            path = common.new_folder(given["results"], "cost-")
            held.enter_context(locked(path))
            folder = kept.begin(path, asked, placement, programs, port.number if port else 0)
        profile = make(asked, folder, interrupt, port, given["folded"])
        write(profile, given["form"], given["output"], folder)
    return interrupt.exit_code or (1 if profile.absent else 0)


def again(begun: kept.Begun, given: dict[str, Any]) -> Asked:
    """Returns the settings with which a folder was begun. Raises BadFolder."""
    programs = Programs(given["bin"])
    try:
        return Asked.model_validate({**begun.asked, "programs": programs})
    except ValidationError as error:
        raise kept.BadFolder(f"{given['resume'] / kept.FILE}: {problems.first(error, begun.asked, 'asked')}") from None


def programs_of(asked: Asked) -> dict[str, Path]:
    """Returns the programs, which must not change between two runs. scripts/newgrpc.sh installs those of the sid
    build.
    """
    if asked.program:
        return {"program": Path(shutil.which(asked.words[0]) or asked.words[0])}
    folder = SID_SHARED / "bin" if asked.build == "sid" else asked.programs.bin
    names = ("grpc_ping_server", "grpc_ping_client", "grpc_ping_server_counting", "grpc_ping_client_counting")
    return {name: folder / name for name in names if (folder / name).is_file()}


def asked_of(given: dict[str, Any]) -> Asked:
    """Raises Refused."""
    program, words = given["program"], tuple(given["words"])
    try:
        server_flags = tuple(shlex.split(given["server_flags"]))
    except ValueError as error:
        raise Refused(f"argument --server-flags: '{given['server_flags']}': {error}") from None
    for where, given_flags, taken in (
        ("--", words, TAKEN_FROM_CLIENT),
        ("--server-flags", server_flags, TAKEN_FROM_SERVER),
    ):
        for flag in given_flags if not program else ():
            if flag_name(flag) in taken:
                raise Refused(f"argument {where}: '{flag}' is not accepted: cqbench cost itself says it")
    if program:
        _check_own(given, words)
    sides = (PROGRAM,) if program else BOTH if given["side"] == "both" else (given["side"],)
    parts = tuple(p for p in given["only"] if not (program and p == ALLOCATIONS))
    return Asked(
        words=words,
        program=program,
        calls=given["calls"],
        inflight=given["inflight"],
        repetitions=given["repetitions"],
        sides=sides,
        parts=parts,
        server_flags=server_flags,
        build=given["build"],
        programs=Programs(given["bin"]),
    )


def _check_own(given: dict[str, Any], words: tuple[str, ...]) -> None:
    """Raises Refused."""
    if not words or not any(PLACEHOLDER in word for word in words[1:]):
        raise Refused(
            f"argument --program: '{' '.join(words)}' is not a program with {PLACEHOLDER} among its arguments, which "
            f"stands for the number of calls that it is to make"
        )
    if shutil.which(words[0]) is None:
        raise Refused(f"argument --program: '{words[0]}' is not a program that can be run")
    if given["build"] == "sid" or given["server_flags"] or given["side"] != "both" or given["only"] == (ALLOCATIONS,):
        raise Refused("argument --program: not together with --build, --server-flags, --side or --only allocations")


def check_programs(asked: Asked) -> None:
    """Raises Refused."""
    names = [SERVER, CLIENT] if asked.build == "release" and not asked.program else []
    if why := asked.programs.refusal(*names):
        raise Refused(why)


def check_flags(asked: Asked, placement: cpus.Placement) -> None:
    """Raises Refused: a program does not take what it would be given."""
    if asked.program:
        return
    step = next(iter(plan.steps(asked)))
    server = plan.server_command(asked, placement, step, ())
    client = plan.client_command(asked, placement, step, (), "localhost:1")
    for command in (server, client):
        if said := flags.ask((*command, flags.CHECK)):
            raise Refused(said)


def missing_tools(asked: Asked) -> dict[str, str]:
    """By part, which tool is not there, and where it comes from."""
    found = {}
    for part, tool in TOOLS.items():
        if part in asked.parts and not _there(asked, tool):
            where = "in scripts/newgrpc.sh's root" if asked.build == "sid" else "here"
            package = plan.PACKAGES.get(tool, tool)
            found[part] = f"there is no {tool} {where}: install the package {package} (scripts/cost.sh does)"
    if ALLOCATIONS in asked.parts and asked.build == "release":
        counting = asked.programs.bin / "grpc_ping_client_counting"
        if not os.access(counting, os.X_OK):
            found[ALLOCATIONS] = f"there is no {counting.name} in {asked.programs.bin} (scripts/cost.sh builds it)"
    return found


def _there(asked: Asked, tool: str) -> bool:
    if asked.build != "sid":
        return shutil.which(tool) is not None
    return _answers([str(NEWGRPC), "--run", "which", tool])


def _answers(command: list[str]) -> bool:
    try:
        return group.ask(command, ANSWER_TIMEOUT_S).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False


def make(asked: Asked, folder: Folder, interrupt: Interrupt, port: Port | None, folded: Path | None) -> Profile:
    """Counts what has not been counted, and writes the stacks. Raises OSError."""
    left, placement = [step for step in plan.steps(asked) if not folder.has(step)], folder.placement
    say(f"{len(left)} runs: about {layout.duration(plan.seconds(asked, left))}; results: {folder.path}")
    if TIME in asked.parts and (others := busy.remark(placement.server + placement.client)):
        say(f"note: {others}")
    missing = missing_tools(asked)
    for reason in missing.values():
        say(reason)
    parent = SID_SHARED if asked.build == "sid" else None
    with tempfile.TemporaryDirectory(prefix="cqbench-cost-", dir=parent) as files:
        fixed = _answers(["setarch", "-R", "true"])
        making = Making(asked, Session(asked, folder, interrupt, Path(files), fixed, port))
        making.run(missing)
    if stacks := making.folded():
        for path in (folder.path / kept.STACKS, *([folded] if folded else [])):
            storage.write(path, stacks)
            say(f"stacks: {path}")
    elif folded:
        say(f"no stacks: {folded} is not written")
    return making.profile()


def write(profile: Profile, form: str, output: Path | None, folder: Folder) -> None:
    """Raises OSError."""
    storage.write(folder.path / kept.TEXT, text.render(profile))
    for path in (folder.path / kept.BILL, *([output] if output else [])):
        storage.write_json(path, as_json(profile))
        say(f"profile: {path}")
    if form == "json":
        click.echo(json.dumps(as_json(profile), indent=2))
    else:
        click.echo(text.markdown(profile) if form == "markdown" else text.render(profile), nl=False)
