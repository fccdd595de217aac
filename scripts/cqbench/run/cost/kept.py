"""The folder of a cost profile: what was asked, a file for each run that is over, and the profile. `--resume` reads it.

cost.json                   what was asked, where, of which programs; the runs' order follows from it
runs/PART-SIDE-NN-CALLS.json    what was counted in a run; of both ends by themselves, the client's own result
profile.json, profile.txt         made of them
stacks.folded               the samples' stacks, for flame-graph tools
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cqbench.analysis.cost.counts import KINDS, Counts, Key, Run
from cqbench.formats import problems, storage
from cqbench.formats.manifest import Place
from cqbench.formats.model import Count, Line, Model, Positive
from cqbench.formats.result import Document, parse
from cqbench.formats.source import BadDocument, decode, read_bytes
from cqbench.formats.text import one_line
from cqbench.measure.cpus import Placement
from cqbench.measure.machine import here
from cqbench.run.cost.plan import Asked, Step

FILE, RUNS, BILL, TEXT, STACKS, CONTEXT = (
    "cost.json",
    "runs",
    "profile.json",
    "profile.txt",
    "stacks.folded",
    "client.json",
)
VERSION = 2
CHANGED = "'s contents have changed since, so that what is there and what would come do not belong together"


class BadFolder(ValueError):
    """A folder that cannot be resumed; one line."""


class Begun(Place):
    """cost.json. programs: a sum of the contents of each that is looked at. resumed: when, and what had changed."""

    cost_version: Positive
    started: Line
    asked: dict[str, Any]
    server_cpus: list[Count]
    client_cpus: list[Count]
    why: str
    programs: dict[str, Line]
    port: Count
    resumed: list[dict[str, Any]] = []


class Folder:
    """Owns what is in it while the process lives."""

    def __init__(self, path: Path, begun: Begun) -> None:
        self.path = path
        self.begun = begun

    @property
    def placement(self) -> Placement:
        return Placement(tuple(self.begun.server_cpus), tuple(self.begun.client_cpus), self.begun.why)

    def notes(self) -> list[str]:
        """Returns what had changed when the run was resumed."""
        return [
            f"resumed at {one['started']}, after these had changed: {', '.join(one['changed'])}"
            for one in self.begun.resumed
            if one.get("changed")
        ]

    def has(self, step: Step) -> bool:
        """True if that run is over and its file complete. A file exists completely or not at all."""
        try:
            return bool(self.run(step) if step.side else self.document(step))
        except BadDocument:
            return False

    def keep(self, step: Step, run: Run) -> None:
        """Raises OSError."""
        data = {
            "calls": run.calls,
            "counts": _rows(run.counts),
            "supervision": _rows(run.supervision),
            "stacks": dict(run.stacks),
        }
        storage.write(self._file(step), json.dumps(data) + "\n")

    def keep_result(self, step: Step, text: str) -> None:
        """Stores the client's output. Raises OSError."""
        storage.write(self._file(step), text)

    def run(self, step: Step) -> Run:
        """Raises BadDocument."""
        path = self._file(step)
        try:
            data = decode(read_bytes(path), one_line(str(path)))
            kept = _Kept.model_validate(data)
        except ValidationError as error:
            raise BadDocument(f"{path}: not a run of cqbench cost: {problems.first(error, data)}") from None
        return Run(kept.calls, _counts(kept.counts), _counts(kept.supervision), Counter(kept.stacks))

    def document(self, step: Step) -> Document:
        """Raises BadDocument."""
        path = self._file(step)
        return parse(read_bytes(path), one_line(str(path)))

    def keep_context(self, text: str) -> None:
        """The first result of the client: what it says of software and work. Raises OSError."""
        if not (self.path / CONTEXT).exists():
            storage.write(self.path / CONTEXT, text)

    def context(self) -> dict[str, Any]:
        """Returns the context of the client's first result; {} if there is none."""
        path = self.path / CONTEXT
        return parse(read_bytes(path), one_line(str(path))).context if path.exists() else {}

    def _file(self, step: Step) -> Path:
        calls = f"{step.calls}" if step.calls else "timed"
        return self.path / RUNS / f"{step.part}-{step.side or 'both'}-{step.repetition + 1:02}-{calls}.json"


class _Kept(Model):
    calls: Positive
    counts: list[list[Any]]
    supervision: list[list[Any]]
    stacks: dict[str, Count]


def _rows(counts: Counts) -> list[list[Any]]:
    return [[*key, value] for key, value in counts.items()]


def _counts(rows: list[list[Any]]) -> Counts:
    """Raises BadDocument."""
    for row in rows:
        if len(row) != len(Key._fields) + 1 or row[0] not in KINDS or type(row[-1]) is not int:
            raise BadDocument(f"not a run of cqbench cost: {one_line(str(row))} is no count")
    return Counter({Key(*row[:-1]): row[-1] for row in rows})


def sums(programs: dict[str, Path]) -> dict[str, str]:
    """By name, of the contents. Raises OSError."""
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in programs.items()}


def begin(path: Path, asked: Asked, placement: Placement, programs: dict[str, Path], port: int) -> Folder:
    """In an empty folder. Raises OSError."""
    begun = Begun(
        cost_version=VERSION,
        started=storage.now(),
        asked=asked.model_dump(mode="json"),
        server_cpus=list(placement.server),
        client_cpus=list(placement.client),
        why=placement.why,
        programs=sums(programs),
        port=port,
        **dict(here()),
    )
    (path / RUNS).mkdir()
    storage.write_json(path / FILE, begun.model_dump())
    return Folder(path, begun)


def read(path: Path) -> Begun:
    """Raises BadFolder."""
    file = path / FILE
    try:
        data = decode(read_bytes(file), one_line(str(file)))
        begun = Begun.model_validate(data)
    except BadDocument as error:
        raise BadFolder(str(error)) from None
    except ValidationError as error:
        raise BadFolder(f"{file}: not a file of cqbench cost: {problems.first(error, data)}") from None
    if begun.cost_version != VERSION:
        raise BadFolder(f"{file}: cost_version is {begun.cost_version}; this version of cqbench resumes {VERSION}")
    return begun


def resume(path: Path, begun: Begun, programs: dict[str, Path]) -> Folder:
    """Says so in its file. Raises BadFolder, OSError."""
    now = sums(programs)
    other = [name for name in begun.programs if now.get(name) != begun.programs[name]]
    if other or set(now) != set(begun.programs):
        raise BadFolder(f"{path / FILE}: the program {', '.join(other or sorted(now))}{CHANGED}: begin a new one")
    note = {"started": storage.now(), "changed": here().differs_from(begun)}
    begun = begun.model_copy(update={"resumed": [*begun.resumed, note]})
    storage.write_json(path / FILE, begun.model_dump())
    (path / RUNS).mkdir(exist_ok=True)
    return Folder(path, begun)
