"""scripts/bench.sh after the build: the series one after another, then the comparison.

Exit status: 0; 1 when a series failed or nothing could be started; 2 usage or unreadable results; 128 + signal when
interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from cqbench import comparison, cpus, load, plan, results, tables
from cqbench.documents import BadDocument, Document
from cqbench.documents import load as load_document
from cqbench.options import Parser, inflight_list, seconds
from cqbench.processes import Finished, Interrupt, Server, ServerFailed, run

ROOT = Path(__file__).resolve().parents[2]
LOCAL_HOSTS = ("localhost", "127.", "[::1]", "unix:")


def say(text: str) -> None:
    """To people; standard output carries the comparison only."""
    print(f"== {text}", file=sys.stderr, flush=True)


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Exits with status 2 on bad ones."""
    parser = Parser("bench.sh")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--host", default="")
    parser.add_argument("--inflight-list", type=inflight_list)
    parser.add_argument("--warmup", type=seconds(0.001))
    parser.add_argument("--interval", type=seconds(0.01))
    parser.add_argument("--results", type=Path, default=ROOT / "results")
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin")
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--show", type=Path)
    options = parser.parse_args(arguments)
    if "--host" in arguments and not options.host:
        parser.error("argument --host: is empty: HOST or HOST:PORT is accepted")
    return options


def placement_for(options: argparse.Namespace) -> cpus.Placement:
    """Raises cpus.BadCpuList."""
    machine = cpus.read_machine()
    server, client = os.environ.get("SERVER_CPUS", ""), os.environ.get("CLIENT_CPUS", "")
    return cpus.place_client(machine, client) if options.host else cpus.place(machine, server, client)


def announce(options: argparse.Namespace, placement: cpus.Placement, the_plan: plan.Plan) -> None:
    """Says what will be run, where, and for how long."""
    if options.host:
        say(f"server: {options.host} (not started by this script)")
        if os.environ.get("SERVER_CPUS"):
            say("SERVER_CPUS is not used with --host")
        say(f"client on {cpus.name_cpus(placement.client)}: {placement.why}")
        if options.host.startswith(LOCAL_HOSTS) and not os.environ.get("CLIENT_CPUS"):
            say("note: that server is on this machine; set CLIENT_CPUS to CPUs that it does not use")
    elif placement.server:
        where = f"server on {cpus.name_cpus(placement.server)}, client on {cpus.name_cpus(placement.client)}"
        say(f"{where}: {placement.why}")
    else:
        say(placement.why)
    for note in placement.notes:
        say(f"note: {note}")
    if not options.host:
        say(f"server flags: {' '.join(server_flags(placement))} (the post's, scaled to its CPUs)")
    points = len(the_plan.inflight)
    say(
        f"{len(the_plan.series)} series of {points} points, {the_plan.warmup_s:g} + {the_plan.interval_s:g} s each: "
        f"about {plan.duration(the_plan.seconds_left(0, 0))}"
    )


def server_flags(placement: cpus.Placement) -> list[str]:
    return plan.server_layout(max(1, len(placement.server)))


