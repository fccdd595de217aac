"""scripts/experiment.sh after the build: reads an experiment, runs or resumes it, ends with verdict and report.

Exit status: 0; 1 when a unit failed, nothing could be started, or verdict or report could not be made; 2 usage or a bad
experiment; 128 + signal when interrupted.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    # Until there is something to keep, a Ctrl-C ends the program without a word, even within the imports below.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from cqbench import cpus, experiment_file, experiment_needs, experiment_override, experiment_plan, load, plan, results
from cqbench.experiment_end import conclude, say
from cqbench.experiment_file import Experiment
from cqbench.experiment_manifest import BadManifest, Manifest, machine
from cqbench.experiment_needs import Unmet
from cqbench.experiment_plan import Programs
from cqbench.experiment_run import Busy, Runner, lock
from cqbench.experiment_values import MAX_REPETITIONS, MAX_SEED, BadExperiment
from cqbench.options import Parser, whole
from cqbench.processes import Interrupt
from cqbench.processes import run as run_process

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "scripts/experiments"
NEWGRPC = ROOT / "scripts/newgrpc.sh"
LOCAL_HOSTS = ("localhost", "127.", "[::1]", "unix:")
# One short point on a server that is there already. The interval holds a call over the slowest network.
CHECK = ("--inflight", "1", "--warmup", "0.05", "--interval", "0.5")
CHECK_PATIENCE_S = 30.0


class Unusable(ValueError):
    """What was asked for cannot be run; the text is one line."""


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Exits with status 2 on bad ones."""
    parser = Parser("experiment.sh")
    parser.add_argument("experiment", nargs="?", metavar="NAME|FILE.toml")
    parser.add_argument("--results", type=Path)
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin")
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--repetitions", type=whole(1, MAX_REPETITIONS))
    parser.add_argument("--seed", type=whole(0, MAX_SEED))
    experiment_override.add_arguments(parser)
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--needs", action="store_true")  # for the script: what it has to build and install
    options = parser.parse_args(arguments)
    if not options.list and not options.experiment:
        parser.error("which experiment? NAME or FILE.toml is missing; --list shows the names")
    if options.resume and options.results:
        parser.error(f"argument --results: '{options.results}' is not accepted beside --resume, which names the folder")
    return options


def shipped() -> dict[str, Path]:
    """Name -> file."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.toml"))}


def find(name: str) -> Path:
    """Raises Unusable."""
    if name.endswith(".toml") or "/" in name:
        return Path(name)
    known = shipped()
    if name not in known:
        raise Unusable(f"'{name}' is not an experiment: {', '.join(known)} or a FILE.toml is accepted")
    return known[name]


def list_shipped() -> None:
    """--list. Raises BadExperiment."""
    for name, path in shipped().items():
        experiment = experiment_file.load(path)
        print(f"{name}: {experiment.title}")
        print(f"    {experiment.question}")
        print(f"    {experiment_plan.size(experiment, experiment.repetitions)}")


def placements_for(experiment: Experiment) -> dict[str, cpus.Placement]:
    """By variant. Raises cpus.BadCpuList."""
    here = cpus.read_machine()
    server, client = os.environ.get("SERVER_CPUS", ""), os.environ.get("CLIENT_CPUS", "")
    return {v.name: experiment_plan.place(experiment, v, here, server, client) for v in experiment.variants}


def check_programs(experiment: Experiment, programs: Programs) -> None:
    """Raises Unusable. A missing sid build is found by its variants: the others can go on without."""
    ours = [v for v in experiment.variants if v.build == "release"]
    needed = (["grpc_ping_server"] if any(not v.host for v in ours) else []) + (["grpc_ping_client"] if ours else [])
    for name in needed:
        if not os.access(programs.bin / name, os.X_OK):
            where = f"argument --bin: '{programs.bin}'"
            raise Unusable(f"{where} has no program {name}: a folder with {' and '.join(needed)} is accepted")


def fixed_facts() -> dict[str, Any]:
    """What the manifest says of this run whatever happens in it."""
    environment = {k: v for k, v in sorted(os.environ.items()) if k.startswith("GRPC_")}
    return {"git_revision": results.git_revision(ROOT), "machine": machine(), "environment": environment}


def open_manifest(
    options: argparse.Namespace, experiment: Experiment, placements: dict[str, cpus.Placement]
) -> Manifest:
    """A new folder's, or the one to resume. Raises BadManifest, Busy, Unusable, OSError."""
    if options.resume:
        return resume(options, experiment)
    seed = experiment.seed if options.seed is None else options.seed
    order = experiment_plan.make_order(experiment, options.repetitions or experiment.repetitions, seed)
    folder = results.new_folder(options.results or ROOT / "results", f"{experiment.name}-")
    lock(folder)
    facts = fixed_facts()
    facts["placements"] = {
        variant.name: experiment_plan.where(variant, placements[variant.name]) for variant in experiment.variants
    }
    facts["notes"] = notes(experiment, placements)
    return Manifest.new(folder, experiment, order, seed, facts)


