"""The words that strangers would stumble over are in no comment, help, message or document."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = (".h", ".cc", ".py", ".sh", ".toml", ".proto", ".cmake")
HERE = Path(__file__).name

# Word -> what to write instead.
UNUSUAL = {
    r"beside": "next to, together with",
    r"dearer": "more expensive, costs more",
    r"in vain": "failed",
    r"so many": "as many as",
    r"to be had": "is available",
    r"told of": "reported",
    r"is said to": "name who says it",
    r"surely|for sure": "statistically significant",
    r"doubts?|doubted": "warning",
    r"knobs?": "setting",
    r"newest gRPC": "gRPC 1.83 (Debian experimental)",
    r"neighbours in time": "paired within a block",
    r"too small to act on": "equivalent within ±10 %",
}
WORDS = re.compile("|".join(rf"\b(?:{word})\b" for word in UNUSUAL), re.IGNORECASE)
FRAGMENT = re.compile(r"(Of|What|Whether|That)\b")
COMMENT = {".py": "#", ".sh": "#", ".toml": "#", ".cmake": "#"}


def tracked(endings: tuple[str, ...]) -> Iterator[Path]:
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        path = ROOT / name
        if path.suffix in endings and path.name != HERE and "data" not in path.parts:
            yield path


def comments(text: str, mark: str) -> Iterator[tuple[int, str]]:
    """The first line of each block of comments, and each comment behind code: line, words."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        code, found, words = line.partition(mark)
        alone = bool(found) and not code.strip()
        if found and not (alone and inside) and words.startswith(" "):
            yield number, words.strip()
        inside = alone


def docstrings(text: str) -> Iterator[tuple[int, str]]:
    for found in re.finditer(r'^\s*r?"""(.*)', text, re.MULTILINE):
        yield text.count("\n", 0, found.start(1)) + 1, found.group(1)


def fragments(text: str, suffix: str) -> list[tuple[int, str]]:
    found = list(comments(text, COMMENT.get(suffix, "//")))
    if suffix == ".py":
        found += docstrings(text)
    return [(line, words) for line, words in found if FRAGMENT.match(words)]


def unusual(text: str) -> list[tuple[int, str]]:
    return [
        (number, found.group(0)) for number, line in enumerate(text.splitlines(), 1) for found in WORDS.finditer(line)
    ]


def listed(path: Path, found: list[tuple[int, str]]) -> list[str]:
    return [f"{path.relative_to(ROOT)}:{line}: {words}" for line, words in found]


def test_no_comment_begins_with_a_fragment() -> None:
    found = [line for path in tracked(CODE) for line in listed(path, fragments(path.read_text(), path.suffix))]
    assert found == []


def test_no_unusual_word_stands_in_a_text() -> None:
    found = [line for path in tracked((*CODE, ".md")) for line in listed(path, unusual(path.read_text()))]
    assert found == []


def test_fragments_and_words_are_found() -> None:
    code = "// Of calls.\n// What follows\nint a;  // Whether it is.\n// Calls end.\n// That is fine here.\n"
    assert [line for line, _ in fragments(code, ".cc")] == [1, 3]
    assert fragments('"""What it is."""\n', ".py") == [(1, 'What it is."""')]
    assert unusual("a beside b\nso many besides") == [(1, "beside"), (2, "so many")]
