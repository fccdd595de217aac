"""Comparisons inside one experiment: the values of an axis, or two sets of configurations, scenario by scenario.

Their repetitions alternated within blocks, so they are compared in pairs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from cqbench.analysis.compare.sections import Section, matched, section, title_of
from cqbench.analysis.compare.sides import Scenario, Side, scenario_of
from cqbench.formats.manifest import Manifest
from cqbench.formats.runs import Run
from cqbench.model.series import load_series
from cqbench.model.setting import FACETS, SHARED, Facet

SHOWN = 12  # names in a message


class NoSuch(ValueError):
    """An axis or a configuration that is not there; says which are."""


def by_axis(told: Manifest, side: Side, found: Sequence[Run], name: str) -> list[Section]:
    """The first value of the axis against each of the others. Raises NoSuch."""
    axes = [axis.name for axis in told.axes]
    if name in axes:
        return _of_axis(side.scenarios, list(told.placements), axes.index(name), len(axes))
    facet = next((facet for facet in FACETS if name in (facet.key, facet.title)), None)
    if facet:
        sections = _of_facet([scenario_of(series) for series in load_series(found)], facet)
        if sections:
            return sections
    varied = [f.key for f in FACETS if len({scenario.setting.get(f.key) for scenario in side.scenarios}) > 1]
    raise NoSuch(f"an axis of {side.path}, which has {_list(axes)}, nor a setting that varies in it: {_list(varied)}")


def _of_axis(scenarios: Iterable[Scenario], names: Sequence[str], place: int, axes: int) -> list[Section]:
    """names: of all configurations, in the experiment's order, which is that of the values."""
    by_value: dict[str, list[Scenario]] = {_parts(name)[place]: [] for name in names if len(_parts(name)) == axes}
    for scenario in scenarios:
        parts = _parts(scenario.configuration)
        if len(parts) == axes:
            rest = ".".join(parts[:place] + parts[place + 1 :])
            by_value.setdefault(parts[place], []).append(replace(scenario, configuration=rest))
    there = [(value, of) for value, of in by_value.items() if of]
    if len(there) < 2:
        raise NoSuch("an axis of which two values were measured")
    (first, before), *others = there
    return [section(first, value, before, of, named=True, on_purpose=True) for value, of in others]


def _parts(configuration: str) -> list[str]:
    return configuration.split(".")


def _of_facet(scenarios: Sequence[Scenario], facet: Facet) -> list[Section]:
    """Scenarios that differ in nothing else belong together."""
    values = list(dict.fromkeys(scenario.setting.get(facet.key) or "none" for scenario in scenarios))
    values.sort(key=lambda value: value != SHARED)
    of = {value: [s for s in scenarios if (s.setting.get(facet.key) or "none") == value] for value in values}
    found = [
        matched(
            values[0],
            value,
            of[values[0]],
            of[value],
            lambda scenario: scenario.setting.without([facet.key]),
            lambda one, other: title_of(one, other, scenarios, facet),
            on_purpose=True,
        )
        for value in values[1:]
    ]
    return [replace(section, only_before=(), only_after=()) for section in found if section.pairs]


def by_configurations(side: Side, first: str, second: str) -> list[Section]:
    """Names, beginnings of names or patterns with * and ?: what the * stand for says which belong together. Raises
    NoSuch.
    """
    before, after = (_chosen(side, pattern) for pattern in (first, second))
    if first == second:
        raise NoSuch("of two different sets of configurations")
    found = section(first, second, before, after, named=True, on_purpose=True)
    if not found.pairs:
        raise NoSuch(f"of configurations with a part in common: {_list(c.configuration for c in before)} and "
                     f"{_list(c.configuration for c in after)} have none")  # fmt: skip
    return [found]


def _chosen(side: Side, pattern: str) -> list[Scenario]:
    """Each called by what the pattern leaves open."""
    names = {scenario.configuration for scenario in side.scenarios}
    literal = re.escape(pattern).replace(r"\*", "(.*)").replace(r"\?", "(.)")
    open_end = "" if pattern in names or "*" in pattern or "?" in pattern else "(.*)"
    found = []
    for scenario in side.scenarios:
        match = re.fullmatch(literal + open_end, scenario.configuration)
        if match:
            found.append(
                replace(scenario, configuration=".".join(g.strip(".") for g in match.groups() if g.strip(".")))
            )
    if not found:
        raise NoSuch(f"a configuration of {side.path}, which has {_list(sorted(names))}")
    return found


def _list(names: Iterable[str]) -> str:
    found = list(names)
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return (", ".join(found[:SHOWN]) or "none") + more
