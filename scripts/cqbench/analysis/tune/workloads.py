"""A workload with some candidates set -> the tables of a configuration, and the lines that a program's author needs.

What the user gave is never changed: a candidate that would is left out, with the reason.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from cqbench.analysis.tune.catalogue import (
    ALLOCATOR,
    BOTH,
    CHANNEL_ARG,
    CLIENT,
    ENVIRONMENT,
    EXPERIMENT,
    FLAG,
    SERVER,
    Candidate,
)
from cqbench.options import flag_name

EXPERIMENTS, PRELOAD = "GRPC_EXPERIMENTS", "LD_PRELOAD"
# Flags that take completion queues: they are not said, or set, together with another API.
QUEUE_APIS = ("cq", "generic")
QUEUE_FLAGS = {
    CLIENT: ("--threads", "--poll"),
    SERVER: ("--num-cqs", "--workers-per-cq", "--callbacks-per-cq", "--poll"),
}
# Another way to say the same.
ALIASES = {"--async": "--api", "--async-callback": "--api", "--local-pool": "--channel-policy"}
Data = dict[str, Any]  # a table of TOML
Key = tuple[str, str, str]  # end, kind, key


@dataclass(frozen=True)
class Workload:
    """client, server: flags that the user gave. start: of the server, where nobody gave them; a candidate may."""

    client: tuple[str, ...]
    server: tuple[str, ...] = ()
    start: dict[str, str] = field(default_factory=dict)
    build: str = "release"
    ends: str = BOTH  # of which candidates are set

    def flags(self, end: str) -> tuple[str, ...]:
        return self.client if end == CLIENT else self.server


def ends(candidate: Candidate, wanted: str = BOTH) -> tuple[str, ...]:
    """Where it is set."""
    own = (CLIENT, SERVER) if candidate.setting.end == BOTH else (candidate.setting.end,)
    return tuple(end for end in own if wanted in (BOTH, end))


def touched(candidate: Candidate) -> dict[Key, str]:
    """Everything that it sets, with the value."""
    kind = candidate.setting.kind
    return {
        (end, kind, "" if kind == ALLOCATOR else key): key if kind == ALLOCATOR else value
        for end in ends(candidate)
        for key, value in candidate.pairs
    }


def clash(one: Candidate, other: Candidate) -> bool:
    """True if the two cannot be set together."""
    if one.setting.factor == other.setting.factor:
        return one.name != other.name
    mine, theirs = touched(one), touched(other)
    if any(mine[key] != theirs[key] for key in mine.keys() & theirs.keys()):
        return True
    return _without_queues(mine, theirs) or _without_queues(theirs, mine)


def _without_queues(one: dict[Key, str], other: dict[Key, str]) -> bool:
    """True if one uses an API without completion queues and the other sets completion queues."""
    return any(
        one.get((end, FLAG, "--api"), QUEUE_APIS[0]) not in QUEUE_APIS and any((end, FLAG, f) in other for f in flags)
        for end, flags in QUEUE_FLAGS.items()
    )


def refusal(candidate: Candidate, workload: Workload) -> str:
    """Why it cannot be tried with this workload; '' when it can."""
    where = ends(candidate, workload.ends)
    if not where:
        return f"it is the {candidate.setting.end}'s, and only the {workload.ends} is tuned"
    for end in where:
        for key, value in candidate.pairs:
            if key in _given(candidate.setting.kind, workload.flags(end)):
                return f"the workload says {key} itself"
            if candidate.setting.kind == FLAG and end == SERVER and workload.start.get(key) == value:
                return "it is so already"
    return ""


def _given(kind: str, flags: Sequence[str]) -> set[str]:
    """Keys of that kind which the user's flags have."""
    names = {flag_name(flag) for flag in flags if flag.startswith("--")}
    if kind == FLAG:
        return names | {ALIASES[name] for name in names if name in ALIASES}
    if kind == CHANNEL_ARG:
        values = [value for flag, value in pairwise(flags) if flag == "--channel-arg"]
        values += [flag.partition("=")[2] for flag in flags if flag.startswith("--channel-arg=")]
        return {value.partition("=")[0] for value in values}
    return {key for key in os.environ if kind == ENVIRONMENT}


