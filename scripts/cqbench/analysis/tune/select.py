"""Which candidates of the catalogue are tried here; of the others, why not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cqbench.analysis.tune import catalogue as knobs
from cqbench.analysis.tune import workload as settings
from cqbench.analysis.tune.catalogue import RISKS, Candidate, Knob
from cqbench.analysis.tune.library import Library
from cqbench.analysis.tune.workload import Workload


class BadChoice(ValueError):
    """A flag's value that names nothing; one line."""


@dataclass(frozen=True)
class Wanted:
    """What the command line says of the catalogue. only: kinds; empty: all. exclude: names of knobs or candidates."""

    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    risk: str = "some"


def check(wanted: Wanted, catalogue: Sequence[Knob]) -> None:
    """Raises BadChoice."""
    known = {name for knob in catalogue for name in (knob.name, *(c.name for c in knobs.candidates(knob)))}
    for name in wanted.exclude:
        if name not in known:
            raise BadChoice(f"argument --exclude: '{name}' is not a knob: --list shows them")


def select(
    catalogue: Sequence[Knob],
    workload: Workload,
    library: Library,
    wanted: Wanted,
    refused: Callable[[Candidate], str] = lambda _: "",
) -> tuple[list[Candidate], dict[str, str]]:
    """In the catalogue's order; and by name why the others are left out. refused: what the programs say against one."""
    chosen: list[Candidate] = []
    left_out: dict[str, str] = {}
    for knob in catalogue:
        for candidate in knobs.candidates(knob):
            why = _why_not(candidate, workload, library, wanted) or refused(candidate)
            if why:
                left_out[candidate.name] = why
            else:
                chosen.append(candidate)
    return chosen, left_out


def _why_not(candidate: Candidate, workload: Workload, library: Library, wanted: Wanted) -> str:
    knob = candidate.knob
    if knob.name in wanted.exclude or candidate.name in wanted.exclude:
        return "--exclude"
    if wanted.only and knob.kind not in wanted.only and not knob.control:
        return f"a kind that --only does not name: {knob.kind}"
    if why := reader(knob, library):
        return why
    if RISKS.index(knob.risk) > RISKS.index("breaks" if wanted.risk == "all" else wanted.risk):
        return f"--risk {wanted.risk}: {knob.costs}"
    return settings.refusal(candidate, workload)


def reader(knob: Knob, library: Library) -> str:
    """Why setting it would say nothing here; '' where it would."""
    there = library.reads(knob)
    if knob.control:
        return "it has a reader here, although the catalogue says that none has" if there else ""
    if there:
        return ""
    if knob.kind == knobs.ALLOCATOR:
        return f"{knob.key} is not installed ({knob.source})"
    version = f"gRPC {library.version or 'of unknown version'}"
    if library.files and library.has(knob.key):
        return f"not for {version}, where it is so already or means something else"
    return f"{version} has no reader for it"
