"""cqbench merge: its command line."""

from __future__ import annotations

import time
from pathlib import Path

import click

from cqbench.files import storage
from cqbench.files.source import BadDocument
from cqbench.options import Refused
from cqbench.ranks import members
from cqbench.ranks.merge import merge


@click.command()
@click.option(
    "-o", "--output", metavar="FILE.json", type=click.Path(path_type=Path), required=True, help="The merged result."
)
@click.argument("files", nargs=-1, metavar="rank-N.json...", required=True, type=click.Path(path_type=Path))
def command(output: Path, files: tuple[Path, ...]) -> int:
    """One result of the files that client processes left of one measurement (grpc_ping_client in ranks).

    \b
      cqbench merge results/point/rank-*.json -o results/point.json

    Histograms are added bucket by bucket, counts and statuses too; percentiles, throughput and CPU time per call are
    made from the sums, never averaged. What the files have no raw numbers of is left out, and the result says so. A
    rank that left no file makes its point partial. Files of different versions, commands or histograms are refused.

    Exit status: 0; 2 usage, or files that do not belong together.
    """
    began = time.monotonic()
    if output.resolve() in {path.resolve() for path in files}:
        raise click.UsageError(f"argument --output: '{output}' is one of the files that are merged")
    try:
        there = members.load(files)
        found = merge(there)
    except BadDocument as error:
        raise Refused(str(error)) from None
    storage.write_json(output, found)
    ranks = f"{len(there)} of {there[0].rank.count} ranks"
    click.echo(f"{output}: {ranks}, merged in {(time.monotonic() - began) * 1000:.0f} ms", err=True)
    return 0
