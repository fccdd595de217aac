"""Every threshold that decides something about results, with its meaning and its reason. No other module has its own.

How often decisions by them are wrong is measured in tests/scripts/test_error_rates.py. Ratios are configuration /
baseline.
"""

from __future__ import annotations

# --- differences ---

# The margin: 10 %. The self-check warns of a drift of 5 % inside a window, and one set-up measured twice in a session
# (1 in flight, where both sides are one connection) was seen to differ by 6 %. Less than both together is not worth a
# change.
GAIN = 1.10
# The chance that anything is called different when nothing is, over all comparisons of an experiment.
ALPHA = 0.05
# The same for what a configuration costs (P99, CPU per call): several figures for each load, so that both together stay
# near.
COST_ALPHA = 0.01
# The same for the figures that name a cause: to be wrong about it takes a wrong one of them where something is faster.
EVIDENCE_ALPHA = 0.01
# Two configurations closer than that are equally good, and the one with fewer connections stays.
ALIKE = 1.05
# A gate of CI: percent. 95 after 100 is a change of -5 %, whatever its last bit.
ROUNDING_PERCENT = 1e-9
# Times as many repetitions at least, where a gate was inconclusive: what was seen once is seen otherwise the next time.
MORE_REPETITIONS = 1.5

# --- saturation ---

# Share of the CPUs allowed; the self-check's threshold. The kernel's accounting and short sleeps eat the rest.
CPU_SATURATED = 0.95
# Share of a thread's time, for the threads that serve a completion queue: as for CPUs, which they are limited by.
WORKER_SATURATED = 0.95
# Share of latency P50: when the wire takes that much, the best of clients and servers could win 1 / 0.7 = 1.4 times at
# most.
NETWORK_SHARE = 0.70
# Share of the window in which the connection had a request that the server had not taken. With threads that sleep in
# their calls 96 to 99 % were seen, 90 % with other programs; where CPUs or the connection are the limit at most 53 %.
WIRE_BUSY = 0.80
# Smoothed round trip / latency P50: for most of its time a call's request is not taken. Seen: 98 to 113 % with threads
# that sleep; at most 77 % otherwise where throughput is far from the ideal, so this is not enough alone.
SERVER_WAIT_SHARE = 0.80
# Smoothed / shortest round trip: above it the other end takes the time, not the way there. A link that only has to be
# crossed is near 1, one with a full buffer may reach a few; 300 and more were seen with threads that sleep.
SERVER_WAIT_RTT = 10.0
# Throughput / (n x throughput at 1 in flight), at or above which a shared connection is not what its calls wait for,
# however much faster more connections are: those then save what a call costs alone, such as waking CPUs that had gone
# to sleep. 10 % as for GAIN, for the same reason.
KEEPS_UP = 0.90
# Fewer CPUs than that on either side saturate before one connection does: one CPU was seen to carry 0.8 to 1.5 times
# what a shared connection does, and the YDB post's sixfold took 32 CPUs on each side.
FEW_CPUS = 4
# The YDB post's ratio, for what it would take to see it.
POST_RATIO = 6.0

# --- which points count ---

# Share of a point's repetitions that may have a warning. A median stands while fewer than half of its values are bad; a
# third leaves room for the interval.
MAX_UNRELIABLE_SHARE = 1 / 3

# --- rates reached ---

# Share of the calls that an open loop was to make: below it calls wait ever longer, and latency is that of the window's
# length.
CALLS_REACHED = 0.98
# Share of the bytes that streams were to carry, the same as in src/observe/evidence/stream_report.cc. A stream that the
# window cuts counts for what it carried, so it is lower than the share of calls.
BYTES_REACHED = 0.97
# Share of the calls that an open loop was to make: the report draws the knee of a curve before the first rate below it.
# No decision depends on it; a median of a few repetitions may be some percent off by chance.
KNEE_REACHED = 0.95
# Share of the rate before a fault: with it the service has recovered. A stall of the machine of 5 % is no dip.
RECOVERED = 0.95
