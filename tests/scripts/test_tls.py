"""What is encrypted: a setting of its own that no advice is about, and a table at the end of an experiment."""

from __future__ import annotations

import json
from pathlib import Path

from cqbench.files.offered import closed
from cqbench.files.result import load
from cqbench.run import encrypted
from cqbench.samples import setting
from cqbench.samples.runs import read_all
from cqbench.verdict import cases

DATA = Path(__file__).parent / "data/unary-sync-shared.json"
TLS = {"security": "mutual-tls", "tls_version": "TLSv1.3", "tls_cipher": "TLS_AES_128_GCM_SHA256"}


def write(path: Path, context: dict[str, str], slower: float = 1) -> Path:
    data = json.loads(DATA.read_text())
    data["context"] |= context
    for point in data["benchmarks"]:
        point["throughput_per_second"] /= slower
        point |= {"client_connect_ns": 5e7, "connections": 10}
        point |= {f"{end}_cpu_per_rpc_ns": 20_000 * slower for end in ("client", "server")}
        point |= {f"client_bytes_{way}": 1000 * point["completed"] for way in ("sent", "received")}
    path.write_text(json.dumps(data))
    return path


def test_encrypted_is_another_setting_and_no_advice(tmp_path: Path) -> None:
    plain, tls = (
        setting.of(read_all([write(tmp_path / f"{name}.json", context)])[0])
        for name, context in (("plain", {}), ("tls", TLS))
    )
    differing = {facet.key for facet in plain.differences(tls)}
    assert differing == set(TLS)
    assert differing <= cases.PLACE


def test_the_table_of_an_experiment(tmp_path: Path) -> None:
    by_variant = {
        "empty.plaintext": [(n, load(write(tmp_path / "p.json", {}))) for n in range(6)],
        "empty.tls": [(n, load(write(tmp_path / "t.json", TLS, slower=2))) for n in range(6)],
    }
    point = by_variant["empty.plaintext"][0][1].points[-1]
    loads = [point.load]
    lines = encrypted.render(by_variant, loads).splitlines()
    assert lines[0] == "Encrypted"
    plain, tls = (next(line for line in lines if line.startswith(name)).split() for name in by_variant)
    at = tls.index("0.50")
    assert (plain[-1], tls[-1]) == ("200", "200")  # connections a second
    assert tls[at + 1] == "(0.50-0.50)"
    assert [tls[tls.index("40.0") + i] for i in range(2)] == ["40.0", "2.00"]  # us of CPU a call
    assert encrypted.render({"empty.plaintext": by_variant["empty.plaintext"]}, [closed(1)]) == ""
