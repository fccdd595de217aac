"""cqbench verdict: results -> what holds this machine back, and what to set."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from cqbench.analysis.verdict.whole import judge_runs
from cqbench.formats.runs import Run, read_all
from cqbench.formats.source import BadDocument
from cqbench.options import Refused
from cqbench.render.verdict import answer, as_json, text


def _read(results: Sequence[Path]) -> list[Run]:
    try:
        runs = read_all(results)
        if not runs:
            raise BadDocument(f"{results[0]}: no result files in it")
    except BadDocument as error:
        raise Refused(str(error)) from None
    return runs


@click.command()
@click.option("--all", "everything", is_flag=True, help="Every load of every scenario as well, at the end.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="json: all numbers and codes."
)
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
def command(results: tuple[Path, ...], everything: bool, form: str) -> int:
    """The answer to an experiment's question, what to set, what to measure, and what this machine cannot show.

    RESULTS: folders of an experiment, or JSON files of grpc_ping_client, with repetitions.

    Exit status: 0, whatever the verdict; 2 usage or unreadable results.
    """
    judgement = judge_runs(_read(results))
    if form == "json":
        click.echo(json.dumps(as_json.to_json(judgement), indent=2))
    else:
        click.echo(text.render(answer.make(judgement), everything, sys.stdout.isatty()), nl=False)
    return 0
