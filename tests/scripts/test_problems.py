"""pydantic's errors in words: each line has the key's path, the value and what is accepted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from cqbench.formats import problems
from cqbench.formats.problems import Accepts, Problem
from cqbench.formats.toml import Table
from pydantic import Field, ValidationError


@dataclass
class Pair:
    left: int


class Cat(Table):
    kind: Literal["cat"]
    lives: int = Field(default=9, ge=1, le=9)


class Dog(Table):
    kind: Literal["dog"]


class Zoo(Table):
    name: str = Field(default="zoo", min_length=2, max_length=4)
    area: float = Field(default=1.0, gt=0, lt=100)
    seats: Annotated[int, Field(ge=2, le=5), Accepts("integer", "an even number from {ge} to {le}")] = 2
    open: bool = True
    pair: Pair = Field(default_factory=lambda: Pair(1))
    hours: tuple[int, ...] = ()
    names: list[str] = Field(default=[], min_length=1)
    animals: list[Annotated[Cat | Dog, Field(discriminator="kind")]] = []
    signs: dict[Annotated[str, Field(max_length=1)], str] = {}

    def problems(self) -> Iterator[Problem]:
        if self.name == "none":
            yield ("animals", 0, "kind"), "in a zoo of this name"
            yield (), "this zoo is closed"


MODELS: problems.Models = {(): Zoo, ("animals", "cat"): Cat, ("animals", "dog"): Dog}


def said(data: Any, root: str = "") -> list[str]:
    with pytest.raises(ValidationError) as error:
        Zoo.model_validate(data)
    return problems.lines(error.value, data, root, MODELS)


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (3, "the file: 3 is not a table of keys"),
        ({"name": 1}, "name: 1 is not a text"),
        ({"name": "x"}, 'name: "x" is not a text of 2 or more characters'),
        ({"name": "xxxxx"}, 'name: "xxxxx" is not a text of at most 4 characters'),
        ({"area": 0}, "area: 0 is not above 0"),
        ({"area": 100}, "area: 100 is not below 100"),
        ({"area": "1"}, 'area: "1" is not a number'),
        ({"area": float("nan")}, "area: NaN is not a finite number"),
        ({"seats": 1}, "seats: 1 is not an even number from 2 to 5"),
        ({"seats": "2"}, 'seats: "2" is not an even number from 2 to 5'),
        ({"open": 1}, "open: 1 is not true or false"),
        ({"pair": 1}, "pair: 1 is not a table of keys"),
        ({"hours": 1}, "hours: 1 is not a list"),
        ({"names": []}, "names: [] is not a list of 1 or more valid values"),
        ({"names": ["a", 1]}, "names[1]: 1 is not a text"),
        ({"more": 1}, 'the file: unknown key "more" (value 1); accepted are name, area,'),
        ({"animals": [{"kind": "cow"}]}, "animals[0].kind: \"cow\" is not one of 'cat', 'dog'"),
        ({"animals": [{}]}, "animals[0]: 'kind' is missing"),
        ({"animals": [{"kind": "cat", "lives": 0}]}, "animals[0].lives: 0 is not 1 or more"),
        ({"animals": [{"kind": "cat", "lives": 10}]}, "animals[0].lives: 10 is not 9 or less"),
        ({"animals": [{"kind": "cat", "lives": 1.5}]}, "animals[0].lives: 1.5 is not an integer"),
        ({"animals": [{"kind": "dog", "lives": 1}]}, 'animals[0]: unknown key "lives" (value 1); accepted are kind'),
        ({"animals": [{"name": "Tom", "kind": "cat"}]}, "animals[0] ('Tom'): unknown key \"name\""),
        ({"signs": {"ab": "x"}}, 'signs: "ab" is not a text of at most 1 characters'),
        ({"signs": {"a\n": 1}}, "signs"),
    ],
)
def test_one_error_is_one_line(data: Any, line: str) -> None:
    first = said(data)[0]
    assert first.startswith(line) and first.isprintable()


def test_all_errors_are_lines_and_the_root_begins_their_paths() -> None:
    assert said({"name": 1, "area": 0}, "zoos[1]") == [
        "zoos[1].name: 1 is not a text",
        "zoos[1].area: 0 is not above 0",
    ]


def test_rules_between_keys_have_paths_too() -> None:
    data = {"name": "none", "animals": [{"kind": "cat"}]}
    assert said(data) == [
        'animals[0].kind: "cat" is not accepted in a zoo of this name',
        "the file: this zoo is closed",
    ]
