"""The page as text: what is there, texts stay texts, nothing is loaded. test_report_browser.py opens it."""

from __future__ import annotations

import base64
import csv
import gzip
import hashlib
import io
import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from html.parser import HTMLParser
from shutil import which
from typing import Any

import pytest
import report_samples as samples
from cqbench.formats.figures import THROUGHPUT
from cqbench.model.figures import P50
from cqbench.render.report import embedded
from cqbench.render.report import page as page_module
from cqbench.render.report.model import Report
from cqbench.render.report.values import SHOWN, number
from cqbench.render.table import plain

VOID = {"meta", "input", "br", "img", "link"}


class Page(HTMLParser):
    """Elements as (name, attributes, text directly or deeper inside)."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str], list[str]]] = []
        self._open: list[tuple[str, dict[str, str], list[str]]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = (tag, {k: v or "" for k, v in attrs}, list[str]())
        self.found.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        for _, _, text in self._open:
            text.append(data)

    def all(self, tag: str, **wanted: str) -> Iterator[tuple[dict[str, str], str]]:
        for name, attributes, text in self.found:
            if name == tag and all(attributes.get(k.strip("_")) == v for k, v in wanted.items()):
                yield attributes, "".join(text)

    def one(self, tag: str, **wanted: str) -> str:
        ((_, text),) = self.all(tag, **wanted)
        return text


@lru_cache
def rendered(name: str) -> str:
    return page_module.render(getattr(samples, name)())


@lru_cache
def page(name: str = "usual") -> Page:
    return Page(rendered(name))


def of(report: Report) -> Page:
    return Page(page_module.render(report))


def data(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(page(name).one("script", id="data"))
    return found


def download(found: Page, kind: str) -> str:
    return gzip.decompress(base64.b64decode(found.one("script", id=f"download-{kind}"))).decode()


# Texts.


def test_answer_machine_and_ratio_come_first() -> None:
    html = rendered("usual")
    places = ['class="answer"', 'class="facts"', 'id="plot-ratio"', 'id="verdict"', 'id="plot-throughput"']
    places += [f'id="{i}"' for i in ("errors", "data-title", "machine", "commands", "downloads")]
    order = [html.index(place) for place in places]
    assert order == sorted(order)
    assert page().one("p", class_="answer") == "NO: separate connections are slower at 48 in flight"
    assert [text for _, text in page().all("p", class_="why")] == ["Where slower: the client's CPUs are saturated."]
    facts = page().one("dl", class_="facts")
    assert "Virtual CPU @ 2.50 GHz" in facts and "2 of 69 points: other-processes 2" in facts


def test_a_finding_is_a_card() -> None:
    first, second = (text for _, text in page().all("article"))
    assert "unary, sync" in first and "0.80 (0.76–0.84)" in first and "50.0k → 40.0k" in first
    assert "unary, cq" in second and "inconclusive" in second
    assert [a["data-verdict"] for a, _ in page().all("article")] == ["slower", "inconclusive"]


def test_the_first_screen_has_the_tables_of_the_text_and_what_to_set() -> None:
    said = page().one("section", class_="answered")
    for wanted in (
        "calls/s at 8",
        "1.00 (0.95–1.05) =",
        "at 48 in flight",
        "0.80 (0.76–0.84)",
        "50.0k → 40.0k",
        "1000 → 1250",
        "1.25 (1.19–1.32)",
    ):
        assert wanted in said, wanted
    (advice, *others) = [text for _, text in page().all("section", class_="advice")]
    for wanted in ("What to set", "cq instead of sync", "--api cq", "×1.30 (1.20–1.40)", "costs: ×0.80 at 1"):
        assert wanted in advice, wanted
    assert "grpc::CompletionQueue queue;" in advice and "Otherwise keep one connection." in advice
    assert "20 more repetitions" in others[0] and "a machine with more CPUs" in others[1]


def test_what_is_compared_has_a_legend_of_its_own() -> None:
    shown = [" ".join(text.split()) for a, text in page().all("button") if "data-toggle" in a]
    assert shown[:2] == ["sync, separate ÷ sync, shared", "cq, separate ÷ cq, shared"]
    assert [text for a, text in page().all("option", value="connections")] == [
        "connections: separate ÷ shared, pool:4 ÷ shared"
    ] * 2


def test_failed_calls_are_a_table_or_a_sentence() -> None:
    assert "UNAVAILABLE" in "".join(t for a, t in page().all("section") if a.get("aria-labelledby") == "errors")
    none = of(replace(samples.usual(), errors=plain(())))
    assert "No call failed." in "".join(t for a, t in none.all("section") if a.get("aria-labelledby") == "errors")


def test_two_experiments_are_named() -> None:
    report = samples.usual()
    both = tuple(replace(s, run=i % 2) for i, s in enumerate(report.series))
    found = of(replace(report, series=both, experiments=("A: before", "B: after")))
    assert [text for _, text in found.all("p", class_="made")][1:] == ["A: before", "B: after"]
    assert [text for a, text in found.all("button") if a.get("data-show") == "run"] == ["only A", "only B"]


def test_a_partial_report_says_so() -> None:
    found = of(replace(samples.usual(), partial="Two of six repetitions are missing."))
    assert "PARTIAL. Two of six repetitions are missing." in found.one("p", class_="partial")
    assert list(page().all("p", class_="partial")) == []


def test_every_point_is_in_a_table_with_its_interval_and_remarks() -> None:
    report = samples.usual()
    for s in report.series:
        rows = page().one("details", id=f"table-{s.id}")
        for p in s.points:
            assert number(p.values[THROUGHPUT].middle) in rows
    doubtful = page().one("details", id="table-unary-sync-separate")
    assert f"cut short; warning: {samples.BUSY}; not warmed up" in doubtful
    heads = [text for a, text in Page(doubtful_html()).all("th", scope="row")]
    assert heads == ["1", "4 ^", "8", "16 ×", "32", "48 ×°"]
    low, high = (number(v) for v in _interval(report))
    assert f"{low}–{high}" in page().one("details", id="table-unary-sync-shared")
    assert "Nothing was measured." in page().one("details", id="table-failed")


def doubtful_html() -> str:
    pattern = r'<details class="table" id="table-unary-sync-separate".*?</details>'
    (html,) = re.findall(pattern, rendered("usual"), re.S)
    return str(html)


def _interval(report: Report) -> tuple[float, float]:
    value = samples.shown(report.series[0].points[0], P50)
    assert value.low is not None and value.high is not None
    return value.low, value.high


def test_a_table_has_only_columns_with_figures() -> None:
    with_server = page().one("details", id="table-unary-sync-shared")
    assert "Server CPU per call, µs" in with_server
    assert "Server CPU per call" not in page().one("details", id="table-unary-callback-shared")


def test_everything_else_is_there() -> None:
    text = rendered("usual")
    for wanted in ("Other programs used 3 %", "repetition 3: the server did not answer", "Virtual CPU @ 2.50 GHz"):
        assert wanted in text
    commands = [t for a, t in page().all("pre") if "grpc_ping_client" in t]
    assert commands == [s.client_command for s in samples.usual().series]
    assert "only 4 in-flight counts, it needs 5" in page().one("details", class_="fits printed")
    assert "poor, drawn faint" in page().one("details", class_="fits printed")


def test_what_nobody_has_figures_for_is_listed_once() -> None:
    report = samples.usual()
    bare = tuple(replace(s, distributions=()) for s in report.series)
    found = of(replace(report, series=bare))
    assert "Latency distribution: it needs the histograms of the result files" in found.one("details", class_="absent")
    assert 'id="panel-distribution' not in page_module.render(replace(report, series=bare))
    assert list(page().all("p", class_="missing")) == []


def test_a_method_that_has_no_figures_says_so() -> None:
    report = samples.usual()
    some = tuple(replace(s, distributions=() if s.method == "unary" else s.distributions) for s in report.series)
    missing = [text for _, text in of(replace(report, series=some)).all("p", class_="missing")]
    assert missing == ["Not measured. It needs the histograms of the result files."]


def test_a_report_of_nothing() -> None:
    nothing = dict.fromkeys(("series", "verdicts", "against", "machine", "facts", "notes", "failures"), ())
    empty = replace(samples.usual(), made="", data={}, **nothing)  # type: ignore[arg-type]
    found = of(empty)
    assert "No series could be judged." in "".join(t for _, t in found.all("section"))
    assert json.loads(found.one("script", id="data"))["frames"] == []
    assert list(found.all("time")) == []


def test_dates() -> None:
    assert page().one("time") == "1 June 2025, 12:00 UTC"
    assert of(replace(samples.usual(), made="some day")).one("time") == "some day"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.0, "0"),
        (0.012345, "0.01235"),
        (2e-6, "0.000002"),
        (0.5, "0.5"),
        (1.23456, "1.235"),
        (87.1, "87.1"),
        (999.96, "1,000"),
    ]
    + [(93671.4, "93,671"), (1e6, "1,000,000"), (-2.5, "-2.5"), (48, "48"), (99.999, "100")],
)
def test_numbers(value: float, text: str) -> None:
    assert number(value) == text


# Access.


def test_headings_are_in_order_and_there_is_one_title() -> None:
    levels = [int(name[1]) for name, _, _ in page().found if re.fullmatch("h[1-6]", name)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b <= a + 1 for a, b in zip(levels, levels[1:], strict=False))
    assert [a for a, _ in page().all("html")] == [{"lang": "en"}]


def test_every_control_has_a_label() -> None:
    labelled = {a["for"] for a, _ in page().all("label") if "for" in a}
    for attributes, _ in page().all("select"):
        assert attributes["id"] in labelled
    html = rendered("usual")
    assert len(re.findall(r"<label[^>]*>\s*<input type=\"checkbox\"", html)) == len(list(page().all("input")))
    for attributes, text in page().all("button"):
        assert text.strip() or attributes.get("aria-label")


def test_ids_are_unique_and_references_lead_somewhere() -> None:
    ids = [a["id"] for _, a, _ in page().found if "id" in a]
    assert len(ids) == len(set(ids))
    for _, attributes, _ in page().found:
        for key in ("for", "aria-labelledby", "aria-describedby"):
            assert attributes.get(key, ids[0]) in ids


def test_without_javascript_there_is_a_hint_and_no_dead_control() -> None:
    assert "need JavaScript" in page().one("noscript")
    for _, attributes, _ in page().found:
        assert "scripted" not in attributes.get("class", "").split() or "hidden" in attributes
    hidden = re.sub(r"<(\w+)[^>]*\bscripted\b[^>]* hidden.*?</\1>", "", rendered("usual"), flags=re.S)
    assert "<select" not in hidden and "<input" not in hidden and "<button" not in hidden


# Safety.


def test_hostile_texts_stay_texts() -> None:
    found = page("hostile")
    names = {name for name, _, _ in found.found}
    assert not names & {"img", "iframe", "object", "embed", "link", "base", "form"}
    for _, attributes, _ in found.found:
        assert not [k for k in attributes if k.startswith("on") or k in ("src", "srcset", "style")]
    assert len(list(found.all("script"))) == len(list(page().all("script"))) == 5
    assert found.one("h1") == samples.HOSTILE
    assert {t for _, t in found.all("pre")} == {samples.HOSTILE}
    assert data("hostile")["series"][0]["title"] == samples.HOSTILE + "0"
    assert json.loads(download(found, "json")) == {samples.HOSTILE: samples.HOSTILE}


def test_only_our_scripts_may_run_and_nothing_may_be_loaded() -> None:
    for name in ("usual", "hostile"):
        ((policy, _),) = page(name).all("meta", **{"http-equiv": "Content-Security-Policy"})
        rules = dict(part.strip().split(" ", 1) for part in policy["content"].split(";"))
        assert rules["default-src"] == "'none'" and "unsafe" not in rules["script-src"]
        scripts = [t for a, t in page(name).all("script") if "type" not in a]
        assert rules["script-src"].split() == [
            f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts
        ]
        assert not set(rules) & {"connect-src", "img-src", "font-src"}


def test_data_cannot_end_their_element() -> None:
    (element,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', rendered("hostile"), re.S)
    assert "<" not in element and json.loads(element)


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        page_module.render(replace(samples.usual(), data={"x": float("nan")}))


# Downloads and data.


def test_the_json_download_is_all_data() -> None:
    assert json.loads(download(page(), "json")) == samples.usual().data


def test_the_csv_has_every_figure_of_every_point() -> None:
    report = samples.usual()
    rows = list(csv.DictReader(io.StringIO(download(page(), "csv"))))
    points = [(s, p) for s in report.series for p in s.points]
    assert len(rows) == len(points)
    for row, (s, p) in zip(rows, points, strict=True):
        assert (row["series"], int(row["inflight"]), int(row["repetitions"])) == (s.id, p.load.number, p.repetitions)
        assert row["partial"] == str(p.partial).lower() and row["warnings"] == "; ".join(p.warnings)
        for name in (figure.name for figure in SHOWN):
            value = p.values.get(name)
            wanted = (value.middle, value.low, value.high) if value else (None, None, None)
            assert tuple(float(t) if (t := row[name + end]) else None for end in ("", "_low", "_high")) == wanted


def test_a_spreadsheet_takes_no_text_for_a_formula() -> None:
    report = samples.usual()
    odd = replace(report, series=(replace(report.series[0], title="=1+1", setting="@x"),))
    (row, *_) = csv.DictReader(io.StringIO(embedded.points_csv(odd)))
    assert (row["title"], row["setting"], row["api"]) == ("'=1+1", "'@x", "sync")


def test_columns_leave_out_what_the_point_tells() -> None:
    rows: list[dict[str, Any]]
    rows = [{"s": 1, "n": 2, "v": 1.23456789, "m": 0, "p": 7}, {"s": 1, "n": 4, "v": None, "m": 0, "p": 8}]
    assert embedded.columns(rows) == {"v": [1.23457, None], "p": [7, 8]}
    assert embedded.columns([{"s": 1, "n": 2.0}]) == {"s": [1], "n": [2]}
    assert embedded.columns([]) == {}


def test_fifty_series_of_48_points_stay_under_8_megabytes() -> None:
    size = len(rendered("large").encode())
    print(f"\n50 series x 48 points: {size / 1e6:.2f} MB")
    assert 3e6 < size < 8e6
    assert len(data("large")["points"]) == 50 * 48


# Sources.


@pytest.mark.parametrize("name", page_module.SCRIPTS)
def test_scripts_are_sound(name: str) -> None:
    node = which("node")
    if node is None:
        pytest.skip("node is not installed; the browser's tests run the scripts")
    subprocess.run([node, "--check", page_module.FILES / name], check=True)
