"""scripts/certs.sh: a CA, two certificates, and nothing that was there before; and those of an experiment."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from cqbench.experiment import certs
from cqbench.experiment.spec import Experiment, parse

SCRIPT = Path(__file__).parents[2] / "scripts/certs.sh"
FILES = {f"{name}.{kind}" for name in ("ca", "server", "client") for kind in ("pem", "key")}


def make(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, *map(str, arguments)], capture_output=True, text=True, check=False)


def verified(folder: Path, name: str, purpose: str) -> str:
    command = ["openssl", "verify", "-purpose", purpose, "-CAfile", f"{folder}/ca.pem", f"{folder}/{name}.pem"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr


def test_what_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    done = make(folder, "--name", "bench.example", "--name", "10.0.0.7")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in folder.iterdir()} == FILES
    assert {path.stat().st_mode & 0o777 for path in folder.glob("*.key")} == {0o600}
    assert verified(folder, "server", "sslserver") == verified(folder, "client", "sslclient") == ""
    assert "unsuitable" in verified(folder, "client", "sslserver")
    text = subprocess.run(
        ["openssl", "x509", "-in", folder / "server.pem", "-noout", "-text"], capture_output=True, text=True, check=True
    ).stdout
    for name in ("DNS:localhost", "IP Address:127.0.0.1", "DNS:bench.example", "IP Address:10.0.0.7"):
        assert name in text
    again = make(folder)
    assert (again.returncode, again.stdout) == (1, "")
    assert "is not empty: nothing is overwritten" in again.stderr


def test_expired(tmp_path: Path) -> None:
    assert make(tmp_path / "old", "--expired").returncode == 0
    assert "certificate has expired" in verified(tmp_path / "old", "server", "sslserver")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "DIR is missing"),
        (("a", "b"), "'b'"),
        (("a", "--days", "0"), "--days: '0'"),
        (("a", "--name", "x;y"), "--name: 'x;y'"),
        (("a", "--name"), "--name needs a value"),
        (("--what",), "'--what'"),
    ],
)
def test_bad_arguments(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    done = subprocess.run([SCRIPT, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


def experiment(flags: str) -> Experiment:
    return parse(
        f'[experiment]\nname = "x"\ntitle = "t"\nquestion = "q"\ninflight = [1]\n'
        f'[[configuration]]\nname = "v"\nclient_flags = "{flags}"\n',
        "x.toml",
    )


def test_an_experiments_are_gone_after_it(tmp_path: Path) -> None:
    (tmp_path / "certs").mkdir()
    (tmp_path / "certs/of-a-run-that-was-killed").touch()
    with certs.certificates(experiment("--tls --tls-ca {certs}/ca.pem"), tmp_path) as place:
        assert {path.name for path in Path(place).iterdir()} == FILES
        assert Path(place).stat().st_mode & 0o777 == 0o700
        assert certs.filled(["--tls-ca", "{certs}/ca.pem"], place) == ["--tls-ca", f"{place}/ca.pem"]
    assert list(tmp_path.iterdir()) == []
    with certs.certificates(experiment("--tls"), tmp_path) as place:
        assert (place, list(tmp_path.iterdir())) == ("", [])


def test_without_openssl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certs, "SCRIPT", tmp_path / "none")
    with (
        pytest.raises(certs.NoCertificates, match="cannot be made"),
        certs.certificates(experiment("--tls --tls-ca {certs}/ca.pem"), tmp_path),
    ):
        pass


def test_flags_for_a_server_that_is_there_already() -> None:
    words = ["--api", "cq", "--tls", "--tls-ca", "F", "--inflight", "3", "--tls-ciphers=A"]
    assert certs.tls_flags(words) == ["--tls", "--tls-ca", "F", "--tls-ciphers=A"]
