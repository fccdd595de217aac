"""pydantic's errors in our words. Each is one line: the key's path, the value, and what is accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, core_schema

from cqbench.formats.text import one_line, show

# Accepted values, by pydantic's type of error. {} is filled from the error's context.
ACCEPTED = {
    "bool_type": "true or false",
    "dataclass_exact_type": "a table of keys",
    "dataclass_type": "a table of keys",
    "dict_type": "a table of keys",
    "finite_number": "a finite number",
    "float_type": "a number",
    "greater_than": "above {gt:g}",
    "greater_than_equal": "{ge:g} or more",
    "int_from_float": "an integer",
    "int_parsing_size": "an integer of 64 bits",
    "int_type": "an integer",
    "less_than": "below {lt:g}",
    "less_than_equal": "{le:g} or less",
    "list_type": "a list",
    "literal_error": "{expected}",
    "model_type": "a table of keys",
    "string_too_long": "a text of at most {max_length} characters",
    "string_too_short": "a text of {min_length} or more characters",
    "string_type": "a text",
    "too_short": "a list of {min_length} or more valid values",
    "tuple_type": "a list",
    "union_tag_invalid": "one of {expected_tags}",
    "value_error": "{error}",
    "words": "{words}",
}
KEY = "[key]"  # pydantic's last step to the key of a table
Models = Mapping[tuple[str, ...], type[BaseModel]]
Problem = tuple[tuple[str | int, ...], str]


@dataclass(frozen=True)
class Accepts:
    """Says in words what a type accepts. {ge} and {le} in the words are the type's own bounds. kind: the type's name in
    the reference of the keys.
    """

    kind: str
    words: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        inner: Any = schema
        while "schema" in inner:
            inner = inner["schema"]
        return core_schema.custom_error_schema(
            schema, "words", custom_error_message="{words}", custom_error_context={"words": self.words.format(**inner)}
        )


def refuse(model: str, found: Sequence[Problem]) -> None:
    """Raises pydantic's ValidationError for rules between keys: for each the path in the model, and why the value there
    is not accepted. For a table (), the text stands alone.
    """
    if found:
        details = [
            InitErrorDetails(type=PydanticCustomError("refused", "{why}", {"why": why}), loc=loc, input=None)
            for loc, why in found
        ]
        raise ValidationError.from_exception_data(model, details)


def lines(error: ValidationError, data: Any, root: str = "", models: Models | None = None) -> list[str]:
    """data: what was validated. root: where it stands in the file. models: by place, those that accept no other keys
    than theirs.
    """
    found = (_line(dict(one), data, root, models or {}) for one in error.errors(include_url=False))
    return list(dict.fromkeys(found))


def first(error: ValidationError, data: Any, root: str = "") -> str:
    return lines(error, data, root)[0]


def _line(error: dict[str, Any], data: Any, root: str, models: Models) -> str:
    kind, loc, context = error["type"], error["loc"], error.get("ctx", {})
    if kind in ("missing", "extra_forbidden"):
        *above, key = loc
        table, _ = _find(above, data, root)
        if kind == "missing":
            return f"{table}: '{key}' is missing"
        model = models.get(tuple(step for step in above if isinstance(step, str)))
        keys = sorted(model.model_fields, key=lambda key: key != "name") if model else []
        accepted = f"; accepted are {', '.join(keys)}" if model else ""
        return f"{table}: unknown key {show(key)} (value {show(error['input'])}){accepted}"
    if kind.startswith("union_tag"):
        key = context["discriminator"].strip("'")
        if kind == "union_tag_not_found":
            return f"{_find(loc, data, root)[0]}: '{key}' is missing"
        loc = (*loc, key)
    where, value = _find(loc, data, root)
    if kind == "refused":
        alone = isinstance(value, dict)
        return f"{where}: {context['why']}" if alone else f"{where}: {show(value)} is not accepted {context['why']}"
    accepted = ACCEPTED[kind].format(**context) if kind in ACCEPTED else f"accepted: {one_line(error['msg'])}"
    if kind == "value_error" and isinstance(value, dict):
        return f"{where}: {accepted}"  # a rule between keys
    return f"{where}: {show(value)} is not {accepted}"


def _find(loc: Sequence[str | int], data: Any, root: str) -> tuple[str, Any]:
    """('axis', 0, 'values', 1, 'build') -> "axis[0] ('api').values[1] ('cq').build", and the value there. Steps that
    are not in the data are pydantic's own, such as the tag of a union.
    """
    path, here = root, data
    if loc and loc[-1] == KEY:
        *loc, key, _ = loc
        return _find(loc, data, root)[0], key
    for place, step in enumerate(loc):
        if isinstance(here, dict) and step in here:
            path, here = f"{path}.{one_line(str(step))}", here[step]
        elif isinstance(here, list) and isinstance(step, int):
            here = here[step]
            name = here.get("name") if isinstance(here, dict) and tuple(loc[place + 1 :]) != ("name",) else None
            path += f"[{step}]" + (f" ('{one_line(name, 40)}')" if isinstance(name, str) and name else "")
    return path.removeprefix(".") or "the file", here
