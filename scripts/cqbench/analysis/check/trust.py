"""Rules about how it was measured: builds, connections, the client, CPUs, clocks, and what the client warned of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from cqbench.analysis.check.model import At, Finding, Result, State, Subject, by_place, count, judged, named
from cqbench.formats import reasons
from cqbench.formats.reasons import Reason
from cqbench.formats.text import one_line, parse_cpus, show
from cqbench.model import setting
from cqbench.model.figures import ENDS
from cqbench.model.scaling import is_scaling
from cqbench.model.thresholds import CPU_SATURATED, MAX_UNRELIABLE_SHARE
from cqbench.model.usable import DISTURBANCES
from cqbench.stats.ratios import MIN_REPETITIONS

SOFTWARE = ("cqbench_version", "grpc_version", "protobuf_version", "compiler", "library_build_type", "grpc_link")
# Points may be unreliable, as long as most are not.
MAX_UNRELIABLE_POINTS = 1 / 2
STEADY = (reasons.NOT_WARMED_UP, reasons.DRIFT, "backlog-grows")
CLIENT = ("pacer-late", "rate-not-reached", "arrivals-shape", "straggler")
QUIET = (reasons.OTHER_PROCESSES, reasons.OTHER_CLIENT, "other-server", reasons.STEAL, "suspended")
MAX_SETTING = 60  # characters in the sentence; JSON has all of them
NEUTRAL = ("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",)  # where certificates are
CALLS_FOR_STEADY = 200  # 8 parts of 25 calls, as in src/observe/checks/thresholds.h
NOT_ANSWERED = ("failed", "unfinished", "calls_unsent")
GOOD_CLOCK, GOOD_GOVERNOR = "tsc", "performance"


def versions(subject: Subject) -> Finding | None:
    """One configuration has one build of everything, which was made for measuring."""
    if not subject.results:
        return None
    problems = [*_mixed(subject.results)]
    problems += [f"{result.name}: {problem}" for result in subject.results for problem in _not_for_measuring(result)]
    told = {key: sorted({str(r.run.context[key]) for r in subject.results if key in r.run.context}) for key in SOFTWARE}
    text = f"cqbench {' and '.join(told['cqbench_version'])}, gRPC {' and '.join(told['grpc_version'])}"
    if problems or not subject.manifest:
        return judged("versions", text, problems, "one build of each configuration, made for measuring")
    remarks = [*_of_the_source(subject.manifest.git_revision)]
    remarks += [f"{', '.join(r.changed)} changed when it was resumed" for r in subject.manifest.resumed if r.changed]
    if remarks:
        return Finding("versions", State.REMARK, f"{text}: {named(remarks)}", tuple(remarks))
    return judged("versions", text, [], f"of commit {subject.manifest.git_revision[:12]}")


def _of_the_source(revision: str) -> Iterator[str]:
    if not revision:
        yield "the commit of the source code is not known"
    elif not revision.isalnum():
        yield "the source code differed from its commit"


def _mixed(results: Iterable[Result]) -> Iterator[str]:
    """Yields what differs between results of one configuration."""
    found: dict[tuple[str, str], set[str]] = {}
    for result in results:
        name = result.run.configuration
        for end, _, facts in _descriptions(result, "", "") if name else ():
            whose = "" if end == "client" else f"the {end}'s "
            for key in SOFTWARE:
                found.setdefault((name, f"{whose}{key}"), set()).add(show(facts.get(key)))
    for (name, key), values in found.items():
        if len(values) > 1:
            yield f"{name}: {key} is {' and '.join(sorted(values))}"


def _not_for_measuring(result: Result) -> Iterator[str]:
    for end, key, facts in _descriptions(result, "library_build_type", "build_type"):
        if facts.get(key, "release") != "release":
            yield f"the {end} is of build type '{one_line(str(facts[key]))}'"
        if facts.get("deadlock_detection"):
            yield f"the {end} looks for lock cycles, which takes time"


def _descriptions(result: Result, of_client: str, of_server: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yields the end, the key, and what the end says of itself."""
    context = result.run.context
    yield "client", of_client, context
    for server in context.get("servers") or []:
        yield "server", of_server, server


def connections(subject: Subject) -> Finding | None:
    """As many connections as the channel policy promises. A channel that scales promises no number."""
    points = [at for at in subject.measured if not is_scaling(setting.of(at.result.run).connections)]
    if not points:
        return None
    known = [at for at in points if at.measured.connections is not None]
    wrong = [at for at in known if at.measured.connections != at.measured.expected_connections]
    problems = [f"{at.where}: {at.measured.connections}, {at.measured.expected_connections} promised" for at in wrong]
    looked_at = f"{count(len(known), 'point')} of {len(points)}"
    if not problems and len(known) < len(points):
        return Finding("connections", State.NOT_KNOWN, f"{looked_at} as promised, of the others they are not known")
    return judged("connections", looked_at, problems, "established as the channel policy promises")


