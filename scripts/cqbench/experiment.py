"""scripts/experiment.sh after the build: reads an experiment, runs or resumes it, prints its summary.

Exit status: 0; 1 when a unit failed or nothing could be started; 2 usage or a bad experiment; 128 + signal when
interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from cqbench import cpus, experiment_file, experiment_plan, experiment_summary, load, plan, results
from cqbench.documents import BadDocument, Document
from cqbench.documents import load as load_document
from cqbench.experiment_file import Experiment
from cqbench.experiment_manifest import BadManifest, Manifest, machine
from cqbench.experiment_plan import Programs
from cqbench.experiment_run import Busy, Runner, lock
from cqbench.experiment_values import MAX_REPETITIONS, MAX_SEED, BadExperiment
from cqbench.options import Parser, whole
from cqbench.processes import Interrupt

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "scripts/experiments"
NEWGRPC = ROOT / "scripts/newgrpc.sh"


class Unusable(ValueError):
    """What was asked for cannot be run; the text is one line."""


def say(text: str) -> None:
    """To people; standard output carries the summary only."""
    print(f"== {text}", file=sys.stderr, flush=True)


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Exits with status 2 on bad ones."""
    parser = Parser("experiment.sh")
    parser.add_argument("experiment", nargs="?", metavar="NAME|FILE.toml")
    parser.add_argument("--results", type=Path)
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin")
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--repetitions", type=whole(1, MAX_REPETITIONS))
    parser.add_argument("--seed", type=whole(0, MAX_SEED))
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--builds", action="store_true")  # for the script: which builds the experiment needs
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
    if any(v.build == "release" for v in experiment.variants):
        for name in ("grpc_ping_server", "grpc_ping_client"):
            if not os.access(programs.bin / name, os.X_OK):
                where = f"argument --bin: '{programs.bin}'"
                raise Unusable(f"{where} has no program {name}: a folder with both is accepted")


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
    facts["notes"] = notes(placements)
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


def notes(placements: dict[str, cpus.Placement]) -> list[str]:
    return list(dict.fromkeys(note for p in placements.values() for note in p.notes))


def announce(experiment: Experiment, placements: dict[str, cpus.Placement], manifest: Manifest) -> None:
    """Says what will be run, where, and for how long."""
    say(f"{experiment.name}: {experiment.title}")
    say(experiment.question)
    say(experiment_plan.size(experiment, manifest.data["repetitions"]))
    for text in dict.fromkeys(experiment_plan.where(v, placements[v.name]) for v in experiment.variants):
        say(text)
    for note in notes(placements):
        say(f"note: {note}")
    busy = load.remark(tuple({cpu for p in placements.values() for cpu in (*p.server, *p.client)}))
    if busy:
        say(f"note: {busy}")
        manifest.data.setdefault("notes", []).append(busy)
    left, units = len(manifest.left()), len(manifest.order())
    if left < units:
        seconds = left * experiment_plan.unit_seconds(experiment)
        say(f"{units - left} of {units} units are there already; about {plan.duration(seconds)} for the rest")
    say(f"results: {manifest.folder}")


def read_results(manifest: Manifest, experiment: Experiment) -> dict[str, list[Document]]:
    """By variant, what can be read; the manifest has the reason for what cannot."""
    found: dict[str, list[Document]] = {v.name: [] for v in experiment.variants}
    for unit in sorted(manifest.order(), key=lambda u: u.repetition):
        try:
            found[unit.variant].append(load_document(manifest.folder / unit.file))
        except BadDocument:
            continue
    return found


def conclude(manifest: Manifest, experiment: Experiment, interrupt: Interrupt) -> int:
    """Writes and prints the summary. The exit status. Raises OSError."""
    versions = manifest.data["versions"] or {}
    grpc = sorted({e["grpc_version"] for e in map(manifest.unit, manifest.order()) if e.get("grpc_version")})
    facts = [f"gRPC {' and '.join(grpc)}" if grpc else "", manifest.data["machine"].get("cpu_model") or ""]
    facts += [f"cqbench {versions['cqbench_version']}" if versions else "", manifest.data["started"]]
    parts = [f"{experiment.name}: {experiment.title}", experiment.question, ", ".join(filter(None, facts)), ""]
    found = read_results(manifest, experiment)
    text = "\n".join(parts) + "\n"
    text += experiment_summary.render(found, experiment.inflight, manifest.data["repetitions"])
    if manifest.data["partial"]:
        left = len(manifest.left())
        missing = f"{left} of {len(manifest.order())} units are missing"
        text += f"\nPARTIAL: {missing}; --resume {manifest.folder} runs them\n"
    failures = list(manifest.failures())
    for unit, reason in failures:
        text += f"\nFAILED: {unit.variant}, repetition {unit.repetition}: {reason}\n"
    results.write(manifest.folder / "summary.txt", text)
    print(text, end="", flush=True)
    say(f"results: {manifest.folder} (summary.txt, manifest.json, raw/VARIANT/NN.json)")
    return interrupt.exit_code or (1 if failures else 0)


def run(options: argparse.Namespace, experiment: Experiment, placements: dict[str, cpus.Placement]) -> int:
    """The exit status. Raises BadManifest, Busy, Unusable, OSError."""
    interrupt = Interrupt()
    programs = Programs(options.bin, NEWGRPC)
    check_programs(experiment, programs)
    manifest = open_manifest(options, experiment, placements)
    announce(experiment, placements, manifest)
    manifest.write()
    Runner(experiment, placements, programs, manifest, interrupt).run()
    return conclude(manifest, experiment, interrupt)


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
    experiment = experiment_file.load(find(options.experiment))
    placements = placements_for(experiment)
    if options.builds:
        print("\n".join(sorted({v.build for v in experiment.variants})))
        return 0
    if options.plan:
        show_plan(options, experiment, placements)
        return 0
    return run(options, experiment, placements)


def main(arguments: list[str]) -> int:
    options = parse_arguments(arguments)
    try:
        return act(options)
    except (BadExperiment, BadManifest, Unusable, Busy, cpus.BadCpuList) as error:
        print(f"experiment.sh: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"experiment.sh: {where}{error.strerror or error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
