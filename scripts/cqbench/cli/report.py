"""cqbench report: results -> report.html, a page to look at and to send to somebody."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from cqbench.analysis.cost.profile import is_profile
from cqbench.formats.source import BadDocument, once, read_bytes
from cqbench.options import Refused
from cqbench.render.report import data, tables
from cqbench.render.report.files import HGRM, NAME, write_figures, write_made


def say(text: str) -> None:
    """To people; standard output carries the page's path only."""
    print(f"== {text}", file=sys.stderr, flush=True)


def _page_path(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
    """The ending keeps it from replacing a result."""
    if path and (path.suffix.lower() not in (".html", ".htm") or path.is_dir() or not path.parent.is_dir()):
        raise click.BadParameter(f"'{path}' is not the name of an .html file in a folder that exists")
    return path


def _divided(results: tuple[Path, ...]) -> tuple[list[Path], list[Path]]:
    """Profiles, and results of which there is one at least. Raises Refused."""
    counted: list[Path] = []
    measured: list[Path] = []
    try:
        for path in results:
            (counted if path.is_file() and is_profile(read_bytes(path)) else measured).append(path)
        once(counted)
    except BadDocument as error:
        raise Refused(str(error)) from None
    if not measured:
        raise Refused(f"{results[0]}: a cost profile of cqbench cost is shown with results only; none are named")
    return counted, measured


@click.command()
@click.option(
    "--output",
    metavar="FILE.html",
    type=click.Path(path_type=Path),
    callback=_page_path,
    help=f"Where the page goes (default {NAME} in RESULTS, when that is one folder).",
)
@click.option(
    "--figures",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Every plot as PNG and SVG too, for papers.",
)
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
def command(results: tuple[Path, ...], output: Path | None, figures: Path | None) -> int:
    """One page to look at and to send to somebody.

    The answer and the question itself as a plot (how many times the throughput of what it is compared with), findings,
    throughput and latency against calls in flight or the rate asked, repetitions in their order, evidence of both
    ends, the machine, the exact commands. Drag to zoom, hide series, save plots as images; the page's address keeps
    what is seen. It opens without a network. Next to it hgrm/ gets the latency distributions for HdrHistogram's
    plotter, in microseconds, where the results have them. An older report is replaced; results are only read.

    Two folders of one experiment, the older first, are drawn over each other and compared.

    RESULTS: folders of an experiment, or JSON files of grpc_ping_client, or folders of them; and cost profiles, whose
    tables the page then has.

    Standard output: the path of the page. Exit status: 0; 1 something could not be written; 2 usage or unreadable
    results.
    """
    counted, measured = _divided(results)
    if output is None and (len(measured) > 1 or measured[0].is_file()):
        what = f"FILE.html is needed where RESULTS is not one folder, which gets {NAME}"
        raise click.UsageError(f"argument --output: {what}")
    try:
        made = data.make_all(measured)
        made = replace(made, report=replace(made.report, profiles=tables.profiles(counted)))
    except BadDocument as error:
        raise Refused(str(error)) from None
    page = write_made(made, output or measured[0] / NAME)
    if figures:
        figures.mkdir(parents=True, exist_ok=True)
        say(f"figures: {len(write_figures(made.report, figures))} files in {figures}")
    if made.hgrm:
        say(f"latency distributions: {len(made.hgrm)} files in {page.parent / HGRM}")
    if made.report.partial:
        say(f"partial: {made.report.partial}")
    click.echo(page)
    return 0
