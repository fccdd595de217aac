"""A judgement as text for a terminal, plain ASCII: all blocks, or a summary that fits a screen."""

from __future__ import annotations

from cqbench import verdict_advice as advice
from cqbench import verdict_summary
from cqbench.verdict_advice import Judgement
from cqbench.verdict_block import LEGEND, block
from cqbench.verdict_words import fit_words, title, verdict_words, wrap

__all__ = ["block", "fit_words", "render", "summary", "title", "verdict_words"]


def render(judgement: Judgement) -> str:
    """Every finding's block, what else to set, and the legend. Ends with a newline."""
    if not judgement.findings:
        return "Nothing to judge: no series was measured.\n"
    parts = ["\n".join(block(f)) for f in judgement.findings]
    if judgement.choices:
        parts.append("\n".join(wrap("ALSO", advice.choice_words(c), 2) for c in judgement.choices[:3]))
    return "\n\n".join(parts) + "\n" + LEGEND + "\n"


def summary(judgement: Judgement) -> str:
    """A screen, however many findings there are; of one its block. Ends with a newline."""
    if len(judgement.findings) <= 1:
        return render(judgement)
    return "\n".join(verdict_summary.lines(judgement)) + "\n"
