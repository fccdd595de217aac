"""scripts/verdict.sh: results -> what holds this machine back, and what to set.

Exit status: 0, whatever the verdict; 2 usage or unreadable results.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cqbench import usl, verdict_text, verdict_words
from cqbench import verdict_advice as advice
from cqbench import verdict_rules as rules
from cqbench.documents import BadDocument
from cqbench.options import Parser
from cqbench.runs import Run, read_all
from cqbench.verdict_advice import Judgement
from cqbench.verdict_data import load_series, make_pairs, open_loops
from cqbench.verdict_judge import Finding, Row, Side, judge, order


def judge_runs(runs: Sequence[Run]) -> Judgement:
    """Every workload, method, API and setting in them, the most important first."""
    series = load_series(runs)
    findings = order(judge(pair) for pair in make_pairs(series))
    return Judgement(tuple(findings), tuple(advice.choices(series)), tuple(open_loops(runs)))


def to_json(judgement: Judgement) -> dict[str, Any]:
    """All numbers, and the names of the rules that fired. Units as in the result files; ratios separate / shared."""
    data = {
        "thresholds": {
            name.lower(): list(value) if isinstance(value, tuple) else value
            for name, value in vars(rules).items()
            if name.isupper()
        },
        "findings": [_finding(f) for f in judgement.findings],
        "choices": [asdict(c) for c in judgement.choices],
        "open_loops": list(judgement.open_loops),
    }
    finite: dict[str, Any] = _finite(data)
    return finite


def _finding(f: Finding) -> dict[str, Any]:
    series = f.pair.any
    best = f.best
    return {
        "workload": series.workload,
        "method": series.method,
        **asdict(series.setting),
        "policies": [s.policy for s in f.pair.all],
        "verdict": f.verdict.value,
        "rules": list(f.fired),
        "text": verdict_words.verdict_words(f),
        "repetitions": f.repetitions,
        "left_out": {s.policy: len(s.left_out) for s in f.pair.all},
        "with_failed_calls": {s.policy: len(s.failed()) for s in f.pair.all},
        "present_at": list(f.present),
        "faster_at": list(f.gains),
        "undecided_at": list(f.undecided),
        "slower_at": list(f.losses),
        "loses_from": f.loses_from,
        "batching": f.batching,
        "cpu_limited_from": f.cpu_limited_from,
        "gain_capped_from": f.gain_capped_from,
        "client_cpus_allowed": f.client_cpus,
        "server_cpus_allowed": f.server_cpus,
        "cores": verdict_words.cores(f),
        "cpus_for_post_ratio": {"client": f.cores_needed[0], "server": f.cores_needed[1]},
        "best_at": best.inflight if best else None,
        "factors_at_best": _factors(best) if best else None,
        "rows": [_row(r) for r in f.rows],
        "usl": {name: _fit(fit) for name, fit in f.fits.items()},
        "set": advice.policy(f),
        "to_do": advice.to_do(f),
    }


def _row(row: Row) -> dict[str, Any]:
    ratios = ("throughput", "p99", "client_cost", "server_cost")
    return {
        "inflight": row.inflight,
        "status": row.status.value,
        "shared": _side(row.shared),
        "separate": _side(row.separate),
        **{f"{name}_ratio": asdict(getattr(row, name)) if getattr(row, name) else None for name in ratios},
        "factors": _factors(row),
        "rpcs_per_segment": {"shared": row.per_segment[0], "separate": row.per_segment[1]},
    }


def _factors(row: Row) -> dict[str, Any]:
    """Whose product is the throughput ratio; null where figures are absent or the end spins."""
    ends = {"client": row.client_factors, "server": row.server_factors}
    return {end: asdict(factors) if factors else None for end, factors in ends.items()}


def _side(side: Side | None) -> dict[str, Any] | None:
    return None if side is None else {**asdict(side), "regime": side.regime.value}


def _fit(fit: usl.Fit | None) -> dict[str, Any] | None:
    return None if fit is None else {**asdict(fit), "poor": fit.poor}


def _finite(data: Any) -> Any:
    """JSON has no infinity."""
    if isinstance(data, dict):
        return {k: _finite(v) for k, v in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(v) for v in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def main(arguments: list[str]) -> int:
    parser = Parser("verdict.sh")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("results", nargs="+", type=Path)
    options = parser.parse_args(arguments)
    try:
        runs = read_all(options.results)
        if not runs:
            raise BadDocument(f"{options.results[0]}: no result files in it")
    except BadDocument as error:
        print(f"verdict.sh: {error}", file=sys.stderr)
        return 2
    judgement = judge_runs(runs)
    if options.format == "json":
        print(json.dumps(to_json(judgement), indent=2))
    else:
        show = verdict_text.render if options.all else verdict_text.summary
        print(show(judgement), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
