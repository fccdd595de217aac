"""Who imports whom in cqbench: only packages of lower floors, and no circle of modules; also inside of functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import cqbench

ROOT = Path(cqbench.__file__).parent
Graph = Mapping[str, set[str]]
# From the lowest. A package imports those of lower floors only; cli loads the commands by their names.
FLOORS = (
    {"formats", "stats", "options"},
    {"model"},
    {"analysis"},
    {"render"},
    {"measure"},
    {"experiment"},
    {"run"},
    {"cli"},
)


def modules(root: Path) -> dict[str, Path]:
    """'cqbench.formats.text' -> its file. A package is its __init__.py."""
    parts = {path: path.relative_to(root.parent).with_suffix("").parts for path in sorted(root.rglob("*.py"))}
    return {".".join(p[:-1] if p[-1] == "__init__" else p): path for path, p in parts.items()}


def imported(tree: ast.AST, known: Mapping[str, Path]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, "relative imports are not followed"
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in known else node.module for name in names)


def graph(root: Path) -> Graph:
    known = modules(root)
    return {name: {*imported(ast.parse(path.read_text()), known)} & {*known} - {name} for name, path in known.items()}


def of_packages(found: Graph) -> dict[str, set[str]]:
    """A module next to the packages is a layer itself, as is a module with a layer of its own in its package."""
    own = {f"cqbench.{name}" for names in FLOORS for name in names}

    def package(name: str) -> str:
        parts = name.split(".")
        return ".".join(parts[:3]) if ".".join(parts[:3]) in own else ".".join(parts[:2])

    together: dict[str, set[str]] = {}
    for name, others in found.items():
        together.setdefault(package(name), set()).update(map(package, others))
    return {name: others - {name} for name, others in together.items()}


def upward(found: dict[str, set[str]]) -> list[str]:
    """Imports among packages that do not lead to a lower floor."""
    floor = {f"cqbench.{name}": i for i, names in enumerate(FLOORS) for name in names}
    del found["cqbench"]
    assert not set(found) - set(floor), "a package without a floor"
    return [
        f"{name} -> {other}" for name, all_ in found.items() for other in sorted(all_) if floor[name] <= floor[other]
    ]


def circle(found: Graph) -> list[str]:
    """One, from a name to itself; empty for none."""
    done: set[str] = set()

    def walk(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for other in sorted(found.get(name, ())):
            if back := walk(other, [*path, name]):
                return back
        done.add(name)
        return []

    return next((back for name in sorted(found) if (back := walk(name, []))), [])


def test_no_module_imports_itself_by_way_of_others() -> None:
    found = graph(ROOT)
    assert len(found) > 100 and "cqbench.formats.text" in found["cqbench.formats.runs"]
    assert circle(found) == []


def test_no_package_imports_one_of_its_floor_or_above() -> None:
    found = of_packages(graph(ROOT))
    assert "cqbench.formats" in found["cqbench.model"]
    assert upward(found) == []


def test_a_circle_is_found(tmp_path: Path) -> None:
    """Also one by a function's import, and an import upwards where no circle is."""
    root = tmp_path / "cqbench"
    texts = {
        "__init__.py": "",
        "run/one.py": "from cqbench.formats import two\n",
        "formats/two.py": "import os\n",
        "formats/three.py": "def f():\n    from cqbench.run.four import g\n",
        "run/four.py": "",
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    assert circle(graph(root)) == []
    assert upward(of_packages(graph(root))) == ["cqbench.formats -> cqbench.run"]
    (root / "run/four.py").write_text("import cqbench.formats.three\n")
    assert circle(graph(root)) == ["cqbench.formats.three", "cqbench.run.four", "cqbench.formats.three"]
