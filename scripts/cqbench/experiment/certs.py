"""Certificates for the time of an experiment: where flags say {certs}, a folder that is made before and gone after."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cqbench.experiment.spec import Experiment
from cqbench.formats.text import one_line
from cqbench.measure import group
from cqbench.measure.programs import SCRIPTS

PLACE = "{certs}"
FOLDER = "certs"  # in that of results
SCRIPT = SCRIPTS / "certs.sh"
FLAG = "--tls"
TIMEOUT_S = 60


class NoCertificates(RuntimeError):
    """They could not be made; the text is one line."""


def wanted(experiment: Experiment) -> bool:
    """True if any configuration's flags name the certificates."""
    return any(PLACE in flag for c in experiment.configurations for flag in (*c.client_flags, *c.server_flags))


@contextmanager
def certificates(experiment: Experiment, folder: Path) -> Iterator[str]:
    """Where they are, '' where none are wanted. Left over ones, of a run that was killed, are made anew.

    Raises NoCertificates, OSError.
    """
    if not wanted(experiment):
        yield ""
        return
    place = folder / FOLDER
    shutil.rmtree(place, ignore_errors=True)
    try:
        _make(place)
        yield str(place.resolve())
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _make(place: Path) -> None:
    try:
        done = group.ask([str(SCRIPT), str(place)], TIMEOUT_S)
    except (OSError, subprocess.SubprocessError) as error:
        raise NoCertificates(f"certificates cannot be made: {one_line(str(error))}") from None
    if done.returncode != 0:
        raise NoCertificates(f"certificates cannot be made: {one_line(done.stderr.strip(), 200)}")


def filled(words: Iterable[str], place: str) -> list[str]:
    """With the folder where they name it."""
    return [word.replace(PLACE, place) if place else word for word in words]


def tls_flags(words: Iterable[str]) -> list[str]:
    """Those of a command line that have to do with TLS, with their values."""
    found: list[str] = []
    of_value = False
    for word in words:
        of_value = word.startswith(FLAG) or (of_value and not word.startswith("--"))
        found += [word] if of_value else []
    return found
