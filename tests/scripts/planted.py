"""Measures planted truths (planted_truths.py) with the real programs, and says of each verdict whether it is right.

python tests/scripts/planted.py [NAME...] [--times N] [--store] [--bin DIR] [--results DIR]

Without names all are measured, one after the other, N times (5). --store: the first run of each truth goes into
data/planted.tar.xz, right or wrong. --results: where the folders stay; without it they are removed. Exit status: 0 when
every verdict is right, 1 when one is wrong or a run failed, 2 usage.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cqbench.analysis.verdict.model import Judgement
from cqbench.analysis.verdict.whole import judge_runs
from cqbench.experiment import vary
from cqbench.formats import sums
from cqbench.formats.runs import read_all
from planted_truths import BY_NAME, TRUTHS, Truth, problems, words

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ARCHIVE = HERE / "data/planted.tar.xz"
BIN = Path(os.environ.get("CQBENCH_BIN_DIR", ROOT / "build/release/bin"))
REPETITIONS, TIMES, FAILED = 7, 5, 1
COMPILED = '#include <regex>\nbool Matches(const char* text) { return std::regex_match(text, std::regex("a*b")); }\n'
DAY = 1795564800  # 2026-11-25: the time of every member of the archive, so that it has no other difference


def build(folder: Path) -> Path:
    """Compiles the stand-ins into the folder: paced.so and serial_server."""
    flags = ["cc", "-O1", "-Wall", "-Wextra", "-Werror"]
    library, server = (HERE / f"planted/{name}.c" for name in ("paced", "serial_server"))
    subprocess.run([*flags, "-shared", "-fPIC", "-o", folder / "paced.so", library], check=True, timeout=120)
    subprocess.run([*flags, "-pthread", "-o", folder / "serial_server", server], check=True, timeout=120)
    return folder


def tables(truth: Truth, built: Path) -> dict[str, Any]:
    """The experiment's file, as data. built: where the stand-ins are."""
    data = vary.tables([truth.vary], truth.client, truth.server)
    data["experiment"] |= {"name": truth.name, "title": truth.says, "inflight": list(truth.inflight)}
    data["experiment"] |= {"question": f"What comes out when {truth.says}?", "interval": truth.interval}
    if truth.preload:
        data["client"]["env"] = {"LD_PRELOAD": str(built / f"{truth.preload}.so"), **truth.env}
    if truth.program:
        for value in data["axis"][0]["values"]:
            value |= {"server_program": str(built / truth.program[0]), "server_flags": list(truth.program[1:])}
    return data


def measure(truth: Truth, built: Path, results: Path, programs: Path = BIN) -> Path:
    """Runs it once. Returns the folder of its results. Raises RuntimeError with the output of a run that failed."""
    results.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"{truth.name}.toml")
        vary.save(file, tables(truth, built), REPETITIONS, seed=int.from_bytes(os.urandom(3), "big"))
        command = [sys.executable, "-m", "cqbench.cli", "run", str(file), "--results", str(results)]
        with compilers() if truth.compiles else contextlib.nullcontext():
            before = set(results.iterdir())
            environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts")}
            done = subprocess.run(
                [*command, "--bin", programs], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
            )
    made = sorted(set(results.iterdir()) - before)
    if done.returncode != 0 or len(made) != 1:
        raise RuntimeError(f"cqbench run {truth.name}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return made[0]


@contextlib.contextmanager
def compilers() -> Iterator[None]:
    """A compiler runs on each CPU, again and again."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "compiled.cc")
        source.write_text(COMPILED)
        loop = f"while c++ -O2 -c -o /dev/null {source}; do :; done"
        loops = [
            subprocess.Popen(["taskset", "-c", str(cpu), "sh", "-c", loop], start_new_session=True)
            for cpu in sorted(os.sched_getaffinity(0))
        ]
        try:
            yield
            if any(one.poll() is not None for one in loops):
                raise RuntimeError("a compiler's loop has ended")
        finally:
            for one in loops:
                os.killpg(one.pid, signal.SIGKILL)
                one.wait()


def judged(folder: Path) -> Judgement:
    return judge_runs(read_all([folder]))


def store(folder: Path, name: str, neutral: dict[str, str], archive: Path = ARCHIVE) -> None:
    """Puts manifest and raw results into the archive, with their hashes, instead of what it has under that name.
    neutral: paths -> what is written for them.
    """
    with tempfile.TemporaryDirectory() as kept:
        if archive.exists():
            with tarfile.open(archive) as stored:
                stored.extractall(kept)
        shutil.rmtree(Path(kept, name), ignore_errors=True)
        for file in (folder / "manifest.json", *sorted(folder.glob("raw/*/*.json"))):
            text = file.read_text()
            for path in sorted(neutral, key=len, reverse=True):
                text = text.replace(path, neutral[path])
            to = Path(kept, name, file.relative_to(folder))
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_text(text)
        sums.write(Path(kept, name))
        _pack(Path(kept), archive)


def _pack(folder: Path, archive: Path) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz", preset=9) as file:
        for path in sorted(folder.rglob("*")):
            member = file.gettarinfo(path, str(path.relative_to(folder)))
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mode, member.mtime = (0o755 if path.is_dir() else 0o644), DAY
            with path.open("rb") if path.is_file() else contextlib.nullcontext() as content:
                file.addfile(member, content)
    archive.write_bytes(packed.getvalue())


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measures planted truths and judges them.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BY_NAME)} (default: all)")
    parser.add_argument("--times", type=int, default=TIMES, help="runs of each (default: %(default)s)")
    parser.add_argument("--store", action="store_true", help="put the first run of each into data/planted.tar.xz")
    parser.add_argument("--bin", type=Path, default=BIN, help="folder of the programs (default: %(default)s)")
    parser.add_argument("--results", type=Path, help="folder in which the runs stay (default: they are removed)")
    given = parser.parse_args()
    for name in set(given.names) - set(BY_NAME):
        parser.exit(2, f"planted.py: argument NAME: '{name}' is not one of {', '.join(BY_NAME)}\n")
    if given.times < 1:
        parser.exit(2, f"planted.py: argument --times: '{given.times}' is not accepted: 1 or more is\n")
    return given


def main() -> int:
    given = arguments()
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        built, results = build(Path(folder)), (given.results or Path(folder, "results")).resolve()
        neutral = {str(built): "planted", str(results): "results", str(given.bin.resolve()): "build/release/bin"}
        for truth in [t for t in TRUTHS if not given.names or t.name in given.names]:
            right = 0
            for time in range(given.times):
                try:
                    done = measure(truth, built, results, given.bin.resolve())
                except RuntimeError as error:
                    print(f"{truth.name}: failed: {error}", flush=True)
                    continue
                judgement = judged(done)
                wrong = problems(truth, judgement)
                right += not wrong
                print(f"{truth.name}: {'wrong' if wrong else 'right'}: {words(judgement)}", flush=True)
                for line in wrong:
                    print(f"  {line}", flush=True)
                if given.store and time == 0:
                    store(done, truth.name, neutral)
            print(f"{truth.name}: {right} of {given.times} right", flush=True)
            status = status if right == given.times else FAILED
    return status


if __name__ == "__main__":
    sys.exit(main())