def repetitions(subject: Subject) -> Finding | None:
    """Enough for an interval: fewer decide nothing."""
    places = by_place(at for at in subject.measured if not at.measured.failed)
    if not places:
        return None
    few = [f"{', '.join(place)}: {len(of)}" for place, of in places.items() if len(of) < MIN_REPETITIONS]
    looked_at = count(len(places), "configuration and load", "configurations and loads")
    if not few:
        return Finding("repetitions", State.PASSED, f"{looked_at}: {MIN_REPETITIONS} or more usable repetitions")
    text = f"{looked_at}: {len(few)} with fewer than {MIN_REPETITIONS} usable repetitions, so no interval"
    return Finding("repetitions", State.REMARK, text, tuple(few))


def steady(subject: Subject) -> Finding | None:
    """The client compares the parts of each window, where those have enough calls."""
    points = subject.measured
    found = _warned("steady", subject, STEADY, "steady from warm-up to end", "not steady")
    few = tuple(at.where for at in points if at.measured.completed < CALLS_FOR_STEADY)
    if not few or found is None:
        return found
    state = State.NOT_KNOWN if len(few) == len(points) and found.state is State.PASSED else found.state
    fine = "" if state is State.NOT_KNOWN else f"{found.text.partition(': ')[2]}; "
    text = f"{count(len(points), 'point')}: {fine}{len(few)} with too few calls to compare parts of the window"
    return Finding("steady", state, text, (*found.examples, *few))


def quiet(subject: Subject) -> Finding | None:
    note = subject.manifest.other_load.note if subject.manifest and subject.manifest.other_load else ""
    found = _warned("quiet", subject, QUIET, "no unrelated process, client or hypervisor took CPUs", "disturbed")
    if not note or found is None:
        return found
    return Finding("quiet", State.REMARK, f"{found.text}; {note}", (*found.examples, note))


def client(subject: Subject) -> Finding | None:
    """A client that is the limit measures itself."""

    def full(at: At) -> bool:
        return _is_full(at) or any(note.code == "client-cpu-saturated" for note in at.measured.notes)

    found = _warned("client", subject, CLIENT, "the client had CPUs to spare", "limited by the client", full)
    if found and found.state is State.PASSED and not all("client_cores_used" in at.raw for at in subject.measured):
        return Finding("client", State.NOT_KNOWN, "some points do not have the CPU time of the client")
    return found


def _is_full(at: At) -> bool:
    """Its CPUs, whatever the notes say. A client that spins uses them all."""
    context, used, allowed = at.result.run.context, *map(at.raw.get, ("client_cores_used", "client_cpus_allowed"))
    spins = "spin" in (context.get("poll"), context.get("pace"))
    return bool(used and allowed and not spins and used >= CPU_SATURATED * allowed)


def _warned(
    rule: str,
    subject: Subject,
    codes: Collection[str],
    fine: str,
    bad: str,
    also: Callable[[At], bool] = lambda at: False,
) -> Finding | None:
    """A remark, with numbers, where points have one of the warnings, or are so also."""
    points = subject.measured
    if not points:
        return None
    found = {at.where: [w for w in at.measured.warnings if w.code in codes] for at in points}
    places = [at.where for at in points if found[at.where] or also(at)]
    looked_at = count(len(points), "point")
    if not places:
        return Finding(rule, State.PASSED, f"{looked_at}: {fine}")
    first = next((f", first: {of[0].text}" for of in found.values() if of), "")
    return Finding(rule, State.REMARK, f"{looked_at}: {len(places)} {bad}{first}", tuple(places))


def cpus(subject: Subject) -> Finding | None:
    """Client and server on CPUs, and where it is known NUMA nodes, of their own."""
    if not subject.results:
        return None
    shared = [r.name for r in subject.results if _shares_cpus(r)]
    unknown = [r.name for r in subject.results if not r.run.context.get("servers")]
    looked_at = count(len(subject.results), "result")
    problems = [f"{name}: client and server share CPUs" for name in shared]
    places = subject.manifest.placements.values() if subject.manifest else ()
    where = "; ".join(one_line(place) for place in dict.fromkeys(places)) or "NUMA nodes are not known"
    if problems or not unknown:
        return judged("cpus", looked_at, problems, f"client and server have CPUs of their own; {where}")
    text = f"{looked_at}: {len(unknown)} without the server's CPUs; {where}"
    return Finding("cpus", State.NOT_KNOWN, text, tuple(unknown))


def _shares_cpus(result: Result) -> bool:
    context = result.run.context
    if any(w.code in (reasons.SHARED_CPUS, "rank-cpus") for w in _warnings(result)):
        return True
    try:
        mine = set(parse_cpus(str(context.get("affinity", ""))))
    except ValueError:
        return False
    here = (s for s in context.get("servers") or [] if s.get("boot_id") == context.get("boot_id"))
    return any(mine & set(server.get("cpus") or ()) for server in here)


def _warnings(result: Result) -> list[Reason]:
    """Those of the run and of its points."""
    document = result.run.document
    return [*document.warnings, *(w for point in document.points for w in point.warnings)]


