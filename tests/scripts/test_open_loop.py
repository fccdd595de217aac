"""Open loops: read, compared by the rate that is asked, not judged, and never put together with closed ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from cqbench import formats as files
from cqbench.formats import result as result_file
from cqbench.formats.offered import Load, closed
from cqbench.formats.offered import open_loop as rate
from cqbench.formats.reasons import Reason
from cqbench.formats.result import Document
from cqbench.formats.source import BadDocument
from made_results import HASH, REAL, open_loop, put
from test_compare_synthetic import BASE, SAME, SLOWER, called, result, sessions
from verdict_synthetic import SHARED, SIXFOLD, judged, write


def read(data: dict[str, Any]) -> Document:
    return result_file.parse(json.dumps(data).encode(), "x.json")


# Reading.


def test_they_are_as_the_schema_says() -> None:
    schema = json.loads(Path(files.__file__).with_name("result.schema.json").read_text())
    for data in (REAL, open_loop({2000: [1990, 2010]}, stalled=[2000])):
        jsonschema.Draft202012Validator(schema).validate(data)


def test_a_closed_loop() -> None:
    document = read(REAL)
    assert (document.method, document.loop, document.messages, document.stub) == (
        "unary", "closed", "reused", "generated"
    )  # fmt: skip
    assert (document.special, document.how) == ((), "") and [p.load for p in document.points] == [closed(2)] * 2
    assert [r.code for r in document.warnings] == ["shared-cpus"]


def test_an_open_loop() -> None:
    document = read(open_loop({2000: [1990, 2010], 500.5: [500]}, messages="arena", stub="generic"))
    assert document.open and [p.load for p in document.points] == [rate(2000), rate(2000), rate(500.5)]
    assert (document.points[0].inflight, document.points[0].schedule_hash) == (100, HASH)
    sent, due = document.points[0].sent_p99_ns, document.points[0].p99_ns
    assert sent is not None and due is not None and due > sent
    assert document.special == ("arena", "generic", "open")
    assert document.how == "arena messages, generic stub, open loop, poisson arrivals, queue at the limit"


def test_bytes_take_the_generic_stub_without_saying() -> None:
    context = {**REAL["context"], "messages": "bytes", "stub": "generic"}
    assert read({**REAL, "context": context}).special == ("bytes",)


def test_codes_are_the_files_whatever_the_words() -> None:
    said = {"code": "steal", "text": "other processes used it"}
    document = read(
        open_loop({1: [1]}, {"warnings": [said], "notes": [{"code": "slots-saturated", "text": "no slot"}]})
    )
    assert document.points[0].warnings == [Reason("steal", "other processes used it")]
    assert document.points[0].saturated == [Reason("slots", "no slot")]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"target_rate_per_second": 0}, "target_rate_per_second: 0 is not above 0"),
        ({"target_rate_per_second": None}, "'target_rate_per_second' is missing"),
        ({"warnings": ["words"]}, 'warnings[0]: "words" is not a table of keys'),
        ({"notes": [{"code": "slots"}]}, "notes[0]: 'text' is missing"),
        ({"bucket_failed": [0]}, "'bucket_failed' is not as long as 'bucket_completed'"),
        ({"bucket_completed": ["1"] * 20}, 'bucket_completed[0]: "1" is not a number'),
        ({"bucket_completed": [-1] * 20}, "bucket_completed[0]: -1 is not 0 or more"),
        ({"bucket_ns": 0}, "bucket_ns: 0 is not above 0"),
        ({"pacer_lateness_p99_ns": "7"}, 'pacer_lateness_p99_ns: "7" is not a number'),
        ({"latency_from_sent_p99_ns": -1}, "latency_from_sent_p99_ns: -1 is not 0 or more"),
        ({"calls_dropped": True}, "calls_dropped: true is not a number"),
    ],
)
def test_what_is_none(change: dict[str, Any], said: str) -> None:
    with pytest.raises(BadDocument) as error:
        read(open_loop({2000: [2000]}, change))
    assert ": benchmarks[0] ('" in str(error.value) and str(error.value).endswith(said)


def test_a_loop_that_is_none() -> None:
    with pytest.raises(BadDocument, match='context.loop: "half" is not .closed. or .open.'):
        read(open_loop({1: [1]}, loop="half"))


def test_one_code_of_two_ends_is_two_kinds() -> None:
    texts = ("others used 0.5 of the client", "others used 0.7 of the client", "others used 0.5 of the server")
    kinds = [Reason("other-processes", text).kind for text in texts]
    assert kinds[0] == kinds[1] != kinds[2] and Reason("drift", texts[0]).kind != kinds[0]


def test_loads() -> None:
    assert (closed(8).label, closed(8).words, closed(8).file_key) == ("in-flight 8", "8 in flight", "8")
    load = Load(True, 2500.5)
    assert (load.label, load.words, load.file_key) == ("rate 2500.5/s", "2500.5/s asked", "rate-2500-5")
    assert closed(2000) != rate(2000) and sorted([rate(1), closed(7)]) == [closed(7), rate(1)]


# cqbench compare.


def compared(tmp_path: Path, a: dict[str, Any], b: dict[str, Any], capsys: Any, *flags: str) -> tuple[int, str, str]:
    """Sides with as many sessions as repetitions."""
    return called(capsys, sessions(tmp_path / "a", a), sessions(tmp_path / "b", b), *flags)


def test_rates_are_compared_from_due_and_from_sent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides = open_loop({4000: BASE, 8000: BASE}), open_loop({4000: SAME, 8000: SLOWER})
    status, out, _ = compared(tmp_path, *sides, capsys)
    assert status == 0 and "8000/s asked" in out and "in flight" not in out
    for title in ("P99, us", "P99 from sent, us", "ping/unary/cq/separate/open\n", "from when a call was due"):
        assert title in out
    assert "schedules: calls were due at the same times on both sides, at 2 points\n" in out
    data = json.loads(compared(tmp_path, *sides, capsys, "--format", "json")[1])
    (one, two) = data["comparisons"][0]["points"]
    assert (one["inflight"], one["target_rate_per_second"], one["same_schedule"]) == (None, 4000, True)
    assert two["metrics"]["throughput_per_second"]["verdict"] == "slower"
    assert two["metrics"]["latency_from_sent_p99_ns"]["verdict"] == "no difference seen"


def test_other_due_times_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = open_loop({4000: SAME}, {"schedule_hash": "1" * 16}, schedule_seed=2)
    _, out, _ = compared(tmp_path, open_loop({4000: BASE}), other, capsys)
    assert "schedules: calls were due at other times before than after at 1 of 1 point\n" in out


def test_open_and_closed_loops_are_never_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not even where the numbers are equal, and not with --anyway."""
    for flags in ((), ("--anyway",)):
        status, out, err = compared(tmp_path, result({8: BASE}), open_loop({8: BASE}), capsys, *flags)
        assert (status, out) == (2, "")
        assert err == (
            "cqbench compare: A and B cannot be compared: A is a closed loop, B an open loop; their points have "
            "nothing in common\n"
        )


