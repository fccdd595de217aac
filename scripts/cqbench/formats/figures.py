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
    """name: in results. scale: from the unit in results to shown_unit, for people. title: with the side it is about.
    better: 1 when more is better, -1 when less is, 0 when neither is.
    """

    name: str
    kind: str
    shown_unit: str
    scale: float
    better: int
    title: str

    @property
    def signed(self) -> bool:
        return self.kind in ("offset", "correlation")


def _read() -> dict[str, Figure]:
    data = json.loads(Path(__file__).with_name("figures.json").read_text(encoding="utf-8"))
    found = [{key: row[key] for key in Figure.__dataclass_fields__} for row in data["figures"]]
    return {row["name"]: Figure(**{**row, "better": BETTER[row["better"]]}) for row in found}


CATALOGUE = _read()
