"""Folded stacks: names, what is small, and the difference between the shorter and the longer runs."""

from __future__ import annotations

from collections import Counter

import pytest
from cqbench.analysis.cost import stacks


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("std::vector<A, std::pair<B, C> >::push(A&)", "std::vector::push"),
        ("void f<int>(int)", "f"),
        ("X::operator<(X const&) const", "X::operator<"),
        ("std::ostream& std::operator<< <T>(std::ostream&, char)", "std::operator<<"),
        ("T* a::operator->() const", "a::operator->"),
        ("std::function<void (int)>::operator()(int) const", "std::function::operator()"),
        ("F::g()::{lambda(int)#1}::operator()(int) const", "F::g::{lambda#1}::operator()"),
        ("F::{lambda(int)#1}::operator()(int) const", "F::{lambda#1}::operator()"),
        ("cqbench::(anonymous namespace)::X<Y>::z()", "cqbench::{anonymous}::X::z"),
        ("operator new(unsigned long)", "operator_new"),
        ("tcp_sendmsg", "tcp_sendmsg"),
        ("a;b", "a:b"),
    ],
)
def test_names_are_short_and_safe(name: str, shown: str) -> None:
    assert stacks.short(name, "/lib/x.so") == shown


def test_a_function_without_a_name_is_its_library() -> None:
    assert stacks.short("[unknown]", "/usr/lib/libgrpc.so.29.0.0") == "[libgrpc.so.29.0.0]"
    assert stacks.short("[unknown]", "[unknown]") == "[unknown]"


def test_stacks_that_do_not_reach_the_beginning_are_marked() -> None:
    assert stacks.line("cq-12", [("clone3", "libc"), ("f", "p")]) == "cq-N;clone3;f"
    assert stacks.line("cq-12", [("g", "p"), ("f", "p")]) == "cq-N;[cut];g;f"
    deep = stacks.line("main", [("_start", "ld"), *([("f", "p")] * 1000)])
    assert len(deep.split(";")) == stacks.MAX_DEPTH + 1


def folded(less: dict[str, int], more: dict[str, int], each: float = 10.0) -> set[str]:
    return set(stacks.folded("client", [Counter(less)], [Counter(more)], each).splitlines())


def test_start_drops_out_and_calls_stay() -> None:
    assert folded({"t;start": 500, "t;call": 100}, {"t;start": 500, "t;call": 500, "t;call;leaf": 7}) == {
        "client;t;call 4000",
        "client;t;call;leaf 70",
    }


def test_what_is_small_or_less_than_nothing_is_its_callers() -> None:
    less = {"t;start;a": 7, "t;start;b": 2}
    more = {"t;f": 9_000, "t;f;small": 3, "t;f;seen": 20, "t;start;a": 3, "t;start;b": 8}
    assert folded(less, more) == {"client;t;f 90030", "client;t;f;seen 200", "client;t 20"}


def test_no_samples_no_file() -> None:
    assert folded({}, {}) == set()
    assert folded({"t;f": 5}, {"t;f": 4}) == set()


def test_the_file_stays_small() -> None:
    many = {f"t;{'f;' * 30}g{i}": 1 for i in range(100_000)}
    text = stacks.folded("client", [], [Counter(many)], 1)
    assert sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines()) == 100_000
    assert len(text) < 1000
