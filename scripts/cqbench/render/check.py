"""A check as text, a paragraph for each rule, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from cqbench.analysis.check.model import Finding, State, Subject
from cqbench.formats import sums
from cqbench.formats.sums import Compared
from cqbench.formats.text import one_line
from cqbench.render.table import Line
from cqbench.render.text import render

WIDTH = 80
MAX_TEXT = 2000  # characters
STYLES = {State.PASSED: "", State.REMARK: "yellow", State.NOT_KNOWN: "yellow", State.FAILED: "bold red"}
WORDS = {State.FAILED: "FAILED"}  # the others as they are


def text(subject: Subject, findings: Sequence[Finding], colour: bool = False) -> str:
    """Ends with a newline; the answer is the last line."""
    rules = max((len(one.rule) for one in findings), default=0)
    indent = " " * (11 + rules + 1)
    lines = [Line(one_line(str(subject.path)))]
    if own := _own_hash(subject):
        lines.append(Line(f"{sums.FILE} {own}"))
    for one in findings:
        first = f"{WORDS.get(one.state, one.state.value):<11}{one.rule:<{rules}} "
        lines.append(Line(one_line(one.text, MAX_TEXT), STYLES[one.state], WIDTH, first, indent))
    return render([*lines, Line(answer(findings), width=WIDTH)], colour)


def _own_hash(subject: Subject) -> str:
    """The SHA-256 of the list of hashes; '' without one."""
    return subject.sums.own if isinstance(subject.sums, Compared) else ""


def answer(findings: Sequence[Finding]) -> str:
    """Names what failed, or says that nothing did; and the other rules to read about."""
    by_state = {state: ", ".join(one.rule for one in findings if one.state is state) for state in State}
    failed = f"Failed: {by_state[State.FAILED]}." if by_state[State.FAILED] else "Nothing failed."
    remarks = f" Remarks: {by_state[State.REMARK]}." if by_state[State.REMARK] else ""
    unknown = f" Not known: {by_state[State.NOT_KNOWN]}." if by_state[State.NOT_KNOWN] else ""
    return failed + remarks + unknown


def as_json(subject: Subject, findings: Sequence[Finding]) -> dict[str, Any]:
    """Every finding with all of its examples."""
    counted = Counter(one.state.value for one in findings)
    return {
        "path": str(subject.path),
        "sha256sums": _own_hash(subject) or None,
        "answer": answer(findings),
        "counts": {state.value: counted[state.value] for state in State},
        "findings": [
            {"rule": one.rule, "state": one.state.value, "text": one.text, "examples": list(one.examples)}
            for one in findings
        ],
    }
