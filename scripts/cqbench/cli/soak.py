"""cqbench soak: everything in random order for hours, and whether memory, descriptors, threads or latencies drift."""

from __future__ import annotations

from pathlib import Path

import click

from cqbench.cli import common
from cqbench.experiment.order import draw_seed
from cqbench.formats import storage
from cqbench.measure.processes import Interrupt, ServerFailed
from cqbench.measure.programs import CLIENT, SERVER, Programs
from cqbench.measure.session import say
from cqbench.options import Refused, number
from cqbench.render import soak as text
from cqbench.run.soak.session import Soak


@click.command()
@click.option(
    "--hours",
    type=number(0.001, 1000, "a number from 0.001 to 1000"),
    default=24.0,
    show_default=True,
    help="Duration in hours; the round that has begun is ended.",
)
@common.SEED
@common.RESULTS
@common.BIN
def command(hours: float, seed: int | None, results: Path | None, bin: Path) -> int:
    """Run all methods, channel policies and APIs in random order against four servers that live through it, one of each
    API, and one that is killed and started again in the midst of calls.

    After each round: resident memory, descriptors and threads of every server, and latencies and memory of a client
    that always does the same. Ends with how much each of them drifted; soak.json has the values.

    Exit status: 0; 1 something failed or grew by more than 1 % for certain; 2 usage; 130 interrupted.
    """
    if why := Programs(bin).refusal(SERVER, CLIENT):
        raise Refused(why)
    interrupt = Interrupt()
    drawn = draw_seed() if seed is None else seed
    folder = common.new_folder(results, "soak-")
    say(f"{hours:g} h, seed {drawn}: {folder}")
    soak = Soak(bin, folder, drawn, interrupt)
    failed = False
    try:
        soak.run(hours * 3600)
    except ServerFailed as error:
        soak.record.failures.append(str(error))
        failed = True
    record = soak.record
    partial = bool(interrupt.signum) or failed
    about = {"started": storage.now(), "hours": hours, "seed": drawn, "partial": partial, **record.as_json()}
    storage.write_json(folder / "soak.json", about)
    click.echo(text.render(record), nl=False)
    if partial:
        click.echo("PARTIAL: it did not run to its end.")
    grown = text.grown(record)
    if grown:
        click.echo(f"GROWS: {', '.join(grown)}")
    return interrupt.exit_code or (1 if record.failures or grown else 0)
