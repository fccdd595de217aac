"""The documents say what is true: their tables come from stored runs, their flags exist, their links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import tarfile
from functools import cache
from pathlib import Path

import click
import experiment_tables
import handbook_tables
import pytest
from cqbench import cli

ROOT = Path(__file__).parents[2]
DOCUMENTS = (
    "README.md",
    "docs/run-rules.md",
    "scripts/README.md",
    "scripts/experiments/README.md",
    "scripts/experiments/grpc-versions.md",
    "src/README.md",
)
# Flags of other programs that the documents use.
FOREIGN = {
    *(
        "--cpunodebind",
        "--membind",
        "--preset",
        "--build",
        "--install",
        "--prefix",
        "--tool",
    ),
    *("--build-only", "--run", "--fix"),  # of our scripts, which say so at their heads
    "--write",  # of cqbench_schema
    "--config",  # of ghz
    "--json",  # of curl
    *("--check", "--quiet"),  # of sha256sum
    *("--allow-run-as-root", "--bind-to", "--mca", "--oversubscribe", "--hostfile"),  # of mpirun
    *("--mpi", "--cpu-bind", "--nodes", "--exclusive", "--time", "--signal"),  # of srun and sbatch
    *("--nodelist", "--ntasks", "--overlap"),
    "--count",  # of a program of one's own
    *("--benchmark", "--gtest"),  # how those of Google Benchmark and GoogleTest begin
}


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", handbook_tables.TABLES)
def test_tables_are_those_of_the_stored_runs(name: str) -> None:
    block = f"<!-- from {name} -->\n```\n{handbook_tables.table(name)}\n```"
    assert block in text("scripts/README.md"), block


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    experiment_tables.unpack(folder)
    return folder


@pytest.mark.parametrize("name", experiment_tables.TABLES)
def test_tables_of_the_other_documents_are_those_of_the_stored_runs(name: str, documents: Path) -> None:
    block = f"<!-- from {name} -->\n```\n{experiment_tables.table(name, documents)}\n```"
    assert block in text("scripts/experiments/README.md"), block


def test_the_readme_is_short() -> None:
    assert len(text("README.md").splitlines()) <= 150


@cache
def known_flags() -> frozenset[str]:
    """Returns the flags of both programs, the command, and our scripts."""
    found: set[str] = {"--help"}
    for name in cli.COMMANDS:
        for parameter in cli.load(name).params:
            if isinstance(parameter, click.Option):
                found |= {*parameter.opts, *parameter.secondary_opts}
    binaries = Path(os.environ.get("CQBENCH_BIN_DIR", ROOT / "build/release/bin"))
    for program in ("grpc_ping_client", "grpc_ping_server"):
        done = subprocess.run(
            [binaries / program, "--help-all"],
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
        found |= set(re.findall(r"--[a-z][a-z-]+", done.stdout))
    for source in (ROOT / "scripts").glob("*/main.go"):
        found |= {f"--{name}" for name in re.findall(r'flag\.[A-Za-z]+\([^"\n]*"([a-z-]+)"', source.read_text())}
    for script in (ROOT / "scripts").rglob("*.sh"):
        found |= set(re.findall(r"^#.*?(--[a-z-]+)", script.read_text(), re.MULTILINE))
    return frozenset(found)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_flags_that_are_named_exist(name: str) -> None:
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text(name)))
    assert not named - known_flags() - FOREIGN


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name: str) -> None:
    here, whole = (ROOT / name).parent, text(name)
    for target in re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", whole):
        assert (here / target).exists(), target
    headings = {
        re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.*)$", whole, re.MULTILINE)
    }
    for anchor in re.findall(r"\]\(#([^)]+)\)", whole):
        assert anchor in headings, anchor
    for path in re.findall(r"`((?:scripts|src|tests|include|cmake|proto)/[\w./-]+)`", whole):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("name", DOCUMENTS)
def test_experiments_that_are_named_are_shipped(name: str) -> None:
    shipped = {path.stem for path in (ROOT / "scripts/experiments").glob("*.toml")}
    named = set(re.findall(r"(?:experiment\.sh|cqbench run) ([a-z][a-z0-9-]+)(?![\w./])", text(name)))
    assert named <= shipped


def test_every_shipped_experiment_is_in_the_handbook() -> None:
    for path in (ROOT / "scripts/experiments").glob("*.toml"):
        assert f"| `{path.stem}` |" in text("scripts/README.md")


def test_the_readmes_verdict_is_the_beginning_of_the_stored_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Up to a place between two entries, and with the seconds that it took."""
    with tarfile.open(ROOT / "tests/scripts/data/headline.tar.xz") as stored:
        stored.extractall(tmp_path)
    assert cli.main(["verdict", str(tmp_path / "headline")]) == 0
    lines = capsys.readouterr().out.splitlines()
    (shown,) = re.findall(r"<!-- from the stored run [^\n]* -->\n```\n(.*?)\n```", text("README.md"), re.DOTALL)
    number = len(shown.splitlines())
    assert shown.splitlines() == lines[:number] and number <= 40
    assert lines[number].startswith("- ") or lines[number].isupper()
    (seconds,) = {s for line in lines[:number] for s in re.findall(r"in (\d+) s\b", line)}
    assert f"ended with this after {seconds} s of" in " ".join(text("README.md").split())
