"""Compression and metadata are settings of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cqbench.formats.runs import read_all
from cqbench.model import setting
from cqbench.model.setting import About

DATA = Path(__file__).parent / "data/result.json"
GZIP = {"compression": "gzip"}


def write(path: Path, context: dict[str, Any]) -> Path:
    data = json.loads(DATA.read_text())
    data["context"] |= context
    for key in [key for key, value in context.items() if value is None]:
        del data["context"][key]
    path.write_text(json.dumps(data))
    return path


def test_each_is_another_setting(tmp_path: Path) -> None:
    (plain,) = read_all([write(tmp_path / "plain.json", {})])
    for context, key, about in (
        (GZIP, "compression", About.CLIENT),
        ({"generated_metadata": "8x64:changing"}, "generated_metadata", About.WORK),
        ({"deadline_ns": None}, "deadline", About.WINDOW),
    ):
        (other,) = read_all([write(tmp_path / "other.json", context)])
        (facet,) = setting.of(plain).differences(setting.of(other))
        assert (facet.key, facet.about) == (key, about)
    servers = json.loads(DATA.read_text())["context"]["servers"]
    (other,) = read_all([write(tmp_path / "other.json", {"servers": [servers[0] | GZIP, *servers[1:]]})])
    assert [f.key for f in setting.of(plain).differences(setting.of(other))] == ["server.compression"]
