"""Texts of other people's files on one printable line, and CPU lists."""

from __future__ import annotations

MAX_MESSAGE = 160


def one_line(text: str, limit: int = MAX_MESSAGE) -> str:
    """Printable and short: messages come from the network and go to a terminal."""
    clean = "".join(c if c.isprintable() else " " for c in text).strip()
    return clean if len(clean) <= limit else clean[: limit - 3] + "..."


def format_cpus(cpus: tuple[int, ...]) -> str:
    """(0, 1, 2, 8) -> '0-2,8', as taskset takes it."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs)
