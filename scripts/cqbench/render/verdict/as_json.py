"""A judgement as JSON: every number, code and sentence of the model, and the thresholds behind it."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from cqbench.analysis.verdict.model import Judgement
from cqbench.files.offered import Load
from cqbench.model import thresholds
from cqbench.stats import ratios


def to_json(judgement: Judgement) -> dict[str, Any]:
    """Units as in the result files; ratios variant / baseline."""
    named = {name.lower(): value for name, value in vars(thresholds).items() if name.isupper()}
    data = {"thresholds": {**named, "min_repetitions": ratios.MIN_REPETITIONS}, **asdict(judgement)}
    plain: dict[str, Any] = _plain(data)
    return plain


def _plain(data: Any) -> Any:
    """JSON has neither infinity nor tuples with names."""
    if isinstance(data, Load):
        return {"rate" if data.open else "inflight": data.number}
    if isinstance(data, dict):
        return {str(key): _plain(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_plain(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
