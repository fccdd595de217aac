"""Texts of other people's files in Markdown and CSV: shown as they are, whatever they look like."""

from __future__ import annotations

import csv
import io
import string
from itertools import product
from pathlib import Path

import pytest
from cqbench import cli
from cqbench.formats import escape
from cqbench.formats.reasons import Reason
from cqbench.formats.runs import read
from cqbench.render.cost import text
from cqbench.render.points_csv import to_csv
from markdown_it import MarkdownIt
from markdown_it.token import Token
from test_cost_compare import profile, stored
from verdict_synthetic import SHARED, configuration

DATA = Path(__file__).parent / "data"
GAP = "\u200b"
HOSTILE = (
    "a | b", "\\| x", "\\", "a\\", "`code`", "``", "*b*", "**", "_i_ __b__", "a_b_c", "~~gone~~", "[x](http://evil/)",
    "![x](y)", "[x]: y", "<b>", "<!--", "<script>alert(1)</script>", "&lt;", "&amp;lt;", "&#42;", "# head", "#12",
    "org/repo#12", "@someone", "a@b.org", ":tada:", "a:tada:b", "http://evil/?a=b", "www.evil.org", "WWW.evil.org",
    "$x$", "- item", "+ item", "1. one", "2) two", "---", "===", ":--", "> quote", "    indented", "a\nb", "a\r\n# b",
    "a\tb", "a\x00b", "\u202eab", "std::vector<int>::at", "~~~", "  ", "operator|(A&, B*)", "f(int) [gRPC]", "12:30:45",
)  # fmt: skip


def shown(markdown: str) -> tuple[list[str], str]:
    """Kinds of tokens, and the text. GitHub's strikethrough and tables are on; its other additions look for text."""
    tokens: list[Token] = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)
    inline = [child for token in tokens if token.type == "inline" for child in token.children or []]
    return [t.type for t in tokens] + [c.type for c in inline], "".join(c.content for c in inline)


def plain(said: str) -> str:
    return "".join(c if c.isprintable() else " " for c in said).strip()


@pytest.mark.parametrize("said", [*HOSTILE, *(f"{a}b{c}d" for a, c in product(string.punctuation, repeat=2))])
def test_markdown_shows_the_text_itself(said: str) -> None:
    """As a paragraph, as an item and as a cell; no blocks or spans but those, and what is shown is what was said."""
    for form, kinds in (("{}", 3), ("- {}", 7), ("| a | {} | c |\n|---|---|---|", 18)):
        found, words = shown(form.format(escape.markdown(said)))
        spans = [kind for kind in found if kind not in ("text", "inline") and not kind.endswith(("_open", "_close"))]
        opened = {kind for kind in found if kind.endswith("_open")} - {
            *("paragraph_open", "bullet_list_open", "list_item_open"),
            *("table_open", "thead_open", "tr_open", "th_open"),
        }
        assert not spans and not opened and found.count("paragraph_open") + found.count("th_open") <= 3
        assert len([kind for kind in found if kind != "text"]) <= kinds
        cell = words if "|---" not in form else words[1:-1]
        assert cell.replace(GAP, "") == plain(said), (form, escape.markdown(said))


@pytest.mark.parametrize(
    ("said", "broken"),
    [
        ("@someone", f"@{GAP}someone"),
        ("a@b.org", f"a@{GAP}b.org"),
        ("see #12", f"see #{GAP}12"),
        (":tada:", f":{GAP}tada:"),
        ("https://a.b", f"https:{GAP}//a.b"),
        ("www.a.b", f"www{GAP}.a.b"),
        ("std::string::size", "std::string::size"),
        ("C# a: b", "C# a: b"),
    ],
)
def test_what_github_makes_of_text_after_rendering_finds_none(said: str, broken: str) -> None:
    assert shown(escape.markdown(said))[1] == broken


def cells_of(markdown: str) -> set[int]:
    return {line.replace("\\|", "").count("|") for line in markdown.splitlines() if line.startswith("|")}


def test_profiles_and_what_changed_between_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Titles, labels and notes of a cost profile are its file's."""
    name = "a|b`<i>*x* @all #1 \\"
    data = profile(title=name).model_dump()
    data["figures"] = [{**f, "name": name} if f["kind"] == "function" else f for f in data["figures"]]
    one = type(profile()).model_validate({**data, "notes": [name]})
    two = type(profile()).model_validate({**data, "notes": [name], "setting": {"grpc_version": f"1\n{name}"}})
    assert cli.main(["compare", stored(tmp_path, "a", one), stored(tmp_path, "b", two), "--format", "markdown"]) == 0
    for said in (text.markdown(one), capsys.readouterr().out):
        assert escape.markdown(name) in said and cells_of(said) <= {5, 6, 7}
        assert not any(raw in said for raw in ("<i>", "*x* ", "@all", " #1", "b`"))


# CSV.

FORMULAS = (
    "=1+1",
    "+SUM(A1)",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "\0=1",
    "＝1",
    "-",
    "=",
    "-inf",
    "+1 x",
    "1-",
    "--5",
)


@pytest.mark.parametrize("said", FORMULAS)
def test_a_text_that_begins_like_a_formula_is_guarded(said: str) -> None:
    ((cell,),) = csv.reader(io.StringIO(escape.csv_of([[said]]), newline=""))
    assert cell == (said if said == "1-" else f"'{said}".replace("\r", " "))


@pytest.mark.parametrize(
    "number", [-1.5, 0, 12, "-1.5", "+2", "-.5", "-1e-05", "-2E+10", "1.5", "", "a=b", "'x", "unary"]
)
def test_numbers_and_other_texts_stay_what_they_are(number: float | str) -> None:
    assert escape.csv_of([[1, number]]) == f"1,{number}\n"


def rows_of(told: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(told)))


def test_results_csv() -> None:
    run = read(DATA / "result.json", "=HYPERLINK(1)")
    run.document.warnings.append(Reason("x", "@warning"))
    row = rows_of(to_csv([(1, run)]))[0]
    assert (
        row["configuration"] == "'=HYPERLINK(1)" and "; @warning; " in row["warnings"] and float(row["throughput"]) > 0
    )


def test_comparisons_and_histories(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The name of a run is its folder's; a change for the worse is a number."""
    for name, by in (("=a", 1.0), ("b", 0.9)):
        configuration(tmp_path / name, "@one", "shared", {n: rate * by for n, rate in SHARED.items()})
    assert cli.main(["compare", "--history", str(tmp_path), "--format", "csv"]) == 0
    rows = rows_of(capsys.readouterr().out)
    assert {row["run"] for row in rows} == {"'=a", "b"} and all(row["scenario"].startswith("'@one") for row in rows)
    assert cli.main(["compare", str(tmp_path / "=a"), str(tmp_path / "b"), "--format", "csv"]) == 0
    rows = rows_of(capsys.readouterr().out)
    assert min(float(row["change_percent"]) for row in rows) == pytest.approx(-10)
    assert {row["scenario"] for row in rows} - {""} and all(row["scenario"][:2] in ("", "'@") for row in rows)


def test_csv_is_written_in_one_place() -> None:
    root = Path(escape.__file__).parents[1]
    writers = [
        path.name for path in root.rglob("*.py") if "csv.writer" in path.read_text() or "DictWriter" in path.read_text()
    ]
    assert writers == ["escape.py"]
