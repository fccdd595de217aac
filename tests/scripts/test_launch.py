"""--launch: however a client's command goes to another machine, the client gets the words it was started with."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from cqbench.measure.ranks import launch, template
from cqbench.measure.ranks.launch import Launch
from experiment_standin import finish, only_folder, start, statuses
from ranks_standin import make

# As the real ones do: what stands behind their options and the host is joined with spaces, and a shell takes it apart.
SHELLS = {
    "ssh": 'while case "$1" in -*) ;; *) false ;; esac; do shift; done\nshift\nexec sh -c "$*"\n',
    "pdsh": 'while [ "$1" != -w ]; do shift; done\nshift 2\nexec sh -c "$*"\n',
    "my-remote": 'exec sh -c "$2"\n',  # takes one word
    "my-container": 'shift\nexec "$@"\n',  # no shell
}
WORDS = [
    "plain",
    "two words",
    "",
    "it's",
    '"quoted"',
    "$(touch made)",
    "`touch made`",
    "a;touch made",
    "$HOME",
    "*",
    "\\n",
]
WORDS += ["line\nbreak", "-x=a&b|c>made", "{host}", "{command}", "\u00e4"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the stand-ins, which are on PATH."""
    for name, text in SHELLS.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


@pytest.mark.parametrize(
    "through",
    [
        "", "env X={host}", "my-container {host}", "nice -n 5 my-container {host}",
        "ssh {host}", "ssh -tt {host}", "{here}/ssh {host}", "timeout 60 ssh {host}",
        "env X=1 nice -n 1 timeout 60 ssh {host}",
        "env SSH=/usr/bin/ssh my-container {host}", "ssh -oProxyCommand=/usr/bin/ssh {host}",
        "sh -c 'exec ssh {host} \"$@\"' -", "sh -c 'true; (exec {here}/ssh {host} \"$@\")' -",
        "pdsh -w {host}", "pdsh -R ssh -w {host} {command}",
        "my-remote {host} {command}", "timeout 60 my-remote {host} {command}", "sh -c {command}",
        "sh -c 'my-remote \"$0\" \"$1\"' {host} {command}", "ssh {host} {command}", "ssh {host} exec {command}",
    ],
)  # fmt: skip
def test_words_arrive_as_they_are(through: str, here: Path) -> None:
    through = through.replace("{here}", str(here))
    assert template.why_not(through) == ""
    command = template.filled(through, "a", ["printf", "%s\\0", *WORDS])
    done = subprocess.run(command, capture_output=True, timeout=60, cwd=here, check=True)
    assert done.stdout.decode().split("\0")[:-1] == WORDS
    assert not (here / "made").exists()


@pytest.mark.parametrize(
    ("through", "said"),
    [
        ("ssh gateway ssh {host}", "hands the client's command to ssh and to ssh: how often it is to be quoted"),
        ("pdsh -R ssh -w {host}", "hands the client's command to pdsh and to ssh: how often"),
        ("sh -c 'ssh gateway ssh {host} \"$@\"' -", "to ssh and to ssh"),
        ("ssh '{host}", "is not a command line: No closing quotation"),
    ],
)  # fmt: skip
def test_what_cannot_be_quoted_is_refused(through: str, said: str, tmp_path: Path) -> None:
    programs = make(tmp_path)
    flags = ("--ranks", "2", "--hosts", "a,b", "--launcher", "none", "--launch", through)
    status, stdout, stderr = finish(start(programs, *flags))
    assert (status, stdout, stderr.count("\n")) == (2, "", 1)
    assert f"argument --launch: '{through}' " in stderr and said in stderr
    assert not (tmp_path / "results").exists()


def test_a_client_behind_a_shell_gets_its_variables(here: Path) -> None:
    programs, made = make(here), here / "made"
    text = (here / "try.toml").read_text().replace('"thing"', f"\"a 'b' $(touch {made}); touch {made}\"")
    (here / "try.toml").write_text(text)
    flags = ("--ranks", "2", "--hosts", "x,y", "--launcher", "none", "--server-address", "me", "--inflight", "8")
    status, _, stderr = finish(start(programs, *flags, "--launch", "env Y=1 timeout 60 ssh {host}"))
    assert status == 0, stderr
    assert statuses(only_folder(programs)) == {"a/01-8": "ok"} and not made.exists()


def test_each_rank_has_its_own(tmp_path: Path) -> None:
    two = Launch(("a", "b"), launch.NONE, ("0", "1"), "nice ssh {host}")
    commands = launch.commands(two, ["env", "A=b c", "client"], tmp_path)
    assert [command[:6] for command in commands] == [["nice", "ssh", host, "taskset", "-c", "0"] for host in ("a", "b")]
    assert {tuple(command[6:9]) for command in commands} == {("env", "'A=b c'", "client")}
    assert [command[-2:] for command in commands] == [["--rank", "0"], ["--rank", "1"]]
