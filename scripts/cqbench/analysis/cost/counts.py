"""Counts of one run of a program, and the counts that one more call adds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from cqbench.formats.text import one_line

TOTAL, CPU, SYSCALL, THREAD, LIBRARY, FUNCTION = "total", "cpu", "syscall", "thread", "library", "function"
KINDS = (TOTAL, CPU, SYSCALL, THREAD, LIBRARY, FUNCTION)
MAX_NAME = 120  # characters: templates have names of thousands
# Abseil's releases have a namespace of their own; the same function is to have the same name in two of them.
RELEASE = re.compile(r"\b(?:lts_\d{8}|debian\d+)::")


class Key(NamedTuple):
    """Identifies a count. library: that of a function, '' for other counts."""

    kind: str
    name: str
    library: str = ""


Counts: TypeAlias = Counter[Key]


class Run(NamedTuple):
    """calls: that it made, exactly. supervision: what the clock and not a call asked for. stacks: in samples."""

    calls: int
    counts: Counts
    supervision: Counts
    stacks: Counter[str] = Counter()


@dataclass
class Seen:
    """In a run: by threads that serve calls, by the main one, and by those that follow the clock."""

    counts: Counts = field(default_factory=Counter)
    main: Counts = field(default_factory=Counter)
    clock: Counts = field(default_factory=Counter)
    stacks: Counter[str] = field(default_factory=Counter)  # as of stacks.py, in samples
    main_stacks: Counter[str] = field(default_factory=Counter)


def total(name: str) -> Key:
    return Key(TOTAL, name)


def function(name: str, library: str) -> Key:
    """The name on a line of its own; its beginning where it is too long."""
    return Key(FUNCTION, one_line(RELEASE.sub("", name), MAX_NAME), one_line(library, MAX_NAME))


def slope(less: Run, more: Run, part: str = "counts") -> dict[Key, float]:
    """Per call: what start, connection and end took is in both. part: or 'supervision'. more has more calls."""
    calls = more.calls - less.calls
    one: Mapping[Key, int] = getattr(less, part)
    other: Mapping[Key, int] = getattr(more, part)
    return {key: (other.get(key, 0) - one.get(key, 0)) / calls for key in {**one, **other}}


def added(counts: Iterable[Counts]) -> Counts:
    """All of them together."""
    whole: Counts = Counter()
    for one in counts:
        whole.update(one)
    return whole
