"""Texts of other people's files on one printable line, and CPU lists."""

from __future__ import annotations

import json
import re
from typing import Any

MAX_MESSAGE = 160
MAX_CPU = 65535


def one_line(text: str, limit: int = MAX_MESSAGE) -> str:
    """Printable and short: messages come from the network and go to a terminal."""
    clean = "".join(c if c.isprintable() else " " for c in text).strip()
    return clean if len(clean) <= limit else clean[: limit - 3] + "..."


def show(value: Any) -> str:
    """A value of a file in a message."""
    return one_line(json.dumps(value, default=str, ensure_ascii=False), 80)


def percent_of(value: Any) -> float:
    """5.0 of '5%', from 1 to 100. The sign is needed: a bare 0.05 could be read both ways. Raises ValueError."""
    if not isinstance(value, str) or not value.endswith("%") or not 1 <= (found := float(value[:-1])) <= 100:
        raise ValueError(value)
    return found


def parse_cpus(text: str) -> tuple[int, ...]:
    """'0-2,8' -> (0, 1, 2, 8). Raises ValueError."""
    cpus: set[int] = set()
    for part in text.replace(" ", "").strip().split(","):
        match = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?", part, re.ASCII)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last or last > MAX_CPU:
            raise ValueError("a list of CPUs such as 0-3,8")
        cpus.update(range(first, last + 1))
    return tuple(sorted(cpus))


def format_cpus(cpus: tuple[int, ...]) -> str:
    """(0, 1, 2, 8) -> '0-2,8', as taskset takes it."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs)
