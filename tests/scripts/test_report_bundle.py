"""The scripts that draw plots are made once for each version, and without a cache as well."""

from __future__ import annotations

from pathlib import Path

import pytest
import vl_convert
from cqbench.render.report import bundle


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The snippet of each bundle that was made."""
    calls: list[str] = []

    def make(snippet: str) -> str:
        calls.append(snippet)
        return f"/* {snippet} */"

    monkeypatch.setattr(vl_convert, "javascript_bundle", make)
    return calls


def scripts_of_a_new_process() -> str:
    bundle.scripts.cache_clear()
    try:
        return bundle.scripts()
    finally:
        bundle.scripts.cache_clear()


def test_the_next_process_reads_what_the_first_made(
    made: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    first, second = scripts_of_a_new_process(), scripts_of_a_new_process()
    assert first == second == f"/* {bundle.SNIPPET} */" and made == [bundle.SNIPPET]
    monkeypatch.setattr(bundle, "version", lambda _: "another")
    scripts_of_a_new_process()
    assert len(made) == 2


def test_a_cache_that_cannot_be_used_does_no_harm(
    made: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").write_text("a file, not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert scripts_of_a_new_process() == f"/* {bundle.SNIPPET} */" and len(made) == 1
