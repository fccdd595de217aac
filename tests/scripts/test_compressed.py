"""What is compressed, and what calls come with: settings of their own, and a table at the end of an experiment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cqbench.files.offered import closed
from cqbench.files.result import load
from cqbench.run import compressed
from cqbench.samples import setting
from cqbench.samples.runs import read_all
from cqbench.samples.setting import About

DATA = Path(__file__).parent / "data/result.json"
GZIP = {"compression": "gzip"}


def write(path: Path, context: dict[str, Any], left: float = 1.1) -> Path:
    data = json.loads(DATA.read_text())
    data["context"] |= context
    for key in [key for key, value in context.items() if value is None]:
        del data["context"][key]
    for point in data["benchmarks"]:
        point |= {f"client_bytes_{way}_per_payload_byte": left for way in ("sent", "received")}
        point |= {f"{end}_cpu_per_rpc_ns": 20_000 / left for end in ("client", "server")}
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


def test_the_table_of_an_experiment(tmp_path: Path) -> None:
    by_variant = {
        "1KiB.none": [(n, load(write(tmp_path / "n.json", {}))) for n in range(6)],
        "1KiB.gzip": [(n, load(write(tmp_path / "g.json", GZIP, left=0.55))) for n in range(6)],
    }
    loads = [by_variant["1KiB.none"][0][1].points[-1].load]
    lines = compressed.render(by_variant, loads).splitlines()
    assert lines[0] == "Compressed"
    none, gzip = (next(line for line in lines if line.startswith(name)).split("|")[1].split() for name in by_variant)
    assert none[3:5] == ["1.100", "1.100"] and gzip[3:5] == ["0.550", "0.550"]
    assert "2.00" in gzip and "2.00" not in none  # CPU of a call, to that of the first
    assert compressed.render({"1KiB.none": by_variant["1KiB.none"]}, [closed(1)]) == ""
