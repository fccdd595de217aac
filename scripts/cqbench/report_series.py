"""Runs -> the series of a report: which runs belong together, what each is called, its points and distributions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from hdrh.histogram import HdrHistogram

from cqbench import report_hgrm, report_points
from cqbench.documents import BadDocument
from cqbench.offered import Load
from cqbench.report_hgrm import BadHistogram, Histogram
from cqbench.report_points import Repetition
from cqbench.runs import Run
from cqbench.verdict_data import Setting, conditions

MAX_ID = 100
METHODS = ("unary", "streaming", "upload", "download")  # in the order of a report; others follow
Conditions = tuple[str, Setting]  # as verdict_data.conditions() has them


@dataclass(frozen=True)
class Group:
    """The runs of one series. variant: '' outside of experiments. sharing: as verdict_data.Series.policy. id, title,
    words: unique, short, what is special.
    """

    runs: tuple[Run, ...]
    variant: str
    sharing: str
    setting: Setting
    id: str
    title: str
    words: str

    @property
    def policy(self) -> str:
        return self.runs[0].document.policy

    @property
    def open(self) -> bool:
        return self.runs[0].document.open

    def points(self) -> dict[Load, list[Repetition]]:
        """By load, ascending: the repetitions that make each point."""
        found: dict[Load, list[Repetition]] = {}
        for run in self.runs:
            for repetition in report_points.repetitions(run):
                found.setdefault(repetition.measured.load, []).append(repetition)
        return {n: report_points.used(found[n]) for n in sorted(found)}


def experiment_folder(run: Run) -> Path | None:
    """That has raw/<variant>/<file>; None outside of experiments."""
    return run.path.resolve().parents[2] if run.variant else None


def group(runs: Iterable[Run]) -> list[Group]:
    """In the order of the report: loops, methods, APIs, ways of connecting side by side, then by name."""
    found: dict[tuple[object, ...], list[Run]] = {}
    known: dict[tuple[object, ...], Conditions] = {}
    for run in runs:
        sharing, setting = conditions(run)
        d = run.document
        # A variant's own settings are what it is; elsewhere they tell series apart.
        apart = (experiment_folder(run), run.variant) if run.variant else (None, setting)
        key = (d.method, d.api, d.workload, d.policy, d.how, sharing, *apart)
        found.setdefault(key, []).append(run)
        known.setdefault(key, (sharing, setting))
    keys = sorted(found, key=lambda key: _rank(found[key][0], known[key]))
    return _named([(tuple(found[key]), known[key]) for key in keys])


def _rank(run: Run, known: Conditions) -> tuple[object, ...]:
    """Shared, separate, pools by size, what scales; numbers in names as numbers."""
    d = run.document
    sharing, setting = known
    order = ("shared", "separate").index(sharing) if sharing in ("shared", "separate") else 2
    method = METHODS.index(d.method) if d.method in METHODS else len(METHODS)
    texts = (d.method, d.api, d.workload, sharing, d.policy, run.variant, str(experiment_folder(run)), *_words(setting))
    return d.open, method, *map(_natural, (d.method, d.api)), order, *map(_natural, texts)


def _natural(text: str) -> list[tuple[int, int, str]]:
    """'q10' behind 'q9'."""
    return [(int(part or 0), 0, "") if part.isdecimal() else (0, 1, part) for part in re.split(r"(\d{1,15})", text)]


def _named(groups: Sequence[tuple[tuple[Run, ...], Conditions]]) -> list[Group]:
    special = _special([(runs[0], known) for runs, known in groups])
    ids: set[str] = set()
    several = len({experiment_folder(runs[0]) for runs, _ in groups}) > 1
    titles = [_title(runs[0], known[0], words, several) for (runs, known), words in zip(groups, special, strict=True)]
    named = []
    for (runs, (sharing, setting)), words, title in zip(groups, special, titles, strict=True):
        if titles.count(title) > 1:
            d = runs[0].document
            title = f"{title} ({d.method} {d.workload} {d.api} {d.policy})"
        named.append(Group(runs, runs[0].variant, sharing, setting, _id(title, ids), title, words))
    return named


def _special(series: Sequence[tuple[Run, Conditions]]) -> list[str]:
    """What distinguishes each, beside method, API and sharing: those settings in which they are not all alike."""
    rows = [(*_words(known[1]), run.document.workload, _policy(run, known[0], series)) for run, known in series]
    differ = [len(set(column)) > 1 for column in zip(*rows, strict=True)]
    return [", ".join(dict.fromkeys(w for w, d in zip(row, differ, strict=True) if d and w)) for row in rows]


def _words(setting: Setting) -> tuple[str, ...]:
    """The API is said elsewhere."""
    named = {"client": "client {}", "server": "server {}", "cpus": "CPUs: {}", "grpc": "gRPC {}"}
    values = ((f.name, getattr(setting, f.name)) for f in fields(setting) if f.name != "api")
    return tuple(named.get(name, "{}").format(value) if value else "" for name, value in values)


def _policy(run: Run, sharing: str, series: Sequence[tuple[Run, Conditions]]) -> str:
    """Its policy, where several come to the same sharing."""
    alike = {other.document.policy for other, known in series if known[0] == sharing}
    return run.document.policy if len(alike) > 1 else ""


def _title(run: Run, sharing: str, words: str, several: bool) -> str:
    """several: there are runs of several experiments, or of an experiment and others."""
    d = run.document
    folder = experiment_folder(run)
    if folder is None:
        return ", ".join(filter(None, (f"{d.method} {d.api} {sharing}", words)))
    return f"{folder.name}: {run.variant}" if several else run.variant


def _id(title: str, taken: set[str]) -> str:
    """[a-z0-9-]+, unique; it is then taken."""
    base = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:MAX_ID].strip("-") or "series"
    found, number = base, 1
    while found in taken:
        number += 1
        found = f"{base}-{number}"
    taken.add(found)
    return found


def histogram(found: Sequence[Repetition]) -> Histogram | None:
    """All repetitions of a point; None where a file has none, as older ones: the others are another distribution.

    Raises BadDocument.
    """
    if not found or any(r.entry.get("latency_histogram") is None for r in found):
        return None
    ages = [age for r in found if (age := r.entry.get("latency_least_age_ns")) is not None]
    return report_hgrm.merge(map(_decoded, found), min(ages, default=None))


def _decoded(repetition: Repetition) -> HdrHistogram:
    """Raises BadDocument."""
    entry, point = repetition.entry, repetition.measured
    try:
        return report_hgrm.decode(entry["latency_histogram"], entry.get("latency_samples"))
    except BadHistogram as error:
        where = f"{point.load.words}, repetition {point.repetition + 1}"
        raise BadDocument(f"{repetition.path}: 'latency_histogram' of {where}: {error}") from None