@pytest.mark.parametrize(
    ("title", "value"),
    [("arrivals", "constant"), ("at the limit", "drop"), ("payload", "random"), ("messages a call", 4)],
)
def test_what_must_agree(tmp_path: Path, title: str, value: object, capsys: pytest.CaptureFixture[str]) -> None:
    key = {"at the limit": "at_limit", "messages a call": "stream_messages"}.get(title, title)
    common: dict[str, Any] = {"payload": "zero", "stream_messages": 16, "workload": "echo"}
    sides = open_loop({8: BASE}, **common), open_loop({8: SAME}, **{**common, key: value})
    status, _, err = compared(tmp_path, *sides, capsys)
    assert status == 2 and f"cqbench compare: {title}: " in err
    assert compared(tmp_path, *sides, capsys, "--anyway")[0] == 0


def test_the_most_outstanding_must_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = compared(tmp_path, open_loop({8: BASE}), open_loop({8: SAME}, {"inflight": 7}), capsys)
    assert status == 2 and "cqbench compare: most outstanding: 100 before, 7 after\n" in err


def test_limits_are_marked_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    full = {"notes": [{"code": "client-cpu-saturated", "text": "the client's CPU is full"}]}
    _, out, _ = compared(tmp_path, open_loop({8: BASE}), open_loop({8: SAME}, full), capsys)
    assert "^ 8/s asked" in out and "! 1 of 1 point saturated, marked with a ^\n" in out
    assert "! after: saturated: the client's CPU is full\n" in out and "suspect" not in out


# The verdict.


def test_closed_loops_are_judged_as_if_there_were_no_others(tmp_path: Path) -> None:
    for policy, rates in (("shared", SHARED), ("local-pool", SIXFOLD)):
        write(tmp_path / f"{policy}.json", policy, rates)
    alone = judged(tmp_path)
    put(tmp_path / "open.json", open_loop({1: [1e6] * 6}, workload="ping", api="sync", method="streaming"))
    both = judged(tmp_path)
    assert both.scenarios == alone.scenarios and both.settings == alone.settings


def test_holders_are_settings_of_their_own(tmp_path: Path) -> None:
    """One of them with other connections as well: nothing differs from it in just one thing."""
    context: dict[str, Any] = {"method": "unary"}
    for name, policy, messages in (("a", "shared", "arena"), ("b", "local-pool", "arena"), ("c", "shared", "reused")):
        write(tmp_path / f"{name}.json", policy, SHARED, **context, messages=messages)
    (case,) = judged(tmp_path).scenarios
    assert case.connections and case.configurations == ("separate",)
