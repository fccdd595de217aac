"""The kinds of values in an experiment's file. Each function returns what it accepts and refuses the rest in one line.

`where` is how a message names the value: "experiment.interval".
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from typing import Any, NoReturn

from cqbench.documents import one_line
from cqbench.options import MAX_RATE

PLACEMENTS = ("split", "pair", "none")
MAX_INFLIGHT, MAX_REPETITIONS, MAX_SEED, MAX_NAME = 100_000, 1000, 999_999_999, 100
MAX_ADDED_RTT_S = 1.0
NAME = "a name of letters, digits, '_', '-', '+', at most 100, that begins with a letter or digit"
SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "": 1.0}

Table = dict[str, Any]


class BadExperiment(ValueError):
    """The text is one line that names the file, the key, the value and what is accepted."""


@dataclass(frozen=True)
class Pinning:
    """how: one of PLACEMENTS, or 'cpus' with a CPU list for at least one side."""

    how: str = "split"
    server_cpus: str = ""
    client_cpus: str = ""


def flag_name(flag: str) -> str:
    """'--api=cq' -> '--api'."""
    return flag.split("=", 1)[0]


def refuse(where: str, value: Any, what: str) -> NoReturn:
    """Raises BadExperiment: "<where>: <value> is not <what>"."""
    raise BadExperiment(f"{where}: {show(value)} is not {what}")


def show(value: Any) -> str:
    """A value from a TOML file in a message."""
    return one_line(json.dumps(value, default=str, ensure_ascii=False), 80)


def known_keys(table: Table, where: str, accepted: tuple[str, ...]) -> None:
    """Refuses all others."""
    for key, value in table.items():
        if key not in accepted:
            raise BadExperiment(
                f"{where}: unknown key {show(key)} (value {show(value)}); accepted are {', '.join(accepted)}"
            )


def required(table: Table, key: str, where: str) -> Any:
    """Of any type."""
    if key not in table:
        raise BadExperiment(f"{where}: '{key}' is missing")
    return table[key]


def one_table(data: Table, key: str, where: str) -> Table:
    """A required one."""
    value = required(data, key, where)
    return value if isinstance(value, dict) else refuse(key, value, "a table")


def optional_table(data: Table, key: str) -> Table:
    """Empty when it is not there."""
    return one_table(data, key, "the file") if key in data else {}


def tables(value: Any, where: str, wanted: str) -> list[Table]:
    """A list of at least one table."""
    if value is None or value == []:
        raise BadExperiment(f"{where}: there are none, so there is nothing to run; at least one of {wanted} is needed")
    if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
        refuse(where, value, "a list of tables")
    return value


def all_different(names: list[str], where: str) -> None:
    """Refuses names that are there twice."""
    for name in names:
        if names.count(name) > 1:
            raise BadExperiment(f"{where}: {show(name)} is there twice; each must be different")


def words(value: Any, where: str) -> str:
    """A text that says something, on one line."""
    if not isinstance(value, str) or not value.strip():
        refuse(where, value, "a text")
    return " ".join(value.split())


def file_name(value: Any, where: str, dots: bool = True) -> str:
    """A name that can be one of a file."""
    pattern = r"[A-Za-z0-9][A-Za-z0-9_+.-]*" if dots else r"[A-Za-z0-9][A-Za-z0-9_+-]*"
    if not isinstance(value, str) or len(value) > MAX_NAME or not re.fullmatch(pattern, value):
        refuse(where, value, NAME + (" (dots too)" if dots else " (no dot: it joins the names of the axes)"))
    return value


def whole(value: Any, where: str, low: int, high: int) -> int:
    """An integer; a boolean is none."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        refuse(where, value, f"an integer from {low} to {high}")
    return value


def inflight_counts(value: Any) -> tuple[int, ...]:
    """Of a sweep, in the order given."""
    where = "experiment.inflight"
    if not isinstance(value, list) or not value:
        refuse(where, value, "a list of in-flight counts such as [1, 2, 4, 8]")
    return _each_once(tuple(whole(v, where, 1, MAX_INFLIGHT) for v in value), where)


