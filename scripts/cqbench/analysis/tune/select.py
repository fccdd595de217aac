"""Which candidates of the catalogue are tried here; of the others, why not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cqbench.analysis.tune import catalogue, workloads
from cqbench.analysis.tune.catalogue import RISKS, Candidate, Setting
from cqbench.analysis.tune.library import Library
from cqbench.analysis.tune.workloads import Workload


class BadChoice(ValueError):
    """A flag's value that names nothing; one line."""


@dataclass(frozen=True)
class Wanted:
    """The selection from the catalogue by the command line. only: kinds; empty: all. exclude: names of settings,
    candidates.
    """

    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    risk: str = "some"


def check(wanted: Wanted, every: Sequence[Setting]) -> None:
    """Raises BadChoice."""
    known = {name for setting in every for name in (setting.name, *(c.name for c in catalogue.candidates(setting)))}
    for name in wanted.exclude:
        if name not in known:
            raise BadChoice(f"argument --exclude: '{name}' is not a setting: --list shows them")


def select(
    every: Sequence[Setting],
    workload: Workload,
    library: Library,
    wanted: Wanted,
    refused: Callable[[Candidate], str] = lambda _: "",
) -> tuple[list[Candidate], dict[str, str]]:
    """In the catalogue's order; and by name why the others are left out. refused: what the programs say against one."""
    chosen: list[Candidate] = []
    left_out: dict[str, str] = {}
    for setting in every:
        for candidate in catalogue.candidates(setting):
            why = _why_not(candidate, workload, library, wanted) or refused(candidate)
            if why:
                left_out[candidate.name] = why
            else:
                chosen.append(candidate)
    return chosen, left_out


def _why_not(candidate: Candidate, workload: Workload, library: Library, wanted: Wanted) -> str:
    setting = candidate.setting
    if setting.name in wanted.exclude or candidate.name in wanted.exclude:
        return "--exclude"
    if wanted.only and setting.kind not in wanted.only and not setting.control:
        return f"a kind that --only does not name: {setting.kind}"
    if why := reader(setting, library):
        return why
    if RISKS.index(setting.risk) > RISKS.index("breaks" if wanted.risk == "all" else wanted.risk):
        return f"--risk {wanted.risk}: {setting.costs}"
    return workloads.refusal(candidate, workload)


def reader(setting: Setting, library: Library) -> str:
    """Why setting it would say nothing here; '' where it would."""
    there = library.reads(setting)
    if setting.control:
        return "it has a reader here, although the catalogue says that none has" if there else ""
    if there:
        return ""
    if setting.kind == catalogue.ALLOCATOR:
        return f"{setting.key} is not installed ({setting.source})"
    version = f"gRPC {library.version or 'of unknown version'}"
    if library.files and library.has(setting.key):
        return f"not for {version}, where it is so already or means something else"
    return f"{version} has no reader for it"
