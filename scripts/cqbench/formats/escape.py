"""Texts that may come from other people's files, for formats whose readers interpret them: Markdown and CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable

GAP = "&#8203;"  # a space without width: GitHub looks for the following after it has rendered, whatever was escaped
# Mentions and e-mail addresses, issues, :emoji: (not the colons of foo::bar), addresses of pages.
LINKS = re.compile(r"(@|#)(?=\w)|(?<!:)(:)(?=[\w+-]+:(?!:)|//)|((?i:\bwww))(?=\.)")
INLINE = re.compile(r"[\\`*_\[\]|~$#]")
AT_THE_START = re.compile(r"^(\d*)([-+.):=])")  # lists, rules, underlines of headings
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}

# Characters with which a spreadsheet's formula begins. The list is OWASP's ("CSV Injection"), with the wide forms that
# some input methods write.
FORMULA = re.compile("[=+\\-@\t\r\n\0＝＋－＠]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def markdown(text: str) -> str:
    """As GitHub shows the text itself: no cell, tag, link, mention or emphasis ends or begins in it. One line."""
    line = "".join(c if c.isprintable() else " " for c in text).strip()
    line = re.sub("[&<>]", lambda found: ENTITIES[found[0]], line)
    line = LINKS.sub(lambda found: f"{found[0]}\0", line)
    line = AT_THE_START.sub(r"\1\\\2", INLINE.sub(r"\\\g<0>", line))
    return line.replace("\0", GAP)


def csv_of(rows: Iterable[Iterable[object]]) -> str:
    """A spreadsheet takes a text that begins like a formula for one, unless an apostrophe is before it."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([_cell(cell) for cell in row] for row in rows)
    return out.getvalue()


def _cell(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    line = cell.replace("\r", " ")  # which the writer takes for no end of a line, and readers do
    return f"'{line}" if FORMULA.match(cell) and not NUMBER.fullmatch(cell) else line
