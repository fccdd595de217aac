"""The Universal Scalability Law of a series, for drawing."""

from __future__ import annotations

import numpy as np

from cqbench import usl
from cqbench.report_model import Fit
from cqbench.report_points import Repetition
from cqbench.report_values import short
from cqbench.verdict_advice import Judgement
from cqbench.verdict_words import fit_words

CURVE_POINTS = 60
CURVE_REACH = 1.25  # of the highest count measured
Values = tuple[tuple[int, tuple[float, ...]], ...]  # in-flight count, throughput of each repetition
Known = dict[Values, "usl.Fit | None"]


def of_judgement(judgement: Judgement) -> Known:
    """Those that the verdict makes anyhow, by what they are fitted to: a fit takes a tenth of a second."""
    found: Known = {}
    for finding in judgement.findings:
        for s in (finding.pair.shared, finding.pair.separate):
            if s:
                values = {n: [r.measured.throughput for r in of] for n, of in s.points.items()}
                found[_values(values)] = finding.fits[s.policy]
    return found


def make(found: dict[int, list[Repetition]], known: Known, name: str) -> Fit | None:
    """Of what is whole and without failed calls, as in the verdict. name: of the series, in words."""
    sound = {
        n: [r.measured.throughput for r in of if not r.measured.partial and not r.measured.failed]
        for n, of in found.items()
    }
    values = _values(sound)
    fit = known[values] if values in known else usl.fit(dict(values))
    return None if fit is None else Fit(_curve(fit, values[0][0]), fit_words(name, fit), fit.poor)


def _values(series: dict[int, list[float | None]]) -> Values:
    there = {n: tuple(v for v in of if v is not None) for n, of in sorted(series.items())}
    return tuple((n, of) for n, of in there.items() if of)


def _curve(fit: usl.Fit, lowest: int) -> tuple[tuple[float, float], ...]:
    """Equal distances on a logarithmic axis."""
    counts = np.geomspace(lowest, fit.highest * CURVE_REACH, CURVE_POINTS)
    law = (fit.rate.value, fit.sigma.value, fit.kappa.value)
    return tuple((short(float(n)), short(float(usl.throughput(n, *law)))) for n in counts)
