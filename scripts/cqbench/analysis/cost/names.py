"""The names of totals for people, and how their values are written."""

from __future__ import annotations

# In this order; what is not here has its own name.
TOTALS = {
    "cpu-user-ns": "CPU, user, ns",
    "cpu-system-ns": "CPU, kernel, ns",
    "cpu-sampled-ns": "CPU, sampled, ns",
    "voluntary-switches": "switches, voluntary",
    "involuntary-switches": "switches, involuntary",
    "allocations": "allocations",
    "allocated-bytes": "bytes allocated",
    "frees-elsewhere": "of the allocations, freed by another thread",
    "allocation-calls": "calls of malloc and its family, as callgrind sees them",
    "syscalls": "system calls",
    "lock-waiting-syscalls": "sleeps while waiting for a lock, which system calls do not include",
    "wake-ups": "wake-ups of other threads (futex; eventfd)",
    "failed-syscalls": "failed system calls (nothing there, interrupted, late)",
    "socket-writes": "writes to sockets",
    "socket-bytes-written": "bytes written to sockets",
    "socket-reads": "reads from sockets that brought something",
    "socket-bytes-read": "bytes read from sockets",
    "instructions": "instructions",
    "lock-waiting": "instructions of waiting for locks, which are not in these",
    "heap-searching": "malloc's search of the heap, which is not in these",
    "loads": "loads",
    "stores": "stores",
    "branches": "conditional branches",
    "indirect-branches": "indirect branches",
}


def number(value: float) -> str:
    """'38,123', '2.00'."""
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.2f}"
