"""A cost profile for people: a table in a terminal, or Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from cqbench.analysis.cost.counts import CPU, FUNCTION, LIBRARY, SYSCALL, THREAD, TOTAL
from cqbench.analysis.cost.names import TOTALS, number
from cqbench.analysis.cost.profile import Figure, Profile
from cqbench.render import markdown as as_markdown
from cqbench.render import text
from cqbench.render.table import EMPTY, Block, Column, Line, Table

MOST_EXPENSIVE = 20
LIBRARIES, SYSCALLS_SHOWN = 14, 20
LABEL = 60  # characters of a name


def percent(share: float) -> str:
    """'0.01 %', '12 %'."""
    return f"{100 * share:.2f} %" if share < 0.0995 else f"{100 * share:.0f} %"


def tables(profile: Profile, side: str) -> Iterator[Table]:
    """Yields the tables of one end: per call, then the parts of the totals."""
    totals = sorted(profile.of(side, TOTAL), key=lambda f: _place(f.name))
    if totals:
        table = _table(f"{side}, per call")
        for figure in totals:
            table.add(TOTALS.get(figure.name, figure.name), number(figure.median), _spread(figure), "")
        yield table
    for kind, title, of, most in (
        (CPU, "CPU by library, sampled, ns", "cpu-sampled-ns", LIBRARIES),
        (SYSCALL, "system calls", "syscalls", SYSCALLS_SHOWN),
        (THREAD, "system calls by thread", "syscalls", SYSCALLS_SHOWN),
        (LIBRARY, "instructions by library", "instructions", LIBRARIES),
        (FUNCTION, "most expensive functions, without what they call", "instructions", MOST_EXPENSIVE),
    ):
        if found := profile.of(side, kind):
            whole = profile.total(side, of)
            yield _parts(f"{side}: {title}", found, whole.median if whole else 0.0, most)


def _table(title: str) -> Table:
    head = (Column("median", True, 14), Column("spread", True, 8), Column("share", True, 7))
    return Table((Column(title, width=LABEL, most=LABEL), *head), indent=2)


def _parts(title: str, found: list[Figure], whole: float, most: int) -> Table:
    table = _table(title)
    shown = [f for f in found[:most] if abs(f.median) >= 0.0005]
    for figure in shown:
        share = percent(figure.median / whole) if whole else ""
        table.add(_label(figure), number(figure.median), _spread(figure), share)
    if left := len(found) - len(shown):
        together = number(sum(f.median for f in found if f not in shown))
        table.say(f"and {left} more, {together} together")
    return table


def _spread(figure: Figure) -> str:
    """'-' where it is not known: counted once."""
    return percent(figure.spread) if figure.repetitions > 1 else "-"


def _label(figure: Figure) -> str:
    return f"{figure.name} [{figure.library}]" if figure.library else figure.name


def _place(name: str) -> int:
    order = list(TOTALS)
    return order.index(name) if name in order else len(order)


def remarks(profile: Profile) -> list[str]:
    """Remarks that a reader needs in addition to the figures."""
    lines = []
    for side in profile.sides:
        writes, calls = profile.total(side, "socket-writes"), profile.messages_per_call
        if writes and writes.median:
            lines.append(f"{side}: {1 / writes.median:.2f} calls per write to a socket")
        if calls:
            each = [
                f"{t} {number(f.median / calls)}"
                for t in ("instructions", "syscalls", "allocations")
                if (f := profile.total(side, t))
            ]
            lines.append(f"{side}, per message ({calls} in a call): {', '.join(each)}")
    lines += [f"counted ({part}): {how}" for part, how in profile.means.items()]
    lines += [f"absent: {a.part} of the {a.side}: {a.reason}" for a in profile.absent]
    lines += [f"note: {note}" for note in profile.notes]
    if profile.partial:
        lines.append("PARTIAL: interrupted; what was done before is here")
    return lines


def render(profile: Profile) -> str:
    """Ends with a newline. spread: between the minimum and the maximum repetition, of the median."""
    return text.render([*_blocks(profile), *map(Line, remarks(profile))])


def markdown(profile: Profile) -> str:
    """The same for a pull request. Ends with a newline."""
    return as_markdown.render(_blocks(profile, "### ")) + as_markdown.bullets(remarks(profile))


def _blocks(profile: Profile, first: str = "") -> Iterator[Block]:
    yield from (Line(f"What a call costs: {profile.title}", first=first), EMPTY)
    for table in (t for side in profile.sides for t in tables(profile, side)):
        yield from (table, EMPTY)
