"""cqbench merge: its command line."""

from __future__ import annotations

import json
import time
from pathlib import Path

import click

from cqbench.measure.ranks import merge
from cqbench.options import Refused

ROOT = Path(__file__).resolve().parents[3]


@click.command()
@click.option(
    "-o", "--output", metavar="FILE.json", type=click.Path(path_type=Path), required=True, help="The merged result."
)
@click.option(
    "--bin",
    "binaries",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default=ROOT / "build/release/bin",
    help=f"Folder with {merge.PROGRAM}, which merges.",
)
@click.argument("files", nargs=-1, metavar="rank-N.json...", required=True, type=click.Path(path_type=Path))
def command(output: Path, binaries: Path, files: tuple[Path, ...]) -> int:
    """Merge into one result the files that client processes left of one measurement (grpc_ping_client in ranks).

    \b
      cqbench merge results/point/rank-*.json -o results/point.json

    The files have each rank's measurement in addition to its figures. Histograms are added bucket by bucket, counts and
    statuses too; percentiles, throughput and CPU time per call are made from the sums, never averaged. A rank that left
    no file makes its point partial. Files of different versions, commands or settings are refused. The same as a table:
    grpc_ping_client --merge FILE...

    Exit status: 0; 2 usage, or files that do not belong together.
    """
    began = time.monotonic()
    if output.resolve() in {path.resolve() for path in files}:
        raise click.UsageError(f"argument --output: '{output}' is one of the files that are merged")
    if why := merge.merge(binaries / merge.PROGRAM, files, output):
        raise Refused(why)
    took_ms = (time.monotonic() - began) * 1000
    found = json.loads(output.read_bytes())
    counts = {point["ranks"]["count"] for point in (*found["benchmarks"], *found["not_measured"]) if "ranks" in point}
    click.echo(f"{output}: {len(files)} of {max(counts)} ranks, merged in {took_ms:.0f} ms", err=True)
    return 0
