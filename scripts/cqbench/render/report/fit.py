"""The Universal Scalability Law of a series, for drawing: fitted to the medians, which takes no time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

import numpy as np

from cqbench.formats.offered import Load
from cqbench.model.usable import unusable
from cqbench.render.report.model import Fit
from cqbench.render.report.points import Repetition
from cqbench.render.report.values import short
from cqbench.stats import usl
from cqbench.stats.usl import Coefficient

CURVE_POINTS = 60
CURVE_REACH = 1.25  # of the highest count measured


def make(found: Mapping[Load, Sequence[Repetition]], name: str) -> Fit | None:
    """Fits complete points without failed calls, as the verdict does. name: the series in words."""
    sound = {
        int(load.number): [r.figures["throughput"] for r in of if not unusable(r.measured)]
        for load, of in found.items()
    }
    medians = {n: [median(values)] for n, values in sound.items() if values}
    fit = usl.fit(medians)
    return None if fit is None else Fit(_curve(fit, min(medians)), _words(name, fit), fit.poor)


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
