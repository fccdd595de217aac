"""Folded stacks, "side;thread;main;...;function COUNT", as flame-graph tools read them (flamegraph.pl, speedscope).

A stack is of the longer runs' samples less the shorter runs', as nanoseconds of one call. Functions that are hardly
ever seen are in the count of who called them, so that the file stays small and what start and end took, which differs
by chance between two runs, does not show as a forest of twigs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from cqbench.analysis.cost.libraries import qualified
from cqbench.formats.text import one_line

MAX_NAME = 80  # characters
MAX_DEPTH = 127  # as many as perf gives
LEAST_SHARE = 0.001  # of an end's samples: what is below goes to its caller. At most a thousand leaves are left
CUT = "[cut]"  # the outermost functions are missing
UNKNOWN = "[unknown]"
# Where threads begin: a stack without one of them was cut.
ROOTS = ("clone", "clone3", "__clone", "__clone3", "start_thread", "_start", "_dl_start", "_dl_start_user")
THREAD_NUMBERS = re.compile(r"\d+")
OPERATOR = re.compile(r"\boperator(?:\(\)|->\*?|<=>|<<=?|>>=?|[<>]=?)")
HIDDEN = str.maketrans("()<>", "\ue000\ue001\ue002\ue003")  # of operators: no brackets
SHOWN = {new: old for old, new in HIDDEN.items()}


def line(thread: str, frames: Sequence[tuple[str, str]]) -> str:
    """frames: names and paths of objects, the outermost first. Threads of a pool have one name."""
    names = [short(name, path) for name, path in frames[:MAX_DEPTH]]
    whole = [name for name, _ in frames[:3] if name in ROOTS] or any(name.startswith("ret_from_fork") for name in names)
    return ";".join([_safe(THREAD_NUMBERS.sub("N", thread)), *([] if whole else [CUT]), *names])


def short(name: str, path: str) -> str:
    """Without return type, arguments and template arguments; the library's file for a function without a name."""
    if name == UNKNOWN:
        return UNKNOWN if path == UNKNOWN else _safe(f"[{PurePath(path.strip('[]')).name}]")
    return _safe(_without_arguments(qualified(name)))


def _without_arguments(name: str) -> str:
    """'std::vector<A, B>::push(A&) const' -> 'std::vector::push'. Operators keep what they are called."""
    name = OPERATOR.sub(lambda found: found[0].translate(HIDDEN), name.replace("(anonymous namespace)", "{anonymous}"))
    kept, depth = [], 0
    for character in name:
        depth += character in "<("
        if depth == 0:
            kept.append(character)
        depth -= character in ">)"
    return "".join(kept).removesuffix(" const").translate(SHOWN)


def _safe(name: str) -> str:
    """A semicolon parts functions, and the last space the count."""
    return one_line(name, MAX_NAME).replace(";", ":").replace(" ", "_")


@dataclass
class _Node:
    own: float = 0.0
    below: dict[str, _Node] = field(default_factory=dict)

    def total(self) -> float:
        return self.own + sum(node.total() for node in self.below.values())


def folded(side: str, less: Iterable[Counter[str]], more: Iterable[Counter[str]], each: float) -> str:
    """less, more: of every repetition's two runs. each: what one sample is worth. Lines, '' for no samples."""
    root = _Node()
    for sign, runs in ((1, more), (-1, less)):
        for counts in runs:
            _add(root, counts, sign * each)
    whole = root.total()
    if whole <= 0:
        return ""
    _prune(root, LEAST_SHARE * whole)
    return "".join(f"{side}{path} {round(value)}\n" for path, value in _leaves(root, "") if round(value) > 0)


def _add(root: _Node, counts: Mapping[str, int], each: float) -> None:
    for stack, samples in counts.items():
        node = root
        for name in stack.split(";"):
            node = node.below.setdefault(name, _Node())
        node.own += samples * each


def _prune(node: _Node, least: float) -> None:
    """Adds small or negative values to the caller."""
    for name, child in list(node.below.items()):
        _prune(child, least)
        if child.total() < least:
            node.own += child.total()
            del node.below[name]


def _leaves(node: _Node, path: str) -> Iterator[tuple[str, float]]:
    if path and node.own > 0:
        yield path, node.own
    for name, child in node.below.items():
        yield from _leaves(child, f"{path};{name}")
