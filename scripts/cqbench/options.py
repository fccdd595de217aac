"""Command-line values as click takes them: an error names the flag, the value and what is accepted, in one line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NoReturn

import click
from click.core import ParameterSource

MAX_RATE = 10_000_000  # calls per second, as the client's --rate
UNITS_S = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "": 1.0}


class Refused(click.ClickException):
    """A request that is impossible; one line that names the file and the reason. Exit status 2."""

    exit_code = 2


def only_beside(ctx: click.Context, flag: str, allowed: tuple[str, ...]) -> None:
    """Refuses all other options together with --flag. allowed: names of parameters."""
    for param in ctx.command.params:
        name = param.name or ""
        if name in (flag, *allowed) or ctx.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        what = param.opts[0] if isinstance(param, click.Option) else "a flag of the client"
        raise click.UsageError(f"argument {what} is not accepted with --{flag}")


class Value(click.ParamType[Any]):
    """parse: text -> value; a ValueError's text is what is accepted, such as 'an integer from 1 to 10'."""

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name = name
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value  # a default
        try:
            return self._parse(value)
        except ValueError as error:
            self.fail(f"'{value}' is not {error}", param, ctx)


def _refuse(what: str) -> NoReturn:
    raise ValueError(what)


def number(low: float, high: float, what: str, name: str = "NUMBER") -> Value:
    """From low to high. what: is accepted."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            _refuse(what)
        return value if low <= value <= high else _refuse(what)  # refuses nan, too

    return Value(name, parse)


def seconds_of(text: str) -> float:
    """'2', '0.5', '500ms', '1.5s', '1m'. Raises ValueError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(us|ms|s|m|)", text, re.ASCII)
    if not match:
        raise ValueError(text)
    return float(match[1]) * UNITS_S[match[2]]


def seconds(low: float, high: float = 3600.0) -> Value:
    """A duration from low to high."""
    what = f"a number of seconds from {low:g} to {high:g}, or one with us, ms, s or m: 500ms"

    def parse(text: str) -> float:
        try:
            value = seconds_of(text)
        except ValueError:
            _refuse(what)
        return value if low <= value <= high else _refuse(what)

    return Value("DURATION", parse)


def percentage(high: float, low: float = 0) -> Value:
    """'5%' -> 5.0. The sign is needed: a bare 0.05 would be read both ways."""
    what = f"a percentage from {low:g}% to {high:g}%, such as 5%"
    inner = number(low, high, what)
    return Value("P%", lambda text: inner._parse(text[:-1]) if text.endswith("%") else _refuse(what))


def whole(low: int, high: int, name: str = "N") -> Value:
    """An integer from low to high."""

    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high):
            _refuse(f"an integer from {low} to {high}")
        return int(text)

    return Value(name, parse)


def _inflight_list(text: str) -> tuple[int, ...]:
    one = whole(1, 100_000)._parse
    try:
        return tuple(sorted({one(part) for part in text.split(",")}))
    except ValueError:
        _refuse("a list of in-flight counts such as 1,2,4,8")


def _rate_list(text: str) -> tuple[float, ...]:
    try:
        rates = {float(part) for part in text.split(",")}
    except ValueError:
        rates = {-1.0}
    if not all(0 < rate <= MAX_RATE for rate in rates):  # refuses nan, too
        _refuse(f"a list of calls per second such as 1000,2000, each above 0 and up to {MAX_RATE}")
    return tuple(sorted(rates))


INFLIGHT_LIST = Value("N,N,...", _inflight_list)  # ascending, each once
RATE_LIST = Value("R,R,...", _rate_list)  # calls per second, the same


def flag_name(flag: str) -> str:
    """'--api=cq' -> '--api'."""
    return flag.split("=", 1)[0]
