"""Encryption is a setting of its own, about which the verdict gives no advice."""

from __future__ import annotations

import json
from pathlib import Path

from cqbench.analysis.verdict import scenarios as cases
from cqbench.formats.runs import read_all
from cqbench.model import setting

DATA = Path(__file__).parent / "data/unary-sync-shared.json"
TLS = {"security": "mutual-tls", "tls_version": "TLSv1.3", "tls_cipher": "TLS_AES_128_GCM_SHA256"}


def write(path: Path, context: dict[str, str]) -> Path:
    data = json.loads(DATA.read_text())
    data["context"] |= context
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
