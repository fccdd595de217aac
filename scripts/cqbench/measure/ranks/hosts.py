"""On which machine each rank runs: what --hosts says, a file of hosts, or Slurm's allocation."""

from __future__ import annotations

import os
import re
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

MAX_HOSTS = 10_000
NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?")
HERE = ""  # this machine, without a launcher's help


class BadHosts(ValueError):
    """The text says what is wrong and what is accepted, in one line."""


def parse(text: str, count: int) -> tuple[str, ...]:
    """'a,b:4' and 8 -> a, a, a, a, b, b, b, b: of each rank its machine. Machines without a number share what is left.

    '@FILE' has a machine on each line: 'a', 'a:4', or 'a slots=4' as mpirun takes it. Raises BadHosts.
    """
    asked = [_one(word) for word in (_lines(text[1:]) if text.startswith("@") else text.split(","))]
    names = [name for name, _ in asked]
    twice = next((name for name in names if names.count(name) > 1), "")
    if twice:
        raise BadHosts(f"'{text}' names {twice} twice: HOST:N is for several ranks on it")
    fixed = sum(number or 0 for _, number in asked)
    free = sum(number is None for _, number in asked)
    rest = count - fixed
    if rest < free or (not free and rest):
        raise BadHosts(f"'{text}' is for {f'at least {fixed + free}' if free else fixed} ranks, --ranks is {count}")
    shares = iter(rest // free + (i < rest % free) for i in range(free))
    return tuple(name for name, number in asked for _ in range(next(shares) if number is None else number))


def _lines(name: str) -> list[str]:
    try:
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadHosts(f"'@{name}' cannot be read: {getattr(error, 'strerror', None) or error}") from None
    found = [re.sub(r"\s+slots=", ":", line.partition("#")[0].strip()) for line in text.splitlines()]
    return [line for line in found if line]


def _one(word: str) -> tuple[str, int | None]:
    name, colon, number = word.strip().partition(":")
    fits = number.isascii() and number.isdigit() and 0 < len(number) < 6 and int(number) > 0
    if not NAME.fullmatch(name) or (colon and not fits):
        raise BadHosts(f"'{word}' is not HOST or HOST:N, such as a,b:4")
    return name, int(number) if colon else None


def of_slurm(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Machines of the allocation that this runs in, but for this one, where the server is, unless it is the only one.

    Empty outside of one. Raises BadHosts.
    """
    nodes = environment.get("SLURM_JOB_NODELIST", "")
    if not nodes:
        return ()
    try:
        command = ["scontrol", "show", "hostnames", nodes]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        raise BadHosts(f"Slurm's machines ({nodes}) are not known: scontrol cannot be run: {error}") from None
    found = done.stdout.split()
    if done.returncode or not found:
        raise BadHosts(f"Slurm's machines ({nodes}) are not known: scontrol: {done.stderr.strip() or 'no answer'}")
    here = socket.gethostname().partition(".")[0]
    others = [name for name in found if name.partition(".")[0] != here]
    return tuple(others or found)


def words(placed: Sequence[str]) -> str:
    """'a:4, b' of each rank's machine; 'this machine' where no name was given."""
    counts: dict[str, int] = {}
    for name in placed:
        counts[name] = counts.get(name, 0) + 1
    return ", ".join((name or "this machine") + (f":{n}" if n > 1 else "") for name, n in counts.items())
