"""A bill for people: a table in a terminal, or Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cqbench.bills.counts import CPU, FUNCTION, LIBRARY, SYSCALL, THREAD
from cqbench.bills.model import Bill, Figure
from cqbench.files.escape import markdown as escaped

DEAREST = 20
LIBRARIES, SYSCALLS_SHOWN = 14, 20
# In this order; what is not here has its own name.
TOTALS = {
    "cpu-user-ns": "CPU, user, ns",
    "cpu-system-ns": "CPU, kernel, ns",
    "cpu-sampled-ns": "CPU, sampled, ns",
    "voluntary-switches": "switches, voluntary",
    "involuntary-switches": "switches, involuntary",
    "allocations": "allocations",
    "allocated-bytes": "bytes allocated",
    "frees-elsewhere": "of the allocations, freed by another thread",
    "allocation-calls": "calls of malloc and its family, as callgrind sees them",
    "syscalls": "system calls",
    "lock-waiting-syscalls": "naps of waiting for locks, which are not in these",
    "wake-ups": "wake-ups of other threads (futex; eventfd)",
    "syscalls-in-vain": "system calls in vain (nothing there, interrupted, late)",
    "socket-writes": "writes to sockets",
    "socket-bytes-written": "bytes written to sockets",
    "socket-reads": "reads from sockets that brought something",
    "socket-bytes-read": "bytes read from sockets",
    "instructions": "instructions",
    "lock-waiting": "instructions of waiting for locks, which are not in these",
    "heap-searching": "malloc's search of the heap, which is not in these",
    "loads": "loads",
    "stores": "stores",
    "branches": "conditional branches",
    "indirect-branches": "indirect branches",
}
LABEL, NUMBER = 62, 14


class Row(NamedTuple):
    """spread: None where it was counted once. share: of the total of its kind, None for totals."""

    label: str
    value: float
    spread: float | None
    share: float | None = None


class Block(NamedTuple):
    """A table. rest: what it leaves out, in words."""

    title: str
    rows: list[Row]
    rest: str = ""


def number(value: float) -> str:
    """'38,123', '2.00'."""
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.2f}"


def percent(share: float) -> str:
    """'0.01 %', '12 %'."""
    return f"{100 * share:.2f} %" if share < 0.0995 else f"{100 * share:.0f} %"


def apart(spread: float | None) -> str:
    """'-' where it is not known."""
    return "-" if spread is None else percent(spread)


def _spread(figure: Figure) -> float | None:
    return figure.spread if figure.repetitions > 1 else None


def blocks(bill: Bill, side: str) -> Iterator[Block]:
    """The tables of one end."""
    totals = sorted(bill.of(side, "total"), key=lambda f: _place(f.name))
    if totals:
        yield Block(f"{side}, per call", [Row(TOTALS.get(f.name, f.name), f.median, _spread(f)) for f in totals])
    for kind, title, of, most in (
        (CPU, "CPU by library, sampled, ns", "cpu-sampled-ns", LIBRARIES),
        (SYSCALL, "system calls", "syscalls", SYSCALLS_SHOWN),
        (THREAD, "system calls by thread", "syscalls", SYSCALLS_SHOWN),
        (LIBRARY, "instructions by library", "instructions", LIBRARIES),
        (FUNCTION, "dearest functions, without what they call", "instructions", DEAREST),
    ):
        if found := bill.of(side, kind):
            whole = bill.total(side, of)
            yield _parts(f"{side}: {title}", found, whole.median if whole else 0.0, most)


def _parts(title: str, found: list[Figure], whole: float, most: int) -> Block:
    shown = [f for f in found[:most] if abs(f.median) >= 0.0005]
    rows = [Row(_label(f), f.median, _spread(f), f.median / whole if whole else None) for f in shown]
    left = len(found) - len(shown)
    rest = f"and {left} more, {number(sum(f.median for f in found if f not in shown))} together" if left else ""
    return Block(title, rows, rest)


def _label(figure: Figure) -> str:
    return f"{figure.name} [{figure.library}]" if figure.library else figure.name


def _place(name: str) -> int:
    order = list(TOTALS)
    return order.index(name) if name in order else len(order)


def remarks(bill: Bill) -> list[str]:
    """What a reader must know beside the figures."""
    lines = []
    for side in bill.sides:
        writes, calls = bill.total(side, "socket-writes"), bill.messages_per_call
        if writes and writes.median:
            lines.append(f"{side}: {1 / writes.median:.2f} calls per write to a socket")
        if calls:
            each = [
                f"{t} {number(f.median / calls)}"
                for t in ("instructions", "syscalls", "allocations")
                if (f := bill.total(side, t))
            ]
            lines.append(f"{side}, per message ({calls} in a call): {', '.join(each)}")
    lines += [f"counted ({part}): {how}" for part, how in bill.means.items()]
    lines += [f"absent: {a.part} of the {a.side}: {a.reason}" for a in bill.absent]
    lines += [f"note: {note}" for note in bill.notes]
    if bill.partial:
        lines.append("PARTIAL: interrupted; what was done before is here")
    return lines


def render(bill: Bill) -> str:
    """Ends with a newline. spread: between the least and the most repetition, of the median."""
    lines = [f"What a call costs: {bill.title}", ""]
    for block in (b for side in bill.sides for b in blocks(bill, side)):
        lines.append(f"{block.title:<{LABEL}}{'median':>{NUMBER}}{'spread':>10}{'share':>9}".rstrip())
        for row in block.rows:
            label = row.label if len(row.label) < LABEL - 3 else row.label[: LABEL - 7] + "..."
            share = "" if row.share is None else percent(row.share)
            lines.append(
                f"  {label:<{LABEL - 2}}{number(row.value):>{NUMBER}}{apart(row.spread):>10}{share:>9}".rstrip()
            )
        lines += [f"  {block.rest}"] if block.rest else []
        lines.append("")
    return "\n".join([*lines, *remarks(bill)]) + "\n"


def markdown(bill: Bill) -> str:
    """The same for a pull request. Ends with a newline."""
    lines = [f"### What a call costs: {escaped(bill.title)}", ""]
    for block in (b for side in bill.sides for b in blocks(bill, side)):
        lines += [f"| {escaped(block.title)} | median | spread | share |", "|---|--:|--:|--:|"]
        for row in block.rows:
            share = "" if row.share is None else percent(row.share)
            lines.append(f"| {escaped(row.label)} | {number(row.value)} | {apart(row.spread)} | {share} |")
        lines += ["", escaped(block.rest), ""] if block.rest else [""]
    return "\n".join([*lines, *(f"- {escaped(line)}" for line in remarks(bill))]) + "\n"