def clock(subject: Subject) -> Finding | None:
    if not subject.results:
        return None
    found = {end: values - {""} for end, values in subject.end_facts("clock_source").items()}
    words = ", ".join(f"{end} {' and '.join(sorted(map(str, of))) or 'not known'}" for end, of in found.items())
    others = set.union(*found.values()) - {GOOD_CLOCK}
    state = State.REMARK if others else State.PASSED if found["client"] else State.NOT_KNOWN
    return Finding("clock", state, f"clock source: {words}")


def frequency(subject: Subject) -> Finding | None:
    """A governor may change the CPUs' clock while it is measured."""
    if not subject.results:
        return None
    found = subject.end_facts("cpu_scaling_enabled")
    governors = set(subject.manifest.machine.governors) if subject.manifest else set()
    scaled = [end for end, values in found.items() if True in values]
    if scaled or governors - {GOOD_GOVERNOR}:
        words = ", ".join(sorted(governors)) or "other than performance"
        where = " and ".join(scaled) or "the machine"
        return Finding("frequency", State.REMARK, f"frequency governor of {where}: {words}")
    if found["client"] or governors:
        return Finding("frequency", State.PASSED, f"frequency governor: {GOOD_GOVERNOR}, or none")
    return Finding("frequency", State.NOT_KNOWN, "the kernel does not say whether CPUs change their frequency")


def calls(subject: Subject) -> Finding | None:
    """Calls that failed, never ended or were never sent. The verdict leaves out points with failed calls."""
    points = [at for at in subject.points if not at.result.faulty]
    if not points:
        return None
    bad = [at for at in points if at.measured.failure or any(at.raw.get(key) for key in NOT_ANSWERED)]
    looked_at = count(len(points), "point")
    if not bad:
        return Finding("calls", State.PASSED, f"{looked_at}: every call succeeded")
    codes = Counter(code for at in bad for code in at.measured.error_codes)
    words = f" ({', '.join(codes)})" if codes else ""
    text = f"{looked_at}: {len(bad)} with calls that failed or never ended{words}"
    return Finding("calls", State.REMARK, text, tuple(at.where for at in bad))


def warnings(subject: Subject) -> Finding | None:
    """How many points are unreliable: more than a third of their repetitions have a warning, or the whole run has.

    Of an experiment, disturbances do not count: its configurations were measured side by side, and all had them. The
    rule about a quiet machine says how many there were.
    """
    points = subject.measured
    passed_over = DISTURBANCES if subject.manifest else ()
    if not points:
        return None
    general = Counter(w.code for result in subject.results for w in result.run.document.warnings)
    codes = Counter(w.code for at in points for w in at.measured.warnings)
    bad = [place for place, of in by_place(points).items() if _are_unreliable(of, passed_over)]
    total = len(by_place(points))
    looked_at = count(total, "configuration and load", "configurations and loads")
    if not codes and not general:
        return Finding("warnings", State.PASSED, f"{looked_at}: the client warned of nothing")
    words = ", ".join(f"{code} {number}" for code, number in (general + codes).most_common())
    text = f"{looked_at}: {len(bad)} unreliable; {words}"
    names = tuple(", ".join(place) for place in bad)
    state = State.FAILED if len(bad) > MAX_UNRELIABLE_POINTS * total else State.REMARK
    return Finding("warnings", state, text, names)


def _are_unreliable(repetitions: Collection[At], passed_over: Collection[str]) -> bool:
    warned = sum(any(w.code not in passed_over for w in at.measured.warnings) for at in repetitions)
    return warned > MAX_UNRELIABLE_SHARE * len(repetitions)


def division(subject: Subject) -> Finding | None:
    """The division of the run rules, docs/run-rules.md: defaults, or tuned with every setting."""
    if not subject.results:
        return None
    tuned: dict[str, set[str]] = {}
    for result in subject.results:
        for setting_ in _settings(result):
            tuned.setdefault(setting_, set()).add(result.run.configuration or result.name)
    inherited = subject.manifest.environment.items() if subject.manifest else ()
    everywhere = [f"environment {name}={value}" for name, value in inherited if name not in NEUTRAL]
    if not tuned and not everywhere:
        return Finding("division", State.PASSED, "defaults: no setting of gRPC was changed at either end")
    words = (*everywhere, *(f"{text}: {', '.join(sorted(of))}" for text, of in tuned.items()))
    shown = "; ".join(one_line(text, MAX_SETTING) for text in (*everywhere, *tuned))
    return Finding("division", State.PASSED, f"tuned: {shown}", words)


def _settings(result: Result) -> Iterator[str]:
    context, around = result.run.context, result.run.surroundings
    for name, value in (context.get("channel_args") or {}).items():
        yield f"client {name}={value}"
    if context.get("service_config"):
        yield f"service config {context['service_config']}"
    for server in context.get("servers") or []:
        yield from (f"server {argument}" for argument in server.get("channel_args") or [])
    for end, variables in zip(ENDS, (around.client_env, around.server_env), strict=True):
        yield from (f"{end} {name}={value}" for name, value in variables)
