"""Rules about what was made from the results: results.csv and verdict.json say what follows from the raw data.

The verdict's JSON may have other keys in another version of cqbench. Only decisions and figures of its rows are
compared, wherever the rows stand.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from typing import Any

from cqbench.analysis.check.model import Finding, State, Subject, count, judged
from cqbench.formats.text import one_line

DIGITS = 1e-9  # relative; figures are made by the same arithmetic from the same data
RATIOS = ("judged", "throughput", "p99", "client_cpu", "server_cpu")
ABOUT = ("thresholds", "cqbench_version")  # of verdict.json: what may make another version decide otherwise
NOT_MADE = "there is no manifest, so what follows from the results is not known"
Row = dict[str, Any]
Key = tuple[str, str, str]  # scenario, configuration, load


def table(subject: Subject) -> Finding | None:
    """results.csv has a line for each point."""
    made = subject.made.csv
    if subject.csv is None:
        return Finding("table", State.NOT_KNOWN, "no results.csv") if subject.manifest else None
    if made is None:
        return Finding("table", State.FAILED, f"results.csv: {NOT_MADE}")
    problems = [*_other_lines(_lines(subject.csv), _lines(made))]
    return judged("table", "results.csv", problems, "each line follows from the raw results")


def _lines(text: str) -> list[dict[str, str]]:
    return [{k: v for k, v in row.items() if k} for row in csv.DictReader(io.StringIO(text, newline=""))]


def _other_lines(stored: list[dict[str, str]], made: list[dict[str, str]]) -> Iterator[str]:
    """Columns that one side lacks are of another version."""
    if len(stored) != len(made):
        yield f"{count(len(stored), 'line')}, the raw results have {count(len(made), 'point')}"
    for number, (old, new) in enumerate(zip(stored, made, strict=False), 2):
        for column in old.keys() & new.keys():
            if old[column] != new[column]:
                yield f"line {number}: {column} is {_shown(old[column])}, and {_shown(new[column])} by the raw results"


def _shown(value: str | None) -> str:
    return one_line(value or "nothing", 40)


def verdict(subject: Subject) -> Finding | None:
    stored, made = subject.verdict, subject.made.verdict
    if stored is None:
        return Finding("verdict", State.NOT_KNOWN, "no verdict.json") if subject.manifest else None
    if isinstance(stored, str):
        return Finding("verdict", State.FAILED, stored)
    if made is None:
        return Finding("verdict", State.FAILED, f"verdict.json: {NOT_MADE}")
    problems = differences(stored, made)
    other = other_version(stored, made)
    looked_at = f"verdict.json, {count(len(rows(stored)), 'row')}"
    if problems and other:
        text = f"{looked_at}: of a version that differs in {other}; {count(len(problems), 'difference')}"
        return Finding("verdict", State.NOT_KNOWN, text, tuple(problems))
    fine = "decisions and ratios follow from the raw results"
    return judged("verdict", looked_at, problems, fine + (f" ({other} of another version)" if other else ""))


def differences(stored: Any, made: Any) -> list[str]:
    """Returns what two verdicts' JSON say otherwise of a configuration at a load, a line each."""
    old, new = rows(stored), rows(made)
    found = [f"{_where(key)} does not follow from the raw results" for key in old if key not in new]
    found += [f"{_where(key)} is missing" for key in new if key not in old]
    return found + [f"{_where(key)}: {text}" for key in old if key in new for text in _differing(old[key], new[key])]


def rows(verdict: Any) -> dict[Key, Row]:
    """The rows wherever they stand: a table with a configuration, a load and a decision, in one with a name."""
    return dict(_rows(verdict, ""))


def _rows(data: Any, name: str) -> Iterator[tuple[Key, Row]]:
    if isinstance(data, list):
        for one in data:
            yield from _rows(one, name)
    elif isinstance(data, dict):
        if {"configuration", "load", "decision"} <= data.keys():
            yield (name, str(data["configuration"]), json.dumps(data["load"], sort_keys=True)), data
            return
        inner = str(data.get("name", name))
        for value in data.values():
            yield from _rows(value, inner)


def _where(key: Key) -> str:
    return one_line(", ".join(filter(None, key)))


def _differing(old: Row, new: Row) -> Iterator[str]:
    if old["decision"] != new["decision"]:
        yield f"the decision is '{one_line(str(old['decision']))}', and '{new['decision']}' by the raw results"
    for key in RATIOS:
        told, found = _values(old.get(key)), _values(new.get(key))
        for part in told.keys() & found.keys():
            if not _alike(told[part], found[part]):
                yield f"{key}.{part} is {one_line(str(told[part]))}, and {found[part]} by the raw results"


def _values(ratio: Any) -> dict[str, Any]:
    """A ratio's value and interval; nothing where there is none, or another version has it otherwise."""
    return {key: ratio[key] for key in ("value", "low", "high") if key in ratio} if isinstance(ratio, dict) else {}


def _alike(old: Any, new: Any) -> bool:
    if isinstance(old, (int, float)) and isinstance(new, (int, float)):
        return math.isclose(old, new, rel_tol=DIGITS, abs_tol=DIGITS)
    return bool(old == new)


def other_version(stored: Any, made: Any) -> str:
    """Which of the facts that decide is another one; '' for none, also where one side does not say it."""
    if not isinstance(stored, dict) or not isinstance(made, dict):
        return ""
    return " and ".join(key for key in ABOUT if key in stored and key in made and stored[key] != made[key])