def configuration(name: str, chosen: Iterable[Candidate], workload: Workload) -> Data:
    """Returns a configuration for an experiment's file: the workload with these settings."""
    by_end: dict[str, dict[str, dict[str, str]]] = {end: {} for end in (CLIENT, SERVER)}
    for candidate in chosen:
        for end in ends(candidate, workload.ends):
            by_end[end].setdefault(candidate.setting.kind, {}).update(candidate.pairs)
    data: Data = {"name": name, "build": workload.build}
    for end, settings in by_end.items():
        start = workload.start if end == SERVER else {}
        flags = {**start, **settings.get(FLAG, {})}
        if flags.get("--api", QUEUE_APIS[0]) not in QUEUE_APIS:
            flags = {flag: value for flag, value in flags.items() if flag not in QUEUE_FLAGS[end]}
        data[f"{end}_flags"] = [*workload.flags(end), *_flags(flags)]
        data[f"{end}_flags"] += [f"--channel-arg={k}={v}" for k, v in settings.get(CHANNEL_ARG, {}).items()]
        data[f"{end}_env"] = environment(settings)
    return data


def _flags(flags: dict[str, str]) -> list[str]:
    return [f"{flag}={value}" if value else flag for flag, value in flags.items()]


def environment(settings: dict[str, dict[str, str]], inherited: bool = True) -> dict[str, str]:
    """By kind what is set -> variables. inherited: what is in ours already stays in lists."""
    found = dict(settings.get(ENVIRONMENT, {}))
    before = os.environ.get(EXPERIMENTS, "") if inherited else ""
    switches = [("-" if value == "off" else "") + key for key, value in settings.get(EXPERIMENT, {}).items()]
    if switches:
        found[EXPERIMENTS] = ",".join(filter(None, [before, *switches]))
    if preload := list(settings.get(ALLOCATOR, {})):
        found[PRELOAD] = " ".join(filter(None, [*preload, os.environ.get(PRELOAD, "") if inherited else ""]))
    return found


def paste(chosen: Sequence[Candidate], wanted: str = BOTH) -> list[str]:
    """Ready to paste: C++ of either end, variables, flags of our programs. A line each."""
    lines: list[str] = []
    for end in (CLIENT, SERVER):
        settings: dict[str, dict[str, str]] = {}
        for candidate in chosen:
            if end in ends(candidate, wanted):
                settings.setdefault(candidate.setting.kind, {}).update(candidate.pairs)
        lines += [f"{end}, C++:  {line}" for line in _cpp(end, settings.get(CHANNEL_ARG, {}))]
        codes = [c for c in chosen if c.setting.kind == FLAG and c.setting.code and end in ends(c, wanted)]
        lines += [f"{end}, C++:  {c.setting.code}" for c in codes]
        lines += [
            f"{end}, env:  export {k}={shlex.quote(v)}" for k, v in environment(settings, inherited=False).items()
        ]
        flags = [f"--channel-arg={k}={v}" for k, v in settings.get(CHANNEL_ARG, {}).items()]
        flags = [*_flags(settings.get(FLAG, {})), *flags]
        lines += [f"{end}, here: grpc_ping_{end} {shlex.join(flags)}"] if flags else []
    return lines


def _cpp(end: str, arguments: dict[str, str]) -> list[str]:
    """As the client's --channel-arg: an integer where the value is one."""
    lines = []
    for key, value in arguments.items():
        number = value.removeprefix("-").isdigit()
        shown = value if number else _literal(value)
        call = f"args.Set{'Int' if number else 'String'}" if end == CLIENT else "builder.AddChannelArgument"
        lines.append(f"{call}({_literal(key)}, {shown});")
    return lines


def _literal(text: str) -> str:
    """A string of C++."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
