"""Runs -> the groups that become the series of a report: which runs belong together, and what each group is called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cqbench.formats.offered import Load
from cqbench.formats.runs import Run
from cqbench.model import setting as settings
from cqbench.model.setting import FACETS, Setting
from cqbench.render.report import points
from cqbench.render.report.points import Repetition

MAX_ID = 100
METHODS = ("unary", "streaming", "upload", "download")  # in the order of a report; others follow
Conditions = tuple[str, Setting]  # way to connect, all that must agree
ELSEWHERE = ("method", "api", "workload", "connections")


@dataclass(frozen=True)
class Group:
    """The runs of one series. configuration: '' outside of experiments. sharing: shared, separate, pool:N, scaling:N.
    id, title, words: unique, short, what is special. number: of its experiment.
    """

    runs: tuple[Run, ...]
    configuration: str
    sharing: str
    setting: Setting
    id: str
    title: str
    words: str
    number: int

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
            for repetition in points.repetitions(run):
                found.setdefault(repetition.measured.load, []).append(repetition)
        return {n: points.used(found[n]) for n in sorted(found)}


def experiment_folder(run: Run) -> Path | None:
    """Returns the folder that has raw/<configuration>/<file>; None outside of experiments."""
    return run.path.resolve().parents[2] if run.configuration else None


def experiments(runs: Iterable[Run]) -> list[Path | None]:
    """Their folders in the order in which they were named; None stands for runs outside of experiments."""
    return list(dict.fromkeys(map(experiment_folder, runs)))


def letter(number: int) -> str:
    """Its name where there are several experiments: A, B, ..., Z, AA, AB, ..., of 0 on."""
    before, last = divmod(number, 26)
    return (letter(before - 1) if before else "") + chr(ord("A") + last)


def group(runs: Sequence[Run]) -> list[Group]:
    """In the order of the report: loops, methods, APIs, ways of connecting side by side, then by name."""
    found: dict[tuple[object, ...], list[Run]] = {}
    known: dict[tuple[object, ...], Conditions] = {}
    for run in runs:
        setting = settings.of(run)
        sharing = setting.connections
        d = run.document
        # A configuration's own settings are what it is; elsewhere they tell series apart.
        apart = (experiment_folder(run), run.configuration) if run.configuration else (None, setting)
        key = (d.method, d.api, d.workload, d.policy, d.how, sharing, *apart)
        found.setdefault(key, []).append(run)
        known.setdefault(key, (sharing, setting))
    order = experiments(runs)
    keys = sorted(found, key=lambda key: _rank(found[key][0], known[key], order))
    return _named([(tuple(found[key]), known[key]) for key in keys], order)


def _rank(run: Run, known: Conditions, experiments: Sequence[Path | None]) -> tuple[object, ...]:
    """Shared, separate, pools by size, what scales; numbers in names as numbers."""
    d = run.document
    sharing, setting = known
    order = ("shared", "separate").index(sharing) if sharing in ("shared", "separate") else 2
    method = METHODS.index(d.method) if d.method in METHODS else len(METHODS)
    texts = (d.method, d.api, d.workload, sharing, d.policy, run.configuration, *_words(setting))
    place = experiments.index(experiment_folder(run))
    return d.open, method, *map(_natural, (d.method, d.api)), order, *map(_natural, texts[:6]), place, *texts[6:]


def _natural(text: str) -> list[tuple[int, int, str]]:
    """'q10' behind 'q9'."""
    return [(int(part or 0), 0, "") if part.isdecimal() else (0, 1, part) for part in re.split(r"(\d{1,15})", text)]


def _named(groups: Sequence[tuple[tuple[Run, ...], Conditions]], order: Sequence[Path | None]) -> list[Group]:
    special = _special([(runs[0], known) for runs, known in groups])
    ids: set[str] = set()
    titles = [_title(runs[0], known[0], words, order) for (runs, known), words in zip(groups, special, strict=True)]
    named = []
    for (runs, (sharing, setting)), words, title in zip(groups, special, titles, strict=True):
        d = runs[0].document
        alone = titles.count(title) == 1
        full = title if alone else f"{title} ({d.method} {d.workload} {d.api} {d.policy})"
        number = order.index(experiment_folder(runs[0]))
        named.append(Group(runs, runs[0].configuration, sharing, setting, _id(full, ids), full, words, number))
    return named


def _special(series: Sequence[tuple[Run, Conditions]]) -> list[str]:
    """Returns the settings, other than method, API and sharing, in which the series differ."""
    rows = [(*_words(known[1]), run.document.workload, _policy(run, known[0], series)) for run, known in series]
    differ = [len(set(column)) > 1 for column in zip(*rows, strict=True)]
    return [", ".join(dict.fromkeys(w for w, d in zip(row, differ, strict=True) if d and w)) for row in rows]


def _words(setting: Setting) -> tuple[str, ...]:
    """Returns settings that appear nowhere else."""
    return tuple(setting.words(f.key) for f in FACETS if f.key not in ELSEWHERE)


def _policy(run: Run, sharing: str, series: Sequence[tuple[Run, Conditions]]) -> str:
    """Its policy, where several come to the same sharing."""
    alike = {other.document.policy for other, known in series if known[0] == sharing}
    return run.document.policy if len(alike) > 1 else ""


def _title(run: Run, sharing: str, words: str, order: Sequence[Path | None]) -> str:
    """order: where there is one of several experiments, or of an experiment and other files, each has a letter."""
    d = run.document
    name = f"{letter(order.index(experiment_folder(run)))}: " if len(order) > 1 else ""
    return name + (run.configuration or ", ".join(filter(None, (f"{d.method} {d.api} {sharing}", words))))


def _id(title: str, taken: set[str]) -> str:
    """[a-z0-9-]+, unique; it is then taken."""
    base = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:MAX_ID].strip("-") or "series"
    found, number = base, 1
    while found in taken:
        number += 1
        found = f"{base}-{number}"
    taken.add(found)
    return found
