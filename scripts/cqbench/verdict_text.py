"""A judgement as text for a terminal, plain ASCII: all blocks, or a summary that fits a screen."""

from __future__ import annotations

from cqbench import verdict_advice as advice
from cqbench import verdict_summary
from cqbench.verdict_advice import Judgement
from cqbench.verdict_block import LEGEND, block
from cqbench.verdict_words import fill, fit_words, title, verdict_words, wrap

__all__ = ["block", "fit_words", "render", "summary", "title", "verdict_words"]


def render(judgement: Judgement) -> str:
    """Every finding's block, what else to set, and the legend. Ends with a newline."""
    if not judgement.findings:
        return f"Nothing to judge: {_only_open(judgement) or 'no series was measured.'}\n"
    parts = ["\n".join(block(f)) for f in judgement.findings]
    if judgement.choices:
        parts.append("\n".join(wrap("ALSO", advice.choice_words(c), 2) for c in judgement.choices[:3]))
    return "\n\n".join(parts) + "\n" + LEGEND + "\n" + _also_open(judgement)


def summary(judgement: Judgement) -> str:
    """A screen, however many findings there are; of one its block. Ends with a newline."""
    if len(judgement.findings) <= 1:
        return render(judgement)
    return "\n".join(verdict_summary.lines(judgement)) + "\n" + _also_open(judgement)


def _only_open(judgement: Judgement) -> str:
    """'' where there is no open loop either."""
    number = len(judgement.open_loops)
    if not number:
        return ""
    what = "the series measured is an open loop" if number == 1 else f"all {number} series measured are open loops"
    return fill(
        f"{what}. What a shared connection costs shows in the throughput of a closed loop; in an open one that is what "
        f"was asked. Latency at equal rates is in the report, and scripts/compare.sh compares it.",
        4,
    )


def _also_open(judgement: Judgement) -> str:
    """A line; '' without open loops."""
    number = len(judgement.open_loops)
    return f"Open loops say nothing about this and were left out: {number} series.\n" if number else ""
