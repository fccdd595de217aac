"""The catalogue of figures that the C++ programs publish: every figure's name, unit, scale for people and direction.

figures.json is written by cqbench_schema from src/result/figure_rows.cc.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

THROUGHPUT = "throughput_per_second"
BETTER = {"more": 1, "less": -1, "neither": 0}


@dataclass(frozen=True)
class Figure:
    """name: in results, where the figure has this unit. scale: from that unit to shown_unit, for people. side: client,
    server or ''; title: the side included. better: 1 when more is better, -1 when less is, 0 when neither is. needs:
    what measuring takes.
    """

    name: str
    side: str
    kind: str
    unit: str
    shown_unit: str
    scale: float
    better: int
    needs: str
    title: str

    @property
    def label(self) -> str:
        """The title where it stands alone."""
        return self.title[:1].upper() + self.title[1:]

    @property
    def heading(self) -> str:
        """'Client CPU per call, µs': for a column of values in the unit for people."""
        return f"{self.label}, {self.shown_unit}" if self.shown_unit else self.label

    @property
    def column(self) -> str:
        """'P99 µs': for a narrow column of a terminal."""
        return f"{self.title} {self.shown_unit}".rstrip()

    @property
    def signed(self) -> bool:
        return self.kind in ("offset", "correlation")


def _read() -> dict[str, Figure]:
    data = json.loads(Path(__file__).with_name("figures.json").read_text(encoding="utf-8"))
    found = [{key: row[key] for key in Figure.__dataclass_fields__} for row in data["figures"]]
    return {row["name"]: Figure(**{**row, "better": BETTER[row["better"]]}) for row in found}


CATALOGUE = _read()