def rates(value: Any) -> tuple[float, ...]:
    """Of a sweep, calls per second, in the order given."""
    where = "experiment.rates"
    if not isinstance(value, list) or not value:
        refuse(where, value, "a list of calls per second such as [1000, 2000]")
    for rate in value:
        if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 < rate <= MAX_RATE:
            refuse(where, rate, f"a number of calls per second above 0 and up to {MAX_RATE}")
    return _each_once(tuple(map(float, value)), where)


def _each_once(numbers: tuple[Any, ...], where: str) -> tuple[Any, ...]:
    for number in numbers:
        if numbers.count(number) > 1:
            refuse(where, number, "accepted twice in the list: each once")
    return numbers


def seconds(value: Any, where: str, low: float, high: float = 3600.0) -> float:
    """A number, or a text with a unit."""
    found = -1.0
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        found = float(value) if abs(value) <= high else -1.0
    elif isinstance(value, str) and (match := re.fullmatch(r"(\d+(?:\.\d+)?)(us|ms|s|m|)", value, re.ASCII)):
        found = float(match[1]) * SECONDS[match[2]]
    if not low <= found <= high:  # also catches nan
        refuse(where, value, f"a number of seconds from {low:g} to {high:g}, or one with us, ms, s or m: \"500ms\"")
    return found


def milliseconds(value: Any, where: str) -> int:
    """What is added to a round trip, written as a duration. In whole milliseconds, as toxiproxy counts."""
    found = seconds(value, where, 0.0, MAX_ADDED_RTT_S) * 1000
    if abs(found - round(found)) > 1e-6:
        refuse(where, value, 'a whole number of milliseconds such as "5ms"')
    return round(found)


def grpc_version(value: Any, where: str) -> str:
    """Of a release, to be compared with what a program says of itself."""
    if not isinstance(value, str) or not re.fullmatch(r"\d{1,4}\.\d{1,4}(\.\d{1,4})?", value, re.ASCII):
        refuse(where, value, 'a version of gRPC such as "1.83"')
    return value


def one_of(value: Any, where: str, accepted: tuple[str, ...]) -> str:
    """A text of a few; the empty one is accepted when it is among them."""
    if not isinstance(value, str) or value not in accepted:
        refuse(where, value, " or ".join(f"'{a}'" for a in accepted if a))
    return value


def flags(value: Any, where: str, taken: list[str]) -> tuple[str, ...]:
    """A list of strings, or one string that is split as a shell does."""
    found: list[str] = []
    if isinstance(value, str):
        try:
            found = shlex.split(value)
        except ValueError as error:
            refuse(where, value, f"a command line: {error}")
    elif isinstance(value, list) and all(isinstance(v, str) for v in value):
        found = value
    else:
        refuse(where, value, "a string of flags such as \"--api cq\", or a list of strings")
    if any("\0" in flag for flag in found):
        refuse(where, value, "accepted: it has a NUL character")
    for flag in found:
        if flag_name(flag) in taken:
            refuse(where, flag, "accepted: the experiment's own keys or the runner give it")
    return tuple(found)


def variables(value: Any, where: str) -> dict[str, str]:
    """Environment variables."""
    if not isinstance(value, dict):
        refuse(where, value, 'a table of environment variables such as { GRPC_TRACE = "http" }')
    for name, text in value.items():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name, re.ASCII):
            refuse(where, name, "a name of an environment variable")
        if not isinstance(text, str) or "\0" in text:
            refuse(f"{where}.{name}", text, "a string")
    return value


def pinning(value: Any, where: str) -> Pinning:
    """One of PLACEMENTS or CPU lists, which are checked against the machine later."""
    if isinstance(value, str) and value in PLACEMENTS:
        return Pinning(value)
    if not isinstance(value, dict) or not value:
        accepted = ", ".join(f"'{p}'" for p in PLACEMENTS)
        refuse(where, value, f"{accepted} or a table with server_cpus, client_cpus or both")
    known_keys(value, where, ("server_cpus", "client_cpus"))
    for key, text in value.items():
        if not isinstance(text, str) or not text:
            refuse(f"{where}.{key}", text, 'a list of CPUs such as "0-3,8"')
    return Pinning("cpus", value.get("server_cpus", ""), value.get("client_cpus", ""))


def host(value: Any, where: str) -> str:
    """An address as the client takes it."""
    if not isinstance(value, str) or not value.strip() or value.startswith("-") or "\0" in value:
        refuse(where, value, 'HOST or HOST:PORT, such as "server:2137"')
    return value
