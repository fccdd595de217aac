"""`cqbench compare --history FOLDER`: what it shows, and how far the sessions in it differ. Raises Refused."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from cqbench.analysis.compare import history
from cqbench.cli.sides.arguments import metrics_of
from cqbench.cli.sides.inputs import read_history
from cqbench.formats.source import BadDocument
from cqbench.model.metric import Metric
from cqbench.options import Refused
from cqbench.render.compare import history as history_output


def spreads(folder: str | None, metrics: Iterable[Metric]) -> history.Spreads:
    """Empty without a history."""
    return history.spreads(_read(folder).runs, metrics) if folder is not None else {}


def shown(folder: str, words: str | None, usual: Iterable[str], form: str, colour: bool) -> str:
    """A history alone. usual: names of the metrics without --metric."""
    if form not in history_output.FORMATS:
        raise click.UsageError(f"argument --format: '{form}' is not for --history: {', '.join(history_output.FORMATS)}")
    found = _read(folder)
    known = list(dict.fromkeys(metric for run in found.runs for metric in run.side.metrics))
    chosen = metrics_of(words, known) if words is not None else [m for m in known if m.name in usual] or known
    lines = history.lines(found.runs, chosen)
    if form == "html":
        from cqbench.render.compare import page  # draws, which takes a second to load

        return page.of_history(found, lines)
    return history_output.render(form, found, lines, colour=colour)


def _read(folder: str) -> history.Found:
    try:
        return read_history(Path(folder))
    except BadDocument as error:
        raise Refused(f"argument --history: {error}") from None