class Bench:
    """One run of bench.sh. Owns the server and the results folder."""

    def __init__(
        self, options: argparse.Namespace, placement: cpus.Placement, the_plan: plan.Plan, interrupt: Interrupt
    ) -> None:
        """Makes the results folder. Raises OSError."""
        self.options = options
        self.placement = placement
        self.plan = the_plan
        self.interrupt = interrupt
        self.folder = results.new_folder(options.results)
        self.documents: list[Document] = []
        self.series_log: list[dict[str, Any]] = []
        self.servers_started = 0
        self.server: Server | None = None
        self.fixed: dict[str, Any] = {
            "started": results.now(),
            "git_revision": results.git_revision(ROOT),
            "versions": results.versions(options.bin),
        }

    def run(self) -> int:
        """The exit status."""
        say(f"results: {self.folder}")
        with ExitStack() as stack:
            stack.callback(self.stop_server)
            problem = self.check_server()
            self.write_manifest()
            if problem is not None:
                return problem
            for i, series in enumerate(self.plan.series):
                if self.interrupt.signum:
                    break
                self.measure(i, series)
        return self.conclude()

    def target(self) -> str:
        """Where the server is; starts it when there is none (any more). Raises ServerFailed."""
        if self.options.host:
            return str(self.options.host)
        if self.server is None or not self.server.alive():
            if self.server is not None:
                say(f"the server has ended ({self.server.last_line()}); starting another")
            self.servers_started += 1
            command = [str(self.options.bin / "grpc_ping_server"), *server_flags(self.placement)]
            log = self.folder / f"server-{self.servers_started}.log"
            self.server = Server(cpus.pinned(command, self.placement.server), log)
            self.server.start()
        return self.server.address

    def stop_server(self) -> None:
        if self.server is not None:
            self.server.stop()

    def client(self, *flags: str) -> list[str]:
        command = [str(self.options.bin / "grpc_ping_client"), "--host", self.target(), *flags]
        return cpus.pinned(command, self.placement.client)

    def check_server(self) -> int | None:
        """One short point, so that a server that cannot be used is said once. The exit status when it cannot."""
        try:
            command = self.client("--inflight", "1", "--warmup", "0.05", "--interval", "0.1")
        except ServerFailed as error:
            say(f"cannot start the server: {error}")
            return self.interrupt.exit_code or 1
        done = run(command, self.interrupt, 30)
        if self.interrupt.signum:
            say("interrupted before anything was measured")
            return self.interrupt.exit_code
        if done.returncode == 0:
            return None
        say(f"the server cannot be used: {done.complaint()}")
        return 2 if done.returncode == 2 else 1

    def measure(self, index: int, series: plan.Series) -> None:
        """One series; a failure is noted and the next one can go on."""
        path = self.folder / f"{series.slug}.json"
        head = f"[{index + 1}/{len(self.plan.series)}] {series.title}"
        if not sys.stderr.isatty():
            say(f"{head}; {plan.duration(self.plan.seconds_left(index, 0))} left")
        try:
            command = self.client(*series.flags(), *self.plan.flags(), "--format", "json", "--output", str(path))
        except ServerFailed as error:
            self.log_series(series, [], Finished(1, "", "", str(error)), str(error))
            say(f"{head}: FAILED: {error}")
            return
        done = run(command, self.interrupt, self.plan.patience_seconds(), lambda s: self.progress(head, index, s))
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        document, problem = self.read_back(path, done)
        self.log_series(series, command, done, problem)
        say(f"{head}: {summary(document)}" + (f"; {problem}" if problem else ""))

    def progress(self, head: str, index: int, elapsed_s: float) -> None:
        if sys.stderr.isatty():
            left = plan.duration(self.plan.seconds_left(index, elapsed_s))
            print(f"\r\033[K{head}: {elapsed_s:.0f} s, {left} left in all", end="", file=sys.stderr, flush=True)

    def read_back(self, path: Path, done: Finished) -> tuple[Document | None, str]:
        """What the client wrote, and what was wrong ('' when nothing was)."""
        document, problem = None, ""
        if self.interrupt.signum:
            problem = "interrupted"
        elif done.returncode != 0:
            problem = f"FAILED: {done.complaint()}"
        if path.exists():
            try:
                document = load_document(path)
                self.documents.append(document)
            except BadDocument as error:
                problem = f"FAILED: {error}"
        elif not problem:
            problem = "FAILED: the client wrote no result"
        return document, problem

    def log_series(self, series: plan.Series, command: list[str], done: Finished, problem: str) -> None:
        entry = {"name": series.slug, "command": command, "exit_status": done.returncode, "problem": problem}
        self.series_log.append(entry)
        self.write_manifest()

    def failed(self) -> list[str]:
        return [f"{s['name']}: {s['problem']}" for s in self.series_log if s["problem"] not in ("", "interrupted")]

    def conclude(self) -> int:
        """Writes and prints the comparison."""
        partial = bool(self.interrupt.signum)
        text = self.heading() + tables.render(comparison.compare(self.documents, () if partial else self.plan.inflight))
        if partial:
            count = len(self.documents)
            text += f"\nPARTIAL: interrupted; {count} of {len(self.plan.series)} series were begun or finished.\n"
        for line in self.failed():
            text += f"\nFAILED: {line.replace('FAILED: ', '')}\n"
        results.write(self.folder / "comparison.txt", text)
        results.write(self.folder / "results.csv", results.to_csv(self.documents))
        self.write_manifest(ended=True)
        print(text, end="", flush=True)
        say(f"results: {self.folder} (comparison.txt, results.csv, manifest.json and a JSON file per series)")
        return self.interrupt.exit_code or (1 if self.failed() else 0)

    def heading(self) -> str:
        """Where and with what, for a reader who has only the comparison."""
        run_by = self.documents[0] if self.documents else None
        what = [f"gRPC {run_by.grpc_version}", run_by.cpu_model] if run_by else []
        server, client = (
            cpus.name_cpus(side) if side else "" for side in (self.placement.server, self.placement.client)
        )
        where = f"server {self.options.host or f'on {server}'}, client on {client}" if client else self.placement.why
        line = ", ".join(filter(None, [*what, where, self.fixed["started"]]))
        return "\n".join([line, *(f"! {note}" for note in self.placement.notes)]) + "\n\n"

    def write_manifest(self, ended: bool = False) -> None:
        """Written at the start already, so that a folder always says what it holds."""
        results.write_json(
            self.folder / "manifest.json",
            {
                **self.fixed,
                "ended": results.now() if ended else None,
                "partial": bool(self.interrupt.signum) or not ended,
                "host": self.options.host or None,
                "server_cpus": cpus.format_cpus(self.placement.server) or None,
                "client_cpus": cpus.format_cpus(self.placement.client) or None,
                "cpu_choice": self.placement.why,
                "cpu_notes": list(self.placement.notes),
                "server_command": self.server.command if self.server else None,
                "server_configuration": self.server.description() if self.server else None,
                "servers_started": self.servers_started,
                "inflight": list(self.plan.inflight),
                "warmup_s": self.plan.warmup_s,
                "interval_s": self.plan.interval_s,
                "order": [s.slug for s in self.plan.series],
                "series": self.series_log,
            },
        )


