"""The kinds of values in an experiment's file, for the models in tables.py."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from cqbench.experiment.order import MAX_SEED
from cqbench.formats.problems import Accepts
from cqbench.formats.text import percent_of
from cqbench.options import MAX_RATE, flag_name, seconds_of

MAX_INFLIGHT, MAX_REPETITIONS, MAX_NAME = 100_000, 1000, 100
MAX_SERVERS = 16
MAX_BUDGET_S = 86400
NAME = f"a name of letters, digits, '_', '-', '+', at most {MAX_NAME}, that begins with a letter or digit"
FILE_NAME = "[A-Za-z0-9][A-Za-z0-9_+.-]*"
BUILD = "a NAME of build/NAME/bin, such as \"release\", or a folder of programs with a '/' in it"
# Flags that the runner itself passes to the programs.
LOAD_FLAGS = (
    *("--inflight", "--min-inflight", "--max-inflight", "--inflight-step", "--inflight-list", "--repetitions"),
    *("--rate", "--min-rate", "--max-rate", "--rate-step", "--rate-list", "--find-rate"),
    *("--until-stable", "--max-repetitions", "--warmup", "--interval"),
)
ASKED = ("--check", "--help", "--help-all", "-h", "--version")
CLIENT_TAKEN = (*LOAD_FLAGS, *ASKED, "--host", "--port", "--format", "--output")
SERVER_TAKEN = (*ASKED, "--port", "--listen")


def _each_once(values: list[Any]) -> list[Any]:
    if len(set(values)) < len(values):
        raise ValueError("accepted: each value may be in the list once")
    return values


def _seconds(value: Any) -> Any:
    """A text may have a unit."""
    return seconds_of(value) if isinstance(value, str) else value


def _percent(value: Any) -> float:
    try:
        return percent_of(value)
    except ValueError:
        raise ValueError('a percentage from 1% to 100% such as "10%"') from None


def _milliseconds(value: Any) -> Any:
    """Whole ones, as toxiproxy counts; what is no such number stays as it is, and the type refuses it."""
    found = _seconds(value)
    if type(found) not in (int, float) or not math.isfinite(found):
        return value
    milliseconds = found * 1000
    return round(milliseconds) if abs(milliseconds - round(milliseconds)) <= 1e-6 else milliseconds


def words(value: Any) -> Any:
    """The words of flags. A text is split as a shell does."""
    if not isinstance(value, (str, list)):
        raise ValueError('a text of flags such as "--api cq", or a list of texts')
    try:
        return shlex.split(value) if isinstance(value, str) else value
    except ValueError as error:
        raise ValueError(f"a command line: {error}") from None


def _not_taken(taken: tuple[str, ...], flags: list[str]) -> list[str]:
    for flag in map(flag_name, flags):
        if flag in taken:
            raise ValueError(f"accepted: the experiment's own keys or the runner give {flag}")
    return flags


def _argument(accepted: str) -> Callable[[str], str]:
    """Checks a text that becomes an argument of a program."""

    def check(text: str) -> str:
        if not text.strip() or text.startswith("-") or "\0" in text:
            raise ValueError(accepted)
        return text

    return check


_folder = _argument(BUILD)


def _build(text: str) -> str:
    """Checks the name or the folder of a build."""
    if "/" not in text and not re.fullmatch(FILE_NAME, text):
        raise ValueError(BUILD)
    return _folder(text)


host = _argument('HOST or HOST:PORT, such as "server:2137"')

FileName = Annotated[
    str,
    Field(pattern=f"^{FILE_NAME}$", max_length=MAX_NAME),
    Accepts("name", f"{NAME} (dots too)"),
]
PartName = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_+-]*$", max_length=MAX_NAME),
    Accepts("name", f"{NAME} (no dot: it joins the names of the axes)"),
]
Words = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(lambda text: " ".join(text.split()))
]
Whole = Accepts("integer", "an integer from {ge} to {le}")
Rate = Annotated[
    float, Field(gt=0, le=MAX_RATE), Accepts("number", "a number of calls per second above 0 and up to {le}")
]
Inflight = Annotated[
    list[Annotated[int, Field(ge=1, le=MAX_INFLIGHT), Whole]], Field(min_length=1), AfterValidator(_each_once)
]
Rates = Annotated[list[Rate], Field(min_length=1), AfterValidator(_each_once)]
Duration = Accepts("duration", 'a number of seconds from {ge:g} to {le:g}, or one with us, ms, s or m: "500ms"')
Warmup = Annotated[float, Field(ge=0.001, le=3600), BeforeValidator(_seconds), Duration]
Interval = Annotated[float, Field(ge=0.01, le=3600), BeforeValidator(_seconds), Duration]
Budget = Annotated[
    float,
    Field(ge=1, le=MAX_BUDGET_S),
    BeforeValidator(_seconds),
    Accepts("duration", 'a number of seconds from {ge:g} to {le:g}, or one with ms, s or m: "2m"'),
]
Margin = Annotated[float, BeforeValidator(_percent)]
Moment = Annotated[float, Field(ge=0, le=3600), BeforeValidator(_seconds), Duration]
Milliseconds = Annotated[
    int,
    Field(ge=0, le=1000),
    BeforeValidator(_milliseconds),
    Accepts("duration", 'a duration of whole milliseconds up to {le} ms, such as "5ms" (a bare number is in seconds)'),
]
Servers = Annotated[int, Field(ge=1, le=MAX_SERVERS), Whole]
Kilobytes = Annotated[int, Field(ge=1, le=10_000_000), Whole]
Repetitions = Annotated[int, Field(ge=1, le=MAX_REPETITIONS), Whole]
Seed = Annotated[int, Field(ge=0, le=MAX_SEED), Whole]
Word = Annotated[str, Field(pattern=r"^[^\x00]*$"), Accepts("text", "a text without NUL characters")]
ClientFlags = Annotated[list[Word], BeforeValidator(words), AfterValidator(partial(_not_taken, CLIENT_TAKEN))]
ServerFlags = Annotated[list[Word], BeforeValidator(words), AfterValidator(partial(_not_taken, SERVER_TAKEN))]
Variable = Annotated[
    str, Field(pattern="^[A-Za-z_][A-Za-z0-9_]*$"), Accepts("name", "a name of an environment variable")
]
Variables = dict[Variable, Word]
Build = Annotated[str, AfterValidator(_build)]
Program = Annotated[str, AfterValidator(_argument('the path of a program, such as "build/lineup/lineup"'))]
Host = Annotated[str, AfterValidator(host)]
GrpcVersion = Annotated[
    str, Field(pattern=r"^[0-9]{1,4}\.[0-9]{1,4}(\.[0-9]{1,4})?$"), Accepts("text", 'a version of gRPC such as "1.83"')
]
CpuList = Annotated[str, Field(min_length=1), Accepts("text", 'a list of CPUs such as "0-3,8"')]
