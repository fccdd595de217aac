"""A group of runs -> a series of the report: points, distributions, time series, the law fitted, the commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from statistics import median

import numpy as np
from hdrh.histogram import HdrHistogram

from cqbench.formats import histograms
from cqbench.formats.figures import THROUGHPUT
from cqbench.formats.histograms import BadHistogram, Histogram
from cqbench.formats.offered import Load, closed
from cqbench.formats.source import BadDocument
from cqbench.model.figures import REACHED
from cqbench.model.thresholds import KNEE_REACHED
from cqbench.model.usable import unusable
from cqbench.render.report import machine, points
from cqbench.render.report.groups import Group, experiment_folder
from cqbench.render.report.machine import Manifest
from cqbench.render.report.model import Distribution, Fit, Point, Series
from cqbench.render.report.points import Repetition
from cqbench.render.report.values import short
from cqbench.stats import usl
from cqbench.stats.usl import Coefficient

CURVE_POINTS = 60
CURVE_REACH = 1.25  # of the highest count measured
Found = Mapping[Load, Sequence[Repetition]]


def make(
    of: Group, found: Found, manifests: Sequence[Manifest], began: Mapping[int, datetime]
) -> tuple[Series, dict[str, str]]:
    """The series and its .hgrm files by name. Raises BadDocument."""
    made = tuple(points.make(load, repetitions, began.get(of.number)) for load, repetitions in found.items())
    merged = {load: _histogram(repetitions) for load, repetitions in found.items()}
    there = {load: h for load, h in merged.items() if h is not None}
    distributions = [Distribution(load, h.calls, histograms.steps(h)) for load, h in there.items()]
    timelines = (points.timeline(load, repetitions) for load, repetitions in found.items())
    document = of.runs[0].document
    client, server = _commands(of, manifests)
    series = Series(
        id=of.id,
        title=of.title,
        method=document.method,
        api=document.api,
        sharing=of.sharing,
        setting=of.words,
        points=made,
        distributions=tuple(d for d in distributions if d.steps),
        timelines=tuple(timeline for timeline in timelines if timeline),
        open=of.open,
        fit=None if of.open else fit(found, of.sharing),
        ideal_rate=_ideal_rate(made),
        knee=_knee(made),
        client_command=client,
        server_command=server,
        run=of.number,
    )
    return series, {f"{of.id}-{load.file_key}.hgrm": histograms.to_hgrm(h) for load, h in there.items()}


def _knee(of: Sequence[Point]) -> float | None:
    """The last rate before the first that was not reached."""
    knee = None
    for point in of:
        if REACHED not in point.values or point.values[REACHED].middle < KNEE_REACHED:
            break
        knee = point.load.number
    return knee


def _commands(of: Group, manifests: Sequence[Manifest]) -> tuple[str, str]:
    """Returns the commands of client and server: the manifest's, else the client's own."""
    folder = experiment_folder(of.runs[0])
    for one in manifests:
        if one.folder == folder and one.commands(of.configuration)[0]:
            return one.commands(of.configuration)
    return machine.client_command(of.runs[0]), ""


def _ideal_rate(of: Iterable[Point]) -> float | None:
    return next((p.values[THROUGHPUT].middle for p in of if p.load == closed(1) and not p.partial), None)


def _histogram(found: Sequence[Repetition]) -> Histogram | None:
    """All repetitions of a point; None where a file has none, as older ones: the others are another distribution.

    Raises BadDocument.
    """
    if not found or any(r.measured.latency_histogram is None for r in found):
        return None
    ages = [age for r in found if (age := r.measured.figures.get("latency_censored_min_age_ns")) is not None]
    return histograms.merge(map(_decoded, found), min(ages, default=None))


def _decoded(repetition: Repetition) -> HdrHistogram:
    """Raises BadDocument."""
    point = repetition.measured
    try:
        return histograms.decode(point.latency_histogram or "", point.latency_samples)
    except BadHistogram as error:
        where = f"{point.load.words}, repetition {point.repetition + 1}"
        raise BadDocument(f"{repetition.path}: 'latency_histogram' of {where}: {error}") from None


def fit(found: Mapping[Load, Sequence[Repetition]], name: str) -> Fit | None:
    """The Universal Scalability Law, for drawing: fitted to the medians, which takes no time, of complete points
    without failed calls, as the verdict does. name: the series in words.
    """
    sound = {
        int(load.number): [r.figures[THROUGHPUT] for r in of if not unusable(r.measured)] for load, of in found.items()
    }
    medians = {n: [median(values)] for n, values in sound.items() if values}
    law = usl.fit(medians)
    return None if law is None else Fit(_curve(law, min(medians)), _words(name, law), law.poor)


def _curve(fit: usl.Fit, lowest: int) -> tuple[tuple[float, float], ...]:
    """Equal distances on a logarithmic axis."""
    counts = np.geomspace(lowest, fit.highest * CURVE_REACH, CURVE_POINTS)
    law = (fit.rate.value, fit.sigma.value, fit.kappa.value)
    return tuple((short(float(n)), short(float(usl.throughput(n, *law)))) for n in counts)


def _words(name: str, fit: usl.Fit) -> str:
    """One line; a poor fit gives no coefficients, since they would be read as facts."""
    if fit.poor:
        return f"{name:<8} not to be relied on: {'; '.join(fit.complaints)}."
    peak = "no peak" if fit.peak is None else f"peak {fit.peak:.0f}"
    text = (
        f"{name:<8} R2 {fit.r2:.2f}, {peak}, lambda {fit.rate.value:.0f}, sigma {_coefficient(fit.sigma, 2)}, "
        f"kappa {_coefficient(fit.kappa, 4)}"
    )
    return f"{text}; {fit.caution}" if fit.caution else text


def _coefficient(c: Coefficient, digits: int) -> str:
    """'0.12 (0.10-0.14)'."""
    text = f"{c.value:.{digits}f}"
    return text if c.low is None or c.high is None else f"{text} ({c.low:.{digits}f}-{c.high:.{digits}f})"
