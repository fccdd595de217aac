"""Which CPUs each side gets, on machines that are described rather than owned."""

from __future__ import annotations

from pathlib import Path

import pytest
from cqbench.formats.text import format_cpus
from cqbench.measure.cpus import (
    BadCpuList,
    Cpu,
    parse_cpus,
    pinned,
    place,
    place_client,
    place_pair,
    read_machine,
)


def plain(count: int, node: int = 0, first: int = 0) -> tuple[Cpu, ...]:
    return tuple(Cpu(n, n, node) for n in range(first, first + count))


def smt(cores: int) -> tuple[Cpu, ...]:
    """CPU n and n + cores are hyper-threads of core n."""
    return tuple(Cpu(n, n % cores) for n in range(2 * cores))


# The machine of the post: two nodes of 32 cores, hyper-threads 64 further on.
POST = tuple(Cpu(n, n % 64, (n % 64) // 32) for n in range(128))


def test_one_cpu_runs_both_unpinned_and_says_so() -> None:
    placement = place(plain(1))
    assert placement.server == placement.client == ()
    assert "single CPU" in placement.why
    assert placement.notes


def test_two_cpus_are_one_each() -> None:
    placement = place(plain(2))
    assert (placement.server, placement.client) == ((1,), (0,))


def test_cores_are_halved_and_the_client_gets_the_odd_one() -> None:
    assert place(plain(8)).server == (4, 5, 6, 7)
    assert place(plain(3)).client == (0, 1)


def test_the_posts_machine_gets_the_posts_cpus() -> None:
    placement = place(POST)
    assert (format_cpus(placement.server), format_cpus(placement.client)) == ("32-63", "0-31")
    assert "NUMA" in placement.why and "hyper-thread" in placement.why


def test_the_two_largest_of_three_nodes() -> None:
    machine = plain(1) + plain(4, 1, 1) + plain(4, 2, 5)
    placement = place(machine)
    assert (placement.client, placement.server) == ((1, 2, 3, 4), (5, 6, 7, 8))


def test_hyper_threads_of_one_core_are_never_divided() -> None:
    placement = place(smt(2))
    assert (placement.client, placement.server) == ((0,), (1,))
    assert place(smt(1)).server == ()


def test_restricted_affinity_counts_only_what_is_allowed() -> None:
    machine = tuple(cpu for cpu in POST if cpu.id in (5, 69, 7))
    placement = place(machine)
    assert (placement.client, placement.server) == ((5,), (7,))


def test_server_cpus_given_the_client_takes_other_cores() -> None:
    assert place(plain(4), server_cpus="0").client == (1, 2, 3)
    assert place(smt(2), server_cpus="0").client == (1,)
    assert format_cpus(place(POST, server_cpus="0-3").client) == "32-63"


def test_client_cpus_given_and_nothing_else_left() -> None:
    placement = place(plain(2), client_cpus="0-1")
    assert placement.server == (0, 1)
    assert "take time from each other" in placement.notes[0]


def test_both_given() -> None:
    assert place(plain(4), "3", "0-1").notes == ()


def test_overlapping_given_is_done_and_said() -> None:
    placement = place(plain(4), "1,2", "2,3")
    assert (placement.server, placement.client) == ((1, 2), (2, 3))
    assert "CPU 2" in placement.notes[0]


def test_hyper_threads_of_one_core_given_is_said() -> None:
    assert "hyper-threads of one core" in place(smt(2), "0", "2").notes[0]


@pytest.mark.parametrize("text", ["x", "", "1-", "3-1", "-1", "1,,2", "0-99999999999", "65536", "１"])
def test_bad_lists_name_the_variable_and_the_value(text: str) -> None:
    with pytest.raises(BadCpuList, match="SERVER_CPUS: '.*' is not a list of CPUs"):
        parse_cpus(text, "SERVER_CPUS", plain(4))


def test_cpus_that_may_not_be_used_are_named() -> None:
    with pytest.raises(BadCpuList, match="CLIENT_CPUS: CPUs 4-7 cannot be used by this process; it may use 0-3"):
        parse_cpus("2-7", "CLIENT_CPUS", plain(4))


def test_client_alone_gets_the_largest_node() -> None:
    assert format_cpus(place_client(POST).client) == "0-31"
    assert place_client(plain(2)).client == (0, 1)
    assert place_client(plain(2), "1").client == (1,)


def test_a_pair_is_two_cores_of_one_node() -> None:
    placement = place_pair(POST)
    assert (placement.client, placement.server) == ((0,), (1,))
    assert place_pair(smt(1)).server == ()
    assert place_pair(plain(4), "2", "3").server == (2,)


def test_format_and_parse_are_inverse() -> None:
    cpus = (0, 1, 2, 8, 10, 11)
    assert format_cpus(cpus) == "0-2,8,10-11"
    assert parse_cpus("10-11, 8,0-2", "X", plain(16)) == cpus


def test_pinned() -> None:
    assert pinned(["a", "b"], (0, 1)) == ["taskset", "-c", "0-1", "a", "b"]
    assert pinned(["a"], ()) == ["a"]


def test_reading_sysfs(tmp_path: Path) -> None:
    topology = tmp_path / "cpu3" / "topology"
    topology.mkdir(parents=True)
    (topology / "thread_siblings_list").write_text("1,3\n")
    (tmp_path / "cpu3" / "node1").mkdir()
    assert read_machine(tmp_path, {3, 4}) == (Cpu(3, 1, 1), Cpu(4, 4, 0))
