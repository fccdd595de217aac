"""Programs of others that tests use: the test is skipped, with a sentence, where one is absent or too old."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess

import pytest

# Name -> how it is asked, the oldest release that the tests know, the Debian package. Where no reason stands behind a
# number, the tests have run with that release and no older one.
TOOLS = {
    "chromium": ("--version", (109, 0), "chromium"),
    "curl": ("--version", (7, 82), "curl"),  # --json
    "h2load": ("--version", (1, 40), "nghttp2-client"),
    "mpirun": ("--version", (4, 1), "openmpi-bin"),
    "perf": ("--version", (6, 1), "linux-perf"),
    "strace": ("--version", (6, 1), "strace"),
    "valgrind": ("--version", (3, 19), "valgrind"),
    "go": ("version", (1, 21), "golang-go"),  # from then on Go fetches the release that go.mod names
}
PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/local/go/bin"  # Go's own archive installs there


@functools.cache
def problem(name: str, path: str = PATH) -> str:
    """Why the tool cannot be used, as a sentence; '' if it can. It is asked once."""
    how, oldest, package = TOOLS[name]
    program = shutil.which(name, path=path)
    if program is None:
        return f"there is no {name}: apt-get install {package}"
    done = subprocess.run([program, how], capture_output=True, text=True, timeout=60, check=False)
    found = re.search(r"(\d+)\.(\d+)(?:\.\d+)?", done.stdout)
    if done.returncode != 0 or found is None:
        return f"{program} does not say its version"
    if (int(found[1]), int(found[2])) < oldest:
        return f"{name} {found[0]} is not supported: {oldest[0]}.{oldest[1]} or later is"
    return ""


def need(name: str) -> str:
    """Returns the tool's path, or skips the test."""
    if why := problem(name):
        pytest.skip(why)
    return str(shutil.which(name, path=PATH))
