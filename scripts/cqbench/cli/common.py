"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path

import click

from cqbench.experiment.order import MAX_SEED
from cqbench.formats import storage
from cqbench.measure.programs import RELEASE, ROOT
from cqbench.options import whole

PATH = click.Path(path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
BIN = click.option(
    "--bin",
    metavar="DIR",
    type=PATH,
    default=RELEASE,
    help="Folder of the programs; nothing is installed or built (default: build/release/bin, which is built).",
)
RESULTS = click.option(
    "--results", metavar="DIR", type=PATH, help="Parent of the folder of results (default results/)."
)
RESUME = click.option(
    "--resume", metavar="DIR", type=PATH, help="Folder of results to continue in; runs with a whole result are kept."
)
SEED = click.option("--seed", type=whole(0, MAX_SEED), help="Random seed (default: drawn and noted).")
PLAN = click.option("--plan", is_flag=True, help="Print what would be run, where and how long, and stop.")
BUILD = click.option(
    "--build",
    type=click.Choice(["release", "sid"]),
    default="release",
    show_default=True,
    help="Build of the programs; sid: gRPC 1.83 of Debian experimental, by newgrpc.sh.",
)


def new_folder(results: Path | None, prefix: str) -> Path:
    """Raises OSError."""
    return storage.new_folder(results or ROOT / "results", prefix)
