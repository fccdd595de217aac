"""Reading what strace and callgrind write, and whose a function is."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from cqbench.analysis.cost import callgrind, perf, strace
from cqbench.analysis.cost.counts import CPU, FUNCTION, LIBRARY, SYSCALL, THREAD, Key, Run, function, slope, total
from cqbench.analysis.cost.libraries import Program, functions, library, qualified

# The trace of a ping's client, shortened; the first line is the main thread's.
STRACE = """\
901 execve("/bin/client", ["client"], 0x7ffd /* 20 vars */) = 0
905 prctl(PR_SET_NAME, "worker") = 0
907 prctl(PR_SET_NAME, "grpc_global_tim"... <unfinished ...>
907 <... prctl resumed>) = 0
907 futex(0x7f, FUTEX_WAIT_PRIVATE, 0, NULL) = -1 ETIMEDOUT (Connection timed out)
905 sendmsg(6<socket:[17]>, {msg_name=NULL, msg_iov=[{iov_base=""..., iov_len=9}], msg_iovlen=1}, MSG_NOSIGNAL) = 41
905 epoll_wait(4<anon_inode:[eventpoll]>,  <unfinished ...>
906 futex(0x55d0, FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME, 0, NULL, FUTEX_BITSET_MATCH_ANY <unfinished ...>
905 <... epoll_wait resumed>[{events=EPOLLIN, data={u32=1, u64=9}}], 100, -1) = 1
905 recvmsg(6<socket:[17]>, {msg_name=NULL, msg_iov=[{iov_base=""..., iov_len=8192}]}, 0) = 52
905 recvmsg(6<socket:[17]>, {msg_namelen=0}, 0) = -1 EAGAIN (Resource temporarily unavailable)
905 sched_yield() = 0
905 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=10000},  <unfinished ...>
905 <... clock_nanosleep resumed>NULL) = 0
905 write(5<anon_inode:[eventfd]>, ""..., 8) = 8
905 futex(0x55d0, FUTEX_WAKE_PRIVATE, 2147483647) = 2
905 futex(0x55d8, FUTEX_WAKE_PRIVATE, 1) = 0
906 <... futex resumed>)             = 0
905 read(7<TCP:[127.0.0.1:9->127.0.0.1:8]>,  <unfinished ...>
905 --- SIGCHLD {si_signo=SIGCHLD} ---
905 <... read resumed>""..., 16)   = 7
905 read(8</etc/hosts>, ""..., 4096) = 30
901 rt_sigtimedwait([INT], NULL, {tv_sec=0}, 8) = -1 EAGAIN (Resource temporarily unavailable)
905 epoll_wait(4<anon_inode:[eventpoll]>, [], 100, 0) = 0
905 +++ exited with 0 +++
901 +++ exited with 0 +++
"""


def syscalls(counts: Counter[Key]) -> dict[str, int]:
    return {key.name: n for key, n in counts.items() if key.kind == SYSCALL}


def test_strace() -> None:
    log = strace.parse(STRACE.splitlines())
    assert syscalls(log.counts) == {
        "sendmsg": 1,
        "recvmsg": 2,
        "epoll_wait": 2,
        "futex (wait)": 1,
        "futex (wake)": 2,
        "write (eventfd)": 1,
        "read (socket)": 1,
        "read (file)": 1,
        "prctl": 1,
    }
    assert log.counts[total("syscalls")] == 12
    assert log.counts[total("lock-waiting-syscalls")] == 2
    assert log.counts[total("wake-ups")] == 1 + 2
    assert (log.counts[Key(THREAD, "worker")], log.counts[Key(THREAD, "without a name")]) == (11, 1)
    assert syscalls(log.clock) == {"prctl": 1, "futex (wait)": 1}
    assert log.counts[total("failed-syscalls")] == 1
    assert (log.counts[total("socket-writes")], log.counts[total("socket-bytes-written")]) == (1, 41)
    assert (log.counts[total("socket-reads")], log.counts[total("socket-bytes-read")]) == (2, 59)
    assert syscalls(log.main) == {"execve": 1, "rt_sigtimedwait": 1}


def test_a_log_is_whole_when_its_first_process_has_ended(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_text(STRACE)
    assert strace.ended(file)
    file.write_text(STRACE.rpartition("901 +++")[0])
    assert not strace.ended(file)
    file.write_text("")
    assert not strace.ended(file)


# A function of the program calls one of the library and itself; names are written once.
CALLGRIND = """\
# callgrind format
version: 1
creator: callgrind-3.19.0
pid: 7
cmd:  ./client
part: 1
thread: 2

positions: line
events: Ir Dr Dw Bc Bi
summary: 999 0 0 0 0


