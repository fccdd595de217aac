"""The schema of results, what it has to say of a document, and the programs whose results are held against it."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

Json = dict[str, Any]

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data"
SCHEMA: Json = json.loads((ROOT / "scripts/cqbench/formats/result.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA)


def complaints(document: object) -> list[str]:
    return [f"{error.json_path}: {error.message[:300]}" for error in VALIDATOR.iter_errors(document)]


def stored(path: Path) -> Json:
    data: Json = json.loads(path.read_text())
    return data


def expand(pattern: str) -> list[str]:
    """The keys that a pattern of the schema stands for: '^(a|b)_c$' -> a_c, b_c."""
    parts = re.split(r"\(([a-z_|]+)\)", pattern.removeprefix("^").removesuffix("$"))
    return ["".join(choice) for choice in itertools.product(*(part.split("|") for part in parts))]


def resolve(node: Json) -> Json:
    return SCHEMA["$defs"][node["$ref"].removeprefix("#/$defs/")] if "$ref" in node else node


def places() -> Iterator[tuple[str, Json]]:
    """The schema's objects by name."""
    yield "the file", SCHEMA
    yield from SCHEMA["$defs"].items()


def keys_of(part: Json) -> Iterator[tuple[str, Json]]:
    yield from part.get("properties", {}).items()
    for pattern, node in part.get("patternProperties", {}).items():
        yield from ((key, node) for key in expand(pattern))


def programs() -> Path:
    """The folder of the programs: the build's that runs the tests, or else the release preset's."""
    if folder := os.environ.get("CQBENCH_BIN_DIR"):
        return Path(folder)
    release = ROOT / "build/release/bin"
    if not (release / "grpc_ping_client").exists():
        pytest.skip("there is no build/release/bin/grpc_ping_client; CQBENCH_BIN_DIR may name another folder")
    return release
