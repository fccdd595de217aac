"""A judgement as JSON: its answer, every number and code behind it, and the thresholds."""

from __future__ import annotations

import math
from enum import Enum
from typing import Any

from cqbench.analysis.verdict.model import Judgement, Statement
from cqbench.formats.offered import Load
from cqbench.model import thresholds
from cqbench.render.verdict import answer
from cqbench.stats import ratios


def to_json(judgement: Judgement) -> dict[str, Any]:
    """Units as in the result files; ratios configuration / baseline. answer: the object that the text is made of."""
    named = {name.lower(): value for name, value in vars(thresholds).items() if name.isupper()}
    data = {
        "thresholds": {**named, "min_repetitions": ratios.MIN_REPETITIONS},
        "answer": answer.make(judgement),
        "scenarios": judgement.scenarios,
        "also": judgement.also,
        "statements": [
            _statement(kind, one) for kind in ("settings", "measure", "cannot_show") for one in getattr(judgement, kind)
        ],
    }
    plain: dict[str, Any] = _plain(data)
    return plain


def _statement(kind: str, one: Statement) -> dict[str, Any]:
    return {"of": kind, "code": one.code}


def _plain(data: Any) -> Any:
    """JSON has neither infinity nor tuples with names."""
    if isinstance(data, Load):
        return {"rate" if data.open else "inflight": data.number}
    if isinstance(data, Enum):
        return data.value
    if hasattr(data, "__dataclass_fields__"):
        return _plain(vars(data))
    if isinstance(data, dict):
        return {str(key): _plain(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_plain(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