ob=(1) /opt/bin/client
fl=(1) ???
fn=(1) grpc::Call::Start(int, std::vector<int>)
0 10 2 1 3
+3 5
cob=(2) /usr/lib/x86_64-linux-gnu/libc.so.6
cfi=(2) ???
cfn=(2) malloc
calls=4 0
0 400 40 40
cfn=(3) grpc::Call::Start(int, std::vector<int>)'2
calls=1 0
0 77 7

fn=(3)
0 7 0 0 0 2

ob=(2)
fl=(2)
fn=(2)
0 300 40
cfn=(4) calloc
calls=1 0
0 100

fn=(4)
0 100

ob=(4) /usr/lib/libabsl_synchronization.so
fn=(6) absl::synchronization_internal::MutexDelay(int, int)
0 90

ob=(2)
fn=(7) _int_malloc
0 60
fn=(8) unlink_chunk.constprop.0
0 4

ob=(3) /usr/lib/libgrpc.so.29
fn=(5) 0x000000000012a3b0
* 50
cob=(2)
cfn=(4)
calls=2 0
* 9
totals: 472 42 1 3 2
"""


# A sample is a line for its thread and one for each function, the innermost first.
PERF = """\
grpc_ping_clien   901/901
\t    7f3275cd7af7 main (/bin/grpc_ping_client)
\t           1bccb _start (/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2)

event engine 2   901/905
\t    7f3275cd7a00 grpc_core::Call::Run(int (*)(void*)) (/usr/lib/libgrpc.so.29.0.0)
\t    7f3275cd7a07 std::function<void (int)>::operator()(int) const (/bin/grpc_ping_client)
\t           11bcc clone3 (/usr/lib/x86_64-linux-gnu/libc.so.6)

cq-0   901/906
\t    7f3275cd7a01 [unknown] (/usr/lib/libgrpc.so.29.0.0)

cq-1   901/907
\tffffffff815e1d7a tcp_sendmsg ([kernel.kallsyms])
\t    7f3275cd7a01 [unknown] (/usr/lib/libgrpc.so.29.0.0)
\t           11bcc clone3 (/usr/lib/x86_64-linux-gnu/libc.so.6)

cq-0   901/906
\tffffffff815e1d7b nf_hook ([nf_tables])

cq-0   901/906
\t    7ffd015e1d7b __vdso_clock_gettime ([vdso])

cq-0   901/906
\t    55d0015e1d7b grpc::ByteBuffer::Clear() (/bin/grpc_ping_client)

grpc_global_tim   901/908
\t    55d0015e1d7b gpr_now (/usr/lib/libgpr.so.29.0.0)

