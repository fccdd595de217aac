"""Which scenario of one side is which of the other, and what differs between the two.

A scenario is the same on both sides when it has the same name in an experiment; outside of experiments (and between the
scenarios of one name), when the facets by which the scenarios of a side differ from each other are the same. Facets in
which the sides as such differ are what is compared, or a reason not to compare: see required().
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from cqbench.analysis.compare.sides import Place, Scenario, Side, counted, merged
from cqbench.model.matching import Place as At
from cqbench.model.matching import differing
from cqbench.model.matching import scenarios as grouped
from cqbench.model.ratio import Sample
from cqbench.model.setting import BY_KEY, FACETS, About, Facet

# Other work, another machine, another window: other figures, whatever was changed. A debug build is no version.
MUST_AGREE = (About.WORK, About.PLACE, About.WINDOW)
BUILD_TYPES = ("library_build_type", "server.build_type")
# If nothing is reported for one of these, nothing was set. For others it is unknown: foreign servers report less.
SILENCE_IS_NONE = (About.WORK, About.CLIENT, About.CONNECTIONS)
UNKNOWN_TOO = ("messages", "stub")
NOT_KNOWN = "surroundings"  # its text: of runs whose manifest cannot be used
TITLE = ("workload", "method", "api", "connections", "messages", "stub", "serializer", "loop")
USUAL = ("reused", "generated", "closed")  # not worth a word in a title


@dataclass(frozen=True)
class Difference:
    """A facet with another value before than after. scenarios: where; empty: everywhere."""

    facet: Facet
    before: str
    after: str
    scenarios: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pair:
    """A scenario that both sides have."""

    title: str
    before: Scenario
    after: Scenario


@dataclass(frozen=True, eq=False)
class Point:
    """One place of a scenario, with whole runs on both sides."""

    scenario: str
    place: Place
    before: Sequence[Sample]
    after: Sequence[Sample]

    @property
    def title(self) -> str:
        return ", ".join(filter(None, (self.scenario, self.place.label)))


@dataclass(frozen=True)
class Lone:
    """A place that only one side has whole runs of. why: what became of the other's; '' when it has none. samples: its
    own."""

    title: str
    why: str
    samples: Sequence[Sample]


@dataclass(frozen=True)
class Section:
    """Two things that are compared, in all their scenarios. before, after: their names."""

    before: str
    after: str
    pairs: tuple[Pair, ...]
    only_before: tuple[Lone, ...] = ()
    only_after: tuple[Lone, ...] = ()
    on_purpose: bool = False  # what differs was asked for by name
    any_time: bool = False  # both sides were measured until a verdict was decided
    points: tuple[Point, ...] = field(init=False)

    def __post_init__(self) -> None:
        points = [
            Point(pair.title, place, pair.before.points[place], pair.after.points[place])
            for pair in self.pairs
            for place in sorted({*pair.before.points} & {*pair.after.points})
        ]
        object.__setattr__(self, "points", tuple(points))


def required(facet: Facet) -> bool:
    """True if sides that differ in the facet are compared with --anyway only."""
    return facet.about in MUST_AGREE or facet.key in BUILD_TYPES


def of_sides(before: Side, after: Side) -> Section:
    """A and B."""
    named = any(scenario.configuration for scenario in before.scenarios) and any(
        scenario.configuration for scenario in after.scenarios
    )
    return section("before", "after", before.scenarios, after.scenarios, named)


def section(
    first: str,
    second: str,
    before: Sequence[Scenario],
    after: Sequence[Scenario],
    named: bool,
    on_purpose: bool = False,
) -> Section:
    """named: scenarios belong together by the names of their configurations, first of all."""
    keys = _identity(before, named) | _identity(after, named)

    def rest(scenario: Scenario) -> Key:
        facts = tuple(scenario.setting.get(facet.key) for facet in FACETS if facet.key in keys)
        return scenario.configuration if named else "", facts

    return matched(first, second, before, after, rest, lambda one, other: _title(one, other, keys, named), on_purpose)


def matched(
    first: str,
    second: str,
    before: Sequence[Scenario],
    after: Sequence[Scenario],
    rest: Callable[[Scenario], Hashable],
    title: Callable[[Scenario, Scenario], str],
    on_purpose: bool = False,
) -> Section:
    """rest: what must be equal for two scenarios to be compared. title: of what is compared."""
    pairs: list[Pair] = []
    lone: tuple[list[Lone], list[Lone]] = [], []
    sides = (before, after)
    for of in grouped(
        At(scenario, "", i, rest(scenario)) for i, scenarios in enumerate(sides) for scenario in scenarios
    ):
        one, other = (_one([place.item for place in of if place.order == i]) for i in (0, 1))
        if one and other:
            pairs.append(Pair(title(one, other), one, other))
        for i, (mine, its) in enumerate(((one, other), (other, one))):
            if mine:
                lone[i].extend(_lone(title(mine, its or mine), mine, its))
    return Section(first, second, tuple(pairs), tuple(lone[0]), tuple(lone[1]), on_purpose)


def _one(scenarios: Sequence[Scenario]) -> Scenario | None:
    """Configurations that are alike in everything are repetitions of each other where names do not count."""
    if len(scenarios) < 2:
        return scenarios[0] if scenarios else None
    return merged(Scenario("", scenarios[0].setting, c.points, c.left_out, c.warnings) for c in scenarios)[0]


Key = tuple[str, tuple[str, ...]]


def _identity(scenarios: Iterable[Scenario], named: bool) -> set[str]:
    """The facets by which the scenarios of a side differ from each other."""
    groups: dict[str, list[Scenario]] = {}
    for scenario in scenarios:
        groups.setdefault(scenario.configuration if named else "", []).append(scenario)
    return {key for of in groups.values() for key in differing(scenario.setting for scenario in of) if key != NOT_KNOWN}


def _title(one: Scenario, other: Scenario, keys: set[str], named: bool) -> str:
    """Returns the settings that both sides share and that distinguish this scenario from others."""
    same = [
        text for key in TITLE if (text := one.setting.get(key)) == other.setting.get(key) and text and text not in USUAL
    ]
    rest = [
        f"{facet.title} {one.setting.get(facet.key) or 'none'}"
        for facet in FACETS
        if facet.key in keys and facet.key not in TITLE
    ]
    configuration = one.configuration if named or one.configuration == other.configuration else ""
    return ", ".join(filter(None, (" ".join(filter(None, (configuration, "/".join(same)))), *rest)))


def name_of(scenario: Scenario, scenarios: Iterable[Scenario]) -> str:
    """Its title, with what tells it from the others of these."""
    return _title(scenario, scenario, _identity(scenarios, True), True)


def title_of(one: Scenario, other: Scenario, scenarios: Iterable[Scenario], axis: Facet) -> str:
    """Returns the title of a pair that differs in the axis only, among these scenarios."""
    return _title(one, other, _identity(scenarios, False) - {axis.key}, False)


def _lone(title: str, scenario: Scenario, other: Scenario | None) -> Iterator[Lone]:
    for place in sorted(scenario.points):
        if other is None or place not in other.points:
            reasons = other.left_out.get(place, ()) if other else ()
            why = f"{counted(len(reasons), 'run')} not used: {reasons[0]}" if reasons else ""
            yield Lone(", ".join(filter(None, (title, place.label))), why, scenario.points[place])


def differences(section: Section) -> tuple[list[Difference], list[str]]:
    """Returns the differences between the sides, and the facets that must agree but are unknown on a side."""
    where: dict[tuple[str, str, str], list[str]] = {}
    silent: dict[str, None] = {}
    for pair in section.pairs:
        for facet in pair.before.setting.differences(pair.after.setting):
            texts = [scenario.setting.get(facet.key) for scenario in (pair.before, pair.after)]
            if all(texts) or _silence_is_none(facet, pair):
                first, second = (text or "none" for text in texts)
                where.setdefault((facet.key, first, second), []).append(pair.title)
            elif required(facet):
                silent["servers" if facet.key.startswith("server.") else facet.title] = None
    ordered = sorted(where.items(), key=lambda item: [facet.key for facet in FACETS].index(item[0][0]))
    found = [
        Difference(BY_KEY[key], first, second, () if len(scenarios) == len(section.pairs) else tuple(scenarios))
        for (key, first, second), scenarios in ordered
    ]
    return found, list(silent)


def _silence_is_none(facet: Facet, pair: Pair) -> bool:
    if facet.key in ("network", "environment"):
        return not any(scenario.setting.get(NOT_KNOWN) for scenario in (pair.before, pair.after))
    if facet.key == "server.service":
        return all(scenario.setting.get("server.layout") for scenario in (pair.before, pair.after))
    return facet.about in SILENCE_IS_NONE and facet.key not in UNKNOWN_TOO
