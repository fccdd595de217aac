"""compare_points.Comparison as JSON, for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cqbench import reasons
from cqbench.compare_gates import Outcome
from cqbench.compare_inputs import Key, Side
from cqbench.compare_points import Comparison, Figure, percent
from cqbench.compare_settings import Difference
from cqbench.compare_statistics import METHODS
from cqbench.medians import Ratio


def as_json(comparison: Comparison, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Figures are in the result files' units (per second, nanoseconds), under their keys."""
    return {
        "comparison_version": 2,
        "before": _side_json(comparison.before),
        "after": _side_json(comparison.after),
        "alpha": comparison.alpha,
        "methods": METHODS,
        "differences": [_difference_json(d) for d in comparison.refused],
        "compared_on_purpose": [_difference_json(d) for d in comparison.on_purpose],
        "not_checked": list(comparison.unknown),
        "only_before": [{**_key_json(lone.key), "why": lone.why} for lone in comparison.only_before],
        "only_after": [{**_key_json(lone.key), "why": lone.why} for lone in comparison.only_after],
        "suspect_points": sum(comparison.suspect(key) for key in comparison.points),
        "points": [_point_json(comparison, key) for key in comparison.points],
        "geometric_means": {
            metric.key: {"points": len(comparison.of(metric)), **_ratio_json(comparison.means[metric.name])}
            for metric in comparison.metrics
            if metric.name in comparison.means
        },
        "gates": [_gate_json(outcome) for outcome in outcomes],
    }


def _side_json(side: Side) -> dict[str, Any]:
    return {
        "path": side.path,
        "files": side.files,
        "partial_files": side.partial_files,
        "suspect": reasons.as_json(side.suspect),
    }


def _difference_json(difference: Difference) -> dict[str, Any]:
    return {
        "key": difference.key,
        "before": difference.before,
        "after": difference.after,
        "series": list(difference.series) or None,
    }


def _key_json(key: Key) -> dict[str, Any]:
    series = key.series
    return {
        "variant": series.variant,
        "workload": series.workload,
        "method": series.method,
        "api": series.api,
        "channel_policy": series.policy,
        "special": list(series.special),
        "inflight": None if key.load.open else int(key.load.number),
        "rate_asked_per_second": key.load.number if key.load.open else None,
    }


def _point_json(comparison: Comparison, key: Key) -> dict[str, Any]:
    figures = {metric.key: comparison.figures.get((key, metric.name)) for metric in comparison.metrics}
    return {
        **_key_json(key),
        "suspect": comparison.suspect(key),
        "limits": comparison.limited(key),
        "same_schedule": comparison.same_schedule(key),
        "metrics": {name: _figure_json(figure) for name, figure in figures.items() if figure is not None},
    }


def _figure_json(figure: Figure) -> dict[str, Any]:
    first, second = figure.repetitions
    return {
        "before": {"median": figure.before, "repetitions": first},
        "after": {"median": figure.after, "repetitions": second},
        **_ratio_json(figure.ratio),
        "p": figure.tested.p,
        "p_holm": figure.tested.p_holm,
        "verdict": figure.verdict,
        "needed_repetitions": figure.needed,
    }


def _ratio_json(ratio: Ratio) -> dict[str, Any]:
    """Interval null: too few repetitions."""
    interval = percent(ratio.interval)
    return {
        "ratio": ratio.value,
        "change_percent": (ratio.value - 1) * 100,
        "change_percent_interval": None if interval is None else list(interval),
    }


def _gate_json(outcome: Outcome) -> dict[str, Any]:
    return {
        "flag": outcome.gate.flag,
        "limit_percent": outcome.gate.limit_percent,
        "closed": outcome.closed,
        "points": [_key_json(key) for key in outcome.found],
        "undecided": list(outcome.undecided),
    }