cq-0   901/906
\t    55d0015e1d7c [unknown] ([unknown])
"""


def test_perf() -> None:
    found = perf.parse(PERF.splitlines(), Program("grpc_ping_client"))
    each = perf.EACH_NS
    assert found.main == {total("cpu-sampled-ns"): each, Key(CPU, "program"): each}
    assert found.clock == {total("cpu-sampled-ns"): each, Key(CPU, "gRPC"): each}
    assert found.counts.pop(total("cpu-sampled-ns")) == 7 * each
    expected = {"gRPC": 2, "kernel": 2, "[vdso]": 1, "gRPC in the program": 1, "unknown": 1}
    assert found.counts == {Key(CPU, name): times * each for name, times in expected.items()}
    assert found.main_stacks == {"grpc_ping_clien;_start;main": 1}
    assert found.stacks == {
        "event_engine_N;clone3;std::function::operator();grpc_core::Call::Run": 1,
        "cq-N;[cut];[libgrpc.so.29.0.0]": 1,
        "cq-N;clone3;[libgrpc.so.29.0.0];tcp_sendmsg": 1,
        "cq-N;[cut];nf_hook": 1,
        "cq-N;[cut];__vdso_clock_gettime": 1,
        "cq-N;[cut];grpc::ByteBuffer::Clear": 1,
        "cq-N;[cut];[unknown]": 1,
    }


def test_callgrind() -> None:
    counts = callgrind.parse(CALLGRIND.splitlines(), Program("client"))
    found = {key.name: n for key, n in counts.items() if key.kind == "total"}
    assert found == {
        "instructions": 472,
        "loads": 42,
        "stores": 1,
        "branches": 3,
        "indirect-branches": 2,
        "lock-waiting": 90,
        "heap-searching": 64,
        "allocation-calls": 4 + 2,  # calloc that malloc asks is the same allocation
    }
    assert {key.name: n for key, n in counts.items() if key.kind == LIBRARY} == {
        "gRPC in the program": 22,
        "libc": 400,
        "gRPC": 50,
    }
    assert counts[Key(FUNCTION, "grpc::Call::Start(int, std::vector<int>)", "gRPC in the program")] == 22


def test_threads_are_files_and_the_main_one_is_apart(tmp_path: Path) -> None:
    for thread in ("01", "02", "03"):
        (tmp_path / f"out-{thread}").write_text(CALLGRIND)
    timers = CALLGRIND.replace("0x000000000012a3b0", "grpc_timer_check(grpc_core::Timestamp*)")
    (tmp_path / "out-04").write_text(timers)
    seen = callgrind.read(tmp_path / "out", Program("client"))
    found = [counts[total("instructions")] for counts in (seen.counts, seen.main, seen.clock)]
    assert found == [944, 472, 472]


@pytest.mark.parametrize(
    ("path", "name", "whose"),
    [
        ("/usr/lib/libgrpc++.so.1.51", "f", "gRPC"),
        ("/usr/lib/libgpr.so.29", "f", "gRPC"),
        ("/usr/lib/libprotobuf.so.32", "f", "protobuf"),
        ("/usr/lib/libabsl_synchronization.so.20220623", "f", "abseil"),
        ("/usr/lib/libc.so.6", "malloc", "libc"),
        ("/lib64/ld-linux-x86-64.so.2", "f", "libc"),
        ("/usr/lib/libstdc++.so.6.0.30", "operator new(unsigned long)", "libstdc++"),
        ("/usr/lib/libcrypto.so.3", "f", "libcrypto"),
        ("/bin/client", "cqbench::Slot::Next()", "program"),
        ("/bin/client", "void grpc::internal::Fill<int>(int)", "gRPC in the program"),
        ("/bin/client", "std::vector<grpc::Slice>::push_back(grpc::Slice&&)", "libstdc++ in the program"),
        ("/bin/client", "cqbench::Of<grpc::Slice>::f()", "program"),
        ("/bin/client", "absl::Mutex::Lock()", "abseil in the program"),
        ("???", "f", "unknown"),
        ("", "f", "unknown"),
    ],
)
def test_whose_a_function_is(path: str, name: str, whose: str) -> None:
    assert library(path, name, Program("client")) == whose


def test_return_types_are_not_looked_at() -> None:
    assert qualified("std::pair<int, int> absl::f<a b>(c d)") == "absl::f<a b>(c d)"
    assert qualified("operator new(unsigned long)").startswith("operator new")
    assert qualified("main") == "main"
    assert qualified("int grpc::(anonymous namespace)::f(int)").startswith("grpc::{anonymous}::f")


def test_a_function_has_the_same_name_in_two_releases_of_abseil() -> None:
    names = ("absl::debian3::Mutex::Lock()", "absl::lts_20230802::Mutex::Lock()", "absl::Mutex::Lock()")
    assert {function(name, "abseil").name for name in names} == {"absl::Mutex::Lock()"}


def test_what_a_run_begins_with_drops_out() -> None:
    key, gone = total("syscalls"), total("loads")
    less, more = Run(10, Counter({key: 130, gone: 5}), Counter()), Run(30, Counter({key: 190, gone: 5}), Counter())
    assert slope(less, more) == {key: 3.0, gone: 0.0}


NM = """\
/usr/lib/libgrpc.a:parsing.cc.o:0000000000000000 t read_action_locked(void*, absl::Status)
/usr/lib/libgrpc.a:parsing.cc.o:0000000000000a10 T grpc_chttp2_perform_read(grpc_chttp2_transport*) [clone .cold]
/usr/lib/libgrpc.a:parsing.cc.o:0000000000000000 d table
/usr/lib/libgrpc.a:parsing.cc.o:                 U memcpy
/usr/lib/libabsl_strings.a:cat.cc.o:0000000000000000 W std::string::append(char const*)
/usr/lib/libprotobuf.a:arena.cc.o:0000000000000000 W std::string::append(char const*)
"""


def test_functions_from_archives_belong_to_their_library() -> None:
    """Weak ones to the library that is linked first."""
    archives = functions(NM.splitlines())
    assert archives == {
        "read_action_locked(void*, absl::Status)": "gRPC",
        "grpc_chttp2_perform_read(grpc_chttp2_transport*)": "gRPC",
        "std::string::append(char const*)": "abseil",
    }
    program = Program("client", archives)
    assert library("/bin/client", "read_action_locked(void*, absl::Status) [clone .isra.0]", program) == "gRPC"
    assert library("/bin/client", "main", program) == "program"
    assert library("/bin/client", "grpc::CreateChannel()", program) == "gRPC in the program"
    assert library("/usr/lib/libother.so.1", "main", program) == "libother"
