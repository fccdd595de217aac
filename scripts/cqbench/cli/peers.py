"""cqbench peers: our client and its peers on the same pinned servers, round after round."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from cqbench.cli import common
from cqbench.formats import storage
from cqbench.formats.text import format_cpus
from cqbench.measure import busy, cpus, layout
from cqbench.measure.processes import Failed, Interrupt
from cqbench.measure.programs import ROOT, Programs
from cqbench.measure.session import say
from cqbench.options import Refused, whole
from cqbench.run.peers import adapters, benchmain, files, servers, transcoding, versions
from cqbench.run.peers.session import Options, Peers, seconds_per_round
from cqbench.run.peers.targets import (
    ROUNDS_FOR_A_CLAIM,
    Measurement,
    Outcome,
    Ratio,
    evaluate,
    lineup,
    render,
    targets,
)

PEERS = (*adapters.PEERS, benchmain.BENCHMAIN)
WRITTEN = ("key", "tool", "what", "server", "flags", "inflight", "unit")  # of a measurement


def absent_peers(binaries: Path, asked: set[str]) -> dict[str, str]:
    """Returns the requested tools that are absent: tool -> text for the table."""
    found = {peer.name: why for peer in PEERS if peer.name in asked and (why := versions.absent(peer))}
    if files.TOOL in asked and (why := versions.absent(adapters.H2LOAD)):
        found[files.TOOL] = why
    counting = (benchmain.COUNTING.name, benchmain.COUNTING.name.replace("client", "server"))
    if counting[0] in asked and Programs(binaries).missing(*counting):
        found[counting[0]] = "no counting programs"
    return found


def chosen(options: Options) -> tuple[list[Measurement], list[Ratio]]:
    """Returns the measurements to make, and the ratios to show."""
    if options.lineup:
        return lineup()
    if options.transcoding:
        return transcoding.targets()
    if options.files:
        return files.measurements(), []
    found = (targets(), benchmain.targets())
    return [m for measurements, _ in found for m in measurements], [r for _, ratios in found for r in ratios]


def write_output(path: Path, peers: Peers, outcomes: list[Outcome], measurements: list[Measurement]) -> None:
    """The raw numbers. Raises OSError."""
    storage.write_json(
        path,
        {
            "date": storage.now(),
            "git_revision": storage.git_revision(ROOT),
            "versions": storage.versions(peers.options.bin),
            "server_cpus": format_cpus(peers.placement.server) or None,
            "client_cpus": format_cpus(peers.placement.client) or None,
            "seconds": peers.options.seconds,
            "partial": bool(peers.interrupt.signum),
            "measurements": [{key: getattr(m, key) for key in WRITTEN} for m in measurements],
            "rounds": peers.rounds.figures,
            "ratios": [
                {
                    "ours": o.ratio.ours,
                    "peer": o.ratio.peer,
                    "ours_median": o.ours,
                    "peer_median": o.peer,
                    "ratio_median": o.median,
                    "ratio_min": o.low,
                    "ratio_max": o.high,
                    "rounds": o.rounds,
                    "target": o.ratio.target,
                    "at_most": o.ratio.at_most,
                    "reached": o.reached,
                }
                for o in outcomes
            ],
            "failures": peers.rounds.failures,
        },
    )


def announce(options: Options, placement: cpus.Placement, absent: dict[str, str], wanted: list[Measurement]) -> None:
    """Says what will be measured, where, and for how long."""
    if placement.server:
        where = f"server on {cpus.name_cpus(placement.server)}, client and peers on {cpus.name_cpus(placement.client)}"
        say(f"{where}: {placement.why}")
    else:
        say(f"{placement.why}; the targets are for two cores")
    for note in placement.notes:
        say(f"note: {note}")
    peers = {peer.name: peer for peer in (*PEERS, benchmain.COUNTING)} | {files.TOOL: adapters.H2LOAD}
    for tool, why in absent.items():
        say(f"left out: {why}; to install it: {peers[tool].install}")
    say(
        f"{options.rounds} rounds of {len(wanted)} measurements, {options.seconds} s each: about "
        f"{layout.duration(options.rounds * seconds_per_round(wanted, options.seconds))}"
    )


def conclude(peers: Peers, measurements: list[Measurement], absent: dict[str, str]) -> int:
    """Prints the table; the exit status."""
    rounds = peers.rounds
    outcomes = [evaluate(ratio, rounds.figures) for ratio in chosen(peers.options)[1]]
    if peers.options.files:
        print(files.render(rounds.figures, peers.wanted), end="")
    else:
        print(render(outcomes, measurements, absent))
        print("ours, peer: medians over the rounds. ratio: median of the rounds' own ratios ours / peer.")
        fewest = min((o.rounds for o in outcomes if o.rounds), default=0)
        if fewest < ROUNDS_FOR_A_CLAIM:
            few = f"Only {fewest} round(s) behind some of the ratios"
            print(f"{few}: too few for a claim, which takes {ROUNDS_FOR_A_CLAIM}.")
    for remark in rounds.remarks():
        print(remark)
    if peers.options.output:
        write_output(peers.options.output, peers, outcomes, measurements)
        say(f"raw numbers: {peers.options.output}")
    return peers.interrupt.exit_code or (1 if rounds.failures else 0)


def _in_a_folder(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
    if path and not path.resolve().parent.is_dir():
        raise click.BadParameter(f"'{path}' is not in an existing folder")
    return path


@click.command()
@click.option(
    "--rounds",
    type=whole(1, 1000),
    default=ROUNDS_FOR_A_CLAIM,
    show_default=True,
    help="Rounds, each of all measurements; fewer are too few for a claim.",
)
@click.option("--seconds", type=whole(1, 600), default=2, show_default=True, help="Duration of each measurement.")
@click.option("--output", type=common.PATH, callback=_in_a_folder, help="File for the raw numbers, as JSON.")
@common.BIN
@click.option("--lineup", is_flag=True, help="Compare our client with ghz, by the scenarios of the line-up, instead.")
@click.option("--files", is_flag=True, help="Compare our streams of chunks with nginx, CPU per Gbit/s, instead.")
@click.option(
    "--transcoding",
    is_flag=True,
    help="Compare our client with h2load over HTTP, on our front end and grpc-gateway's, instead.",
)
@common.PLAN
def command(**given: Any) -> int:
    """Compare our client with h2load, ghz and sockperf on the same server, and both our ends with grpc-go's benchmain.

    Server on one core and client on another, in interleaved rounds. Prints medians, the rounds' ratios and whether each
    reaches its target. Peers that are not installed, or not in the version that the targets are for, are named and left
    out. About five minutes.

    Environment: SERVER_CPUS, CLIENT_CPUS: CPUs for either side, such as 0-3,8 (default: one core each).

    Exit status: 0, targets reached or not; 1 something could not be measured; 2 usage; 130 interrupted.
    """
    interrupt = Interrupt()
    options = Options(**given)
    try:
        machine = cpus.read_machine()
        placement = cpus.place_pair(machine, os.environ.get("SERVER_CPUS", ""), os.environ.get("CLIENT_CPUS", ""))
    except cpus.BadCpuList as error:
        raise Refused(str(error)) from None
    if options.transcoding + options.lineup + options.files > 1:
        raise Refused("--transcoding, --lineup, --files: one of them is accepted at a time")
    if options.files and options.output:
        raise Refused("--output: not together with --files, which has a table only")
    measurements, _ = chosen(options)
    absent = absent_peers(options.bin, {m.tool for m in measurements})
    wanted = [m for m in measurements if m.tool not in absent and not m.part_of and servers.is_there(m.server)]
    missing = {m.server for m in measurements if not servers.is_there(m.server)}
    if files.NGINX_SERVER in missing:
        say(f"nginx is not installed and left out; to install it: {files.NGINX.install}")
    elif missing:
        script = "grpc-gateway" if options.transcoding else "lineup"
        say(f"the Go servers are left out: scripts/{script}/build.sh, which takes Go, has not built them")
    announce(options, placement, absent, wanted)
    if options.plan:
        return 0
    others = busy.remark(placement.server + placement.client)
    if others:
        say(f"note: {others}")
    peers = Peers(options, placement, wanted, interrupt)
    try:
        peers.run()
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        return conclude(peers, measurements, absent)
    except Failed as error:
        print(f"cqbench peers: {error}", file=sys.stderr)
        return 1
