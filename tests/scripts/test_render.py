"""Tables and paragraphs in each format: nothing is cut off, no name is markup, lines among rows change no column."""

from __future__ import annotations

from cqbench.render import markdown, text
from cqbench.render.table import EMPTY, Cell, Column, Line, Table, columns


def table() -> Table:
    made = Table(columns("name", "calls/s", "", left=1), indent=2)
    made.add("a[b]|c", "1,000", Cell("+1.0 %", "bold"))
    made.say("a line among the rows that is wider than any of the columns are")
    made.add("d", "7", style="red")
    return made


def test_figures_are_on_the_right_and_lines_among_rows_widen_nothing() -> None:
    assert text.render([Line("HEAD"), table(), EMPTY]).splitlines() == [
        "HEAD",
        "name      calls/s",
        "  a[b]|c    1,000  +1.0 %",
        "  a line among the rows that is wider than any of the columns are",
        "  d             7",
        "",
    ]


def test_colour_is_of_rows_and_cells() -> None:
    shown = text.render([Line("HEAD", "bold"), table()], colour=True)
    assert "\x1b[1mHEAD" in shown and "\x1b[1m+1.0 %" in shown and "\x1b[31m" in shown.splitlines()[-1]


def test_a_long_cell_is_shortened_only_where_its_column_has_a_maximum() -> None:
    for most, length in ((0, 500), (20, 20)):
        made = Table((Column(most=most), Column()))
        made.add("x" * 500, "y")
        first, second = text.render([made]).split()
        assert (len(first), second) == (length, "y")


def test_paragraphs_are_wrapped_between_words() -> None:
    shown = text.render([Line("one-two three " + "x" * 30, "", 20, "- ")])
    assert shown.splitlines() == ["- one-two three", "  " + "x" * 30]


def test_markdown_escapes_texts_and_not_figures() -> None:
    assert markdown.render([Line("<b>", "bold"), EMPTY, table()]).splitlines() == [
        "**&lt;b&gt;**",
        "",
        "| name | calls/s |  |",
        "|:---|---:|---:|",
        "| a\\[b\\]\\|c | 1,000 | **+1.0 %** |",
        "| d | 7 |  |",
        "",
        "a line among the rows that is wider than any of the columns are",
    ]
