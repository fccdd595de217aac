"""Markdown, CSV and the page: what is in them, and that names from files are text there."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from made_results import put
from test_compare_foreign import NANOS, google
from test_compare_synthetic import BASE, DATA, FASTER, SAME, SLOWER, called, result, sessions

HOSTILE = "</style><img src=x onerror=alert(1)>|`*"


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    """A and B of ten sessions; a.json and b.json with the same repetitions in one session each."""
    before = result({1: BASE, 4: BASE, 8: BASE, 16: BASE})
    after = result({1: SAME, 4: SLOWER, 8: FASTER, 32: BASE}, grpc_version="1.60.0")
    for name, data in (("a", before), ("b", after)):
        put(Path(f"{name}.json"), data)
        sessions(Path(name), data)


@pytest.mark.parametrize(("form", "name"), [("text", "text.txt"), ("markdown", "markdown.md"), ("csv", "csv.csv")])
def test_to_the_letter(capsys: pytest.CaptureFixture[str], form: str, name: str) -> None:
    """Look at every line that changes."""
    status, out, err = called(capsys, "a", "b", "--format", form)
    assert (status, err) == (0, "")
    assert out == (DATA / "compare" / name).read_text()


def test_one_session_a_side(capsys: pytest.CaptureFixture[str]) -> None:
    """Ratios, and no interval."""
    for form in ("text", "markdown", "html", "benchresult"):
        status, out, _ = called(capsys, "a.json", "b.json", "--format", form)
        assert status == 0 and "! sessions: 1 before, 1 after: what changed on the machine" in out.replace("\\!", "!")
        assert "+7.5" in out and "inconclusive: 1 session a side, needs 3" in out
        assert not re.search(r"(?<![-\w])(faster|slower)\b", out)


def test_the_ending_of_the_file_says_the_format(capsys: pytest.CaptureFixture[str]) -> None:
    for name, begins in (("x.md", "A: a.json"), ("x.csv", "compared,"), ("x.json", "{"), ("x.html", "<!doctype html>")):
        assert called(capsys, "a.json", "b.json", "--output", name)[:2] == (0, "")
        assert Path(name).read_text().startswith(begins)


def test_nothing_in_a_name_is_markup(capsys: pytest.CaptureFixture[str]) -> None:
    for side, values in (("x", BASE), ("y", SLOWER)):
        put(Path(side, "raw", "v|*<b>", "1.json"), result({4: values}, compiler=HOSTILE + side, grpc_version=HOSTILE))
    markdown = called(capsys, "x", "y", "--format", "markdown")[1]
    assert "<img" not in markdown and "<b>" not in markdown and "\\|\\`\\*" in markdown
    assert {line.count("|") - line.count("\\|") for line in markdown.splitlines() if line.startswith("| ")} == {7}
    page = called(capsys, "x", "y", "--format", "html")[1]
    assert "<img" not in page and "<b>" not in page and page.count("</style>") == 1
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page


def test_the_pages_plots(capsys: pytest.CaptureFixture[str]) -> None:
    """Latencies of both sides over each other, and the repetitions; benchmarks of others have no latencies."""
    page = called(capsys, DATA / "result.json", DATA / "result.json", "--format", "html")[1]
    assert page.count("<svg") == 2 and "% of calls" in page and "<script" not in page
    assert called(capsys, put(Path("g.json"), google(NANOS)), "g.json", "--format", "html")[1].count("<svg") == 1


def test_a_histogram_that_cannot_be_read_costs_its_plot_only(capsys: pytest.CaptureFixture[str]) -> None:
    data = result({4: BASE})
    for entry in data["benchmarks"]:
        entry["latency_histogram"] = "x"
    put(Path("h.json"), data)
    page = called(capsys, "h.json", "h.json", "--format", "html")[1]
    assert page.count("<svg") == 1 and "% of calls" not in page


def test_the_csv_names_units(capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(csv.DictReader(io.StringIO(called(capsys, "a", "b", "--format", "csv")[1])))
    by_name = {(row["point"], row["metric"]): row for row in rows}
    slower = by_name["in-flight 4", "p50"]
    assert (slower["unit"], slower["verdict"], slower["repetitions_after"]) == ("us", "slower", "10")
    assert float(slower["after"]) / float(slower["before"]) == pytest.approx(
        1 + float(slower["change_percent"]) / 100, rel=1e-4
    )
    assert by_name["", "throughput"]["verdict"] == "no difference seen"
