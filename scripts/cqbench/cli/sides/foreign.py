"""Results of other programs: Google Benchmark's JSON, and the text of `go test -bench`.

Repetitions are lines (entries) of the same name. Nothing in such a file is trusted: names are made printable, figures
are checked, and there is a limit on how many of either there may be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cqbench.analysis.compare.sides import Name, Scenario, Side
from cqbench.formats import source
from cqbench.formats.source import BadDocument
from cqbench.formats.text import one_line
from cqbench.model.metric import CUSTOM, Metric
from cqbench.model.setting import Setting

MAX_SAMPLES, MAX_METRICS, MAX_VALUE = 100_000, 64, 2.0**63
TIMES = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
# Google Benchmark's keys that are numbers and no figures.
NO_FIGURES = (
    *("family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads", "iterations"),
    *("real_time", "cpu_time", "error_occurred"),
)
GO_LINE = re.compile(r"Benchmark(\S*)\s+(\d{1,18})\s+(\S.*)")
GO_FACTS = {"cpu": "cpu_model"}
KNOWN = {
    "ns/op": ("time per operation", -1, "latency"),
    "B/op": ("bytes per operation", -1, "allocations"),
    "allocs/op": ("allocations per operation", -1, "allocations"),
    "allocs_per_iter": ("allocations per iteration", -1, "allocations"),
    "max_bytes_used": ("most of the heap in use, bytes", -1, "allocations"),
    "total_allocated_bytes": ("bytes allocated in the counted iterations", -1, "allocations"),
    "net_heap_growth": ("growth of the heap, bytes", -1, "allocations"),
}


@dataclass(frozen=True)
class Line:
    """One repetition, a Sample. session: the file."""

    figures: Mapping[str, float]
    session: str
    round: None = None

    def value(self, key: str) -> float | None:
        return self.figures.get(key)


def read(data: bytes, name: str) -> Side:
    """Raises BadDocument."""
    return _google(source.decode(data, name), name) if data.lstrip()[:1] == b"{" else _go(data, name)


def _google(data: Any, name: str) -> Side:
    what = f"{name}: not JSON of Google Benchmark"
    context, entries = data.get("context"), data.get("benchmarks")
    if not isinstance(context, dict) or not isinstance(entries, list):
        raise BadDocument(f"{what}: it has no 'context' or no list of 'benchmarks'")
    points: dict[str, list[Line]] = {}
    left_out: dict[str, list[str]] = {}
    aggregates = 0
    for i, entry in enumerate(entries[: MAX_SAMPLES + 1]):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise BadDocument(f"{what}: benchmarks[{i}] has no 'name'")
        title = one_line(str(entry.get("run_name") or entry["name"]))
        if entry.get("run_type") == "aggregate":
            aggregates += 1
        elif entry.get("error_occurred") or entry.get("skipped"):
            why = entry.get("error_message") or entry.get("skip_message") or "it failed"
            left_out.setdefault(title, []).append(one_line(str(why)))
        else:
            points.setdefault(title, []).append(Line(_google_figures(entry, f"{what}: benchmarks[{i}]"), name))
    if aggregates and not points:
        raise BadDocument(f"{name}: has aggregates only: run it without --benchmark_report_aggregates_only")
    facts = {key: context.get(key) for key in ("host_name", "num_cpus", "library_build_type")}
    if "build_type" in context:  # the program's own, as cqbench_microbench tells it; the other is Google Benchmark's
        facts["library_build_type"] = context["build_type"]
    return _side(name, {"": points}, {"": left_out}, facts, {}, str(context.get("date") or ""))


def _google_figures(entry: Mapping[str, Any], where: str) -> dict[str, float]:
    scale = TIMES.get(str(entry.get("time_unit", "ns")))
    if scale is None:
        raise BadDocument(f"{where} has an unknown 'time_unit'")
    figures = {f"{key}_ns": _number(entry.get(key), f"{where}: '{key}'") * scale for key in ("real_time", "cpu_time")}
    for key, value in entry.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool) and key not in NO_FIGURES:
            figures[one_line(key)] = _number(value, f"{where}: '{one_line(key)}'")
    return figures


def _go(data: bytes, name: str) -> Side:
    text = data.decode("utf-8", errors="replace")
    packages: dict[str, dict[str, list[Line]]] = {}
    facts: dict[str, Any] = {}
    better: dict[str, int] = {}
    package, samples = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        found = GO_LINE.fullmatch(line.rstrip())
        key, colon, told = line.partition(": ")
        if found:
            samples += 1
            figures = dict(_go_figures(found[3].split(), f"{name}: line {number}"))
            packages.setdefault(package, {}).setdefault(one_line(found[1]), []).append(Line(figures, name))
        elif colon and key == "pkg":
            package = one_line(told)
        elif colon and key in GO_FACTS:
            facts[GO_FACTS[key]] = told
        elif line.startswith("Unit ") and " better=" in line:
            better[line.split()[1]] = {"higher": 1, "lower": -1}.get(line.rpartition("better=")[2].strip(), 0)
        if samples > MAX_SAMPLES:
            break
    if not packages:
        raise BadDocument(f"{name}: has no line of `go test -bench`, such as 'BenchmarkX-8 1000 123 ns/op'")
    return _side(name, packages, {}, facts, better, "")


def _go_figures(words: list[str], where: str) -> Iterator[tuple[str, float]]:
    if len(words) % 2:
        raise BadDocument(f"{where}: not pairs of a figure and its unit")
    for value, unit in zip(words[::2], words[1::2], strict=True):
        try:
            number = float(value)
        except ValueError:
            raise BadDocument(f"{where}: '{one_line(value)}' is no figure") from None
        yield one_line(unit), _number(number, where)


def _number(value: Any, where: str) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise BadDocument(f"{where} is not a number")
    if not abs(value) < MAX_VALUE:  # not a number, too
        raise BadDocument(f"{where} is out of range")
    return float(value)


def _side(
    name: str,
    packages: Mapping[str, Mapping[str, list[Line]]],
    left_out: Mapping[str, Mapping[str, list[str]]],
    facts: Mapping[str, Any],
    better: Mapping[str, int],
    date: str,
) -> Side:
    lines = [line for points in packages.values() for of in points.values() for line in of]
    if len(lines) > MAX_SAMPLES:
        raise BadDocument(f"{name}: more than {MAX_SAMPLES} repetitions")
    keys = dict.fromkeys(key for line in lines for key in line.figures)
    if len(keys) > MAX_METRICS:
        raise BadDocument(f"{name}: more than {MAX_METRICS} figures")
    setting = Setting(tuple((key, one_line(str(value))) for key, value in facts.items() if value is not None))
    scenarios = [
        Scenario(
            package,
            setting,
            {Name(title): of for title, of in points.items()},
            {Name(title): of for title, of in left_out.get(package, {}).items()},
        )
        for package, points in packages.items()
    ]
    return Side(name, scenarios, tuple(_metrics(keys, better)), date=one_line(date))


def _metrics(keys: Iterable[str], better: Mapping[str, int]) -> Iterator[Metric]:
    for key in keys:
        if key in KNOWN:
            title, way, group = KNOWN[key]
            yield Metric(key, key, title, key.partition("/")[0], 1, way, group)
        elif key in ("real_time_ns", "cpu_time_ns"):
            name = key.removesuffix("_ns")
            yield Metric(name, key, name.replace("_", " "), "ns", 1, -1, "latency" if name == "real_time" else "cpu")
        elif key.endswith(("-ns", "-ns/op")):
            yield Metric(key, key, key, "ns", 1, better.get(key, -1), "cpu" if "cpu" in key else "latency")
        elif key.endswith(("/s", "_per_second")):
            yield Metric(key, key, key, "", 1, 1, "throughput")
        else:
            yield Metric(key, key, key, "", 1, better.get(key, 0), CUSTOM)
