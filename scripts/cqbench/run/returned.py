"""Checks a client's output: that it is a result, and that of its run."""

from __future__ import annotations

from pathlib import Path

from cqbench.experiment.order import PlannedRun
from cqbench.formats.result import Document
from cqbench.formats.result import load as load_document
from cqbench.formats.source import BadDocument
from cqbench.measure.processes import Finished


def read_back(path: Path, done: Finished) -> tuple[Document | None, str]:
    """Reads the client's output; returns it and its defect ('' if there is none)."""
    problem = done.complaint() if done.returncode != 0 else ""
    if not path.exists():
        return None, problem or "the client wrote no result"
    try:
        document = load_document(path)
    except BadDocument as error:
        return None, problem or str(error)
    return document, problem or ("the result is marked partial" if document.partial else "")


def not_asked(document: Document | None, planned: PlannedRun) -> str:
    """Why a result is not that of its run; '' when it is."""
    if planned.load.search:
        return "" if document is None or document.found_rate else "the result has no answer of a search"
    there = any(point.load.label == planned.load.label for point in document.points) if document else True
    return "" if there else f"the result has no point with {planned.load.words}"


def not_delayed(document: Document | None, added_rtt_ms: int | None) -> str:
    """Returns why the proxy cannot have added the delay; '' if it may have.

    Calls that take at least this time fit into the window a known number of times, plus one that crosses its
    boundaries.
    """
    for p in document.points if document and added_rtt_ms else ():
        if not p.throughput or not added_rtt_ms:
            continue
        window_ms = p.completed / p.throughput * 1000
        if p.completed > p.inflight * (window_ms / added_rtt_ms + 1):
            each_ms = p.inflight / p.throughput * 1000
            each = f"{each_ms:.3g} ms per call at {p.load.words}"
            return f"{each}, less than the {added_rtt_ms} ms that were added"
    return ""