def resume(options: argparse.Namespace, experiment: Experiment) -> Manifest:
    """Order, seed and repetitions are the manifest's. Raises BadManifest, Busy, Unusable, OSError."""
    manifest = Manifest.load(options.resume, experiment)
    for key in ("repetitions", "seed"):
        given, then = getattr(options, key), manifest.data.get(key)
        if given is not None and given != then:
            raise Unusable(f"argument --{key}: {given} is not what {options.resume} was begun with: {then}")
    lock(options.resume)
    manifest.find_done()
    changed = manifest.note_resumed(fixed_facts())
    if changed:
        say(f"note: not as it was when this began: {', '.join(changed)}; the manifest says so")
    return manifest


def notes(experiment: Experiment, placements: dict[str, cpus.Placement]) -> list[str]:
    """What a reader should know about where it runs."""
    found = [note for p in placements.values() for note in p.notes]
    hosts = {v.host for v in experiment.variants}
    if any(host.startswith(LOCAL_HOSTS) for host in hosts) and not os.environ.get("CLIENT_CPUS"):
        found.append("that server is on this machine; set CLIENT_CPUS to CPUs that it does not use")
    if "" not in hosts and os.environ.get("SERVER_CPUS"):
        found.append("SERVER_CPUS is not used: no server is started here")
    return list(dict.fromkeys(found))


def check_host(
    experiment: Experiment, placements: dict[str, cpus.Placement], programs: Programs, interrupt: Interrupt
) -> int:
    """Where all variants use one server that is there already, one that cannot be used is said once, not by each.

    The exit status when it cannot, else 0.
    """
    variant = min(experiment.variants, key=lambda v: v.build != "release")
    if not variant.host or any(v.host != variant.host for v in experiment.variants):
        return 0
    client = programs.command(variant.build, "grpc_ping_client", variant.client_env)
    command = cpus.pinned([*client, "--host", variant.host, *CHECK], placements[variant.name].client)
    done = run_process(command, interrupt, CHECK_PATIENCE_S)
    if interrupt.signum:
        say("interrupted before anything was measured")
        return interrupt.exit_code
    if done.returncode == 0:
        return 0
    say(f"the server at {variant.host} cannot be used: {done.complaint()}")
    return 2 if done.returncode == 2 else 1


def announce(experiment: Experiment, placements: dict[str, cpus.Placement], manifest: Manifest) -> None:
    """Says what will be run, where, and for how long."""
    say(f"{experiment.name}: {experiment.title}")
    say(experiment.question)
    say(experiment_plan.size(experiment, manifest.data["repetitions"]))
    for text in dict.fromkeys(experiment_plan.where(v, placements[v.name]) for v in experiment.variants):
        say(text)
    for note in notes(experiment, placements):
        say(f"note: {note}")
    busy = load.remark(tuple({cpu for p in placements.values() for cpu in (*p.server, *p.client)}))
    if busy:
        say(f"note: {busy}")
        manifest.data.setdefault("notes", []).append(busy)
    for reason, variants in manifest.ruled_out().items():
        say(f"not run: {', '.join(variants)}: {reason}")
    left, done, units = len(manifest.left()), len(manifest.done()), len(manifest.order())
    if left < units:
        seconds = left * experiment_plan.unit_seconds(experiment)
        already = f"{done} of {units} units are there already; " if done else ""
        say(f"{already}about {plan.duration(seconds)} for the rest")
    say(f"results: {manifest.folder}")


def run(options: argparse.Namespace, experiment: Experiment, placements: dict[str, cpus.Placement]) -> int:
    """The exit status. Raises BadManifest, Busy, Unusable, OSError."""
    interrupt = Interrupt()
    programs = Programs(options.bin, NEWGRPC)
    check_programs(experiment, programs)
    unmet = experiment_needs.check(experiment, programs)
    status = check_host(experiment, placements, programs, interrupt)
    if status:
        return status
    manifest = open_manifest(options, experiment, placements)
    manifest.rule_out(unmet)
    announce(experiment, placements, manifest)
    manifest.write()
    Runner(experiment, placements, programs, manifest, interrupt).run()
    return conclude(manifest, experiment, interrupt, experiment_override.given(options))


def show_plan(options: argparse.Namespace, experiment: Experiment, placements: dict[str, cpus.Placement]) -> None:
    """--plan."""
    seed = experiment.seed if options.seed is None else options.seed
    order = experiment_plan.make_order(experiment, options.repetitions or experiment.repetitions, seed)
    print(experiment_plan.describe(experiment, order, seed, placements, Programs(options.bin, NEWGRPC)), end="")


def act(options: argparse.Namespace) -> int:
    """The exit status. Raises what main() reports."""
    if options.list:
        list_shipped()
        return 0
    experiment = experiment_override.apply(experiment_file.load(find(options.experiment)), options)
    placements = placements_for(experiment)
    if options.needs:
        print("\n".join(experiment_needs.lines(experiment)))
        return 0
    if options.plan:
        show_plan(options, experiment, placements)
        return 0
    return run(options, experiment, placements)


def main(arguments: list[str]) -> int:
    options = parse_arguments(arguments)
    try:
        return act(options)
    except (BadExperiment, BadManifest, Unusable, Unmet, Busy, cpus.BadCpuList) as error:
        print(f"experiment.sh: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"experiment.sh: {where}{error.strerror or error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
