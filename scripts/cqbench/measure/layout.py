"""Used by the plans of cqbench run and peers: durations for people, and the server's layout for a number of CPUs."""

from __future__ import annotations

# The post's server: 8 queues x 2 threads on 32 CPUs, 10 posted requests on each of the queues.
POST_CPUS_PER_CQ = 4
POST_WORKERS_PER_CQ = 2
POST_POSTED = 80


def duration(seconds: float) -> str:
    """For people: '39 s', '2 min 54 s', '1 h 36 min'."""
    total = round(seconds)
    if total < 60:
        return f"{total} s"
    return f"{total // 60} min {total % 60} s" if total < 3600 else f"{total // 3600} h {total // 60 % 60} min"


def server_layout(cpus: int) -> list[str]:
    """Server flags: the post's queues, threads and total of posted requests, scaled to this number of CPUs."""
    queues = max(1, cpus // POST_CPUS_PER_CQ)
    workers = max(1, min(POST_WORKERS_PER_CQ, cpus))
    callbacks = max(1, -(-POST_POSTED // queues))
    return ["--num-cqs", f"{queues}", "--workers-per-cq", f"{workers}", "--callbacks-per-cq", f"{callbacks}"]
