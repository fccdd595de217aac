"""The question of an experiment, from which analyses name their scenarios."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cqbench.formats import manifest
from cqbench.formats.manifest import Manifest
from cqbench.formats.source import BadDocument
from cqbench.formats.text import one_line, percent_of

SETS = {  # key of a value in the experiment's file: how it is called next to what it sets
    "client_flags": "",
    "server_flags": "server: ",
    "client_env": "environment: ",
    "server_env": "server's environment: ",
    "build": "build: ",
    "client_build": "client's build: ",
    "server_build": "server's build: ",
}


@dataclass(frozen=True)
class Asked:
    """axes: name and its values in the order of the file; empty where the configurations are a plain list."""

    question: str = ""
    axes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    configurations: tuple[str, ...] = ()  # of a plain list
    notes: tuple[str, ...] = ()
    margin: float | None = None  # a ratio; None: the usual one
    sequential: bool = False  # measuring went on until it was decided, or a budget was spent
    seconds: float | None = None  # that all runs took; None: not known
    runs: int = 0
    repetitions: int = 0
    flags: Mapping[tuple[str, str], str] = field(default_factory=dict)  # (axis, value) -> '--api cq'; '' axis: a list's

    @property
    def repetition_seconds(self) -> float | None:
        """How long a repetition took, on average."""
        return self.seconds / self.repetitions if self.seconds else None

    @property
    def run_seconds(self) -> float | None:
        """How long a run took, on average."""
        return self.seconds / self.runs if self.seconds else None

    def parts(self, configuration: str) -> tuple[str, ...] | None:
        """The configuration's value of each axis; None where it is no combination of them. Values have no dots."""
        found = tuple(configuration.split("."))
        fits = len(found) == len(self.axes)
        return found if fits and all(p in values for p, (_, values) in zip(found, self.axes, strict=True)) else None


def load(path: Path) -> Asked:
    """Nothing where there is no manifest, or none that can be used: surroundings.py says what is wrong with that."""
    try:
        told = manifest.load(path)
    except BadDocument:
        return Asked()
    axes = tuple((axis.name, tuple(axis.values)) for axis in told.axes)
    return Asked(
        question=told.head.question,
        axes=axes,
        configurations=tuple(told.configurations),
        notes=tuple(told.all_notes),
        flags=_flags(told.experiment.data),
        margin=_margin(told.head.margin),
        sequential=told.head.budget is not None,
        **_size(told),
    )


def _flags(data: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """How each value of an axis, and each configuration of a plain list, is set."""
    found = {("", str(one.get("name"))): _set_by(one) for one in _dicts(data.get("configuration"))}
    for axis in _dicts(data.get("axis")):
        found |= {(str(axis.get("name")), str(one.get("name"))): _set_by(one) for one in _dicts(axis.get("values"))}
    return {key: text for key, text in found.items() if text}


def _dicts(value: Any) -> Iterator[Mapping[str, Any]]:
    yield from (one for one in value if isinstance(one, dict)) if isinstance(value, list) else ()


def _set_by(value: Mapping[str, Any]) -> str:
    """'--streaming', 'server: --num-cqs 2', 'environment: A=1'; '' where none of the keys has anything."""
    found = []
    for key, title in SETS.items():
        given = value.get(key)
        words = " ".join(f"{name}={one}" for name, one in given.items()) if isinstance(given, dict) else given
        found += [f"{title}{words}"] if isinstance(words, str) and words else []
    return one_line("; ".join(found))


def _margin(text: str) -> float | None:
    """1.05 of '5%'; None for what is no margin."""
    try:
        return 1 + percent_of(text) / 100
    except ValueError:
        return None


def _size(told: Manifest) -> dict[str, Any]:
    """The runs that have ended, and their time. Nothing where a time is absent."""
    done = [run for run in told.runs if run.started and run.ended]
    took = [run.seconds for run in done]
    seconds = sum(one for one in took if one is not None)
    if None in took or seconds <= 0:
        return {}
    return {"seconds": seconds, "runs": len(done), "repetitions": len({run.repetition for run in done})}
