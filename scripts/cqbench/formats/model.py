"""Shared by the models of files: kinds of values, and one line for a file's error."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from cqbench.formats.text import one_line

MAX = 2**63  # numbers beyond are no figures of ours
# Beginnings of pydantic's types of errors.
OUT_OF_RANGE = ("greater_than", "less_than", "too_short", "finite_number", "int_from_float", "int_parsing_size")

FIGURES = "figures"  # where a model keeps what its object has among its other keys

Line = Annotated[str, AfterValidator(one_line)]  # printable and short: files come from other people
Text = Annotated[str, AfterValidator(partial(one_line, limit=1000))]  # the same of sentences
Count = Annotated[int, Field(ge=0, lt=MAX)]
Positive = Annotated[int, Field(gt=0, lt=MAX)]
Amount = Annotated[float, Field(ge=0, lt=MAX)]
Offset = Annotated[float, Field(gt=-MAX, lt=MAX)]


def without_nulls(data: Any) -> Any:
    return {key: value for key, value in data.items() if value is not None} if isinstance(data, dict) else data


class Model(BaseModel):
    """Read-only. No conversions: a number in quotes is none, true is not 1. A key with null is absent. Other keys are
    passed over.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", allow_inf_nan=False, populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, data: Any) -> Any:
        return without_nulls(data)


def complaint(error: ValidationError, root: Sequence[str | int] = ()) -> str:
    """The first thing that is wrong, in words. root: where in the file the model begins."""
    first = error.errors(include_url=False, include_input=False, include_context=True)[0]
    location = [step for step in (*root, *first["loc"]) if step != FIGURES]
    kind = first["type"]
    if kind == "value_error":
        return f"{_where(location)} {first['msg'].removeprefix('Value error, ')}".strip()
    while location and isinstance(location[-1], int):  # the complaint names the list, not its member
        location.pop()
    *above, key = location or [""]
    where = _where(above)
    if kind == "missing":
        return f"{where} has no '{key}'"
    if kind.startswith(OUT_OF_RANGE):
        return f"'{key}' in {where} is out of range"
    if kind == "literal_error":
        return f"'{key}' in {where} is not {first['ctx']['expected']}"
    return f"'{key}' in {where} has the wrong type" if key else "the file is not an object"


def _where(location: Sequence[str | int]) -> str:
    """('a', 'b', 1) -> 'b[1] of a'."""
    parts: list[str] = []
    for step in location:
        if isinstance(step, int) and parts:
            parts[-1] += f"[{step}]"
        else:
            parts.append(str(step))
    return " of ".join(reversed(parts)) or "the file"
