"""The catalogue of knobs, scripts/knobs.toml -> immutable Knobs. What a file can get wrong is said in one line each."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cqbench.files.text import one_line
from cqbench.measure.programs import SCRIPTS
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SHIPPED = SCRIPTS / "knobs.toml"
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


class BadKnobs(ValueError):
    """The text has a line for each error, which names the file, the knob, the key, the value and what is accepted."""


def _name(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", text) or len(text) > MAX_NAME:
        raise ValueError(f"a name of small letters, digits and '-', at most {MAX_NAME}")
    return text


def _plain(text: str) -> str:
    if "\0" in text or "\n" in text:
        raise ValueError("a text on one line")
    return text


Word = Annotated[str, AfterValidator(_name)]
Text = Annotated[str, AfterValidator(_plain)]


class Knob(BaseModel):
    """One thing that can be set. readers: generations of gRPC that look at it; None where gRPC is not what does."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Word
    kind: Literal["channel-arg", "environment", "experiment", "flag", "allocator"]
    key: Annotated[Text, Field(min_length=1)]
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

    @property
    def control(self) -> bool:
        """Nobody reads it: it must come out as nothing."""
        return self.readers == []

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.key, *self.also)

    @property
    def factor(self) -> str:
        """Knobs of one factor exclude each other."""
        return self.group or self.name


@dataclass(frozen=True)
class Candidate:
    """A knob at one of its values. Its name is a variant's and a folder's."""

    name: str
    knob: Knob
    value: str

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """(key, value) of all that belongs to it."""
        return ((self.knob.key, self.value), *self.knob.also.items())


def candidates(knob: Knob) -> list[Candidate]:
    """One for each value; with the value in the name where there are several."""
    if len(knob.values) == 1:
        return [Candidate(knob.name, knob, knob.values[0])]
    return [Candidate(f"{knob.name}-{_part(value)}", knob, value) for value in knob.values]


def _part(value: str) -> str:
    return re.sub(r"[^A-Za-z0-9_+]+", "-", value).strip("-_+") or "empty"


def load(path: Path) -> list[Knob]:
    """Raises BadKnobs."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadKnobs(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    return parse(text, str(path))


def parse(text: str, name: str) -> list[Knob]:
    """name: of the file, for messages. Raises BadKnobs."""
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadKnobs(f"{name}: not TOML: {one_line(str(error))}") from None
    tables = data.pop("knob", None)
    if data:
        raise BadKnobs(f"{name}: unknown key '{one_line(next(iter(data)))}'; only [[knob]] is accepted")
    if not isinstance(tables, list) or not tables or not all(isinstance(t, dict) for t in tables):
        raise BadKnobs(f"{name}: there is no [[knob]]")
    lines: list[str] = []
    found: list[Knob] = []
    for i, table in enumerate(tables):
        where = f"{name}: knob '{one_line(str(table.get('name', i)))}'"
        try:
            found.append(Knob.model_validate(table))
        except ValidationError as error:
            lines += [f"{where}: {_complaint(e)}" for e in error.errors()]
            continue
        lines += [f"{where}: {said}" for said in _problems(found[-1], found[:-1])]
    if lines:
        raise BadKnobs("\n".join(dict.fromkeys(lines)))
    return found


def _complaint(error: Any) -> str:
    place = ".".join(map(str, error["loc"]))
    if error["type"] == "missing":
        return f"'{place}' is missing"
    if error["type"] == "extra_forbidden":
        return f"unknown key '{one_line(place)}'; accepted are {', '.join(Knob.model_fields)}"
    return f"{place}: '{one_line(str(error['input']))}': {one_line(error['msg'].removeprefix('Value error, '))}"


def _problems(knob: Knob, before: list[Knob]) -> list[str]:
    """What its keys do not say by themselves."""
    said = []
    taken = {c.name for other in before for c in candidates(other)}
    said += [f"name: '{c.name}' is there already" for c in candidates(knob) if c.name in taken]
    if len({c.name for c in candidates(knob)}) < len(knob.values):
        said.append("values: two of them have the same name")
    if knob.kind == FLAG and not all(re.fullmatch(r"--[a-z][a-z-]*", key) for key in knob.keys):
        said.append(f"key: '{knob.key}' is not a flag such as --poll")
    if knob.kind == ENVIRONMENT and not all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key) for key in knob.keys):
        said.append(f"key: '{knob.key}' is not a name of an environment variable")
    switches = {*knob.values, *knob.also.values()}
    if knob.kind == EXPERIMENT and not switches <= {"on", "off"}:
        said.append("values: an experiment is 'on' or 'off'")
    if knob.kind in (CHANNEL_ARG, EXPERIMENT) and knob.readers is None:
        said.append("'readers' is missing: the generations of gRPC that read it, or [] when none does")
    if knob.risk != "none" and not knob.costs:
        said.append("'costs' is missing: what the risk is")
    return said
