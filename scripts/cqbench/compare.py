"""scripts/compare.sh: is B faster or slower than A, beyond noise?

Exit status: 0; 1 a gate is closed; 2 usage, unreadable results, nothing in common, or sides that cannot be compared.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

from cqbench import compare_json, compare_output
from cqbench.compare_gates import Gate, check
from cqbench.compare_inputs import METRICS, Metric, Side, counted, read_side
from cqbench.compare_points import Comparison, compare
from cqbench.documents import BadDocument
from cqbench.options import Parser

PROGRAM = "compare.sh"
BY_NAME = {metric.name: metric for metric in METRICS}
GATES = (("--fail-if-slower", "throughput", -1, 100), ("--fail-if-latency-higher", "p99", 1, 10_000))


def complain(text: str) -> None:
    """One line to people."""
    print(f"{PROGRAM}: {text}", file=sys.stderr, flush=True)


def metric_list(text: str) -> tuple[Metric, ...]:
    """An argparse type: 'p99,throughput' -> the metrics, in their usual order, each once."""
    names = set(BY_NAME) if text == "all" else set(text.split(","))
    if not names <= set(BY_NAME):
        raise argparse.ArgumentTypeError(f"'{text}' is not 'all' or a list of {', '.join(BY_NAME)}")
    return tuple(metric for metric in METRICS if metric.name in names)


def alpha(text: str) -> float:
    """An argparse type."""
    value = _number(text)
    if not 1e-6 <= value <= 0.5:  # also catches nan
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 0.000001 to 0.5")
    return value


def percentage(high: float) -> Callable[[str], float]:
    """An argparse type: '5%' -> 5.0. The sign is needed: a bare 0.05 would be read both ways."""

    def parse(text: str) -> float:
        value = _number(text[:-1]) if text.endswith("%") else -1.0
        if not 0 <= value <= high:
            raise argparse.ArgumentTypeError(f"'{text}' is not a percentage from 0% to {high:g}%, such as 5%")
        return value

    return parse


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return -1.0


def output_format(text: str) -> str:
    """An argparse type."""
    if text not in ("text", "json"):
        raise argparse.ArgumentTypeError(f"'{text}' is not text or json")
    return text


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Exits with status 2 on bad ones."""
    parser = Parser(PROGRAM)
    parser.add_argument("A")
    parser.add_argument("B")
    parser.add_argument("--metric", type=metric_list, default=metric_list("throughput,p50,p99,p50-sent,p99-sent"))
    parser.add_argument("--alpha", type=alpha, default=0.05)
    parser.add_argument("--format", type=output_format, default="text")
    parser.add_argument("--anyway", action="store_true")
    for flag, _, _, high in GATES:
        parser.add_argument(flag, type=percentage(high), dest=flag)
    options = parser.parse_args(arguments)
    for name in ("A", "B"):
        if not getattr(options, name):
            parser.error(f"argument {name}: is empty: a result file or folder is accepted")
    return options


def gates_of(options: argparse.Namespace) -> list[Gate]:
    limits = {flag: getattr(options, flag) for flag, *_ in GATES}
    return [
        Gate(flag, BY_NAME[name], limits[flag], worse) for flag, name, worse, _ in GATES if limits[flag] is not None
    ]


def read_both(options: argparse.Namespace) -> tuple[Side, Side]:
    """Raises BadDocument; its text names the argument."""
    sides = []
    for name in ("A", "B"):
        try:
            sides.append(read_side(Path(getattr(options, name))))
        except BadDocument as error:
            raise BadDocument(f"argument {name}: {error}") from None
    return sides[0], sides[1]


def why_not(comparison: Comparison, anyway: bool) -> list[str]:
    """Why there is nothing to show, a line each; none when there is."""
    if not comparison.points:
        loops = [{"an open loop" if k.load.open else "a closed loop" for k in side.points} for side in comparison.both]
        if not loops[0] & loops[1]:
            what = f"A is {loops[0].pop()}, B {loops[1].pop()}"
            return [f"A and B cannot be compared: {what}; calls in flight and an asked rate have nothing in common"]
        first, second = comparison.only_before[0].key.title, comparison.only_after[0].key.title
        return [f"A and B have no point in common: A has {first}, B has {second}, for example"]
    if comparison.refused and not anyway:
        what = counted(len(comparison.refused), "setting")
        return [
            f"A and B cannot be compared: {what} must not differ and did; --anyway compares them all the same",
            *compare_output.describe(comparison.refused),
        ]
    return []


def main(arguments: list[str]) -> int:
    """The exit status."""
    options = parse_arguments(arguments)
    gates = gates_of(options)
    wanted = {*options.metric, *(gate.metric for gate in gates)}
    try:
        before, after = read_both(options)
    except BadDocument as error:
        complain(str(error))
        return 2
    any_open = any(key.load.open for side in (before, after) for key in side.points)
    metrics = [m for m in METRICS if m in wanted and (any_open or not m.open_only)]
    comparison = compare(before, after, metrics, options.alpha)
    refusal = why_not(comparison, options.anyway)
    for line in refusal:
        complain(line)
    if refusal:
        return 2
    outcomes = [check(gate, comparison) for gate in gates]
    if options.format == "json":
        print(json.dumps(compare_json.as_json(comparison, outcomes), indent=2))
    else:
        print(compare_output.render(comparison), end="", flush=True)
    for outcome in outcomes:
        for line in compare_output.gate_lines(outcome):
            complain(line)
    return 1 if any(outcome.closed for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
