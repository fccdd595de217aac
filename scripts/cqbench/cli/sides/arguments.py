"""The arguments of `cqbench compare`: sides, metrics. Raises Refused for invalid ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cqbench.analysis.compare import within
from cqbench.analysis.compare.sections import Section
from cqbench.analysis.compare.sides import Side
from cqbench.cli.sides.inputs import files_of, read_experiment, read_side
from cqbench.formats import asked, manifest
from cqbench.formats.source import BadDocument, common
from cqbench.formats.text import one_line
from cqbench.model.metric import GROUPS, METRICS, Metric
from cqbench.options import Refused


def metrics_of(words: str, known: Sequence[Metric]) -> list[Metric]:
    """'p99,cpu' -> the metrics of that name or group, in their usual order, each once. Raises Refused."""
    wanted = words.split(",")
    accepted = {"all", *(m.name for m in known), *(m.group for m in known), *GROUPS, *(m.name for m in METRICS)}
    for word in wanted:
        if word not in accepted:
            names, groups = (", ".join(dict.fromkeys(getattr(m, of) for m in known)) for of in ("name", "group"))
            raise Refused(
                f"argument --metric: '{word}' is not 'all' or a list of names ({names}) and groups ({groups})"
            )
    chosen = [m for m in known if "all" in wanted or m.name in wanted or m.group in wanted]
    if not chosen:
        raise Refused(
            f"argument --metric: '{words}' is in none of these results: {', '.join(m.name for m in known)} are"
        )
    return chosen


def read(name: str, path: str) -> Side:
    """name: of the argument. Raises Refused."""
    if not path:
        raise Refused(f"argument {name}: is empty: a result file or folder is accepted")
    try:
        return read_side(Path(path))
    except BadDocument as error:
        raise Refused(f"argument {name}: {error}") from None


def with_itself(paths: Sequence[str], relative: Mapping[str, object], anyway: bool) -> list[str]:
    """Returns a remark if A and B have a file in common, under any names: nothing changes there. relative: gates on
    a change, None for those not given; they would be inconclusive. Raises Refused.
    """
    if len(paths) != 2 or anyway:
        return []
    found = common(*([file for file, _ in files_of(Path(path))] for path in paths))
    if not found:
        return []
    both = f"A and B have {one_line(str(found))} in common"
    gate = next((flag for flag, value in relative.items() if value is not None), "")
    if gate:
        raise Refused(f"argument {gate}: {both}, so the gate would be open; --anyway compares them")
    return [f"{both}: what is compared with itself shows no change"]


def inside(path: str, axis: str | None, configurations: tuple[str, str] | None) -> tuple[Side, list[Section]]:
    """One experiment. Raises Refused."""
    flag = "--axis" if axis else "--configurations"
    try:
        side, found = read_experiment(Path(path))
        file = Path(path) / manifest.FILE
        if axis:
            sections = within.by_axis(manifest.load(file), side, found, axis)
        else:
            assert configurations
            sections = within.by_configurations(side, *configurations)
        return side, [replace(section, any_time=asked.load(file).sequential) for section in sections]
    except BadDocument as error:
        raise Refused(f"argument DIR: {error}") from None
    except within.NoSuch as error:
        raise Refused(f"argument {flag}: '{axis or ' '.join(configurations or ())}' is not {error}") from None
