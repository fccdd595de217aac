"""What the models of files have in common: kinds of values, and one line for what is wrong with a file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from cqbench.files.text import one_line

MAX = 2**63  # numbers beyond are no figures of ours
# Beginnings of pydantic's types of errors.
OUT_OF_RANGE = ("greater_than", "less_than", "too_short", "finite_number", "int_from_float", "int_parsing_size")

Line = Annotated[str, AfterValidator(one_line)]  # printable and short: files come from other people
Text = Annotated[str, AfterValidator(partial(one_line, limit=1000))]  # the same of sentences
Count = Annotated[int, Field(ge=0, lt=MAX)]
Positive = Annotated[int, Field(gt=0, lt=MAX)]
Amount = Annotated[float, Field(ge=0, lt=MAX)]
Offset = Annotated[float, Field(gt=-MAX, lt=MAX)]


class Model(BaseModel):
    """Read-only. No conversions: a number in quotes is none, true is not 1. Keys of newer versions are passed over."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", allow_inf_nan=False, populate_by_name=True)


def complaint(error: ValidationError, root: Sequence[str | int] = ()) -> str:
    """The first thing that is wrong, in words. root: where in the file the model begins."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    *above, key = _path([*root, *first["loc"]])
    where = _where(above)
    kind = first["type"]
    if kind == "missing":
        return f"{where} has no '{key}'"
    if kind == "value_error":
        return f"'{key}' in {where} {first['msg'].removeprefix('Value error, ')}"
    if kind.startswith(OUT_OF_RANGE):
        return f"'{key}' in {where} is out of range"
    return f"'{key}' in {where} has the wrong type" if above or key else f"{where} is not an object"


def _path(location: Sequence[str | int]) -> list[str]:
    """('a', 'b', 1, 'c') -> 'a', 'b[1]', 'c'; what is wrong with a member of a list is said of the list."""
    parts: list[str] = []
    for step in location:
        if isinstance(step, int) and parts:
            parts[-1] += f"[{step}]"
        else:
            parts.append(str(step))
    if parts and parts[-1].endswith("]"):
        parts[-1] = parts[-1].partition("[")[0]
    return parts or [""]


def _where(above: Sequence[str]) -> str:
    return " of ".join(reversed(above)) or "the file"
