"""cqbench check: may results be believed?"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from cqbench.analysis.check import whole
from cqbench.analysis.check.model import Finding, Subject
from cqbench.formats.source import BadDocument
from cqbench.options import Refused
from cqbench.render import check
from cqbench.run.check import subjects

Checked = tuple[Subject, list[Finding]]


def _checked(path: Path) -> list[Checked]:
    try:
        return [(subject, whole.check(subject)) for subject in subjects(path)]
    except BadDocument as error:
        raise Refused(str(error)) from None


@click.command()
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="json: every place of every finding."
)
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
def command(results: tuple[Path, ...], form: str) -> int:
    """Test whether results may be believed: complete, unchanged, consistent, measured soundly; does the verdict follow?

    RESULTS: folders of experiments, or JSON files of grpc_ping_client.

    Each rule has a line: passed, a remark (a limit of what the figures mean), not known, or FAILED. The check finds
    damage, careless edits and missing runs. It cannot find a folder in which every file was changed consistently.

    Exit status: 0 nothing failed; 1 something failed; 2 usage or unreadable results.
    """
    checked = [one for path in results for one in _checked(path)]
    if form == "json":
        click.echo(json.dumps([check.as_json(subject, found) for subject, found in checked], indent=2))
    else:
        texts = (check.text(subject, found, sys.stdout.isatty()) for subject, found in checked)
        click.echo("\n".join(texts), nl=False)
    return 1 if any(whole.failed(found) for _, found in checked) else 0
