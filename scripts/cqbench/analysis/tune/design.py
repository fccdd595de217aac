"""The screening: all candidates at once, each in half of the runs (of a factor with several values, in its share of
them), so that every run says something of every candidate.

Rows are those of a Hadamard matrix, two levels and main effects orthogonal to each other (R. L. Plackett, J. P. Burman:
The design of optimum multifactorial experiments, Biometrika 33, 1946). Each row is run together with its mirror image,
in which what was set is not and the other way round (the foldover of G. E. P. Box and J. S. Hunter: The 2^(k-p)
fractional factorial designs, Technometrics 3, 1961): of the difference of the logarithms of the two, all that two
settings do to each other only together drops out, and so does the speed of the machine, since the two are paired within
time. With k candidates, main effects have a k-th of the variance of trying one after the other in as many runs.

That is why it is one factorial design and no race of single candidates (successive halving): in noise of 10 % a run, a
race has to drop at a point at which it cannot tell 5 % from nothing. Halving is used where few are left: confirm.py.

The effect of a setting is here the mean over all others on and off, not that relative to the defaults, and what three
settings do together is not told apart. So this only chooses whom to confirm.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from cqbench.analysis.tune.catalogue import Candidate
from scipy.linalg import hadamard

Floats = npt.NDArray[np.float64]
HUBER = 1.345  # 95 % efficiency where noise is normal
MAD = 1.4826  # of a normal distribution, from the median of absolute deviations to the standard deviation
STEPS = 50
ATTEMPTS = 50
PLAIN, MIRRORED = "a", "b"


@dataclass(frozen=True)
class Row:
    """Two runs that are paired within a block: one with these settings, one with those."""

    name: str
    plain: tuple[Candidate, ...]
    mirrored: tuple[Candidate, ...]

    @property
    def configurations(self) -> dict[str, tuple[Candidate, ...]]:
        return {f"{self.name}.{PLAIN}": self.plain, f"{self.name}.{MIRRORED}": self.mirrored}


@dataclass(frozen=True)
class Design:
    """matrix: by row and candidate 1 (in the plain run), -1 (in the mirrored one) or 0 (in neither)."""

    candidates: tuple[Candidate, ...]
    rows: tuple[Row, ...]
    matrix: Floats


@dataclass(frozen=True)
class Effect:
    """The effect of one candidate, as a logarithm of the figure: with it / without it. error: standard error."""

    candidate: Candidate
    value: float
    error: float

    @property
    def t(self) -> float:
        return self.value / self.error if self.error > 0 else 0.0


def factors(candidates: Iterable[Candidate]) -> list[list[Candidate]]:
    """Those that exclude each other together."""
    found: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        found.setdefault(candidate.setting.factor, []).append(candidate)
    return list(found.values())


def rows_needed(candidates: Sequence[Candidate]) -> int:
    """A power of two: as many rows as there are effects, or more."""
    return 1 << max(2, (len(candidates) - 1).bit_length())


def make(candidates: Sequence[Candidate], seed: int) -> Design:
    """The same for the same seed. Which column a factor has, and which rows a value of it, is drawn."""
    generator = random.Random(seed)
    for _ in range(ATTEMPTS):
        matrix = _matrix(candidates, generator)
        if np.linalg.matrix_rank(matrix) == len(candidates):
            break
    rows = []
    for i, line in enumerate(matrix):
        sides = (tuple(c for c, s in zip(candidates, line, strict=True) if s == side) for side in (1, -1))
        rows.append(Row(f"r{i + 1:03}", *sides))
    return Design(tuple(candidates), tuple(rows), matrix)


def _matrix(candidates: Sequence[Candidate], generator: random.Random) -> Floats:
    number = rows_needed(candidates)
    signs = hadamard(number)
    columns = generator.sample(range(number), number)
    place = {candidate.name: i for i, candidate in enumerate(candidates)}
    matrix = np.zeros((number, len(candidates)))
    for column, factor in zip(columns, factors(candidates), strict=False):
        values = _shared_out(number, signs[:, column], len(factor), generator)
        for row, value in enumerate(values):
            matrix[row, place[factor[value].name]] = signs[row, column]
    return matrix


def _shared_out(number: int, signs: Sequence[int], values: int, generator: random.Random) -> list[int]:
    """Which value each row has: all equally often, among the rows of either sign."""
    found = [0] * number
    for sign in (1, -1):
        rows = [i for i in range(number) if signs[i] == sign]
        first = generator.randrange(values)
        for i, row in enumerate(generator.sample(rows, len(rows))):
            found[row] = (first + i) % values
    return found


def effects(design: Design, differences: Sequence[tuple[int, float]]) -> list[Effect]:
    """differences: (index of the row, logarithm of plain / mirrored), as many as were measured. [] where they are too
    few to tell effects from noise."""
    if len(differences) <= len(design.candidates):
        return []
    x = design.matrix[[row for row, _ in differences]]
    y = np.array([value for _, value in differences])
    if np.linalg.matrix_rank(x) < x.shape[1]:
        return []
    values, errors = _huber(x, y)
    return [Effect(c, float(v), float(e)) for c, v, e in zip(design.candidates, values, errors, strict=True)]


def _huber(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Coefficients and standard errors of a regression that a run at half speed does not pull away.

    P. J. Huber: Robust Statistics, 1981, chapter 7: reweighted least squares, and its covariance.
    """
    n, k = x.shape
    beta = np.linalg.lstsq(x, y, rcond=None)[0]
    scale = 0.0
    for _ in range(STEPS):
        rest = y - x @ beta
        scale = MAD * float(np.median(np.abs(rest))) * np.sqrt(n / (n - k))
        if scale <= 1e-12:
            break
        weight = np.sqrt(np.minimum(1.0, HUBER * scale / np.maximum(np.abs(rest), 1e-300)))
        after = np.linalg.lstsq(x * weight[:, None], y * weight, rcond=None)[0]
        moved = float(np.max(np.abs(after - beta)))
        beta = after
        if moved < 1e-9:
            break
    rest = np.clip(y - x @ beta, -HUBER * scale, HUBER * scale)
    inside = max(float(np.mean(np.abs(y - x @ beta) <= HUBER * scale)), 0.1)
    variance = float(rest @ rest) / (n - k) / inside**2
    errors: Floats = np.sqrt(variance * np.diag(np.linalg.inv(x.T @ x)))
    return beta.astype(np.float64), errors
