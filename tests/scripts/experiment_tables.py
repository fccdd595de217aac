"""The tables of scripts/experiments/README.md, each made from a stored run. As a program it prints them all.

The stored runs have no histograms and no parts of windows, but for the calls in each part that the table of `faults` is
made of: those take nine tenths of the room and are in no table.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tarfile
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from cqbench import cli
from cqbench.experiment import spec
from cqbench.experiment.spec import Experiment
from cqbench.formats.figures import THROUGHPUT
from cqbench.render.experiment import faults, tables
from cqbench.render.experiment.cells import Numbered, cells, number
from cqbench.render.experiment.tables import BARS, CODECS, COMPRESSED, ENCRYPTED, KINDS, OPERATIONS, STREAMS, Kind
from cqbench.render.table import WIDTH, Line
from cqbench.render.text import render, wrapped
from cqbench.run import end, journal

STORED = Path(__file__).parent / "data/documents.tar.xz"
Results = dict[str, list[Numbered]]


def unpack(folder: Path) -> None:
    with tarfile.open(STORED) as stored:
        stored.extractall(folder)


def results(folder: Path) -> tuple[Experiment, Results]:
    experiment = spec.make(journal.begun(folder), str(folder))
    begun = journal.Journal.load(folder, experiment)
    return experiment, end.by_configuration(experiment, end.read_results(begun))


def of_kind(kind: Kind, last_load_only: bool, folder: Path) -> str:
    """last_load_only: at the most calls in flight, where the others are not stored."""
    experiment, found = results(folder)
    return render(tables.blocks(kind, cells(found, experiment.loads[-1:] if last_load_only else experiment.loads)))


def of_faults(folder: Path) -> str:
    """Without the empty lines between its groups."""
    experiment = spec.make(journal.begun(folder), str(folder))
    measured = end.read_results(journal.Journal.load(folder, experiment))
    names = [v.name for v in experiment.configurations]
    return re.sub("\n\n+", "\n", render(faults.blocks(measured, experiment.loads, names)))


def of_allocations(folder: Path) -> str:
    """As compare prints it, without its head and its remarks."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert cli.main(["compare", str(folder), "--axis", "grpc", "--format", "benchresult"]) == 0
    lines = printed.getvalue().splitlines()
    first = next(number for number, line in enumerate(lines) if line.split()[:2] == ["Title", "Before"])
    last = next(number for number, line in enumerate(lines) if line.lstrip().startswith("GrpcVersion"))
    return "\n".join(lines[first : last + 1])


def of_throughput(folder: Path) -> str:
    """Calls per second, medians: a configuration a line, a number of calls in flight a column."""
    experiment, found = results(folder)
    lines = [("in flight", [f"{load.number:.0f}" for load in experiment.loads])]
    for name in found:
        measured = cells({name: found[name]}, experiment.loads)
        lines.append((name, [number(cell.middle(THROUGHPUT), 0) for cell in measured]))
    return "\n".join(f"{name:28}" + "".join(f"{text:>8}" for text in texts) for name, texts in lines)


# Where the document says "from <name>": what makes its table of the folder of that name.
TABLES: dict[str, Callable[[Path], str]] = {
    **{name: partial(of_kind, CODECS, False) for name in ("codec", "codec-48")},
    **{name: partial(of_kind, STREAMS, False) for name in ("chunks", "chunks-paced")},
    **{name: partial(of_kind, BARS, False) for name in ("lineup", "lineup-full")},
    "allocations": of_allocations,
    "transcoding": partial(of_kind, OPERATIONS, False),
    "transcoding-connections": of_throughput,
    "tls": partial(of_kind, ENCRYPTED, True),
    "compression": partial(of_kind, COMPRESSED, True),
    "faults": of_faults,
}


def table(name: str, folder: Path) -> str:
    """Without legends, which the document has once, and without what is empty at the ends."""
    text = TABLES[name](folder / name).strip("\n")
    for legend in (*(kind.legend for kind in (*tables.ALONE, *KINDS)), faults.LEGEND):
        text = text.partition(wrapped(Line(legend, width=WIDTH))[0])[0]
    return text.strip("\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        unpack(Path(temporary))
        for name in sys.argv[1:] or TABLES:
            print(f"<!-- from {name} -->\n```\n{table(name, Path(temporary))}\n```\n")
