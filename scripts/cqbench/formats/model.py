"""Shared by the models of JSON files: kinds of values, and the base."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from cqbench.formats.text import one_line

MAX = 2**63  # numbers beyond are no figures of ours

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
