"""Who imports whom in cqbench: no circle, of modules or of packages, also not by imports inside of functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import cqbench

ROOT = Path(cqbench.__file__).parent
Graph = Mapping[str, set[str]]


def modules(root: Path) -> dict[str, Path]:
    """'cqbench.files.text' -> its file. A package is its __init__.py."""
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


def of_packages(found: Graph) -> Graph:
    """A module beside the packages stands for itself."""
    together: dict[str, set[str]] = {}
    for name, others in found.items():
        package = ".".join(name.split(".")[:2])
        together.setdefault(package, set()).update(".".join(other.split(".")[:2]) for other in others)
    return {name: others - {name} for name, others in together.items()}


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
    assert len(found) > 100 and "cqbench.files.text" in found["cqbench.samples.runs"]
    assert circle(found) == []


def test_no_package_imports_itself_by_way_of_others() -> None:
    found = of_packages(graph(ROOT))
    assert "cqbench.files" in found["cqbench.samples"]
    assert circle(found) == []


def test_a_circle_is_found(tmp_path: Path) -> None:
    """Also one by a function's import, and one of packages whose modules have none."""
    root = tmp_path / "cqbench"
    texts = {
        "a/one.py": "from cqbench.b import two\n",
        "b/two.py": "import os\n",
        "b/three.py": "def f():\n    from cqbench.a.four import g\n",
        "a/four.py": "",
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    assert circle(graph(root)) == []
    assert circle(of_packages(graph(root))) == ["cqbench.a", "cqbench.b", "cqbench.a"]
    (root / "a/four.py").write_text("import cqbench.b.three\n")
    assert circle(graph(root)) == ["cqbench.a.four", "cqbench.b.three", "cqbench.a.four"]
