"""Why two sides are not compared."""

from __future__ import annotations

from collections.abc import Sequence

from cqbench.analysis.compare.points import Comparison
from cqbench.analysis.compare.sections import required
from cqbench.analysis.compare.sides import Side, counted
from cqbench.formats.offered import Load
from cqbench.render.compare import text


def why_not(comparison: Comparison, sides: Sequence[Side], anyway: bool) -> list[str]:
    """Why there is nothing to show, a line each; none when there is."""
    parts = comparison.parts
    refused = [d for part in parts for d in part.differences if required(d.facet) and not part.section.on_purpose]
    if refused and not anyway and any(part.section.points for part in parts):
        what = counted(len(refused), "setting")
        return [
            f"A and B cannot be compared: {what} must not differ and did; --anyway compares them all the same",
            *(text.described(difference) for difference in refused),
        ]
    if any(part.section.points for part in parts):
        return []
    kinds = [{_kind(place) for place in side.places} for side in sides]
    if len(sides) == 2 and not kinds[0] & kinds[1]:
        what = f"A is {min(kinds[0])}, B {min(kinds[1])}"
        return [f"A and B cannot be compared: {what}; their points have nothing in common"]
    first = [lone.title for part in parts for lone in part.section.only_before]
    second = [lone.title for part in parts for lone in part.section.only_after]
    shown = f": A has {first[0]}, B has {second[0]}, for example" if first and second else ""
    return [f"A and B have no point in common{shown}"]


def _kind(place: object) -> str:
    if not isinstance(place, Load):
        return "a result of another program"
    return "an open loop" if place.open else "a closed loop"
