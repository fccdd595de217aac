"""Cost profiles of cqbench cost as tables of a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from cqbench.analysis.cost import profile as model
from cqbench.analysis.cost.profile import Profile
from cqbench.formats.source import once, read_bytes
from cqbench.render.cost import text
from cqbench.render.report.model import Table
from cqbench.render.table import Line

HEAD = ("Median", "Spread", "Share")


def apart(paths: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """Those that are profiles, and the others. Raises BadDocument."""
    profiles: list[Path] = []
    others: list[Path] = []
    for path in paths:
        (profiles if path.is_file() and model.is_profile(read_bytes(path)) else others).append(path)
    once(profiles)
    return profiles, others


def tables(paths: Sequence[Path]) -> tuple[tuple[str, tuple[Table, ...]], ...]:
    """Returns the title and tables of each profile. Raises BadDocument."""
    return tuple((profile.title, _tables(profile)) for profile in map(model.load, paths))


def _tables(profile: Profile) -> tuple[Table, ...]:
    found = []
    for table in (t for side in profile.sides for t in text.tables(profile, side)):
        rows = (tuple(cell.text for cell in row) for row in table.rows if not isinstance(row, Line))
        found.append(Table((table.columns[0].title, *HEAD), tuple(rows)))
    return (*found, Table(("Remarks",), tuple((line,) for line in text.remarks(profile))))
