"""Kinds of plots: their frames, their loop, and how to read them. catalogue.py lists the existing ones."""

from __future__ import annotations

from dataclasses import dataclass

from cqbench.render.report.model import Series


@dataclass(frozen=True)
class Kind:
    """One frame of a plot. label: what distinguishes it there. log: the y axis is. needs: what measuring takes.
    parts: with these, each metric has panels of its own, side by side on the same scales. level: a line across it.
    """

    key: str
    label: str
    metrics: tuple[str, ...]
    unit: str
    needs: str = ""
    log: bool = False
    parts: tuple[str, ...] = ()
    level: float | None = None


@dataclass(frozen=True)
class Plot:
    """caption: how to read it, one line. of: the loops whose series it shows. top: it comes before the findings."""

    key: str
    title: str
    caption: str
    shape: str
    kinds: tuple[Kind, ...]
    of: tuple[bool, ...] = (False,)
    top: bool = False

    def shows(self, series: Series) -> bool:
        return series.open in self.of
