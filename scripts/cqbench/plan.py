"""What bench.sh runs: the eight series, their durations, and the server's layout for a number of CPUs."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_INFLIGHT = (1, 2, 4, 8, 16, 32, 48)
FULL_INFLIGHT = tuple(range(1, 49))
# Per point, beside warm-up and interval: connecting, draining, the start of the program. Seen: 20 to 100 ms.
POINT_OVERHEAD_S = 0.1
# The post's server: 8 queues x 2 workers on 32 CPUs, 10 posted requests on each of the queues.
POST_CPUS_PER_CQ = 4
POST_WORKERS_PER_CQ = 2
POST_POSTED = 80


@dataclass(frozen=True)
class Series:
    """One client process: a sweep over the in-flight counts."""

    mode: str  # unary, streaming
    api: str  # sync, cq
    separate: bool

    @property
    def slug(self) -> str:
        """For file names."""
        return f"{self.mode}-{self.api}-{'separate' if self.separate else 'shared'}"

    @property
    def title(self) -> str:
        """For people."""
        return f"{self.mode}, {self.api} client, {'separate connections' if self.separate else 'shared connection'}"

    def flags(self) -> list[str]:
        """The client's flags that make it this series."""
        policy = ["--local-pool"] if self.separate else ["--channel-policy", "per-worker"]
        return ["--api", self.api, *policy, *(["--streaming"] if self.mode == "streaming" else [])]


@dataclass(frozen=True)
class Plan:
    """Durations in seconds."""

    inflight: tuple[int, ...]
    warmup_s: float
    interval_s: float
    series: tuple[Series, ...]

    def series_seconds(self) -> float:
        """How long one series takes when nothing goes wrong."""
        return len(self.inflight) * (self.warmup_s + self.interval_s + POINT_OVERHEAD_S)

    def seconds_left(self, done: int, elapsed_s: float) -> float:
        """With `done` series finished and the next one running for elapsed_s."""
        each = self.series_seconds()
        return max(0.0, (len(self.series) - done) * each - min(elapsed_s, each))

    def patience_seconds(self) -> float:
        """After this a series hangs: each point may spend time on connecting (5 s) and on draining (2 s)."""
        return self.series_seconds() + 7 * len(self.inflight) + 30

    def flags(self) -> list[str]:
        """The client's flags for the sweep."""
        counts = ",".join(map(str, self.inflight))
        return ["--inflight-list", counts, "--warmup", f"{self.warmup_s:g}", "--interval", f"{self.interval_s:g}"]


def headline_series() -> tuple[Series, ...]:
    """Shared and separate are neighbours, so that what changes on the machine over minutes hits both alike."""
    return tuple(
        Series(mode, api, separate)
        for api in ("sync", "cq")
        for mode in ("unary", "streaming")
        for separate in (False, True)
    )


def make_plan(
    full: bool = False,
    inflight: tuple[int, ...] | None = None,
    warmup_s: float | None = None,
    interval_s: float | None = None,
) -> Plan:
    """About three minutes, or the post's durations; what is given explicitly wins over either."""
    return Plan(
        inflight or (FULL_INFLIGHT if full else DEFAULT_INFLIGHT),
        (5.0 if full else 0.5) if warmup_s is None else warmup_s,
        (10.0 if full else 2.5) if interval_s is None else interval_s,
        headline_series(),
    )


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
