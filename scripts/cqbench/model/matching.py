"""Matches things to compare: the one engine behind verdict, compare and report.

Everything that was measured stands at one *place* of an axis: with a value of the axis, and with all else that must be
equal for two things to be compared. Places that are equal in all else are one *scenario*.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from cqbench.model.setting import FACETS, Setting

T = TypeVar("T")
R = TypeVar("R", bound=Hashable)


@dataclass(frozen=True)
class Place(Generic[T, R]):
    """order: of the value on the axis; the others are compared with the lowest. rest: all else that must be equal."""

    item: T
    value: str
    order: int
    rest: R


def scenarios(places: Iterable[Place[T, R]]) -> list[list[Place[T, R]]]:
    """In the order in which they first appear, each in the order of the axis."""
    found: dict[R, list[Place[T, R]]] = {}
    for place in places:
        found.setdefault(place.rest, []).append(place)
    return [sorted(of, key=lambda place: place.order) for of in found.values()]


def differing(settings: Iterable[Setting]) -> list[str]:
    """The keys of the facets in which they differ, in the order of FACETS."""
    there = [dict(setting.facts) for setting in settings]
    return [f.key for f in FACETS if len({facts.get(f.key) for facts in there}) > 1]


def without(parts: tuple[str, ...], axis: int) -> tuple[str, ...]:
    """The values of all other axes."""
    return (*parts[:axis], *parts[axis + 1 :])
