"""Who includes whom in the C++ sources: only downwards, in no circle, and no folder is too large to take in."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from test_imports import Graph, circle

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src"
MOST_SOURCES = 15  # of a folder; a header counts with its source
# The lowest layers: the contracts in include/cqbench stand on these, and every layer may include a contract.
FOUNDATION = ("base", "stats", "config", "result")


def layers() -> list[str]:
    """From the lowest to the highest, in the order in which CMake adds them."""
    return re.findall(r"add_subdirectory\((\w+)\)", (SRC / "CMakeLists.txt").read_text())


def sources() -> list[Path]:
    return sorted(path for path in SRC.rglob("*") if path.suffix in (".cc", ".h"))


def included(path: Path) -> set[Path]:
    """The files of src/ that a file includes."""
    return {ROOT / name for name in re.findall(r'^#include "(src/[^"]+)"', path.read_text(), re.MULTILINE)}


def layer(path: Path) -> str:
    return path.relative_to(SRC).parts[0]


def folder(path: Path) -> str:
    return str(path.parent.relative_to(SRC))


def folders() -> Graph:
    found: dict[str, set[str]] = {}
    for path in sources():
        found.setdefault(folder(path), set()).update(folder(other) for other in included(path))
    return {name: others - {name} for name, others in found.items()}


def upwards(paths: list[Path], order: list[str]) -> list[str]:
    rank = {name: i for i, name in enumerate(order)}
    return [
        f"{path.relative_to(ROOT)} includes {other.relative_to(ROOT)}"
        for path in paths
        for other in sorted(included(path))
        if rank[layer(other)] > rank[layer(path)]
    ]


def test_every_layer_is_a_folder_that_cmake_adds() -> None:
    assert set(layers()) == {path.name for path in SRC.iterdir() if path.is_dir()}
    assert layers()[: len(FOUNDATION)] == list(FOUNDATION)


def test_nothing_includes_upwards() -> None:
    assert upwards(sources(), layers()) == []


def test_an_upward_include_is_found() -> None:
    assert upwards(sources(), [*reversed(layers())])


def test_contracts_stand_on_the_lowest_layers() -> None:
    contracts = sorted((ROOT / "include/cqbench").glob("*.h"))
    assert len(contracts) <= 12
    assert {layer(other) for path in contracts for other in included(path)} <= set(FOUNDATION)


def test_no_circle_of_folders() -> None:
    assert circle(folders()) == []


def test_no_folder_is_too_large() -> None:
    stems = {(folder(path), path.stem) for path in sources()}
    sizes = Counter(name for name, _ in stems)
    assert {name: size for name, size in sizes.items() if size > MOST_SOURCES} == {}
