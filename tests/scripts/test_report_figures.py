"""Figures for papers: which files there are, and that they show what the report has."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
import report_samples as samples
from cqbench.formats.figures import THROUGHPUT
from cqbench.render.report import files, plots
from cqbench.render.report.model import Report

SVG = "{http://www.w3.org/2000/svg}"


def small() -> Report:
    """Shared and separate connections, unary; no server's figures, no distributions; marks and a gap."""
    report = samples.usual()
    keys = samples.NO_SERVER
    bare = (replace(p, values={k: v for k, v in p.values.items() if k in keys}) for p in report.series[1].points)
    shared = replace(report.series[8], distributions=(), title="shared <&> " + samples.HOSTILE)
    return replace(report, series=(shared, replace(report.series[1], points=tuple(bare), distributions=())), against=())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("figures")
    written = files.write_figures(small(), path)
    assert sorted(written) == sorted(path.iterdir())
    return path


def root(path: Path) -> ElementTree.Element:
    return ElementTree.parse(path).getroot()


def marks(path: Path, name: str) -> int:
    """How many shapes the layer of that name has."""
    groups = [g for g in root(path).iter(f"{SVG}g") if f"{name}_marks" in g.get("class", "").split()]
    return sum(len(list(g.iter(f"{SVG}path"))) for g in groups)


def test_two_files_for_each_plot_that_has_figures(folder: Path) -> None:
    bases = {p.stem for p in folder.iterdir()}
    assert {p.suffix for p in folder.iterdir()} == {".png", ".svg"} and len(list(folder.iterdir())) == 2 * len(bases)
    assert {"throughput-unary", "p50-unary", "p99-9-unary", "tradeoff-p99-unary", "client-cpu-unary"} <= bases
    assert not {"server-cpu-unary", "distribution-unary", "queues-unary", "throughput-streaming"} & bases


def test_pngs_are_large_enough_for_print(folder: Path) -> None:
    for path in folder.glob("*.png"):
        data = path.read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        width, height = struct.unpack(">II", data[16:24])
        assert 1200 < width < 4000 and 600 < height < 2000


def test_every_point_has_a_mark(folder: Path) -> None:
    path = folder / "throughput-unary.svg"
    assert marks(path, "markers") == 7 + 6
    assert marks(path, "unreliable") == 2 and marks(path, "partial") == 1
    assert marks(path, "curves") == 2 and marks(path, "bands") == 1
    assert marks(path, "ideal_lines") == 2 and marks(path, "fitted") == 2
    assert marks(folder / "p99-9-unary.svg", "markers") == 7 + 5


def test_unary_and_streaming_have_one_scale() -> None:
    report = samples.usual()
    ((plot, (frame,)),) = [of for of in plots.plots(report) if of[0].key == "throughput"]
    params = [files.figure(plot, frame, panel, report)["params"] for panel in frame.panels]
    both = [[p for p in some if p["name"] != "named"] for some in params]
    ends = {p["name"]: p["value"] for p in both[0]}
    highest = max(p.values[THROUGHPUT].high or 0 for s in report.series for p in s.points)
    assert both[0] == both[1] and ends["y_max"] == pytest.approx(1.06 * highest)


def test_colours_are_real_ones(folder: Path) -> None:
    for path in folder.glob("*.svg"):
        assert "var(--" not in path.read_text(encoding="utf-8")


def test_title_and_legend_are_texts(folder: Path) -> None:
    texts = ["".join(t.itertext()) for t in root(folder / "p99-unary.svg").iter(f"{SVG}text")]
    assert "Latency against calls in flight, P99, unary" in texts
    assert "sync, separate" in texts and any(t.startswith("shared <&> </script>") for t in texts)


def test_of_the_distribution_the_title_tells_the_calls_in_flight(tmp_path: Path) -> None:
    report = samples.usual()
    few = replace(report, series=(replace(report.series[0], points=()),), against=())
    written = files.write_figures(few, tmp_path)
    assert [p.name for p in written] == ["distribution-unary.svg", "distribution-unary.png"]
    assert "Latency distribution, unary, 48 in flight" in written[0].read_text(encoding="utf-8")
    assert marks(written[0], "curves") == 1


def test_nothing_to_draw(tmp_path: Path) -> None:
    assert files.write_figures(replace(samples.usual(), series=(), against=()), tmp_path) == []


def test_a_folder_that_cannot_be_written_to_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        files.write_figures(small(), tmp_path / "none")
