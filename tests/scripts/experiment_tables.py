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
from pathlib import Path

from cqbench import cli
from cqbench.experiment import spec
from cqbench.experiment.spec import Experiment
from cqbench.run import bars, codecs, compressed, encrypted, end, faulted, manifest, operations, streams
from cqbench.run.cells import Numbered

STORED = Path(__file__).parent / "data/documents.tar.xz"
Results = dict[str, list[Numbered]]


def unpack(folder: Path) -> None:
    with tarfile.open(STORED) as stored:
        stored.extractall(folder)


def results(folder: Path) -> tuple[Experiment, Results]:
    experiment = spec.make(manifest.begun(folder), str(folder))
    begun = manifest.Manifest.load(folder, experiment)
    return experiment, end.by_variant(experiment, end.read_results(begun))


def of_codecs(folder: Path) -> str:
    experiment, found = results(folder)
    return codecs.render(found, experiment.loads)


def of_streams(folder: Path) -> str:
    experiment, found = results(folder)
    return streams.render(found, experiment.loads)


def of_servers(folder: Path) -> str:
    _, found = results(folder)
    return bars.render(bars.rows({name: [document for _, document in of] for name, of in found.items()}))


def of_operations(folder: Path) -> str:
    experiment, found = results(folder)
    return operations.render(found, experiment.loads)


def of_encrypted(folder: Path) -> str:
    """At the most calls in flight; the others are not stored."""
    experiment, found = results(folder)
    return encrypted.render(found, experiment.loads[-1:])


def of_compressed(folder: Path) -> str:
    """At the most calls in flight; the others are not stored."""
    experiment, found = results(folder)
    return compressed.render(found, experiment.loads[-1:])


def of_faults(folder: Path) -> str:
    """Without the empty lines between its groups."""
    experiment = spec.make(manifest.begun(folder), str(folder))
    measured = end.read_results(manifest.Manifest.load(folder, experiment))
    return re.sub("\n\n+", "\n", faulted.render(measured, experiment.loads, [v.name for v in experiment.variants]))


def of_allocations(folder: Path) -> str:
    """As compare prints it, without its head and its remarks."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert cli.main(["compare", str(folder), "--axis", "grpc", "--format", "benchresult"]) == 0
    lines = printed.getvalue().splitlines()
    first = next(number for number, line in enumerate(lines) if line.split()[:2] == ["Title", "Before"])
    last = next(number for number, line in enumerate(lines) if line.lstrip().startswith("GrpcVersion"))
    return "\n".join(lines[first : last + 1])


# Where the document says "from <name>": what makes its table of the folder of that name.
TABLES: dict[str, Callable[[Path], str]] = {
    "codec": of_codecs,
    "codec-48": of_codecs,
    "chunks": of_streams,
    "chunks-paced": of_streams,
    "lineup": of_servers,
    "lineup-full": of_servers,
    "allocations": of_allocations,
    "transcoding": of_operations,
    "tls": of_encrypted,
    "compression": of_compressed,
    "faults": of_faults,
}


def table(name: str, folder: Path) -> str:
    """Without legends, which the document has once, and without what is empty at the ends."""
    text = TABLES[name](folder / name).strip("\n")
    for of in (codecs, streams, bars, operations, encrypted, compressed, faulted):
        text = text.partition(of.LEGEND.strip())[0]
    return text.strip("\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        unpack(Path(temporary))
        for name in sys.argv[1:] or TABLES:
            print(f"<!-- from {name} -->\n```\n{table(name, Path(temporary))}\n```\n")
