"""The catalogue of settings, scripts/settings.toml -> immutable Settings. Each error of a file is one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cqbench.formats import problems, toml
from cqbench.formats.problems import Accepts, Problem
from cqbench.formats.source import BadDocument
from cqbench.formats.text import one_line
from pydantic import Field, ValidationError

SHIPPED = Path(__file__).parents[3] / "settings.toml"
CHANNEL_ARG, ENVIRONMENT, EXPERIMENT, FLAG, ALLOCATOR = KINDS = (
    "channel-arg",
    "environment",
    "experiment",
    "flag",
    "allocator",
)
CLIENT, SERVER, BOTH = ENDS = ("client", "server", "both")
RISKS = ("none", "some", "breaks")  # ascending
GENERATIONS = ("1.51", "1.83")  # of gRPC, that the shipped catalogue was written with
MAX_NAME = 60


class BadSettings(ValueError):
    """The text has a line for each error: the file, the setting, the key, the value and what is accepted."""


Word = Annotated[
    str,
    Field(pattern="^[a-z0-9][a-z0-9-]*$", max_length=MAX_NAME),
    Accepts("name", f"a name of small letters, digits and '-', at most {MAX_NAME}"),
]
Text = Annotated[str, Field(pattern=r"^[^\x00\n]*$"), Accepts("text", "a text on one line")]


class Setting(toml.Table):
    """One thing that can be set. readers: generations of gRPC that look at it; None where gRPC is not what does."""

    name: Word
    kind: Literal["channel-arg", "environment", "experiment", "flag", "allocator"]
    key: Annotated[str, Field(pattern=r"^[^\x00\n]+$"), Accepts("text", "a text on one line that is not empty")]
    values: Annotated[list[Text], Field(min_length=1)]
    default: Text
    end: Literal["client", "server", "both"]
    effect: Text
    risk: Literal["none", "some", "breaks"]
    source: Text
    also: dict[str, Text] = {}
    readers: list[Text] | None = None
    group: Word | None = None
    alone: bool = False
    costs: Text = ""
    code: Text = ""

    def problems(self) -> Iterator[Problem]:
        if len({c.name for c in candidates(self)}) < len(self.values):
            yield ("values",), "because two of them have the same name"
        if self.kind == FLAG and not all(re.fullmatch(r"--[a-z][a-z-]*", key) for key in self.keys):
            yield ("key",), "as a flag: a flag such as --poll is needed"
        if self.kind == ENVIRONMENT and not all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key) for key in self.keys):
            yield ("key",), "as a name of an environment variable"
        if self.kind == EXPERIMENT and not {*self.values, *self.also.values()} <= {"on", "off"}:
            yield ("values",), "because an experiment is 'on' or 'off'"
        if self.kind in (CHANNEL_ARG, EXPERIMENT) and self.readers is None:
            yield (), "'readers' is missing: the generations of gRPC that read it, or [] when none does"
        if self.risk != "none" and not self.costs:
            yield (), "'costs' is missing: what the risk is"

    @property
    def control(self) -> bool:
        """Nobody reads it: it must come out as nothing."""
        return self.readers == []

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.key, *self.also)

    @property
    def factor(self) -> str:
        """Settings of one factor exclude each other."""
        return self.group or self.name


@dataclass(frozen=True)
class Candidate:
    """A setting at one of its values. Its name is a configuration's and a folder's."""

    name: str
    setting: Setting
    value: str

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """(key, value) of all that belongs to it."""
        return ((self.setting.key, self.value), *self.setting.also.items())


def candidates(setting: Setting) -> list[Candidate]:
    """One for each value; with the value in the name where there are several."""
    if len(setting.values) == 1:
        return [Candidate(setting.name, setting, setting.values[0])]
    return [Candidate(f"{setting.name}-{_part(value)}", setting, value) for value in setting.values]


def _part(value: str) -> str:
    return re.sub(r"[^A-Za-z0-9_+]+", "-", value).strip("-_+") or "empty"


def load(path: Path) -> list[Setting]:
    """Raises BadSettings."""
    try:
        return _settings(toml.read(path), str(path))
    except BadDocument as error:
        raise BadSettings(str(error)) from None


def parse(text: str, name: str) -> list[Setting]:
    """name: of the file, for messages. Raises BadSettings."""
    try:
        return _settings(toml.parse(text, name), name)
    except BadDocument as error:
        raise BadSettings(str(error)) from None


def _settings(data: dict[str, Any], name: str) -> list[Setting]:
    """Raises BadSettings."""
    tables = data.pop("setting", None)
    if data:
        raise BadSettings(f"{name}: unknown key '{one_line(next(iter(data)))}'; only [[setting]] is accepted")
    if not isinstance(tables, list) or not tables or not all(isinstance(t, dict) for t in tables):
        raise BadSettings(f"{name}: there is no [[setting]]")
    lines: list[str] = []
    found: list[Setting] = []
    for i, table in enumerate(tables):
        where = f"{name}: setting '{one_line(str(table.get('name', i)))}'"
        try:
            found.append(Setting.model_validate(table))
        except ValidationError as error:
            lines += problems.lines(error, table, where, {(): Setting})
            continue
        taken = {c.name for other in found[:-1] for c in candidates(other)}
        lines += [f"{where}: name: '{c.name}' is there already" for c in candidates(found[-1]) if c.name in taken]
    if lines:
        raise BadSettings("\n".join(dict.fromkeys(lines)))
    return found
