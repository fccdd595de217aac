"""Command-line values: every error is one line that names the flag, the value and what is accepted; exit status 2."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import NoReturn

MAX_RATE = 10_000_000  # calls per second, as the client's --rate


class Parser(argparse.ArgumentParser):
    """One line instead of argparse's usage block; no abbreviated flags. The scripts print the help."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog=prog, add_help=False, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {message} (see --help)", file=sys.stderr)
        sys.exit(2)


def seconds(low: float, high: float = 3600.0) -> Callable[[str], float]:
    """An argparse type: a number of seconds from low to high."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not low <= value <= high:  # also catches nan
            raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds from {low:g} to {high:g}")
        return value

    return parse


def whole(low: int, high: int) -> Callable[[str], int]:
    """An argparse type: an integer from low to high."""

    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high):
            raise argparse.ArgumentTypeError(f"'{text}' is not an integer from {low} to {high}")
        return int(text)

    return parse


def inflight_list(text: str) -> tuple[int, ...]:
    """An argparse type: '1,2,4' -> (1, 2, 4), ascending, each once."""
    one = whole(1, 100_000)
    try:
        return tuple(sorted({one(part) for part in text.split(",")}))
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of in-flight counts such as 1,2,4,8") from None


def rate_list(text: str) -> tuple[float, ...]:
    """An argparse type: '1000,2000' -> calls per second, ascending, each once."""
    try:
        rates = {float(part) for part in text.split(",")}
    except ValueError:
        rates = {-1.0}
    if not all(0 < rate <= MAX_RATE for rate in rates):  # also catches nan
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a list of calls per second such as 1000,2000, each above 0 and up to {MAX_RATE}"
        )
    return tuple(sorted(rates))
