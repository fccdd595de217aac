"""Runs that fail, and runs that are interrupted or killed: what was measured is kept, no server is left."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from cqbench.formats.result import load as load_document
from experiment_standin import (
    PLANNED,
    TOML,
    assert_no_server,
    finish,
    manifest_of,
    only_folder,
    order,
    ran,
    start,
    statuses,
    wait_for,
)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("FAILS", "grpc_ping_client: it broke (exit status 1)"),
        ("HAS_ERRORS", "FAILED: a, 1 in flight, repetition 1: exit status 1"),
        ("IS_SILENT", "the client wrote no result"),
        ("GARBLES", "not JSON"),
        ("KILLS_SERVER", "lost it (exit status 1); the server had ended: listening on"),
    ],
)
def test_a_run_that_fails_is_reported_and_the_rest_goes_on(programs: Path, what: str, said: str) -> None:
    status, stdout, stderr = finish(start(programs, **{f"STANDIN_{what}": "a/01-1"}))
    folder = only_folder(programs)
    assert status == 1
    assert {entry for entry, s in statuses(folder).items() if s == "failed"} == {"a/01-1"}
    assert sorted(ran(programs)) == sorted(PLANNED)
    assert "\nFAILED: a, 1 in flight, repetition 1: " in stdout and said in stdout
    assert said.removeprefix("FAILED: a, 1 in flight, repetition 1: ") in stderr
    assert not manifest_of(folder)["partial"] and "PARTIAL" not in stdout
    if what == "FAILS":
        (entry,) = [u for u in manifest_of(folder)["runs"] if u["status"] == "failed"]
        assert entry["last_lines"] == ["first line", "grpc_ping_client: it broke"] and said == entry["reason"]
        assert "==     first line\n" in stderr
    assert_no_server(programs)


def test_a_server_that_does_not_start_fails_its_configuration_only(programs: Path) -> None:
    text = TOML.replace('name = "a"\n', 'name = "a"\nserver_flags = "--broken"\n')
    (programs.parent / "try.toml").write_text(text)
    status, stdout, stderr = finish(start(programs))
    folder = only_folder(programs)
    assert status == 1
    assert {entry for entry, s in statuses(folder).items() if s == "failed"} == {
        entry for entry in PLANNED if entry[0] == "a"
    }
    assert (
        "FAILED: a, 1 in flight, repetition 1: cannot start the server: the server ended with status 1: no luck"
        in stdout
    )
    assert "==     a\n==     no luck\n" in stderr
    assert "a/01-1" not in ran(programs) and "b/01-1" in ran(programs)


def test_a_result_of_another_load_is_no_result(programs: Path) -> None:
    client = (programs / "grpc_ping_client").read_text()
    (programs / "grpc_ping_client").write_text(client.replace("asked = sys.argv[", 'asked = "16" or sys.argv['))
    status, stdout, _ = finish(start(programs, "--repetitions", "1"))
    assert status == 1 and "FAILED: a, 1 in flight, repetition 1: the result has no point with 1 in flight" in stdout


def test_ctrl_c_keeps_what_was_measured_and_can_be_resumed(programs: Path) -> None:
    entries = order()
    third = next(entry for entry in entries[2:] if not entry.startswith("c"))
    at = entries.index(third)
    process = start(programs, STANDIN_WAITS=third)
    wait_for(programs / "waiting")
    process.send_signal(signal.SIGINT)
    status, stdout, _ = finish(process)
    folder = only_folder(programs)
    assert status == 130
    said = f"PARTIAL: {12 - at} of 12 runs are missing; --resume {folder} runs them"
    assert said in stdout and said in (folder / "summary.txt").read_text()
    assert manifest_of(folder)["partial"] and manifest_of(folder)["ended"]
    expected = ["ok"] * at + ["interrupted"] + ["pending"] * (11 - at)
    assert list(statuses(folder).values()) == expected
    assert load_document(folder / f"raw/{third}.json").partial
    assert_no_server(programs)
    (programs / "clients").unlink()
    assert finish(start(programs, "--resume", str(folder)))[0] == 0
    assert ran(programs) == entries[at:]
    assert not manifest_of(folder)["partial"]


def test_sigterm_in_the_last_run_ends_with_its_own_status(programs: Path) -> None:
    process = start(programs, STANDIN_WAITS=order()[-1])
    wait_for(programs / "waiting")
    process.send_signal(signal.SIGTERM)
    status, stdout, _ = finish(process)
    assert status == 143 and "PARTIAL: 1 of 12 runs" in stdout
    assert manifest_of(only_folder(programs))["partial"]
    assert_no_server(programs)


def test_a_killed_run_leaves_no_server_and_can_be_resumed(programs: Path) -> None:
    process = start(programs, STANDIN_WAITS="a/01-1")
    wait_for(programs / "waiting")
    process.kill()
    finish(process)
    assert_no_server(programs)
    folder = only_folder(programs)
    assert manifest_of(folder)["partial"]
    assert finish(start(programs, "--resume", str(folder)))[0] == 0
    assert set(statuses(folder).values()) == {"ok"}
    assert ran(programs).count("a/01-1") == 2 and len(ran(programs)) == 13
