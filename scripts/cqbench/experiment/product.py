"""The configurations of an experiment's file: one by one, or the product of its axes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from cqbench.experiment.fields import words
from cqbench.experiment.tables import File, Settings
from cqbench.formats import problems
from cqbench.formats.text import show

MAX_JOINED_NAME = 200
Data = dict[str, Any]


def configurations(file: File, data: Mapping[str, Any]) -> tuple[dict[str, Settings], list[str]]:
    """By name; and a line for each problem of a combination. data: what file was made from."""
    found: dict[str, Settings] = {one.name: one for one in file.configuration}
    lines = []
    for chosen in itertools.product(*(axis["values"] for axis in data["axis"])) if file.axis else ():
        name = ".".join(value["name"] for value in chosen)
        where = f"configuration '{name}'"
        if len(name) > MAX_JOINED_NAME:
            lines.append(f"{where}: its name is not accepted: at most {MAX_JOINED_NAME} characters fit a file's name")
        together, refused = _together(chosen)
        lines += [f"{where}.{line}" for line in refused]
        try:
            found[name] = Settings.model_validate(together)
        except ValidationError as error:
            lines += problems.lines(error, together, where)
    return found, lines


def _together(chosen: Sequence[Data]) -> tuple[Data, list[str]]:
    """The settings of one value of each axis. Flags add up; only one axis may set another key, or a variable."""
    together: Data = {}
    refused = []
    for key, value in (item for settings in chosen for item in settings.items() if item[0] != "name"):
        if key.endswith("_flags"):
            together[key] = [*together.get(key, []), *words(value)]
        elif key.endswith("_env"):
            before = together.get(key, {})
            twice = sorted(set(before) & set(value))
            refused += [f"{key}: {show(one)} is not accepted from two axes: one axis may set it" for one in twice]
            together[key] = {**before, **value}
        else:
            if key in together:
                refused.append(f"{key}: {show(value)} is not accepted from two axes: one axis may set it")
            together[key] = value
    return together, refused