def summary(document: Document | None) -> str:
    """The first and the last point in words."""
    measured = [p for p in document.points if p.throughput is not None] if document else []
    if not measured:
        return "nothing measured"
    ends = measured[:1] + measured[1:][-1:]
    return ", ".join(f"{p.throughput:.0f} req/s at {p.inflight}" for p in ends) + " in flight"


def show(folder: Path) -> int:
    """Prints the comparison of an earlier run again, from its JSON files."""
    paths = sorted(p for p in folder.glob("*.json") if p.name != "manifest.json") if folder.is_dir() else [folder]
    if not paths:
        print(f"bench.sh: {folder}: no result files in it", file=sys.stderr)
        return 2
    try:
        documents = [load_document(path) for path in paths]
    except BadDocument as error:
        print(f"bench.sh: {error}", file=sys.stderr)
        return 2
    print(tables.render(comparison.compare(documents)), end="")
    return 0


def main(arguments: list[str]) -> int:
    interrupt = Interrupt()
    options = parse_arguments(arguments)
    if options.show:
        return show(options.show)
    try:
        placement = placement_for(options)
    except cpus.BadCpuList as error:
        print(f"bench.sh: {error}", file=sys.stderr)
        return 2
    the_plan = plan.make_plan(options.full, options.inflight_list, options.warmup, options.interval)
    announce(options, placement, the_plan)
    if options.plan:
        return 0
    busy = load.remark(placement.server + placement.client)
    if busy:
        say(f"note: {busy}")
        placement = replace(placement, notes=(*placement.notes, busy))
    try:
        return Bench(options, placement, the_plan, interrupt).run()
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"bench.sh: {where}{error.strerror or error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
